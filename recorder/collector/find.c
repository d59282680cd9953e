/* Finding a process by what it maps; see find.h. */
#include "recorder/collector/find.h"

#include "recorder/channel.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool process_maps(pid_t pid, const struct mapping *m, bool *known)
{
	char name[64], line[512];
	bool found = false;
	snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
	FILE *maps = fopen(name, "re");
	*known = maps != NULL;
	while (maps && !found && fgets(line, sizeof line, maps)) {
		unsigned long long from, to, at, inode;
		found = sscanf(line, "%llx-%llx %*s %llx %*s %llu", &from, &to, &at, &inode) == 4 &&
		        inode == m->inode && at == (unsigned long long)m->offset &&
		        to - from > RT_TREE_PAGE; /* that page is all processes' */
	}
	if (maps)
		fclose(maps);
	return found;
}

/* Start time in clock ticks since the system's; 0 if unknown. */
static uint64_t began(pid_t pid)
{
	enum { FIELD = 22, FIRST_BEHIND_NAME = 3 };
	char name[64], text[1024];
	snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
	FILE *f = fopen(name, "re");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	char *at = strrchr(text, ')'); /* the program's name may contain anything */
	for (int field = FIRST_BEHIND_NAME - 1; at && field < FIELD; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/* The caller has the recorder's link itself. */
static pid_t search(const struct mapping *m)
{
	DIR *processes = opendir("/proc");
	pid_t found = 0;
	for (struct dirent *d; processes && !found && (d = readdir(processes));) {
		bool known;
		long pid = strtol(d->d_name, NULL, 10);
		if (pid > 0 && pid != getpid() && process_maps((pid_t)pid, m, &known))
			found = (pid_t)pid;
	}
	if (processes)
		closedir(processes);
	return found;
}

pid_t process_find(pid_t told, const struct mapping *m)
{
	bool known;
	if (process_maps(told, m, &known))
		return told;
	pid_t found = search(m);
	if (found || known)
		return found;
	return began(told) >= began(getpid()) ? told : 0;
}
