/*
 * What coding and reading a trace cost: three made-up programs' records through the column coder, with and without
 * zstd, and through the whole writer and reader. Prints nanoseconds and bytes per record (per event for reading).
 *
 *     bench_column [records in millions, default 8]
 *     bench_column trace.zst    reading this one
 */
#include "tracefmt/native/column.h"
#include "tracefmt/native/writer.h"
#include "tracefmt/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

/* The recorder as far as it matters here: blocks of 64 records, each begun by an EXT with the time. */
struct tape {
	struct rt_record *records;
	size_t n, cap;
	uint64_t stamp, random;
};

static uint64_t next_random(struct tape *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static void put(struct tape *t, struct rt_record r)
{
	if (t->n % 64 == 0) {
		t->stamp += 500 + next_random(t) % 256;
		t->records[t->n++] = rt_record_ext(t->stamp, 0);
	}
	t->records[t->n++] = r;
}

static void access_at(struct tape *t, unsigned op, uint64_t addr, uint64_t pc)
{
	put(t, rt_record_make(op, addr, pc, rt_record_aux(8, 0, 0), 0));
}

static void sync_at(struct tape *t, unsigned op, uint64_t addr, uint64_t pc)
{
	t->stamp += next_random(t) % 4 ? 1 : 2; /* the clock counts on between looks at the time stamp counter */
	put(t, rt_record_ext(t->stamp, 0));
	put(t, rt_record_make(op, addr, pc, 0, 0));
}

/* The inner loop of a matrix product. */
static void product(struct tape *t)
{
	enum { SIDE = 512 };
	for (uint64_t i = 0; t->n < t->cap; i++)
		for (uint64_t j = 0; j < SIDE && t->n < t->cap; j++) {
			for (uint64_t k = 0; k < SIDE && t->n < t->cap; k++) {
				access_at(t, RT_OP_READ, 0x600000 + 8 * (i * SIDE + k), 0x401100);
				access_at(t, RT_OP_READ, 0x900000 + 8 * (k * SIDE + j), 0x401110);
			}
			access_at(t, RT_OP_WRITE, 0xc00000 + 8 * (i * SIDE + j), 0x401130);
		}
}

/* Look-ups in a balanced tree whose nodes lie anywhere, some of which change the node: branches depend on data. */
static void tree(struct tape *t)
{
	while (t->n < t->cap) {
		uint64_t key = next_random(t);
		put(t, rt_record_make(RT_OP_ENTER, 0, 0x402000, 0, 0));
		for (uint64_t node = 1, depth = 0; depth < 14; depth++, key >>= 1) {
			uint64_t addr = 0x7f0000000000 + (node * UINT64_C(0x9e3779b1) & 0xfffff0) * 4;
			access_at(t, RT_OP_READ, addr, 0x402010);
			access_at(t, RT_OP_READ, addr + 8 + 8 * (key & 1), 0x402020 + 16 * (key & 1));
			if (key % 8 == 0)
				access_at(t, RT_OP_WRITE, addr + 24, 0x402050);
			node = 2 * node + (key & 1);
		}
		put(t, rt_record_make(RT_OP_LEAVE, 0, 0, 0, 0));
	}
}

/* A counter under one of a few locks. */
static void locks(struct tape *t)
{
	while (t->n < t->cap) {
		uint64_t lock = next_random(t) % 4 * 64;
		put(t, rt_record_make(RT_OP_ENTER, 0, 0x403000, 0, 0));
		sync_at(t, RT_OP_ACQUIRE, 0x604000 + lock, 0x403010);
		access_at(t, RT_OP_READ, 0x605000 + lock, 0x403020);
		access_at(t, RT_OP_WRITE, 0x605000 + lock, 0x403030);
		sync_at(t, RT_OP_RELEASE, 0x604000 + lock, 0x403040);
		put(t, rt_record_make(RT_OP_LEAVE, 0, 0, 0, 0));
	}
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Coding and decoding chunk by chunk in memory. */
static void bench_coder(const struct tape *t)
{
	struct rt_encoder *e = rt_encoder_create();
	struct rt_bytes raw = {0}, packed = {0};
	struct rt_record *back = malloc(RT_CHUNK_RECORDS * sizeof *back);
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ZSTD_DCtx *d = ZSTD_createDCtx();
	double code = 0, pack = 0, unpack = 0, decode = 0;
	size_t bytes = 0, coded = 0;
	for (size_t done = 0; done < t->n;) {
		double t0 = seconds();
		size_t k;
		while (done < t->n && (k = rt_encoder_add(e, t->records + done, t->n - done < 256 ? t->n - done : 256)))
			done += k;
		uint64_t base = rt_encoder_facts(e)->base_stamp;
		raw.len = 0;
		rt_encoder_finish(e, &raw);
		double t1 = seconds();
		rt_bytes_reserve(&packed, ZSTD_compressBound(raw.len));
		size_t n = ZSTD_compressCCtx(c, packed.data, packed.cap, raw.data, raw.len, 1);
		double t2 = seconds();
		ZSTD_decompressDCtx(d, raw.data, raw.cap, packed.data, n);
		double t3 = seconds();
		struct rt_decoder decoder;
		bool memory;
		rt_decoder_init(&decoder, raw.data, raw.len, base, &memory);
		rt_decoder_records(&decoder, back, RT_CHUNK_RECORDS, &k);
		rt_decoder_release(&decoder);
		double t4 = seconds();
		code += t1 - t0;
		pack += t2 - t1;
		unpack += t3 - t2;
		decode += t4 - t3;
		bytes += n;
		coded += raw.len;
	}
	double per = 1e9 / (double)t->n;
	printf("  code %5.2f + zstd %5.2f = %5.2f ns   decode %5.2f + zstd %5.2f = %5.2f ns   %5.3f -> %5.3f "
	       "bytes/record\n",
	       code * per, pack * per, (code + pack) * per, decode * per, unpack * per, (decode + unpack) * per,
	       (double)coded / (double)t->n, (double)bytes / (double)t->n);
	ZSTD_freeCCtx(c);
	ZSTD_freeDCtx(d);
	rt_encoder_free(e);
	rt_bytes_release(&raw);
	rt_bytes_release(&packed);
	free(back);
}

/* Reads the trace twice, once without wanting any event. */
static void bench_read(const char *path)
{
	enum { EVENTS = 1024 };
	struct rt_trace *trace;
	struct rt_event *events = malloc(EVENTS * sizeof *events);
	struct rt_error err = {0};
	double read[2];
	size_t got;
	if (rt_trace_open(path, &trace, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	for (int pass = 0; pass < 2; pass++) {
		double start = seconds();
		rt_trace_select(trace, pass ? UINT64_C(1) << RT_OP_FORK : RT_SELECT_ALL);
		rt_trace_rewind(trace, NULL);
		while (!rt_trace_read(trace, events, EVENTS, &got, NULL) && got)
			;
		read[pass] = seconds() - start;
	}
	const struct rt_trace_info *info = rt_trace_info(trace);
	printf("  read %5.2f, without handing out %5.2f ns/event   %5.3f bytes/event\n",
	       read[0] * 1e9 / (double)info->events, read[1] * 1e9 / (double)info->events,
	       (double)info->file_bytes / (double)info->events);
	rt_trace_free(trace);
	free(events);
}

/* The same records as those of four threads, through a file. */
static void bench_file(const struct tape *t)
{
	enum { THREADS = 4 };
	const char *path = "/tmp/bench_column.zst";
	struct rt_writer_options options = {0};
	struct rt_writer_result result = {0};
	struct rt_writer *w;
	struct rt_error err = {0};
	if (rt_writer_create(path, &options, &w, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	double t0 = seconds();
	for (size_t i = 0; i < t->n; i += 64)
		rt_writer_records(w, (uint32_t)(i / 64 % THREADS), t->records + i, t->n - i < 64 ? t->n - i : 64, NULL);
	if (rt_writer_finish(w, &result, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	printf("  write %5.2f ns/record\n", (seconds() - t0) * 1e9 / (double)t->n);
	bench_read(path);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fill)(struct tape *);
	} programs[] = {{"product", product}, {"tree", tree}, {"locks", locks}};
	if (argc > 1 && !strtoul(argv[1], NULL, 10)) {
		bench_read(argv[1]);
		return 0;
	}
	size_t n = (argc > 1 ? strtoul(argv[1], NULL, 10) : 8) * 1000000;
	struct tape t = {.records = malloc((n + 64) * sizeof *t.records), .cap = n};
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		t.n = 0;
		t.stamp = 1000000;
		t.random = 88172645463325252;
		programs[i].fill(&t);
		printf("%s, %zu records\n", programs[i].name, t.n);
		bench_coder(&t);
		bench_file(&t);
	}
	free(t.records);
}
