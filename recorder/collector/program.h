/* The program to be recorded: where it is, whether it can be recorded, starting it, waiting for it. */
#ifndef RECORDER_COLLECTOR_PROGRAM_H
#define RECORDER_COLLECTOR_PROGRAM_H

#include "lib/base/error.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Finds the file that execvp would run. On RT_OK *path is owned by the caller. Otherwise *reason is the errno that
 * execvp would fail with (ENOENT: there is no such program).
 */
enum rt_status program_find(const char *name, char **path, int *reason, struct rt_error *err);

/*
 * Can it be recorded? It must be an ELF executable for this machine that is linked with GCC's shared libtsan or with
 * libracetrace. On RT_OK *soname is the library that the recorder has to stand in for, owned by the caller.
 *
 * *sync_only: is it enough if it is dynamically linked? On RT_OK, whether that is all that it is.
 */
enum rt_status program_inspect(const char *path, char **soname, bool *sync_only, struct rt_error *err);

/*
 * The runtime that the first of these files which is an instrumented library is linked with; what GCC links now if none
 * is. Owned by the caller; NULL: no memory. names: as argv, they need not be files.
 */
char *library_runtime(char *const *names);

/* Is this an ELF file none of whose code was instrumented? False if that cannot be known. */
bool file_is_plain(const char *path);

struct program_start {
	const char *path;
	char *const *argv;
	const char *preload; /* the recorder's file */
	int channel;         /* the channel's file */
	bool same_addresses; /* as in each run, if the system allows it */
};
/* A program, or a process that waits to become it. From program_prepare on a thread looks after the caller's signals.
 */
struct program {
	pid_t pid;
	int gate;   /* closed: go */
	int report; /* says why it could not go */
	pthread_t keeper;
	sigset_t old_mask;
	struct sigaction old_child; /* the caller's SIGCHLD */
	void (*ended)(void *arg);   /* called once, from the keeper, when the process is dead */
	void *arg;
};

/*
 * Makes the process, which waits: so its number is known before it runs. It has the caller's standard streams, signal
 * dispositions, working folder and environment; what brings the recorder in (LD_PRELOAD, RT_CHANNEL_ENV) is taken out
 * again by the recorder. From here on signals that other processes send to the caller (SIGINT, SIGQUIT, SIGTERM,
 * SIGHUP, SIGUSR1, SIGUSR2) go to the program; those of the terminal reach it anyway.
 */
enum rt_status program_prepare(struct program *p, const struct program_start *start, struct rt_error *err);
/* Lets it run. *reason: errno if it could not be executed, else 0. program_wait must follow in any case. */
enum rt_status program_go(struct program *p, int *reason, struct rt_error *err);
/* Waits for its end; *status is as from waitpid. A process that was not let go ends without having done anything. */
enum rt_status program_wait(struct program *p, int *status, struct rt_error *err);
/* Ends the caller by the signal that ended the program. Returns only if that does not work. */
void program_end_like(int signal);

#endif
