/* The program to be recorded: finding it, checking it, starting it, waiting for it. */
#ifndef RECORDER_COLLECTOR_PROGRAM_H
#define RECORDER_COLLECTOR_PROGRAM_H

#include "lib/base/error.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Finds the file that execvp would run. On RT_OK the caller owns *path. Otherwise *reason is the errno of execvp
 * (ENOENT: there is no such program).
 */
enum rt_status program_find(const char *name, char **path, int *reason, struct rt_error *err);

/*
 * Checks that the program can be recorded: it must be an ELF executable for this machine that is linked with GCC's
 * shared libtsan or with libracetrace. On RT_OK *soname is the library that the recorder replaces, owned by the caller.
 *
 * *sync_only: a dynamically linked program is enough. On RT_OK it is set to whether it is no more than that.
 */
enum rt_status program_inspect(const char *path, char **soname, bool *sync_only, struct rt_error *err);

/*
 * The runtime that the first instrumented library of these files is linked with; the one that GCC links now if there is
 * none. Owned by the caller; NULL without memory. names: as argv, they need not be files.
 */
char *library_runtime(char *const *names);

/* True if this is an ELF file without instrumented code. False also if that cannot be determined. */
bool file_is_plain(const char *path);

/* True if the file is built with AddressSanitizer. */
bool file_checks_addresses(const char *path);

/* True if the file is to be executed with the rights of its owner or group, or with more, be they the caller's own. */
bool file_gains_rights(const char *path);

struct program_start {
	const char *path;
	char *const *argv;
	const char *preload;  /* the recorder's file */
	const char *tool;     /* NULL, or the Valgrind tool that `path` is */
	const char *launcher; /* Valgrind's, for what the program executes; NULL: it is not there */
	int channel;          /* the channel's file */
	bool same_addresses;  /* the same in each run, if the system allows it */
};
/* A program, or a process that waits to execute it. From program_prepare on a thread handles the caller's signals. */
struct program {
	pid_t pid;
	int gate;   /* closed: start */
	int report; /* reports why it could not start */
	pthread_t keeper;
	sigset_t old_mask;
	struct sigaction old_child; /* the caller's SIGCHLD */
	void (*ended)(void *arg);   /* called once, from the keeper, when the process is dead */
	void *arg;
};

/*
 * Creates the process, which waits: so its number is known before it runs. It has the caller's standard streams, signal
 * dispositions, working folder and environment; the recorder removes the variables that load it (LD_PRELOAD,
 * RT_CHANNEL_ENV). From here on signals that other processes send to the caller (SIGINT, SIGQUIT, SIGTERM, SIGHUP,
 * SIGUSR1, SIGUSR2) go to the program; those of the terminal reach it anyway.
 */
enum rt_status program_prepare(struct program *p, const struct program_start *start, struct rt_error *err);
/* Starts it. *reason: errno if it could not be executed, else 0. program_wait must follow in any case. */
enum rt_status program_go(struct program *p, int *reason, struct rt_error *err);
/* Waits for its end; *status is as from waitpid. A process that was not started ends without effect. */
enum rt_status program_wait(struct program *p, int *status, struct rt_error *err);
/* Ends the caller by the signal that ended the program. Returns only if that fails. */
void program_end_like(int signal);

#endif
