/*
 * The Valgrind tool "racetrace": sees what a program that was built without instrumentation does to memory, and appends
 * it to the rings of the program's threads. What synchronises it learns from the recorder, which is preloaded into the
 * program and appends to the same rings.
 */
#include "recorder/runtime/shared.h"
#include "recorder/valgrind/module.h"
#include "recorder/valgrind/ring.h"
#include "recorder/watch.h"

#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_debuginfo.h>
#include <valgrind/pub_tool_libcbase.h>
#include <valgrind/pub_tool_machine.h>
#include <valgrind/pub_tool_mallocfree.h>
#include <valgrind/pub_tool_options.h>
#include <valgrind/pub_tool_threadstate.h>
#include <valgrind/pub_tool_tooliface.h>

static struct guest *guests; /* by ThreadId */
static struct guest *now;    /* the one that runs */
static ThreadId running;
enum { SEQ_CST = 5 }; /* memory order, as in <stdatomic.h> */

/* ---- What is executed ---- */

/* The operand of a record: the address by which the memory is known. */
static inline uint64_t operand(UWord at)
{
	return (now->twice && *now->twice ? rt_shared_first(now->shared, at) : at) & RT_OPERAND_MAX;
}

static uint64_t content(UWord at, unsigned size)
{
	uint64_t value = 0;
	VG_(memcpy)(&value, (const void *)at, size);
	return value;
}

/* True if the access has been recorded twice since the thread last synchronised, and neither sees nor leaves anything
 * new. */
static bool repeats(UWord at, const struct rt_slot *s, uint64_t w0, uint64_t w1, uint64_t value)
{
	struct guest *g = now;
	uint64_t hash = (w0 >> 3) ^ (w0 >> 13) ^ (w0 & 7) * (1 << 9 | 1 << 13) ^ w1;
	struct seen *f = g->seen + (hash & (SEEN - 1));
	if (g->filter_epoch != s->filter_epoch) {
		g->filter_epoch = s->filter_epoch;
		g->epoch++;
	}
	if (f->w0 != w0 || f->w1 != w1 || f->count_epoch >> 2 != g->epoch)
		*f = (struct seen){w0, w1, value, g->epoch << 2};
	unsigned count = f->count_epoch & 3, size = w1 >> 48 & 31;
	bool stores = rt_record_op((struct rt_record){w0, w1}) == RT_OP_WRITE;
	if (count == 2 && f->value == value && !(stores && size <= sizeof value && content(at, size) != value))
		return true;
	if (count < 2 && (!count || f->value == value))
		f->count_epoch++;
	f->value = value;
	return false;
}

/* value: NULL: it has more than 8 bytes. */
static void record_access(UWord at, unsigned op, UWord w1, const uint64_t *value)
{
	struct rt_slot *s = guest_slot(now);
	if (!s)
		return;
	uint64_t w0 = operand(at) | (uint64_t)op << 48;
	if (repeats(at, s, w0, w1, value ? *value : 0))
		s->skipped++;
	else
		ring_plain(now, s, w0, w1, value);
}

/* w1: word 1 of the record. Called when the value has been read, which the access is sure to have been by then. */
static void load(UWord at, UWord w1, UWord value)
{
	record_access(at, RT_OP_READ, w1, &value);
}

/* Called before the store. A repeat that leaves what was there is left out. */
static void store(UWord at, UWord w1, UWord value)
{
	record_access(at, RT_OP_WRITE, w1, &value);
}

/* Accesses of more than 8 bytes, without a value. */
static void wide(UWord at, UWord w1, UWord op, UWord size)
{
	enum { WIDEST = 16 }; /* of a record */
	for (UWord done = 0; done < size; done += WIDEST)
		record_access(at + done, (unsigned)op, w1, NULL);
}

/* What a helper of Valgrind's own accesses, for an instruction that VEX cannot express. */
static void range(UWord at, UWord pc, UWord op, UWord size)
{
	struct rt_slot *s = guest_slot(now);
	if (s)
		ring_range(now, s, (unsigned)op, operand(at), size, pc);
}

