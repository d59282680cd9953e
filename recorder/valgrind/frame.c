/*
 * Which instructions access nothing but the frame of their own function, which no other thread can know of. Functions
 * are found by their unwind information (.eh_frame), which stripped programs have as well. A function without it, or
 * one that is not understood as a whole, counts as one that gives the address of its frame away.
 */
#include "recorder/valgrind/frame.h"

#include "recorder/valgrind/module.h"

#include <valgrind/pub_tool_aspacemgr.h>
#include <valgrind/pub_tool_debuginfo.h>
#include <valgrind/pub_tool_libcbase.h>

/* A stretch of code with unwind information of its own: a function, or a part of one that is put elsewhere. */
struct stretch {
	Addr start, end;
	bool is_function; /* it begins with nothing but the return address on the stack */
	struct frame_use use;
};

/* Bytes from `at` that can be read, at most `most`. */
static SizeT readable(Addr at, SizeT most)
{
	const NSegment *s = VG_(am_find_nsegment)(at);
	SizeT n = s && s->hasR ? s->end - at + 1 : 0;
	return n < most ? n : most;
}

/* ---- Unwind information ---- */

enum { SDATA4_RELATIVE = 0x3b, UDATA4 = 0x03, PCREL_SDATA4 = 0x1b, OMITTED = 0xff };

struct bytes {
	const UChar *at, *end;
};

static UWord uleb(struct bytes *b)
{
	UWord value = 0;
	for (unsigned shift = 0; b->at < b->end; shift += 7) {
		UChar c = *b->at++;
		value |= shift < 64 ? (UWord)(c & 127) << shift : 0;
		if (!(c & 128))
			break;
	}
	return value;
}

static Int word_4(const UChar *at)
{
	Int value;
	VG_(memcpy)(&value, at, sizeof value);
	return value;
}

/* What is between the length of an entry and its end. Empty: it cannot be read. */
static struct bytes entry(Addr at)
{
	enum { LENGTH = 4, LARGE = 1 << 24 };
	if (readable(at, LENGTH) < LENGTH)
		return (struct bytes){NULL, NULL};
	UWord size = (UInt)word_4((const UChar *)at);
	const UChar *start = (const UChar *)at + LENGTH;
	return (struct bytes){start, start + (size < LARGE && readable(at + LENGTH, size) == size ? size : 0)};
}

/* What is said of a common entry's functions: how their tables of landing pads are found. */
static bool read_common(Addr common, Int *encoding)
{
	enum { HEADER = 4 + 1 };
	struct bytes b = entry(common);
	if (b.end - b.at < HEADER + 4 || word_4(b.at) || b.at[4] != 1 || b.at[HEADER] != 'z')
		return false;
	const UChar *letter = b.at + HEADER + 1;
	while (letter < b.end && *letter)
		letter++;
	const UChar *letters = b.at + HEADER + 1;
	b.at = letter + 1;
	uleb(&b), uleb(&b), uleb(&b), uleb(&b); /* alignments, the return address's register, size of what follows */
	*encoding = OMITTED;
	for (; letters < letter && b.at < b.end; letters++) {
		UChar e = *b.at++;
		if (*letters == 'L')
			*encoding = e;
		else if (*letters == 'P')
			b.at += (e & 7) == 3 ? 4 : (e & 15) == 0 || (e & 7) == 4 ? 8 : b.end - b.at;
		else if (*letters == 'R' && e != PCREL_SDATA4)
			return false;
		else if (*letters == 'S')
			b.at--;
	}
	return true;
}

/* True if the code that handles the function's exceptions is a part of it, by its language-specific data. */
static bool handles_inside(const UChar *pointer, Int encoding)
{
	if (encoding == OMITTED)
		return true;
	if ((encoding & 127) != PCREL_SDATA4)
		return false;
	Addr data = (Addr)pointer + (UWord)(Word)word_4(pointer);
	if (!word_4(pointer))
		return true;
	return !(encoding & 128) && readable(data, 1) && *(const UChar *)data == OMITTED; /* relative to its start */
}

/* True if the entry's instructions change nothing before the first one of the code. */
static bool begins_plainly(const struct bytes *b)
{
	enum { ADVANCE = 1, ADVANCE_1 = 2, ADVANCE_4 = 4 };
	UChar first = b->at < b->end ? *b->at : 0;
	return first == 0 || first >> 6 == ADVANCE || (first >= ADVANCE_1 && first <= ADVANCE_4);
}

