/*
 * Examines an executable file before it is run; refuses a program that cannot be recorded, naming the reason and how to
 * fix it.
 *
 * GCC links instrumented programs with the shared libtsan.so.N, which the recorder replaces. Clang (and GCC with
 * -static-libtsan) links the runtime into the program, where nothing can replace it.
 */
#include "recorder/collector/program.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define RECORDER_SONAME "libracetrace.so.1"
#define TSAN_PREFIX "libtsan.so."
#define TSAN_SONAME TSAN_PREFIX "2" /* since GCC 11 */

/* ---- Finding ---- */

/* 0 if path can be executed, otherwise the errno. */
static int executable(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) == 0 ? 0 : errno;
}

/* Searches PATH as execvp does: an entry that may not be executed does not end the search. */
static int search(const char *name, char **found)
{
	const char *path = getenv("PATH");
	int reason = ENOENT;
	if (!path)
		path = "/bin:/usr/bin";
	while (true) {
		int length = (int)strcspn(path, ":");
		if (asprintf(found, "%.*s%s%s", length, path, length ? "/" : "./", name) < 0) {
			*found = NULL;
			return ENOMEM;
		}
		int failure = executable(*found);
		if (!failure)
			return 0;
		free(*found);
		*found = NULL;
		if (failure == EACCES)
			reason = EACCES;
		if (!path[length])
			return reason;
		path += length + 1;
	}
}

enum rt_status program_find(const char *name, char **path, int *reason, struct rt_error *err)
{
	*path = NULL;
	if (strchr(name, '/')) {
		*reason = executable(name);
		if (!*reason && !(*path = strdup(name)))
			*reason = ENOMEM;
	} else {
		*reason = *name ? search(name, path) : ENOENT;
	}
	if (!*reason)
		return RT_OK;
	return rt_error_set(err, RT_ESYSTEM, "cannot execute '%s': %s", name, strerror(*reason));
}

/* ---- ELF ---- */

struct traits {
	bool interpreter; /* dynamically linked */
	bool runtime;     /* defines __tsan_init: has the runtime inside */
	bool calls;       /* calls __tsan_ functions of some library */
	bool addresses;   /* is built with AddressSanitizer */
	bool library;     /* has a name for those that are linked with it */
	char *soname;     /* the runtime that it is linked with */
};

static bool is_runtime(const char *soname)
{
	return !strncmp(soname, TSAN_PREFIX, strlen(TSAN_PREFIX)) || !strcmp(soname, RECORDER_SONAME);
}

static void look_at_needed(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, struct traits *t)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Dyn dyn;
	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		const char *name = dyn.d_tag == DT_NEEDED ? elf_strptr(elf, shdr->sh_link, dyn.d_un.d_val) : NULL;
		if (name && is_runtime(name) && !t->soname)
			t->soname = strdup(name);
		t->library |= dyn.d_tag == DT_SONAME;
	}
}

static void look_at_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, struct traits *t)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;
	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		t->addresses |= name && !strcmp(name, "__asan_init");
		if (!name || strncmp(name, "__tsan_", 7) != 0)
			continue;
		if (sym.st_shndx == SHN_UNDEF)
			t->calls = true;
		else if (!strcmp(name, "__tsan_init"))
			t->runtime = true;
	}
}

static void look(Elf *elf, struct traits *t)
{
	size_t n = 0;
	GElf_Phdr phdr;
	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_INTERP)
			t->interpreter = true;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		if (!gelf_getshdr(scn, &shdr))
			continue;
		if (shdr.sh_type == SHT_DYNAMIC)
			look_at_needed(elf, scn, &shdr, t);
		else if (shdr.sh_type == SHT_DYNSYM || shdr.sh_type == SHT_SYMTAB)
			look_at_symbols(elf, scn, &shdr, t);
	}
}

enum { MACHINE = EM_X86_64 };

/* Examines a file, unless it is not an ELF file. */
static bool look_at_file(const char *path, struct traits *t)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	if (is_elf)
		look(elf, t);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return is_elf;
}

char *library_runtime(char *const *names)
{
	for (; *names; names++) {
		struct traits t = {0};
		look_at_file(*names, &t);
		if (t.soname)
			return t.soname;
	}
	return strdup(TSAN_SONAME);
}

bool file_gains_rights(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 &&
	       (st.st_mode & (S_ISUID | S_ISGID) || getxattr(path, "security.capability", NULL, 0) > 0);
}

bool file_checks_addresses(const char *path)
{
	struct traits t = {0};
	look_at_file(path, &t);
	free(t.soname);
	return t.addresses;
}

bool file_is_plain(const char *path)
{
	struct traits t = {0};
	bool is_elf = look_at_file(path, &t);
	free(t.soname);
	return is_elf && !t.calls && !t.runtime;
}

/* A library of the program may be the instrumented one: asks the dynamic linker, which does not run the program
 * then. */
