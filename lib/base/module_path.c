/* Which loaded modules come with the system; see module_path.h. */
#include "lib/base/module_path.h"

#include <string.h>

const char *module_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Prefixes of names; a version may follow. */
static const char *const system_names[] = {
    "ld-linux",  "ld-musl",       "ld.so",       "libc.",      "libc-",       "libm.",        "libm-",
    "libmvec",   "libpthread",    "libdl.",      "libdl-",     "librt.",      "librt-",       "libutil.",
    "libutil-",  "libresolv",     "libnsl",      "libanl",     "libnss_",     "libthread_db", "libgcc_s",
    "libstdc++", "libc++",        "libunwind",   "libgomp",    "libomp",      "libatomic",    "libquadmath",
    "libtsan.",  "libracetrace.", "libgfortran", "libgphobos", "libgdruntime"};

bool module_is_system(const char *path)
{
	const char *name = module_name(path);
	for (size_t i = 0; i < sizeof system_names / sizeof *system_names; i++)
		if (!strncmp(name, system_names[i], strlen(system_names[i])))
			return true;
	return false;
}

bool module_is_recorder(const char *path)
{
	const char *name = module_name(path);
	return !strncmp(name, "libtsan.so.", 11) || !strncmp(name, "libracetrace.so.", 16);
}
