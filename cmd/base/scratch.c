/* See scratch.h. */
#include "cmd/base/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rt_status scratch_make(char folder[SCRATCH_MAX], struct rt_error *err)
{
	const char *where = getenv("TMPDIR");
	snprintf(folder, SCRATCH_MAX, "%.180s/racetrace-XXXXXX", where && *where ? where : "/tmp");
	if (mkdtemp(folder))
		return RT_OK;
	enum rt_status status = rt_error_set(err, RT_ESYSTEM, "cannot make a folder '%s': %s", folder, strerror(errno));
	folder[0] = '\0';
	return status;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void scratch_remove(const char *folder)
{
	if (folder[0])
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
