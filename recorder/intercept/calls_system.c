/* What the system tells of processes, of itself and of terminals, and what it is told; sets of signals; the
 * environment. */
#include "recorder/intercept/call.h"
#include "recorder/intercept/fd.h"
#include "recorder/intercept/limit.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Children */
CALL(pid_t, wait, (int *status), (status), LEAVES; AWAITS(CHILD), RETURNS; BLOCKS;
     WHEN(r > 0, rt_child_ended(pc); OUT(status)))
CALL(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), LEAVES_UNLESS(options &WNOHANG);
     AWAITS(CHILD), RETURNS; BLOCKS; WHEN(r > 0, rt_child_ended(pc); OUT(status)))
CALL(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage),
     LEAVES_UNLESS(options &WNOHANG);
     AWAITS(CHILD), RETURNS; BLOCKS; WHEN(r > 0, rt_child_ended(pc); OUT(status); OUT(usage)))
CALL(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage),
     LEAVES_UNLESS(options &WNOHANG);
     AWAITS(CHILD), RETURNS; BLOCKS; WHEN(r > 0, rt_child_ended(pc); OUT(status); OUT(usage)))
CALL(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options),
     LEAVES_UNLESS(options &WNOHANG);
     AWAITS(CHILD), RETURNS; BLOCKS; WHEN(r == 0, rt_child_ended(pc); OUT(info)))

/* Sets of signals, and what is done with them */
CALL(int, sigemptyset, (sigset_t * set), (set), , OUT(set))
CALL(int, sigfillset, (sigset_t * set), (set), , OUT(set))
CALL(int, sigaddset, (sigset_t * set, int sig), (set, sig), INOUT(set), )
CALL(int, sigdelset, (sigset_t * set, int sig), (set, sig), INOUT(set), )
CALL(int, sigismember, (const sigset_t *set, int sig), (set, sig), IN(set), )
CALL(int, sigisemptyset, (const sigset_t *set), (set), IN(set), )
CALL(int, sigandset, (sigset_t * to, const sigset_t *a, const sigset_t *b), (to, a, b), IN(a); IN(b), OUT(to))
CALL(int, sigorset, (sigset_t * to, const sigset_t *a, const sigset_t *b), (to, a, b), IN(a); IN(b), OUT(to))
CALL(int, sigprocmask, (int how, const sigset_t *restrict set, sigset_t *restrict old), (how, set, old), IN(set),
     rt_mask_changed();
     WHEN(r == 0, OUT(old)))
CALL(int, pthread_sigmask, (int how, const sigset_t *restrict set, sigset_t *restrict old), (how, set, old), IN(set),
     rt_mask_changed();
     WHEN(r == 0, OUT(old)))
CALL(int, sigpending, (sigset_t * set), (set), , WHEN(r == 0, rt_signals_seen(pc); OUT(set)))
CALL(int, sigaltstack, (const stack_t *restrict stack, stack_t *restrict old), (stack, old), IN(stack),
     if (r == 0) OUT(old))

/* Users and groups */
CALL(int, getgroups, (int n, gid_t groups[]), (n, groups), ,
     if (r > 0 && n > 0) OUT_N(groups, (size_t)r * sizeof *groups))
CALL(int, setgroups, (size_t n, const gid_t *groups), (n, groups), IN_N(groups, n * sizeof *groups), )
CALL(int, initgroups, (const char *user, gid_t group), (user, group), STR(user), )
CALL(int, getresuid, (uid_t * real, uid_t *effective, uid_t *saved), (real, effective, saved), ,
     WHEN(r == 0, OUT(real); OUT(effective); OUT(saved)))
CALL(int, getresgid, (gid_t * real, gid_t *effective, gid_t *saved), (real, effective, saved), ,
     WHEN(r == 0, OUT(real); OUT(effective); OUT(saved)))

/* Limits, load, names, random bytes */
CALL(int, getrlimit, (__rlimit_resource_t which, struct rlimit *to), (which, to), ,
     WHEN(r == 0, rt_limit_seen(which, to); OUT(to)))
CALL(int, getrlimit64, (__rlimit_resource_t which, struct rlimit64 *to), (which, to), ,
     WHEN(r == 0, rt_limit_seen(which, (struct rlimit *)to); OUT(to)))
CALL(int, setrlimit, (__rlimit_resource_t which, const struct rlimit *from), (which, from),
     const struct rlimit *asked = from;
     struct rlimit raised; IN(from);
     from = rt_limit_raised(which, from, &raised), if (r == 0) rt_limit_set(which, asked))
