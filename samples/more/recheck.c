/* The fixed twin of recheck_racy.c: it looks again on the line that fills. */
#define FIXED
#include "recheck_racy.c"
