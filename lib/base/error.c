/* Error values; see error.h. */
#include "lib/base/error.h"

#include <stdarg.h>
#include <stdio.h>

enum rt_status rt_error_set(struct rt_error *err, enum rt_status status, const char *format, ...)
{
	if (err) {
		va_list args;
		va_start(args, format);
		vsnprintf(err->message, sizeof err->message, format, args);
		va_end(args);
		err->status = status;
		err->told = false;
	}
	return status;
}

enum rt_status rt_error_context(struct rt_error *err, const char *format, ...)
{
	if (!err)
		return RT_EINPUT;
	char cause[sizeof err->message];
	snprintf(cause, sizeof cause, "%s", err->message);
	va_list args;
	va_start(args, format);
	int used = vsnprintf(err->message, sizeof err->message, format, args);
	va_end(args);
	if (used >= 0 && (size_t)used < sizeof err->message &&
	    snprintf(err->message + used, sizeof err->message - (size_t)used, ": %s", cause) < 0)
		err->message[used] = 0;
	return err->status;
}
