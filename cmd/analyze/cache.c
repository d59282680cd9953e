/*
 * The results of proofs beside their trace; see cache.h. The file is one part of one (lib/prove/part.h): it is taken
 * over only for the same candidates, and a proof only if the judge agrees. Its arguments are a key: a hash of the
 * trace, of this program and of the options that the candidates do not show. What differs in any of these is not used,
 * and replaced; nor is what is damaged or another user's.
 */
#include "cmd/analyze/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Larger ones are not kept; nor is what took fewer events to prove, as it is quick to prove again. */
enum { SIZE_MAX_KEPT = 64 << 20, WORTH = 1000000 };

/* *st: its state before it is read. */
static bool hash_file(XXH3_state_t *state, const char *path, struct stat *st)
{
	char bytes[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool ok = fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode);
	for (ssize_t n = 1; ok && n;) {
		n = read(fd, bytes, sizeof bytes);
		if (n > 0)
			XXH3_128bits_update(state, bytes, (size_t)n);
		ok = n >= 0 || errno == EINTR;
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* True if it is the same file, which was not written to in between. */
static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       is_same_time(a->st_mtim, b->st_mtim) && is_same_time(a->st_ctim, b->st_ctim);
}

/* True if it is another name of what a process has open, beside which no file can be. */
static bool is_descriptor(const char *trace)
{
	static const char *const beginnings[] = {"/dev/std", "/dev/fd/", "/proc/"};
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (!strncmp(trace, beginnings[i], strlen(beginnings[i])))
			return true;
	return !strcmp(trace, "-");
}

/* False if it cannot be told what the analysis depends on. *st: the trace's file as it was hashed. */
static bool make_key(const struct analyze_settings *s, uint64_t memory, const char *trace, struct stat *st, char *key,
                     size_t size)
{
	struct stat program;
	const struct analysis_options *o = &s->analysis;
	const uint64_t options[] = {s->input.strict,  s->input.skip_unknown,
	                            o->kinds,         o->orders,
	                            o->every,         o->asked,
	                            memory,           o->model.regions,
	                            o->model.objects, o->set_memory_model,
	                            o->memory_model,  o->prove.guess};
	XXH3_state_t *state = XXH3_createState();
	if (!state)
		return false;
	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, options, sizeof options);
	XXH3_128bits_update(state, o->limits.of, sizeof o->limits.of);
	bool ok = hash_file(state, trace, st) && hash_file(state, "/proc/self/exe", &program);
	XXH128_hash_t hash = XXH3_128bits_digest(state);
	snprintf(key, size, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64, (uint64_t)hash.low64);
	XXH3_freeState(state);
	return ok;
}

/* True if the file may be read: nobody else can have said there that a bug is none. */
static bool is_own(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static struct parts *read_known(char *path, const char *key)
{
	struct parts *p;
	struct rt_error err;
	uint32_t count;
	if (!is_own(path) || !part_is(path) || parts_open(&path, 1, &p, &err))
		return NULL;
	char *const *args = parts_args(p, &count);
	if (count == 1 && !strcmp(args[0], key))
		return p;
	parts_free(p);
	return NULL;
}

/* Begins a new file, unless another one than a cache has its name. */
static void begin_fresh(struct cmd_cache *c, const char *path, char *key)
{
	struct rt_error err;
	struct stat st;
	if (lstat(path, &st) == 0 && (!is_own(path) || !part_is(path)))
		return;
	if (rt_output_create(&c->out, path, RT_OUTPUT_FILE, &err))
		return;
	c->part = (struct part){.fd = c->out.fd, .of = 1, .most = SIZE_MAX_KEPT};
	part_begin(&c->part, &key, 1);
	c->cache.fresh = &c->part;
	c->writing = true;
}

void cmd_cache_open(struct cmd_cache *c, const struct analyze_settings *s, uint64_t memory, const char *trace,
                    const struct stat *opened)
{
	char *path, key[40];
	*c = (struct cmd_cache){.trace = trace};
	/* What users' patterns say, and what was visited, no key has. */
	if (s->no_cache || s->user.count || s->analysis.exhaustive || s->analysis.unproved || s->analysis.parts ||
	    is_descriptor(trace) || !make_key(s, memory, trace, &c->state, key, sizeof key) ||
	    !is_same(&c->state, opened) || asprintf(&path, "%s.cache", trace) < 0)
		return;
	c->parts = c->cache.known = read_known(path, key);
	begin_fresh(c, path, key); /* what is known may turn out to be of other candidates */
	free(path);
}

void cmd_cache_remove(const char *trace)
{
	char *path;
	if (asprintf(&path, "%s.cache", trace) < 0)
		return;
	if (is_own(path) && part_is(path))
		unlink(path);
	free(path);
}

static bool is_worth(const struct analysis *a)
{
	const struct prove_counts *p = &a->proofs;
	return !a->undecided && p->spent + p->settle_spent + p->pecan_spent + p->free_spent + p->judged + p->checked +
	                                p->shortened + p->observed_steps >=
	                            WORTH;
}

void cmd_cache_end(struct cmd_cache *c, const struct analysis *a)
{
	struct rt_error err;
	struct stat now;
	parts_free(c->parts);
	if (c->writing) {
		part_end(&c->part);
		if (a && !c->cache.known && !c->part.failure && is_worth(a) && !stat(c->trace, &now) &&
		    is_same(&c->state, &now))
			(void)rt_output_commit(&c->out, &err); /* without it the next analysis takes as long */
		else
			rt_output_discard(&c->out);
	}
	*c = (struct cmd_cache){0};
}
