/* Coding of a chunk by prediction into columns; see column.h and docs/trace-format.md. */
#include "tracefmt/native/column.h"

enum { BATCH = 128 };

/* Most bytes that one record adds to a column. */
static const uint8_t column_max[RT_COLUMN_COUNT] = {
    [RT_COLUMN_FLAG] = 1,    [RT_COLUMN_SITE] = 3,    [RT_COLUMN_DEF] = 11,   [RT_COLUMN_REF] = 1,
    [RT_COLUMN_OPERAND] = 7, [RT_COLUMN_SKIP] = 1,    [RT_COLUMN_STAMP] = 10, [RT_COLUMN_ARG] = 7,
    [RT_COLUMN_VALUE] = 10,  [RT_COLUMN_LITERAL] = 16};

struct rt_encoder {
	struct rt_bytes column[RT_COLUMN_COUNT];
	struct rt_chunk_facts facts;
	struct rt_site *sites;
	uint16_t *table;               /* open addressing: site numbers, 0 is empty; twice as many as sites at least */
	uint32_t site_count, site_cap; /* site_cap: a power of two */
	uint32_t from;                 /* the site whose successor the next event is at */
	struct rt_recent recent;
	struct rt_calls calls;
	uint64_t pc, stamp;
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
		if (e->sites[i].op != RT_SITE_NONE.op && !f(e->sites[i].w1 & RT_OPERAND_MAX, arg))
			return false;
	return true;
}

