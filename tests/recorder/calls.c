/*
 * Calls the functions of the recorder's table once each (recorder/intercept/call.h), with arguments that are valid, and
 * prints what they return and leave in memory. t_calls.sh compares that with a run without the recorder. What differs
 * from run to run by itself is not printed.
 */
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

static FILE *out;
static char a[SIZE], b[SIZE];
static wchar_t w[SIZE], v[SIZE];

static void print(const char *format, ...)
{
	int saved = errno;
	va_list args;
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	errno = saved;
}

static void memory(const void *p, size_t n)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < n; i++)
		hash = hash * 31 + ((const unsigned char *)p)[i];
	print(" %016llx", (unsigned long long)hash);
}

static int by_value(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y;
}

static void numbers(void)
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

static void times_of(void)
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

static void texts(void)
{
	mbstate_t state = {0};
	const char *s = "abc";
	const wchar_t *ws = L"abc";
	char *e;
	wchar_t *we, *save = NULL;
	char16_t c16;
	char32_t c32;
	regex_t regex;
	regmatch_t matches[2];
	glob_t paths;
	wordexp_t words;

	T(strtoimax, N(strtoimax("12x", &e, 10)); S(e));
	T(strtoumax, N(strtoumax("12x", NULL, 10)));
	T(strtoq, N(strtoq("12x", &e, 10)); S(e));
	T(strtouq, N(strtouq("99999999999999999999999", &e, 10)); S(e));
	T(wcstoimax, N(wcstoimax(L"12x", &we, 10)); W(we));
	T(wcstoumax, N(wcstoumax(L"12x", NULL, 10)));
	T(wcstoq, N(wcstoq(L"12x", &we, 10)); W(we));
	T(wcstouq, N(wcstouq(L"12x", &we, 10)); W(we));
	T(wcstol, N(wcstol(L"12x", &we, 10)); W(we));
	T(wcstoul, N(wcstoul(L"12x", &we, 10)); W(we));
	T(wcstoll, N(wcstoll(L"12x", &we, 10)); W(we));
	T(wcstoull, N(wcstoull(L"12x", &we, 10)); W(we));
	T(wcstod, F(wcstod(L"1.5x", &we)); W(we));
	T(wcstof, F(wcstof(L"1.5x", &we)); W(we));
	T(wcstold, F(wcstold(L"1.5x", NULL)));
	T(mblen, N(mblen("abc", 3)); N(mblen(NULL, 0)));
	T(mbtowc, N(mbtowc(w, "abc", 3)); N(w[0]); N(mbtowc(NULL, NULL, 0)));
	T(wctomb, N(wctomb(a, L'x')); M(a, 1); N(wctomb(NULL, 0)));
	T(mbrlen, N(mbrlen("abc", 3, &state)); N(mbrlen("abc", 3, NULL)));
	T(mbrtowc, N(mbrtowc(w, "abc", 3, NULL)); N(w[0]); N(mbrtowc(NULL, "\xff", 1, &state)));
	memset(&state, 0, sizeof state);
	T(wcrtomb, N(wcrtomb(a, L'x', &state)); N(wcrtomb(NULL, 0, NULL)));
	T(mbrtoc16, N(mbrtoc16(&c16, "abc", 3, &state)); N(c16));
	T(mbrtoc32, N(mbrtoc32(&c32, "abc", 3, &state)); N(c32));
	T(c16rtomb, N(c16rtomb(a, u'x', &state)));
	T(c32rtomb, N(c32rtomb(a, U'x', &state)));
	T(mbsinit, N(mbsinit(&state)));
	T(mbstowcs, N(mbstowcs(w, "abc", SIZE)); W(w); N(mbstowcs(NULL, "abc", 0)); N(mbstowcs(v, "abc", 2)));
	T(wcstombs, N(wcstombs(a, L"abc", SIZE)); S(a); N(wcstombs(NULL, L"abc", 0)); N(wcstombs(b, L"abc", 2)));
	T(mbsrtowcs, N(mbsrtowcs(NULL, &s, 0, NULL)); N(mbsrtowcs(w, &s, SIZE, &state)); N(s == NULL); W(w));
	T(wcsrtombs, N(wcsrtombs(NULL, &ws, 0, NULL)); N(wcsrtombs(a, &ws, SIZE, &state)); N(ws == NULL); S(a));
	s = "abc", ws = L"abc";
	T(mbsnrtowcs, N(mbsnrtowcs(w, &s, 2, SIZE, NULL)); S(s));
	T(wcsnrtombs, N(wcsnrtombs(a, &ws, 2, SIZE, NULL)); W(ws));
	iconv_t conversion = (iconv_t)-1;
	T(iconv_open, conversion = iconv_open("UTF-16LE", "UTF-8"); N(conversion != (iconv_t)-1));
	char text[] = "abc", *in = text, *to = a;
	size_t left = 3, room = SIZE;
	T(iconv, N(iconv(conversion, &in, &left, &to, &room)); N(left); N(room); M(a, 6);
	  N(iconv(conversion, NULL, NULL, NULL, NULL)));
	T(iconv_close, N(iconv_close(conversion)));
	T(strxfrm, N(strxfrm(a, "abc", SIZE)); S(a); N(strxfrm(NULL, "abc", 0)));
	T(wcsxfrm, N(wcsxfrm(w, L"abc", SIZE)); W(w));
	T(wcscoll, N(wcscoll(L"a", L"b") < 0));
	T(strverscmp, N(strverscmp("a9", "a10") < 0));
	T(setlocale, S(setlocale(LC_ALL, NULL)); S(setlocale(LC_ALL, "C")));
	T(localeconv, S(localeconv()->decimal_point));
	T(gettext, S((gettext)("message")));
	T(dgettext, S((dgettext)(NULL, "message")));
	T(dcgettext, S((dcgettext)(NULL, "message", LC_MESSAGES)));
	T(ngettext, S((ngettext)("one", "many", 2)));
	T(textdomain, S((textdomain)(NULL)));
	T(bindtextdomain, S((bindtextdomain)("x", "/x")));
	T(strerror_r, S(strerror_r(2, a, SIZE)); S(strerror_r(9999, a, SIZE)));
	extern int __xpg_strerror_r(int, char *, size_t);
	T(__xpg_strerror_r, N(__xpg_strerror_r(2, a, SIZE)); S(a));
	T(regcomp, N(regcomp(&regex, "b(.)", REG_EXTENDED)));
	T(regexec, N(regexec(&regex, "abc", 2, matches, 0)); O(&matches); N(regexec(&regex, "x", 0, NULL, 0)));
	T(regerror, N(regerror(1, &regex, a, SIZE)); S(a));
	T(regfree, regfree(&regex));
	T(fnmatch, N(fnmatch("a*", "abc", 0)));
	T(glob, N(glob("/de[v]", 0, NULL, &paths)); S(paths.gl_pathv[0]));
	T(globfree, globfree(&paths));
	T(wordexp, N(wordexp("a b$EMPTY c", &words, 0)); N(words.we_wordc));
	T(wordfree, wordfree(&words));
	T(dirname, strcpy(a, "/a/b"); S(dirname(a)); S(dirname(NULL)));
	T(__xpg_basename, strcpy(a, "/a/b"); S(__xpg_basename(a)));
	T(basename, S(basename("/a/b")));
	T(swab, swab("abcd", a, 4); M(a, 4));
	T(memfrob, strcpy(a, "abc"); memfrob(a, 3); M(a, 3));
	T(strfry, strcpy(a, "aaa"); S(strfry(a)));

	T(wcscmp, N(wcscmp(L"a", L"b") < 0));
	T(wcscasecmp, N(wcscasecmp(L"aB", L"Ab")));
	T(wcsncmp, N(wcsncmp(L"abc", L"abd", 2)));
	T(wcsncasecmp, N(wcsncasecmp(L"abc", L"ABd", 2)));
	T(wmemcmp, N(wmemcmp(L"abc", L"abc", 3)));
	T(wcscpy, W(wcscpy(w, L"abc")));
	T(wcpcpy, N(wcpcpy(w, L"abc") - w));
	T(wcsncpy, W(wcsncpy(w, L"abcdef", 5)));
	T(wcpncpy, N(wcpncpy(w, L"ab", 5) - w));
	T(wcscat, W(wcscat(wcscpy(w, L"a"), L"bc")));
	T(wcsncat, W(wcsncat(wcscpy(w, L"a"), L"bc", 1)));
	T(wcsdup, W(wcsdup(L"abc")));
	T(wmemset, wmemset(w, L'x', 3); M(w, 12));
	T(wmempcpy, N(wmempcpy(w, L"abc", 4) - w));
	T(wcsnlen, N(wcsnlen(L"abc", 2)); N(wcsnlen(L"abc", 9)));
	T(wcschr, W(wcschr(L"abc", L'b')); N(wcschr(L"abc", L'x') == NULL));
	T(wcschrnul, W(wcschrnul(L"abc", L'x')));
	T(wmemchr, W(wmemchr(L"abc", L'c', 3)));
	T(wcsrchr, W(wcsrchr(L"abcbd", L'b')));
	T(wcsspn, N(wcsspn(L"abc", L"ba")));
	T(wcscspn, N(wcscspn(L"abc", L"c")));
	T(wcspbrk, W(wcspbrk(L"abc", L"cb")));
	T(wcsstr, W(wcsstr(L"abc", L"bc")));
	T(wcstok, wcscpy(w, L"a b"); W(wcstok(w, L" ", &save)); W(wcstok(NULL, L" ", &save));
	  N(wcstok(NULL, L" ", &save) == NULL));
}

