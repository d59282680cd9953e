/*
 * Locks of files: flock's of the whole, and those of parts that belong to an open description (F_OFD_SETLK). They
 * exclude descriptions of one file from one another: an acquire comes after the release that allowed it, by
 * another description. A description's own locks replace each other, so threads that share it are not kept apart; nor
 * are a process's threads by the other locks of fcntl, which belong to processes.
 */
#include "recorder/intercept/call.h"
#include "recorder/intercept/fd.h"
#include "recorder/intercept/kernel.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>

/* What a description has locked so far. Never given back; of more than these nothing is known. */
#define LOCKS_MAX 1024u
static struct file_lock {
	_Atomic uint32_t state; /* 0: free; 1: being filled in; 2: in use */
	uint32_t description;
	uint64_t file;
	int64_t start, end;     /* end: of the last byte */
	char exclusive, shared; /* objects: released after it was held so */
	_Atomic unsigned held;  /* enum hold */
	uint32_t holder, since; /* thread that took it; rt_fd_since of the description */
	_Atomic bool closed;    /* a descriptor of the description was closed since then: held, or not any more */
} locks[LOCKS_MAX];

enum hold { HELD_NOT, HELD_SHARED, HELD_EXCLUSIVE };

struct part {
	uint64_t file;
	uint32_t description, since;
	int64_t start, end;
};

static struct file_lock *find(const struct part *p)
{
	for (unsigned i = 0; i < LOCKS_MAX; i++) {
		struct file_lock *l = &locks[i];
		uint32_t none = 0;
		if (atomic_compare_exchange_strong(&l->state, &none, 1)) {
			l->file = p->file;
			l->description = p->description;
			l->start = p->start;
			l->end = p->end;
			atomic_store(&l->state, 2);
			return l;
		}
		if (atomic_load(&l->state) == 2 && l->file == p->file && l->description == p->description &&
		    l->start == p->start && l->end == p->end)
			return l;
	}
	return NULL;
}

static void releases(const struct file_lock *l, uintptr_t pc)
{
	unsigned held = atomic_load(&l->held);
	if (held)
		rt_emit_sync(RT_OP_HB_BEFORE, (uintptr_t)(held == HELD_SHARED ? &l->shared : &l->exclusive), 0, pc, 0);
}

static bool overlap(const struct file_lock *l, const struct part *p)
{
	return l->start <= p->end && p->start <= l->end;
}

static bool is_own(const struct file_lock *l, const struct part *p)
{
	return atomic_load(&l->state) == 2 && l->file == p->file && l->description == p->description && overlap(l, p);
}

/* Those of the part that this description holds are released, by a lock as well: it replaces them. */
static void locking(const struct part *p, uintptr_t pc)
{
	for (unsigned i = 0; i < LOCKS_MAX && atomic_load(&locks[i].state); i++)
		if (is_own(&locks[i], p))
			releases(&locks[i], pc);
}

static void locked(const struct part *p, enum hold hold, uintptr_t pc)
{
	for (unsigned i = 0; i < LOCKS_MAX && atomic_load(&locks[i].state); i++)
		if (is_own(&locks[i], p))
			atomic_store(&locks[i].held, HELD_NOT);
	if (hold == HELD_NOT)
		return;
	struct file_lock *own = find(p);
	if (own) {
		own->holder = rt_self->thread;
		own->since = p->since;
		atomic_store(&own->closed, false);
		atomic_store(&own->held, hold);
	}
	for (unsigned i = 0; i < LOCKS_MAX && atomic_load(&locks[i].state); i++) {
		const struct file_lock *l = &locks[i];
		if (atomic_load(&l->state) != 2 || l->file != p->file || l->description == p->description ||
		    !overlap(l, p))
			continue;
		rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)&l->exclusive, 0, pc, 0);
		if (hold == HELD_EXCLUSIVE)
			rt_emit_sync(RT_OP_HB_AFTER, (uintptr_t)&l->shared, 0, pc, 0);
	}
}

/*
 * A wait for a lock of the part. What another description of this process holds has to be released first, which the
 * process's threads alone can do.
 */
static void awaits(int fd, const struct part *p, enum hold hold, uintptr_t pc)
{
	const struct file_lock *by = NULL;
	bool exclusive = false;
	for (unsigned i = 0; p && i < LOCKS_MAX && atomic_load(&locks[i].state) && !by; i++) {
		const struct file_lock *l = &locks[i];
		unsigned held = atomic_load(&l->held);
		exclusive = held == HELD_EXCLUSIVE;
		if (atomic_load(&l->state) == 2 && l->file == p->file && l->description != p->description &&
		    !atomic_load(&l->closed) && rt_fd_own(l->since) && overlap(l, p) &&
		    (exclusive || (held && hold == HELD_EXCLUSIVE)))
			by = l;
	}
	if (by)
		rt_call_begins(RT_CALL_FILE_LOCK, fd, (uintptr_t)(exclusive ? &by->exclusive : &by->shared),
		               rt_fd_own(by->since), by->holder, pc);
	else
		rt_call_begins(RT_CALL_FILE_LOCK, fd, 0, 0, RT_CALL_NO_HOLDER, pc);
}

