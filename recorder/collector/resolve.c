/*
 * Positions. A pc is a return address of a hook or of a call, so the byte before it, which belongs to the call, is
 * looked up. The line table gives its position; the chain of inlined calls around it gives the callers.
 */
#include "recorder/collector/resolve.h"

#include "lib/base/hash.h"
#include "recorder/collector/code_updates.h"
#include "recorder/collector/debug.h"
#include "recorder/collector/declared.h"
#include "recorder/collector/hidden.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/program.h"
#include "recorder/collector/types.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Strings are made once for each string of libdw's (which lives as long as the debug information). */
struct string {
	UT_hash_handle hh;
	const char *from;
	char *made;
};

struct resolver {
	struct debug debug;
	const struct modules *modules;
	struct hidden_cache *cache; /* borrowed; NULL: none */
	struct string *files, *functions;
	struct declared declared; /* by the functions of positions that were written */
	bool declares;            /* those of positions that are looked up are added */
	char *hidden;             /* names of functions */
};

enum rt_status resolver_create(const struct modules *modules, struct hidden_cache *cache, struct resolver **out,
                               struct rt_error *err)
{
	struct resolver *r = calloc(1, sizeof *r);
	if (!r)
		return rt_error_set(err, RT_EMEMORY, "no memory for source positions");
	r->modules = modules;
	r->cache = cache;
	enum rt_status status = debug_open(&r->debug, modules, err);
	if (status)
		resolver_free(r);
	else
		*out = r;
	return status;
}

static void free_strings(struct string **table)
{
	struct string *s, *next;
	HASH_ITER(hh, *table, s, next)
	{
		HASH_DEL(*table, s);
		free(s->made);
		free(s);
	}
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	declared_release(&r->declared);
	debug_release(&r->debug);
	free_strings(&r->files);
	free_strings(&r->functions);
	free(r->hidden);
	free(r);
}

/* ---- Names ---- */

static const struct string *find(const struct string *table, const char *from)
{
	struct string *s;
	HASH_FIND_PTR(table, &from, s);
	return s;
}

/* Takes `made` (NULL: no memory); returns it, or without memory the text that it was made from. */
static const char *keep(struct string **table, const char *from, char *made)
{
	struct string *s = made ? malloc(sizeof *s) : NULL;
	if (!s) {
		free(made);
		return from;
	}
	s->from = from;
	s->made = made;
	HASH_ADD_PTR(*table, from, s);
	if (HASH_ADDED(s))
		return made;
	free(made);
	free(s);
	return from;
}

/* Removes "." and "name/.." from a path, by its letters only: the file may be gone, or on another machine. */
static char *normalize(const char *path)
{
	bool absolute = *path == '/';
	char *result = malloc(strlen(path) + 2), *end = result;
	size_t kept = 0; /* parts that a ".." may remove */
	if (!result)
		return NULL;
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");
		bool up = n == 2 && p[0] == '.' && p[1] == '.';
		if (up && kept) {
			while (end > result && *--end != '/')
				;
			kept--;
		} else if (n && !(n == 1 && p[0] == '.') && !(up && absolute)) {
			if (absolute || end > result)
				*end++ = '/';
			end = mempcpy(end, p, n);
			kept += !up;
		}
		p += n + (p[n] == '/');
	}
	if (end == result)
		*end++ = absolute ? '/' : '.';
	*end = '\0';
	return result;
}

static char *absolute(const char *folder, const char *name)
{
	char *whole, *result;
	if (*name == '/' || !folder)
		return normalize(name);
	if (asprintf(&whole, "%s/%s", folder, name) < 0)
		return NULL;
	result = normalize(whole);
	free(whole);
	return result;
}

static const char *file_name(void *resolver, struct debug_file file)
{
	struct resolver *r = resolver;
	const struct string *known = find(r->files, file.name);
	if (!file.name || known)
		return known ? known->made : NULL;
	return keep(&r->files, file.name, absolute(file.folder, file.name));
}

static const char *function_name(struct resolver *r, const char *symbol)
{
	const struct string *known = find(r->functions, symbol);
	return known ? known->made : keep(&r->functions, symbol, debug_demangle(symbol));
}

/* ---- Frames ---- */

