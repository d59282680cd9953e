/*
 * Modules that come and go while the program runs. The collector reads the memory map while the module is there.
 *
 * dlopen looks at its caller: a bare name is searched for in the caller's RUNPATH, and $ORIGIN means the caller's
 * folder. Called from here the caller would be the recorder, so where that could matter the search is done first, on
 * the caller's behalf.
 *
 * glibc does one of these calls at a time, constructors and destructors included, whichever thread makes it. So one
 * that finds the module loaded comes after its constructors. Destructors come after all uses by threads that have
 * closed it. A lock around glibc's own says so. It orders, and is no mere lock: the calls in another order would do
 * other things.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

RT_INTERPOSE(void *, dlopen, (const char *file, int flags));
RT_INTERPOSE(int, dlclose, (void *handle));

static struct link_map *module_of(uintptr_t pc)
{
	Dl_info info;
	struct link_map *map = NULL;
	if (!dladdr1((const void *)pc, &info, (void **)&map, RTLD_DL_LINKMAP))
		return NULL;
	return map;
}

static bool has_search_path(const struct link_map *map)
{
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_RUNPATH || d->d_tag == DT_RPATH)
			return true;
	return false;
}

static bool contains(const char *s, char c)
{
	for (; *s; s++)
		if (*s == c)
			return true;
	return false;
}

/* Writes "a/b", or "ab" without the slash; false if it is too long. */
static bool join(char out[PATH_MAX], const char *a, size_t a_length, const char *slash, const char *b)
{
	size_t n = 0, b_length = rt_length(b);
	if (a_length + b_length + 2 > PATH_MAX)
		return false;
	for (size_t i = 0; i < a_length; i++)
		out[n++] = a[i];
	if (*slash)
		out[n++] = '/';
	for (size_t i = 0; i <= b_length; i++)
		out[n++] = b[i];
	return true;
}

/* $ORIGIN/x or ${ORIGIN}/x, with the caller's folder in its place. */
static bool expand_origin(char out[PATH_MAX], const char *file, uintptr_t pc)
{
	static const char *const forms[] = {"$ORIGIN/", "${ORIGIN}/"};
	for (int f = 0; f < 2; f++) {
		size_t n = 0;
		while (forms[f][n] && forms[f][n] == file[n])
			n++;
		if (forms[f][n])
			continue;
		struct link_map *map = module_of(pc);
		char self[PATH_MAX];
		const char *name = map ? map->l_name : "";
		if (map && !*name) { /* the program itself */
			long got = RT_SYSCALL(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", self, sizeof self - 1);
			self[got > 0 ? got : 0] = 0;
			name = self;
		}
		size_t folder = rt_length(name);
		while (folder > 0 && name[folder - 1] != '/')
			folder--;
		return folder > 0 && join(out, name, folder - 1, "/", file + n);
	}
	return false;
}

struct search_path {
	Dl_serinfo head;
	Dl_serpath more[64];
	char text[6144];
};

/* Where the caller's own search finds a bare name; false: nowhere, or the recorder's would be the same. */
static bool search(char out[PATH_MAX], const char *file, uintptr_t pc)
{
	struct link_map *map = module_of(pc);
	if (!map || !has_search_path(map))
		return false;
	void *loaded = RT_REAL(dlopen)(file, RTLD_LAZY | RTLD_NOLOAD);
	if (loaded) {
		RT_REAL(dlclose)(loaded);
		return false;
	}
	struct search_path path;
	Dl_serinfo size;
	if (dlinfo(map, RTLD_DI_SERINFOSIZE, &size) != 0 || size.dls_size > sizeof path)
		return false;
	path.head.dls_size = size.dls_size;
	path.head.dls_cnt = size.dls_cnt;
	if (dlinfo(map, RTLD_DI_SERINFO, &path.head) != 0)
		return false;
	const Dl_serpath *folder = path.head.dls_serpath;
	for (unsigned i = 0; i < path.head.dls_cnt; i++)
		if (join(out, folder[i].dls_name, rt_length(folder[i].dls_name), "/", file) &&
		    RT_SYSCALL(SYS_faccessat, AT_FDCWD, out, R_OK) == 0)
			return true;
	return false;
}

static const char *path_for(char out[PATH_MAX], const char *file, uintptr_t pc)
{
	if (!file || !*file)
		return file;
	if (contains(file, '$'))
		return expand_origin(out, file, pc) ? out : file;
	if (!contains(file, '/'))
		return search(out, file, pc) ? out : file;
	return file;
}

uintptr_t rt_module_code(const struct dl_phdr_info *module, uintptr_t address, size_t *size)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		uintptr_t begin = module->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && address - begin < p->p_memsz) {
			*size = p->p_memsz;
			return begin;
		}
	}
	return 0;
}

