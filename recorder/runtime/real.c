/*
 * The real functions behind the interposed ones. All are looked up before the program starts: dlsym is not safe in
 * signal handlers, and changes what the program's next dlerror() returns. A function that is missing then may come with
 * a library that is loaded later; it is looked up at its first call.
 */
#include "recorder/runtime/core.h"

#include <dlfcn.h>
#include <unistd.h>

extern struct rt_real_entry __start_rt_reals[] __attribute__((visibility("hidden")));
extern struct rt_real_entry __stop_rt_reals[] __attribute__((visibility("hidden")));

/*
 * glibc has two sets of pthread_cond functions on some architectures. dlsym finds the newer one, the default; before
 * glibc 2.25 RTLD_NEXT found the older. So the newer is looked up by its version.
 */
static void *find_next(const char *name)
{
	static const char cond[] = "pthread_cond_";
	void *f = NULL;
	size_t i = 0;
	while (cond[i] && cond[i] == name[i])
		i++;
	if (!cond[i])
		f = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return f ? f : dlsym(RTLD_NEXT, name);
}

static __attribute__((constructor(101))) void resolve_all(void)
{
	for (struct rt_real_entry *e = __start_rt_reals; e < __stop_rt_reals; e++)
		if (!__atomic_load_n(e->slot, __ATOMIC_RELAXED))
			__atomic_store_n(e->slot, find_next(e->name), __ATOMIC_RELAXED);
	dlerror();
}

/*
 * A library that a plugin brought along is not in the global scope, so RTLD_NEXT does not find it: for example a C
 * program whose plugin is in C++, which gets our operator new. These are the libraries that have what we interpose.
 */
static void *resolve_in_plugin(const char *name)
{
	static const char *const libraries[] = {"libstdc++.so.6",  "libc++abi.so.1", "libc++.so.1",
	                                        "libpthread.so.0", "librt.so.1",     "libdl.so.2",
	                                        "libgomp.so.1",    "libomp.so.5",    "libatomic.so.1"};
	void *(*open)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	int (*close)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	void *f = NULL;
	for (size_t i = 0; open && close && !f && i < sizeof libraries / sizeof *libraries; i++) {
		void *library = open(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (library) {
			f = dlsym(library, name);
			close(library);
		}
	}
	return f;
}

void *rt_find(void **slot, const char *name)
{
	void *f = find_next(name);
	if (!f)
		f = resolve_in_plugin(name);
	if (f)
		__atomic_store_n(slot, f, __ATOMIC_RELAXED);
	return f;
}

void *rt_resolve(void **slot, const char *name)
{
	void *f = rt_find(slot, name);
	if (!f) {
		rt_say("racetrace: a function that the program calls is in none of its libraries:");
		rt_say(name);
		_exit(127);
	}
	return f;
}
