/*
 * The Valgrind tool "racetrace": sees what a program that was built without instrumentation does to memory, and appends
 * it to the rings of the program's threads. What synchronises it learns from the recorder, which is preloaded into the
 * program and appends to the same rings.
 */
#include "recorder/objects.h"
#include "recorder/runtime/filter.h"
#include "recorder/runtime/shared.h"
#include "recorder/valgrind/calls.h"
#include "recorder/valgrind/frame.h"
#include "recorder/valgrind/module.h"
#include "recorder/valgrind/owner.h"
#include "recorder/valgrind/refused.h"
#include "recorder/valgrind/stop.h"
#include "recorder/watch.h"

#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_debuginfo.h>
#include <valgrind/pub_tool_libcbase.h>
#include <valgrind/pub_tool_machine.h>
#include <valgrind/pub_tool_mallocfree.h>
#include <valgrind/pub_tool_options.h>
#include <valgrind/pub_tool_threadstate.h>
#include <valgrind/pub_tool_tooliface.h>

/* As pub_tool_libcproc.h has it, which Debian installs without what it includes. */
extern void VG_(atfork)(void (*before)(ThreadId), void (*parent)(ThreadId), void (*child)(ThreadId));

static struct guest *guests; /* by ThreadId */
struct guest *guest_now;
static ThreadId running;
static unsigned alive;   /* threads */
static ThreadId highest; /* the highest that a recorded thread has had */
enum { SEQ_CST = 5 };    /* memory order, as in <stdatomic.h> */

/* ---- What is executed ---- */

/* The operand of an atomic operation: the address by which the memory is known. */
static inline uint64_t operand(UWord at)
{
	return (guest_now->twice && *guest_now->twice ? rt_shared_first(guest_now->shared, at) : at) & RT_OPERAND_MAX;
}

static inline uint64_t content(UWord at, unsigned size)
{
	uint64_t value = 0;
	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 4:
		return *(const uint32_t *)at;
	case 8:
		return *(const uint64_t *)at;
	default:
		VG_(memcpy)(&value, (const void *)at, size);
		return value;
	}
}

/* A filter of that size, if there is one to be had; the thread keeps what it has otherwise. */
static void filter_begin(struct guest *g, unsigned size)
{
	struct filter f;
	g->kept = g->left_out = 0;
	if (size >= SEEN_SIZES || !seen_take(size, &f))
		return;
	seen_give(&g->filter);
	g->filter = f;
}

/*
 * The thread records more than its filter has room for, and a larger one is tried. That is slower memory: it has to
 * leave out more than the one before did, or that one is kept for a while.
 */
static void filter_full(struct guest *g)
{
	enum { OF = 256, STAY = 256 };
	static const unsigned worth[SEEN_SIZES] = {0, OF / 8, OF / 3};
	unsigned size = g->filter.size, share = (unsigned)(g->left_out * OF / (g->left_out + g->kept));
	g->stay -= g->stay > 0;
	g->shares[size] = share;
	if (size && !g->stay && share < g->shares[size - 1] + worth[size]) {
		filter_begin(g, size - 1);
		g->stay = STAY;
	} else if (!g->stay && size + 1 < SEEN_SIZES) {
		filter_begin(g, size + 1);
	}
	g->kept = g->left_out = 0;
}

/*
 * True if the access has been recorded twice since the thread last synchronised, with this value. Else it is now
 * recorded once more.
 */
static inline bool repeats(struct seen *e, uint64_t once, uint64_t value)
{
	if (e->tag == (once | 1) && e->value == value)
		return true;
	e->tag = (e->tag | 1) != (once | 1) ? once : e->tag | (e->value == value);
	e->value = value;
	return false;
}

/*
 * True if the access is a repeat. key: the operand of its record; stored: number of bytes that it is about to write.
 * *is_hidden: its value is not to be recorded. A repeat neither sees nor leaves anything new; but on a page that the
 * thread has for itself it may, where its twins have no values either.
 */
static inline bool is_repeat(struct guest *g, UWord at, uint64_t key, uint32_t place, const uint64_t *value,
                             unsigned stored, bool *is_hidden)
{
	static const uint64_t hidden = UINT64_C(0x9b1d3f5e7a8c6e21); /* for all values, none of which is likely it */
	struct seen *e = seen_entry(&g->filter, key, place);
	uint64_t once = seen_tag(&g->filter, key, place);
	bool is_known = value && place != SEEN_NO_PLACE;
	if (is_known && e->tag == (once | 1) && e->value == *value && (!stored || content(at, stored) == *value))
		return true;
	*is_hidden = owner_hides(g, key) && !g->turns.patience;
	return is_known && repeats(e, once, *is_hidden ? hidden : *value) && *is_hidden;
}

