/*
 * tree WAY KIND: makes another process in some way, whose two threads count; with KIND "racy" without a lock. Prints
 * "PID counts" for the process that does it. tests/cli/t_process.sh knows the ways.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static int counter, guarded;
static bool racy;
static char *self, *kind;

static void *count(void *unused)
{
	if (!racy)
		pthread_mutex_lock(&lock);
	counter++; /* @count */
	if (!racy)
		pthread_mutex_unlock(&lock);
	return unused;
}

static void counts(void)
{
	pthread_t threads[2];
	printf("%ld counts\n", (long)getpid());
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void await(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		printf("its status is %#x\n", status);
}

static void forks(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		counts();
		exit(7);
	}
	await(pid);
}

/* ---- A parent with threads, and with handlers that hold their lock over the fork ---- */

static atomic_int stop;

static void *disturb(void *unused)
{
	while (!stop) {
		pthread_mutex_lock(&guard);
		guarded++;
		pthread_mutex_unlock(&guard);
		free(malloc(40));
		atomic_fetch_add(&stop, 0);
	}
	return unused;
}
static void take_guard(void)
{
	pthread_mutex_lock(&guard);
}
static void give_guard(void)
{
	pthread_mutex_unlock(&guard);
}
/* In the child only this thread is left, and the guard is its own: what it does before giving it is ordered. */
static void renew(void)
{
	guarded = 0;
	pthread_mutex_unlock(&guard);
}
static void *watch_guard(void *unused)
{
	pthread_mutex_lock(&guard);
	guarded++;
	pthread_mutex_unlock(&guard);
	return unused;
}
static void *fork_here(void *unused)
{
	pthread_t thread;
	pid_t pid = fork();
	if (pid == 0) {
		pthread_mutex_lock(&guard);
		pthread_create(&thread, NULL, watch_guard, NULL);
		guarded++;
		pthread_mutex_unlock(&guard);
		pthread_join(thread, NULL);
		counts();
		exit(7);
	}
	await(pid);
	return unused;
}
static void threads_fork(void)
{
	pthread_t others[2], forker;
	pthread_atfork(take_guard, give_guard, renew);
	for (int i = 0; i < 2; i++)
		pthread_create(&others[i], NULL, disturb, NULL);
	for (int i = 0; i < 5; i++) {
		pthread_create(&forker, NULL, fork_here, NULL);
		pthread_join(forker, NULL);
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
}

/* A lock that the thread held before it forked is held in the child, too. */
static void forks_holding(void)
{
	pthread_t thread;
	pthread_mutex_lock(&guard);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, watch_guard, NULL);
		guarded++;
		pthread_mutex_unlock(&guard);
		pthread_join(thread, NULL);
		counts();
		exit(7);
	}
	pthread_mutex_unlock(&guard);
	await(pid);
}

static void on_signal(int number)
{
	(void)number;
	forks();
}
static void forks_in_handler(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

/* ---- Other programs ---- */

static void executes(void)
{
	printf("%ld is replaced\n", (long)getpid());
	counts();
	execl(self, self, "only", kind, (char *)NULL);
}
static void vforks(void)
{
	pid_t pid = vfork();
	if (pid == 0) {
		char *argv[] = {self, "only", kind, NULL};
		execv(self, argv);
		_exit(1);
	}
	await(pid);
}
static void calls_number(void)
{
	pid_t pid = vfork();
	if (pid == 0) {
		char *argv[] = {self, "only", kind, NULL};
		syscall(SYS_execve, self, argv, environ);
		_exit(1);
	}
	await(pid);
}
static void spawns(void)
{
	char *argv[] = {self, "only", kind, NULL};
	pid_t pid;
	if (posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0)
		await(pid);
}
static void calls_shell(void)
{
	char command[4096];
	snprintf(command, sizeof command, "%s only %s", self, kind);
	int status = system(command);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		printf("its status is %#x\n", status);
}
static void opens_pipe(void)
{
	char command[4096], line[100];
	snprintf(command, sizeof command, "true; %s only %s", self, kind);
	FILE *f = popen(command, "r");
	while (f && fgets(line, sizeof line, f))
		fputs(line, stdout);
	if (!f || WEXITSTATUS(pclose(f)) != 7)
		puts("its status is another");
}
static void executes_plain(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(1);
	}
	await(pid);
	if (system("exit 7") >> 8 != 7)
		puts("its status is another");
}

/* ---- Processes that outlive the program ---- */

static void becomes_daemon(void)
{
	if (daemon(1, 1) != 0)
		exit(1);
	usleep(200000);
	counts();
}
static void leaves_child(void)
{
	if (fork() == 0) {
		counts();
		exit(7);
	}
}
static void only(void)
{
	counts();
	exit(7);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*f)(void);
	} ways[] = {{"fork", forks},
	            {"threads", threads_fork},
	            {"holding", forks_holding},
	            {"handler", forks_in_handler},
	            {"exec", executes},
	            {"vfork", vforks},
	            {"spawn", spawns},
	            {"system", calls_shell},
	            {"popen", opens_pipe},
	            {"number", calls_number},
	            {"plain", executes_plain},
	            {"daemon", becomes_daemon},
	            {"leave", leaves_child},
	            {"only", only}};
	if (argc < 3)
		return 2;
	self = argv[0];
	kind = argv[2];
	racy = !strcmp(kind, "racy");
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].f();
	return 3;
}
