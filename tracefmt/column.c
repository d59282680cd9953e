/* Coding of a chunk by prediction into columns; see column.h and docs/trace-format.md. */
#include "tracefmt/column.h"

enum { BATCH = 256, NO_SITE = 0 };

/* Most bytes that one record adds to a column. */
static const uint8_t column_max[RT_COLUMN_COUNT] = {
    [RT_COLUMN_FLAG] = 1,   [RT_COLUMN_SITE] = 3, [RT_COLUMN_DEF] = 11,   [RT_COLUMN_OPERAND] = 7, [RT_COLUMN_SKIP] = 1,
    [RT_COLUMN_STAMP] = 10, [RT_COLUMN_ARG] = 7,  [RT_COLUMN_VALUE] = 10, [RT_COLUMN_LITERAL] = 16};

struct rt_encoder {
	struct rt_bytes column[RT_COLUMN_COUNT];
	struct rt_chunk_facts facts;
	struct rt_site *sites;
	uint16_t *table; /* open addressing: site numbers, NO_SITE is empty; twice as many as sites at least */
	uint32_t site_count, site_cap; /* site_cap: a power of two */
	uint32_t site;
	uint64_t operand, pc, stamp;
};

struct rt_encoder *rt_encoder_create(void)
{
	return calloc(1, sizeof(struct rt_encoder));
}

void rt_encoder_free(struct rt_encoder *e)
{
	if (!e)
		return;
	for (unsigned i = 0; i < RT_COLUMN_COUNT; i++)
		rt_bytes_release(&e->column[i]);
	free(e->sites);
	free(e->table);
	free(e);
}

const struct rt_chunk_facts *rt_encoder_facts(const struct rt_encoder *e)
{
	return &e->facts;
}

bool rt_encoder_each_pc(const struct rt_encoder *e, bool (*f)(uint64_t pc, void *arg), void *arg)
{
	for (uint32_t i = 1; i < e->site_count; i++)
		if (!f(e->sites[i].w1 & RT_OPERAND_MAX, arg))
			return false;
	return true;
}

