/* An instruction that is instrumented, and what is said of it in Valgrind's intermediate representation (VEX). */
#ifndef RECORDER_VALGRIND_PLACE_H
#define RECORDER_VALGRIND_PLACE_H

#include "recorder/channel.h"
#include "recorder/valgrind/platform.h"

#include <stdbool.h>
#include <valgrind/pub_tool_basics.h>
#include <valgrind/pub_tool_tooliface.h>

struct place {
	IRSB *to;
	Addr at; /* of the instruction */
	Addr pc; /* as records have it, where a position is looked up one byte before */
	UInt length;
	bool is_locked; /* it holds the bus: what else it accesses is a part of that */
	bool one_shot;  /* it is a compare and exchange */
	bool is_own;    /* what it accesses is the frame of its own function */
	bool is_plain;  /* no compiler makes it of an atomic access */
	bool is_pair;   /* it may be an atomic access of two words, as far as the instruction tells */
	Int stop;       /* the statement before which it can be stopped: that of its first access; negative: none */
};

static inline IRExpr *word(UWord value)
{
	return mkIRExpr_HWord((HWord)value);
}

static inline IRExpr *assign(struct place *p, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(p->to->tyenv, type);
	addStmtToIRSB(p->to, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

/* size: of the access, of which a record has two words at most. */
static inline UWord word_1(const struct place *p, unsigned size, unsigned order)
{
	enum { WORD = 8, PAIR = 2 * WORD };
	bool is_plain = !p->is_locked && (p->is_plain || size > PAIR || (size > WORD && !p->is_pair));
	return (UWord)(p->pc & RT_OPERAND_MAX) |
	       (UWord)rt_record_aux(size > PAIR ? PAIR : size, order, is_plain ? RT_F_PLAIN : 0) << 48;
}

/* What a call stores is its return address, which is no variable; like what a return loads. */
static inline bool is_return_address(const struct place *p, const IRExpr *data)
{
	return data->tag == Iex_Const && data->Iex.Const.con->tag == Ico_U64 &&
	       data->Iex.Const.con->Ico.U64 == p->at + p->length;
}

#endif
