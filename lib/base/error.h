/* Error values: a message that gathers causes on its way up; only cmd/ prints it. */
#ifndef LIB_BASE_ERROR_H
#define LIB_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* How a call ended. RT_OK is 0, so `if (status)` reads as "failed". */
enum rt_status {
	RT_OK = 0,
	RT_EINPUT,   /* the input is not what it should be (exit status 3) */
	RT_ESYSTEM,  /* the system refused: open, read, write, map (exit status 3) */
	RT_EMEMORY,  /* no memory (exit status 3) */
	RT_ELARGE,   /* it would take more memory than is allowed (exit status 3) */
	RT_EUSAGE,   /* wrong use by the caller (exit status 2) */
	RT_EINTERNAL /* an error in this program itself (exit status 3) */
};

/* A one-line message: lower case, no full stop, the failed action first, names in single quotes. A zeroed struct is "no
 * error". */
struct rt_error {
	enum rt_status status;
	bool told; /* the message was printed already */
	char message[512];
};

/* Sets *err (which may be NULL) to a formatted message and returns status. */
enum rt_status rt_error_set(struct rt_error *err, enum rt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "context: " in front of the message that *err has; returns its status. */
enum rt_status rt_error_context(struct rt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
