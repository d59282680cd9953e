/* Parts of an analysis; see part.h. */
#include "lib/prove/part.h"

#include "lib/anomaly/goal.h"
#include "lib/base/free.h"
#include "lib/base/input.h"
#include "lib/base/output.h"
#include "lib/base/vec.h"
#include "lib/prove/provers.h"
#include "lib/prove/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const char magic[8] = {'r', 't', '-', 'p', 'a', 'r', 't', '\n'};
enum { SHARDS_MAX = 65536, ARGS_MAX = 1 << 20 };

struct head {
	char magic[sizeof magic];
	char version[24];
	uint32_t result_size; /* of another build's results differ */
	uint32_t shard, of;
	uint32_t arg_count, args_size; /* strings, each with its end */
};

enum entry_kind { ENTRY_RESULT, ENTRY_DIGEST, ENTRY_END };
struct part_entry {
	uint32_t kind;
	uint32_t pass, index; /* results */
	uint32_t unused;
	uint64_t size; /* of what follows; ENTRY_DIGEST, ENTRY_END: the digest, the checksum, and nothing follows */
};

/* ---- Writing ---- */

static void put(struct part *p, const void *data, size_t size)
{
	p->size += size;
	if (!p->failure && p->most && p->size > p->most)
		p->failure = EFBIG;
	if (!p->failure && !rt_write_all(p->fd, data, size))
		p->failure = errno ? errno : EIO;
	if (p->sum)
		XXH3_64bits_update(p->sum, data, size);
}

static struct head head_of(const struct part *p)
{
	struct head head;
	memset(&head, 0, sizeof head);
	memcpy(head.magic, magic, sizeof magic);
	strncpy(head.version, RT_VERSION, sizeof head.version - 1);
	head.result_size = sizeof(struct result);
	head.shard = p->shard;
	head.of = p->of;
	return head;
}

void part_begin(struct part *p, char *const *args, uint32_t count)
{
	struct head head = head_of(p);
	if ((p->sum = XXH3_createState()))
		XXH3_64bits_reset(p->sum);
	else
		p->failure = ENOMEM;
	head.arg_count = count;
	for (uint32_t i = 0; i < count; i++)
		head.args_size += (uint32_t)strlen(args[i]) + 1;
	put(p, &head, sizeof head);
	for (uint32_t i = 0; i < count; i++)
		put(p, args[i], strlen(args[i]) + 1);
}

void part_digest(struct part *p, uint64_t digest)
{
	put(p, &(struct part_entry){.kind = ENTRY_DIGEST, .size = digest}, sizeof(struct part_entry));
}

void part_put(struct part *p, uint32_t pass, uint32_t index, const struct anomaly *a, const struct prove_counts *before,
              const struct prove_counts *after)
{
	struct part_entry entry = {.kind = ENTRY_RESULT, .pass = pass, .index = index};
	void *bytes = result_pack(a, before, after, &entry.size);
	if (bytes) {
		put(p, &entry, sizeof entry);
		put(p, bytes, entry.size);
	} else {
		p->failure = ENOMEM;
	}
	free(bytes);
}

void part_end(struct part *p)
{
	put(p, &(struct part_entry){.kind = ENTRY_END, .size = p->sum ? XXH3_64bits_digest(p->sum) : 0},
	    sizeof(struct part_entry));
	XXH3_freeState(p->sum);
	p->sum = NULL;
}

/* ---- Reading ---- */

/* Where a result is. */
struct part_place {
	uint32_t pass, index, file;
	uint64_t offset;
};

struct parts {
	int *files; /* by shard; -1: none */
	uint32_t of;
	char **args, *text;
	uint32_t arg_count, args_size;
	uint64_t digest;
	struct part_place *places; /* sorted */
	uint32_t place_count, place_capacity;
};