/* The stretch at `start`, by its entry. False: there is none. */
static bool read_entry(Addr at, Addr start, struct stretch *s)
{
	enum { FIXED = 12 };
	Int encoding;
	struct bytes b = entry(at);
	if (b.end - b.at < FIXED + 1 || (Addr)b.at + 4 + (UWord)(Word)word_4(b.at + 4) != start ||
	    !read_common((Addr)b.at - (UInt)word_4(b.at), &encoding))
		return false;
	*s = (struct stretch){.start = start, .end = start + (UInt)word_4(b.at + 8)};
	b.at += FIXED;
	UWord size = uleb(&b);
	if (size > (UWord)(b.end - b.at) || (size && (size != 4 || !handles_inside(b.at, encoding))))
		return false;
	b.at += size;
	s->is_function = begins_plainly(&b);
	return true;
}

/* By the table of all functions of the module, which is sorted. */
static bool find_stretch(Addr at, struct stretch *s)
{
	enum { HEADER = 12, PAIR = 8 };
	DebugInfo *object = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), at);
	const HChar *file = object ? VG_(DebugInfo_get_filename)(object) : NULL;
	UWord own = file ? module_functions(file) : 0;
	Addr table = own ? own + (UWord)VG_(DebugInfo_get_text_bias)(object) : 0; /* code may be in no file */
	if (!own || readable(table, HEADER) < HEADER)
		return false;
	const UChar *h = (const UChar *)table;
	UWord n = (UInt)word_4(h + 8);
	if (h[0] != 1 || h[2] != UDATA4 || h[3] != SDATA4_RELATIVE ||
	    readable(table, HEADER + n * PAIR) != HEADER + n * PAIR)
		return false;
	UWord low = 0, high = n;
	while (low < high) {
		UWord middle = low + (high - low) / 2;
		if (table + (UWord)(Word)word_4(h + HEADER + middle * PAIR) <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	const UChar *pair = h + HEADER + (low - 1) * PAIR;
	return read_entry(table + (UWord)(Word)word_4(pair + 4), table + (UWord)(Word)word_4(pair), s) && at < s->end;
}

/* ---- What is known ---- */

/*
 * A jump to the start of a function is a tail call, by which the frame is over; any other one is to a part. A part may
 * begin like a function, where it makes the frame; then it jumps back.
 */
static bool is_tail_call(int64_t to, void *argument)
{
	const struct stretch *from = argument;
	struct stretch s;
	Addr at = from->start + (UWord)to;
	if (VG_(DebugInfo_sect_kind)(NULL, at) == Vg_SectPLT)
		return true;
	if (!find_stretch(at, &s) || s.start != at || !s.is_function || readable(at, s.end - at) != s.end - at)
		return false;
	return !instruction_jumps_between((const uint8_t *)at, s.end - at, 1 - to, (int64_t)(from->end - at));
}

enum { STRETCHES = 1024 };
static struct stretch known[STRETCHES], last;

static const struct stretch *stretch_of(Addr at)
{
	struct stretch s;
	if (at - last.start < last.end - last.start)
		return &last;
	if (!find_stretch(at, &s))
		s = (struct stretch){.start = at, .end = at + 1};
	struct stretch *of = &known[(s.start >> 4 ^ s.start >> 14) & (STRETCHES - 1)];
	if (of->start != s.start || of->end != s.end) {
		if (s.is_function && readable(s.start, s.end - s.start) == s.end - s.start)
			s.use = frame_use((const uint8_t *)s.start, s.end - s.start, is_tail_call, &s);
		*of = s;
	}
	last = *of;
	return &last;
}

void frame_forget(void)
{
	VG_(memset)(known, 0, sizeof known);
	last = (struct stretch){0};
}

/* A memory operand besides which the instruction accesses something else: by push, pop, call and jmp. */
static bool accesses_more(const struct instruction *i)
{
	return i->map == 1 && (i->opcode == 0x8f || i->opcode == 0xff);
}

bool frame_is_accessed(Addr at, const struct instruction *i)
{
	if (i->is_locked || i->is_elsewhere)
		return false;
	if (instruction_saves(i))
		return true;
	bool by_stack = i->base == REGISTER_SP, by_pointer = i->base == REGISTER_FP && i->displacement < 0;
	if (!instruction_has_memory(i) || i->index != REGISTER_NONE || accesses_more(i) || (!by_stack && !by_pointer))
		return false;
	const struct stretch *s = stretch_of(at);
	return s->use.is_private && (by_stack || s->use.has_pointer);
}
