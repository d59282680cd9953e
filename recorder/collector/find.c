/* Finding a process by what it maps; see find.h. */
#include "recorder/collector/find.h"

#include "lib/base/vec.h"
#include "recorder/channel.h"
#include "recorder/confined.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Numbers ---- */

/* 0: /proc is of a namespace that this process is not in. Where it is not mounted, no number is of use. */
static pid_t own_in_proc(void)
{
	char text[32] = "";
	if (readlink("/proc/self", text, sizeof text - 1) > 0)
		return (pid_t)strtol(text, NULL, 10);
	return access("/proc/version", F_OK) == 0 ? 0 : getpid();
}

/* How many namespaces the process is in, from that of /proc down, and its number in the n-th of them (from 1). */
static size_t namespaces_of(pid_t in_proc, size_t n, pid_t *number)
{
	char name[64], status[RT_STATUS_MAX];
	snprintf(name, sizeof name, "/proc/%ld/status", (long)in_proc);
	FILE *f = fopen(name, "re");
	status[f ? fread(status, 1, sizeof status - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
	const char *at = rt_status_text(status, "NSpid:");
	size_t count = 0;
	for (; *at >= '0' && *at <= '9'; at += strspn(at, " \t")) {
		if (++count == n)
			*number = (pid_t)rt_status_number(at);
		at += strspn(at, "0123456789");
	}
	return count;
}

static ino_t namespace_of(pid_t in_proc)
{
	char name[64];
	struct stat st;
	snprintf(name, sizeof name, "/proc/%ld/ns/pid", (long)in_proc);
	return stat(name, &st) == 0 ? st.st_ino : 0;
}

pid_t process_number(pid_t in_proc)
{
	pid_t own = own_in_proc(), number = 0;
	if (own == getpid())
		return in_proc;
	size_t depth = own ? namespaces_of(own, 0, &number) : 0;
	return depth && namespaces_of(in_proc, depth, &number) >= depth ? number : 0;
}

pid_t process_in_proc(pid_t pid)
{
	pid_t own = own_in_proc(), found = 0;
	if (own == getpid() || !own)
		return own ? pid : 0;
	size_t depth = namespaces_of(own, 0, &found);
	ino_t namespace = namespace_of(own);
	DIR *processes = opendir("/proc");
	for (struct dirent *d; processes && !found && (d = readdir(processes));) {
		pid_t in_proc = (pid_t)strtol(d->d_name, NULL, 10), number = 0;
		if (in_proc > 0 && namespaces_of(in_proc, depth, &number) == depth && number == pid &&
		    namespace_of(in_proc) == namespace)
			found = in_proc;
	}
	if (processes)
		closedir(processes);
	return found;
}

/* ---- Mappings ---- */

bool process_maps(pid_t in_proc, const struct mapping *m, bool *known)
{
	char name[64], line[512];
	bool found = false;
	snprintf(name, sizeof name, "/proc/%ld/maps", (long)in_proc);
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
static uint64_t began(pid_t in_proc)
{
	enum { FIELD = 22, FIRST_BEHIND_NAME = 3 };
	char name[64], text[1024];
	snprintf(name, sizeof name, "/proc/%ld/stat", (long)in_proc);
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
	pid_t found = 0, own = own_in_proc();
	for (struct dirent *d; processes && !found && (d = readdir(processes));) {
		bool known;
		pid_t in_proc = (pid_t)strtol(d->d_name, NULL, 10);
		if (in_proc > 0 && in_proc != own && process_maps(in_proc, m, &known))
			found = in_proc;
	}
	if (processes)
		closedir(processes);
	return found;
}

pid_t process_find(pid_t told, const struct mapping *m)
{
	bool known = true;
	pid_t own = own_in_proc(), in_proc = process_in_proc(told);
	if (in_proc != own && process_maps(in_proc, m, &known)) /* the caller has the number in another namespace too */
		return in_proc;
	pid_t found = search(m);
	if (found || known)
		return found;
	return began(in_proc) >= began(own) ? in_proc : 0;
}

char **process_command(pid_t pid)
{
	char name[64], *word = NULL, **command = NULL;
	size_t size = 0, n = 0, room = 0;
	snprintf(name, sizeof name, "/proc/%ld/cmdline", (long)pid);
	FILE *f = fopen(name, "re");
	while (f && getdelim(&word, &size, '\0', f) > 0) {
		if (!vec_reserve(&command, &room, n + 2, sizeof *command))
			break;
		if (!(command[n] = strdup(word)))
			break;
		command[++n] = NULL;
	}
	free(word);
	if (f)
		fclose(f);
	return command;
}

void process_command_free(char **command)
{
	for (char **word = command; word && *word; word++)
		free(*word);
	free(command);
}