static void files(void)
{
	struct stat st;
	struct stat64 st64;
	struct statfs fs;
	struct statvfs vfs;
	struct statx x;
	struct dirent *entry = NULL, **entries = NULL;
	int fd = open("file", O_RDWR | O_CREAT, 0600);

	N(write(fd, "text", 4));
#define PATH(name, ...) T(name, N(name(__VA_ARGS__)))
	PATH(access, "file", R_OK);
	PATH(euidaccess, "file", R_OK);
	PATH(eaccess, "none", R_OK);
	PATH(faccessat, AT_FDCWD, "file", R_OK, 0);
	PATH(mkdir, "folder", 0700);
	PATH(mkdirat, AT_FDCWD, "folder2", 0700);
	PATH(rmdir, "folder2");
	PATH(mkfifo, "fifo", 0600);
	PATH(mkfifoat, AT_FDCWD, "fifo2", 0600);
	PATH(mknod, "fifo3", S_IFIFO | 0600, 0);
	PATH(mknodat, AT_FDCWD, "fifo4", S_IFIFO | 0600, 0);
	PATH(chdir, ".");
	PATH(chmod, "file", 0640);
	PATH(fchmodat, AT_FDCWD, "file", 0600, 0);
	PATH(chown, "file", (uid_t)-1, (gid_t)-1);
	PATH(lchown, "file", (uid_t)-1, (gid_t)-1);
	PATH(fchownat, AT_FDCWD, "file", (uid_t)-1, (gid_t)-1, 0);
	PATH(truncate, "file", 3);
	PATH(truncate64, "file", 4);
	PATH(pathconf, "/", _PC_NAME_MAX);
	PATH(link, "file", "hard");
	PATH(linkat, AT_FDCWD, "file", AT_FDCWD, "hard2", 0);
	PATH(symlink, "file", "soft");
	PATH(symlinkat, "file", AT_FDCWD, "soft2");
	PATH(rename, "hard", "hard3");
	PATH(renameat, AT_FDCWD, "hard3", AT_FDCWD, "hard4");
	PATH(renameat2, AT_FDCWD, "hard4", AT_FDCWD, "hard5", 0);
	PATH(unlink, "hard5");
	PATH(unlinkat, AT_FDCWD, "hard2", 0);
	PATH(remove, "fifo4");
	T(stat, N(stat("file", &st)); N(st.st_size); N(stat("none", &st)));
	T(lstat, N(lstat("soft", &st)); N(S_ISLNK(st.st_mode)));
	T(stat64, N(stat64("file", &st64)); N(st64.st_size));
	T(lstat64, N(lstat64("soft", &st64)); N(st64.st_size));
	T(fstat, N(fstat(fd, &st)); N(st.st_size));
	T(fstat64, N(fstat64(fd, &st64)); N(st64.st_size));
	T(fstatat, N(fstatat(AT_FDCWD, "file", &st, 0)); N(st.st_size));
	T(fstatat64, N(fstatat64(AT_FDCWD, "file", &st64, 0)); N(st64.st_size));
	T(statx, N(statx(AT_FDCWD, "file", 0, STATX_SIZE, &x)); N(x.stx_size));
	T(statfs, N(statfs("file", &fs)); N(fs.f_type));
	T(fstatfs, N(fstatfs(fd, &fs)); N(fs.f_type));
	T(statvfs, N(statvfs("file", &vfs)); N(vfs.f_namemax));
	T(fstatvfs, N(fstatvfs(fd, &vfs)); N(vfs.f_namemax));
	T(readlink, N(readlink("soft", a, SIZE)); M(a, 4));
	T(readlinkat, N(readlinkat(AT_FDCWD, "soft", a, SIZE)); M(a, 4));
	T(realpath, N(realpath("soft", a) == a); S(basename(a)); S(realpath("/", NULL));
	  N(realpath("none", a) == NULL));
	T(canonicalize_file_name, S(basename(canonicalize_file_name("soft"))));
	T(getcwd, N(getcwd(a, SIZE) == a); N(getcwd(NULL, 0) != NULL); N(getcwd(a, 1) == NULL));
	T(get_current_dir_name, N(get_current_dir_name() != NULL));
	T(utime, N(utime("file", &(struct utimbuf){1, 2})); N(utime("file", NULL)));
	T(utimes, N(utimes("file", NULL)));
	T(futimes, N(futimes(fd, (struct timeval[2]){{1, 2}, {3, 4}})));
	T(futimens, N(futimens(fd, NULL)));
	T(utimensat, N(utimensat(AT_FDCWD, "file", (struct timespec[2]){{1, 2}, {3, 4}}, 0)));
	T(mkstemp, strcpy(a, "tXXXXXX"); N(mkstemp(a) >= 0); N(strlen(a)));
	T(mkostemp, strcpy(a, "tXXXXXX"); N(mkostemp(a, 0) >= 0); N(strlen(a)));
	T(mkstemps, strcpy(a, "tXXXXXX.c"); N(mkstemps(a, 2) >= 0); N(strlen(a)));
	T(mkostemps, strcpy(a, "tXXXXXX.c"); N(mkostemps(a, 2, 0) >= 0); N(strlen(a)));
	T(mkdtemp, strcpy(a, "tXXXXXX"); N(mkdtemp(a) == a));
	T(tempnam, N(tempnam(".", "x") != NULL));
	DIR *folder = NULL;
	T(opendir, N((folder = opendir("folder")) != NULL); N(opendir("none") == NULL));
	T(readdir, N(readdir(folder)->d_type); N(readdir(folder)->d_type); N(readdir(folder) == NULL));
	rewinddir(folder);
	T(readdir_r, N(readdir_r(folder, (struct dirent *)a, &entry)); N(entry == (struct dirent *)a));
	T(closedir, N(closedir(folder)));
	T(scandir, N(scandir("folder", &entries, NULL, alphasort)); S(entries[1]->d_name));
	T(setxattr, N(setxattr("file", "user.x", "abc", 3, 0)));
	errno = 0;
	T(getxattr, N(getxattr("file", "user.x", a, SIZE)));
	T(listxattr, N(listxattr("file", a, SIZE)));
	close(fd);
}