static uint32_t site_hash(uint64_t w1, unsigned op)
{
	return (uint32_t)(((w1 ^ (uint64_t)op << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* Makes room for n more sites and moves all into a table of the new size. */
static bool sites_reserve(struct rt_encoder *e, uint32_t n)
{
	if (e->site_cap - e->site_count >= n)
		return true;
	uint32_t cap = e->site_cap ? e->site_cap : 8; /* there may be very many threads of a few records */
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
		if (sites[i].op == RT_SITE_NONE.op)
			continue;
		uint32_t h = site_hash(sites[i].w1, sites[i].op) & (cap * 2 - 1);
		while (table[h])
			h = (h + 1) & (cap * 2 - 1);
		table[h] = (uint16_t)i;
	}
	return true;
}

/*
 * State that changes with each record of a batch. It is a local variable of the loop whose address does not escape, so
 * it stays in registers although bytes are stored all the time.
 */
struct state {
	uint32_t from;
	unsigned at; /* of the recent operands */
	uint64_t left_out;
	uint8_t *flag;
	uint32_t events;
};

/* Room was made before the batch. */
static void put_varint(struct rt_encoder *e, enum rt_column i, uint64_t v)
{
	struct rt_bytes *b = &e->column[i];
	b->len = (size_t)(rt_varint_put(b->data + b->len, v) - b->data);
}

/* The site after `last` was not the expected one: finds or adds it. Returns its flag bits. */
static __attribute__((noinline)) unsigned site_miss(struct rt_encoder *e, uint32_t last, unsigned at,
                                                    struct rt_record r)
{
	struct rt_site *from = &e->sites[last];
	unsigned op = rt_record_op(r);
	uint16_t second = from->next[1];
	from->next[1] = from->next[0];
	if (second && e->sites[second].w1 == r.w1 && e->sites[second].op == op) {
		from->next[0] = second;
		return 1;
	}
	uint32_t mask = e->site_cap * 2 - 1;
	uint32_t h = site_hash(r.w1, op) & mask;
	for (; e->table[h]; h = (h + 1) & mask) {
		struct rt_site *s = &e->sites[e->table[h]];
		if (s->w1 == r.w1 && s->op == op) {
			from->next[0] = e->table[h];
			put_varint(e, RT_COLUMN_SITE, e->table[h]);
			return 2;
		}
	}
	uint16_t number = (uint16_t)e->site_count++;
	from->next[0] = e->table[h] = number;
	e->sites[number] = (struct rt_site){.w1 = r.w1, .operand = rt_recent_get(&e->recent, at, 0), .op = (uint8_t)op};
	if (op == RT_OP_ENTER)
		e->sites[e->site_count++] = RT_SITE_NONE;
	struct rt_bytes *def = &e->column[RT_COLUMN_DEF];
	put_varint(e, RT_COLUMN_DEF, rt_zigzag(rt_operand_delta(rt_record_pc(r), e->pc)));
	def->data[def->len++] = (uint8_t)op;
	put_varint(e, RT_COLUMN_DEF, rt_record_aux_of(r));
	e->pc = rt_record_pc(r);
	return 3;
}

/* The operand is not last + stride: codes it. */
static __attribute__((noinline)) unsigned operand_miss(struct rt_encoder *e, struct rt_site *s, unsigned at,
                                                       uint64_t operand)
{
	if (operand == ((rt_recent_get(&e->recent, at, s->back) + s->distance) & RT_OPERAND_MAX))
		return 4;
	if (operand == s->operand) {
		s->distance = operand - rt_recent_get(&e->recent, at, s->back);
		return 12;
	}
	/* The nearest of the site's own last operand and the thread's last ones. */
	uint64_t nearest = rt_zigzag(rt_operand_delta(operand, s->operand));
	unsigned ref = RT_REF_OWN;
	for (unsigned back = 0; back < RT_RECENT; back++) {
		uint64_t z = rt_zigzag(rt_operand_delta(operand, rt_recent_get(&e->recent, at, back)));
		ref = z < nearest ? back : ref;
		nearest = z < nearest ? z : nearest;
	}
	if (ref != RT_REF_OWN)
		s->back = (uint8_t)ref;
	s->distance = operand - rt_recent_get(&e->recent, at, s->back);
	struct rt_bytes *b = &e->column[RT_COLUMN_REF];
	b->data[b->len++] = (uint8_t)ref;
	put_varint(e, RT_COLUMN_OPERAND, nearest);
	return 8;
}

static void put_skip(struct rt_encoder *e, struct rt_site *s, unsigned skip)
{
	struct rt_bytes *b = &e->column[RT_COLUMN_SKIP];
	s->skip = b->data[b->len++] = (uint8_t)skip;
}

/* Codes the records before the event: the EXT's stamp and arg, the VALUE's value. */
static void put_prefix(struct rt_encoder *e, unsigned flag, struct rt_record ext, struct rt_record value,
                       struct rt_site *s)
{
	if (flag & RT_FLAG_EXT) {
		uint64_t arg = rt_record_operand(ext);
		put_varint(e, RT_COLUMN_STAMP, rt_zigzag((int64_t)(ext.w1 - e->stamp)) << 1 | (arg != s->arg));
		if (arg != s->arg)
			put_varint(e, RT_COLUMN_ARG, rt_zigzag(rt_operand_delta(arg, s->arg)));
		s->arg = arg;
		e->stamp = ext.w1;
		if (s->op == RT_OP_LOST)
			e->facts.lost += arg;
	}
	if (flag & RT_FLAG_VALUE) {
		put_varint(e, RT_COLUMN_VALUE, rt_zigzag((int64_t)(value.w1 - s->value)));
		s->value = value.w1;
	}
}

static bool is_event(struct rt_record r)
{
	return rt_record_op(r) >= RT_OP_READ;
}

/* True if r can be coded as the EXT of the event after it: its stamp's delta must leave a bit, and it must have no
 * skip. */
static bool is_plain_ext(const struct rt_encoder *e, struct rt_record r)
{
	int64_t delta = (int64_t)(r.w1 - e->stamp);
	return r.w0 >> 48 == RT_OP_EXT && delta < INT64_C(1) << 61 && delta > -(INT64_C(1) << 61);
}

/* Codes a record without an event; returns its flag. */
static uint8_t put_literal(struct rt_encoder *e, struct rt_record r)
{
	if (is_plain_ext(e, r) && !rt_record_operand(r)) {
		put_varint(e, RT_COLUMN_STAMP, rt_zigzag((int64_t)(r.w1 - e->stamp)) << 1);
		e->stamp = r.w1;
		return RT_FLAG_MARK;
	}
	uint64_t le[2] = {htole64(r.w0), htole64(r.w1)};
	struct rt_bytes *b = &e->column[RT_COLUMN_LITERAL];
	memcpy(b->data + b->len, le, 16);
	b->len += 16;
	if (rt_record_op(r) == RT_OP_EXT)
		e->stamp = r.w1;
	else if (rt_record_op(r) == RT_OP_SKIP)
		e->facts.left_out += rt_record_operand(r);
	return RT_FLAG_LITERAL;
}

/* Codes the records of one event, or one literal; returns their number. */
static inline __attribute__((always_inline)) size_t put_group(struct rt_encoder *e, struct state *state,
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
			*state->flag++ = put_literal(e, r[0]);
			return 1;
		}
	}
	struct rt_record ev = r[used++];
	struct rt_site *sites = e->sites;
	uint32_t number = sites[state->from].next[0];
	if (__builtin_expect(sites[number].w1 != ev.w1 || sites[number].op != rt_record_op(ev), 0)) {
		flag |= site_miss(e, state->from, state->at, ev);
		number = sites[state->from].next[0];
	}
	struct rt_site *s = &sites[number];
	uint64_t operand = rt_record_operand(ev);
	if (__builtin_expect(operand != ((s->operand + s->stride) & RT_OPERAND_MAX), 0))
		flag |= operand_miss(e, s, state->at, operand);
	rt_site_learn(s, operand);
	state->at = rt_recent_add(&e->recent, state->at, operand);
	state->from = rt_calls_next(&e->calls, number, s->op);
	unsigned skip = rt_record_skip(ev);
	if (__builtin_expect(skip != s->skip, 0)) {
		flag |= RT_FLAG_SKIP;
		put_skip(e, s, skip);
	}
	state->left_out += skip;
	if (__builtin_expect(flag & (RT_FLAG_EXT | RT_FLAG_VALUE), 0))
		put_prefix(e, flag, ext, value, s);
	if (__builtin_expect(!state->events++, 0))
		e->facts.first_stamp = e->stamp;
	*state->flag++ = (uint8_t)flag;
	return used;
}

/* Begins a chunk: site 0 alone. */
static bool chunk_begin(struct rt_encoder *e)
{
	if (!sites_reserve(e, 1))
		return false;
	if (!e->site_count) {
		e->sites[0] = RT_SITE_NONE;
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
	/* A group has up to three records, so two places are kept free at the chunk's end. */
	while (taken < n && e->facts.records + 2 < RT_CHUNK_RECORDS && e->site_count <= RT_CHUNK_SITES - 2 * BATCH) {
		size_t room = RT_CHUNK_RECORDS - 2 - e->facts.records, most = room < BATCH ? room : BATCH, used = 0;
		most = most < n - taken ? most : n - taken;
		if (!sites_reserve(e, 2 * (uint32_t)most))
			return SIZE_MAX;
		for (unsigned i = 0; i < RT_COLUMN_COUNT; i++)
			if (!rt_bytes_reserve(&e->column[i], (most + 2) * column_max[i]))
				return SIZE_MAX;
		struct rt_bytes *flags = &e->column[RT_COLUMN_FLAG];
		struct state state = {
		    .from = e->from, .at = e->recent.at, .flag = flags->data + flags->len, .events = e->facts.events};
		while (used < most)
			used += put_group(e, &state, records + taken + used, n - taken - used);
		e->from = state.from;
		e->recent.at = state.at;
		flags->len = (size_t)(state.flag - flags->data);
		e->facts.events = state.events;
		e->facts.left_out += state.left_out;
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
	e->site_count = e->from = 0;
	e->pc = 0;
	memset(&e->recent, 0, sizeof e->recent);
	memset(&e->calls, 0, sizeof e->calls);
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
	/* A definition takes at least three bytes and makes at most two sites. */
	uint64_t most = length[RT_COLUMN_DEF] / 3 * 2 + 1;
	d->site_cap = (uint32_t)(most > RT_CHUNK_SITES ? RT_CHUNK_SITES : most);
	d->sites = malloc(d->site_cap * sizeof *d->sites);
	if (!d->sites) {
		*memory = true;
		return false;
	}
	d->sites[0] = RT_SITE_NONE;
	d->site_count = 1;
	d->stamp = base_stamp;
	return true;
}

void rt_decoder_release(struct rt_decoder *d)
{
	free(d->sites);
	memset(d, 0, sizeof *d);
}

static bool take_definition(struct rt_decoder *d, unsigned at)
{
	struct rt_cursor *c = &d->column[RT_COLUMN_DEF];
	uint64_t pc = (d->pc + (uint64_t)rt_unzigzag(rt_cursor_varint(c))) & RT_OPERAND_MAX;
	const uint8_t *op = rt_cursor_take(c, 1);
	uint64_t aux = rt_cursor_varint(c);
	if (c->bad || aux > UINT16_MAX || *op < RT_OP_READ || d->site_cap - d->site_count < 1u + (*op == RT_OP_ENTER))
		return false;
	d->pc = pc;
	d->sites[d->site_count++] =
	    (struct rt_site){.w1 = pc | aux << 48, .operand = rt_recent_get(&d->recent, at, 0), .op = *op};
	if (*op == RT_OP_ENTER)
		d->sites[d->site_count++] = RT_SITE_NONE;
	return true;
}

bool rt_decoder_miss(struct rt_decoder *d, unsigned flag, struct rt_step last, uint32_t *site)
{
	struct rt_cursor *c = &d->column[RT_COLUMN_SITE];
	uint16_t *next = d->sites[last.from].next;
	uint64_t number;
	switch (flag & RT_FLAG_SITE) {
	case 1:
		number = next[1];
		break;
	case 2:
		number = rt_cursor_varint(c);
		if (c->bad || number >= d->site_count)
			return false;
		break;
	default:
		number = d->site_count;
		if (!take_definition(d, last.at))
			return false;
	}
	next[1] = next[0];
	next[0] = (uint16_t)number;
	*site = (uint32_t)number;
	return true;
}

bool rt_decoder_operand(struct rt_decoder *d, unsigned flag, struct rt_site *site, unsigned at, uint64_t *operand)
{
	uint64_t base = site->operand, delta = 0;
	if ((flag & RT_FLAG_OPERAND) == 8) {
		struct rt_cursor *c = &d->column[RT_COLUMN_OPERAND];
		const uint8_t *ref = rt_cursor_take(&d->column[RT_COLUMN_REF], 1);
		delta = (uint64_t)rt_unzigzag(rt_cursor_varint(c));
		if (!ref || c->bad || *ref > RT_REF_OWN)
			return false;
		if (*ref != RT_REF_OWN) {
			site->back = *ref;
			base = rt_recent_get(&d->recent, at, *ref);
		}
	}
	*operand = (base + delta) & RT_OPERAND_MAX;
	site->distance = *operand - rt_recent_get(&d->recent, at, site->back);
	return true;
}

bool rt_decoder_prefix(struct rt_decoder *d, unsigned flag, struct rt_site *site)
{
	struct rt_cursor *c = d->column;
	if (flag & RT_FLAG_SKIP) {
		const uint8_t *p = rt_cursor_take(&c[RT_COLUMN_SKIP], 1);
		if (!p)
			return false;
		site->skip = *p;
	}
	if (flag & RT_FLAG_EXT) {
		uint64_t v = rt_cursor_varint(&c[RT_COLUMN_STAMP]);
		d->stamp += (uint64_t)rt_unzigzag(v >> 1);
		if (v & 1)
			site->arg =
			    (site->arg + (uint64_t)rt_unzigzag(rt_cursor_varint(&c[RT_COLUMN_ARG]))) & RT_OPERAND_MAX;
	}
	if (flag & RT_FLAG_VALUE)
		site->value += (uint64_t)rt_unzigzag(rt_cursor_varint(&c[RT_COLUMN_VALUE]));
	return !c[RT_COLUMN_STAMP].bad && !c[RT_COLUMN_ARG].bad && !c[RT_COLUMN_VALUE].bad;
}

bool rt_decoder_peek_literal(const struct rt_decoder *d, unsigned flag, struct rt_record *record)
{
	if (flag == RT_FLAG_MARK) {
		*record = rt_record_ext(rt_decoder_peek_stamp(d), 0);
		return true;
	}
	struct rt_cursor c = d->column[RT_COLUMN_LITERAL];
	const uint8_t *p = rt_cursor_take(&c, 16);
	uint64_t w[2];
	if (!p)
		return false;
	memcpy(w, p, 16);
	*record = (struct rt_record){le64toh(w[0]), le64toh(w[1])};
	return true;
}

void rt_decoder_take_literal(struct rt_decoder *d, unsigned flag)
{
	struct rt_record record;
	if (rt_decoder_peek_literal(d, flag, &record) && rt_record_op(record) == RT_OP_EXT)
		d->stamp = record.w1;
	if (flag == RT_FLAG_MARK)
		rt_cursor_varint(&d->column[RT_COLUMN_STAMP]);
	else
		rt_cursor_take(&d->column[RT_COLUMN_LITERAL], 16);
}

/* The record of the event that a step reached. */
static struct rt_record step_record(struct rt_step step)
{
	uint64_t w0 = step.operand | (uint64_t)step.site->op << 48 | (uint64_t)step.site->skip << 56;
	return (struct rt_record){w0, step.site->w1};
}

bool rt_decoder_records(struct rt_decoder *d, struct rt_record *records, size_t n, size_t *got)
{
	size_t k = 0;
	struct rt_step step = {.from = d->from, .at = d->recent.at};
	while (d->flag < d->flag_end) {
		unsigned flag = *d->flag;
		if (n - k < 3 && n - k < 1u + !!(flag & RT_FLAG_EXT) + !!(flag & RT_FLAG_VALUE))
			return false;
		if (flag & RT_FLAG_LITERAL) {
			if (!rt_decoder_peek_literal(d, flag, &records[k++]))
				return false;
			rt_decoder_take_literal(d, flag);
			d->flag++;
			continue;
		}
		d->flag++;
		if (!rt_decoder_next(d, flag, d->sites, &step))
			return false;
		if (flag & RT_FLAG_EXT)
			records[k++] = rt_record_ext(d->stamp, step.site->arg);
		if (flag & RT_FLAG_VALUE)
			records[k++] = (struct rt_record){(uint64_t)RT_OP_VALUE << 48, step.site->value};
		records[k++] = step_record(step);
	}
	*got = k;
	return true;
}
