/* Classes: items that agree in a few numbers, numbered from 0 in the order of their first item. */
#ifndef LIB_SEARCH_CLASSES_H
#define LIB_SEARCH_CLASSES_H

#include "lib/base/table.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLASS_KEY = 9 };

struct class
{
	uint32_t key[CLASS_KEY];
	uint32_t first, count; /* its members, stored by the caller */
	uint32_t next;         /* for the caller: another class of the same family */
};

struct classes {
	struct class *items;
	uint32_t count, capacity;
	struct table table;
	bool failed; /* no memory */
};

void classes_release(struct classes *c);
/* Removes all classes; cheap if there were few. */
void classes_clear(struct classes *c);
/* The class with this key; created if absent (with first, count 0 and next UINT32_MAX). 0 without memory. */
uint32_t classes_index(struct classes *c, const uint32_t key[CLASS_KEY]);
/* Assigns each class its place among the members, after they were counted, and resets the counts to 0. */
void classes_place(struct classes *c);

#endif
