/* What the files of the search for hidden atomics (hidden*.c) share. */
#ifndef RECORDER_COLLECTOR_HIDDEN_PARTS_H
#define RECORDER_COLLECTOR_HIDDEN_PARTS_H

#include "recorder/collector/bare.h"
#include "recorder/collector/code.h"
#include "recorder/collector/hidden.h"

/* An atomic function. */
struct found {
	size_t image, function; /* indices */
	uint64_t from, until, at;
	size_t origin; /* index into images: of the image with the instruction `at` */
	const char *name;
	bool hooked, may_lock;
	unsigned does; /* HIDDEN_* */
	bool called;   /* its callers were searched for */
};

/* A byte sequence that looks like a call of one. */
struct call {
	uint64_t address;
	size_t length;
	size_t cause; /* index of the function that is called */
	bool real;    /* it is an instruction */
};

/* The atomic functions by name, for calls of other modules. */
struct name {
	const char *name;
	size_t found;
};

struct code_search {
	struct debug *debug;
	struct code *codes; /* by image */
	bool *opaque;       /* by image: it is not instrumented */
	bool *quiet;        /* by image: it is opaque, and orders nothing */
	struct name *taken; /* sorted; functions that no such module is called by: others of that name come first */
	size_t taken_count, taken_size;
	size_t **found_of;  /* by image and function: its index, plus 1; 0: not atomic */
	struct name *names; /* sorted; of the functions whose callers are being searched for */
	size_t name_count, name_size;
	struct call *calls; /* in the current function, by address */
	size_t call_count, call_size;
	csh capstone;
	cs_insn *insn;
	struct bare_search bare;
	struct found *found;
	size_t count, size;
	size_t pointed;    /* index of one that may be called through pointers, SIZE_MAX: none is known */
	bool pointed_lock; /* one of them may lock */
	size_t visited;    /* image whose pointers are looked at */
	struct hidden_atomics *out;
	bool failed;
};

/* Index of the called function, if its callers are being searched for; else SIZE_MAX. */
size_t hidden_called(const struct code_search *s, size_t image, const struct code_target *t);
/*
 * Sets s->pointed if one of the first `last` functions, of which the callers are not known yet, may be called through a
 * pointer: instrumented code has its address, or may get it by dlsym or from a virtual table.
 */
void hidden_find_pointed(struct code_search *s, size_t last);

#endif
