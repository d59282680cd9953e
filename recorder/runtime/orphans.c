/*
 * Processes that a child has left behind. They may still pass on what this process tells them, though no child is left
 * that it could wait for. A process is taken for one if it began after this one, and its environment tells that it is
 * of the tree, or it is of the process group and has no parent there.
 */
#include "recorder/runtime/children.h"

#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"

#include <fcntl.h>

struct status {
	char state;
	uint64_t number, parent, group, began;
};

static const char *file_of(char *to, const char *process, const char *file)
{
	rt_append_text(rt_append_text(rt_append_text(to, "/proc/"), process), file);
	return to;
}

static uint64_t number_at(const char *p)
{
	uint64_t n = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	return n;
}

/* The words of a process's status are counted from 1 in proc(5); the second one ends with the last parenthesis. */
static bool status_of(const char *process, struct status *to)
{
	enum { STATE = 3, PARENT = 4, GROUP = 5, BEGAN = 22 };
	char name[64], text[1024];
	const char *p = text;

	if (!rt_read_file(file_of(name, process, "/stat"), text, sizeof text))
		return false;
	for (const char *q = text; *q; q++)
		p = *q == ')' ? q : p;
	*to = (struct status){.number = number_at(text)};
	for (int word = STATE; *p && word <= BEGAN; p++)
		if (p[0] == ' ') {
			to->state = word == STATE ? p[1] : to->state;
			to->parent = word == PARENT ? number_at(p + 1) : to->parent;
			to->group = word == GROUP ? number_at(p + 1) : to->group;
			to->began = word == BEGAN ? number_at(p + 1) : to->began;
			word++;
		}
	return to->began != 0;
}

/* True if its environment names the collector of this recording, wherever a part that is read at once ends. */
static bool is_of_the_tree(const char *process)
{
	static const char variable[] = RT_CHANNEL_ENV "="; /* "FD:PID:" or "@FD:PID:" */
	char name[64], text[4096];
	uint64_t number = 0;
	size_t same = 0;
	long n = 0;
	unsigned colons = 0;
	int fd = (int)RT_SYSCALL(SYS_openat, AT_FDCWD, file_of(name, process, "/environ"), O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && colons < 2 && (n = RT_SYSCALL(SYS_read, fd, text, sizeof text)) > 0)
		for (long i = 0; i < n && colons < 2; i++) {
			if (!variable[same] && text[i] == ':')
				number = colons++ ? number : 0;
			else if (!variable[same])
				number = number * 10 + (uint64_t)(text[i] - '0');
			else
				same = text[i] == variable[same] ? same + 1 : text[i] == variable[0];
		}
	if (fd >= 0)
		RT_SYSCALL(SYS_close, fd);
	return colons == 2 && number == (uint64_t)rt_channel->collector_pid;
}

struct search {
	struct status own;
	uint64_t after; /* orphans have numbers above this */
};

/*
 * True if some older process of the group started it. An orphan's parent is the first of all processes, or one that is
 * of another group.
 */
static bool is_of_an_older(struct status is, const struct status *own)
{
	enum { DEPTH_MAX = 64, FIRST_PROCESS = 1 };
	char number[24];

	for (int i = 0; i < DEPTH_MAX && is.parent > FIRST_PROCESS; i++) {
		rt_append_number(number, is.parent);
		if (!status_of(number, &is) || is.group != own->group)
			return false;
		if (is.began < own->began)
			return true;
	}
	return false;
}

static bool is_no_orphan(const char *process, const void *search)
{
	const struct search *s = search;
	struct status is;

	if (number_at(process) <= s->after || number_at(process) == s->own.number || !status_of(process, &is) ||
	    is.state == 'Z' || is.began < s->own.began)
		return true;
	return !is_of_the_tree(process) && (is.group != s->own.group || is_of_an_older(is, &s->own));
}

/* The number that was given out last is the last word there. If it is below our own, they have begun again. */
static uint64_t numbers_before(uint64_t own)
{
	char text[128];
	const char *last = text;

	if (!rt_read_file("/proc/loadavg", text, sizeof text))
		return 0;
	for (const char *p = text; *p; p++)
		last = *p == ' ' ? p + 1 : last;
	return number_at(last) > own ? own : 0;
}

bool rt_orphans_live(void)
{
	struct search s = {.after = numbers_before((uint64_t)RT_SYSCALL(SYS_getpid))};

	return !status_of("self", &s.own) || !rt_each_entry("/proc", is_no_orphan, &s);
}