/* ---- What children pass on in shared memory, by whatever may be atomic there ---- */

static const struct rt_children no_children, *children = &no_children;
static uint64_t shared_writes; /* by this process, to memory that children share */

static inline bool is_shared(UWord at)
{
	return UNLIKELY(children->share) && rt_children_share_at(children, at);
}

/* Before the write, or behind one that is recorded next: no other thread of this process has run meanwhile. */
static void tell(struct guest *g, struct rt_slot *s, UWord w1)
{
	shared_writes++;
	if (children->has)
		ring_sync(g, s, RT_OBJECT_CHILDREN | (uint64_t)RT_OP_HB_BEFORE << 48, w1 & RT_OPERAND_MAX, NULL);
}

/* Behind the read. value: NULL: it has more than 8 bytes. */
static void hear(struct guest *g, struct rt_slot *s, UWord at, UWord w1, const uint64_t *value)
{
	if (children->had && !(value && rt_children_seen(&g->heard, at, *value, shared_writes)))
		ring_sync(g, s, RT_OBJECT_CHILDREN | (uint64_t)RT_OP_HB_AFTER << 48, w1 & RT_OPERAND_MAX, NULL);
}

/* ---- Accesses ---- */

/* value: NULL: it has more than 8 bytes, and may see or leave something new. */
static inline void record_access(UWord at, unsigned op, UWord w1, UWord place, const uint64_t *value)
{
	struct guest *g = guest_now;
	struct rt_slot *s = guest_slot(g);
	if (!s)
		return;
	if (g->filter_epoch != s->filter_epoch) {
		g->filter_epoch = s->filter_epoch;
		guest_epoch(g);
	}
	uint64_t key = at & RT_OPERAND_MAX;
	unsigned stored = op == RT_OP_WRITE ? w1 >> 48 & 31 : 0;
	bool is_hidden, shared = is_shared(at) && !(w1 >> 56 & RT_F_PLAIN);
	if (shared && op == RT_OP_WRITE)
		tell(g, s, w1);
	if (is_repeat(g, at, key, (uint32_t)place, value, stored, &is_hidden)) {
		s->skipped++;
		g->left_out++;
		return;
	}
	if (++g->kept >> (g->filter.bits + 1))
		filter_full(g);
	ring_plain(g, s, key | (uint64_t)op << 48, w1, is_hidden ? NULL : value);
	if (shared && op == RT_OP_READ)
		hear(g, s, at, w1, value);
}

/* w1: word 1 of the record. Called when the value has been read, which the access is sure to have been by then. */
static void load(UWord at, UWord w1, UWord place, UWord value)
{
	record_access(at, RT_OP_READ, w1, place, &value);
}

/* Called before the store. A repeat that leaves what was there is left out. */
static void store(UWord at, UWord w1, UWord place, UWord value)
{
	record_access(at, RT_OP_WRITE, w1, place, &value);
}

/* Accesses of more than 8 bytes, without a value. */
static void wide(UWord at, UWord w1, UWord place, UWord op, UWord size)
{
	enum { WIDEST = 16 }; /* of a record */
	for (UWord done = 0; done < size; done += WIDEST)
		record_access(at + done, (unsigned)op, w1, place, NULL);
}

/* What a helper of Valgrind's own accesses, for an instruction that VEX cannot express. */
static void range(UWord at, UWord pc, UWord op, UWord size)
{
	struct rt_slot *s = guest_slot(guest_now);
	if (!s)
		return;
	owner_hides(guest_now, at & RT_OPERAND_MAX);
	ring_range(guest_now, s, (unsigned)op, at & RT_OPERAND_MAX, size, pc);
}

/* Behind a bus-locked instruction, or xchg. one_shot: it is a compare and exchange, which may fail. */
static void locked(UWord at, UWord w1, UWord was, UWord expected, UWord one_shot)
{
	struct rt_slot *s = guest_slot(guest_now);
	uint64_t v = was;
	bool done = was == expected;
	unsigned op = !one_shot ? RT_OP_ATOMIC_RMW : done ? RT_OP_ATOMIC_CAS : RT_OP_ATOMIC_CAS_FAIL;
	if (!s || (!done && !one_shot))
		return;
	owner_hides(guest_now, at & RT_OPERAND_MAX);
	bool shared = is_shared(at);
	if (shared && op != RT_OP_ATOMIC_CAS_FAIL)
		tell(guest_now, s, w1);
	ring_sync(guest_now, s, operand(at) | (uint64_t)op << 48, w1, &v);
	if (shared)
		hear(guest_now, s, at, w1, &v);
}

