/*
 * Look-up, then act over two critical sections: one call of a function finds an object in one critical section, counts
 * a reference to it, and changes it in the next section of the same lock without looking it up again. Another thread's
 * section of that lock replaces or removes the object in between: the reference keeps the memory, and the change is
 * lost. check_act.c searches for it, as for a check and its act.
 *
 * Without values, what is found is the memory around the count: what a section reads before it led there.
 */
#ifndef LIB_SEARCH_LOOKUP_H
#define LIB_SEARCH_LOOKUP_H

#include "lib/trace/model.h"
#include "lib/trace/snippet.h"

/* True if the cell may be of the object whose references the other cell counts. */
bool lookup_is_near(const struct model *m, uint32_t cell, uint32_t count);
/* True if it is next to the count, or to the cells from one address to another that are near the count. */
bool lookup_is_next(const struct model *m, uint32_t cell, uint32_t count, uint64_t first, uint64_t last);

/*
 * True if the section of `lock` in which e2 writes the link changes what was seen of the object, too, and the thread of
 * e1 and e3 does not look at what it changes there before e3. count: the cell that counts references.
 */
bool lookup_is_lost(const struct model *m, struct snippets *source, uint32_t e1, uint32_t e2, uint32_t e3,
                    uint32_t lock, uint32_t count);

#endif
