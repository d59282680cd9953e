/*
 * Programs that are started idle (RACETRACE=idle), and recorded for a while by `racetrace record --pid`.
 *
 * The program makes the channel itself, and the collector finds it among its descriptors. Each thread has a slot, which
 * is muted: it has no room, so that each hook takes the slow way, which looks whether a session is under way. If one
 * is, the thread joins it: its slot gets room, and the first events say what the thread holds and where its stack is,
 * at the stamp at which the session began. Calls of the library are followed while the program is idle, as when it is
 * recorded; only their events are dropped. So locks held, annotations, descriptors and threads' numbers are known. Not
 * known are the blocks that are allocated, and the calls that are open.
 *
 * What is recorded has all orders of the session. An event is dropped only by a thread that has not seen the session.
 * If it is of what waits for other threads, that was done before. All that is recorded was done by threads that have
 * seen the session. So nothing that is dropped comes after anything that is recorded. The exception are atomic
 * operations, where the look comes first, as one that is recorded is done under a lock: they look again afterwards.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const _Atomic uint32_t no_session;
bool rt_idle;
const _Atomic uint32_t *rt_session = &no_session;

enum { SLOTS = 32768, SLOTS_MIN = 16, RING_RECORDS = 16384 }; /* of 16 bytes: 256 KiB */

/* ---- The channel ---- */

static uint64_t page_round(uint64_t n)
{
	return (n + 4095) & ~UINT64_C(4095);
}

static bool failed(long result)
{
	return result < 0 && result > -4096;
}

static long file = -1; /* the channel's */
static uint64_t file_device, file_inode;

/* Under a high number, which shifts none of the program's own. Negative: there is none. */
static long make_file(void)
{
	long low = RT_SYSCALL(SYS_memfd_create, RT_IDLE_FILE, MFD_CLOEXEC), high;

	if (failed(low))
		return low;
	high = RT_SYSCALL(SYS_fcntl, low, F_DUPFD_CLOEXEC, 1000);
	if (failed(high))
		return low;
	RT_SYSCALL(SYS_close, low);
	return high;
}

/* Beyond the limit the program would be sent SIGXFSZ. */
static bool may_be_as_long(uint64_t bytes)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	return failed(RT_SYSCALL(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit)) || bytes <= limit.rlim_cur;
}

/* The file's whole size, for this number of slots. */
static struct rt_channel *map(long fd, uint64_t slots, void *where)
{
	uint64_t rings = page_round(RT_TREE_PAGE + slots * sizeof(struct rt_slot));
	uint64_t bytes = rings + slots * RING_RECORDS * sizeof(struct rt_record);
	long at;

	if (!may_be_as_long(bytes) || failed(RT_SYSCALL(SYS_ftruncate, fd, bytes)))
		return NULL;
	at = RT_SYSCALL(SYS_mmap, where, bytes, PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_NORESERVE | (where ? MAP_FIXED : 0), fd, 0);
	if (failed(at))
		return NULL;
	if (!where)
		rt_memory_reserved += bytes;
	struct rt_channel *c = (struct rt_channel *)at;
	RT_SYSCALL(SYS_madvise, c, bytes, MADV_DONTDUMP);
	c->magic = RT_CHANNEL_MAGIC;
	c->version = RT_CHANNEL_VERSION;
	c->slot_count = (uint32_t)slots;
	c->ring_records = RING_RECORDS;
	c->slots_offset = RT_TREE_PAGE;
	c->rings_offset = rings;
	c->total_bytes = bytes;
	c->idle = 1;
	return c;
}

/* where: NULL, or a channel that is replaced. The file stays open, for a collector to find. */
static bool make_channel(void *where)
{
	long fd = make_file();
	struct rt_channel *c = NULL;

	for (uint64_t slots = SLOTS; !failed(fd) && !c && slots >= SLOTS_MIN; slots /= 4)
		c = map(fd, slots, where);
	if (c && rt_privates_map(c->slot_count)) {
		struct stat st = {0};

		RT_SYSCALL(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH);
		file = fd;
		file_device = st.st_dev;
		file_inode = st.st_ino;
		rt_tree = (struct rt_tree *)(void *)((char *)c + RT_TREE_OFFSET);
		rt_channel = c;
		rt_session = &c->session;
		rt_idle = true;
		return true;
	}
	if (!failed(fd))
		RT_SYSCALL(SYS_close, fd);
	rt_say("racetrace: the system's limits do not allow an idle recorder; the program cannot be recorded");
	return false;
}