static void fence(UWord w1)
{
	struct rt_slot *s = guest_slot(guest_now);
	if (s)
		ring_sync(guest_now, s, (uint64_t)RT_OP_FENCE << 48, w1, NULL);
}

/* ---- Instrumenting ---- */

static void add_call(struct place *p, const HChar *name, void *function, IRExpr **args, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), args);
	if (guard)
		d->guard = guard;
	addStmtToIRSB(p->to, IRStmt_Dirty(d));
}

/* The value in 64 bits. NULL: it has more. */
static IRExpr *widen(struct place *p, IRExpr *e)
{
	IROp op;
	switch (typeOfIRExpr(p->to->tyenv, e)) {
	case Ity_I64:
		return e;
	case Ity_I1:
		op = Iop_1Uto64;
		break;
	case Ity_I8:
		op = Iop_8Uto64;
		break;
	case Ity_I16:
		op = Iop_16Uto64;
		break;
	case Ity_I32:
		op = Iop_32Uto64;
		break;
	case Ity_F64:
		op = Iop_ReinterpF64asI64;
		break;
	case Ity_F32:
		return assign(p, Ity_I64,
		              IRExpr_Unop(Iop_32Uto64, assign(p, Ity_I32, IRExpr_Unop(Iop_ReinterpF32asI32, e))));
	default:
		return NULL;
	}
	return assign(p, Ity_I64, IRExpr_Unop(op, e));
}

static void add_access(struct place *p, unsigned op, IRExpr *at, IRType type, IRExpr *value, IRExpr *guard)
{
	unsigned size = (unsigned)sizeofIRType(type);
	if (p->is_locked || p->is_own)
		return;
	IRExpr *wide_value = value && size <= 8 ? widen(p, value) : NULL;
	UWord w1 = word_1(p, size, 0);
	UWord place = seen_place(op, w1, size);
	if (wide_value)
		add_call(p, op == RT_OP_READ ? "load" : "store", op == RT_OP_READ ? (void *)load : (void *)store,
		         mkIRExprVec_4(at, word(w1), word(place), wide_value), guard);
	else
		add_call(p, "wide", (void *)wide, mkIRExprVec_5(at, word(w1), word(place), word(op), word(size)),
		         guard);
}

static IRType loaded_type(IRLoadGOp op)
{
	IRType to, from;
	typeOfIRLoadGOp(op, &to, &from);
	return from;
}

static void add_cas(struct place *p, const IRCAS *c)
{
	bool is_double = c->oldHi != IRTemp_INVALID;
	unsigned size = (unsigned)sizeofIRType(typeOfIRExpr(p->to->tyenv, c->dataLo)) * (is_double ? 2 : 1);
	IRExpr *was = widen(p, IRExpr_RdTmp(c->oldLo)), *expected = widen(p, c->expdLo);
	add_call(p, "locked", (void *)locked,
	         mkIRExprVec_5(c->addr, word(word_1(p, size, SEQ_CST)), was, expected, word(p->one_shot)), NULL);
}

/* True if it is cmpxchg, whose comparison is the program's own. */
static bool compares(const struct instruction *i)
{
	return i->map == 2 && !i->is_vex && (i->opcode == 0xb0 || i->opcode == 0xb1 || i->opcode == 0xc7);
}

/* True if the instruction whose statements begin at i stores where it has loaded from. */
static bool updates(const IRSB *from, Int i)
{
	const IRExpr *loaded[8];
	unsigned n = 0;
	for (; i < from->stmts_used && from->stmts[i]->tag != Ist_IMark; i++) {
		const IRStmt *s = from->stmts[i];
		if (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load && n < sizeof loaded / sizeof *loaded)
			loaded[n++] = s->Ist.WrTmp.data->Iex.Load.addr;
		for (unsigned k = 0; s->tag == Ist_Store && k < n; k++)
			if (eqIRAtom(loaded[k], s->Ist.Store.addr))
				return true;
	}
	return false;
}