static void streams(void)
{
	char *line = NULL, *text = NULL;
	wchar_t *wide = NULL;
	size_t size = 0;
	fpos_t position;
	FILE *f = NULL, *m = NULL;

	T(fopen, N((f = fopen("stream", "w+")) != NULL); N(fopen("none", "r") == NULL));
	T(fputc, N(fputc('a', f)));
	T(putc, N(putc('b', f)));
	T(fputc_unlocked, N(fputc_unlocked('c', f)));
	T(putc_unlocked, N(putc_unlocked('\n', f)));
	T(fputs, N(fputs("line\n", f)));
	T(fputs_unlocked, N(fputs_unlocked("another\n", f)));
	T(fwrite, N(fwrite("block\n", 1, 6, f)));
	T(fwrite_unlocked, N(fwrite_unlocked("block\n", 1, 6, f)));
	T(putw, N(putw(7, f)));
	T(vfprintf, N(fprintf(f, "%d %s\n", 12, "x")));
	T(fflush, N(fflush(f)); N(fflush(NULL)));
	T(fflush_unlocked, N(fflush_unlocked(f)));
	T(ftell, N(ftell(f)));
	T(ftello, N(ftello(f)));
	T(rewind, rewind(f));
	T(fgetc, N(fgetc(f)));
	T(getc, N(getc(f)));
	T(fgetc_unlocked, N(fgetc_unlocked(f)));
	T(getc_unlocked, N(getc_unlocked(f)));
	T(ungetc, N(ungetc('z', f)); N(getc(f)));
	T(fgets, N(fgets(a, SIZE, f) == a); S(a));
	T(fgets_unlocked, N(fgets_unlocked(a, 4, f) == a); S(a));
	T(getline, N(getline(&line, &size, f)); S(line));
	T(getdelim, N(getdelim(&line, &size, 'k', f)); S(line));
	T(fread, N(fread(a, 1, 3, f)); M(a, 3));
	T(fread_unlocked, N(fread_unlocked(a, 2, 2, f)); M(a, 4));
	T(fgetpos, N(fgetpos(f, &position)));
	T(getw, N(getw(f)));
	T(fsetpos, N(fsetpos(f, &position)); N(ftell(f)));
	T(fseek, N(fseek(f, -5, SEEK_END)));
	T(__isoc99_vfscanf, int i = 0; N(fscanf(f, "%d %s", &i, a)); N(i); S(a));
	T(fseeko, N(fseeko(f, 0, SEEK_END)));
	T(feof, N(getc(f)); N(feof(f)));
	T(ferror, N(ferror(f)));
	T(clearerr, clearerr(f); N(feof(f)));
	T(fileno, N(fileno(f) > 2));
	T(freopen, N((f = freopen("stream2", "w+", f)) != NULL));
	T(setvbuf, N(setvbuf(f, NULL, _IOLBF, 0)));
	T(setlinebuf, setlinebuf(f));
	T(fwide, N(fwide(f, 1)));
	T(fputwc, N(fputwc(L'a', f)));
	T(putwc, N(putwc(L'b', f)));
	T(fputwc_unlocked, N(fputwc_unlocked(L'c', f)));
	T(putwc_unlocked, N(putwc_unlocked(L'\n', f)));
	T(fputws, N(fputws(L"line\n", f)));
	T(fputws_unlocked, N(fputws_unlocked(L"line\n", f)));
	T(vfwprintf, N(fwprintf(f, L"%d %ls\n", 12, L"x")));
	rewind(f);
	T(fgetwc, N(fgetwc(f)));
	T(getwc, N(getwc(f)));
	T(fgetwc_unlocked, N(fgetwc_unlocked(f)));
	T(getwc_unlocked, N(getwc_unlocked(f)));
	T(ungetwc, N(ungetwc(L'z', f)); N(getwc(f)));
	T(fgetws, N(fgetws(w, SIZE, f) == w); W(w));
	T(fgetws_unlocked, N(fgetws_unlocked(w, SIZE, f) == w); W(w));
	T(__isoc99_vfwscanf, int i = 0; N(fwscanf(f, L"%d %ls", &i, w)); N(i); W(w));
	T(fclose, N(fclose(f)));
	T(tmpfile, N((f = tmpfile()) != NULL); fclose(f));
	T(fdopen, N((f = fdopen(dup(1), "w")) != NULL); setbuf(f, NULL); fclose(f));
	T(fmemopen, N((m = fmemopen(a, SIZE, "w")) != NULL); fputs("abc", m); N(fclose(m)); S(a));
	T(open_memstream, N((m = open_memstream(&text, &size)) != NULL); fputs("abc", m); fflush(m); S(text); N(size);
	  fputs("defghi", m); fclose(m); S(text); N(size));
	T(open_wmemstream, N((m = open_wmemstream(&wide, &size)) != NULL); fputws(L"abc", m); fclose(m); W(wide);
	  N(size));
	T(fopencookie, N((m = fopencookie(NULL, "w", (cookie_io_functions_t){0})) != NULL); fclose(m));
	T(flockfile, flockfile(out));
	T(ftrylockfile, N(ftrylockfile(out)));
	T(funlockfile, funlockfile(out); funlockfile(out));
	T(vsnprintf, N(snprintf(a, SIZE, "%d %s %n", 12, "x", (int *)b)); S(a); M(b, 4));
	T(vasprintf, N(asprintf(&text, "%d", 12)); S(text));
	T(vdprintf, N(dprintf(1, "%s", "")));
	T(vswprintf, N(swprintf(w, SIZE, L"%d %s", 12, "x")); W(w));
	T(__isoc99_vsscanf, int i = 0; N(sscanf("12 abc", "%d %s", &i, a)); N(i); S(a));
	T(__isoc99_vswscanf, int i = 0; N(swscanf(L"12 abc", L"%d %s", &i, a)); N(i); S(a));
	T(puts, N(puts("")));
	T(putchar, N(putchar('\n')));
	T(putchar_unlocked, N(putchar_unlocked('\n')));
	T(vprintf, N(printf("%d\n", 1)));
	T(getchar, N(getchar()));
	T(getchar_unlocked, N(getchar_unlocked()));
	T(perror, perror("message"));
	T(vwarn, warn("message %d", 1); warn(NULL));
	T(vwarnx, warnx("message %s", "x"));
}

