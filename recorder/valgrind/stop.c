/*
 * Stops: a thread that takes turns is stopped before what it accesses. Each access that is shown calls `stops` first;
 * at a stop the thread calls a function of the recorder's (rt_watch_stop), and then executes the instruction again.
 */
#include "recorder/valgrind/stop.h"

#include "recorder/watch.h"

#include <valgrind/pub_tool_machine.h>

static UWord stop_function;                                                  /* 0: threads take no turns */
enum { STOP_OP = 255, STOP_NUMBER = 8, STOP_LAST = 1 << 16, STOPS_MAX = 8 }; /* bits of a step */

void stop_begin(struct guest *g, const UWord *arguments)
{
	g->turns = (struct turns){.patience = (int32_t *)arguments[1],
	                          .interest = (const unsigned char *)arguments[2],
	                          .stop = (struct rt_watch_stop *)arguments[3]};
	stop_function = arguments[4];
}

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
	struct turns *t = &guest_now->turns;
	struct rt_record r = {0, w1};
	unsigned op = step & STOP_OP, n = step >> STOP_NUMBER & STOP_OP;
	if (!t->patience || !guest_slot(guest_now))
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

/* The address of what the statement accesses; NULL: nothing that a thread is stopped before. */
static IRExpr *accessed(const struct place *p, const IRStmt *s, IRType *type, unsigned *op)
{
	if (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load && !p->is_own) {
		*type = s->Ist.WrTmp.data->Iex.Load.ty;
		*op = p->is_locked ? p->one_shot ? RT_OP_ATOMIC_CAS : RT_OP_ATOMIC_RMW : RT_OP_READ;
		return s->Ist.WrTmp.data->Iex.Load.addr;
	}
	if (s->tag == Ist_Store && !p->is_locked && !p->is_own && !is_return_address(p, s->Ist.Store.data)) {
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

Int stop_statement(const struct place *p, const IRSB *from, Int i, const VexGuestLayout *layout)
{
	IRType type;
	unsigned op;
	Int first = -1;
	if (!stop_function)
		return -1;
	for (; i < from->stmts_used && from->stmts[i]->tag != Ist_IMark; i++) {
		const IRStmt *s = from->stmts[i];
		bool changes = (s->tag == Ist_Put && s->Ist.Put.offset != layout->offset_IP) || s->tag == Ist_PutI;
		bool accesses = accessed(p, s, &type, &op) != NULL;
		if (first < 0 && (changes || s->tag == Ist_Dirty || accesses))
			first = i;
		if (accesses)
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

void add_stops(struct place *p, const IRSB *from, Int i, const VexGuestLayout *layout)
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
		found[n++].w1 = word_1(p, size, 0);
	}
	for (unsigned k = 0; k < n; k++)
		add_stop(p, found[k].at, found[k].w1,
		         found[k].op | (k + 1) << STOP_NUMBER | (k + 1 == n ? STOP_LAST : 0), layout);
}