static void begin_instruction(struct place *p, const IRSB *from, Int i, const VexGuestLayout *layout)
{
	p->at = from->stmts[i]->Ist.IMark.addr;
	p->pc = p->at + 1;
	p->length = from->stmts[i]->Ist.IMark.len;
	p->is_locked = false;
	bool is_masked = false;
	for (Int k = i + 1; k < from->stmts_used && from->stmts[k]->tag != Ist_IMark; k++) {
		IRStmtTag tag = from->stmts[k]->tag;
		p->is_locked |= tag == Ist_CAS;
		is_masked |= tag == Ist_LoadG || tag == Ist_StoreG; /* elements of a vector */
	}
	struct instruction code;
	bool is_known = instruction_decode((const uint8_t *)p->at, p->length, &code);
	p->one_shot = p->is_locked && is_known && compares(&code);
	p->is_own = is_known && frame_is_accessed(p->at, &code);
	p->is_pair = is_known && instruction_moves_aligned(&code);
	p->is_plain =
	    is_masked || (is_known && instruction_is_string(&code)) || (updates(from, i + 1) && updates_plainly(p->at));
	p->stop = stop_statement(p, from, i + 1, layout);
}

static void add_dirty(struct place *p, const IRDirty *d)
{
	if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
		add_call(p, "range", (void *)range,
		         mkIRExprVec_4(d->mAddr, word(p->pc), word(RT_OP_READ), word((UWord)d->mSize)), d->guard);
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		add_call(p, "range", (void *)range,
		         mkIRExprVec_4(d->mAddr, word(p->pc), word(RT_OP_WRITE), word((UWord)d->mSize)), d->guard);
}

/* Events before the statement. */
static void add_before(struct place *p, const IRStmt *s)
{
	switch (s->tag) {
	case Ist_Store:
		if (!is_return_address(p, s->Ist.Store.data))
			add_access(p, RT_OP_WRITE, s->Ist.Store.addr, typeOfIRExpr(p->to->tyenv, s->Ist.Store.data),
			           s->Ist.Store.data, NULL);
		break;
	case Ist_StoreG: {
		const IRStoreG *g = s->Ist.StoreG.details;
		add_access(p, RT_OP_WRITE, g->addr, typeOfIRExpr(p->to->tyenv, g->data), g->data, g->guard);
		break;
	}
	case Ist_Dirty:
		add_dirty(p, s->Ist.Dirty.details);
		break;
	case Ist_MBE:
		if (s->Ist.MBE.event == Imbe_Fence)
			add_call(p, "fence", (void *)fence, mkIRExprVec_1(word(word_1(p, 0, SEQ_CST))), NULL);
		break;
	default:
		break;
	}
}

/* And behind it. */
static void add_after(struct place *p, const IRStmt *s, bool returns)
{
	switch (s->tag) {
	case Ist_WrTmp:
		if (s->Ist.WrTmp.data->tag == Iex_Load && !returns)
			add_access(p, RT_OP_READ, s->Ist.WrTmp.data->Iex.Load.addr, s->Ist.WrTmp.data->Iex.Load.ty,
			           IRExpr_RdTmp(s->Ist.WrTmp.tmp), NULL);
		break;
	case Ist_LoadG: {
		const IRLoadG *g = s->Ist.LoadG.details;
		add_access(p, RT_OP_READ, g->addr, loaded_type(g->cvt), IRExpr_RdTmp(g->dst), g->guard);
		break;
	}
	case Ist_CAS:
		add_cas(p, s->Ist.CAS.details);
		break;
	default:
		break;
	}
}

static IRExpr *stack_pointer(struct place *p, const VexGuestLayout *layout)
{
	return assign(p, Ity_I64, IRExpr_Get(layout->offset_SP, Ity_I64));
}

/* At the end of a block, the stack pointer is behind the call or return. */
static void add_jump(struct place *p, const IRSB *from, const VexGuestLayout *layout)
{
	enum { WORD = 8 };
	if (from->jumpkind == Ijk_Call)
		add_call(p, "enter", (void *)enter, mkIRExprVec_3(stack_pointer(p, layout), word(p->pc), from->next),
		         NULL);
	else if (from->jumpkind == Ijk_Ret)
		add_call(p, "leave", (void *)leave,
		         mkIRExprVec_1(assign(
		             p, Ity_I64,
		             IRExpr_Binop(Iop_Sub64, stack_pointer(p, layout), IRExpr_Const(IRConst_U64(WORD))))),
		         NULL);
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *from, const VexGuestLayout *layout,
                        const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word, IRType host_word)
{
	struct place p = {.to = deepCopyIRSBExceptStmts(from), .stop = -1};
	Int i = 0, last = 0;
	(void)arch, (void)guest_word, (void)host_word, (void)extents;
	if (is_told(closure->nraddr) || is_linkage(closure->nraddr))
		return from;
	for (Int k = 0; k < from->stmts_used; k++)
		if (from->stmts[k]->tag == Ist_IMark)
			last = k;
	for (; i < from->stmts_used && from->stmts[i]->tag != Ist_IMark; i++)
		addStmtToIRSB(p.to, from->stmts[i]);
	const HChar *name;
	bool begins = VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), closure->nraddr, &name);
	if (begins && VG_(strcmp)(name, "(below main)") != 0) /* Valgrind's name of _start, which nothing calls */
		add_call(&p, "begin_function", (void *)begin_function, mkIRExprVec_1(stack_pointer(&p, layout)), NULL);
	for (; i < from->stmts_used; i++) {
		IRStmt *s = from->stmts[i];
		if (s->tag == Ist_IMark)
			begin_instruction(&p, from, i, layout);
		if (i == p.stop && !(from->jumpkind == Ijk_Ret && i > last))
			add_stops(&p, from, i, layout);
		add_before(&p, s);
		addStmtToIRSB(p.to, s);
		add_after(&p, s, from->jumpkind == Ijk_Ret && i > last);
	}
	add_jump(&p, from, layout);
	if (from->jumpkind == Ijk_NoDecode)
		refused_add(p.to, p.at);
	return p.to;
}

