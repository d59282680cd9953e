/*
 * A chunk's content: records of one thread, coded by prediction into columns (docs/trace-format.md, "Columns").
 *
 * A site is a (pc, aux, op). Each site remembers the two sites that followed it last, and its last operand, stride,
 * distance to the preceding operand, skip, arg and value. One flag byte an event says which of these predictions hold;
 * what they miss goes to a column of its own kind. Both sides keep the same tables, so that a hit costs the flag alone,
 * and flags of loops repeat, which zstd then makes almost free. A chunk starts with empty tables: it is decodable
 * alone.
 */
#ifndef TRACEFMT_COLUMN_H
#define TRACEFMT_COLUMN_H

#include "tracefmt/bytes.h"
#include "tracefmt/record.h"

#include <endian.h>

#define RT_CHUNK_RECORDS 65535u /* most records in a chunk, so a site number fits 16 bits */

/* Flag byte of an event. */
enum {
	RT_FLAG_SITE = 3,      /* 0, 1: last, last but one successor; 2: number in SITE; 3: new, in DEF */
	RT_FLAG_OPERAND = 12,  /* 0: last + stride; 4: preceding operand + distance; 8: delta in OPERAND; 12: last */
	RT_FLAG_SKIP = 16,     /* skip differs from the site's last: in SKIP */
	RT_FLAG_EXT = 32,      /* an EXT record comes first: STAMP, and ARG if it differs */
	RT_FLAG_VALUE = 64,    /* a VALUE record comes next to the event: VALUE */
	RT_FLAG_LITERAL = 128, /* not an event. This value alone: the record's 16 bytes are in LITERAL */
	RT_FLAG_MARK = 129     /* likewise; it is an EXT without an arg: its stamp is in STAMP */
};

enum rt_column {
	RT_COLUMN_FLAG,
	RT_COLUMN_SITE,
	RT_COLUMN_DEF,
	RT_COLUMN_OPERAND,
	RT_COLUMN_SKIP,
	RT_COLUMN_STAMP,
	RT_COLUMN_ARG,
	RT_COLUMN_VALUE,
	RT_COLUMN_LITERAL,
	RT_COLUMN_COUNT
};

/* Most bytes that one record can take in all columns, and that a chunk can. */
#define RT_RECORD_CODED_MAX 48u
#define RT_CHUNK_RAW_MAX (RT_CHUNK_RECORDS * RT_RECORD_CODED_MAX + RT_COLUMN_COUNT * RT_VARINT_MAX)

/* A site and its predictions; site 0 stands for the chunk's start. 64 bytes: a cache line. */
struct rt_site {
	uint64_t w1; /* pc and aux, as in the record */
	uint64_t operand, stride, delta, distance, arg, value;
	uint16_t next[2];
	uint8_t op, skip;
};
#define RT_SITE_START ((struct rt_site){.op = 255}) /* no operation that there is */

/* What a site learns from an event with this operand, prev being that of the event before it. */
static inline void rt_site_learn(struct rt_site *s, uint64_t operand, uint64_t prev)
{
	uint64_t delta = operand - s->operand;
	s->stride = delta == s->delta ? delta : s->stride;
	s->delta = delta;
	s->operand = operand;
	s->distance = operand - prev;
}

/* Sign-extends a difference of 48-bit operands. */
static inline int64_t rt_operand_delta(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << 16) >> 16;
}

struct rt_encoder;

/* NULL without memory. */
struct rt_encoder *rt_encoder_create(void);
void rt_encoder_free(struct rt_encoder *e);
/*
 * Codes records until the chunk is full; returns how many it took (an EXT, VALUE, event group goes whole into one
 * chunk), 0 when the chunk is full. Groups must not be split between calls. SIZE_MAX: no memory.
 */
size_t rt_encoder_add(struct rt_encoder *e, const struct rt_record *records, size_t n);