CALL(int, setrlimit64, (__rlimit_resource_t which, const struct rlimit64 *from), (which, from),
     const struct rlimit *asked = (const struct rlimit *)from;
     struct rlimit raised; IN(from);
     from = (const struct rlimit64 *)rt_limit_raised(which, asked, &raised), if (r == 0) rt_limit_set(which, asked))
CALL(int, prlimit, (pid_t pid, __rlimit_resource_t which, const struct rlimit *new, struct rlimit *old),
     (pid, which, new, old), const struct rlimit *asked = new;
     const unsigned own = rt_limit_of(pid, which); struct rlimit raised; IN(new);
     new = rt_limit_raised(own, new, &raised),
     WHEN(r == 0, rt_limit_seen(own, old); rt_limit_set(own, asked); OUT(old)))
CALL(int, getrusage, (__rusage_who_t who, struct rusage *to), (who, to), , if (r == 0) OUT(to))
CALL(int, sysinfo, (struct sysinfo * to), (to), , if (r == 0) OUT(to))
CALL(int, getloadavg, (double to[], int n), (to, n), , if (r > 0) OUT_N(to, (size_t)r * sizeof *to))
CALL(int, uname, (struct utsname * to), (to), , if (r == 0) OUT(to))
CALL(int, gethostname, (char *to, size_t size), (to, size), , if (r == 0) OUT_STR(to))
CALL(int, sethostname, (const char *from, size_t size), (from, size), IN_N(from, size), )
CALL(int, getdomainname, (char *to, size_t size), (to, size), , if (r == 0 && size) OUT_STR(to))
CALL(size_t, confstr, (int name, char *to, size_t size), (name, to, size), , if (r) OUT_N(to, r < size ? r : size))
CALL(ssize_t, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags), , if (r > 0) OUT_N(to, r))
CALL(int, getentropy, (void *to, size_t n), (to, n), , if (r == 0) OUT_N(to, n))
CALL_VOID(arc4random_buf, (void *to, size_t n), (to, n), , OUT_N(to, n))

/* Memory of this process and of others */
static size_t pages(size_t n)
{
	return (n + 4095) / 4096;
}
CALL(int, mincore, (void *p, size_t n, unsigned char *to), (p, n, to), , if (r == 0) OUT_N(to, pages(n)))
CALL(int, shmctl, (int id, int command, struct shmid_ds *data), (id, command, data), if (command == IPC_SET) IN(data),
     if (r >= 0 && command == IPC_STAT) OUT(data))

/* Scheduling */
CALL(int, sched_getparam, (pid_t pid, struct sched_param *to), (pid, to), , if (r == 0) OUT(to))
CALL(int, sched_setparam, (pid_t pid, const struct sched_param *from), (pid, from), IN(from), )
CALL(int, sched_setscheduler, (pid_t pid, int policy, const struct sched_param *from), (pid, policy, from), IN(from), )
CALL(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set), , if (r == 0) OUT_N(set, size))
CALL(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *set), (pid, size, set), IN_N(set, size), )
CALL(int, sched_rr_get_interval, (pid_t pid, struct timespec *to), (pid, to), , if (r == 0) OUT(to))
CALL(int, getcpu, (unsigned *cpu, unsigned *node), (cpu, node), , WHEN(r == 0, OUT(cpu); OUT(node)))

/* Terminals: the names are static. */
CALL(int, tcgetattr, (int fd, struct termios *to), (fd, to), , if (r == 0) OUT(to))
CALL(speed_t, cfgetispeed, (const struct termios *from), (from), IN(from), )
CALL(speed_t, cfgetospeed, (const struct termios *from), (from), IN(from), )
CALL(int, cfsetispeed, (struct termios * to, speed_t speed), (to, speed), INOUT(to), )
CALL(int, cfsetospeed, (struct termios * to, speed_t speed), (to, speed), INOUT(to), )
CALL(int, cfsetspeed, (struct termios * to, speed_t speed), (to, speed), INOUT(to), )
CALL_VOID(cfmakeraw, (struct termios * to), (to), INOUT(to), )
CALL(int, tcsetattr, (int fd, int when, const struct termios *from), (fd, when, from), IN(from), )
CALL(char *, ttyname, (int fd), (fd), , RESULT_STR)
CALL(int, ttyname_r, (int fd, char *to, size_t size), (fd, to, size), , if (r == 0) OUT_STR(to))
CALL(char *, ptsname, (int fd), (fd), , RESULT_STR)
CALL(int, ptsname_r, (int fd, char *to, size_t size), (fd, to, size), , if (r == 0) OUT_STR(to))
CALL(char *, ctermid, (char *to), (to), , OUT_STR(to))
CALL(char *, getlogin, (void), (), , RESULT_STR)
CALL(int, getlogin_r, (char *to, size_t size), (to, size), , if (r == 0) OUT_STR(to))
CALL(char *, getpass, (const char *prompt), (prompt), STR(prompt); LEAVES; AWAITS(OUTSIDE), RETURNS; BLOCKS; RESULT_STR)

