/* The machine code of one loaded module (x86-64): its functions, and the functions that its call instructions call. */
#ifndef RECORDER_COLLECTOR_CODE_H
#define RECORDER_COLLECTOR_CODE_H

#include "recorder/collector/debug.h"

/* Addresses are those of the process. */
struct code_section {
	uint64_t start, size;
	const uint8_t *bytes; /* borrowed from the module's file */
};
struct code_function {
	uint64_t start, end;
	const char *name; /* the linker's name; borrowed from the module's file; NULL: unknown */
	bool local;       /* no other module can call it by the name */
};
/* A function that may catch exceptions, or clean up after them. */
struct code_handler {
	uint64_t start, end;
	uint64_t table; /* address of its call sites, 0: unknown */
};
/* A word that holds the address of a function of any module. */
struct code_slot {
	uint64_t address;
	const char *name;
};

/* A zeroed struct is empty. */
struct code {
	struct code_section *sections;
	struct code_function *functions; /* by start, disjoint */
	struct code_slot *slots;         /* by address */
	struct code_handler *handlers;   /* by start */
	struct code_section tables;      /* of the handlers */
	struct code_section *variables;  /* memory that the program writes, without bytes */
	struct code_section *counters;   /* by start: what GCC counts for --coverage and profiles, without bytes */
	size_t section_count, function_count, slot_count, handler_count, variable_count, counter_count;
};

/* False without memory, or if the file cannot be read as code of this machine. */
bool code_open(struct code *c, const struct debug_image *image);
void code_release(struct code *c);

/* Bytes from an address to the end of its section, *n of them. NULL: no section of code contains it. */
const uint8_t *code_at(const struct code *c, uint64_t address, size_t *n);
/* True if the address is of variables, which are no constants and none of the linker's own. */
bool code_is_variable(const struct code *c, uint64_t address);
/* Index of the function that covers an address, SIZE_MAX if none does. */
size_t code_function_at(const struct code *c, uint64_t address);

/* Where an exception that leaves a call goes on in the call's function (0: nowhere); `call` is in the call's
 * instruction. False if that is unknown (code_pads.c). */
bool code_pad(const struct code *c, uint64_t call, uint64_t *pad);

/* The function of any module whose address an instruction of n bytes reads from a slot; NULL: it reads none. */
const char *code_slot_read(const struct code *c, uint64_t address, const uint8_t *bytes, size_t n);

/* True if the instruction of n bytes accesses a counter of the compiler's own at a fixed place. */
bool code_counts(const struct code *c, uint64_t address, const uint8_t *bytes, size_t n);

/* The target of a call or jump instruction. */
struct code_target {
	uint64_t address; /* 0: unknown, or by name */
	const char *name; /* of a function that the dynamic linker finds; else NULL */
	bool jump;        /* it does not return */
	bool branches;    /* a jump that may not be taken, or whose target is unknown */
};
/* Decodes an instruction of n bytes at an address. False if it neither calls nor jumps. */
bool code_target(const struct code *c, uint64_t address, const uint8_t *bytes, size_t n, struct code_target *target);

#endif
