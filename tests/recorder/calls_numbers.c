/* Numbers, searching and sorting, times; see calls.c. */
#include "calls.h"

static int by_value(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y;
}

void call_numbers(void)
{
	int i = 0;
	double d = 0, e = 0;
	float f = 0, g = 0;
	long double l = 0, m = 0;
	long n = 0;
	unsigned seed = 7;
	unsigned short x[7] = {1, 2, 3, 4, 5, 6, 7};
	struct random_data state = {0};
	struct drand48_data more = {0};
	int32_t r = 0;

	T(frexp, F(frexp(10.5, &i)); N(i));
	T(frexpf, F(frexpf(10.5F, &i)); N(i));
	T(frexpl, F(frexpl(10.5L, &i)); N(i));
	T(modf, F(modf(10.5, &d)); F(d));
	T(modff, F(modff(10.5F, &f)); F(f));
	T(modfl, F(modfl(10.5L, &l)); F(l));
	T(remquo, F(remquo(10.5, 3, &i)); N(i));
	T(remquof, F(remquof(10.5F, 3, &i)); N(i));
	T(remquol, F(remquol(10.5L, 3, &i)); N(i));
	T(lgamma_r, F(lgamma_r(-0.5, &i)); N(i));
	T(lgammaf_r, F(lgammaf_r(-0.5F, &i)); N(i));
	T(lgammal_r, F(lgammal_r(-0.5L, &i)); N(i));
	T(sincos, sincos(1, &d, &e); F(d); F(e));
	T(sincosf, sincosf(1, &f, &g); F(f); F(g));
	T(sincosl, sincosl(1, &l, &m); F(l); F(m));
	T(nan, F(nan("1")));
	T(nanf, F(nanf("1")));
	T(nanl, F(nanl("1")));
	T(rand_r, N(rand_r(&seed)); N(seed));
	T(initstate_r, N(initstate_r(1, a, 64, &state)));
	T(random_r, N(random_r(&state, &r)); N(r));
	T(srandom_r, N(srandom_r(5, &state)); random_r(&state, &r); N(r));
	T(setstate_r, N(setstate_r(a, &state)));
	T(initstate, N(initstate(1, b, 64) != NULL); N(random()); setstate(b); O(&b));
	T(drand48, F(drand48()));
	T(lrand48, N(lrand48()));
	T(mrand48, N(mrand48()));
	T(srand48, srand48(5); N(lrand48()));
	T(seed48, M(seed48(x), 6));
	T(lcong48, lcong48(x); N(lrand48()));
	T(erand48, F(erand48(x)); O(&x));
	T(nrand48, N(nrand48(x)); O(&x));
	T(jrand48, N(jrand48(x)); O(&x));
	T(srand48_r, N(srand48_r(7, &more)));
	T(drand48_r, N(drand48_r(&more, &d)); F(d));
	T(lrand48_r, N(lrand48_r(&more, &n)); N(n));
	T(mrand48_r, N(mrand48_r(&more, &n)); N(n));
	T(erand48_r, N(erand48_r(x, &more, &d)); F(d));
	T(nrand48_r, N(nrand48_r(x, &more, &n)); N(n));
	T(jrand48_r, N(jrand48_r(x, &more, &n)); N(n));
	T(seed48_r, N(seed48_r(x, &more)));
	T(lcong48_r, N(lcong48_r(x, &more)); O(&more));
	T(ecvt, S(ecvt(1.5, 4, &i, &r)); N(i); N(r));
	T(fcvt, S(fcvt(-1.5, 4, &i, &r)); N(i); N(r));
	T(gcvt, S(gcvt(1.5, 4, a)));
	T(l64a, S(l64a(12345)));
	T(a64l, N(a64l("abc")));

	int keys[3] = {3, 1, 2};
	void *root = NULL;
	size_t count = 2;
	T(tsearch, N(tsearch(&keys[0], &root, by_value) != NULL));
	T(tfind, N(**(int **)tfind(&keys[0], &root, by_value)));
	T(tdelete, N(tdelete(&keys[0], &root, by_value) != NULL); N(root == NULL));
	T(lfind, N(*(int *)lfind(&keys[1], keys, &count, sizeof(int), by_value)));
	T(lsearch, N(*(int *)lsearch(&keys[2], keys, &count, sizeof(int), by_value)); N(count));
	struct hsearch_data table = {0};
	ENTRY item = {"key", keys}, *found = NULL;
	T(hcreate, N(hcreate(8)));
	T(hsearch, N(hsearch(item, ENTER) != NULL); N(hsearch(item, FIND)->data == keys));
	T(hdestroy, hdestroy());
	T(hcreate_r, N(hcreate_r(8, &table)));
	T(hsearch_r, N(hsearch_r(item, ENTER, &found, &table)); N(found->data == keys));
	T(hdestroy_r, hdestroy_r(&table));
	struct {
		void *next, *before;
	} one = {0}, two = {0};
	T(insque, insque(&one, NULL); insque(&two, &one); N(one.next == &two));
	T(remque, remque(&two); N(one.next == NULL));
}

