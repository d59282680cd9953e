/* Where reports go: to standard output or to files, each in a format of its own. */
#ifndef CMD_BASE_REPORTS_H
#define CMD_BASE_REPORTS_H

#include "cmd/base/output.h"
#include "lib/report/report.h"

#include <argp.h>

enum { CMD_REPORTS_MAX = 16 };

struct cmd_reports {
	const struct report_format *plain; /* --format without a file; NULL: by the file's name or its kind */
	struct cmd_report {
		const struct report_format *format; /* NULL until cmd_reports_open */
		const char *path;                   /* NULL: standard output */
		struct cmd_output out;
	} items[CMD_REPORTS_MAX];
	size_t count;
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
	bool automatic; /* --format=auto */
};

/* The options --format and --output, each as often as one likes, and --color; the input is a struct cmd_reports. */
extern const struct argp cmd_reports_argp;

/* Opens all outputs, standard output if no file was named. pipe: the format of what is neither a terminal nor named
 * after a format. On RT_OK they are ended by cmd_reports_close. */
enum rt_status cmd_reports_open(struct cmd_reports *o, const char *pipe, struct rt_error *err);
/* True if one is a file. */
bool cmd_reports_in_file(const struct cmd_reports *o);
/* True if one is in this format. */
bool cmd_reports_have(const struct cmd_reports *o, const char *format);

/* Name of a format among them that is of one trace only; NULL: none is. */
const char *cmd_reports_single(const struct cmd_reports *o);

/* Writes a report in one format. arg: the caller's. */
typedef enum rt_status cmd_reports_writer(const void *arg, const struct report_format *format, bool color, FILE *out,
                                          struct rt_error *err);
/* Writes each output; stops at the first error. */
enum rt_status cmd_reports_write(struct cmd_reports *o, cmd_reports_writer *write, const void *arg,
                                 struct rt_error *err);
/* A cmd_reports_writer of a struct report. */
enum rt_status cmd_report_write(const void *report, const struct report_format *format, bool color, FILE *out,
                                struct rt_error *err);
/* The same of a struct merge. */
enum rt_status cmd_merge_write(const void *merge, const struct report_format *format, bool color, FILE *out,
                               struct rt_error *err);
/* Ends the outputs. Files are kept only if status, the result of writing them, is RT_OK. Returns the first error. */
enum rt_status cmd_reports_close(struct cmd_reports *o, enum rt_status status, struct rt_error *err);

#endif