/* What is in the chunk so far. */
struct rt_chunk_facts {
	uint32_t records, events;
	uint64_t left_out, lost;
	uint64_t first_stamp, last_stamp; /* in effect at its first and last event */
	uint64_t base_stamp;              /* what the first STAMP is relative to */
};
const struct rt_chunk_facts *rt_encoder_facts(const struct rt_encoder *e);
/* Calls f for the pc of each site of the chunk; stops when it returns false, and returns that. */
bool rt_encoder_each_pc(const struct rt_encoder *e, bool (*f)(uint64_t pc, void *arg), void *arg);
/* Appends the coded chunk to out (check out->failed) and empties the encoder; the stamp in effect stays. */
void rt_encoder_finish(struct rt_encoder *e, struct rt_bytes *out);

/* Decoding. The coded bytes are borrowed until the next init or release. */
struct rt_decoder {
	const uint8_t *flag, *flag_end; /* flags are the fast path: the others are cursors */
	struct rt_cursor column[RT_COLUMN_COUNT];
	struct rt_site *sites;
	uint32_t site_count, site_cap;
	struct rt_site *site; /* of the last event */
	uint64_t operand;     /* of the last event */
	uint64_t pc, stamp;
};

/* False: not a coded chunk, or no memory (then *memory turns true). The decoder is to be released in any case. */
bool rt_decoder_init(struct rt_decoder *d, const uint8_t *data, size_t n, uint64_t base_stamp, bool *memory);
void rt_decoder_release(struct rt_decoder *d);
/* Decodes everything into records (room for n); false if damaged or more than n. *got: how many came out. */
bool rt_decoder_records(struct rt_decoder *d, struct rt_record *records, size_t n, size_t *got);

/*
 * Decoding step by step, for a loop that keeps what changes with each event in registers. While flag < flag_end: if
 * *flag has RT_FLAG_LITERAL, rt_decoder_literal, else rt_decoder_next, with the flag moved on by the caller.
 */
struct rt_step {
	struct rt_site *site; /* the event's site: op, skip, w1; also arg and value where the flag says so */
	uint64_t operand;     /* the event's operand */
};

/* The record without an event that is next and has this flag, without taking it; false if damaged. */
bool rt_decoder_peek_literal(const struct rt_decoder *d, unsigned flag, struct rt_record *record);
/* Takes it. */
void rt_decoder_take_literal(struct rt_decoder *d, unsigned flag);
/* The stamp of the EXT that the next event brings, without taking it. Only if its flag has RT_FLAG_EXT. */
static inline uint64_t rt_decoder_peek_stamp(const struct rt_decoder *d)
{
	struct rt_cursor c = d->column[RT_COLUMN_STAMP];
	return d->stamp + (uint64_t)rt_unzigzag(rt_cursor_varint(&c) >> 1);
}

/* The rare ways of rt_decoder_next: a site that was not expected (NULL if damaged); what stands before the event. */
struct rt_site *rt_decoder_miss(struct rt_decoder *d, unsigned flag, struct rt_step last);
bool rt_decoder_prefix(struct rt_decoder *d, unsigned flag, struct rt_site *site);

/* From the last step to that of the event with this flag; false if the chunk is damaged. */
static inline __attribute__((always_inline)) bool rt_decoder_next(struct rt_decoder *d, unsigned flag,
                                                                  struct rt_site *sites, struct rt_step *step)
{
	struct rt_site *s;
	if (__builtin_expect((flag & RT_FLAG_SITE) == 0, 1)) {
		s = &sites[step->site->next[0]];
	} else {
		s = rt_decoder_miss(d, flag, *step);
		if (!s)
			return false;
	}
	uint64_t operand;
	if (__builtin_expect((flag & RT_FLAG_OPERAND) == 0, 1)) {
		operand = s->operand + s->stride;
	} else if ((flag & RT_FLAG_OPERAND) == 4) {
		operand = step->operand + s->distance;
	} else if ((flag & RT_FLAG_OPERAND) == 12) {
		operand = s->operand;
	} else {
		struct rt_cursor *c = &d->column[RT_COLUMN_OPERAND];
		operand = s->operand + (uint64_t)rt_unzigzag(rt_cursor_varint(c));
		if (c->bad)
			return false;
	}
	operand &= RT_OPERAND_MAX;
	rt_site_learn(s, operand, step->operand);
	step->operand = operand;
	step->site = s;
	if (__builtin_expect(flag & (RT_FLAG_SKIP | RT_FLAG_EXT | RT_FLAG_VALUE), 0))
		return rt_decoder_prefix(d, flag, s);
	return true;
}

#endif
