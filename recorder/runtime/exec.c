/*
 * Programs that the recorded one executes. They find the recorder by LD_LIBRARY_PATH, which has an effect only on
 * instrumented ones, and their channel by RT_CHANNEL_ENV (start.c). Both are added here to the environment that they
 * get, and are never in the program's own. Programs in between, such as a shell, pass them on.
 *
 * exec may be called in the child of a process with many threads, so nothing here allocates or locks.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"
#include "recorder/runtime/turn.h"

#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

#define LIBRARY_PATH "LD_LIBRARY_PATH"

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

/* A program that is executed in a sandbox knows nothing of what it must not call. */
static bool is_followed(void)
{
	return !rt_sandboxed && rt_tree && rt_tree->folder[0] && !atomic_load(&rt_tree->over);
}

/* Read by start.c. */
static char *append_channel(char *to, bool was_set)
{
	to = rt_append_text(to, "@");
	to = rt_append_number(to, (uint64_t)rt_tree->collector_pid);
	to = rt_append_number(rt_append_text(to, ":"), (uint64_t)rt_tree->collector_fd);
	to = rt_append_number(rt_append_text(to, ":"), rt_tree->nonce);
	return rt_append_text(to, was_set ? ":+" : ":-");
}
#define CHANNEL_SIZE 100u

/* The environment with both variables added; unchanged if no collector is there to record. */
static char **added(char *const *environment, struct block *b)
{
	size_t count = 0, n = 0;
	const char *path = NULL;

	*b = (struct block){0};
	if (!is_followed())
		return (char **)(uintptr_t)environment;
	for (; environment && environment[count]; count++)
		if (!path)
			path = rt_value_of(environment[count], LIBRARY_PATH);
	if (!acquire(b, (count + 3) * sizeof *environment + CHANNEL_SIZE + sizeof LIBRARY_PATH + RT_FOLDER_SIZE + 2 +
	                    (path ? rt_length(path) : 0)))
		return (char **)(uintptr_t)environment;
	char **result = (char **)(void *)b->start;
	char *text = b->start + (count + 3) * sizeof *result;
	for (size_t i = 0; i < count; i++)
		if (!rt_value_of(environment[i], LIBRARY_PATH) && !rt_value_of(environment[i], RT_CHANNEL_ENV))
			result[n++] = environment[i];
	result[n++] = text;
	text = append_channel(rt_append_text(text, RT_CHANNEL_ENV "="), path != NULL) + 1;
	result[n++] = text;
	text = rt_append_text(rt_append_text(text, LIBRARY_PATH "="), rt_tree->folder);
	if (path && *path)
		rt_append_text(rt_append_text(text, ":"), path);
	result[n] = NULL;
	return result;
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
#define EXECUTE(environment, call)                                                                                     \
	struct block memory;                                                                                           \
	char **with = added(environment, &memory);                                                                     \
	set_executing(1);                                                                                              \
	int result = call;                                                                                             \
	set_executing(0);                                                                                              \
	release(&memory);                                                                                              \
	return result

RT_INTERPOSE(int, execve, (const char *path, char *const argv[], char *const environment[]))
{
	EXECUTE(environment, RT_REAL(execve)(path, argv, with));
}
RT_INTERPOSE(int, execvpe, (const char *file, char *const argv[], char *const environment[]))
{
	EXECUTE(environment, RT_REAL(execvpe)(file, argv, with));
}
RT_INTERPOSE(int, fexecve, (int fd, char *const argv[], char *const environment[]))
{
	EXECUTE(environment, RT_REAL(fexecve)(fd, argv, with));
}
RT_INTERPOSE(int, execveat, (int folder, const char *path, char *const argv[], char *const environment[], int flags))
{
	EXECUTE(environment, RT_REAL(execveat)(folder, path, argv, with, flags));
}
RT_DEFINE(int, execv, (const char *path, char *const argv[]))
{
	return execve(path, argv, environ);
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
	return execve(path, argv, environ);
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
	return execve(path, argv, environment);
}

/* ---- Those that make a process of their own ---- */

#define SPAWN_PARAMETERS                                                                                               \
	(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,                    \
	 const posix_spawnattr_t *restrict attributes, char *const *arguments, char *const *environment)
#define SPAWN(name)                                                                                                    \
	RT_INTERPOSE(int, name, SPAWN_PARAMETERS)                                                                      \
	{                                                                                                              \
		struct block memory;                                                                                   \
		char **with = added(environment, &memory);                                                             \
		rt_call_at(RT_AT_FORK);                                                                                \
		int result = RT_REAL(name)(pid, file, actions, attributes, arguments, with);                           \
		release(&memory);                                                                                      \
		return result;                                                                                         \
	}
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/*
 * system and popen give the shell the program's environment as it is, so the shell is told. On the same line: it counts
 * lines in its messages. What would become too long as one argument is left alone.
 */
#define COMMAND_MAX 100000u

static const char *told(const char *command, struct block *b)
{
	char **e = environ;
	char *end;

	*b = (struct block){0};
	if (!command || !is_followed() || rt_length(command) > COMMAND_MAX ||
	    !acquire(b, rt_length(command) + RT_FOLDER_SIZE + CHANNEL_SIZE + 200))
		return command;
	while (e && *e && !rt_value_of(*e, LIBRARY_PATH))
		e++;
	end = append_channel(rt_append_text(b->start, "export " RT_CHANNEL_ENV "="), e && *e);
	end = rt_append_text(rt_append_text(end, " " LIBRARY_PATH "='"), rt_tree->folder);
	end = rt_append_text(end, "'\"${" LIBRARY_PATH ":+:$" LIBRARY_PATH "}\"; ");
	rt_append_text(end, command);
	return b->start;
}

RT_INTERPOSE(int, system, (const char *command))
{
	struct block memory;
	int result = RT_REAL(system)(told(command, &memory));
	int saved = errno;

	rt_emit_time();
	release(&memory);
	errno = saved;
	return result;
}

RT_INTERPOSE(FILE *, popen, (const char *command, const char *mode))
{
	struct block memory;
	FILE *result = RT_REAL(popen)(told(command, &memory), mode);

	release(&memory);
	return result;
}
