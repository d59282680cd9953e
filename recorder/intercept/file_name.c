/*
 * Names of files (fd.h). A name is known by its last part, as one file has many paths: as what is made, changed and
 * found, and as what is opened.
 */
#include "recorder/intercept/fd_object.h"
#include "recorder/intercept/sync.h"
#include "recorder/runtime/syscall.h"

#include <fcntl.h>
#include <sys/stat.h>

enum name_use { IS_CHANGED, IS_OPENED };
static uint64_t object_of_path(const char *path, enum name_use use)
{
	uint64_t hash = use, last = use;
	for (size_t i = 0; path[i]; i++) {
		hash = path[i] == '/' ? use : rt_object_mix(hash + (unsigned char)path[i] + 2);
		last = hash == use ? last : hash; /* a slash at the end is none */
	}
	return rt_fd_object_of(rt_object_mix(last));
}

void rt_name_changes(const char *path, uintptr_t pc)
{
	rt_fd_files_change(pc);
	if (path && rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, object_of_path(path, IS_CHANGED), 0, pc, 0);
	rt_children_told(pc);
}

void rt_name_seen(const char *path, uintptr_t pc)
{
	if (!path || !rt_recording())
		return;
	rt_emit_sync(RT_OP_HB_AFTER, object_of_path(path, IS_CHANGED), 0, pc, 0);
	rt_children_heard_by(AT_FDCWD, path, 0, pc); /* of another folder, it may be missed there: the same */
}

void rt_name_opens(const char *path, int flags, uintptr_t pc)
{
	if (flags & (O_CREAT | O_TRUNC))
		rt_name_changes(path, pc);
	else
		rt_fd_files_change(pc);
	if (path && rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, object_of_path(path, IS_OPENED), 0, pc, 0);
}

void rt_name_opened(const char *path, int fd, uintptr_t pc)
{
	struct stat is;
	rt_fd_opened(fd);
	rt_name_seen(path, pc);
	if (fd < 0 || !path || !rt_recording() || RT_SYSCALL(SYS_newfstatat, fd, "", &is, AT_EMPTY_PATH) != 0)
		return;
	if (S_ISFIFO(is.st_mode))
		rt_emit_sync(RT_OP_HB_AFTER, object_of_path(path, IS_OPENED), 0, pc, 0);
	if (S_ISCHR(is.st_mode))
		rt_fd_look_at_device(fd, &is);
}
