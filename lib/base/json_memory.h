/* Tells JSON that cannot be parsed for lack of memory from JSON that is wrong: jansson's errors do not say. */
#ifndef LIB_BASE_JSON_MEMORY_H
#define LIB_BASE_JSON_MEMORY_H

#include <stdbool.h>

/* From here on the allocations of jansson in this thread are watched. */
void rt_json_memory_watch(void);
/* True if one has failed since. */
bool rt_json_memory_failed(void);

#endif