static void look_at_libraries(const char *path, struct traits *t)
{
	int out[2];
	if (pipe2(out, O_CLOEXEC) != 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
		if (dup2(out[1], STDOUT_FILENO) >= 0 && dup2(open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0)
			execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	FILE *list = fdopen(out[0], "r");
	char *line = NULL, name[256];
	size_t size = 0;
	while (list && getline(&line, &size, list) > 0)
		if (sscanf(line, " %255[^ \t\n]", name) == 1 && is_runtime(name) && !t->soname)
			t->soname = strdup(name);
	free(line);
	if (list)
		fclose(list);
	else
		close(out[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The dynamic linker ignores our recorder if execution gives the program additional rights. */
static bool gains_rights(const char *path, const struct stat *st)
{
	return ((st->st_mode & S_ISUID) && st->st_uid != getuid()) ||
	       ((st->st_mode & S_ISGID) && st->st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static enum rt_status judge(const char *path, struct traits *t, bool *sync_only, struct rt_error *err)
{
	bool allowed = *sync_only;
	*sync_only = false;
	if (t->runtime)
		return rt_error_set(err, RT_EINPUT,
		                    "'%s' has a runtime of ThreadSanitizer inside: build it with `racetrace --cflags` "
		                    "and `racetrace --libs` (Clang), or without -static-libtsan (GCC)",
		                    path);
	if (t->soname)
		return RT_OK;
	if (!t->interpreter && t->library)
		return rt_error_set(err, RT_EINPUT, "'%s' is a shared library, or the dynamic linker: name a program",
		                    path);
	if (!t->interpreter)
		return rt_error_set(err, RT_EINPUT, "'%s' is statically linked: link it dynamically%s", path,
		                    allowed ? "" : ", with gcc -fsanitize=thread");
	if (allowed) {
		*sync_only = true;
		t->soname = strdup(RECORDER_SONAME);
		return t->soname ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for a name");
	}
	return rt_error_set(err, RT_EINPUT,
	                    "'%s' is not instrumented: build it with gcc -fsanitize=thread, record "
	                    "--preload if it loads a library that is, or record --sync-only",
	                    path);
}

static enum rt_status inspect_elf(const char *path, Elf *elf, struct traits *t, bool *sync_only, struct rt_error *err)
{
	GElf_Ehdr ehdr;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) ||
	    (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN))
		return rt_error_set(err, RT_EINPUT, "'%s' is not an ELF executable: name a program", path);
	if (ehdr.e_ident[EI_CLASS] == ELFCLASS32)
		return rt_error_set(err, RT_EINPUT, "'%s' is a 32-bit program: build it for x86-64", path);
	if (ehdr.e_machine != MACHINE)
		return rt_error_set(err, RT_EINPUT, "'%s' is built for another kind of machine", path);
	look(elf, t);
	if (t->interpreter && !t->soname && !t->runtime) {
		if (t->calls)
			t->soname = strdup(RECORDER_SONAME);
		else
			look_at_libraries(path, t);
	}
	return judge(path, t, sync_only, err);
}

static bool is_static(const char *path)
{
	struct traits t = {0};
	bool is_elf = look_at_file(path, &t);
	free(t.soname);
	return is_elf && !t.interpreter;
}

enum { LINE = 256 }; /* of a script, as far as the kernel reads it */

/* A script is executed by its interpreter, which the program's first line names. */
static enum rt_status inspect_script(const char *path, char *line, struct traits *t, const bool *sync_only,
                                     struct rt_error *err)
{
	if (!*sync_only)
		return rt_error_set(err, RT_EINPUT, "'%s' is a script: record the instrumented program that it starts",
		                    path);
	char *name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	int reason = executable(name);
	if (reason)
		return rt_error_set(err, RT_EINPUT, "cannot execute '%s': its interpreter '%s': %s", path, name,
		                    strerror(reason));
	if (is_static(name))
		return rt_error_set(err, RT_EINPUT,
		                    "the interpreter '%s' of '%s' is statically linked: link it dynamically", name,
		                    path);
	t->soname = strdup(RECORDER_SONAME);
	return t->soname ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for a name");
}

static enum rt_status inspect_file(const char *path, int fd, struct traits *t, bool *sync_only, struct rt_error *err)
{
	char line[LINE + 1] = "";
	struct stat st;
	if (fstat(fd, &st) != 0 || pread(fd, line, LINE, 0) < 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot read '%s': %s", path, strerror(errno));
	if (line[0] == '#' && line[1] == '!')
		return inspect_script(path, line, t, sync_only, err);
	if (gains_rights(path, &st))
		return rt_error_set(err, RT_EINPUT,
		                    "'%s' runs with another user's rights (setuid): record a copy without", path);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	enum rt_status status = inspect_elf(path, elf, t, sync_only, err);
	elf_end(elf);
	return status;
}

enum rt_status program_inspect(const char *path, char **soname, bool *sync_only, struct rt_error *err)
{
	struct traits traits = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot open '%s': %s", path, strerror(errno));
	enum rt_status status = inspect_file(path, fd, &traits, sync_only, err);
	close(fd);
	if (status) {
		free(traits.soname);
		traits.soname = NULL;
	}
	*soname = traits.soname;
	return status;
}