static bool read_at(int fd, void *data, size_t size, uint64_t offset)
{
	for (char *at = data; size;) {
		ssize_t n = pread(fd, at, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

bool part_is(const char *path)
{
	char begin[sizeof magic];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && read_at(fd, begin, sizeof begin, 0) && !memcmp(begin, magic, sizeof magic);
	if (fd >= 0)
		close(fd);
	return is;
}

static enum rt_status damaged(const char *path, struct rt_error *err)
{
	return rt_error_set(err, RT_EINPUT, "'%s' is no whole part of an analysis: write it again", path);
}

/* True if the file ends with the checksum of all that comes before. */
static bool is_whole(int fd)
{
	struct stat st;
	struct part_entry end;
	char bytes[1 << 14];
	if (fstat(fd, &st) || (uint64_t)st.st_size < sizeof end)
		return false;
	XXH3_state_t *sum = XXH3_createState();
	uint64_t size = (uint64_t)st.st_size - sizeof end;
	bool read = sum && read_at(fd, &end, sizeof end, size);
	if (sum)
		XXH3_64bits_reset(sum);
	for (uint64_t at = 0; read && at < size;) {
		size_t n = size - at < sizeof bytes ? (size_t)(size - at) : sizeof bytes;
		if ((read = read_at(fd, bytes, n, at)))
			XXH3_64bits_update(sum, bytes, n);
		at += n;
	}
	bool whole = read && end.kind == ENTRY_END && !end.pass && !end.index && !end.unused &&
	             end.size == XXH3_64bits_digest(sum);
	XXH3_freeState(sum);
	return whole;
}

/* The arguments: of the first part; those of the others must be the same. */
static enum rt_status read_args(struct parts *p, const char *path, int fd, const struct head *head,
                                struct rt_error *err)
{
	char *text = malloc((size_t)head->args_size + 1);
	if (!text)
		return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", path);
	text[head->args_size] = 0;
	enum rt_status status = RT_OK;
	if (!read_at(fd, text, head->args_size, sizeof *head))
		status = damaged(path, err);
	else if (p->text && (p->arg_count != head->arg_count || p->args_size != head->args_size ||
	                     memcmp(p->text, text, head->args_size)))
		status = rt_error_set(err, RT_EINPUT, "'%s' is a part of another analysis: its options differ", path);
	if (status || p->text) {
		free(text);
		return status;
	}
	p->text = text;
	p->args_size = head->args_size;
	p->args = calloc((size_t)head->arg_count + 1, sizeof *p->args);
	if (!p->args)
		return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", path);
	char *at = text;
	for (; p->arg_count < head->arg_count && at < text + head->args_size; at += strlen(at) + 1)
		p->args[p->arg_count++] = at;
	return p->arg_count == head->arg_count ? RT_OK : damaged(path, err);
}

static enum rt_status read_entries(struct parts *p, const char *path, uint32_t shard, uint64_t offset, bool *first,
                                   struct rt_error *err)
{
	int fd = p->files[shard];
	struct stat st;
	struct part_entry entry = {.kind = ENTRY_RESULT};
	bool digested = false;
	if (fstat(fd, &st))
		return damaged(path, err);
	while (entry.kind != ENTRY_END) {
		if (!read_at(fd, &entry, sizeof entry, offset) || entry.kind > ENTRY_END ||
		    (entry.kind == ENTRY_RESULT && entry.size > (uint64_t)st.st_size - offset))
			return damaged(path, err);
		offset += sizeof entry;
		if (entry.kind == ENTRY_DIGEST && !*first && entry.size != p->digest)
			return rt_error_set(err, RT_EINPUT, "'%s' is a part of another analysis: its candidates differ",
			                    path);
		if (entry.kind == ENTRY_DIGEST) {
			p->digest = entry.size;
			*first = false;
			digested = true;
		}
		if (entry.kind != ENTRY_RESULT)
			continue;
		if (!vec_reserve(&p->places, &p->place_capacity, (uint64_t)p->place_count + 1, sizeof *p->places))
			return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", path);
		p->places[p->place_count++] = (struct part_place){entry.pass, entry.index, shard, offset};
		offset += entry.size;
	}
	return digested ? RT_OK : damaged(path, err);
}

/* The head of a file that is whole; of the first part it says how many there are. */
static enum rt_status read_head(struct parts *p, const char *path, int fd, struct head *head, struct rt_error *err)
{
	const struct head known = head_of(&(struct part){0});
	if (!read_at(fd, head, sizeof *head, 0) || memcmp(head->magic, magic, sizeof magic))
		return damaged(path, err);
	if (memcmp(head->version, known.version, sizeof head->version) || head->result_size != known.result_size)
		return rt_error_set(err, RT_EINPUT, "'%s' is of another version of racetrace: write it again", path);
	if (!is_whole(fd) || !head->of || head->of > SHARDS_MAX || head->shard >= head->of ||
	    head->args_size > ARGS_MAX)
		return damaged(path, err);
	if (!p->files) {
		if (!(p->files = malloc(head->of * sizeof *p->files)))
			return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", path);
		for (; p->of < head->of; p->of++)
			p->files[p->of] = -1;
	}
	if (head->of != p->of)
		return rt_error_set(err, RT_EINPUT, "'%s' is part %u of %u, but others are of %u", path,
		                    head->shard + 1, head->of, p->of);
	if (p->files[head->shard] >= 0)
		return rt_error_set(err, RT_EINPUT, "'%s' is part %u of %u, which another file is already", path,
		                    head->shard + 1, p->of);
	return RT_OK;
}

static enum rt_status read_part(struct parts *p, const char *path, bool *first, struct rt_error *err)
{
	struct head head;
	int fd;
	enum rt_status status = rt_input_open(path, &fd, err);
	if (status)
		return status;
	status = read_head(p, path, fd, &head, err);
	if (status) {
		close(fd);
		return status;
	}
	p->files[head.shard] = fd;
	status = read_args(p, path, fd, &head, err);
	return status ? status : read_entries(p, path, head.shard, sizeof head + head.args_size, first, err);
}

static int by_place(const void *a, const void *b)
{
	const struct part_place *x = a, *y = b;
	if (x->pass != y->pass)
		return x->pass < y->pass ? -1 : 1;
	return x->index != y->index ? (x->index < y->index ? -1 : 1) : 0;
}

enum rt_status parts_open(char *const *paths, size_t count, struct parts **out, struct rt_error *err)
{
	struct parts *p = calloc(1, sizeof *p);
	enum rt_status status = p ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to read the parts");
	bool first = true;
	for (size_t i = 0; i < count && !status; i++)
		status = read_part(p, paths[i], &first, err);
	for (uint32_t i = 0; !status && i < p->of; i++)
		if (p->files[i] < 0)
			status = rt_error_set(err, RT_EINPUT, "part %u of %u is missing", i + 1, p->of);
	if (status) {
		parts_free(p);
		return status;
	}
	if (p->place_count)
		qsort(p->places, p->place_count, sizeof *p->places, by_place);
	*out = p;
	return RT_OK;
}

void parts_free(struct parts *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->of; i++)
		if (p->files[i] >= 0)
			close(p->files[i]);
	free_all(p->files, p->args, p->text, p->places, p);
}

char *const *parts_args(const struct parts *p, uint32_t *count)
{
	*count = p->arg_count;
	return p->args;
}

bool parts_are_of(const struct parts *p, uint64_t digest)
{
	return p->digest == digest;
}

/* True if the verdict is one that provers may give this anomaly, of events that there are, and the judge agrees. */
static bool is_sound(struct provers *provers, const struct anomaly *a, const struct result *r)
{
	for (uint32_t i = 0; i < a->event_count; i++)
		if (r->events[i] >= provers->m->event_count)
			return false;
	if (a->verdict == VERDICT_OBSERVED || r->verdict == VERDICT_OBSERVED)
		return a->verdict == r->verdict;
	if (r->verdict <= VERDICT_PREDICTED)
		return true;
	struct anomaly like = *a;
	struct verdict_of_judge v;
	memcpy(like.events, r->events, sizeof like.events);
	struct goal goal = goal_of(&like);
	if (r->verdict > VERDICT_OBSERVED || !r->schedule)
		return false;
	judge_verify(provers->judge, r->schedule, &goal, &v);
	return !v.fault && judge_admits(provers->judge, r->schedule, &goal);
}

bool parts_take(struct parts *p, struct provers *provers, uint32_t pass, uint32_t index, struct anomaly *a)
{
	struct part_place key = {.pass = pass, .index = index};
	const struct part_place *place =
	    p->place_count ? bsearch(&key, p->places, p->place_count, sizeof key, by_place) : NULL;
	struct result r;
	if (!place || lseek(p->files[place->file], (off_t)place->offset, SEEK_SET) < 0 ||
	    !result_read(p->files[place->file], provers->m, &r))
		return false;
	if (!is_sound(provers, a, &r) || !provers_add(provers, &r.before, &r.after)) {
		result_release(&r);
		return false;
	}
	result_apply(&r, a);
	provers->counts.known++;
	return true;
}
