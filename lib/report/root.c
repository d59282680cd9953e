/* The root of the sources; see root.h. */
#include "lib/report/root.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool has(const char *folder, const char *name)
{
	char path[PATH_MAX + 16];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

bool root_find(char path[PATH_MAX])
{
	char folder[PATH_MAX];
	if (!getcwd(path, PATH_MAX) || *path != '/')
		return false;
	memcpy(folder, path, strlen(path) + 1);
	for (char *end = folder + strlen(folder); end > folder; end = strrchr(folder, '/')) {
		*end = '\0';
		if (!has(folder, ".racetrace") && !has(folder, ".git"))
			continue;
		memcpy(path, folder, strlen(folder) + 1);
		return true;
	}
	return true;
}