bool rt_idle_start(const char *word)
{
	if (!rt_same(word, RT_IDLE_WORD))
		return false;
	if (rt_watch_is_there() || !make_channel(NULL))
		return false;
	rt_fork_start();
	rt_call_at(RT_AT_START);
	rt_announce(false);
	return true;
}

/* The parent's file, which a forked child has inherited, unless the program has another one under its number. */
static void close_inherited(void)
{
	struct stat st = {0};

	if (RT_SYSCALL(SYS_newfstatat, file, "", &st, AT_EMPTY_PATH) == 0 && st.st_ino == file_inode &&
	    st.st_dev == file_device)
		RT_SYSCALL(SYS_close, file);
}

void rt_idle_closes(int fd)
{
	long copy;

	if (!rt_idle || fd != file)
		return;
	copy = RT_SYSCALL(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 1000);
	file = failed(copy) ? -1 : copy;
}

/* What is below it is closed here. */
void rt_idle_close_range(unsigned *first, unsigned *last, int flags)
{
	unsigned own = (unsigned)file;

	if (!rt_idle || file < 0 || (unsigned)flags & CLOSE_RANGE_CLOEXEC || own < *first || own > *last)
		return;
	if (own > *first && RT_SYSCALL(SYS_close_range, *first, own - 1, flags) == -ENOSYS)
		for (unsigned fd = *first; fd < own; fd++)
			RT_SYSCALL(SYS_close, fd);
	if (own < *last)
		*first = own + 1;
	else if (own > *first)
		*last = own - 1;
	else
		rt_idle_closes((int)own);
}

bool rt_idle_again(void *where)
{
	close_inherited();
	rt_session = &no_session;
	if (!make_channel(where))
		return false;
	rt_announce(true);
	return true;
}

/* ---- What is known at a session's begin ---- */

/* Ranges declared benign; the oldest are overwritten. */
enum { BENIGN_MAX = 512 };
static struct benign {
	uint64_t from, size;
	uintptr_t pc;
} benign[BENIGN_MAX];
static unsigned benign_count;
static unsigned char benign_lock;
static _Atomic uint32_t told; /* the session of which the beginning was */

static void lock_benign(void)
{
	rt_busy_begin();
	while (__atomic_exchange_n(&benign_lock, 1, __ATOMIC_ACQUIRE))
		RT_PAUSE();
}
static void unlock_benign(void)
{
	__atomic_store_n(&benign_lock, 0, __ATOMIC_RELEASE);
	rt_busy_end();
}
/* A forked child has sessions of its own, which are numbered from 1. */
static void begin_child(void)
{
	benign_lock = 0;
	atomic_store(&told, 0);
}
RT_CALL_AT(RT_AT_CHILD, begin_child);

void rt_idle_note(unsigned op, uint64_t operand, uint64_t arg, uintptr_t pc, bool recorded)
{
	struct rt_thread *t = &rt_thread;

	switch (op) {
	case RT_OP_IGNORE_BEGIN:
		t->ignores[arg & 7]++;
		break;
	case RT_OP_IGNORE_END:
		t->ignores[arg & 7] -= t->ignores[arg & 7] > 0;
		break;
	case RT_OP_REGION_BEGIN:
		t->regions++;
		break;
	case RT_OP_REGION_END:
		t->regions -= t->regions > 0;
		break;
	case RT_OP_BENIGN:
		lock_benign();
		benign[benign_count++ % BENIGN_MAX] = (struct benign){operand, arg, pc};
		unlock_benign();
		break;
	case RT_OP_LOST:
		if (!recorded) /* the next session lacks what this stands for, from its beginning */
			atomic_fetch_add(&rt_channel->unseen, 1);
		break;
	default:
		break;
	}
}

/* At the session's begin. */
static void tell(struct rt_slot *s, unsigned op, uint64_t operand, uint64_t arg, uintptr_t pc)
{
	struct rt_record event = rt_record_make(op, operand, pc, 0, 0);
	struct rt_record ext = rt_record_ext(rt_channel->begun, arg);

	rt_append2(event.w0, event.w1, s, ext.w0, ext.w1);
}

/* What concerns all threads: by the first one that joins. */
static void tell_all(struct rt_slot *s, uint32_t session)
{
	if (atomic_exchange(&told, session) == session)
		return;
	rt_place_tell(s, rt_channel->begun);
	lock_benign();
	for (unsigned i = 0; i < benign_count && i < BENIGN_MAX; i++)
		tell(s, RT_OP_BENIGN, benign[i].from, benign[i].size, benign[i].pc);
	unlock_benign();
}

