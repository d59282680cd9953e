/*
 * Random small programs of threads, of which is known what other runs of them may show: each is made as a list of
 * operations a thread, run by a model of C11 and POSIX in every interleaving, and written as C. Every operation has a
 * line of its own, occurs once, and is known in reports by it.
 */
#ifndef TESTS_DIFFER_PROGRAM_H
#define TESTS_DIFFER_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 5, OPS = 24, STEPS = THREADS * OPS };
/* Of mutexes, mutex 2 is recursive, and 3 is a spin lock. */
enum { MUTEXES = 4, RECURSIVE = 2, SPIN = 3, SEMAPHORES = 2, ATOMICS = 2, FLAGS = 2, PIPES = 2, CYCLES = 64 };
/* Areas of memory: a global, a heap block, one that may be freed, atomics, plain flags. */
enum area { GLOBAL, HEAP, FREED, ATOMIC, FLAG };

enum kind {
	/* no other thread's course depends on these */
	READ,
	WRITE,
	MEMSET,
	MEMCPY,
	STRCPY,
	FREE,
	/* on these it does */
	LOCK,
	UNLOCK,
	TRY,
	RDLOCK,
	WRLOCK,
	RWUNLOCK,
	POST,
	SEM_WAIT,
	ARRIVE,
	LEAVE,
	ONCE,
	LOAD,
	STORE,
	ADD,
	COMPARE,
	EXCHANGE,
	FENCE,
	POLL_ATOMIC,
	SET_FLAG,
	READ_FLAG,
	POLL_FLAG,
	SIGNAL,
	WAIT_BEGIN,
	WAIT_END,
	PIPE_WRITE,
	PIPE_READ,
	CREATE,
	JOIN,
	IF,
	END_IF
};

struct span {
	enum area area;
	int offset, size;
};

struct op {
	enum kind kind;
	int a;                 /* object; IF: value of the register at which what follows is executed */
	int b;                 /* value that is stored; IF: the place behind; LOCK: a timed one */
	int order, fail_order; /* __ATOMIC_ */
	struct span memory;    /* accessed; MEMCPY: written */
	struct span from;      /* MEMCPY: read */
	int line, id;
};

enum feature {
	F_MUTEX = 1,
	F_TRY = 2,
	F_RWLOCK = 4,
	F_SEMAPHORE = 8,
	F_BARRIER = 16,
	F_ONCE = 32,
	F_ATOMIC = 64,
	F_FENCE = 128,
	F_FLAG = 256,
	F_CONDITION = 512,
	F_PIPE = 1024,
	F_TREE = 2048,
	F_FREE = 4096,
	F_RANGE = 8192,
	F_MIXED = 16384,
	FEATURES = 15
};

struct program {
	struct op ops[THREADS][OPS];
	int count[THREADS], threads, parties;
	unsigned features;
	struct span once; /* written by the once-routine */
	int once_line;
};

/* Pairs of operations by thread and place. */
typedef bool pairs[THREADS][OPS][THREADS][OPS];
struct cycles {
	int lines[CYCLES][THREADS], count; /* lines in increasing order of threads; 0: none */
};

/* A number below n; of the generator's own seed. */
int below(int n);
bool chance(int percent);
void set_seed(uint64_t seed);

/* Makes *p a random program; false: it got too long. */
bool program_make(struct program *p);
/* Writes the program as functions pN_t0 (to be called), pN_t1, ...; sets its operations' lines and ids. */
void program_write(struct program *p, int number, FILE *out, int *line);
/* What comes before, and behind all: a main with the arguments NUMBER HOW SECONDS. */
void program_write_head(FILE *out, int *line);
void program_write_main(const struct program *programs, int count, FILE *out);

int op_line(const struct program *p, const struct op *o);
/*
 * A random run: ids of operations in order; the pairs that C11's happens-before leaves unordered in it. If it ends
 * before all threads have: what is blocked is in blocked (by id), rings of threads that wait for one another's locks in
 * cycles. False: it did although it must not, or did not although it should.
 */
bool model_run(const struct program *p, bool stuck, int order[STEPS], int *length, pairs races, bool blocked[STEPS],
               struct cycles *cycles);
/* What any run may show. False: there are too many states. */
bool model_all(const struct program *p, pairs races, struct cycles *cycles);

#endif
