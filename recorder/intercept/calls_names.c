/*
 * Users, groups, hosts, services, protocols, networks, interfaces, addresses: mostly looked up in data bases, with a
 * static result where the caller gives no memory for it.
 */
#include "recorder/intercept/call.h"
#include "recorder/intercept/fd.h"

#include <arpa/inet.h>
#include <grp.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <shadow.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>

/* Those with a static result (and its first string), and their kin that fill in what they are given and text behind it.
 */
#define STATIC(type, name, parameters, arguments, before, text)                                                        \
	CALL(struct type *, name, parameters, arguments, before, RESULT; if (r) OUT_STR(r->text))
#define FILLS(type, name, parameters, arguments, before, text)                                                         \
	CALL(                                                                                                          \
	    int, name, parameters, arguments, before, if (r == 0) OUT(found); if (r == 0 && *found) {                  \
		    OUT(to);                                                                                           \
		    OUT_STR(to->text);                                                                                 \
	    })
#define MEMORY(type) struct type *restrict to, char *restrict memory, size_t size, struct type **restrict found
#define M to, memory, size, found

STATIC(passwd, getpwnam, (const char *name), (name), STR(name), pw_name)
STATIC(passwd, getpwuid, (uid_t id), (id), , pw_name)
STATIC(passwd, getpwent, (void), (), , pw_name)
STATIC(passwd, fgetpwent, (FILE * f), (f), , pw_name)
FILLS(passwd, getpwnam_r, (const char *restrict name, MEMORY(passwd)), (name, M), STR(name), pw_name)
FILLS(passwd, getpwuid_r, (uid_t id, MEMORY(passwd)), (id, M), , pw_name)
FILLS(passwd, getpwent_r, (MEMORY(passwd)), (M), , pw_name)
FILLS(passwd, fgetpwent_r, (FILE *restrict f, MEMORY(passwd)), (f, M), , pw_name)
STATIC(group, getgrnam, (const char *name), (name), STR(name), gr_name)
STATIC(group, getgrgid, (gid_t id), (id), , gr_name)
STATIC(group, getgrent, (void), (), , gr_name)
STATIC(group, fgetgrent, (FILE * f), (f), , gr_name)
FILLS(group, getgrnam_r, (const char *restrict name, MEMORY(group)), (name, M), STR(name), gr_name)
FILLS(group, getgrgid_r, (gid_t id, MEMORY(group)), (id, M), , gr_name)
FILLS(group, getgrent_r, (MEMORY(group)), (M), , gr_name)
FILLS(group, fgetgrent_r, (FILE *restrict f, MEMORY(group)), (f, M), , gr_name)
CALL(int, getgrouplist, (const char *user, gid_t group, gid_t *groups, int *n), (user, group, groups, n), STR(user);
     IN(n), OUT(n); if (r >= 0) OUT_N(groups, (size_t)r * sizeof *groups))
STATIC(spwd, getspnam, (const char *name), (name), STR(name), sp_namp)
STATIC(spwd, getspent, (void), (), , sp_namp)
FILLS(spwd, getspent_r, (struct spwd * to, char *memory, size_t size, struct spwd **found), (M), , sp_namp)
FILLS(spwd, fgetspent_r, (FILE * f, struct spwd *to, char *memory, size_t size, struct spwd **found), (f, M), , sp_namp)
STATIC(spwd, fgetspent, (FILE * f), (f), , sp_namp)
STATIC(spwd, sgetspent, (const char *s), (s), STR(s), sp_namp)
FILLS(spwd, sgetspent_r, (const char *s, struct spwd *to, char *memory, size_t size, struct spwd **found), (s, M),
      STR(s), sp_namp)
CALL(int, putpwent, (const struct passwd *restrict from, FILE *restrict f), (from, f), IN(from), )
CALL(int, putgrent, (const struct group *restrict from, FILE *restrict f), (from, f), IN(from), )
CALL(int, putspent, (const struct spwd *from, FILE *f), (from, f), IN(from), )
CALL(int, getpw, (uid_t id, char *to), (id, to), , if (r == 0) OUT_STR(to))
FILLS(spwd, getspnam_r, (const char *name, struct spwd *to, char *memory, size_t size, struct spwd **found), (name, M),
      STR(name), sp_namp)

/* Hosts, services, protocols, networks */
STATIC(hostent, gethostbyname, (const char *name), (name), STR(name), h_name)
STATIC(hostent, gethostbyname2, (const char *name, int family), (name, family), STR(name), h_name)
STATIC(hostent, gethostbyaddr, (const void *address, socklen_t length, int family), (address, length, family),
       IN_N(address, length), h_name)
STATIC(hostent, gethostent, (void), (), , h_name)
#define HOST_FILLS(name, parameters, arguments, before)                                                                \
	CALL(                                                                                                          \
	    int, name, parameters, arguments, before, OUT(error); if (r == 0) OUT(found); if (r == 0 && *found) {      \
		    OUT(to);                                                                                           \
		    OUT_STR(to->h_name);                                                                               \
	    })