static void tell_thread(struct rt_slot *s)
{
	const struct rt_thread *t = &rt_thread;
	size_t size;
	uintptr_t local = rt_thread_local(&size);

	tell(s, RT_OP_BEGIN, (uintptr_t)t->stack, t->stack_size, 0);
	if (size)
		tell(s, RT_OP_TLS, local, size, 0);
	for (unsigned i = 0; i < t->held_count; i++)
		tell(s, t->held[i].shared ? RT_OP_ACQUIRE_SHARED : RT_OP_ACQUIRE, t->held[i].lock, 0, t->held[i].pc);
	if (t->held_unsure)
		tell(s, RT_OP_LOST, RT_LOST_CALL, 1, 0);
	for (unsigned i = 0; i < t->regions; i++)
		tell(s, RT_OP_REGION_BEGIN, 0, 0, 0);
	for (unsigned what = 0; what < 8; what++)
		for (unsigned i = 0; i < t->ignores[what]; i++)
			tell(s, RT_OP_IGNORE_BEGIN, 0, what, 0);
}

/* ---- Sessions ---- */

void rt_idle_room(struct rt_slot *s, struct rt_record *limit)
{
	__atomic_store_n(&s->limit, limit, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_seq_cst);
	if (!rt_in_session(s))
		__atomic_store_n(&s->limit, NULL, __ATOMIC_RELAXED);
}

/* Of a slot that no collector looks at, as its session is not the one under way. */
static void begin_ring(struct rt_slot *s, uint32_t session, uint64_t stamp)
{
	struct rt_private *p = rt_private_of(s);

	atomic_store(&s->session, 0);
	s->generation++;
	s->ring = rt_channel_ring(rt_channel, (uint32_t)(s - rt_channel_slot(rt_channel, 0)));
	s->skipped = 0;
	s->turned = 0;
	s->last_stamp = stamp;
	atomic_store(&s->published, 0);
	atomic_store(&s->consumed, 0);
	atomic_store(&s->waiting, 0);
	p->epoch_blocks = 0;
	p->pending.size = 0;
	rt_new_epoch(s);
	*s->ring = rt_record_ext(stamp ? stamp : rt_plain_stamp(s), 0);
	__atomic_store_n(&s->cur, s->ring + 1, __ATOMIC_RELEASE);
	atomic_store(&s->session, session);
	rt_idle_room(s, s->ring + RT_BLOCK_RECORDS);
}

/* The session that the slot can join; 0: none. */
static uint32_t session_for(const struct rt_slot *s)
{
	uint32_t session = rt_channel ? atomic_load_explicit(&rt_channel->session, memory_order_acquire) : 0;

	return s == &rt_dead || rt_thread.joining || session == atomic_load(&s->session) ? 0 : session;
}

bool rt_idle_join(struct rt_slot *s)
{
	uint32_t session = session_for(s);

	if (!session || s->limit)
		return s->limit != NULL;
	rt_busy_begin();
	rt_thread.joining = true;
	begin_ring(s, session, rt_channel->begun);
	if (s == rt_thread.own)
		tell_thread(s);
	tell_all(s, session);
	if (s->limit) {
		struct rt_record now = rt_record_ext(rt_plain_stamp(s), 0);
		rt_append(now.w0, now.w1, s);
	}
	rt_thread.joining = false;
	rt_busy_end();
	return s->limit != NULL;
}

void rt_idle_open(struct rt_slot *s)
{
	uint32_t session = session_for(s);

	if (!session)
		return;
	rt_busy_begin();
	begin_ring(s, session, 0);
	rt_busy_end();
}

void rt_idle_left(struct rt_slot *s)
{
	uint32_t session = atomic_load(&s->session);
	uint64_t stamp = atomic_fetch_add(&rt_channel->clock, 1), none = 0;

	__atomic_store_n(&s->limit, NULL, __ATOMIC_RELAXED);
	if (rt_in_session(s)) /* nothing that was dropped has a stamp up to this one */
		atomic_compare_exchange_strong(&rt_channel->ended, &none, stamp);
	if (session && atomic_compare_exchange_strong(&rt_channel->session, &session, 0))
		rt_say("racetrace: the collector is gone; the program goes on idle");
}

void rt_idle_missed(uintptr_t pc)
{
	if (session_for(rt_self))
		rt_emit_sync(RT_OP_LOST, RT_LOST_CALL, 1, pc, 0);
}