/* ---- Threads ---- */

static void thread_runs(ThreadId tid, ULong blocks)
{
	(void)blocks;
	guest_now = &guests[tid];
	if (tid != running)
		ring_turn(guest_now);
	running = tid;
}

static void thread_begins(ThreadId by, ThreadId tid)
{
	(void)by, (void)tid;
	alive++;
}

static void forget(struct guest *g)
{
	seen_give(&g->filter);
	VG_(free)(g->frames);
	*g = (struct guest){.self = NULL};
}

void guests_forget(uint32_t number)
{
	for (ThreadId tid = 0; tid <= highest; tid++)
		if (guests[tid].number == number && guests[tid].filter.entries)
			guest_epoch(&guests[tid]);
}

static void thread_ends(ThreadId tid)
{
	alive--;
	forget(&guests[tid]);
}

/* In a forked child, which has one thread. */
static void forked(ThreadId tid)
{
	alive = 1;
	for (ThreadId other = 0; other < VG_N_THREADS; other++)
		if (other != tid)
			forget(&guests[other]);
}

/* A thread that has ended may still have its place for a moment. */
static bool has_room(void)
{
	enum { ENDING = 64 };
	return alive + ENDING < VG_N_THREADS;
}

static void unmapped(Addr at, SizeT size)
{
	(void)at, (void)size;
	forget_targets();
	frame_forget();
}

static Bool handle_request(ThreadId tid, UWord *arguments, UWord *result)
{
	struct guest *g = &guests[tid];
	if (arguments[0] == RT_WATCH_FILE) {
		*result = file_watch((const char *)arguments[1]);
		return True;
	}
	if (arguments[0] == RT_WATCH_ROOM) {
		*result = has_room();
		return True;
	}
	if (arguments[0] == RT_WATCH_CHILDREN) {
		children = (const struct rt_children *)arguments[1];
		*result = 1;
		return True;
	}
	if (arguments[0] == RT_WATCH_TURNS) {
		stop_begin(g, arguments);
		*result = 1;
		return True;
	}
	if (arguments[0] != RT_WATCH_THREAD)
		return False;
	highest = tid > highest ? tid : highest;
	g->self = (struct rt_slot **)arguments[1];
	g->channel = (struct rt_channel **)arguments[2];
	g->tree = (struct rt_tree **)arguments[3];
	g->shared = (struct rt_shared_table *)arguments[4];
	g->twice = (const bool *)arguments[5];
	g->last = NULL;
	g->depth = 0;
	if (!g->filter.entries)
		filter_begin(g, 0);
	*result = 1;
	return True;
}

static void begin(void)
{
	guests = VG_(calloc)("racetrace.guests", VG_N_THREADS, sizeof *guests);
	guest_now = guests; /* of no thread */
	VG_(atfork)(NULL, NULL, forked);
}

static void finish(Int status)
{
	(void)status;
}

static void before_options(void)
{
	VG_(details_name)("racetrace");
	VG_(details_version)(RT_VERSION);
	VG_(details_description)("records what a program does to memory");
	VG_(details_copyright_author)("see its LICENSE");
	VG_(details_bug_reports_to)("the project's issues");
	VG_(clo_vex_control).guest_chase = False; /* a call ends a block */
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
	VG_(basic_tool_funcs)(begin, instrument, finish);
	VG_(needs_client_requests)(handle_request);
	refused_begin();
	VG_(track_start_client_code)(thread_runs);
	VG_(track_pre_thread_ll_create)(thread_begins);
	VG_(track_pre_thread_ll_exit)(thread_ends);
	VG_(track_die_mem_munmap)(unmapped);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
