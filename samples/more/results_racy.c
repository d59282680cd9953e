/*
 * Functions that hand results back through pointers, or read what they point to: numbers, random generators, text
 * between narrow and wide, patterns, signal sets, what the system tells. One thread writes a buffer, another hands it
 * to a function, later, which nothing orders; results.c hands it another one.
 */
#define _GNU_SOURCE
#include "both.h"

#include <argz.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <iconv.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <obstack.h>
#include <poll.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif
#define SIZE 1024

static volatile size_t sink;
#define USE(value) ((void)__atomic_add_fetch(&sink, (size_t)(value), __ATOMIC_RELAXED))
static _Thread_local _Alignas(16) char own[SIZE];
static struct sockaddr_in local = {.sin_family = AF_INET};

static void fill(volatile char *p)
{
	static const char text[] = "1.2.3.4";
	for (size_t i = 0; i < sizeof text; i++)
		p[i] = text[i]; /* @fill */
}

/* p is the buffer, own a buffer of the thread itself. */
#define PASSED(name, call)                                                                                             \
	static _Alignas(16) char name[SIZE], name##_other[SIZE] = "1.2.3.4";                                           \
	PART(name##_first)                                                                                             \
	{                                                                                                              \
		fill(name);                                                                                            \
		return NULL;                                                                                           \
	}                                                                                                              \
	PART(name##_second)                                                                                            \
	{                                                                                                              \
		void *p = RACE_FREE ? name##_other : name;                                                             \
		LATER;                                                                                                 \
		call;                                                                                                  \
		return NULL;                                                                                           \
	}
static volatile double half = 0.5;
static void (*volatile both_of)(double, double *, double *) = sincos; /* or the compiler calls one of the two */
#define BYTES(at) &(struct iovec){at, 8}, 1
#define NAME_OF(address) (void *)&(address), sizeof(address)

PART(ends)
{
	return NULL;
}

PASSED(by_asprintf, USE(asprintf(p, "%d", 1)))                                        /* @asprintf */
PASSED(of_process_vm_readv, USE(process_vm_readv(getpid(), BYTES(own), BYTES(p), 0))) /* @process_vm_readv */
PASSED(by_frexp, USE(frexp(half, p) > 1))                                             /* @frexp */
PASSED(by_modf, USE(modf(half, p) > 1))                                               /* @modf */
PASSED(by_remquo, USE(remquo(half, 2, p) > 1))                                        /* @remquo */
PASSED(by_sincos, both_of(half, p, (double *)own))                                    /* @sincos */
PASSED(by_lgamma_r, USE(lgamma_r(half, p) > 9))                                       /* @lgamma_r */
PASSED(by_rand_r, USE(rand_r(p)))                                                     /* @rand_r */
PASSED(by_erand48, USE(erand48(p) > 2))                                               /* @erand48 */
PASSED(by_initstate_r, initstate_r(1, p, 64, (struct random_data *)own))              /* @initstate_r */
PASSED(by_mbstowcs, USE(mbstowcs(p, "abc", 8)))                                       /* @mbstowcs */
PASSED(of_mbstowcs, USE(mbstowcs((wchar_t *)own, p, 100)))                            /* @of_mbstowcs */
PASSED(by_wcstombs, USE(wcstombs(p, L"abc", 8)))                                      /* @wcstombs */
PASSED(by_mbrtowc, USE(mbrtowc(p, "a", 1, &(mbstate_t){0})))                          /* @mbrtowc */
PASSED(by_wcrtomb, USE(wcrtomb(p, L'a', &(mbstate_t){0})))                            /* @wcrtomb */
PASSED(by_wcscpy, wcscpy(p, L"abc"))                                                  /* @wcscpy */
PASSED(by_wcscat, wcscat(wmemset(p, 0, 1), L"abc"))                                   /* @wcscat */
PASSED(by_swprintf, swprintf(p, 9, L"%d", 7))                                         /* @swprintf */
PASSED(by_wmemset, wmemset(p, L'x', 3))                                               /* @wmemset */
PASSED(of_regexec, (regcomp((regex_t *)own, "x", 0), USE(regexec((regex_t *)own, p, 0, NULL, 0)))) /* @regexec */
PASSED(by_regcomp, USE(regcomp(p, "x", 0)))                                                        /* @regcomp */
PASSED(of_iconv_open, USE(iconv_open(p, "x") == NULL))                                             /* @iconv_open */
PASSED(of_wcstol, USE(wcstol(wmemset(p, L'1', 3), NULL, 10)))                                      /* @wcstol */
PASSED(of_getenv, USE(getenv(p) != NULL))                                                          /* @getenv */
PASSED(by_strptime, USE(strptime("10", "%H", p) != NULL))                                          /* @strptime */
PASSED(by_asctime_r, USE(asctime_r(&(struct tm){.tm_mday = 1}, p) != NULL))                        /* @asctime_r */
PASSED(of_inet_aton, USE(inet_aton(p, (struct in_addr *)own)))                                     /* @inet_aton */
PASSED(by_inet_aton, USE(inet_aton("1.2.3.4", p)))                                                 /* @to_inet_aton */
PASSED(by_getnameinfo, USE(getnameinfo(NAME_OF(local), p, 64, NULL, 0, NI_NUMERICHOST)))           /* @getnameinfo */
PASSED(by_getpwnam_r, USE(getpwnam_r("root", p, own, SIZE, &(struct passwd *){0})))                /* @getpwnam_r */
PASSED(by_sigemptyset, sigemptyset(p))                                                             /* @sigemptyset */
PASSED(of_sigismember, USE(sigismember(p, SIGINT)))                                                /* @sigismember */
PASSED(by_pthread_sigmask, USE(pthread_sigmask(SIG_BLOCK, NULL, p)))                               /* @sigmask */
PASSED(by_sigpending, USE(sigpending(p)))                                                          /* @sigpending */
PASSED(by_sigaction, USE(sigaction(SIGUSR2, NULL, p)))                                             /* @sigaction */
PASSED(of_sigtimedwait, USE(sigtimedwait(p, NULL, &(struct timespec){0})))                         /* @sigtimedwait */
PASSED(by_setitimer, USE(setitimer(ITIMER_VIRTUAL, &(struct itimerval){0}, p)))                    /* @setitimer */
PASSED(by_poll, USE(poll(p, 1, 0)))                                                                /* @poll */
PASSED(by_select, USE(select(1, p, NULL, NULL, &(struct timeval){0})))                             /* @select */
PASSED(by_waitpid, USE(waitpid(fork() ?: (_exit(3), 0), p, 0)))                                    /* @waitpid */
PASSED(by_readlinkat, USE(readlinkat(AT_FDCWD, "/proc/self/exe", p, SIZE)))                        /* @readlinkat */
PASSED(by_realpath, USE(realpath("/", p) != NULL))                                                 /* @realpath */
PASSED(by_getrandom, USE(getrandom(p, 8, 0)))                                                      /* @getrandom */
PASSED(by_sysinfo, USE(sysinfo(p)))                                                                /* @sysinfo */
PASSED(by_statfs, USE(statfs("/", p)))                                                             /* @statfs */
PASSED(by_getrusage, USE(getrusage(RUSAGE_SELF, p)))                                               /* @getrusage */
PASSED(by_getrlimit, USE(getrlimit(RLIMIT_CORE, p)))                                               /* @getrlimit */
PASSED(by_sched_getaffinity, USE(sched_getaffinity(0, 8, p)))                                      /* @getaffinity */
PASSED(by_mincore, USE(mincore((char *)((size_t)own & ~(size_t)4095), 4096, p)))                   /* @mincore */
PASSED(by_getresuid, USE(getresuid(p, &(uid_t){0}, &(uid_t){0})))                                  /* @getresuid */
PASSED(by_setcancelstate, USE(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, p)))                   /* @cancelstate */
PASSED(by_getattr, USE(pthread_attr_init(p)))                                                      /* @attr_init */
PASSED(by_getname, USE(pthread_getname_np(pthread_self(), p, 32)))                                 /* @getname */

static locale_t plain(void)
{
	return newlocale(LC_ALL_MASK, "C", NULL);
}

static void suboption(char *text)
{
	static char *const tokens[] = {"1.2.3.4", NULL};
	char *value;
	USE(getsubopt(&text, tokens, &value)); /* @of_getsubopt */
}

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free
static void grow(const char *text)
{
	struct obstack o;
	obstack_init(&o);
	obstack_printf(&o, "%s", text); /* @of_obstack_printf */
	obstack_free(&o, NULL);
}

PASSED(by_ecvt_r, ecvt_r(half, 3, (int *)own, (int *)own + 1, p, 64))  /* @ecvt_r */
PASSED(by_qfcvt_r, qfcvt_r(half, 3, p, (int *)own + 1, own + 64, 64))  /* @qfcvt_r */
PASSED(by_strfromd, strfromd(p, 64, "%g", half))                       /* @strfromd */
PASSED(of_strtof32, USE(strtof32(p, NULL) > 9))                        /* @of_strtof32 */
PASSED(of_wcstod_l, USE(wcstod_l(p, NULL, plain()) > 9))               /* @of_wcstod_l */
PASSED(of_strcasecmp_l, USE(strcasecmp_l(p, "1.2.3.4", plain())))      /* @of_strcasecmp_l */
PASSED(of_strncasecmp_l, USE(strncasecmp_l(p, "1.2.3.4", 3, plain()))) /* @of_strncasecmp_l */
PASSED(of_wcscasecmp_l, USE(wcscasecmp_l(p, L"1", plain())))           /* @of_wcscasecmp_l */
PASSED(by_strptime_l, USE(strptime_l("2001", "%Y", p, plain())))       /* @strptime_l */
PASSED(of_getsubopt, suboption(p))
PASSED(of_obstack_printf, grow(p))
PASSED(of_argz_count, USE(argz_count(p, 8)))           /* @of_argz_count */
PASSED(by_spawnattr_init, posix_spawnattr_init(p))     /* @spawnattr_init */
PASSED(of_cfgetospeed, USE(cfgetospeed(p)))            /* @of_cfgetospeed */
PASSED(by_mutexattr_init, pthread_mutexattr_init(p))   /* @mutexattr_init */
PASSED(by_create, pthread_create(p, NULL, ends, NULL)) /* @create */

int main(void)
{
#define BOTH(name)                                                                                                     \
	{                                                                                                              \
		name##_first, name##_second                                                                            \
	}
	static void *(*const parts[][2])(void *) = {BOTH(by_asprintf),        BOTH(of_process_vm_readv),
	                                            BOTH(by_frexp),           BOTH(by_modf),
	                                            BOTH(by_remquo),          BOTH(by_sincos),
	                                            BOTH(by_lgamma_r),        BOTH(by_rand_r),
	                                            BOTH(by_erand48),         BOTH(by_initstate_r),
	                                            BOTH(by_mbstowcs),        BOTH(of_mbstowcs),
	                                            BOTH(by_wcstombs),        BOTH(by_mbrtowc),
	                                            BOTH(by_wcrtomb),         BOTH(by_wcscpy),
	                                            BOTH(by_wcscat),          BOTH(by_swprintf),
	                                            BOTH(by_wmemset),         BOTH(of_regexec),
	                                            BOTH(by_regcomp),         BOTH(of_iconv_open),
	                                            BOTH(of_wcstol),          BOTH(of_getenv),
	                                            BOTH(by_strptime),        BOTH(by_asctime_r),
	                                            BOTH(of_inet_aton),       BOTH(by_inet_aton),
	                                            BOTH(by_getnameinfo),     BOTH(by_getpwnam_r),
	                                            BOTH(by_sigemptyset),     BOTH(of_sigismember),
	                                            BOTH(by_pthread_sigmask), BOTH(by_sigpending),
	                                            BOTH(by_sigaction),       BOTH(of_sigtimedwait),
	                                            BOTH(by_setitimer),       BOTH(by_poll),
	                                            BOTH(by_select),          BOTH(by_waitpid),
	                                            BOTH(by_readlinkat),      BOTH(by_realpath),
	                                            BOTH(by_getrandom),       BOTH(by_sysinfo),
	                                            BOTH(by_statfs),          BOTH(by_getrusage),
	                                            BOTH(by_getrlimit),       BOTH(by_sched_getaffinity),
	                                            BOTH(by_mincore),         BOTH(by_getresuid),
	                                            BOTH(by_setcancelstate),  BOTH(by_getattr),
	                                            BOTH(by_getname),         BOTH(by_ecvt_r),
	                                            BOTH(by_qfcvt_r),         BOTH(by_strfromd),
	                                            BOTH(of_strtof32),        BOTH(of_wcstod_l),
	                                            BOTH(of_strcasecmp_l),    BOTH(of_strncasecmp_l),
	                                            BOTH(of_wcscasecmp_l),    BOTH(by_strptime_l),
	                                            BOTH(of_getsubopt),       BOTH(of_obstack_printf),
	                                            BOTH(of_argz_count),      BOTH(by_spawnattr_init),
	                                            BOTH(of_cfgetospeed),     BOTH(by_mutexattr_init),
	                                            BOTH(by_create)};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		both(parts[i][0], parts[i][1]);
	return 0;
}