static void names(void)
{
	struct in_addr address = {0};
	struct ether_addr ether = {{1, 2, 3, 4, 5, 6}}, *e;
	struct passwd passwd, *p = NULL;
	struct group group, *g = NULL;
	struct protoent proto, *pe = NULL;
	struct servent serv, *se = NULL;
	struct hostent host, *h = NULL;
	struct addrinfo *info = NULL, hints = {.ai_flags = AI_NUMERICHOST};
	struct sockaddr_in local = {.sin_family = AF_INET};
	struct ifaddrs *interfaces;
	gid_t groups[64];
	int error = 0, n = 64;
	static char text[1 << 16];

	T(getpwnam, S(getpwnam("root")->pw_dir); N(getpwnam("no such user") == NULL); errno = 0);
	T(getpwuid, S(getpwuid(0)->pw_name); errno = 0);
	T(getpwent, setpwent(); S(getpwent()->pw_name); endpwent(); errno = 0);
	T(getpwnam_r, N(getpwnam_r("root", &passwd, text, sizeof text, &p)); S(p->pw_name); errno = 0);
	T(getpwuid_r, N(getpwuid_r(0, &passwd, text, sizeof text, &p)); S(p->pw_name); errno = 0);
	T(getgrnam, S(getgrnam("root")->gr_name); errno = 0);
	T(getgrgid, S(getgrgid(0)->gr_name); errno = 0);
	T(getgrnam_r, N(getgrnam_r("root", &group, text, sizeof text, &g)); S(g->gr_name); errno = 0);
	T(getgrgid_r, N(getgrgid_r(0, &group, text, sizeof text, &g)); S(g->gr_name); errno = 0);
	T(getgrouplist, N(getgrouplist("root", 0, groups, &n)); N(n); errno = 0);
	T(getprotobyname, N(getprotobyname("tcp") ? getprotobyname("tcp")->p_proto : 0); errno = 0);
	T(getprotobynumber, N(getprotobynumber(6) != NULL); errno = 0);
	T(getprotobyname_r, N(getprotobyname_r("tcp", &proto, text, sizeof text, &pe)); N(pe != NULL); errno = 0);
	T(getprotobynumber_r, N(getprotobynumber_r(6, &proto, text, sizeof text, &pe)); N(pe != NULL); errno = 0);
	T(getservbyname, N(getservbyname("http", "tcp") != NULL); errno = 0);
	T(getservbyport, N(getservbyport(htons(80), "tcp") != NULL); errno = 0);
	T(getservbyname_r, N(getservbyname_r("http", NULL, &serv, text, sizeof text, &se)); N(se != NULL); errno = 0);
	T(gethostbyname, N(gethostbyname("127.0.0.1")->h_length); errno = 0);
	T(gethostbyname2, N(gethostbyname2("127.0.0.1", AF_INET)->h_length); errno = 0);
	T(gethostbyname_r, N(gethostbyname_r("127.0.0.1", &host, text, sizeof text, &h, &error)); S(h->h_name);
	  errno = 0);
	T(getaddrinfo, N(getaddrinfo("127.0.0.1", NULL, &hints, &info)); N(info->ai_family); errno = 0);
	T(getnameinfo, N(getnameinfo((void *)&local, sizeof local, a, SIZE, b, SIZE, NI_NUMERICHOST | NI_NUMERICSERV));
	  S(a); S(b); errno = 0);
	T(if_nametoindex, N(if_nametoindex("lo")));
	T(if_indextoname, N(if_indextoname(1, a) != NULL); S(a); errno = 0);
	T(getifaddrs, N(getifaddrs(&interfaces)); errno = 0);
	T(inet_aton, N(inet_aton("1.2.3.4", &address)); O(&address));
	T(inet_addr, N(inet_addr("1.2.3.4")));
	T(inet_network, N(inet_network("1.2.3.4")));
	T(inet_pton, N(inet_pton(AF_INET, "1.2.3.4", &address)); N(inet_pton(AF_INET6, "::1", a)); M(a, 16));
	T(inet_ntop, S(inet_ntop(AF_INET, &address, a, SIZE)); N(inet_ntop(1, a, a, 1) == NULL));
	T(ether_ntoa, S(ether_ntoa(&ether)));
	T(ether_ntoa_r, S(ether_ntoa_r(&ether, a)));
	T(ether_aton, e = ether_aton("1:2:3:4:5:6"); O(e));
	T(ether_aton_r, N(ether_aton_r("1:2:3:4:5:6", &ether) == &ether); O(&ether));
	T(ether_line, N(ether_line("1:2:3:4:5:6 host", &ether, a)); S(a));
	T(getutxent, setutxent(); N(getutxent() == NULL || 1); endutxent(); errno = 0);
	int s[2];
	socklen_t length = sizeof local;
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	T(getsockname, N(getsockname(s[0], (void *)a, &length)); N(length));
	length = 4;
	T(getpeername, N(getpeername(s[0], (void *)a, &length)); N(length));
	length = sizeof error;
	T(getsockopt, N(getsockopt(s[0], SOL_SOCKET, SO_TYPE, &error, &length)); N(error));
	T(setsockopt, N(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &(int){4096}, sizeof(int))));
}