static uint32_t number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* Where an inlined function was called. */
static void set_call(struct resolver *r, Dwarf_Die call, struct rt_frame *frame)
{
	frame->file = file_name(r, debug_file(&call, DW_AT_call_file));
	frame->line = number(&call, DW_AT_call_line);
	frame->column = number(&call, DW_AT_call_column);
}

static size_t frames_from_debug(struct resolver *r, struct debug_image *image, uint64_t address,
                                struct rt_frame frames[RESOLVE_FRAMES_MAX])
{
	struct debug_unit *unit = debug_unit_at(image, address);
	size_t n = 0;
	if (!unit)
		return 0;
	Dwarf_Addr in_file = address - image->bias;
	uint32_t scope = debug_scope_at(unit, in_file);
	frames[0].file = file_name(r, debug_line(unit, in_file, &frames[0].line, &frames[0].column));
	for (n = 1; scope != SCOPE_NONE; n++) {
		frames[n - 1].function = debug_scope_name(unit, scope);
		if (r->declares)
			declared_add(&r->declared, unit, scope, frames[n - 1].function);
		uint32_t around = debug_function_around(unit, scope);
		if (!unit->scopes[scope].inlined || around == SCOPE_NONE || n == RESOLVE_FRAMES_MAX)
			break;
		set_call(r, unit->scopes[scope].die, &frames[n]);
		scope = around;
	}
	return n;
}

/* The symbol that contains an address; NULL if there is none. */
static const char *symbol_at(struct resolver *r, struct debug_image *image, uint64_t address)
{
	const char *name = symbol_places_name(&image->places, image->module, address);
	return name ? function_name(r, name) : NULL;
}

size_t resolver_frames(struct resolver *r, uint64_t pc, struct rt_frame frames[RESOLVE_FRAMES_MAX])
{
	struct debug_image *image = pc ? debug_image_at(&r->debug, pc - 1) : NULL;
	if (!image)
		return 0;
	memset(frames, 0, RESOLVE_FRAMES_MAX * sizeof *frames);
	size_t n = frames_from_debug(r, image, pc - 1, frames);
	if (!n)
		n = 1;
	if (!frames[n - 1].function)
		frames[n - 1].function = symbol_at(r, image, pc - 1);
	for (size_t i = 0; i < n; i++) {
		frames[i].module = image->base;
		frames[i].pc = pc;
	}
	return n;
}

/* ---- Writing ---- */

struct writing {
	struct resolver *resolver;
	struct string *files; /* the files of frames; their names are valid as long as the resolver */
	struct rt_writer *writer;
	bool late;                    /* the files may have changed since the run */
	struct code_updates *updates; /* NULL: one thread alone, or no memory */
	enum rt_status status;
	struct rt_error *err;
};

/* Records each file's digest once, so that its lines can be shown later if it has not changed. */
static enum rt_status write_text_file(struct writing *w, const char *file)
{
	uint64_t digest;
	if (w->late || !file || find(w->files, file))
		return RT_OK;
	keep(&w->files, file, strdup(""));
	return rt_text_file_digest(file, &digest) ? rt_writer_text_file(w->writer, file, digest, w->err) : RT_OK;
}

static int write_position(uint64_t pc, void *arg)
{
	struct writing *w = arg;
	struct rt_frame frames[RESOLVE_FRAMES_MAX];
	size_t n = resolver_frames(w->resolver, pc, frames);
	if (n)
		w->status = rt_writer_position(w->writer, pc, frames, n, w->err);
	for (size_t i = 0; i < n && !w->status; i++)
		w->status = write_text_file(w, frames[i].file);
	struct rt_update update;
	if (!w->status && w->updates && code_updates_find(w->updates, pc, &update))
		w->status = rt_writer_update(w->writer, &update, w->err);
	return w->status != RT_OK;
}

/* ---- Atomic instructions ---- */

enum { NAMES_SHOWN = 5 };

/*
 * The source name of the function that has the instruction, even if it is inlined into another. NULL: it is unknown, or
 * a whole module that is not instrumented.
 */
static const char *atomic_name(struct resolver *r, const struct hidden_atomic *a)
{
	struct rt_frame frames[RESOLVE_FRAMES_MAX];
	if (!a->image->instrumented)
		return NULL;
	size_t n = resolver_frames(r, a->at + 1, frames);
	if (n && frames[0].function)
		return frames[0].function;
	return a->function ? function_name(r, a->function) : NULL;
}

