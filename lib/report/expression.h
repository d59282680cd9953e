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
 * What the line reads at this column, where a compiler puts the access to a member or an element: "it->size" at its
 * "->". Also what a function that copies memory is given there: the first argument of "memcpy(data(it), from, n)" for
 * what it writes, the second one for what it reads. False: neither.
 */
bool expression_member(const char *line, uint32_t column, char name[EXPRESSION_MAX]);
bool expression_copied(const char *line, uint32_t column, bool writes, char name[EXPRESSION_MAX]);
/* What a macro at this column is given a pointer to: "it->flag" of "SET(&it->flag, 1)". */
bool expression_macro(const char *line, uint32_t column, char name[EXPRESSION_MAX]);
/* What an atomic operation of the line is on: "c->ready" of "atomic_store_explicit(&c->ready, 1, order)" and of
 * "c->ready.store(1)". False: the line has none, or several, or it is no plain one. */
bool expression_atomic(const char *line, char name[EXPRESSION_MAX]);
/* The function that is called at this column: "localtime" of "localtime(&t)". */
bool expression_called(const char *line, uint32_t column, char name[EXPRESSION_MAX]);
/* What the line frees: "b->next" of "free(b->next)" and of "delete b->next". False: nothing, or it is no plain one. */
bool expression_freed(const char *line, char name[EXPRESSION_MAX]);
/*
 * What the line locks: "queue->mutex" of "pthread_mutex_lock(&queue->mutex)" and of "std::lock_guard<std::mutex>
 * guard(queue->mutex)"; of several arguments the first that is called a lock, or the first. False: the line has no call
 * or more than one whose name speaks of a lock, or its argument is no plain one.
 */
bool expression_locked(const char *line, char name[EXPRESSION_MAX]);
/*
 * The lock that a call of this function on the line is about, if the function is a member of a lock, or the constructor
 * of what holds one: "mutex_" of "this->mutex_.Lock();" and of "MutexLock held(&mutex_);". False: it is neither, or no
 * plain one.
 */
bool expression_receiver(const char *line, const char *function, char name[EXPRESSION_MAX]);
/*
 * The object that the line calls this member function of a library for: "values" of "values.push_back(v)", "values[i]",
 * "values += v" and "for (auto &v : values)". Of "get()->values.clear()" it is the member. False: it is not plain.
 */
bool expression_called_for(const char *line, const char *function, char name[EXPRESSION_MAX]);
/* True if that is a variable which a call is given as a pointer to the lock: "m" of "pthread_mutex_lock(m)". */
bool expression_locks_pointer(const char *line);
/* True if the word is in the text, and not only as a part of another word. */
bool expression_has(const char *text, const char *word);
/* 1 if a definition of the function begins on the line and the name is among its parameters, 0 if it is not; -1: none
 * begins there, or its other parameters are further down. A call of it is none: the line ends in no semicolon and has
 * no blanks in front. */
int expression_begins(const char *line, const char *function, const char *name);
/* The first argument of the only call of the function on the line: "queue->mutex" of "enter(&queue->mutex);". *handed:
 * it is a variable that is a pointer already. False: there is none, or it is no plain one. */
bool expression_passed(const char *line, const char *function, char name[EXPRESSION_MAX], bool *handed);

#endif
