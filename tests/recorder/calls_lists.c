/* Lists of strings, attributes of programs and threads, floating point and its text; see calls.c. */
#include "calls.h"

#include <argz.h>
#include <envz.h>
#include <fenv.h>
#include <obstack.h>
#include <printf.h>
#include <spawn.h>
#include <sys/ipc.h>
#include <sys/timex.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free
#define V M(z, n), N(n)

static void call_vectors(void)
{
	char *z = NULL, *list[8] = {"one", "two", "three", NULL}, *text = a, *value = NULL;
	size_t n = 0;
	unsigned count = 0;

	T(argz_create, N(argz_create(list, &z, &n)); V);
	T(argz_create_sep, N(argz_create_sep("x=1:y=2", ':', &z, &n)); V);
	T(argz_add, N(argz_add(&z, &n, "z=3")); V);
	T(argz_add_sep, N(argz_add_sep(&z, &n, "u=4,v", ',')); V);
	T(argz_append, N(argz_append(&z, &n, "w=5", 4)); V);
	T(argz_insert, N(argz_insert(&z, &n, z, "t=0")); V);
	T(argz_replace, N(argz_replace(&z, &n, "=", "==", &count)); N(count); V);
	T(argz_delete, argz_delete(&z, &n, z); V);
	T(argz_count, N(argz_count(z, n)));
	T(argz_next, S(argz_next(z, n, z)));
	T(argz_extract, argz_extract(z, n, list); S(list[1]));
	T(envz_entry, S(envz_entry(z, n, "y")));
	T(envz_get, S(envz_get(z, n, "y")));
	T(envz_add, N(envz_add(&z, &n, "new", "value")); V);
	T(envz_merge, N(envz_merge(&z, &n, "y=7", 4, 1)); V);
	T(envz_remove, envz_remove(&z, &n, "new"); V);
	T(envz_strip, envz_strip(&z, &n); V);
	T(argz_stringify, argz_stringify(z, n, '+'); V);
	strcpy(a, "two=2,other");
	list[0] = "one", list[1] = "two", list[2] = NULL;
	T(getsubopt, N(getsubopt(&text, list, &value)); S(value); S(text));
}

static void format(struct obstack *o, const char *text, ...)
{
	va_list args;
	va_start(args, text);
	N(obstack_vprintf(o, text, args));
	va_end(args);
}

static void call_objects(void)
{
	struct obstack o;
	char *at;

	obstack_init(&o);
	T(obstack_printf, N(obstack_printf(&o, "%s %d", "text", 5)); N(obstack_object_size(&o)));
	T(obstack_vprintf, format(&o, "%s %d", "more", 6); obstack_1grow(&o, 0); at = obstack_finish(&o); S(at));
	T(obstack_free, obstack_free(&o, at); N(obstack_object_size(&o)); obstack_free(&o, NULL));
}

