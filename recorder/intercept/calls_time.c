/*
 * Times. localtime, gmtime, ctime and asctime return what the next call of any thread writes again; the environment
 * names the time zone.
 */
#include "recorder/intercept/call.h"

#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#define ZONE USES(environ)

CALL(struct tm *, localtime, (const time_t *t), (t), IN(t); ZONE, RESULT)
CALL(struct tm *, gmtime, (const time_t *t), (t), IN(t), RESULT)
CALL(struct tm *, localtime_r, (const time_t *restrict t, struct tm *restrict tm), (t, tm), IN(t), if (r) OUT(tm))
CALL(struct tm *, gmtime_r, (const time_t *restrict t, struct tm *restrict tm), (t, tm), IN(t), if (r) OUT(tm))
CALL(char *, asctime, (const struct tm *tm), (tm), IN(tm), RESULT_STR)
CALL(char *, asctime_r, (const struct tm *restrict tm, char *restrict to), (tm, to), IN(tm), RESULT_STR)
CALL(char *, ctime, (const time_t *t), (t), IN(t); ZONE, RESULT_STR)
CALL(char *, ctime_r, (const time_t *restrict t, char *restrict to), (t, to), IN(t), RESULT_STR)
CALL(time_t, mktime, (struct tm * tm), (tm), INOUT(tm); ZONE, )
CALL(time_t, timelocal, (struct tm * tm), (tm), INOUT(tm); ZONE, )
CALL(time_t, timegm, (struct tm * tm), (tm), INOUT(tm), )
CALL_VOID(tzset, (void), (), ZONE, )
CALL(size_t, strftime, (char *restrict to, size_t size, const char *restrict format, const struct tm *restrict from),
     (to, size, format, from), STR(format);
     IN(from), if (r) OUT_N(to, r + 1))
CALL(size_t, strftime_l,
     (char *restrict to, size_t size, const char *restrict format, const struct tm *restrict from, locale_t locale),
     (to, size, format, from, locale), STR(format);
     IN(from), if (r) OUT_N(to, r + 1))
CALL(char *, strptime, (const char *restrict s, const char *restrict format, struct tm *restrict to), (s, format, to),
     STR(s);
     STR(format), if (r) OUT(to))
CALL(char *, strptime_l, (const char *restrict s, const char *restrict format, struct tm *restrict to, locale_t locale),
     (s, format, to, locale), STR(s);
     STR(format), if (r) OUT(to))
CALL(struct tm *, getdate, (const char *s), (s), STR(s); USES(environ), RESULT)
CALL(int, adjtimex, (struct timex * time), (time), INOUT(time), )
CALL(int, ntp_adjtime, (struct timex * time), (time), INOUT(time), )
CALL(int, clock_adjtime, (clockid_t clock, struct timex *time), (clock, time), INOUT(time), )
CALL(int, ntp_gettimex, (struct ntptimeval * to), (to), , OUT(to))
CALL(int, timespec_getres, (struct timespec * to, int base), (to, base), , if (r) OUT(to))
CALL(int, getdate_r, (const char *restrict s, struct tm *restrict to), (s, to), STR(s);
     USES(environ), if (r == 0) OUT(to))

/* By turns these may be told by the scheduler's clock (record --fix-time). */
#define CLOCK(clock, to)                                                                                               \
	if (RT_UNLIKELY(rt_controlled) && r != -1)                                                                     \
	rt_turn_clock(clock, to)
#define SECONDS(result, to)                                                                                            \
	if (RT_UNLIKELY(rt_controlled))                                                                                \
	result = seconds(result, to)
#define MICROSECONDS(to)                                                                                               \
	if (RT_UNLIKELY(rt_controlled) && r == 0)                                                                      \
	microseconds(to)

static time_t seconds(time_t real, time_t *to)
{
	struct timespec now = {real, 0};
	rt_turn_clock(CLOCK_REALTIME, &now);
	if (to)
		*to = now.tv_sec;
	return now.tv_sec;
}

static void microseconds(struct timeval *to)
{
	enum { US_NS = 1000 };
	struct timespec now = {to->tv_sec, to->tv_usec * US_NS};
	rt_turn_clock(CLOCK_REALTIME, &now);
	*to = (struct timeval){now.tv_sec, now.tv_nsec / US_NS};
}

CALL(time_t, time, (time_t * to), (to), , SECONDS(r, to); if (r != -1) OUT(to))
CALL(clock_t, times, (struct tms * to), (to), , if (r != -1) OUT(to))
CALL(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to), , CLOCK(clock, to); if (r == 0) OUT(to))
CALL(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to), , if (r == 0) OUT(to))
CALL(int, clock_settime, (clockid_t clock, const struct timespec *from), (clock, from), IN(from), )
CALL(int, clock_getcpuclockid, (pid_t pid, clockid_t *to), (pid, to), , if (r == 0) OUT(to))
CALL(int, timespec_get, (struct timespec * to, int base), (to, base), , CLOCK(CLOCK_REALTIME, to);
     if (r == base) OUT(to))
CALL(int, gettimeofday, (struct timeval *restrict to, void *restrict zone), (to, zone), , MICROSECONDS(to);
     if (r == 0) OUT(to))
CALL(int, settimeofday, (const struct timeval *from, const struct timezone *zone), (from, zone), IN(from); IN(zone), )
CALL(int, adjtime, (const struct timeval *delta, struct timeval *old), (delta, old), IN(delta), if (r == 0) OUT(old))
CALL(int, ftime, (struct timeb * to), (to), , if (r == 0) OUT(to))
CALL(int, getitimer, (__itimer_which_t which, struct itimerval *to), (which, to), , if (r == 0) OUT(to))
CALL(int, timer_gettime, (timer_t timer, struct itimerspec *to), (timer, to), , if (r == 0) OUT(to))
