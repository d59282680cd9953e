/*
 * Reads /proc/PID/maps. A module is a run of mappings of one file that begins with the file's first page; gaps between
 * its segments belong to it. Anonymous memory, devices and the kernel's own mappings are skipped: their code has no
 * source positions.
 */
#include "recorder/collector/maps.h"

#include "lib/base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool known(const struct modules *m, const struct module *new)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].start == new->start && !strcmp(m->items[i].path, new->path)) {
			if (m->items[i].end < new->end)
				m->items[i].end = new->end;
			m->items[i].code |= new->code;
			return true;
		}
	return false;
}

static enum rt_status add(struct modules *m, const struct module *new, struct rt_error *err)
{
	if (!new->path || known(m, new))
		return RT_OK;
	if (!vec_reserve(&m->items, &m->capacity, m->count + 1, sizeof *m->items))
		return rt_error_set(err, RT_EMEMORY, "no memory for the list of modules");
	m->items[m->count] = *new;
	m->items[m->count].path = strdup(new->path);
	if (!m->items[m->count].path)
		return rt_error_set(err, RT_EMEMORY, "no memory for the list of modules");
	m->count++;
	return RT_OK;
}

/* The path of a line of maps; NULL for anonymous and special mappings. Removes the kernel's suffix. */
static char *path_of(char *line)
{
	char *path = strchr(line, '/');
	if (!path)
		return NULL;
	path[strcspn(path, "\n")] = '\0';
	char *deleted = strstr(path, " (deleted)");
	if (deleted && deleted[strlen(" (deleted)")] == '\0')
		*deleted = '\0';
	return path;
}

enum rt_status modules_parse(struct modules *m, FILE *maps, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	struct module open = {0};
	char *open_path = NULL, *line = NULL;
	size_t size = 0;
	while (!status && getline(&line, &size, maps) > 0) {
		uint64_t start, end, offset;
		char rights[8];
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &start, &end, rights, &offset) != 4)
			continue;
		bool code = strchr(rights, 'x') != NULL;
		char *path = path_of(line);
		if (!path)
			continue;
		if (open_path && !strcmp(open_path, path) && offset != 0) {
			open.end = end;
			open.code |= code;
			continue;
		}
		status = add(m, &open, err);
		free(open_path);
		open_path = offset == 0 ? strdup(path) : NULL;
		open = (struct module){start, end, open_path, code};
	}
	if (!status)
		status = add(m, &open, err);
	free(open_path);
	free(line);
	return status;
}

enum rt_status modules_read(struct modules *m, pid_t pid, struct rt_error *err)
{
	char name[64];
	snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
	FILE *maps = fopen(name, "re");
	if (!maps)
		return rt_error_set(err, RT_ESYSTEM, "cannot open '%s': %s", name, strerror(errno));
	enum rt_status status = modules_parse(m, maps, err);
	fclose(maps);
	return status;
}

void modules_release(struct modules *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->items[i].path);
	free(m->items);
	*m = (struct modules){0};
}