#define REPRESENTATION(type, suffix)                                                                                   \
	do {                                                                                                           \
		type x = 2, y = 0;                                                                                     \
		T(canonicalize##suffix, N(canonicalize##suffix(&y, &x)); F(y));                                        \
		T(setpayload##suffix, N(setpayload##suffix(&x, 5)); F(x));                                             \
		T(getpayload##suffix, F(getpayload##suffix(&x)));                                                      \
		T(setpayloadsig##suffix, N(setpayloadsig##suffix(&x, 6)));                                             \
	} while (0)

static void call_floating(void)
{
	int point = 0, sign = 0;
	fenv_t env;
	femode_t mode;
	fexcept_t flag;
	locale_t l = newlocale(LC_ALL_MASK, "C", NULL);

	REPRESENTATION(double, );
	REPRESENTATION(float, f);
	REPRESENTATION(long double, l);
	T(strfromd, N(strfromd(a, 64, "%.3g", 1.5)); S(a));
	T(strfromf, N(strfromf(a, 64, "%.3g", 2.5F)); S(a));
	T(strfroml, N(strfroml(a, 3, "%.3f", 3.5L)); S(a));
	T(ecvt_r, N(ecvt_r(12.5, 4, &point, &sign, a, 64)); S(a); N(point));
	T(fcvt_r, N(fcvt_r(12.5, 4, &point, &sign, a, 64)); S(a); N(point));
	T(qecvt_r, N(qecvt_r(12.5L, 4, &point, &sign, a, 64)); S(a); N(point));
	T(qfcvt_r, N(qfcvt_r(-12.5L, 4, &point, &sign, a, 64)); S(a); N(sign));
	T(qecvt, S(qecvt(12.5L, 4, &point, &sign)));
	T(qfcvt, S(qfcvt(12.5L, 4, &point, &sign)));
	T(qgcvt, S(qgcvt(12.5L, 4, a)));
	T(fegetenv, N(fegetenv(&env)));
	T(feholdexcept, N(feholdexcept(&env)));
	T(fesetenv, N(fesetenv(FE_DFL_ENV)); N(fesetenv(&env)));
	T(feupdateenv, N(feupdateenv(&env)));
	T(fegetmode, N(fegetmode(&mode)));
	T(fesetmode, N(fesetmode(FE_DFL_MODE)); N(fesetmode(&mode)));
	T(fegetexceptflag, N(fegetexceptflag(&flag, FE_ALL_EXCEPT)));
	T(fesetexceptflag, N(fesetexceptflag(&flag, FE_ALL_EXCEPT)));
	T(fetestexceptflag, N(fetestexceptflag(&flag, FE_DIVBYZERO)));
	wchar_t *end;
	char *stop;
	T(strtol, N(strtol("12x", &stop, 10)); S(stop));
	T(strtoul, N(strtoul("12x", &stop, 10)); S(stop));
	T(strtoll, N(strtoll("12x", &stop, 10)); S(stop));
	T(strtoull, N(strtoull("12x", &stop, 10)); S(stop));
	T(strtod, F(strtod("1.5x", &stop)); S(stop));
	T(strtof, F(strtof("1.5x", NULL)));
	T(strtold, F(strtold("1.5x", &stop)); S(stop));
	T(wcstod_l, F(wcstod_l(L"1.5x", &end, l)); W(end));
	T(wcstof_l, F(wcstof_l(L"1.5x", NULL, l)));
	T(wcstold_l, F(wcstold_l(L"1.5x", &end, l)); W(end));
	T(wcstol_l, N(wcstol_l(L"15x", &end, 10, l)); W(end));
	T(wcstoul_l, N(wcstoul_l(L"15x", &end, 10, l)); W(end));
	T(wcstoll_l, N(wcstoll_l(L"15x", &end, 10, l)); W(end));
	T(wcstoull_l, N(wcstoull_l(L"15x", &end, 10, l)); W(end));
	T(wcscasecmp_l, N(wcscasecmp_l(L"ab", L"AC", l) < 0));
	T(wcsncasecmp_l, N(wcsncasecmp_l(L"ab", L"AC", 1, l)));
	T(wcswidth, N(wcswidth(L"ab", 5)));
	struct tm tm = {.tm_year = 100, .tm_mday = 1};
	T(wcsftime_l, N(wcsftime_l(w, 64, L"%Y", &tm, l)); W(w));
	T(strptime_l, S(strptime_l("2001x", "%Y", &tm, l)); N(tm.tm_year));
}

static void call_attributes(void)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pthread_attr_t of_thread;
	short flags = 0;
	pid_t group = 0;
	int policy = 0;
	struct sched_param param = {0};
	sigset_t set;
	struct termios t = {0};

	sigemptyset(&set);
	T(posix_spawn_file_actions_init, N(posix_spawn_file_actions_init(&files)));
	T(posix_spawn_file_actions_addclose, N(posix_spawn_file_actions_addclose(&files, 9)));
	T(posix_spawn_file_actions_adddup2, N(posix_spawn_file_actions_adddup2(&files, 1, 9)));
	T(posix_spawn_file_actions_addopen, N(posix_spawn_file_actions_addopen(&files, 8, "/dev/null", O_RDONLY, 0)));
	T(posix_spawn_file_actions_addchdir_np, N(posix_spawn_file_actions_addchdir_np(&files, "/")));
	T(posix_spawn_file_actions_addfchdir_np, N(posix_spawn_file_actions_addfchdir_np(&files, 0)));
	T(posix_spawn_file_actions_destroy, N(posix_spawn_file_actions_destroy(&files)));
	T(posix_spawnattr_init, N(posix_spawnattr_init(&attr)));
	T(posix_spawnattr_setflags, N(posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP)));
	T(posix_spawnattr_getflags, N(posix_spawnattr_getflags(&attr, &flags)); N(flags));
	T(posix_spawnattr_setpgroup, N(posix_spawnattr_setpgroup(&attr, 7)));
	T(posix_spawnattr_getpgroup, N(posix_spawnattr_getpgroup(&attr, &group)); N(group));
	T(posix_spawnattr_setschedparam, N(posix_spawnattr_setschedparam(&attr, &param)));
	T(posix_spawnattr_getschedparam, N(posix_spawnattr_getschedparam(&attr, &param)));
	T(posix_spawnattr_setschedpolicy, N(posix_spawnattr_setschedpolicy(&attr, SCHED_FIFO)));
	T(posix_spawnattr_getschedpolicy, N(posix_spawnattr_getschedpolicy(&attr, &policy)); N(policy));
	T(posix_spawnattr_setsigdefault, N(posix_spawnattr_setsigdefault(&attr, &set)));
	T(posix_spawnattr_getsigdefault, N(posix_spawnattr_getsigdefault(&attr, &set)));
	T(posix_spawnattr_setsigmask, N(posix_spawnattr_setsigmask(&attr, &set)));
	T(posix_spawnattr_getsigmask, N(posix_spawnattr_getsigmask(&attr, &set)));
	T(posix_spawnattr_destroy, N(posix_spawnattr_destroy(&attr)));
	T(pthread_getattr_default_np, N(pthread_getattr_default_np(&of_thread)));
	T(pthread_setattr_default_np, N(pthread_setattr_default_np(&of_thread)));
	T(pthread_attr_setsigmask_np, N(pthread_attr_setsigmask_np(&of_thread, &set)));
	T(pthread_attr_getsigmask_np, N(pthread_attr_getsigmask_np(&of_thread, &set)));
	T(cfsetispeed, N(cfsetispeed(&t, B9600)));
	T(cfsetospeed, N(cfsetospeed(&t, B9600)));
	T(cfsetspeed, N(cfsetspeed(&t, B4800)));
	T(cfgetispeed, N(cfgetispeed(&t)));
	T(cfgetospeed, N(cfgetospeed(&t)));
	T(cfmakeraw, cfmakeraw(&t); N(t.c_cc[VMIN]));
}

static void call_others(void)
{
	struct re_pattern_buffer regex = {.fastmap = malloc(256)};
	struct re_registers registers = {0};
	struct timespec time;
	int types[4] = {0};

	T(re_compile_pattern, N(re_compile_pattern("b+", 2, &regex) == NULL));
	T(re_compile_fastmap, N(re_compile_fastmap(&regex)));
	T(re_match, N(re_match(&regex, "bbc", 3, 0, NULL)));
	T(re_search, N(re_search(&regex, "abbc", 4, 0, 4, &registers)); N(registers.end[0]));
	T(glob_pattern_p, N(glob_pattern_p("a*", 1)));
	T(rpmatch, N(rpmatch("yes")));
	T(parse_printf_format, N(parse_printf_format("%d %s", 4, types)); N(types[1]));
	T(dngettext, S(dngettext("none", "one", "many", 2)));
	T(dcngettext, S(dcngettext("none", "one", "many", 1, LC_MESSAGES)));
	T(bind_textdomain_codeset, N(bind_textdomain_codeset("none", "UTF-8") != NULL));
	T(timespec_getres, N(timespec_getres(&time, TIME_UTC)));
	T(ftok, N(ftok("/nowhere", 1)));
	T(removexattr, N(removexattr("/nowhere", "user.x")));
	T(getdirentries, off_t at = 0; N(getdirentries(-1, a, 64, &at)));
	T(putpwent, N(putpwent(&(struct passwd){"name", "x", 5, 6, "info", "/", "/bin/sh"}, out)));
	T(putgrent, N(putgrent(&(struct group){"name", "x", 5, (char *[]){NULL}}, out)));
	T(putspent, N(putspent(&(struct spwd){"name", "x", 1, 2, 3, 4, 5, 6, 7}, out)));
	struct spwd spwd, *found;
	T(sgetspent, S(sgetspent("name:x:1:2:3:4:5:6:")->sp_pwdp));
	T(sgetspent_r, N(sgetspent_r("name:x:1:2:3:4:5:6:", &spwd, a, 512, &found)); S(found->sp_namp));
	T(updwtmpx, updwtmpx("/nowhere/wtmp", &(struct utmpx){0}));
}

void call_lists(void)
{
	call_vectors();
	call_objects();
	call_floating();
	call_attributes();
	call_others();
}
