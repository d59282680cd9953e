#include "cmd/record/tool.h"

#include "cmd/base/library.h"
#include "recorder/collector/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Valgrind writes what it says in /proc/self/cmdline to a temporary file, and ends if it cannot. */
static enum rt_status check_temporary(struct rt_error *err)
{
	const char *folder = getenv("TMPDIR");
	char *name, page[4096] = "";
	folder = folder && *folder ? folder : "/tmp";
	if (asprintf(&name, "%s/racetrace.XXXXXX", folder) < 0)
		return rt_error_set(err, RT_EMEMORY, "no memory for a path");
	int fd = mkostemp(name, O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, page, sizeof page) == (ssize_t)sizeof page;
	int reason = errno;
	if (fd >= 0) {
		close(fd);
		unlink(name);
	}
	free(name);
	return ok ? RT_OK
	          : rt_error_set(err, RT_ESYSTEM,
	                         "Valgrind needs temporary files, and none can be written in '%s': %s: set TMPDIR",
	                         folder, strerror(reason));
}

enum rt_status tool_find(struct tool *t, const char *program, struct rt_error *err)
{
	char *folder = NULL;
	if (file_gains_rights(program))
		return rt_error_set(
		    err, RT_EINPUT,
		    "'%s' has a setuid or setgid bit or capabilities, with which Valgrind runs no program: "
		    "record a copy without",
		    program);
	if (file_checks_addresses(program))
		return rt_error_set(err, RT_EINPUT,
		                    "'%s' is built with -fsanitize=address, whose memory Valgrind has no room for: "
		                    "build it without, or with -fsanitize=thread instead",
		                    program);
	enum rt_status status = check_temporary(err);
	if (!status)
		status = library_folder(false, &folder, err);
	if (status)
		return status;
	int length = asprintf(&t->path, "%s/valgrind/racetrace-amd64-linux", folder);
	free(folder);
	if (length < 0) {
		t->path = NULL;
		return rt_error_set(err, RT_EMEMORY, "no memory for a path");
	}
	if (access(t->path, X_OK) == 0)
		return RT_OK;
	tool_release(t);
	return rt_error_set(err, RT_EINPUT,
	                    "'%s' is not instrumented: build it with gcc -fsanitize=thread, or build racetrace where "
	                    "Valgrind is installed, or record --preload if it loads a library that is, or record "
	                    "--sync-only",
	                    program);
}

/* Debian's valgrind is a script in front of it. */
static const char *find_launcher(void)
{
	static const char *const names[] = {"/usr/bin/valgrind.bin", "/usr/bin/valgrind", "/usr/local/bin/valgrind"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (access(names[i], X_OK) == 0 && file_is_plain(names[i]))
			return names[i];
	return NULL;
}

/* Of the command line, of which the tool's own part has n words. False: no memory. */
static bool tell_shell(struct tool *t, size_t n)
{
	int folder = (int)(strrchr(t->path, '/') - t->path);
	if (!t->launcher || strpbrk(t->path, "'\n"))
		return true;
	if (asprintf(&t->shell, "export VALGRIND_LIB='%.*s'; exec %s", folder, t->path, t->launcher) < 0) {
		t->shell = NULL;
		return false;
	}
	for (size_t i = 1; i < n; i++) {
		char *longer;
		if (asprintf(&longer, "%s %s", t->shell, t->argv[i]) < 0)
			return false;
		free(t->shell);
		t->shell = longer;
	}
	return true;
}

#define TEXT_OF_TOKEN(token) #token
#define TEXT_OF(macro) TEXT_OF_TOKEN(macro)

enum rt_status tool_prepare(struct tool *t, const struct tool_program *program, struct rt_error *err)
{
	/* Where threads take turns one may be stopped at each instruction, where all registers have to be up to date.
	 */
	static const char most[] = "--max-threads=" TEXT_OF(TOOL_THREADS);
	static const char *const options[] = {"--tool=racetrace",
	                                      "-q",
	                                      "--vgdb=no",
	                                      "--fair-sched=try",
	                                      most,
	                                      "--valgrind-stacksize=262144",
	                                      "--demangle=no",
	                                      "--sim-hints=lax-ioctls", /* what it warns of matters to memcheck */
	                                      "--px-default=allregs-at-each-insn",
	                                      "--px-file-backed=allregs-at-each-insn"};
	enum { OWN = sizeof options / sizeof *options, OF_TURNS = 2 };
	size_t argc = 0, n = 0;
	while (program->command[argc])
		argc++;
	t->launcher = find_launcher();
	t->argv = calloc(argc + OWN + 2, sizeof *t->argv);
	if (!t->argv)
		return rt_error_set(err, RT_EMEMORY, "no memory for a command line");
	t->argv[n++] = t->path;
	for (size_t i = 0; i < OWN - (program->turns ? 0 : OF_TURNS); i++)
		t->argv[n++] = (char *)(uintptr_t)options[i];
	if (!tell_shell(t, n))
		return rt_error_set(err, RT_EMEMORY, "no memory for a command line");
	t->argv[n++] = (char *)(uintptr_t)program->path;
	memcpy(t->argv + n, program->command + 1, argc * sizeof *t->argv);
	return RT_OK;
}

void tool_release(struct tool *t)
{
	free(t->path);
	free(t->argv);
	free(t->shell);
	*t = (struct tool){0};
}
