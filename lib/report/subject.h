/* The subject of an anomaly, in words: the variable, the locks, the positions. */
#ifndef LIB_REPORT_SUBJECT_H
#define LIB_REPORT_SUBJECT_H

#include "lib/report/report.h"

enum { SUBJECT_NAME_MAX = 512 };

struct subject {
	char name[SUBJECT_NAME_MAX]; /* "" if there is none */
	const char *kind;            /* "global", "heap", "mapped", "stack", "tls", "unknown" */
	uint64_t address, size;      /* of the named variable, or of the block; size 0: unknown */
	struct memory_block block;   /* alloc != 0: the block that contains it */
	const char *file;            /* where it is declared, or NULL */
	uint32_t line;
	bool shared; /* of a stack: the variable of an OpenMP region, by name */
	bool module; /* no variable: where it is in a module, which has no debug information */
};

/* Where the anomaly's accesses meet: the address, and the last of its events, at which the memory is described. False
 * if it is not about memory. */
bool subject_meeting(const struct model *m, const struct anomaly *anomaly, uint32_t *e, uint64_t *addr);
/* The cell where they meet; MODEL_NONE: none. */
uint32_t subject_cell(const struct model *m, const struct anomaly *anomaly);
/* The variable at an address, as it was at the event that it was described for. */
void subject_at(const struct report *r, const struct memory_place *place, struct subject *out);
/* The variable of the anomaly: where its accesses meet. False if it is not about memory (a deadlock). */
bool subject_of(const struct report *r, const struct anomaly *anomaly, struct subject *out);
/* True if it may be a common block of Fortran, of which only the block's own symbol is known: "counts_". */
bool subject_is_common(const struct subject *s);
/* The name of the anomaly's variable that stays the same in each run, without indices; "": a block or a stack has none.
 */
void subject_lasting_name(const struct report *r, const struct anomaly *anomaly, char name[SUBJECT_NAME_MAX]);
/* The block that contains a described lock event's lock; NULL: unknown. */
const struct memory_block *subject_lock_block(const struct description *d);
/* Name of a lock or another synchronisation object; "" if it has none. block: the one that contains it, as far as
 * known. */
void subject_object_name(const struct report *r, uint64_t addr, const struct memory_block *block,
                         char name[SUBJECT_NAME_MAX]);
/* Cuts members that are internal to a library: "queue.mutex.__data.__lock" becomes "queue.mutex". Names that begin with
 * __ or _M are reserved; an OpenMP lock is its member _x. */
void subject_cut_reserved(char *name);
/* The name without parts that differ from run to run: array indices. */
void subject_stable_name(const char *name, char stable[SUBJECT_NAME_MAX]);
/* Last component of a path. */
const char *subject_basename(const char *path);
/* An address of code of which no more is known: "app+0x11e4", counted from where the module begins, or "0x1091e4". */
void subject_address(const struct report *r, uint64_t pc, char text[SUBJECT_NAME_MAX]);
/* Innermost frame of a position; NULL if nothing is known. */
const struct rt_frame *subject_frame(const struct report *r, uint64_t pc);
/* The same; with the position alone if nothing is known. */
struct rt_frame subject_frame_or_pc(const struct report *r, uint64_t pc);
/* ":12:5", what is known of a frame's line and column. */
void subject_put_line(const struct rt_frame *f, FILE *out);
enum { SUBJECT_NEEDS_MAX = 80 };
/* One of the reads that an anomaly needs to see another write. */
struct subject_need {
	struct rt_frame frame;
	uint32_t thread;
	uint64_t event; /* its number */
};
struct subject_need subject_need(const struct report *r, const struct anomaly *anomaly, uint32_t i);
/* "3 reads to see another write than they saw", of an anomaly that needs some. */
void subject_needs(const struct anomaly *anomaly, char text[SUBJECT_NEEDS_MAX]);

#endif
