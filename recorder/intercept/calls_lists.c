/*
 * Lists in the caller's memory: vectors of strings (argz, envz), options of one text, what a program is to be started
 * with, growing objects.
 */
#include "recorder/intercept/call.h"
#include "recorder/intercept/format.h"
#include "recorder/intercept/formats.h"

#include <argz.h>
#include <envz.h>
#include <obstack.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>

#undef obstack_free
#undef argz_next

/* A vector of n bytes, which the call may move. */
#define VECTOR char **restrict z, size_t *restrict n
#define READS_VECTOR                                                                                                   \
	IN(z);                                                                                                         \
	IN(n);                                                                                                         \
	IN_N(*z, *z ? *n : 0)
#define WRITES_VECTOR                                                                                                  \
	OUT(z);                                                                                                        \
	OUT(n);                                                                                                        \
	OUT_N(*z, *z ? *n : 0)
#define CHANGES_VECTOR(type, name, parameters, arguments, ...)                                                         \
	CALL(type, name, parameters, arguments, READS_VECTOR; __VA_ARGS__, WRITES_VECTOR)
#define MAKES_VECTOR(name, parameters, arguments, ...)                                                                 \
	CALL(error_t, name, parameters, arguments, __VA_ARGS__, WHEN(r == 0, WRITES_VECTOR))
MAKES_VECTOR(argz_create_sep, (const char *restrict s, int separator, VECTOR), (s, separator, z, n), STR(s))
MAKES_VECTOR(
    argz_create, (char *const list[], VECTOR), (list, z, n), for (char *const *item = list; *item; item++) {
	    IN(item);
	    STR(*item);
    })
CHANGES_VECTOR(error_t, argz_add, (VECTOR, const char *restrict s), (z, n, s), STR(s))
CHANGES_VECTOR(error_t, argz_add_sep, (VECTOR, const char *restrict s, int separator), (z, n, s, separator), STR(s))
CHANGES_VECTOR(error_t, argz_append, (VECTOR, const char *restrict s, size_t size), (z, n, s, size), IN_N(s, size))
CHANGES_VECTOR(error_t, argz_insert, (VECTOR, char *restrict before, const char *restrict s), (z, n, before, s), STR(s))
CHANGES_VECTOR(error_t, argz_replace,
               (VECTOR, const char *restrict s, const char *restrict by, unsigned *restrict count),
               (z, n, s, by, count), STR(s);
               STR(by); INOUT(count))
CALL_VOID(argz_delete, (VECTOR, char *restrict entry), (z, n, entry), READS_VECTOR, WRITES_VECTOR)
CALL(size_t, argz_count, (const char *z, size_t n), (z, n), IN_N(z, n), )
CALL(char *, argz_next, (const char *restrict z, size_t n, const char *restrict entry), (z, n, entry), STR(entry), )
CALL_VOID(argz_extract, (const char *restrict z, size_t n, char **restrict list), (z, n, list), IN_N(z, n),
          OUT_N(list, (argz_count(z, n) + 1) * sizeof *list))
CALL_VOID(argz_stringify, (char *z, size_t n, int separator), (z, n, separator), IN_N(z, n); OUT_N(z, n), )
CALL(char *, envz_entry, (const char *restrict z, size_t n, const char *restrict name), (z, n, name), IN_N(z, n);
     STR(name), )
CALL(char *, envz_get, (const char *restrict z, size_t n, const char *restrict name), (z, n, name), IN_N(z, n);
     STR(name), )
CHANGES_VECTOR(error_t, envz_add, (VECTOR, const char *restrict name, const char *restrict value), (z, n, name, value),
               STR(name);
               STR(value))
CHANGES_VECTOR(error_t, envz_merge, (VECTOR, const char *restrict other, size_t size, int override),
               (z, n, other, size, override), IN_N(other, size))
CALL_VOID(envz_remove, (VECTOR, const char *restrict name), (z, n, name), READS_VECTOR; STR(name), WRITES_VECTOR)
CALL_VOID(envz_strip, (VECTOR), (z, n), READS_VECTOR, WRITES_VECTOR)