/* Behind a bus-locked instruction, or xchg. one_shot: it is a compare and exchange, which may fail. */
static void locked(UWord at, UWord w1, UWord was, UWord expected, UWord one_shot)
{
	struct rt_slot *s = guest_slot(now);
	uint64_t v = was;
	bool done = was == expected;
	unsigned op = !one_shot ? RT_OP_ATOMIC_RMW : done ? RT_OP_ATOMIC_CAS : RT_OP_ATOMIC_CAS_FAIL;
	if (s && (done || one_shot))
		ring_sync(now, s, operand(at) | (uint64_t)op << 48, w1, &v);
}

static void fence(UWord w1)
{
	struct rt_slot *s = guest_slot(now);
	if (s)
		ring_sync(now, s, (uint64_t)RT_OP_FENCE << 48, w1, NULL);
}

/* ---- Stops ---- */

static UWord stop_function;                                                  /* 0: threads take no turns */
enum { STOP_OP = 255, STOP_NUMBER = 8, STOP_LAST = 1 << 16, STOPS_MAX = 8 }; /* bits of a step */

static bool is_of_interest(const struct turns *t, unsigned op, uint64_t pc)
{
	return (op != RT_OP_READ && op != RT_OP_WRITE) || --*t->patience < 0 || t->interest[RT_INTEREST_PLACE(pc)];
}

/*
 * Before the instruction, for each of its accesses. step: the operation, the access's number from 1, and whether it is
 * the last one. 1: the thread is to be stopped first; then the instruction comes again, and this access is over.
 */
static UWord stops(UWord at, UWord w1, UWord step, UWord instruction)
{
	struct turns *t = &now->turns;
	struct rt_record r = {0, w1};
	unsigned op = step & STOP_OP, n = step >> STOP_NUMBER & STOP_OP;
	if (!t->patience || !guest_slot(now))
		return 0;
	if (t->stopped_at != instruction)
		t->stops = 0;
	t->stopped_at = instruction;
	bool is_shown = n > t->stops && is_of_interest(t, op, rt_record_pc(r));
	t->stops = n > t->stops ? n : t->stops;
	if (!is_shown && step & STOP_LAST)
		t->stopped_at = 0; /* when it comes again, that is another time */
	if (!is_shown)
		return 0;
	*t->stop = (struct rt_watch_stop){at, rt_record_aux_of(r) & 31, rt_record_pc(r), op};
	return 1;
}

/* ---- Calls ---- */

/* Modules whose accesses are not the program's: what they do is told by the recorder's functions in front of theirs. */
static bool is_foreign_object(const HChar *soname, const HChar *file)
{
	static const HChar *const names[] = {"libracetrace.so.1", "libtsan.so.0",         "libtsan.so.2",
	                                     "libc.so.6",         "ld-linux-x86-64.so.2", "libpthread.so.0",
	                                     "librt.so.1",        "libdl.so.2",           "libm.so.6",
	                                     "libgcc_s.so.1",     "libgomp.so.1",         "libresolv.so.2"};
	for (unsigned i = 0; soname && i < sizeof names / sizeof *names; i++)
		if (!VG_(strcmp)(soname, names[i]))
			return true;
	return file && VG_(strstr)(file, "/vgpreload_");
}

/* True if the module's accesses are told by the recorder: the program's that is instrumented, and all foreign ones. */
static bool is_told(Addr at)
{
	DebugInfo *object = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), at);
	if (!object)
		return false;
	const HChar *file = VG_(DebugInfo_get_filename)(object);
	return is_foreign_object(VG_(DebugInfo_get_soname)(object), file) || module_is_instrumented(file);
}

static bool is_linkage(Addr at)
{
	VgSectKind kind = VG_(DebugInfo_sect_kind)(NULL, at);
	return kind == Vg_SectPLT || kind == Vg_SectGOTPLT;
}

enum target { TARGET_UNKNOWN, TARGET_OWN, TARGET_TOLD, TARGET_LINKAGE };
enum { TARGETS = 4096 };
static struct {
	Addr at;
	enum target what;
} targets[TARGETS];

static enum target look_at_target(Addr at)
{
	unsigned i = (unsigned)(at ^ at >> 12) & (TARGETS - 1);
	if (targets[i].at != at || targets[i].what == TARGET_UNKNOWN) {
		targets[i].at = at;
		targets[i].what = is_linkage(at) ? TARGET_LINKAGE : is_told(at) ? TARGET_TOLD : TARGET_OWN;
	}
	return targets[i].what;
}