/* Appends ", name" unless it is there already. */
static bool add_name(char **list, const char *name)
{
	char *longer;
	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ", " : "", name) < 0)
		return false;
	free(*list);
	*list = longer;
	return true;
}

static enum rt_status write_atomics(struct resolver *r, struct rt_writer *w, struct rt_error *err)
{
	const char *shown[NAMES_SHOWN];
	size_t names = 0;
	bool more = false;
	struct hidden_atomics a = {0};
	enum rt_status status =
	    r->cache ? hidden_cache_find(r->cache, &a, &r->debug, err) : hidden_atomics_find(&a, &r->debug, err);
	for (size_t i = 0; i < a.count && !status; i++) {
		const struct hidden_atomic *item = &a.items[i];
		struct rt_hidden_atomic hidden = {.start = item->start,
		                                  .end = item->end,
		                                  .from = item->from,
		                                  .until = item->until,
		                                  .function = atomic_name(r, item),
		                                  .module = item->image->base,
		                                  .may_lock = item->may_lock,
		                                  .orders_nothing = !(item->does & HIDDEN_ORDERS),
		                                  .reads_nothing = !(item->does & HIDDEN_READS),
		                                  .writes_nothing = !(item->does & HIDDEN_WRITES)};
		status = rt_writer_hidden_atomic(w, &hidden, err);
		if (!item->image->instrumented || !(item->does & HIDDEN_ORDERS)) /* `analyze` names it */
			continue;
		const char *name = hidden.function ? hidden.function : hidden.module;
		size_t k = 0;
		while (k < names && strcmp(shown[k], name) != 0)
			k++;
		if (k == NAMES_SHOWN)
			more = true;
		else if (k == names && add_name(&r->hidden, name))
			shown[names++] = name;
	}
	if (more)
		add_name(&r->hidden, "...");
	hidden_atomics_release(&a);
	return status;
}

const char *resolver_hidden_atomics(const struct resolver *r)
{
	return r->hidden;
}

enum rt_status resolver_write(struct resolver *r, struct rt_writer *w, bool late, struct rt_error *err)
{
	struct writing writing = {.resolver = r, .writer = w, .late = late, .err = err};
	for (size_t i = 0; i < r->modules->count && !writing.status; i++) {
		const struct module *m = &r->modules->items[i];
		writing.status =
		    rt_writer_module(w, m->start, m->end, 0, m->path, m->code && file_is_plain(m->path), err);
	}
	/* One thread alone is always ordered. Under Valgrind each atomic instruction is an event. */
	if (!writing.status && rt_writer_threads(w) > 1 && !rt_writer_is_binary(w))
		writing.status = write_atomics(r, w, err);
	if (!late && rt_writer_threads(w) > 1)
		writing.updates = code_updates_create(&r->debug);
	r->declares = true;
	if (!writing.status && rt_writer_each_pc(w, write_position, &writing) < 0)
		writing.status = rt_error_set(err, RT_EMEMORY, "no memory for source positions");
	if (!writing.status)
		writing.status = types_write(&r->debug, file_name, r, w, err);
	if (!writing.status)
		writing.status = declared_write(&r->declared, w, err);
	free_strings(&writing.files);
	code_updates_free(writing.updates);
	return writing.status;
}

/* What another thread held when this process was forked, such as a lock of libc, is held for ever here. */
static void end_in_time(void)
{
	enum { SECONDS = 600 };
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	alarm(SECONDS);
}

static enum rt_status try_to_write(const struct modules *modules, struct rt_writer *w, bool late)
{
	struct rt_error err;
	struct resolver *r;
	end_in_time();
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); /* libdw's own words */
	if (nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	enum rt_status status = resolver_create(modules, NULL, &r, &err);
	return status ? status : resolver_write(r, w, late, &err);
}

bool resolver_can_write(const struct modules *modules, struct rt_writer *w, bool late)
{
	int status = 0;
	if (!*limit_behind(ENOMEM))
		return true;
	pid_t pid = fork();
	if (pid == 0)
		_exit((int)try_to_write(modules, w, late));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == RT_OK;
}
