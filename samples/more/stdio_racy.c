/*
 * Streams. What is put into one that ends in a pipe is seen by who takes it out, character by character, from a buffer
 * or not; a stream is a lock; the unlocked calls need one. stdio.c does so, here data is touched after it was told of,
 * or without the lock.
 */
#define _GNU_SOURCE
#include "both.h"

#include <stdio.h>
#include <wchar.h>

#ifndef RACE_FREE
#define RACE_FREE 0
#endif

/* Data is written, a message is put into a pipe; the other thread takes the message and reads the data. */
#define TOLD(name, put, take)                                                                                          \
	static FILE *name##_in, *name##_out;                                                                           \
	static int name##_data;                                                                                        \
	static volatile int name##_seen;                                                                               \
	PART(name##_put)                                                                                               \
	{                                                                                                              \
		FILE *f = name##_out;                                                                                  \
		if (RACE_FREE)                                                                                         \
			name##_data = 1;                                                                               \
		put;                                                                                                   \
		fflush(f);                                                                                             \
		if (!RACE_FREE)                                                                                        \
			name##_data = 1;                                                                               \
		return NULL;                                                                                           \
	}                                                                                                              \
	PART(name##_take)                                                                                              \
	{                                                                                                              \
		FILE *f = name##_in;                                                                                   \
		take;                                                                                                  \
		name##_seen = name##_data;                                                                             \
		return NULL;                                                                                           \
	}                                                                                                              \
	static void name(void)                                                                                         \
	{                                                                                                              \
		int fds[2];                                                                                            \
		if (pipe(fds))                                                                                         \
			return;                                                                                        \
		name##_in = fdopen(fds[0], "r");                                                                       \
		name##_out = fdopen(fds[1], "w");                                                                      \
		both(name##_put, name##_take);                                                                         \
		fclose(name##_in);                                                                                     \
		fclose(name##_out);                                                                                    \
	}
#define TEXT ((char[32]){0})
TOLD(by_fgetc, fputc('x', f), fgetc(f))                                                   /* @fgetc */
TOLD(by_getc, putc('x', f), getc(f))                                                      /* @getc */
TOLD(by_unlocked, putc_unlocked('x', f), getc_unlocked(f))                                /* @unlocked */
TOLD(by_second, fputs("xy", f), (getc(f), getc(f)))                                       /* @second */
TOLD(by_fgets, fputs("x\n", f), fgets(TEXT, 32, f))                                       /* @fgets */
TOLD(by_fread, fwrite("x", 1, 1, f), fread(TEXT, 1, 1, f))                                /* @fread */
TOLD(by_fread_unlocked, fwrite_unlocked("x", 1, 1, f), fread_unlocked(TEXT, 1, 1, f))     /* @fread_unlocked */
TOLD(by_getline, fputs("x\n", f), getline(&(char *){NULL}, &(size_t){0}, f))              /* @getline */
TOLD(by_getdelim, fputs("x;", f), getdelim(&(char *){NULL}, &(size_t){0}, ';', f))        /* @getdelim */
TOLD(by_fscanf, fprintf(f, "%d\n", 7), fscanf(f, "%d", &(int){0}))                        /* @fscanf */
TOLD(by_ungetc, putc('x', f), (ungetc(getc(f), f), getc(f)))                              /* @ungetc */
TOLD(by_fgetwc, fputwc(L'x', f), fgetwc(f))                                               /* @fgetwc */
TOLD(by_fgetws, fputws(L"x\n", f), fgetws((wchar_t[8]){0}, 8, f))                         /* @fgetws */
TOLD(by_fwscanf, fwprintf(f, L"%d\n", 7), fwscanf(f, L"%d", &(int){0}))                   /* @fwscanf */
TOLD(by_setvbuf, (setvbuf(f, NULL, _IONBF, 0), putc('x', f)), (setbuf(f, NULL), getc(f))) /* @setvbuf */

/* The lock of a stream, taken twice. */
static FILE *file;
static int counter;
PART(count)
{
	if (RACE_FREE) {
		flockfile(file);
		flockfile(file);
	}
	fputs("counted\n", file);
	counter++; /* @counter */
	if (RACE_FREE) {
		funlockfile(file);
		funlockfile(file);
	}
	return NULL;
}

/* Each writes where the stream stands. */
PART(write_unlocked)
{
	if (RACE_FREE)
		flockfile(file);
	fputs_unlocked("unlocked\n", file); /* @fputs_unlocked */
	if (RACE_FREE)
		funlockfile(file);
	return NULL;
}

/* What a stream of one's own calls, it calls with its lock held. */
static FILE *own;
static int written;
static ssize_t write_own(void *unused, const char *text, size_t size)
{
	(void)unused;
	(void)text;
	written++; /* @written */
	return (ssize_t)size;
}
PART(write_by_own)
{
	fputs("x", own);
	fflush(own);
	return NULL;
}
PART(write_beside)
{
	if (RACE_FREE)
		return write_by_own(NULL);
	LATER;
	written++; /* @beside */
	return NULL;
}

/* A stream is closed when the other thread is done with it, or is not. */
static FILE *closed;
PART(closed_early)
{
	LATER;
	if (!RACE_FREE)
		fclose(closed); /* @fclose */
	return NULL;
}
PART(used_late)
{
	fputs("x", closed); /* @used */
	return NULL;
}

int main(void)
{
	static void (*const parts[])(void) = {by_fgetc,  by_getc,           by_unlocked, by_second,   by_fgets,
	                                      by_fread,  by_fread_unlocked, by_getline,  by_getdelim, by_fscanf,
	                                      by_ungetc, by_fgetwc,         by_fgetws,   by_fwscanf,  by_setvbuf};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		parts[i]();
	file = tmpfile();
	closed = tmpfile();
	own = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_own});
	if (!file || !closed || !own)
		return 1;
	both(count, count);
	both(write_unlocked, write_unlocked);
	both(write_by_own, write_beside);
	both(used_late, closed_early);
	return 0;
}
