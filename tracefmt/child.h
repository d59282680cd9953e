/*
 * What recorded threads are called: "main.2" is the second thread that main created, "main.task3" its third task of
 * OpenMP, which is a thread of the trace and none of the system's. Tasks do not count among threads: of those no parent
 * has as many.
 */
#ifndef TRACEFMT_CHILD_H
#define TRACEFMT_CHILD_H

#include <stddef.h>
#include <stdint.h>

#define RT_CHILD_TASK 2000000u /* numbers above it are those of tasks */

/* Writes the name of the parent's child with this number, as far as it fits; returns its whole length, as snprintf. */
int rt_child_name(char *name, size_t size, const char *parent, uint32_t number);
/* The number in a child's name, also of one as old traces have it ("main.2000003" is a task); 0: it has none. */
uint32_t rt_child_number(const char *name);

#endif
