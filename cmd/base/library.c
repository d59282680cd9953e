/*
 * Clang links its runtime into a program statically (GCC a shared one, which the recorder replaces). These flags leave
 * it out and link the recorder's library, which records nothing unless `racetrace record` runs the program.
 */
#include "cmd/base/library.h"

#include "cmd/base/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum rt_status library_own_path(char **path, struct rt_error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *executed = (const char *)getauxval(AT_EXECFN); /* where /proc is not mounted */
	if (n >= 0)
		self[n] = '\0';
	else if (!executed || !realpath(executed, self))
		return rt_error_set(err, RT_ESYSTEM, "cannot read '/proc/self/exe': %s", strerror(errno));
	*path = strdup(self);
	return *path ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for a path");
}

enum rt_status library_folder(bool controlled, char **folder, struct rt_error *err)
{
	char *self;
	enum rt_status status = library_own_path(&self, err);
	if (status)
		return status;
	for (int up = 0; up < 2 && strrchr(self, '/'); up++)
		*strrchr(self, '/') = '\0';
	if (asprintf(folder, "%s/lib/racetrace%s", self, controlled ? "/controlled" : "") < 0)
		status = rt_error_set(err, RT_EMEMORY, "no memory for a path");
	free(self);
	return status;
}

int library_print_cflags(void)
{
	/* By default Clang does not instrument the read of x++; the trace would not say that x was read. */
	puts("-g -fsanitize=thread -fno-sanitize-link-runtime -mllvm -tsan-instrument-read-before-write=1");
	return EXIT_CLEAN;
}

int library_print_libs(void)
{
	char *folder = NULL;
	struct rt_error err = {0};
	if (library_folder(false, &folder, &err))
		return cmd_fail(&err);
	printf("-L%s -l:libracetrace.so.1 -Wl,-rpath,%s\n", folder, folder);
	free(folder);
	return EXIT_CLEAN;
}