/* flock's locks and those of parts do not know each other. */
#define WHOLE (UINT64_C(1) << 63)
static struct part whole(int fd)
{
	return (struct part){rt_fd_file(fd) | WHOLE, rt_fd_description(fd), rt_fd_since(fd, true), 0, INT64_MAX};
}

void rt_file_locking(int fd, uintptr_t pc)
{
	if (!rt_recording())
		return;
	struct part p = whole(fd);
	locking(&p, pc);
}

void rt_file_locked(int fd, int operation, uintptr_t pc)
{
	if (!rt_recording())
		return;
	struct part p = whole(fd);
	locked(&p, operation & LOCK_UN ? HELD_NOT : operation & LOCK_SH ? HELD_SHARED : HELD_EXCLUSIVE, pc);
}

void rt_file_awaits(int fd, int operation, uintptr_t pc)
{
	struct part p = whole(fd);
	if (!(operation & LOCK_UN))
		awaits(fd, rt_recording() ? &p : NULL, operation & LOCK_SH ? HELD_SHARED : HELD_EXCLUSIVE, pc);
}

static bool part_of(int fd, const struct flock *f, struct part *p)
{
	int64_t start = f->l_start;
	if (f->l_whence == SEEK_CUR)
		start += RT_SYSCALL(SYS_lseek, fd, 0, SEEK_CUR);
	else if (f->l_whence == SEEK_END)
		return false; /* it may change meanwhile */
	int64_t end = f->l_len > 0 ? start + f->l_len - 1 : f->l_len == 0 ? INT64_MAX : start - 1;
	*p = (struct part){rt_fd_file(fd), rt_fd_description(fd), rt_fd_since(fd, true),
	                   f->l_len < 0 ? start + f->l_len : start, end};
	return true;
}

void rt_part_locking(int fd, const struct flock *f, uintptr_t pc)
{
	struct part p;
	if (rt_recording() && part_of(fd, f, &p))
		locking(&p, pc);
}

void rt_part_locked(int fd, const struct flock *f, uintptr_t pc)
{
	struct part p;
	if (rt_recording() && part_of(fd, f, &p))
		locked(&p, f->l_type == F_UNLCK ? HELD_NOT : f->l_type == F_RDLCK ? HELD_SHARED : HELD_EXCLUSIVE, pc);
}

/*
 * Valgrind (3.19) does not know that F_OFD_SETLKW may wait, and lets no other thread run meanwhile. So the thread tries
 * until the call will not wait; the collector sees the tries fail. False: a handler of a signal has interrupted it.
 */
static bool await_by_tries(int fd, const struct flock *f, uintptr_t pc)
{
	enum { TRY_US = 2000 };
	struct rt_call *call = &rt_self->call;
	atomic_store(&call->tries, 1);
	rt_thread.handled = 0;
	while (RT_SYSCALL(SYS_fcntl, fd, F_OFD_SETLK, f) == -EAGAIN) {
		atomic_fetch_add(&call->tries, 1);
		rt_pause_us(TRY_US);
		rt_testcancel(pc);
		if (rt_thread.handled && !rt_signal_restarts(rt_thread.handled))
			return false;
		rt_thread.handled = 0;
	}
	return true;
}

bool rt_part_awaits(int fd, int command, const struct flock *f, uintptr_t pc)
{
	struct part p;
	if (command == F_OFD_SETLKW && rt_recording() && part_of(fd, f, &p))
		awaits(fd, &p, f->l_type == F_RDLCK ? HELD_SHARED : HELD_EXCLUSIVE, pc);
	else if (command == F_SETLKW || command == F_OFD_SETLKW)
		awaits(fd, NULL, HELD_NOT, pc);
	return !rt_watched || command != F_OFD_SETLKW || await_by_tries(fd, f, pc);
}

void rt_file_unlocking(int fd, uintptr_t pc)
{
	uint32_t description = rt_fd_description(fd);
	for (unsigned i = 0; i < LOCKS_MAX && atomic_load(&locks[i].state); i++)
		if (atomic_load(&locks[i].state) == 2 && locks[i].description == description) {
			atomic_store(&locks[i].closed, true);
			releases(&locks[i], pc);
		}
}
