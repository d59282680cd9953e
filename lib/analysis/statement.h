/* What a line of C or C++ tells of its accesses. */
#ifndef LIB_ANALYSIS_STATEMENT_H
#define LIB_ANALYSIS_STATEMENT_H

#include <stdbool.h>

/*
 * True if the line is a statement, or a condition, that calls nothing and that no macro is seen in: operators on
 * variables alone. C has no atomic load or store without a call or a macro, but of a variable of an _Atomic type.
 */
bool statement_is_plain(const char *line);

/* What the line above a statement tells of it: OpenMP's `atomic`, or a macro for it, makes atomic what is below. */
enum statement_above {
	ABOVE_ENDS,    /* nothing: it ends a statement or begins a block */
	ABOVE_GOES_ON, /* nothing, but one further above may */
	ABOVE_ATOMIC
};
enum statement_above statement_above(const char *line);

#endif
