/*
 * Programs that the recorded one executes. They find the recorder by LD_LIBRARY_PATH, which has an effect only on
 * instrumented ones, and their channel by RT_CHANNEL_ENV (start.c). Both are added here to the environment that they
 * get, and are never in the program's own. Programs in between, such as a shell, pass them on.
 *
 * What a program that runs under the Valgrind tool executes runs under it too, if it is not instrumented. It finds the
 * recorder by LD_PRELOAD. The shells of system and popen, which the C library starts, execute others under the tool.
 * With `record --preload` each executed program finds it that way: one that another starts may load what is
 * instrumented.
 *
 * exec may be called in the child of a process with many threads, so nothing here allocates or locks.
 */
#include "recorder/confined.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"
#include "recorder/runtime/turn.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

#define LIBRARY_PATH "LD_LIBRARY_PATH"
#define PRELOAD "LD_PRELOAD"
#define PLAIN_RECORDER "/libracetrace.so.1" /* of programs that are not instrumented */

/* Memory of the kernel's, for as long as one call lasts. */
struct block {
	char *start;
	size_t size;
};

static void release(struct block *b)
{
	if (b->start)
		RT_SYSCALL(SYS_munmap, b->start, b->size);
}

static bool acquire(struct block *b, size_t size)
{
	long at = RT_SYSCALL(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*b = (struct block){at < 0 && at > -4096 ? NULL : (char *)at, size};
	return b->start != NULL;
}

/* In a sandbox, too: the program sees that it is in one, which it knows nothing of, and runs unrecorded (start.c). */
static bool is_followed(void)
{
	return rt_tree && rt_tree->folder[0] && !atomic_load(&rt_tree->over);
}

/* Of one width, whatever the number. */
static char *append_wide(char *to, uint64_t n)
{
	enum { DIGITS = 20 };

	for (int i = DIGITS; i-- > 0; n /= 10)
		to[i] = (char)('0' + n % 10);
	to[DIGITS] = 0;
	return to + DIGITS;
}

/* Read by start.c. Where the program's stack begins depends on its length, and so does what a seed repeats. */
static char *append_channel(char *to, bool was_set)
{
	to = rt_append_text(to, "@");
	to = append_wide(to, (uint64_t)rt_tree->collector_fd);
	to = append_wide(rt_append_text(to, ":"), (uint64_t)rt_tree->collector_pid);
	to = append_wide(rt_append_text(to, ":"), rt_tree->filters);
	to = append_wide(rt_append_text(to, ":"), rt_tree->nonce);
	to = append_wide(rt_append_text(to, ":"), rt_tree->pid_namespace);
	return rt_append_text(to, was_set ? ":+" : ":-");
}
#define CHANNEL_SIZE 140u

static char *append_list(char *to, const char *name, const char *file, const char *old)
{
	to = rt_append_text(rt_append_text(rt_append_text(to, name), "="), rt_tree->folder);
	to = rt_append_text(to, file);
	return old && *old ? rt_append_text(rt_append_text(to, ":"), old) : to;
}

static const char *value_in(char *const *environment, const char *name)
{
	char **entry = rt_entry_of(environment, name);

	return entry ? rt_value_of(*entry, name) : NULL;
}

/* The recorder that what is executed has to preload, a name in the tree's folder; NULL: none. */
static const char *preloaded(bool watched)
{
	if (watched)
		return PLAIN_RECORDER;
	return rt_tree->preload[0] ? rt_tree->preload : NULL;
}

/* True if the entry is one that `added` writes. */
static bool is_replaced(char *entry, const char *recorder)
{
	return rt_value_of(entry, LIBRARY_PATH) || rt_value_of(entry, RT_CHANNEL_ENV) ||
	       (recorder && rt_value_of(entry, PRELOAD));
}

/*
 * The environment with the variables added; unchanged if no collector is there to record. watched: the program will run
 * under the tool.
 */
static char **added(char *const *environment, bool watched, struct block *b)
{
	const char *path = value_in(environment, LIBRARY_PATH);
	size_t count = 0, n = 0;

	*b = (struct block){0};
	if (!is_followed())
		return (char **)(uintptr_t)environment;
	const char *recorder = preloaded(watched);
	const char *preload = recorder ? value_in(environment, PRELOAD) : NULL;
	if (rt_tree->pid_namespace && RT_SYSCALL(SYS_faccessat, AT_FDCWD, "/proc/self/fd", F_OK) == -ENOENT)
		atomic_fetch_add(&rt_tree->hidden, 1);
	while (environment && environment[count])
		count++;
	if (!acquire(b, (count + 4) * sizeof *environment + CHANNEL_SIZE + sizeof LIBRARY_PATH + sizeof PRELOAD +
	                    sizeof PLAIN_RECORDER + RT_PRELOAD_SIZE + 2 * (RT_FOLDER_SIZE + 2) +
	                    (path ? rt_length(path) : 0) + (preload ? 2 * rt_length(preload) : 0)))
		return (char **)(uintptr_t)environment;
	char **result = (char **)(void *)b->start;
	char *text = b->start + (count + 4) * sizeof *result;
	for (size_t i = 0; i < count; i++)
		if (!is_replaced(environment[i], recorder))
			result[n++] = environment[i];
	result[n++] = text;
	text = append_channel(rt_append_text(text, RT_CHANNEL_ENV "="), path != NULL);
	if (recorder)
		text = rt_append_text(rt_append_text(text, watched ? ":" : "="), preload ? preload : "-");
	result[n++] = ++text;
	text = append_list(text, LIBRARY_PATH, "", path);
	if (recorder) {
		result[n++] = ++text;
		append_list(text, PRELOAD, recorder, preload);
	}
	result[n] = NULL;
	return result;
}

/* 0, or the error that an attempt to execute the file ends with. */
static int refusal(const char *path)
{
	struct stat st = {0}; /* which the analyzer does not see filled in */

	if (RT_SYSCALL(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0)
		return ENOENT;
	return S_ISREG(st.st_mode) && RT_SYSCALL(SYS_access, path, X_OK) == 0 ? 0 : EACCES;
}

/*
 * The file that a name without a slash means, in `path` of this size; NULL: none in the folders of PATH can be
 * executed, and *error says why. As execvpe finds it: an empty folder is the current one, and there is a default.
 */
static const char *search(const char *name, char *path, size_t size, int *error)
{
	const char *folder = value_in(environ, "PATH");

	*error = ENOENT;
	for (folder = folder ? folder : "/bin:/usr/bin";; folder++) {
		size_t n = 0;
		while (folder[n] && folder[n] != ':')
			n++;
		if (n + rt_length(name) + 3 <= size) {
			for (size_t i = 0; i < n; i++)
				path[i] = folder[i];
			rt_append_text(rt_append_text(path + n, n ? "/" : "./"), name);
			int failed = refusal(path);
			*error = failed == ENOENT ? *error : failed;
			if (!failed)
				return path;
		}
		folder += n;
		if (!*folder)
			return NULL;
	}
}

/* True if it is a pipe, a device or the like: Valgrind opens, and may wait for, what the kernel refuses to execute. */
static bool is_special(const char *file)
{
	struct stat st = {0};

	return file && RT_SYSCALL(SYS_newfstatat, AT_FDCWD, file, &st, 0) == 0 && !S_ISREG(st.st_mode) &&
	       !S_ISDIR(st.st_mode);
}

#define PATH_SIZE 4096

/*
 * What is executed instead of `file`, under the tool: the one that is found by PATH, where `searched` and a name asks
 * for that. *error: 0, or why nothing is.
 */
static const char *found(const char *file, bool searched, char *path, int *error)
{
	*error = 0;
	if (!rt_watched || !file)
		return file;
	if (searched && *file && rt_same(rt_file_name(file), file))
		return search(file, path, PATH_SIZE, error);
	*error = is_special(file) ? EACCES : 0;
	return file;
}

/* Of the first program that no tool can run, the collector says so. */
static void tell_alone(const char *file, enum rt_watch_file why)
{
	const char *name = rt_length(file) < RT_ALONE_SIZE ? file : rt_file_name(file);

	if (atomic_load(&rt_tree->alone) || rt_length(name) >= RT_ALONE_SIZE)
		return;
	rt_append_text(rt_tree->alone_name, name);
	atomic_store(&rt_tree->alone, why);
}

/* True if the parent traces this process (ptrace), as the debugger that starts a program does. */
static bool is_traced(void)
{
	char text[RT_STATUS_MAX];
	uint64_t parent = (uint64_t)RT_SYSCALL(SYS_getppid); /* 0: outside of the PID namespace */

	return parent && rt_read_file("/proc/self/status", text, sizeof text) &&
	       rt_status_number(rt_status_text(text, "TracerPid:")) == parent;
}

/* True if the file, which is about to be executed, will run under the tool. */
static bool will_be_watched(const char *file)
{
	if (!rt_watched || !rt_tree || !rt_tree->follows_plain || !is_followed())
		return false;
	enum rt_watch_file how = rt_watch_next(file);
	if (how == RT_FILE_WATCHED && is_traced()) {
		rt_watch_next(NULL);
		how = RT_FILE_TRACED;
	}
	if (how != RT_FILE_WATCHED && how != RT_FILE_ALONE)
		tell_alone(file, how);
	return how == RT_FILE_WATCHED;
}

/* ---- exec ---- */

/* The collector checks whether it happened. */
static void set_executing(uint32_t is)
{
	if (is && rt_controlled)
		rt_turn_exits(true);
	if (rt_channel)
		atomic_store(&rt_channel->executing, is);
}

/* call: with `with`, the environment. */
#define EXECUTE(file, environment, call)                                                                               \
	struct block memory;                                                                                           \
	bool watched = will_be_watched(file);                                                                          \
	char **with = added(environment, watched, &memory);                                                            \
	set_executing(1);                                                                                              \
	int result = call;                                                                                             \
	set_executing(0);                                                                                              \
	if (watched)                                                                                                   \
		rt_watch_next(NULL);                                                                                   \
	release(&memory);                                                                                              \
	return result

RT_INTERPOSE(int, execve, (const char *path, char *const argv[], char *const environment[]))
{
	return rt_execve(path, argv, environment);
}
int rt_execve(const char *path, char *const argv[], char *const environment[])
{
	int error;

	found(path, false, NULL, &error);
	if (error) {
		errno = error;
		return -1;
	}
	EXECUTE(path, environment, RT_REAL(execve)(path, argv, with));
}
RT_INTERPOSE(int, execvpe, (const char *file, char *const argv[], char *const environment[]))
{
	char path[PATH_SIZE];
	int error;
	const char *is = found(file, true, path, &error);

	if (error) {
		errno = error;
		return -1;
	}
	EXECUTE(is, environment, RT_REAL(execvpe)(is, argv, with));
}
static bool is_same_file(int folder, const char *path, int flags, const char *name)
{
	struct stat a = {0}, b = {0};

	return RT_SYSCALL(SYS_newfstatat, folder, path, &a, flags) == 0 &&
	       RT_SYSCALL(SYS_newfstatat, AT_FDCWD, name, &b, 0) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

#define NAME_SIZE 8192

/*
 * The name of what execveat would execute, in `name` of NAME_SIZE bytes if it is not `path`. NULL: it has none.
 * Valgrind runs what has one, and (3.19) does not know AT_FDCWD.
 */
static const char *name_at(int folder, const char *path, int flags, char *name)
{
	enum { LINK_SIZE = 64 };
	char link[LINK_SIZE];
	long n;

	if (!path || (flags & ~AT_EMPTY_PATH) || (!*path && !flags))
		return NULL;
	if (*path == '/' || (*path && folder == AT_FDCWD))
		return path;
	rt_append_number(rt_append_text(link, "/proc/self/fd/"), (uint64_t)folder);
	n = RT_SYSCALL(SYS_readlinkat, AT_FDCWD, link, name, NAME_SIZE / 2);
	if (n <= 0 || n == NAME_SIZE / 2 || rt_length(path) >= NAME_SIZE / 2 - 1)
		return NULL;
	name[n] = '\0';
	if (*path)
		rt_append_text(rt_append_text(name + n, "/"), path);
	return is_same_file(folder, path, flags & AT_EMPTY_PATH, name) ? name : NULL;
}

RT_INTERPOSE(int, execveat, (int folder, const char *path, char *const argv[], char *const environment[], int flags))
{
	return rt_execveat(folder, path, argv, environment, flags);
}
int rt_execveat(int folder, const char *path, char *const argv[], char *const environment[], int flags)
{
	char found[NAME_SIZE];
	const char *name = rt_watched ? name_at(folder, path, flags, found) : NULL;

	if (name)
		return rt_execve(name, argv, environment);
	EXECUTE(NULL, environment, RT_REAL(execveat)(folder, path, argv, with, flags));
}
RT_INTERPOSE(int, fexecve, (int fd, char *const argv[], char *const environment[]))
{
	char found[NAME_SIZE];
	const char *name = rt_watched && fd >= 0 ? name_at(fd, "", AT_EMPTY_PATH, found) : NULL;

	if (name)
		return rt_execve(name, argv, environment);
	EXECUTE(NULL, environment, RT_REAL(fexecve)(fd, argv, with));
}
RT_DEFINE(int, execv, (const char *path, char *const argv[]))
{
	return rt_execve(path, argv, environ);
}
RT_DEFINE(int, execvp, (const char *file, char *const argv[]))
{
	return execvpe(file, argv, environ);
}

/* The arguments as an array, in the caller's frame; the list stands behind the NULL then. */
#define COLLECT(first, list, argv)                                                                                     \
	size_t count = 1;                                                                                              \
	va_list again;                                                                                                 \
	va_start(list, first);                                                                                         \
	va_copy(again, list);                                                                                          \
	__asm__("" : "+r"(first)); /* declared never to be NULL, which some callers do not know */                     \
	while (first && va_arg(again, char *))                                                                         \
		count++;                                                                                               \
	va_end(again);                                                                                                 \
	char **argv = alloca((count + 1) * sizeof *argv);                                                              \
	argv[0] = (char *)(uintptr_t)(first);                                                                          \
	for (size_t i = 1; argv[i - 1]; i++)                                                                           \
	argv[i] = va_arg(list, char *)

RT_DEFINE(int, execl, (const char *path, const char *argument, ...))
{
	va_list list;
	COLLECT(argument, list, argv);
	va_end(list);
	return rt_execve(path, argv, environ);
}
RT_DEFINE(int, execlp, (const char *file, const char *argument, ...))
{
	va_list list;
	COLLECT(argument, list, argv);
	va_end(list);
	return execvpe(file, argv, environ);
}
RT_DEFINE(int, execle, (const char *path, const char *argument, ...))
{
	va_list list;
	COLLECT(argument, list, argv);
	char *const *environment = va_arg(list, char *const *);
	va_end(list);
	return rt_execve(path, argv, environment);
}

/* ---- Those that make a process of their own ---- */

#define SPAWN_PARAMETERS                                                                                               \
	(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,                    \
	 const posix_spawnattr_t *restrict attributes, char *const *arguments, char *const *environment)
#define SPAWN(name, searched)                                                                                          \
	RT_INTERPOSE(int, name, SPAWN_PARAMETERS)                                                                      \
	{                                                                                                              \
		char path[PATH_SIZE];                                                                                  \
		int error;                                                                                             \
		const char *is = found(file, searched, path, &error);                                                  \
		struct block memory;                                                                                   \
		if (error)                                                                                             \
			return error;                                                                                  \
		bool watched = will_be_watched(is);                                                                    \
		char **with = added(environment, watched, &memory);                                                    \
		rt_call_at(RT_AT_FORK);                                                                                \
		int result = RT_REAL(name)(pid, is, actions, attributes, arguments, with);                             \
		if (watched)                                                                                           \
			rt_watch_next(NULL);                                                                           \
		release(&memory);                                                                                      \
		return result;                                                                                         \
	}
SPAWN(posix_spawn, false)
SPAWN(posix_spawnp, true)

/*
 * system and popen give the shell the program's environment as it is, so the shell is told. On the same line: it counts
 * lines in its messages. What would become too long as one argument is left alone.
 */
#define COMMAND_MAX 100000u
#define ARGUMENT_MAX 131072u /* MAX_ARG_STRLEN, with the zero */

/* As one word of a shell's; at most four times as long. */
static char *append_word(char *to, const char *text)
{
	*to++ = '\'';
	for (; *text; text++)
		to = rt_append_text(to, *text == '\'' ? "'\\''" : (const char[]){*text, '\0'});
	return rt_append_text(to, "'");
}

/* Behind the channel. */
static char *append_preload(char *to, const char *recorder, const char *preload, bool watched)
{
	to = append_word(rt_append_text(to, watched ? ":" : "="), preload ? preload : "-");
	to = rt_append_text(rt_append_text(to, " " PRELOAD "='"), rt_tree->folder);
	to = rt_append_text(rt_append_text(rt_append_text(to, recorder), "'"), preload && *preload ? ":" : "");
	return rt_append_text(append_word(to, preload ? preload : ""), "; ");
}

/* What makes the shell another one, under the tool, with the command as its argument. */
static char *append_watched(char *to, const char *command)
{
	to = rt_append_text(rt_append_text(to, rt_tree->shell), " /bin/sh -c ");
	return rt_append_text(append_word(to, command), " sh");
}

static const char *told(const char *command, struct block *b)
{
	const char *preload = value_in(environ, PRELOAD);
	bool watched = rt_tree && rt_tree->shell[0] && will_be_watched("/bin/sh");
	char *end;

	*b = (struct block){0};
	if (watched)
		rt_watch_next(NULL);
	if (!command || !is_followed() || rt_length(command) > COMMAND_MAX ||
	    !acquire(b, 4 * rt_length(command) + RT_FOLDER_SIZE * 2 + RT_SHELL_SIZE + CHANNEL_SIZE +
	                    (preload ? 8 * rt_length(preload) : 0) + 200))
		return command;
	end = rt_append_text(rt_append_text(b->start, "export " LIBRARY_PATH "='"), rt_tree->folder);
	end = rt_append_text(end, "'\"${" LIBRARY_PATH ":+:$" LIBRARY_PATH "}\" " RT_CHANNEL_ENV "=");
	end = append_channel(end, value_in(environ, LIBRARY_PATH) != NULL);
	const char *recorder = preloaded(watched);
	end = recorder ? append_preload(end, recorder, preload, watched) : rt_append_text(end, "; ");
	if (watched)
		append_watched(end, command);
	else
		rt_append_text(end, command);
	return rt_length(b->start) < ARGUMENT_MAX ? b->start : command;
}

RT_INTERPOSE(int, system, (const char *command))
{
	struct block memory;
	const char *with = told(command, &memory);

	rt_call_at(RT_AT_FORK);
	int result = RT_REAL(system)(with);
	int saved = errno;

	rt_emit_time();
	if (result != -1)
		rt_children_ended(RT_CALLER);
	release(&memory);
	errno = saved;
	return result;
}

RT_INTERPOSE(FILE *, popen, (const char *command, const char *mode))
{
	struct block memory;
	const char *with = told(command, &memory);

	rt_call_at(RT_AT_FORK);
	FILE *result = RT_REAL(popen)(with, mode);

	release(&memory);
	return result;
}
