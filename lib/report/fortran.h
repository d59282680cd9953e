/* Lines of Fortran as the C that expression.h reads, and back. */
#ifndef LIB_REPORT_FORTRAN_H
#define LIB_REPORT_FORTRAN_H

#include <stdbool.h>

/* True if the file's name is one of Fortran source. */
bool fortran_is_source(const char *file);
/* Changes a line, byte for byte: "s%hits(i) = 1" becomes "s.hits[i] = 1". */
void fortran_to_c(char *line);
/* Changes a name that was taken from such a line back. */
void fortran_from_c(char *name);

#endif
