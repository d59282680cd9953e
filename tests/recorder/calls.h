/* What the parts of calls.c share: the words in which each function is called, and room for what it reads and writes.
 */
#ifndef TESTS_RECORDER_CALLS_H
#define TESTS_RECORDER_CALLS_H

#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <libgen.h>
#include <libintl.h>
#include <locale.h>
#include <math.h>
#include <mntent.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <shadow.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>
#include <utime.h>
#include <utmpx.h>
#include <wchar.h>
#include <wordexp.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#undef basename
char *basename(const char *path); /* GNU's */

/* One function: its name, and what is done with it. */
#define T(name, ...)                                                                                                   \
	do {                                                                                                           \
		fprintf(out, #name);                                                                                   \
		errno = 0;                                                                                             \
		__VA_ARGS__;                                                                                           \
		fprintf(out, " errno %d\n", errno);                                                                    \
	} while (0)
/* Prints a number, a string, memory; errno is kept. */
#define N(x) print(" %lld", (long long)(x))
#define F(x) print(" %.6Lg", (long double)(x))
#define S(x) print(" '%s'", (x))
#define W(x) print(" '%ls'", (x))
#define M(p, n) memory(p, n)
#define O(p) memory(p, sizeof *(p))
#define SIZE 4096

extern FILE *out;
extern char a[SIZE], b[SIZE];
extern wchar_t w[SIZE], v[SIZE];

void print(const char *format, ...);
void memory(const void *p, size_t n);

void call_numbers(void);
void call_lists(void);
void call_times(void);
void call_texts(void);
void call_files(void);
void call_streams(void);
void call_names(void);
void call_systems(void);

#endif
