/* Files by their names, and their attributes. Functions that make descriptors or move data are in io.c and stdio.c. */
#include "recorder/intercept/call.h"
#include "recorder/intercept/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

/* What files there are, and of what kind: found by name, or changed. */
#define SEES(name, parameters, arguments) CALL(int, name, parameters, arguments, STR(path), rt_name_seen(path, pc))
#define CHANGES_FILE(name, parameters, arguments)                                                                      \
	CALL(int, name, parameters, arguments, STR(path); rt_name_changes(path, pc), rt_name_seen(path, pc))
#define SEEN(is)                                                                                                       \
	rt_name_seen(path, pc);                                                                                        \
	if (r == 0 && S_ISREG((is)->st_mode))                                                                          \
	rt_fd_file_seen((is)->st_dev, (is)->st_ino, pc)
SEES(access, (const char *path, int mode), (path, mode))
SEES(euidaccess, (const char *path, int mode), (path, mode))
SEES(eaccess, (const char *path, int mode), (path, mode))
SEES(faccessat, (int folder, const char *path, int mode, int flags), (folder, path, mode, flags))
CHANGES_FILE(unlink, (const char *path), (path))
CHANGES_FILE(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
CHANGES_FILE(remove, (const char *path), (path))
CHANGES_FILE(rmdir, (const char *path), (path))
CHANGES_FILE(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGES_FILE(mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
CHANGES_FILE(mkfifo, (const char *path, mode_t mode), (path, mode))
CHANGES_FILE(mkfifoat, (int folder, const char *path, mode_t mode), (folder, path, mode))
CHANGES_FILE(mknod, (const char *path, mode_t mode, dev_t device), (path, mode, device))
CHANGES_FILE(mknodat, (int folder, const char *path, mode_t mode, dev_t device), (folder, path, mode, device))
SEES(chdir, (const char *path), (path))
SEES(chroot, (const char *path), (path))
CHANGES_FILE(chmod, (const char *path, mode_t mode), (path, mode))
CHANGES_FILE(fchmodat, (int folder, const char *path, mode_t mode, int flags), (folder, path, mode, flags))
CHANGES_FILE(chown, (const char *path, uid_t user, gid_t group), (path, user, group))
CHANGES_FILE(lchown, (const char *path, uid_t user, gid_t group), (path, user, group))
CHANGES_FILE(fchownat, (int folder, const char *path, uid_t user, gid_t group, int flags),
             (folder, path, user, group, flags))
CHANGES_FILE(truncate, (const char *path, off_t size), (path, size))
CHANGES_FILE(truncate64, (const char *path, off64_t size), (path, size))
CALL(int, removexattr, (const char *path, const char *name), (path, name), STR(path); STR(name), )
CALL(int, lremovexattr, (const char *path, const char *name), (path, name), STR(path); STR(name), )
CALL(int, fremovexattr, (int fd, const char *name), (fd, name), STR(name), )
CHANGES_FILE(lchmod, (const char *path, mode_t mode), (path, mode))
CHANGES_FILE(lutimes, (const char *path, const struct timeval times[2]), (path, times))
CALL(ssize_t, getdents64, (int fd, void *to, size_t size), (fd, to, size), , if (r > 0) OUT_N(to, r))
CALL(ssize_t, getdirentries, (int fd, char *restrict to, size_t size, off_t *restrict at), (fd, to, size, at), ,
     WHEN(r >= 0, OUT_N(to, r); OUT(at)))
CALL(key_t, ftok, (const char *path, int project), (path, project), STR(path), )
CALL(long, pathconf, (const char *path, int name), (path, name), STR(path), )
#define PATHS(name, parameters, arguments)                                                                             \
	CALL(int, name, parameters, arguments, STR(old); STR(new); rt_name_changes(old, pc);                           \
	     rt_name_changes(new, pc), rt_name_seen(new, pc))
PATHS(rename, (const char *old, const char *new), (old, new))
PATHS(renameat, (int folder, const char *old, int other, const char *new), (folder, old, other, new))
PATHS(renameat2, (int folder, const char *old, int other, const char *new, unsigned flags),
      (folder, old, other, new, flags))
PATHS(link, (const char *old, const char *new), (old, new))
PATHS(linkat, (int folder, const char *old, int other, const char *new, int flags), (folder, old, other, new, flags))
PATHS(symlink, (const char *old, const char *new), (old, new))
PATHS(symlinkat, (const char *old, int folder, const char *new), (old, folder, new))

#define STAT(name, type)                                                                                               \
	CALL(int, name, (const char *restrict path, type *restrict to), (path, to), STR(path), SEEN(to);               \
	     if (r == 0) OUT(to))
#define FSTAT(name, type)                                                                                              \
	CALL(int, name, (int fd, type *restrict to), (fd, to), , rt_fd_looked(fd, r, pc); if (r == 0) OUT(to))
#define STATFS(name, type)                                                                                             \
	CALL(int, name, (const char *restrict path, type *restrict to), (path, to), STR(path), if (r == 0) OUT(to))
#define FSTATFS(name, type) CALL(int, name, (int fd, type *restrict to), (fd, to), , if (r == 0) OUT(to))
STAT(stat, struct stat)
STAT(lstat, struct stat)
STAT(stat64, struct stat64)
STAT(lstat64, struct stat64)
STATFS(statfs, struct statfs)
STATFS(statfs64, struct statfs64)
STATFS(statvfs, struct statvfs)
STATFS(statvfs64, struct statvfs64)
FSTAT(fstat, struct stat)
FSTAT(fstat64, struct stat64)
FSTATFS(fstatfs, struct statfs)
FSTATFS(fstatfs64, struct statfs64)
FSTATFS(fstatvfs, struct statvfs)
FSTATFS(fstatvfs64, struct statvfs64)
CALL(int, fstatat, (int folder, const char *restrict path, struct stat *restrict to, int flags),
     (folder, path, to, flags), STR(path), SEEN(to);
     if (r == 0) OUT(to))
CALL(int, fstatat64, (int folder, const char *restrict path, struct stat64 *restrict to, int flags),
     (folder, path, to, flags), STR(path), SEEN(to);
     if (r == 0) OUT(to))
CALL(int, statx, (int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict to),
     (folder, path, flags, mask, to), STR(path), rt_name_seen(path, pc);
     if (r == 0) OUT(to))
/* What programs that were built with an older library call for these. */
#define OLD_STAT(name, type)                                                                                           \
	CALL(int, name, (int version, const char *path, type *to), (version, path, to), STR(path), SEEN(to);           \
	     if (r == 0) OUT(to))
#define OLD_FSTAT(name, type)                                                                                          \
	CALL(int, name, (int version, int fd, type *to), (version, fd, to), , rt_fd_looked(fd, r, pc);                 \
	     if (r == 0) OUT(to))
OLD_STAT(__xstat, struct stat)
OLD_STAT(__lxstat, struct stat)
OLD_STAT(__xstat64, struct stat64)
OLD_STAT(__lxstat64, struct stat64)
OLD_FSTAT(__fxstat, struct stat)
OLD_FSTAT(__fxstat64, struct stat64)

CALL(ssize_t, readlink, (const char *restrict path, char *restrict to, size_t size), (path, to, size), STR(path),
     if (r > 0) OUT_N(to, r))
CALL(ssize_t, readlinkat, (int folder, const char *restrict path, char *restrict to, size_t size),
     (folder, path, to, size), STR(path), if (r > 0) OUT_N(to, r))
CALL(char *, realpath, (const char *restrict path, char *restrict to), (path, to), STR(path),
     if (r && r == to) OUT_STR(to))
CALL(char *, canonicalize_file_name, (const char *path), (path), STR(path), )
CALL(char *, getcwd, (char *to, size_t size), (to, size), , if (r) OUT_STR(to))
CALL(char *, getwd, (char *to), (to), , if (r) OUT_STR(to))
CALL(int, utime, (const char *path, const struct utimbuf *times), (path, times), STR(path); IN(times);
     rt_name_changes(path, pc), )
CALL(int, utimes, (const char *path, const struct timeval times[2]), (path, times), STR(path);
     IN_N(times, 2 * sizeof *times); rt_name_changes(path, pc), )
CALL(int, futimes, (int fd, const struct timeval times[2]), (fd, times), IN_N(times, 2 * sizeof *times), )
CALL(int, futimens, (int fd, const struct timespec times[2]), (fd, times), IN_N(times, 2 * sizeof *times), )
CALL(int, utimensat, (int folder, const char *path, const struct timespec times[2], int flags),
     (folder, path, times, flags), STR(path);
     IN_N(times, 2 * sizeof *times); rt_name_changes(path, pc), )

/* A name is made up in the caller's memory; tmpnam's in static memory if the caller has none. */
#define MAKES(name, parameters, arguments)                                                                             \
	CALL(int, name, parameters, arguments, STR(pattern), rt_fd_opened(r); if (r >= 0) OUT_STR(pattern))
MAKES(mkstemp, (char *pattern), (pattern))
MAKES(mkstemp64, (char *pattern), (pattern))
MAKES(mkostemp, (char *pattern, int flags), (pattern, flags))
MAKES(mkostemp64, (char *pattern, int flags), (pattern, flags))
MAKES(mkstemps, (char *pattern, int length), (pattern, length))
MAKES(mkstemps64, (char *pattern, int length), (pattern, length))
MAKES(mkostemps, (char *pattern, int length, int flags), (pattern, length, flags))
MAKES(mkostemps64, (char *pattern, int length, int flags), (pattern, length, flags))
CALL(char *, mkdtemp, (char *pattern), (pattern), STR(pattern), if (r) OUT_STR(pattern))
CALL(char *, mktemp, (char *pattern), (pattern), STR(pattern), if (r) OUT_STR(pattern))
CALL(char *, tmpnam, (char to[L_tmpnam]), (to), , RESULT_STR)
CALL(char *, tmpnam_r, (char to[L_tmpnam]), (to), , RESULT_STR)
CALL(char *, tempnam, (const char *folder, const char *prefix), (folder, prefix), STR(folder); STR(prefix);
     USES(environ), )

/* Folders: what readdir returns is written again by the next one of the same folder. */
CALL(DIR *, opendir, (const char *path), (path), STR(path); HEAP, rt_name_seen(path, pc))
CALL(struct dirent *, readdir, (DIR * folder), (folder), IN_N(folder, 1), if (r) OUT_N(r, r->d_reclen))
CALL(struct dirent64 *, readdir64, (DIR * folder), (folder), IN_N(folder, 1), if (r) OUT_N(r, r->d_reclen))
CALL(int, closedir, (DIR * folder), (folder), OUT_N(folder, 1); HEAP, )
CALL(int, readdir_r, (DIR *restrict folder, struct dirent *restrict entry, struct dirent **restrict to),
     (folder, entry, to), , WHEN(r == 0, OUT(to); if (*to) OUT_N(entry, entry->d_reclen)))
CALL(int, readdir64_r, (DIR *restrict folder, struct dirent64 *restrict entry, struct dirent64 **restrict to),
     (folder, entry, to), , WHEN(r == 0, OUT(to); if (*to) OUT_N(entry, entry->d_reclen)))
CALL(int, scandir,
     (const char *restrict path, struct dirent ***restrict to, int (*choose)(const struct dirent *),
      int (*compare)(const struct dirent **, const struct dirent **)),
     (path, to, choose, compare), STR(path), if (r >= 0) OUT(to))
CALL(int, scandir64,
     (const char *restrict path, struct dirent64 ***restrict to, int (*choose)(const struct dirent64 *),
      int (*compare)(const struct dirent64 **, const struct dirent64 **)),
     (path, to, choose, compare), STR(path), if (r >= 0) OUT(to))
CALL(struct mntent *, getmntent, (FILE * f), (f), , RESULT)
CALL(struct mntent *, getmntent_r, (FILE *restrict f, struct mntent *restrict to, char *restrict text, int size),
     (f, to, text, size), , WHEN(r, OUT(to); OUT_STR(to->mnt_fsname)))
CALL(char *, hasmntopt, (const struct mntent *entry, const char *option), (entry, option), IN(entry); STR(option), )

/* Extended attributes */
#define GETXATTR(name, type, path, read)                                                                               \
	CALL(ssize_t, name, (type path, const char *attribute, void *to, size_t size), (path, attribute, to, size),    \
	     read;                                                                                                     \
	     STR(attribute), if (r > 0 && size) OUT_N(to, r))
GETXATTR(getxattr, const char *, path, STR(path))
GETXATTR(lgetxattr, const char *, path, STR(path))
GETXATTR(fgetxattr, int, fd, )
#define LISTXATTR(name, type, path, read)                                                                              \
	CALL(ssize_t, name, (type path, char *to, size_t size), (path, to, size), read, if (r > 0 && size) OUT_N(to, r))
LISTXATTR(listxattr, const char *, path, STR(path))
LISTXATTR(llistxattr, const char *, path, STR(path))
LISTXATTR(flistxattr, int, fd, )
#define SETXATTR(name, type, path, read)                                                                               \
	CALL(int, name, (type path, const char *attribute, const void *from, size_t size, int flags),                  \
	     (path, attribute, from, size, flags), read;                                                               \
	     STR(attribute); IN_N(from, size), )
SETXATTR(setxattr, const char *, path, STR(path))
SETXATTR(lsetxattr, const char *, path, STR(path))
SETXATTR(fsetxattr, int, fd, )
CALL(int, name_to_handle_at, (int folder, const char *path, struct file_handle *to, int *mount, int flags),
     (folder, path, to, mount, flags), STR(path);
     IN(to), WHEN(r == 0, OUT_N(to, sizeof *to + to->handle_bytes); OUT(mount)))