static void systems(void)
{
	sigset_t set, other, third;
	int status = 0;
	struct rlimit limit;
	struct rusage usage;
	struct sysinfo info;
	struct utsname name;
	siginfo_t how = {0};
	struct termios terminal;
	cpu_set_t cpus;
	struct sched_param parameter = {0};
	uid_t u1, u2, u3;
	stack_t stack;
	void *frames[8];

	T(wait, fork() == 0 ? _exit(3) : (void)0; N(wait(&status) > 0); N(WEXITSTATUS(status)));
	T(waitpid, pid_t child = fork(); child == 0 ? _exit(4) : (void)0; N(waitpid(child, &status, 0) == child);
	  N(WEXITSTATUS(status)); N(waitpid(-1, NULL, WNOHANG)));
	T(wait3, fork() == 0 ? _exit(5) : (void)0; N(wait3(&status, 0, &usage) > 0); N(WEXITSTATUS(status)));
	T(wait4, fork() == 0 ? _exit(6) : (void)0; N(wait4(-1, &status, 0, NULL) > 0); N(WEXITSTATUS(status)));
	T(waitid, fork() == 0 ? _exit(7) : (void)0; N(waitid(P_ALL, 0, &how, WEXITED)); N(how.si_status));
	T(sigemptyset, N(sigemptyset(&set)));
	T(sigfillset, N(sigfillset(&other)));
	T(sigaddset, N(sigaddset(&set, SIGUSR1)); N(sigaddset(&set, 999)));
	T(sigdelset, N(sigdelset(&other, SIGUSR1)));
	T(sigismember, N(sigismember(&set, SIGUSR1)); N(sigismember(&other, SIGUSR1)));
	T(sigisemptyset, N(sigisemptyset(&set)));
	T(sigandset, N(sigandset(&third, &set, &other)); N(sigisemptyset(&third)));
	T(sigorset, N(sigorset(&third, &set, &other)); N(sigismember(&third, SIGUSR1)));
	T(sigprocmask, N(sigprocmask(SIG_BLOCK, &set, &other)); N(sigismember(&other, SIGUSR1)));
	T(pthread_sigmask, N(pthread_sigmask(SIG_UNBLOCK, &set, &other)); N(sigismember(&other, SIGUSR1)));
	T(sigpending, N(sigpending(&set)); N(sigismember(&set, SIGUSR1)));
	T(sigaltstack, N(sigaltstack(NULL, &stack)));
	T(getgroups, N(getgroups(0, NULL) >= 0));
	T(getresuid, N(getresuid(&u1, &u2, &u3)); N(u1 == u2));
	T(getresgid, N(getresgid(&u1, &u2, &u3)); N(u1 == u2));
	T(getrlimit, N(getrlimit(RLIMIT_CORE, &limit)));
	T(setrlimit, N(setrlimit(RLIMIT_CORE, &limit)));
	T(prlimit, N(prlimit(0, RLIMIT_CORE, NULL, &limit)));
	T(getrusage, N(getrusage(RUSAGE_SELF, &usage)));
	T(sysinfo, N(sysinfo(&info)); N(info.totalram > 0));
	T(getloadavg, N(getloadavg((double *)a, 3)));
	T(uname, N(uname(&name)); S(name.sysname));
	T(gethostname, N(gethostname(a, SIZE)));
	T(getdomainname, N(getdomainname(a, SIZE)));
	T(confstr, N(confstr(_CS_PATH, a, SIZE)); S(a); N(confstr(_CS_PATH, NULL, 0)));
	T(getrandom, N(getrandom(a, 16, 0)));
	T(getentropy, N(getentropy(a, 16)));
	T(mincore, N(mincore((void *)((uintptr_t)a & ~(uintptr_t)4095), 4096, (unsigned char *)b)); M(b, 1));
	T(process_vm_readv, N(process_vm_readv(getpid(), &(struct iovec){a, 4}, 1, &(struct iovec){"abc", 4}, 1, 0));
	  S(a));
	T(sched_getparam, N(sched_getparam(0, &parameter)));
	T(sched_getaffinity, N(sched_getaffinity(0, sizeof cpus, &cpus)); N(CPU_COUNT(&cpus)));
	T(sched_setaffinity, N(sched_setaffinity(0, sizeof cpus, &cpus)));
	T(tcgetattr, N(tcgetattr(0, &terminal)));
	T(ttyname, N(ttyname(0) == NULL));
	T(ttyname_r, N(ttyname_r(0, a, SIZE)); errno = 0);
	T(ctermid, S(ctermid(a)); S(ctermid(NULL)));
	T(setenv, N(setenv("X_Y", "1", 1)));
	T(getenv, S(getenv("X_Y")); N(getenv("X_Z") == NULL));
	T(secure_getenv, S(secure_getenv("X_Y")));
	T(putenv, N(putenv("X_Z=2")); S(getenv("X_Z")));
	T(unsetenv, N(unsetenv("X_Y")); N(getenv("X_Y") == NULL); N(unsetenv("")));
	T(backtrace, N(backtrace(frames, 8) > 0));
	T(getopt, char *arguments[] = {"x", "-a", "b", NULL}; N(getopt(3, arguments, "a:")); S(optarg); N(optind));
	int value = 0;
	size_t bytes = 0;
	void *where = NULL;
	pthread_attr_t attr;
	T(pthread_attr_init, N(pthread_attr_init(&attr)));
	T(pthread_attr_getdetachstate, N(pthread_attr_getdetachstate(&attr, &value)); N(value));
	T(pthread_attr_setdetachstate, N(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE)));
	T(pthread_attr_getguardsize, N(pthread_attr_getguardsize(&attr, &bytes)); N(bytes));
	T(pthread_attr_setguardsize, N(pthread_attr_setguardsize(&attr, bytes)));
	T(pthread_attr_getstacksize, N(pthread_attr_getstacksize(&attr, &bytes)); N(bytes > 0));
	T(pthread_attr_setstacksize, N(pthread_attr_setstacksize(&attr, bytes)));
	T(pthread_attr_getschedparam, N(pthread_attr_getschedparam(&attr, &parameter)));
	T(pthread_attr_getschedpolicy, N(pthread_attr_getschedpolicy(&attr, &value)); N(value));
	T(pthread_attr_getscope, N(pthread_attr_getscope(&attr, &value)); N(value));
	T(pthread_attr_getinheritsched, N(pthread_attr_getinheritsched(&attr, &value)); N(value));
	T(pthread_attr_destroy, N(pthread_attr_destroy(&attr)));
	T(pthread_getattr_np, N(pthread_getattr_np(pthread_self(), &attr)));
	T(pthread_attr_getstack, N(pthread_attr_getstack(&attr, &where, &bytes)); N(where != NULL));
	pthread_mutexattr_t mutex;
	pthread_mutexattr_init(&mutex);
	T(pthread_mutexattr_settype, N(pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_RECURSIVE)));
	T(pthread_mutexattr_gettype, N(pthread_mutexattr_gettype(&mutex, &value)); N(value));
	T(pthread_mutexattr_getrobust, N(pthread_mutexattr_getrobust(&mutex, &value)); N(value));
	T(pthread_mutexattr_getpshared, N(pthread_mutexattr_getpshared(&mutex, &value)); N(value));
	T(pthread_setcancelstate, N(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &value)); N(value));
	T(pthread_setcanceltype, N(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL)));
	T(pthread_getschedparam, N(pthread_getschedparam(pthread_self(), &value, &parameter)); N(value));
	T(pthread_getaffinity_np, N(pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus)));
	T(clearenv, N(clearenv()); N(getenv("PATH") == NULL); N(setenv("A", "b", 0)); S(getenv("A")));
}

int main(int argc, char **argv)
{
	out = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!out)
		return 2;
	numbers();
	times_of();
	texts();
	files();
	streams();
	names();
	systems();
	return fclose(out);
}
