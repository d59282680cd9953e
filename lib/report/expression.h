/* What a line of C or C++ assigns to or locks: the name by which a programmer knows memory that has none of its own. */
#ifndef LIB_REPORT_EXPRESSION_H
#define LIB_REPORT_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

enum { EXPRESSION_MAX = 64 };

/*
 * The variable, member or element that the line writes at this column, as a compiler counts them (from 1): "it->size".
 * column 0: unknown; there is an answer if the line has one assignment only. False: none, or it is no plain one.
 */
bool expression_assigned(const char *line, uint32_t column, char name[EXPRESSION_MAX]);
/*
 * What the line locks: "queue->mutex" of "pthread_mutex_lock(&queue->mutex)" and of "std::lock_guard<std::mutex>
 * guard(queue->mutex)". False: the line has no call or more than one whose name speaks of a lock, or its argument is no
 * plain one.
 */
bool expression_locked(const char *line, char name[EXPRESSION_MAX]);

#endif