ALIAS(__argz_count, argz_count);
ALIAS(__argz_next, argz_next);
ALIAS(__argz_stringify, argz_stringify);

/* The option's end is cut in the text, which is walked along. */
CALL(int, getsubopt, (char **restrict option, char *const *restrict tokens, char **restrict value),
     (option, tokens, value), IN(option);
     const char *start = *option; STR(start); for (char *const *token = tokens; *token; token++) STR(*token);
     , WHEN(*start, OUT(option); OUT(value); if (*option > start && !(*option)[-1]) OUT_N(*option - 1, 1)))

/* Objects that grow: their bytes lie in a chunk that the object's head names. */
CALL_VOID(obstack_free, (struct obstack * o, void *p), (o, p), INOUT(o), )
CALL(int, _obstack_memory_used, (struct obstack * o), (o), IN(o), )
static void grows(const struct obstack *o, const char *format, va_list args, uintptr_t pc)
{
	INOUT(o);
	STR(format);
	rt_printf_accesses(format, args, pc);
}
static void grew(const struct obstack *o, int n, uintptr_t pc)
{
	if (n > 0)
		OUT_N(o->next_free - n, n);
}
#define OBJECT struct obstack *restrict o
FORMATS(obstack_vprintf, obstack_printf, (OBJECT, const char *restrict format), (o, format), grows(o, format, copy, pc),
        grew(o, n, pc))
FORMATS(__obstack_vprintf_chk, __obstack_printf_chk, (OBJECT, int flag, const char *restrict format), (o, flag, format),
        grows(o, format, copy, pc), grew(o, n, pc))

/* Attributes of programs to be started, and what is done with their descriptors */
#define FILES posix_spawn_file_actions_t *actions
#define ATTR posix_spawnattr_t *restrict attr
CALL(int, posix_spawn_file_actions_init, (FILES), (actions), , OUT(actions))
CALL(int, posix_spawn_file_actions_destroy, (FILES), (actions), INOUT(actions), )
CALL(int, posix_spawn_file_actions_addclose, (FILES, int fd), (actions, fd), INOUT(actions), )
CALL(int, posix_spawn_file_actions_adddup2, (FILES, int fd, int to), (actions, fd, to), INOUT(actions), )
CALL(int, posix_spawn_file_actions_addopen,
     (posix_spawn_file_actions_t *restrict actions, int fd, const char *restrict path, int flags, mode_t mode),
     (actions, fd, path, flags, mode), INOUT(actions);
     STR(path), )
CALL(int, posix_spawn_file_actions_addchdir_np,
     (posix_spawn_file_actions_t *restrict actions, const char *restrict path), (actions, path), INOUT(actions);
     STR(path), )
CALL(int, posix_spawn_file_actions_addfchdir_np, (FILES, int fd), (actions, fd), INOUT(actions), )
CALL(int, posix_spawnattr_init, (posix_spawnattr_t * attr), (attr), , OUT(attr))
CALL(int, posix_spawnattr_destroy, (posix_spawnattr_t * attr), (attr), INOUT(attr), )
#define GIVES(what, type)                                                                                              \
	CALL(int, posix_spawnattr_get##what, (const ATTR, type *restrict to), (attr, to), IN(attr), OUT(to))
#define TAKES(what, type)                                                                                              \
	CALL(int, posix_spawnattr_set##what, (ATTR, const type *restrict from), (attr, from), INOUT(attr); IN(from), )
#define TAKES_NUMBER(what, type)                                                                                       \
	CALL(int, posix_spawnattr_set##what, (posix_spawnattr_t * attr, type x), (attr, x), INOUT(attr), )
GIVES(flags, short)
GIVES(pgroup, pid_t)
GIVES(schedparam, struct sched_param)
GIVES(schedpolicy, int)
GIVES(sigdefault, sigset_t)
GIVES(sigmask, sigset_t)
TAKES(schedparam, struct sched_param)
TAKES(sigdefault, sigset_t)
TAKES(sigmask, sigset_t)
TAKES_NUMBER(flags, short)
TAKES_NUMBER(pgroup, pid_t)
TAKES_NUMBER(schedpolicy, int)