/* The address that a stub of the procedure linkage table jumps to; 0: it is no such stub. */
static Addr behind_stub(Addr at)
{
	const UChar *p = (const UChar *)at;
	if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa) /* endbr64 */
		p += 4;
	if (p[0] == 0xf2) /* bnd */
		p++;
	if (p[0] != 0xff || p[1] != 0x25)
		return 0;
	Int distance;
	VG_(memcpy)(&distance, p + 2, sizeof distance);
	return *(const Addr *)(p + 6 + distance);
}

static void left(struct guest *g, struct rt_slot *s)
{
	g->depth--;
	ring_plain(g, s, (uint64_t)RT_OP_LEAVE << 48, 0, NULL);
}

/* Calls whose frames are below sp, or at it, are over: they have returned, or were jumped out of. */
static void leave(UWord sp)
{
	struct rt_slot *s = guest_slot(now);
	if (!s)
		return;
	while (now->depth && now->frames[now->depth - 1] <= sp)
		left(now, s);
}

static void entered(struct rt_slot *s, UWord sp, UWord pc)
{
	if (now->depth == now->room) {
		unsigned room = now->room ? now->room * 2 : 256;
		now->frames = VG_(realloc)("racetrace.frames", now->frames, room * sizeof *now->frames);
		now->room = room;
	}
	now->frames[now->depth++] = sp;
	ring_plain(now, s, (uint64_t)RT_OP_ENTER << 48, pc & RT_OPERAND_MAX, NULL);
}

/* A call: sp is where its return address is. */
static void enter(UWord sp, UWord pc, UWord target)
{
	struct rt_slot *s = guest_slot(now);
	if (!s)
		return;
	leave(sp);
	enum target what = look_at_target(target);
	if (what == TARGET_LINKAGE) {
		target = behind_stub(target);
		what = target ? look_at_target(target) : TARGET_TOLD;
	}
	if (what == TARGET_OWN)
		entered(s, sp, pc);
}

/* The first instruction of a function: its call is not seen if the caller is not watched, as that of main is not. */
static void begin_function(UWord sp)
{
	struct rt_slot *s = guest_slot(now);
	if (!s || (now->depth && now->frames[now->depth - 1] == sp))
		return;
	leave(sp);
	entered(s, sp, *(const UWord *)sp);
}

/* ---- Instrumenting ---- */

struct place {
	IRSB *to;
	Addr at; /* of the instruction */
	Addr pc; /* as records have it, where a position is looked up one byte before */
	UInt length;
	bool is_locked; /* it holds the bus: what else it accesses is a part of that */
	bool one_shot;  /* it is a compare and exchange */
	bool updates;   /* it loads and stores one location, without a bus lock */
	Int stop;       /* the statement before which it can be stopped: that of its first access; negative: none */
};

static void add_call(struct place *p, const HChar *name, void *function, IRExpr **args, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), args);
	if (guard)
		d->guard = guard;
	addStmtToIRSB(p->to, IRStmt_Dirty(d));
}

static IRExpr *word(UWord value)
{
	return mkIRExpr_HWord((HWord)value);
}

