/* Signals that end the runs of a program which a command makes: an interrupt, and what else ends a command. */
#ifndef CMD_BASE_INTERRUPT_H
#define CMD_BASE_INTERRUPT_H

#include <poll.h>
#include <signal.h>

enum { INTERRUPTS = 3 };

/* From here on such a signal is noted, and calls that it interrupts go on. old: for interrupt_give. */
void interrupt_take(struct sigaction old[INTERRUPTS]);
/* They do what they did before. */
void interrupt_give(const struct sigaction old[INTERRUPTS]);

/* The signal that came; 0: none, or it was forgotten. */
int interrupt_came(void);
void interrupt_forget(void);

/* As poll does, up to a time or without end (NULL). An interrupt ends it, also one right before it. */
void interrupt_wait(struct pollfd *fds, nfds_t n, const struct timespec *time);

#endif
