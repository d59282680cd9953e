/* What may hold a value that was read, from one instruction to the next; of the search in code_updates.c. */
#ifndef RECORDER_COLLECTOR_CODE_HELD_H
#define RECORDER_COLLECTOR_CODE_HELD_H

#include "recorder/collector/code.h"
#include "recorder/collector/code_updates.h"
#include "recorder/collector/x86.h"

enum { WORDS_MAX = 4 };

/* What may hold the value, beside registers and flags. */
enum { WORD_BIT = X86_NEXT_BIT };
#define WORDS (((X86_BIT(WORDS_MAX)) - 1) << WORD_BIT)
#define MOVED X86_BIT(WORD_BIT + WORDS_MAX) /* the stack pointer was, since words were where search.words says */

/* A word of the stack that holds it in between. */
struct word {
	x86_reg base;
	int64_t offset;
	unsigned size;
};

struct code_updates {
	struct debug *debug;
	struct code *codes; /* by image */
	bool *opened;       /* the same */
	csh capstone;
	cs_insn *insn;
	const struct code_function
	    *function; /* the last one of which it was asked: it keeps all words of its stack to itself */
	bool keeps;
};

/* The search of one read. */
struct search {
	struct code_updates *u;
	const struct code *code;
	const struct code_function *function;
	struct word words[WORDS_MAX];
	unsigned word_count;
	uint64_t *known; /* by byte of the function: what holds the value before the instruction there, if seen: SEEN */
	uint16_t *open;  /* addresses to go on from */
	unsigned open_count, visits;
	bool stored; /* the update itself was, or can no longer be */
	bool left;   /* the update is no longer to come: a call or jump came behind the write's hook, or it is known */
	bool fails;
	bool framed; /* the function keeps a frame pointer in rbp */
	bool plain;  /* the module has no hooks; names, which tell conventions of calls, may be missing */
};

/* The search fails: the read is no update. Returns 0. */
uint64_t held_fail(struct search *s);
/* What holds the value after the instruction, of what did before (held). source: it loads the value itself. window: it
 * is before the write's hook. */
uint64_t held_after(struct search *s, uint64_t held, bool source, bool window);
/* The same, noting what is stored behind the write's hook. */
uint64_t held_step(struct search *s, uint64_t held, bool source, bool window);
/* True if the instruction may write memory. */
bool held_stores(const cs_insn *insn, enum x86_deed deed);
/* True if the register is that of the stack, or of the function's frame. */
bool held_is_frame(const struct search *s, x86_reg base);
/* True if the operand is a word of the stack at a known place. */
bool held_is_stack(const struct search *s, const cs_x86_op *op);
/* True if the function keeps all words of its stack to itself: it takes no address of any, and reads none but on the
 * paths that it has. Overwrites the instruction. */
bool held_keeps_stack(struct search *s);

#endif