static uint32_t site_hash(uint64_t w1, unsigned op)
{
	return (uint32_t)(((w1 ^ (uint64_t)op << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* Makes room for n more sites and puts all into a table of the new size. */
static bool sites_reserve(struct rt_encoder *e, uint32_t n)
{
	if (e->site_cap - e->site_count >= n)
		return true;
	uint32_t cap = e->site_cap ? e->site_cap : 512;
	while (cap - e->site_count < n)
		cap *= 2;
	struct rt_site *sites = realloc(e->sites, cap * sizeof *sites);
	if (!sites)
		return false;
	e->sites = sites;
	uint16_t *table = calloc((size_t)cap * 2, sizeof *table);
	if (!table)
		return false;
	free(e->table);
	e->table = table;
	e->site_cap = cap;
	for (uint32_t i = 1; i < e->site_count; i++) {
		uint32_t h = site_hash(sites[i].w1, sites[i].op) & (cap * 2 - 1);
		while (table[h])
			h = (h + 1) & (cap * 2 - 1);
		table[h] = (uint16_t)i;
	}
	return true;
}

/* The columns' write positions, in registers during a batch. */
struct out {
	uint8_t *p[RT_COLUMN_COUNT];
};

static void out_varint(struct out *o, enum rt_column i, uint64_t v)
{
	o->p[i] = rt_varint_put(o->p[i], v);
}

/* The site was not the expected one: finds or makes it. Returns its flag bits; *number is the site. */
static __attribute__((noinline)) unsigned site_miss(struct rt_encoder *e, struct out *o, struct rt_record r,
                                                    uint32_t *number)
{
	struct rt_site *from = &e->sites[e->site];
	unsigned op = rt_record_op(r);
	uint16_t second = from->next[1];
	from->next[1] = from->next[0];
	if (second && e->sites[second].w1 == r.w1 && e->sites[second].op == op) {
		from->next[0] = second;
		*number = second;
		return 1;
	}
	uint32_t mask = e->site_cap * 2 - 1;
	uint32_t h = site_hash(r.w1, op) & mask;
	for (; e->table[h]; h = (h + 1) & mask) {
		struct rt_site *s = &e->sites[e->table[h]];
		if (s->w1 == r.w1 && s->op == op) {
			*number = from->next[0] = e->table[h];
			out_varint(o, RT_COLUMN_SITE, *number);
			return 2;
		}
	}
	*number = e->site_count++;
	from->next[0] = e->table[h] = (uint16_t)*number;
	e->sites[*number] = (struct rt_site){.w1 = r.w1, .operand = e->operand, .op = (uint8_t)op};
	out_varint(o, RT_COLUMN_DEF, rt_zigzag(rt_operand_delta(rt_record_pc(r), e->pc)));
	e->pc = rt_record_pc(r);
	*o->p[RT_COLUMN_DEF]++ = (uint8_t)op;
	out_varint(o, RT_COLUMN_DEF, rt_record_aux_of(r));
	return 3;
}

/* An event has an EXT in front of it: its stamp and arg. */
static void put_ext(struct rt_encoder *e, struct out *o, struct rt_record ext, struct rt_site *s)
{
	uint64_t arg = rt_record_operand(ext);
	out_varint(o, RT_COLUMN_STAMP, rt_zigzag((int64_t)(ext.w1 - e->stamp)) << 1 | (arg != s->arg));
	if (arg != s->arg)
		out_varint(o, RT_COLUMN_ARG, rt_zigzag(rt_operand_delta(arg, s->arg)));
	s->arg = arg;
	e->stamp = ext.w1;
	if (s->op == RT_OP_LOST)
		e->facts.lost += arg;
}

static void put_literal(struct rt_encoder *e, struct out *o, struct rt_record r)
{
	uint64_t le[2] = {htole64(r.w0), htole64(r.w1)};
	*o->p[RT_COLUMN_FLAG]++ = RT_FLAG_LITERAL;
	memcpy(o->p[RT_COLUMN_LITERAL], le, 16);
	o->p[RT_COLUMN_LITERAL] += 16;
	if (rt_record_op(r) == RT_OP_EXT)
		e->stamp = r.w1;
	else if (rt_record_op(r) == RT_OP_SKIP)
		e->facts.left_out += rt_record_operand(r);
}

static bool is_event(struct rt_record r)
{
	return rt_record_op(r) >= RT_OP_READ;
}

/* Can r go as the EXT of the event after it? Its stamp's delta must leave a bit, and it must have no skip. */
static bool is_plain_ext(const struct rt_encoder *e, struct rt_record r)
{
	int64_t delta = (int64_t)(r.w1 - e->stamp);
	return r.w0 >> 48 == RT_OP_EXT && delta < INT64_C(1) << 61 && delta > -(INT64_C(1) << 61);
}

/* Takes the records of one event, or one literal; returns how many that were. */
static inline __attribute__((always_inline)) size_t put_group(struct rt_encoder *e, struct out *o,
                                                              const struct rt_record *r, size_t n)
{
	struct rt_record ext = {0, 0}, value = {0, 0};
	size_t used = 0;
	unsigned flag = 0;
	if (__builtin_expect(!is_event(r[0]), 0)) {
		if (is_plain_ext(e, r[0])) {
			ext = r[used++];
			flag |= RT_FLAG_EXT;
		}
		if (used < n && r[used].w0 == (uint64_t)RT_OP_VALUE << 48) {
			value = r[used++];
			flag |= RT_FLAG_VALUE;
		}
		if (used == n || !is_event(r[used])) {
			put_literal(e, o, r[0]);
			return 1;
		}
	}
	struct rt_record ev = r[used++];
	uint32_t number = e->sites[e->site].next[0];
	if (__builtin_expect(e->sites[number].w1 != ev.w1 || e->sites[number].op != rt_record_op(ev), 0))
		flag |= site_miss(e, o, ev, &number);
	struct rt_site *s = &e->sites[number];
	uint64_t operand = rt_record_operand(ev);
	if (__builtin_expect(operand != ((s->operand + s->stride) & RT_OPERAND_MAX), 0)) {
		if (operand == ((e->operand + s->distance) & RT_OPERAND_MAX)) {
			flag |= 4;
		} else if (operand == s->operand) {
			flag |= 12;
		} else {
			flag |= 8;
			out_varint(o, RT_COLUMN_OPERAND, rt_zigzag(rt_operand_delta(operand, s->operand)));
		}
	}
	rt_site_learn(s, operand, e->operand);
	e->operand = operand;
	e->site = number;
	unsigned skip = rt_record_skip(ev);
	if (__builtin_expect(skip != s->skip, 0)) {
		flag |= RT_FLAG_SKIP;
		s->skip = *o->p[RT_COLUMN_SKIP]++ = (uint8_t)skip;
	}
	e->facts.left_out += skip;
	if (flag & RT_FLAG_EXT)
		put_ext(e, o, ext, s);
	if (flag & RT_FLAG_VALUE) {
		out_varint(o, RT_COLUMN_VALUE, rt_zigzag((int64_t)(value.w1 - s->value)));
		s->value = value.w1;
	}
	if (__builtin_expect(!e->facts.events, 0))
		e->facts.first_stamp = e->stamp;
	e->facts.events++;
	*o->p[RT_COLUMN_FLAG]++ = (uint8_t)flag;
	return used;
}

/* Begins a chunk: site 0 alone. */
static bool chunk_begin(struct rt_encoder *e)
{
	if (!sites_reserve(e, 1))
		return false;
	if (!e->site_count) {
		e->sites[0] = RT_SITE_START;
		e->site_count = 1;
		e->facts.base_stamp = e->facts.first_stamp = e->stamp;
	}
	return true;
}

size_t rt_encoder_add(struct rt_encoder *e, const struct rt_record *records, size_t n)
{
	size_t taken = 0;
	if (!chunk_begin(e))
		return SIZE_MAX;
	/* A group has up to three records, so two places stay free at the chunk's end. */
	while (taken < n && e->facts.records + 2 < RT_CHUNK_RECORDS) {
		size_t room = RT_CHUNK_RECORDS - 2 - e->facts.records, most = room < BATCH ? room : BATCH, used = 0;
		struct out o;
		if (!sites_reserve(e, BATCH))
			return SIZE_MAX;
		for (unsigned i = 0; i < RT_COLUMN_COUNT; i++) {
			if (!rt_bytes_reserve(&e->column[i], (size_t)BATCH * column_max[i]))
				return SIZE_MAX;
			o.p[i] = e->column[i].data + e->column[i].len;
		}
		while (used < most && taken + used < n)
			used += put_group(e, &o, records + taken + used, n - taken - used);
		for (unsigned i = 0; i < RT_COLUMN_COUNT; i++)
			e->column[i].len = (size_t)(o.p[i] - e->column[i].data);
		e->facts.records += (uint32_t)used;
		taken += used;
	}
	e->facts.last_stamp = e->stamp;
	return taken;
}

void rt_encoder_finish(struct rt_encoder *e, struct rt_bytes *out)
{
	for (unsigned i = 0; i < RT_COLUMN_COUNT; i++)
		rt_bytes_varint(out, e->column[i].len);
	for (unsigned i = 0; i < RT_COLUMN_COUNT; i++) {
		rt_bytes_add(out, e->column[i].data, e->column[i].len);
		e->column[i].len = 0;
	}
	memset(&e->facts, 0, sizeof e->facts);
	if (e->table)
		memset(e->table, 0, sizeof *e->table * 2 * e->site_cap);
	e->site_count = e->site = 0;
	e->operand = e->pc = 0;
}

bool rt_decoder_init(struct rt_decoder *d, const uint8_t *data, size_t n, uint64_t base_stamp, bool *memory)
{
	memset(d, 0, sizeof *d);
	struct rt_cursor c = rt_cursor_make(data, n);
	uint64_t length[RT_COLUMN_COUNT];
	for (unsigned i = 0; i < RT_COLUMN_COUNT; i++)
		length[i] = rt_cursor_varint(&c);
	for (unsigned i = 0; i < RT_COLUMN_COUNT; i++) {
		const uint8_t *p = rt_cursor_take(&c, length[i]);
		if (!p)
			return false;
		d->column[i] = rt_cursor_make(p, (size_t)length[i]);
	}
	if (length[RT_COLUMN_FLAG] > RT_CHUNK_RECORDS)
		return false;
	d->flag = d->column[RT_COLUMN_FLAG].p;
	d->flag_end = d->column[RT_COLUMN_FLAG].end;
	/* A definition takes three bytes at least, and a flag. */
	uint64_t most = length[RT_COLUMN_DEF] / 3 + 1;
	d->site_cap = (uint32_t)(most > length[RT_COLUMN_FLAG] + 1 ? length[RT_COLUMN_FLAG] + 1 : most);
	d->sites = malloc(d->site_cap * sizeof *d->sites);
	if (!d->sites) {
		*memory = true;
		return false;
	}
	d->sites[0] = RT_SITE_START;
	d->site_count = 1;
	d->stamp = base_stamp;
	return true;
}

void rt_decoder_release(struct rt_decoder *d)
{
	free(d->sites);
	memset(d, 0, sizeof *d);
}

static bool take_definition(struct rt_decoder *d, uint32_t *number)
{
	struct rt_cursor *c = &d->column[RT_COLUMN_DEF];
	uint64_t pc = (d->pc + (uint64_t)rt_unzigzag(rt_cursor_varint(c))) & RT_OPERAND_MAX;
	const uint8_t *op = rt_cursor_take(c, 1);
	uint64_t aux = rt_cursor_varint(c);
	if (c->bad || d->site_count == d->site_cap || aux > UINT16_MAX || *op < RT_OP_READ)
		return false;
	d->pc = pc;
	*number = d->site_count++;
	d->sites[*number] = (struct rt_site){.w1 = pc | aux << 48, .operand = d->operand, .op = *op};
	return true;
}

bool rt_decoder_miss(struct rt_decoder *d, unsigned flag, struct rt_site **site)
{
	struct rt_site *from = &d->sites[d->site];
	uint32_t number;
	switch (flag & RT_FLAG_SITE) {
	case 1:
		number = from->next[1];
		break;
	case 2: {
		uint64_t v = rt_column_varint(d, RT_COLUMN_SITE);
		if (d->column[RT_COLUMN_SITE].bad || v >= d->site_count)
			return false;
		number = (uint32_t)v;
		break;
	}
	default:
		if (!take_definition(d, &number))
			return false;
	}
	from->next[1] = from->next[0];
	from->next[0] = (uint16_t)number;
	d->site = number;
	*site = &d->sites[number];
	return true;
}

bool rt_decoder_records(struct rt_decoder *d, struct rt_record *records, size_t n, size_t *got)
{
	size_t k = 0;
	while (d->flag < d->flag_end) {
		struct rt_step g = {0};
		if (!rt_decoder_next(d, &g))
			return false;
		size_t need = 1u + !!(g.flag & RT_FLAG_EXT) + !!(g.flag & RT_FLAG_VALUE);
		if (g.flag & RT_FLAG_LITERAL)
			need = 1;
		if (n - k < need)
			return false;
		if (!(g.flag & RT_FLAG_LITERAL)) {
			if (g.flag & RT_FLAG_EXT)
				records[k++] = rt_record_ext(g.stamp, g.arg);
			if (g.flag & RT_FLAG_VALUE)
				records[k++] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, g.value};
		}
		records[k++] = (struct rt_record){g.w0, g.w1};
	}
	*got = k;
	return true;
}
