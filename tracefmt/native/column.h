/*
 * A chunk's content: records of one thread, coded by prediction into columns (docs/trace-format.md, "Columns").
 *
 * A site is a (pc, aux, op). Each site remembers its last two successor sites, and its last operand, stride, distance
 * to the preceding operand, skip, arg and value. One flag byte for each event says which of these predictions hold;
 * each miss is coded in a column of its kind. Both sides keep the same tables, so a hit costs only the flag, and flags
 * of loops repeat, which zstd makes almost free. A chunk starts with empty tables: it can be decoded alone.
 */
#ifndef TRACEFMT_NATIVE_COLUMN_H
#define TRACEFMT_NATIVE_COLUMN_H

#include "lib/base/bytes.h"
#include "tracefmt/record.h"

#include <endian.h>

#define RT_CHUNK_RECORDS (1u << 18) /* most records in a chunk */
#define RT_CHUNK_SITES (1u << 16)   /* most sites in a chunk: numbers have 16 bits */

/* Flag byte of an event. */
enum {
	RT_FLAG_SITE = 3,      /* 0, 1: last, last but one successor; 2: number in SITE; 3: new, in DEF */
	RT_FLAG_OPERAND = 12,  /* 0: last + stride; 4: an earlier operand + distance; 8: in REF, OPERAND; 12: last */
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
	RT_COLUMN_REF,
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

/*
 * A site and its predictions; site 0 is the chunk's start. After a site of ENTER comes one that is not an event: the
 * return from the call, which predicts the site after a LEAVE. 64 bytes: a cache line.
 */
struct rt_site {
	uint64_t w1; /* pc and aux, as in the record */
	uint64_t operand, stride, delta, distance, arg, value;
	uint16_t next[2];
	uint8_t op, skip;
	uint8_t back; /* distance is from the n-th last operand: 0 is the last */
};
#define RT_SITE_NONE ((struct rt_site){.op = 255}) /* an operation that does not exist */

/* The thread's last operands that are not 0, and its call stack as far as the chunk's ENTER and LEAVE give it. */
enum { RT_RECENT = 8, RT_CALLS = 64, RT_REF_OWN = RT_RECENT };
struct rt_recent {
	uint64_t operand[RT_RECENT];
	unsigned at; /* loops keep it in a variable */
};
struct rt_calls {
	uint16_t returns[RT_CALLS]; /* the sites of their returns */
	unsigned depth;
};

static inline uint64_t rt_recent_get(const struct rt_recent *r, unsigned at, unsigned back)
{
	return r->operand[(at - 1 - back) % RT_RECENT];
}
static inline unsigned rt_recent_add(struct rt_recent *r, unsigned at, uint64_t operand)
{
	r->operand[at % RT_RECENT] = operand;
	return at + (operand != 0);
}

/* Updates a site's predictions; called for every operand. */
static inline void rt_site_learn(struct rt_site *s, uint64_t operand)
{
	uint64_t delta = operand - s->operand;
	s->stride = delta == s->delta ? delta : s->stride;
	s->delta = delta;
	s->operand = operand;
}

/* The site whose successor comes next, after an event at this site. */
static inline uint32_t rt_calls_next(struct rt_calls *c, uint32_t site, unsigned op)
{
	if (__builtin_expect(op - RT_OP_ENTER <= 1u, 0)) {
		if (op == RT_OP_ENTER) {
			c->returns[c->depth++ % RT_CALLS] = (uint16_t)(site + 1);
		} else {
			uint16_t back = c->returns[--c->depth % RT_CALLS];
			site = back ? back : site;
		}
	}
	return site;
}
_Static_assert(RT_OP_LEAVE == RT_OP_ENTER + 1, "rt_calls_next tells them by one comparison");

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
 * Codes records until the chunk is full; returns the number that it took (an EXT, VALUE, event group goes whole into
 * one chunk), 0 if the chunk is full. Groups must not be split between calls. SIZE_MAX: no memory.
 */
size_t rt_encoder_add(struct rt_encoder *e, const struct rt_record *records, size_t n);

/* The chunk's content so far. */
struct rt_chunk_facts {
	uint32_t records, events;
	uint64_t left_out, lost;
	uint64_t first_stamp, last_stamp; /* stamps at its first and last event */
	uint64_t base_stamp;              /* base of the first STAMP */
};
const struct rt_chunk_facts *rt_encoder_facts(const struct rt_encoder *e);
/* Calls f for the pc of each site of the chunk; stops when it returns false, and returns that. */
bool rt_encoder_each_pc(const struct rt_encoder *e, bool (*f)(uint64_t pc, void *arg), void *arg);
/* Appends the coded chunk to out (check out->failed) and empties the encoder; the current stamp stays. */
void rt_encoder_finish(struct rt_encoder *e, struct rt_bytes *out);

/* Decoding. The coded bytes are borrowed until the next init or release. */
struct rt_decoder {
	const uint8_t *flag, *flag_end; /* flags are the fast path: the others are cursors */
	struct rt_cursor column[RT_COLUMN_COUNT];
	struct rt_site *sites;
	uint32_t site_count, site_cap;
	uint32_t from; /* the site whose successor the next event is at */
	struct rt_recent recent;
	struct rt_calls calls;
	uint64_t pc, stamp;
};

/* False: not a coded chunk, or no memory (*memory is then true). The caller releases the decoder in any case. */
bool rt_decoder_init(struct rt_decoder *d, const uint8_t *data, size_t n, uint64_t base_stamp, bool *memory);
void rt_decoder_release(struct rt_decoder *d);
/* Decodes everything into records (room for n); false if damaged or more than n. *got: their number. */
bool rt_decoder_records(struct rt_decoder *d, struct rt_record *records, size_t n, size_t *got);

/*
 * Decoding step by step. While flag < flag_end: rt_decoder_take_literal if *flag has RT_FLAG_LITERAL, otherwise
 * rt_decoder_next. The caller keeps flag, site and recent operands in local variables, so in registers, and advances
 * flag.
 */
struct rt_step {
	struct rt_site *site; /* the event's site: op, skip, w1; also arg and value if the flag says so */
	uint64_t operand;     /* the event's operand */
	uint32_t from;        /* as in the decoder */
	unsigned at;          /* as in its recent operands */
};

/* The next record if it has this flag and no event; it is not taken. False if damaged. */
bool rt_decoder_peek_literal(const struct rt_decoder *d, unsigned flag, struct rt_record *record);
/* Takes it. */
void rt_decoder_take_literal(struct rt_decoder *d, unsigned flag);
/* The stamp of the next event's EXT; it is not taken. Only if its flag has RT_FLAG_EXT. */
static inline uint64_t rt_decoder_peek_stamp(const struct rt_decoder *d)
{
	struct rt_cursor c = d->column[RT_COLUMN_STAMP];
	return d->stamp + (uint64_t)rt_unzigzag(rt_cursor_varint(&c) >> 1);
}

/* The rare cases of rt_decoder_next: an unexpected site (false if damaged); an operand; a prefix. */
bool rt_decoder_miss(struct rt_decoder *d, unsigned flag, struct rt_step last, uint32_t *site);
bool rt_decoder_operand(struct rt_decoder *d, unsigned flag, struct rt_site *site, unsigned at, uint64_t *operand);
bool rt_decoder_prefix(struct rt_decoder *d, unsigned flag, struct rt_site *site);

/* Advances from the last step to the event with this flag; false if the chunk is damaged. */
static inline __attribute__((always_inline)) bool rt_decoder_next(struct rt_decoder *d, unsigned flag,
                                                                  struct rt_site *sites, struct rt_step *step)
{
	uint32_t number = sites[step->from].next[0];
	if (__builtin_expect((flag & RT_FLAG_SITE) != 0, 0)) {
		uint32_t found;
		if (!rt_decoder_miss(d, flag, *step, &found))
			return false;
		number = found;
	}
	struct rt_site *s = &sites[number];
	uint64_t operand;
	if (__builtin_expect((flag & RT_FLAG_OPERAND) == 0, 1)) {
		operand = s->operand + s->stride;
	} else if ((flag & RT_FLAG_OPERAND) == 4) {
		operand = rt_recent_get(&d->recent, step->at, s->back) + s->distance;
	} else {
		uint64_t found;
		if (!rt_decoder_operand(d, flag, s, step->at, &found))
			return false;
		operand = found;
	}
	operand &= RT_OPERAND_MAX;
	rt_site_learn(s, operand);
	step->at = rt_recent_add(&d->recent, step->at, operand);
	step->operand = operand;
	step->site = s;
	step->from = rt_calls_next(&d->calls, number, s->op);
	if (__builtin_expect(flag & (RT_FLAG_SKIP | RT_FLAG_EXT | RT_FLAG_VALUE), 0))
		return rt_decoder_prefix(d, flag, s);
	return true;
}

#endif
