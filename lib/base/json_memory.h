/* Distinguishes JSON that cannot be parsed for lack of memory from malformed JSON, which jansson's errors do not. */
#ifndef LIB_BASE_JSON_MEMORY_H
#define LIB_BASE_JSON_MEMORY_H

#include <stdbool.h>

/* Watches the allocations of jansson in this thread from here on. */
void rt_json_memory_watch(void);
/* True if an allocation has failed since. */
bool rt_json_memory_failed(void);

#endif