/*
 * The environment: writers exclude one another, readers do not take the lock. The C library's own lock is invisible, so
 * there is one here. putenv's string becomes a part of the environment.
 */
static char environment_lock;
static void environment_taken(uintptr_t pc)
{
	while (__atomic_exchange_n(&environment_lock, 1, __ATOMIC_ACQUIRE))
		RT_SYSCALL(SYS_sched_yield);
	rt_emit_sync(RT_OP_ACQUIRE, (uintptr_t)&environment_lock, 0, pc, 0);
	CHANGES(environ);
}
static void environment_released(uintptr_t pc)
{
	rt_emit_sync(RT_OP_RELEASE, (uintptr_t)&environment_lock, 0, pc, 0);
	__atomic_store_n(&environment_lock, 0, __ATOMIC_RELEASE);
}
static void environment_forked(void)
{
	environment_lock = 0;
}
RT_CALL_AT(RT_AT_CHILD, environment_forked);
#define ENVIRONMENT(name, parameters, arguments, before)                                                               \
	CALL(int, name, parameters, arguments, before; environment_taken(pc), environment_released(pc))
CALL(char *, getenv, (const char *name), (name), STR(name); USES(environ), )
CALL(char *, secure_getenv, (const char *name), (name), STR(name); USES(environ), )
ENVIRONMENT(setenv, (const char *name, const char *value, int replace), (name, value, replace), STR(name); STR(value))
ENVIRONMENT(unsetenv, (const char *name), (name), STR(name))
ENVIRONMENT(putenv, (char *entry), (entry), STR(entry))
ENVIRONMENT(clearenv, (void), (), )

/* Threads' attributes */
#define GETS(name, object, type)                                                                                       \
	CALL(int, name, (const object *restrict from, type *restrict to), (from, to), IN(from), if (r == 0) OUT(to))
#define SETS(name, object, type) CALL(int, name, (object * to, type value), (to, value), INOUT(to), )
GETS(pthread_attr_getdetachstate, pthread_attr_t, int)
SETS(pthread_attr_setdetachstate, pthread_attr_t, int)
GETS(pthread_attr_getguardsize, pthread_attr_t, size_t)
SETS(pthread_attr_setguardsize, pthread_attr_t, size_t)
GETS(pthread_attr_getinheritsched, pthread_attr_t, int)
SETS(pthread_attr_setinheritsched, pthread_attr_t, int)
GETS(pthread_attr_getschedparam, pthread_attr_t, struct sched_param)
GETS(pthread_attr_getschedpolicy, pthread_attr_t, int)
SETS(pthread_attr_setschedpolicy, pthread_attr_t, int)
GETS(pthread_attr_getscope, pthread_attr_t, int)
SETS(pthread_attr_setscope, pthread_attr_t, int)
GETS(pthread_attr_getstacksize, pthread_attr_t, size_t)
SETS(pthread_attr_setstacksize, pthread_attr_t, size_t)
CALL(int, pthread_attr_setschedparam, (pthread_attr_t *restrict to, const struct sched_param *restrict from),
     (to, from), IN(from);
     INOUT(to), )
CALL(int, pthread_attr_getstack, (const pthread_attr_t *restrict from, void **restrict stack, size_t *restrict size),
     (from, stack, size), IN(from), WHEN(r == 0, OUT(stack); OUT(size)))
CALL(int, pthread_attr_setstack, (pthread_attr_t * to, void *stack, size_t size), (to, stack, size), INOUT(to), )
CALL(int, pthread_attr_getaffinity_np, (const pthread_attr_t *from, size_t size, cpu_set_t *set), (from, size, set),
     IN(from), if (r == 0) OUT_N(set, size))