struct rt_code rt_linker;

static bool is_libgcc(const char *path)
{
	static const char name[] = "libgcc_s.so";
	const char *file = rt_file_name(path);

	for (unsigned i = 0; name[i]; i++)
		if (file[i] != name[i])
			return false;
	return true;
}

/* The recorder is linked with libgcc, so that it is there from the start, as the dynamic linker is. */
static int find_module(struct dl_phdr_info *module, size_t size, void *unused)
{
	bool linker = module->dlpi_addr && module->dlpi_addr == getauxval(AT_BASE);

	(void)size, (void)unused;
	for (unsigned i = 0; (linker || is_libgcc(module->dlpi_name)) && i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			*(linker ? &rt_linker : &rt_inner[RT_INNER_LIBGCC]) =
			    (struct rt_code){module->dlpi_addr + p->p_vaddr, p->p_memsz};
	}
	return 0;
}

static __attribute__((constructor(101))) void find_modules(void)
{
	dl_iterate_phdr(find_module, NULL);
}

static int count_modules(struct dl_phdr_info *info, size_t size, void *loads_and_unloads)
{
	(void)size;
	unsigned long long *counts = loads_and_unloads;
	counts[0] = info->dlpi_adds;
	counts[1] = info->dlpi_subs;
	return 1;
}

static struct {
	_Atomic uint32_t word; /* futex: 0 free, 1 taken, 2 taken, and a thread may wait */
	const void *_Atomic owner;
	unsigned depth;
} order;

/* In a forked child: the thread inside may be another one. */
static void leave_forked(void)
{
	if (order.owner == &rt_thread)
		return;
	order.owner = NULL;
	order.depth = 0;
	atomic_store(&order.word, 0);
}
RT_CALL_AT(RT_AT_CHILD, leave_forked);

/* A constructor may open another module. */
static bool enter(void)
{
	uint32_t free = 0;
	if (!rt_recording())
		return false;
	if (order.owner != &rt_thread) {
		if (!atomic_compare_exchange_strong(&order.word, &free, 1))
			while (atomic_exchange(&order.word, 2) != 0)
				rt_futex_wait(&order.word, 2, 100);
		order.owner = &rt_thread;
	}
	order.depth++;
	rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)&order, 0, 0, 0);
	return true;
}

/* A cleanup function: what is called there may end the thread. */
static void leave(const bool *entered)
{
	if (!*entered)
		return;
	rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)&order, 0, 0, 0);
	if (--order.depth)
		return;
	order.owner = NULL;
	if (atomic_exchange(&order.word, 0) == 2)
		rt_futex_wake(&order.word, 1);
}
#define IN_ORDER bool entered __attribute__((cleanup(leave), unused)) = enter()

static uintptr_t base_of(void *handle)
{
	struct link_map *map = NULL;
	return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map ? (uintptr_t)map->l_addr : 0;
}

RT_DEFINE(void *, dlopen, (const char *file, int flags))
{
	char path[PATH_MAX];
	unsigned long long before[2], after[2];
	if (!rt_recording())
		return RT_REAL(dlopen)(path_for(path, file, RT_PC), flags);
	IN_ORDER;
	dl_iterate_phdr(count_modules, before);
	void *handle = RT_REAL(dlopen)(path_for(path, file, RT_PC), flags);
	dl_iterate_phdr(count_modules, after);
	if (handle && before[0] != after[0]) {
		rt_request_map();
		rt_emit_sync(RT_OP_MODULE_LOAD, base_of(handle), 0, RT_PC, 0);
	}
	return handle;
}

/* The map was read when the module came; what it brought along later is read now, while it is still there. */
RT_DEFINE(int, dlclose, (void *handle))
{
	unsigned long long before[2], after[2];
	if (!rt_recording())
		return RT_REAL(dlclose)(handle);
	IN_ORDER;
	uintptr_t base = base_of(handle);
	rt_request_map();
	dl_iterate_phdr(count_modules, before);
	int result = RT_REAL(dlclose)(handle);
	dl_iterate_phdr(count_modules, after);
	if (before[1] != after[1])
		rt_emit_sync(RT_OP_MODULE_UNLOAD, base, 0, RT_PC, 0);
	return result;
}