HOST_FILLS(gethostbyname_r, (const char *restrict name, MEMORY(hostent), int *restrict error), (name, M, error),
           STR(name))
HOST_FILLS(gethostbyname2_r, (const char *restrict name, int family, MEMORY(hostent), int *restrict error),
           (name, family, M, error), STR(name))
HOST_FILLS(gethostbyaddr_r,
           (const void *restrict address, socklen_t length, int family, MEMORY(hostent), int *restrict error),
           (address, length, family, M, error), IN_N(address, length))
HOST_FILLS(gethostent_r, (MEMORY(hostent), int *restrict error), (M, error), )
STATIC(servent, getservbyname, (const char *name, const char *protocol), (name, protocol), STR(name);
       STR(protocol), s_name)
STATIC(servent, getservbyport, (int port, const char *protocol), (port, protocol), STR(protocol), s_name)
STATIC(servent, getservent, (void), (), , s_name)
FILLS(servent, getservbyname_r, (const char *restrict name, const char *restrict protocol, MEMORY(servent)),
      (name, protocol, M), STR(name);
      STR(protocol), s_name)
FILLS(servent, getservbyport_r, (int port, const char *restrict protocol, MEMORY(servent)), (port, protocol, M),
      STR(protocol), s_name)
STATIC(protoent, getprotobyname, (const char *name), (name), STR(name), p_name)
STATIC(protoent, getprotobynumber, (int number), (number), , p_name)
STATIC(protoent, getprotoent, (void), (), , p_name)
FILLS(protoent, getprotobyname_r, (const char *restrict name, MEMORY(protoent)), (name, M), STR(name), p_name)
FILLS(protoent, getprotobynumber_r, (int number, MEMORY(protoent)), (number, M), , p_name)
FILLS(protoent, getprotoent_r, (MEMORY(protoent)), (M), , p_name)
STATIC(netent, getnetbyname, (const char *name), (name), STR(name), n_name)
STATIC(netent, getnetbyaddr, (uint32_t net, int family), (net, family), , n_name)
STATIC(netent, getnetent, (void), (), , n_name)
CALL(int, getaddrinfo,
     (const char *restrict host, const char *restrict service, const struct addrinfo *restrict hints,
      struct addrinfo **restrict to),
     (host, service, hints, to), STR(host);
     STR(service); IN(hints); LEAVES; AWAITS(OUTSIDE), RETURNS; BLOCKS; if (r == 0) OUT(to))
CALL(int, getnameinfo,
     (const struct sockaddr *restrict address, socklen_t length, char *restrict host, socklen_t host_size,
      char *restrict service, socklen_t service_size, int flags),
     (address, length, host, host_size, service, service_size, flags), IN_N(address, length);
     LEAVES; AWAITS(OUTSIDE), RETURNS; BLOCKS;
     WHEN(r == 0, if (host_size) OUT_STR(host); if (service_size) OUT_STR(service)))

#define NET_FILLS(name, parameters, arguments, before)                                                                 \
	CALL(                                                                                                          \
	    int, name, parameters, arguments, before, OUT(error); if (r == 0) OUT(found); if (r == 0 && *found) {      \
		    OUT(to);                                                                                           \
		    OUT_STR(to->n_name);                                                                               \
	    })
NET_FILLS(getnetbyname_r, (const char *restrict name, MEMORY(netent), int *restrict error), (name, M, error), STR(name))
NET_FILLS(getnetbyaddr_r, (uint32_t net, int family, MEMORY(netent), int *restrict error), (net, family, M, error), )
NET_FILLS(getnetent_r, (MEMORY(netent), int *restrict error), (M, error), )
FILLS(servent, getservent_r, (MEMORY(servent)), (M), , s_name)
STATIC(rpcent, getrpcbyname, (const char *name), (name), STR(name), r_name)
STATIC(rpcent, getrpcbynumber, (int number), (number), , r_name)
STATIC(rpcent, getrpcent, (void), (), , r_name)
FILLS(rpcent, getrpcbyname_r, (const char *name, MEMORY(rpcent)), (name, M), STR(name), r_name)
FILLS(rpcent, getrpcbynumber_r, (int number, MEMORY(rpcent)), (number, M), , r_name)
FILLS(rpcent, getrpcent_r, (MEMORY(rpcent)), (M), , r_name)

/* Interfaces and addresses. inet_ntoa's text is each thread's own, ether_ntoa's is not. */
CALL(unsigned, if_nametoindex, (const char *name), (name), STR(name), )
CALL(char *, if_indextoname, (unsigned index, char to[IF_NAMESIZE]), (index, to), , if (r) OUT_STR(to))
CALL(int, getifaddrs, (struct ifaddrs * *to), (to), , if (r == 0) OUT(to))
CALL(int, inet_aton, (const char *s, struct in_addr *to), (s, to), STR(s), if (r) OUT(to))
CALL(in_addr_t, inet_addr, (const char *s), (s), STR(s), )
CALL(in_addr_t, inet_network, (const char *s), (s), STR(s), )
CALL(int, inet_pton, (int family, const char *restrict s, void *restrict to), (family, s, to), STR(s),
     if (r == 1) OUT_N(to, family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr)))
