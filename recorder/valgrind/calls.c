/*
 * Calls and the modules they lead to. A thread's calls are known by where their return addresses are on its stack.
 */
#include "recorder/valgrind/calls.h"

#include "recorder/valgrind/instruction.h"
#include "recorder/valgrind/module.h"
#include "recorder/valgrind/ring.h"

#include <valgrind/pub_tool_debuginfo.h>
#include <valgrind/pub_tool_libcbase.h>
#include <valgrind/pub_tool_mallocfree.h>

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

bool is_told(Addr at)
{
	DebugInfo *object = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), at);
	if (!object)
		return false;
	const HChar *file = VG_(DebugInfo_get_filename)(object);
	return is_foreign_object(VG_(DebugInfo_get_soname)(object), file) || module_is_instrumented(file);
}

bool updates_plainly(Addr at)
{
	DebugInfo *object = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), at);
	return object && module_updates_plainly(VG_(DebugInfo_get_filename)(object));
}

bool is_linkage(Addr at)
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

void forget_targets(void)
{
	VG_(memset)(targets, 0, sizeof targets);
}

/* Where an entry of the procedure linkage table jumps to; 0: it does not begin with such a jump. */
static Addr behind_linkage(Addr at)
{
	enum { MOST = 16, INDIRECT = 0xff, JUMP_RELATIVE = 0x25 };
	struct instruction i;
	at += instruction_landing((const uint8_t *)at, MOST);
	if (!instruction_decode((const uint8_t *)at, MOST, &i) || i.map != 1 || i.opcode != INDIRECT ||
	    i.modrm != JUMP_RELATIVE)
		return 0;
	return *(const Addr *)(at + i.length + (UWord)(Word)i.displacement);
}

static void left(struct guest *g, struct rt_slot *s)
{
	g->depth--;
	ring_plain(g, s, (uint64_t)RT_OP_LEAVE << 48, 0, NULL);
}

void leave(UWord sp)
{
	struct rt_slot *s = guest_slot(guest_now);
	if (!s)
		return;
	while (guest_now->depth && guest_now->frames[guest_now->depth - 1] <= sp)
		left(guest_now, s);
}

static void entered(struct rt_slot *s, UWord sp, UWord pc)
{
	if (guest_now->depth == guest_now->room) {
		unsigned room = guest_now->room ? guest_now->room * 2 : 256;
		guest_now->frames =
		    VG_(realloc)("racetrace.frames", guest_now->frames, room * sizeof *guest_now->frames);
		guest_now->room = room;
	}
	guest_now->frames[guest_now->depth++] = sp;
	ring_plain(guest_now, s, (uint64_t)RT_OP_ENTER << 48, pc & RT_OPERAND_MAX, NULL);
}

void enter(UWord sp, UWord pc, UWord target)
{
	struct rt_slot *s = guest_slot(guest_now);
	if (!s)
		return;
	leave(sp);
	enum target what = look_at_target(target);
	if (what == TARGET_LINKAGE) {
		target = behind_linkage(target);
		what = target ? look_at_target(target) : TARGET_TOLD;
	}
	if (what == TARGET_OWN)
		entered(s, sp, pc);
}

void begin_function(UWord sp)
{
	struct rt_slot *s = guest_slot(guest_now);
	if (!s || (guest_now->depth && guest_now->frames[guest_now->depth - 1] == sp))
		return;
	leave(sp);
	entered(s, sp, *(const UWord *)sp);
}
