/* Descendants, by /proc; see descendants.h. */
#include "cmd/try/descendants.h"

#include "lib/base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
	pid_t pid;
	struct process_state is;
	bool mine;
};

/* "PID (any name) state parent", ten more, time in the program, time in the kernel. */
bool process_look(const char *pid, struct process_state *to)
{
	char path[64], text[512];
	unsigned long user = 0, system = 0;
	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *name_end = strrchr(text, ')');
	if (!name_end || sscanf(name_end + 1, " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu", &to->state,
	                        &to->parent, &user, &system) < 2)
		return false;
	to->ticks = user + system;
	return true;
}

static struct process *list_processes(size_t *count)
{
	DIR *folder = opendir("/proc");
	struct process *list = NULL;
	size_t capacity = 0;
	*count = 0;
	for (struct dirent *d; folder && (d = readdir(folder));) {
		struct process p = {.pid = (pid_t)atol(d->d_name)};
		if (p.pid <= 0 || !process_look(d->d_name, &p.is) || p.is.state == 'Z' || !p.is.parent)
			continue;
		if (!vec_reserve(&list, &capacity, *count + 1, sizeof *list))
			break;
		list[(*count)++] = p;
	}
	if (folder)
		closedir(folder);
	return list;
}

/* The same; those that are descendants are marked. */
static struct process *list_mine(size_t *count)
{
	struct process *list = list_processes(count);
	size_t n = *count;
	pid_t self = getpid();
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			bool mine = list[i].is.parent == self;
			for (size_t k = 0; k < n && !mine; k++)
				mine = list[k].mine && list[k].pid == list[i].is.parent;
			more |= mine && !list[i].mine;
			list[i].mine |= mine;
		}
	}
	return list;
}

void descendants_kill(pid_t but)
{
	size_t n;
	struct process *list = list_mine(&n);
	for (size_t i = 0; i < n; i++)
		if (list[i].mine && list[i].pid != but)
			kill(list[i].pid, SIGKILL);
	free(list);
}

uint64_t descendants_ticks(pid_t but)
{
	size_t n;
	uint64_t ticks = 0;
	struct process *list = list_mine(&n);
	for (size_t i = 0; i < n; i++)
		ticks += list[i].mine && list[i].pid != but ? list[i].is.ticks : 0;
	free(list);
	return ticks;
}
