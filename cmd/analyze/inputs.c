/* Traces and folders of traces; see inputs.h. */
#include "cmd/analyze/inputs.h"

#include "cmd/analyze/cache.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "trace.zst", "trace.zst.4711", "trace.zst.4711.1" */
static int is_trace(const struct dirent *entry)
{
	static const char *const suffixes[] = {".zst", ".std", ".stdv", ".jsonl"};
	size_t length = strlen(entry->d_name);
	while (length && strchr("0123456789.", entry->d_name[length - 1]))
		length--;
	if (entry->d_name[length] != '\0' && entry->d_name[length] != '.')
		length = strlen(entry->d_name);
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (entry->d_name[0] != '.' && rt_text_ends_in(entry->d_name, length, suffixes[i]))
			return 1;
	return 0;
}

/* Takes the path. */
static enum rt_status add(struct cmd_inputs *in, char *path, struct rt_error *err)
{
	if (path && vec_reserve(&in->paths, &in->room, (uint64_t)in->count + 1, sizeof *in->paths)) {
		in->paths[in->count++] = path;
		return RT_OK;
	}
	free(path);
	return rt_error_set(err, RT_EMEMORY, "no memory for the names of traces");
}

static enum rt_status add_folder(struct cmd_inputs *in, const char *folder, struct rt_error *err)
{
	struct dirent **entries;
	enum rt_status status = RT_OK;
	size_t before = in->count;
	int n = scandir(folder, &entries, is_trace, versionsort);
	if (n < 0)
		return rt_error_set(err, RT_EINPUT, "cannot read the folder '%s': %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path = NULL;
		struct stat st;
		if (!status && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			path = NULL;
		if (!status && path && (stat(path, &st) != 0 || !S_ISREG(st.st_mode)))
			free(path);
		else if (!status)
			status = add(in, path, err);
		free(entries[i]);
	}
	free(entries);
	if (!status && in->count == before)
		return rt_error_set(err, RT_EINPUT, "there is no trace in the folder '%s': .zst, .std or .jsonl",
		                    folder);
	return status;
}

/* True of TRACE.cache behind its TRACE: a shell's pattern like "trace.zst.*" has it, too. */
static bool is_cache(const struct cmd_inputs *in, const char *path)
{
	static const char suffix[] = ".cache";
	size_t length = strlen(path), n = length - (sizeof suffix - 1);
	if (!rt_text_ends_in(path, length, suffix) || !part_is(path))
		return false;
	for (size_t i = 0; i < in->count; i++)
		if (strlen(in->paths[i]) == n && !memcmp(in->paths[i], path, n))
			return true;
	return false;
}

enum rt_status cmd_inputs_add(struct cmd_inputs *in, const char *path, struct rt_error *err)
{
	struct stat st;
	if (is_cache(in, path))
		return RT_OK;
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		in->folder = true;
		return add_folder(in, path, err);
	}
	return add(in, strdup(path), err);
}

void cmd_inputs_release(struct cmd_inputs *in)
{
	for (size_t i = 0; i < in->count; i++)
		free(in->paths[i]);
	free(in->paths);
	*in = (struct cmd_inputs){0};
}