static IRExpr *assign(struct place *p, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(p->to->tyenv, type);
	addStmtToIRSB(p->to, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
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

static UWord word_1(const struct place *p, unsigned size, unsigned order)
{
	return (UWord)(p->pc & RT_OPERAND_MAX) | (UWord)rt_record_aux(size, order, p->updates ? RT_F_PLAIN : 0) << 48;
}

static void add_access(struct place *p, unsigned op, IRExpr *at, IRType type, IRExpr *value, IRExpr *guard)
{
	unsigned size = (unsigned)sizeofIRType(type);
	IRExpr *wide_value = value && size <= 8 ? widen(p, value) : NULL;
	if (p->is_locked)
		return;
	if (wide_value)
		add_call(p, op == RT_OP_READ ? "load" : "store", op == RT_OP_READ ? (void *)load : (void *)store,
		         mkIRExprVec_3(at, word(word_1(p, size, 0)), wide_value), guard);
	else
		add_call(p, "wide", (void *)wide,
		         mkIRExprVec_4(at, word(word_1(p, size > 16 ? 16 : size, 0)), word(op), word(size)), guard);
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
static bool compares(Addr at)
{
	const UChar *p = (const UChar *)at;
	while (*p == 0xf0 || *p == 0x66 || *p == 0xf2 || *p == 0xf3 || (*p & 0xf0) == 0x40 || *p == 0x64 || *p == 0x65)
		p++;
	return p[0] == 0x0f && (p[1] == 0xb0 || p[1] == 0xb1 || p[1] == 0xc7);
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

/* What a call stores is its return address, which is nobody's variable; like what a return loads. */
static bool is_return_address(const struct place *p, const IRExpr *data)
{
	return data->tag == Iex_Const && data->Iex.Const.con->tag == Ico_U64 &&
	       data->Iex.Const.con->Ico.U64 == p->at + p->length;
}

/* ---- Stopping ---- */

/* The address of what the statement accesses; NULL: nothing that a thread is stopped before. */
static IRExpr *accessed(const struct place *p, const IRStmt *s, IRType *type, unsigned *op)
{
	if (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load) {
		*type = s->Ist.WrTmp.data->Iex.Load.ty;
		*op = p->is_locked ? p->one_shot ? RT_OP_ATOMIC_CAS : RT_OP_ATOMIC_RMW : RT_OP_READ;
		return s->Ist.WrTmp.data->Iex.Load.addr;
	}
	if (s->tag == Ist_Store && !p->is_locked && !is_return_address(p, s->Ist.Store.data)) {
		*type = typeOfIRExpr(p->to->tyenv, s->Ist.Store.data);
		*op = RT_OP_WRITE;
		return s->Ist.Store.addr;
	}
	if (s->tag == Ist_MBE && s->Ist.MBE.event == Imbe_Fence) {
		*type = Ity_I8;
		*op = RT_OP_FENCE;
		return word(0);
	}
	return NULL;
}

/* True if the expression is known before statement `end`. */
static bool is_known(const IRSB *from, Int end, const IRExpr *e)
{
	for (Int i = end; e->tag == Iex_RdTmp && i < from->stmts_used && from->stmts[i]->tag != Ist_IMark; i++)
		if (from->stmts[i]->tag == Ist_WrTmp && from->stmts[i]->Ist.WrTmp.tmp == e->Iex.RdTmp.tmp)
			return false;
	return true;
}

/*
 * The instruction is executed again behind a stop: so it is stopped before it has accessed anything, or changed a
 * register. Negative: it accesses nothing.
 */
static Int stop_statement(const struct place *p, const IRSB *from, Int i, const VexGuestLayout *layout)
{
	IRType type;
	unsigned op;
	Int first = -1;
	for (; i < from->stmts_used && from->stmts[i]->tag != Ist_IMark; i++) {
		const IRStmt *s = from->stmts[i];
		bool changes = (s->tag == Ist_Put && s->Ist.Put.offset != layout->offset_IP) || s->tag == Ist_PutI;
		if (first < 0 && (changes || s->tag == Ist_Dirty || accessed(p, s, &type, &op)))
			first = i;
		if (accessed(p, s, &type, &op))
			return first;
	}
	return -1;
}

/* Where a thread may be stopped, it calls the function instead of going on, as if the instruction before did. */
static void add_stop(struct place *p, IRExpr *at, UWord w1, UWord step, const VexGuestLayout *layout)
{
	enum { FREE_BELOW = 128 + 8 };
	IRTemp answer = newIRTemp(p->to->tyenv, Ity_I64);
	addStmtToIRSB(p->to, IRStmt_Dirty(unsafeIRDirty_1_N(answer, 0, "stops", VG_(fnptr_to_fnentry)((void *)stops),
	                                                    mkIRExprVec_4(at, word(w1), word(step), word(p->at)))));
	IRExpr *does = assign(p, Ity_I1, IRExpr_Binop(Iop_CmpNE64, IRExpr_RdTmp(answer), word(0)));
	IRExpr *sp = assign(p, Ity_I64, IRExpr_Get(layout->offset_SP, Ity_I64));
	IRExpr *below = assign(p, Ity_I64, IRExpr_Binop(Iop_Sub64, sp, word(FREE_BELOW)));
	addStmtToIRSB(p->to, IRStmt_StoreG(Iend_LE, below, word(p->at), does));
	addStmtToIRSB(p->to, IRStmt_Put(layout->offset_SP, assign(p, Ity_I64, IRExpr_ITE(does, below, sp))));
	addStmtToIRSB(p->to, IRStmt_Exit(does, Ijk_Boring, IRConst_U64(stop_function), layout->offset_IP));
}

/* Before the statement at i, for each access of the instruction whose address is known by then. */
static void add_stops(struct place *p, const IRSB *from, Int i, const VexGuestLayout *layout)
{
	struct {
		IRExpr *at;
		UWord w1;
		unsigned op;
	} found[STOPS_MAX];
	unsigned n = 0;
	for (Int k = i; k < from->stmts_used && from->stmts[k]->tag != Ist_IMark && n < STOPS_MAX; k++) {
		IRType type;
		found[n].at = accessed(p, from->stmts[k], &type, &found[n].op);
		if (!found[n].at || !is_known(from, i, found[n].at))
			continue;
		unsigned size = (unsigned)sizeofIRType(type);
		found[n++].w1 = word_1(p, size > 16 ? 16 : size, 0);
	}
	for (unsigned k = 0; k < n; k++)
		add_stop(p, found[k].at, found[k].w1,
		         found[k].op | (k + 1) << STOP_NUMBER | (k + 1 == n ? STOP_LAST : 0), layout);
}

static void begin_instruction(struct place *p, const IRSB *from, Int i, const VexGuestLayout *layout)
{
	p->at = from->stmts[i]->Ist.IMark.addr;
	p->pc = p->at + 1;
	p->length = from->stmts[i]->Ist.IMark.len;
	p->is_locked = false;
	for (Int k = i + 1; k < from->stmts_used && from->stmts[k]->tag != Ist_IMark; k++)
		p->is_locked |= from->stmts[k]->tag == Ist_CAS;
	p->one_shot = p->is_locked && compares(p->at);
	p->updates = updates(from, i + 1);
	p->stop = stop_function ? stop_statement(p, from, i + 1, layout) : -1;
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
	if (VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), closure->nraddr, &name))
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
	return p.to;
}

/* ---- Threads ---- */

static void thread_runs(ThreadId tid, ULong blocks)
{
	(void)blocks;
	now = &guests[tid];
	if (tid != running)
		ring_turn(now);
	running = tid;
}

static void thread_ends(ThreadId tid)
{
	struct guest *g = &guests[tid];
	g->self = NULL;
	g->turns.patience = NULL;
	g->depth = 0;
}

/* What was there is another module's code from now on. */
static void unmapped(Addr at, SizeT size)
{
	(void)at, (void)size;
	VG_(memset)(targets, 0, sizeof targets);
}

static Bool handle_request(ThreadId tid, UWord *arguments, UWord *result)
{
	struct guest *g = &guests[tid];
	if (arguments[0] == RT_WATCH_FILE) {
		*result = file_is_watched((const char *)arguments[1]);
		return True;
	}
	if (arguments[0] == RT_WATCH_TURNS) {
		g->turns = (struct turns){.patience = (int32_t *)arguments[1],
		                          .interest = (const unsigned char *)arguments[2],
		                          .stop = (struct rt_watch_stop *)arguments[3]};
		stop_function = arguments[4];
		*result = 1;
		return True;
	}
	if (arguments[0] != RT_WATCH_THREAD)
		return False;
	g->self = (struct rt_slot **)arguments[1];
	g->channel = (struct rt_channel **)arguments[2];
	g->tree = (struct rt_tree **)arguments[3];
	g->shared = (struct rt_shared *)arguments[4];
	g->twice = (const bool *)arguments[5];
	g->last = NULL;
	g->depth = 0;
	g->epoch++;
	if (!g->seen)
		g->seen = VG_(calloc)("racetrace.seen", SEEN, sizeof *g->seen);
	*result = 1;
	return True;
}

static void begin(void)
{
	guests = VG_(calloc)("racetrace.guests", VG_N_THREADS, sizeof *guests);
	now = guests; /* of no thread */
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
	VG_(track_start_client_code)(thread_runs);
	VG_(track_pre_thread_ll_exit)(thread_ends);
	VG_(track_die_mem_munmap)(unmapped);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
