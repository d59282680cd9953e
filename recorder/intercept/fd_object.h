/*
 * Which object stands for a descriptor. Objects are no addresses (recorder/objects.h): small numbers for pairs of
 * sockets, event counters and the like, hashes for sockets, whose two ends know each other by their addresses:
 *
 *   a stream's both ends    the two ports, in either order; the path of a local one's named end
 *   a listener, connect to  the port or path
 *   a datagram              the port or path that it is sent to
 *
 * Addresses of hosts are left out, because one host has many. Local sockets without any name share one object, as do
 * those of families that are not known.
 *
 * A file, a pipe and what else came unseen is looked at when it is used first. Its device and inode are its object, so
 * that all descriptors of one file are one, by whatever way they came. What has no inode of its own is compared with
 * the descriptors that are known. A pseudoterminal is two objects, one each way; other devices carry nothing.
 *
 * As memory, a descriptor is a byte of its own. One that has been closed and comes again is new, and comes after the
 * close, since the kernel gives no number out twice. Not every call that makes descriptors is known, so one that is
 * used although it was closed is looked at.
 */
#ifndef RECORDER_INTERCEPT_FD_OBJECT_H
#define RECORDER_INTERCEPT_FD_OBJECT_H

#include "recorder/intercept/fd.h"
#include "recorder/objects.h"

#include <stdatomic.h>

/* Kinds, which are objects as well; from FIRST_NUMBER on each is one thing. */
#define RT_FD_NUMBER_MAX (RT_OBJECT_DESCRIPTOR_END - 1) /* later ones share the last number */
enum {
	RT_FD_UNKNOWN,
	RT_FD_NONE = RT_OBJECT_DESCRIPTOR,
	RT_FD_SOCKET,
	RT_FD_DATAGRAM,
	RT_FD_UNNAMED,
	RT_FD_TELLS_SIGNALS,
	RT_FD_TELLS_OF_FILES,
	RT_FD_ANONYMOUS,
	RT_FD_FIRST_NUMBER
};
/* Of an entry's state, not of its object: data stays there; the two sides of a terminal; reports events of others */
#define RT_FD_FILE (UINT64_C(1) << 48)
#define RT_FD_MASTER (UINT64_C(1) << 49)
#define RT_FD_SLAVE (UINT64_C(1) << 50)
#define RT_FD_EPOLL (UINT64_C(1) << 51)
#define RT_FD_ENTRY_BITS (RT_FD_FILE | RT_FD_MASTER | RT_FD_SLAVE | RT_FD_EPOLL)
#define RT_FD_CLOSED UINT64_MAX /* and not known to have come again */

struct rt_fd {
	_Atomic uint64_t state;       /* its object and bits, RT_FD_UNKNOWN, or RT_FD_CLOSED */
	_Atomic uint32_t description; /* what its copies share; 0: came unseen */
	_Atomic bool full;            /* a writer found no room */
	char number;                  /* an object by its address: a number is closed before it is given out again */
	bool named;                   /* others may open what it is, too */
	_Atomic uint32_t since;       /* made by this process, when `shared` (fd.c) was one less; 0: it was not */
};

/* The table's entry; NULL: nothing is known of this descriptor. */
struct rt_fd *rt_fd_entry(int fd);
/* The memory that it is, of one that has an entry. */
const void *rt_fd_memory(int fd);
/* Numbers of descriptors that have come are not above this. */
int rt_fd_highest(void);

/* A descriptor has come, with this state. */
void rt_fd_come(int fd, uint64_t state);
void rt_fd_set(int fd, uint64_t state);
/* Its state, UNKNOWN if it is closed; the same after a look at it. */
uint64_t rt_fd_state(int fd);
uint64_t rt_fd_state_now(int fd);
/* Neither its end nor its close orders its writers. */
bool rt_fd_is_file(int fd);
/* Learns what a device is, whose status this is. */
struct stat;
uint64_t rt_fd_look_at_device(int fd, const struct stat *is);

/* The object of what goes out (to: the address, or NULL) or comes in. */
uint64_t rt_fd_object(int fd, bool out, const struct sockaddr *to, socklen_t length);
/* A new one that is a number. */
uint64_t rt_fd_new_number(void);
/* The object that is known by mixed bits, by an inode, by an address, by the address that fd is bound to. */
uint64_t rt_fd_object_of(uint64_t mixed);
uint64_t rt_fd_object_of_inode(uint64_t device, uint64_t inode);
uint64_t rt_fd_object_of_address(const struct sockaddr *a, socklen_t length);
uint64_t rt_fd_object_of_own_end(int fd);

/* What goes into the object `from` may come out of the object `to`, without the program (fd.c). */
void rt_fd_passes_between(uint64_t from, uint64_t to);

#endif