void call_times(void)
{
	time_t t = 86400 * 365;
	struct tm tm = {0}, day = {.tm_mday = 1, .tm_year = 70};
	struct timespec ts;
	struct timeval tv;
	struct itimerval timer;
	struct tms tms;
	clockid_t clock;
	locale_t c = NULL;

	T(newlocale, N((c = newlocale(LC_ALL_MASK, "C", NULL)) != NULL));
	T(localtime, S(asctime(localtime(&t))));
	T(gmtime, S(asctime(gmtime(&t))));
	T(localtime_r, N(localtime_r(&t, &tm) == &tm); S(asctime(&tm)));
	T(gmtime_r, N(gmtime_r(&t, &tm) == &tm); S(asctime(&tm)));
	T(asctime, S(asctime(&day)));
	T(asctime_r, S(asctime_r(&day, a)));
	T(ctime, S(ctime(&t)));
	T(ctime_r, S(ctime_r(&t, a)));
	T(mktime, N(mktime(&day)); N(day.tm_yday));
	T(timelocal, N(timelocal(&day)));
	T(timegm, N(timegm(&day)));
	T(tzset, tzset(); N(timezone));
	T(strftime, N(strftime(a, SIZE, "%Y-%m-%d", &day)); S(a));
	T(strftime_l, N(strftime_l(a, SIZE, "%Y-%m-%d", &day, c)); S(a));
	T(wcsftime, N(wcsftime(w, SIZE, L"%Y", &day)); W(w));
	T(strptime, S(strptime("2001-02-03", "%Y-%m-%d", &tm)); N(tm.tm_year));
	T(time, time(&t); N(t > 0));
	T(times, N(times(&tms) != -1));
	T(clock_gettime, N(clock_gettime(CLOCK_REALTIME, &ts)); N(ts.tv_sec > 0));
	T(clock_getres, N(clock_getres(CLOCK_REALTIME, &ts)); N(ts.tv_nsec));
	T(clock_getcpuclockid, N(clock_getcpuclockid(0, &clock)); N(clock));
	T(timespec_get, N(timespec_get(&ts, TIME_UTC)));
	T(gettimeofday, N(gettimeofday(&tv, NULL)); N(tv.tv_sec > 0));
	T(getitimer, N(getitimer(ITIMER_REAL, &timer)); O(&timer));
	T(getdate_r, N(getdate_r("x", &tm)));
	T(strtol_l, char *e; N(strtol_l("12x", &e, 10, c)); S(e));
	T(strtoul_l, char *e; N(strtoul_l("12x", &e, 10, c)); S(e));
	T(strtoll_l, N(strtoll_l("12x", NULL, 10, c)));
	T(strtoull_l, N(strtoull_l("12x", NULL, 10, c)));
	T(strtod_l, char *e; F(strtod_l("1.5x", &e, c)); S(e));
	T(strtof_l, F(strtof_l("1.5x", NULL, c)));
	T(strtold_l, F(strtold_l("1.5x", NULL, c)));
	T(strcoll_l, N(strcoll_l("a", "b", c) < 0));
	T(wcscoll_l, N(wcscoll_l(L"a", L"b", c) < 0));
	T(strxfrm_l, N(strxfrm_l(a, "abc", SIZE, c)); S(a));
	T(wcsxfrm_l, N(wcsxfrm_l(w, L"abc", SIZE, c)); W(w));
}