CALL(int, pthread_attr_setaffinity_np, (pthread_attr_t * to, size_t size, const cpu_set_t *set), (to, size, set),
     INOUT(to);
     IN_N(set, size), )
CALL(int, pthread_getattr_np, (pthread_t thread, pthread_attr_t *to), (thread, to), , if (r == 0) OUT(to))
CALL(int, pthread_attr_init, (pthread_attr_t * to), (to), , if (r == 0) OUT(to))
CALL(int, pthread_attr_destroy, (pthread_attr_t * to), (to), INOUT(to), )
CALL(int, pthread_getattr_default_np, (pthread_attr_t * to), (to), , if (r == 0) OUT(to))
CALL(int, pthread_setattr_default_np, (const pthread_attr_t *from), (from), IN(from), )
CALL(int, pthread_attr_getsigmask_np, (const pthread_attr_t *from, sigset_t *to), (from, to), IN(from),
     if (r == 0) OUT(to))
CALL(int, pthread_attr_setsigmask_np, (pthread_attr_t * to, const sigset_t *from), (to, from), INOUT(to); IN(from), )
#define ATTRIBUTES(name, type)                                                                                         \
	CALL(int, name##_init, (type * to), (to), , if (r == 0) OUT(to))                                               \
	CALL(int, name##_destroy, (type * to), (to), INOUT(to), )
ATTRIBUTES(pthread_mutexattr, pthread_mutexattr_t)
ATTRIBUTES(pthread_condattr, pthread_condattr_t)
ATTRIBUTES(pthread_rwlockattr, pthread_rwlockattr_t)
ATTRIBUTES(pthread_barrierattr, pthread_barrierattr_t)
SETS(pthread_mutexattr_setprioceiling, pthread_mutexattr_t, int)
GETS(pthread_mutexattr_getprioceiling, pthread_mutexattr_t, int)
GETS(pthread_mutexattr_getprotocol, pthread_mutexattr_t, int)
SETS(pthread_mutexattr_setprotocol, pthread_mutexattr_t, int)
GETS(pthread_mutexattr_getpshared, pthread_mutexattr_t, int)
SETS(pthread_mutexattr_setpshared, pthread_mutexattr_t, int)
GETS(pthread_mutexattr_getrobust, pthread_mutexattr_t, int)
SETS(pthread_mutexattr_setrobust, pthread_mutexattr_t, int)
ALIAS(pthread_mutexattr_getrobust_np, pthread_mutexattr_getrobust);
ALIAS(pthread_mutexattr_setrobust_np, pthread_mutexattr_setrobust);
GETS(pthread_mutexattr_gettype, pthread_mutexattr_t, int)
SETS(pthread_mutexattr_settype, pthread_mutexattr_t, int)
GETS(pthread_rwlockattr_getpshared, pthread_rwlockattr_t, int)
SETS(pthread_rwlockattr_setpshared, pthread_rwlockattr_t, int)
GETS(pthread_rwlockattr_getkind_np, pthread_rwlockattr_t, int)
SETS(pthread_rwlockattr_setkind_np, pthread_rwlockattr_t, int)
GETS(pthread_condattr_getclock, pthread_condattr_t, clockid_t)
SETS(pthread_condattr_setclock, pthread_condattr_t, clockid_t)
GETS(pthread_condattr_getpshared, pthread_condattr_t, int)
SETS(pthread_condattr_setpshared, pthread_condattr_t, int)
GETS(pthread_barrierattr_getpshared, pthread_barrierattr_t, int)
SETS(pthread_barrierattr_setpshared, pthread_barrierattr_t, int)

/* Threads */
CALL(int, pthread_getschedparam, (pthread_t thread, int *policy, struct sched_param *to), (thread, policy, to), ,
     WHEN(r == 0, OUT(policy); OUT(to)))
CALL(int, pthread_setschedparam, (pthread_t thread, int policy, const struct sched_param *from), (thread, policy, from),
     IN(from), )
CALL(int, pthread_getcpuclockid, (pthread_t thread, clockid_t *to), (thread, to), , if (r == 0) OUT(to))
CALL(int, pthread_getname_np, (pthread_t thread, char *to, size_t size), (thread, to, size), , if (r == 0) OUT_STR(to))
CALL(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *set), (thread, size, set), ,
     if (r == 0) OUT_N(set, size))
CALL(int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *set), (thread, size, set),
     IN_N(set, size), )
