/*
 * Which descriptor an event of epoll is of: known by the data that the program gave with it. Several may have the same
 * data, and several epoll descriptors may watch one. An entry is out of date when its descriptor is another one by now.
 */
#include "recorder/intercept/fd.h"

#include "recorder/intercept/kernel.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <sys/epoll.h>

#define WATCHES 32768u
#define NEAR 64u /* entries that the same data may have; later ones take the last one's place */
enum { FREE, BUSY };
struct watch {
	_Atomic uint64_t epoll; /* its object, or FREE, or BUSY */
	_Atomic uint64_t data;
	_Atomic int fd;
	_Atomic uint32_t description;
};
static struct watch *_Atomic watches; /* NULL: nothing was ever watched */
static _Atomic bool refused;          /* there was no memory for them */

static struct watch *make_watches(void)
{
	const size_t size = WATCHES * sizeof(struct watch);
	struct watch *mine = rt_memory_reserve(NULL, size), *none = NULL;
	if (mine && rt_memory_open(mine, size) && atomic_compare_exchange_strong(&watches, &none, mine))
		return mine;
	if (mine)
		RT_SYSCALL(SYS_munmap, mine, size);
	if (!none && !atomic_exchange(&refused, true))
		rt_say("racetrace: no memory to follow what epoll watches");
	return none;
}

static struct watch *entry(struct watch *all, uint64_t epoll, uint64_t data, unsigned i)
{
	uint64_t hash = (epoll ^ data ^ data >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	return &all[((hash >> 40) + i) % WATCHES];
}

static bool is_current(const struct watch *w)
{
	return rt_fd_description(atomic_load(&w->fd)) == atomic_load(&w->description);
}

static void fill(struct watch *w, uint64_t epoll, uint64_t data, int fd)
{
	atomic_store(&w->data, data);
	atomic_store(&w->fd, fd);
	atomic_store(&w->description, rt_fd_description(fd));
	atomic_store(&w->epoll, epoll);
}

/* rt_fd_since of all descriptors that any epoll descriptor has watched so far; others: not all have the same. */
static _Atomic uint32_t own_watched;
static _Atomic bool others_watched;

static void note_watched(int fd)
{
	uint32_t own = rt_fd_since(fd, false), none = 0;
	if (!own || (!atomic_compare_exchange_strong(&own_watched, &none, own) && none != own)) {
		atomic_store(&others_watched, true);
		if (rt_channel) /* for the waits that have begun */
			atomic_store(&rt_channel->others_watched, 1);
	}
}

void rt_fd_awaits_watched(int epoll, bool forever, uintptr_t pc)
{
	bool own = forever && !atomic_load(&others_watched);
	rt_call_begins(RT_CALL_POLL, epoll, RT_SEVERAL_OBJECTS, rt_fd_own(own ? atomic_load(&own_watched) : 0),
	               RT_CALL_NO_HOLDER, pc);
}

void rt_fd_watched(int epoll, int operation, int fd, const struct epoll_event *event)
{
	if (operation == EPOLL_CTL_DEL || !event)
		return;
	note_watched(fd);
	if (!rt_recording())
		return;
	uint64_t object = rt_fd_epoll_of(epoll), data = event->data.u64;
	struct watch *all = object ? atomic_load(&watches) : NULL;
	if (object && !all)
		all = make_watches();
	for (unsigned i = 0; all && i < NEAR; i++) {
		struct watch *w = entry(all, object, data, i);
		uint64_t was = atomic_load(&w->epoll);
		bool own = was == object && atomic_load(&w->data) == data && atomic_load(&w->fd) == fd;
		if (was == BUSY || (was != FREE && !own && is_current(w) && i + 1 < NEAR))
			continue;
		if (atomic_compare_exchange_strong(&w->epoll, &was, BUSY)) {
			fill(w, object, data, fd);
			return;
		}
	}
}

/* Signals come this way, too. */
static void told(int fd, unsigned depth, uintptr_t pc)
{
	enum { DEPTH_MAX = 3 };
	rt_fd_received(fd, true, pc);
	if (rt_fd_tells_signals(fd))
		rt_signals_seen(pc);
	uint64_t epoll = depth < DEPTH_MAX ? rt_fd_epoll_of(fd) : 0;
	struct watch *all = epoll ? atomic_load(&watches) : NULL;
	for (unsigned i = 0; all && i < WATCHES; i++)
		if (atomic_load_explicit(&all[i].epoll, memory_order_relaxed) == epoll && is_current(&all[i]))
			told(atomic_load(&all[i].fd), depth + 1, pc);
}

void rt_fd_told(int fd, uintptr_t pc)
{
	if (rt_recording())
		told(fd, 0, pc);
}

void rt_fd_event(int epoll, uint64_t data, bool room, uintptr_t pc)
{
	uint64_t object = rt_recording() ? rt_fd_epoll_of(epoll) : 0;
	struct watch *all = object ? atomic_load(&watches) : NULL;
	for (unsigned i = 0; all && i < NEAR; i++) {
		struct watch *w = entry(all, object, data, i);
		uint64_t is = atomic_load(&w->epoll);
		if (is == FREE)
			return;
		if (is != object || atomic_load(&w->data) != data || !is_current(w))
			continue;
		if (room)
			rt_fd_has_room(atomic_load(&w->fd), pc);
		else
			told(atomic_load(&w->fd), 1, pc);
	}
}
