/* Limits as the program has set them, where the kernel's is another: limit.c. Limits of other kinds are left alone. */
#ifndef RECORDER_INTERCEPT_LIMIT_H
#define RECORDER_INTERCEPT_LIMIT_H

#include <sys/resource.h>
#include <sys/types.h>

/* What the kernel is asked for instead: `asked` itself, or *raised, which is filled in. NULL is allowed. */
const struct rlimit *rt_limit_raised(unsigned which, const struct rlimit *asked, struct rlimit *raised);
/* The program has set this limit. NULL: it has not. */
void rt_limit_set(unsigned which, const struct rlimit *asked);
/* The kernel has told this limit, which becomes the one that the program has set. NULL: it has not. */
void rt_limit_seen(unsigned which, struct rlimit *told);
/* `which` if the limit of that process is this one's, or else none that is known here. */
unsigned rt_limit_of(pid_t process, unsigned which);

#endif
