/* Makes the inputs that fuzz_trace starts from, one of each kind and of a few sizes: corpus_trace FOLDER */
#include "tracefmt/native/file.h"
#include "tracefmt/native/writer.h"

#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

static uint64_t random_state = 20240229;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void save(const char *folder, const char *name, int size, uint8_t kind, const void *data, size_t n)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s-%d", folder, name, size);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(&kind, 1, 1, f) != 1 || fwrite(data, 1, n, f) != n || fclose(f))
		die(path);
}

/* A trace of `events` events with a bit of everything. */
static void write_trace(const char *path, int events)
{
	const char *const command[] = {"./app", "x", NULL};
	struct rt_writer_options options = {.command = command, .pid = 7, .values = true};
	struct rt_writer_result result = {.exit_kind = RT_EXIT_STATUS};
	struct rt_frame frames[2] = {{.function = "f", .file = "f.c", .line = 3}, {.function = "g", .module = "app"}};
	struct rt_writer *w;
	struct rt_error err = {0};
	uint32_t base, type;
	if (rt_writer_create(path, &options, &w, &err))
		die(err.message);
	for (uint32_t t = 0; t < 3; t++)
		rt_writer_thread(w, t, t ? "main.1" : "main", 0, t == 2 ? "label" : NULL, NULL);
	for (int i = 0; i < events; i++) {
		uint64_t x = next_random();
		struct rt_event e = {.stamp = (uint64_t)i,
		                     .addr = 0x1000 + x % 8 * 8,
		                     .arg = x % 7 ? 4 : 40,
		                     .pc = 0x400 + x % 11,
		                     .thread = (uint32_t)(x >> 40) % 3,
		                     .op = (uint8_t)(RT_OP_READ + (x >> 20) % 20),
		                     .flags = x % 5 ? 0 : RT_F_VALUE,
		                     .value = x};
		rt_writer_event(w, &e, NULL);
		if (i % 16 == 15)
			rt_writer_thread_end(w, e.thread, NULL);
	}
	for (uint64_t pc = 0x400; pc < 0x408; pc++)
		rt_writer_position(w, pc, frames, 1 + pc % 2, NULL);
	rt_writer_type(w, &(struct rt_type){.size = 8}, &base, NULL);
	const struct rt_member members[] = {{"head", 0, base}, {"tail", 8, base}};
	rt_writer_type(w, &(struct rt_type){16, 0, members, 2}, &type, NULL);
	rt_writer_variable(w, "queue", 0x1000, 16, type, "q.c", 1, NULL);
	rt_writer_object_name(w, 0x1010, "lock", NULL);
	if (rt_writer_finish(w, &result, &err))
		die(err.message);
}

static void save_kinds(const char *folder, int size)
{
	char path[512];
	snprintf(path, sizeof path, "%s/trace.zst", folder);
	write_trace(path, size);
	static uint8_t data[1 << 20];
	static uint8_t content[1 << 20];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(data, 1, sizeof data, f) : 0;
	if (!f || fclose(f) || unlink(path))
		die(path);
	save(folder, "file", size, 0, data, n);
	struct rt_bytes blocks = {0};
	struct rt_block block;
	bool columns = false;
	for (size_t at = RT_FILE_HEADER_BYTES; at + RT_BLOCK_HEADER_BYTES <= n && rt_block_get(data + at, &block);
	     at += RT_BLOCK_HEADER_BYTES + block.packed) {
		size_t raw = ZSTD_decompress(content, sizeof content, data + at + RT_BLOCK_HEADER_BYTES, block.packed);
		uint32_t length = (uint32_t)raw;
		if (raw != block.raw)
			die("decompress");
		rt_bytes_add(&blocks, data + at, RT_BLOCK_HEADER_BYTES - 8);
		rt_bytes_add(&blocks, &length, sizeof length);
		rt_bytes_add(&blocks, content, raw);
		if (block.kind == RT_BLOCK_CHUNK && !columns)
			save(folder, "columns", size, 1, content, raw);
		columns |= block.kind == RT_BLOCK_CHUNK;
	}
	save(folder, "blocks", size, 2, blocks.data, blocks.len);
	rt_bytes_release(&blocks);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: corpus_trace FOLDER\n");
		return 2;
	}
	for (int size = 1; size <= 1000; size *= 10)
		save_kinds(argv[1], size);
}
