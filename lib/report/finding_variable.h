/* The names by which people know the variable of a finding: as a source line has it, and by its type. */
#ifndef LIB_REPORT_FINDING_VARIABLE_H
#define LIB_REPORT_FINDING_VARIABLE_H

#include "lib/report/findings.h"
#include "lib/report/joining.h"

/* Fills written, pointed, member and called. */
void finding_name_variable(const struct joining *j, struct finding *f);

#endif
