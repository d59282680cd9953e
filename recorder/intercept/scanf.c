/*
 * Formatted input: streams and strings. The headers give these functions' names to others, so none of them is included:
 * programs of C99 and later call __isoc99_scanf and its kind, of C23 __isoc23_scanf.
 */
#include "recorder/intercept/format.h"
#include "recorder/intercept/formats.h"
#include "recorder/intercept/stream.h"

typedef struct _IO_FILE FILE;
extern FILE *stdin;

/* After input: from a stream, or (NULL) from the string s. */
static void scanned(const FILE *f, const char *s, const char *format, va_list args, int n, uintptr_t pc)
{
	rt_stream_received(f, RT_STREAM_DESCRIPTOR, n >= 0, pc);
	rt_emit_string(RT_OP_READ, s, pc);
	rt_emit_string(RT_OP_READ, format, pc);
	if (rt_appending())
		rt_scanf_accesses(format, args, n, pc);
}

#define FORMAT const char *restrict format
#define SCANS(prefix)                                                                                                  \
	FORMATS(prefix##vscanf, prefix##scanf, (FORMAT), (format), rt_stream_asks(stdin, pc),                          \
	        scanned(stdin, NULL, format, copy, n, pc))                                                             \
	FORMATS(prefix##vfscanf, prefix##fscanf, (FILE *restrict f, FORMAT), (f, format), rt_stream_asks(f, pc),       \
	        scanned(f, NULL, format, copy, n, pc))                                                                 \
	FORMATS(prefix##vsscanf, prefix##sscanf, (const char *restrict s, FORMAT), (s, format), ,                      \
	        scanned(NULL, s, format, copy, n, pc))
SCANS()
SCANS(__isoc99_)
SCANS(__isoc23_)

static void wide_scanned(const FILE *f, const wchar_t *s, const wchar_t *format, va_list args, int n, uintptr_t pc)
{
	char narrow[RT_FORMAT_MAX];
	rt_stream_received(f, RT_STREAM_DESCRIPTOR, n >= 0, pc);
	rt_emit_wide(RT_OP_READ, s, pc);
	rt_emit_wide(RT_OP_READ, format, pc);
	if (rt_appending())
		rt_scanf_accesses(rt_narrow(format, narrow, sizeof narrow), args, n, pc);
}

#define WIDE_FORMAT const wchar_t *restrict format
#define WIDE_SCANS(prefix)                                                                                             \
	FORMATS(prefix##vwscanf, prefix##wscanf, (WIDE_FORMAT), (format), rt_stream_asks(stdin, pc),                   \
	        wide_scanned(stdin, NULL, format, copy, n, pc))                                                        \
	FORMATS(prefix##vfwscanf, prefix##fwscanf, (FILE *restrict f, WIDE_FORMAT), (f, format),                       \
	        rt_stream_asks(f, pc), wide_scanned(f, NULL, format, copy, n, pc))                                     \
	FORMATS(prefix##vswscanf, prefix##swscanf, (const wchar_t *restrict s, WIDE_FORMAT), (s, format), ,            \
	        wide_scanned(NULL, s, format, copy, n, pc))
WIDE_SCANS()
WIDE_SCANS(__isoc99_)
WIDE_SCANS(__isoc23_)