CALL(const char *, inet_ntop, (int family, const void *restrict from, char *restrict to, socklen_t size),
     (family, from, to, size),
     if (family == AF_INET || family == AF_INET6)
         IN_N(from, family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr)),
     if (r) OUT_STR(to))
CALL(char *, inet_net_ntop, (int family, const void *from, int bits, char *to, size_t size),
     (family, from, bits, to, size), , if (r) OUT_STR(to))
CALL(int, inet_net_pton, (int family, const char *s, void *to, size_t size), (family, s, to, size), STR(s),
     if (r > 0) OUT_N(to, (r + 7) / 8))
CALL(char *, inet_neta, (in_addr_t net, char *to, size_t size), (net, to, size), , if (r) OUT_STR(to))
CALL(char *, ether_ntoa, (const struct ether_addr *from), (from), IN(from), RESULT_STR)
CALL(char *, ether_ntoa_r, (const struct ether_addr *from, char *to), (from, to), IN(from), if (r) OUT_STR(to))
CALL(struct ether_addr *, ether_aton, (const char *s), (s), STR(s), RESULT)
CALL(struct ether_addr *, ether_aton_r, (const char *s, struct ether_addr *to), (s, to), STR(s), if (r) OUT(to))
CALL(int, ether_hostton, (const char *host, struct ether_addr *to), (host, to), STR(host), if (r == 0) OUT(to))
CALL(int, ether_ntohost, (char *to, const struct ether_addr *from), (to, from), IN(from), if (r == 0) OUT_STR(to))
CALL(int, ether_line, (const char *line, struct ether_addr *to, char *host), (line, to, host), STR(line),
     WHEN(r == 0, OUT(to); OUT_STR(host)))
#define ADDRESS(name)                                                                                                  \
	CALL(                                                                                                          \
	    int, name, (int fd, struct sockaddr *restrict to, socklen_t *restrict length), (fd, to, length),           \
	    IN(length);                                                                                                \
	    const socklen_t room = length ? *length : 0, if (r == 0) {                                                 \
		    OUT_N(to, *length < room ? *length : room);                                                        \
		    OUT(length);                                                                                       \
	    })
ADDRESS(getsockname)
ADDRESS(getpeername)
CALL(int, getsockopt, (int fd, int level, int option, void *restrict to, socklen_t *restrict length),
     (fd, level, option, to, length), IN(length), WHEN(r == 0, OUT_N(to, *length); OUT(length)))
CALL(int, setsockopt, (int fd, int level, int option, const void *from, socklen_t length),
     (fd, level, option, from, length), IN_N(from, length);
     rt_fd_option(fd, level, option), )

/* Login records */
#define LOGIN_FILLS(name, parameters, arguments, before)                                                               \
	CALL(int, name, parameters, arguments, before, WHEN(r == 0, OUT(to); OUT(found)))
LOGIN_FILLS(getutent_r, (struct utmp * to, struct utmp **found), (to, found), )
LOGIN_FILLS(getutid_r, (const struct utmp *id, struct utmp *to, struct utmp **found), (id, to, found), IN(id))
LOGIN_FILLS(getutline_r, (const struct utmp *line, struct utmp *to, struct utmp **found), (line, to, found), IN(line))
CALL_VOID(getutmp, (const struct utmpx *from, struct utmp *to), (from, to), IN(from), OUT(to))
CALL_VOID(getutmpx, (const struct utmp *from, struct utmpx *to), (from, to), IN(from), OUT(to))
CALL_VOID(updwtmp, (const char *file, const struct utmp *from), (file, from), STR(file); IN(from), )
CALL_VOID(updwtmpx, (const char *file, const struct utmpx *from), (file, from), STR(file); IN(from), )
CALL(struct utmp *, getutent, (void), (), , RESULT)
CALL(struct utmp *, getutid, (const struct utmp *id), (id), IN(id), RESULT)
CALL(struct utmp *, getutline, (const struct utmp *line), (line), IN(line), RESULT)
CALL(struct utmp *, pututline, (const struct utmp *line), (line), IN(line), )
CALL(struct utmpx *, getutxent, (void), (), , RESULT)
CALL(struct utmpx *, getutxid, (const struct utmpx *id), (id), IN(id), RESULT)
CALL(struct utmpx *, getutxline, (const struct utmpx *line), (line), IN(line), RESULT)
CALL(struct utmpx *, pututxline, (const struct utmpx *line), (line), IN(line), )
CALL(char *, getusershell, (void), (), , )

CALL(char *, crypt, (const char *key, const char *salt), (key, salt), STR(key); STR(salt), RESULT_STR)
struct crypt_data;
CALL(char *, crypt_r, (const char *key, const char *salt, struct crypt_data *restrict to), (key, salt, to), STR(key);
     STR(salt), OUT_STR(r))
