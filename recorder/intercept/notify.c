/*
 * What comes from outside the program's own threads: signals that one thread sends and another takes, timers, the
 * threads in which the C library calls notification functions, and System V's message queues and semaphores (whose
 * calls are in kernel_calls.h). All are happens-before: of whatever was sent before what is taken.
 */
#include "recorder/intercept/fd_object.h"
#include "recorder/intercept/kernel.h"
#include "recorder/objects.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <mqueue.h>
#include <signal.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/time.h>
#include <time.h>

#define QUEUES (RT_OBJECT_QUEUE_END - RT_OBJECT_QUEUE)
#define SEMAPHORES ((RT_OBJECT_SEMAPHORE_END - RT_OBJECT_SEMAPHORE) / 2)
#define SET_MAX 64u /* semaphores of a set that are distinguished */

static void before(uint64_t object, uintptr_t pc)
{
	rt_emit_sync(RT_OP_HB_BEFORE, object, 0, pc, 0);
}
static void after(uint64_t object, uintptr_t pc)
{
	rt_emit_sync(RT_OP_HB_AFTER, object, 0, pc, 0);
}

/* Signals */

#define SENDS_SIGNAL(name, parameters, arguments)                                                                      \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		rt_signal_sent(sig, RT_PC);                                                                            \
		return RT_REAL(name) arguments;                                                                        \
	}
/* By turns the thread's next turn is for the handler. */
#define SENDS_SIGNAL_TO(name, parameters, arguments)                                                                   \
	RT_INTERPOSE(int, name, parameters)                                                                            \
	{                                                                                                              \
		rt_signal_sent(sig, RT_PC);                                                                            \
		int result = RT_REAL(name) arguments;                                                                  \
		if (RT_UNLIKELY(rt_controlled) && result == 0 && sig != 0 && rt_turn_mine())                           \
			rt_turn_signaled(rt_thread_of(thread));                                                        \
		return result;                                                                                         \
	}
SENDS_SIGNAL(kill, (pid_t pid, int sig), (pid, sig))
SENDS_SIGNAL(killpg, (pid_t group, int sig), (group, sig))
SENDS_SIGNAL(raise, (int sig), (sig))
SENDS_SIGNAL(tgkill, (pid_t pid, pid_t tid, int sig), (pid, tid, sig))
SENDS_SIGNAL_TO(pthread_kill, (pthread_t thread, int sig), (thread, sig))
SENDS_SIGNAL(sigqueue, (pid_t pid, int sig, union sigval value), (pid, sig, value))
SENDS_SIGNAL_TO(pthread_sigqueue, (pthread_t thread, int sig, union sigval value), (thread, sig, value))

CALL(int, sigwait, (const sigset_t *set, int *number), (set, number), IN(set); LEAVES; AWAITS(SIGNAL), RETURNS; BLOCKS;
     WHEN(r == 0, rt_signal_received(*number, pc); OUT(number)))
CALL(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info), IN(set); LEAVES; AWAITS(SIGNAL), RETURNS;
     BLOCKS; rt_signal_received(r, pc); if (r > 0) OUT(info))
CALL(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout), (set, info, timeout),
     IN(set);
     IN(timeout); LEAVES; AWAITS(SIGNAL), RETURNS; BLOCKS; rt_signal_received(r, pc); if (r > 0) OUT(info))

/* Timers */

RT_INTERPOSE(unsigned, alarm, (unsigned seconds))
{
	rt_timer_set(RT_PC);
	return RT_REAL(alarm)(seconds);
}
RT_INTERPOSE(useconds_t, ualarm, (useconds_t microseconds, useconds_t interval))
{
	rt_timer_set(RT_PC);
	return RT_REAL(ualarm)(microseconds, interval);
}
CALL(int, setitimer, (__itimer_which_t which, const struct itimerval *new, struct itimerval *old), (which, new, old),
     rt_timer_set(pc);
     IN(new), if (r == 0) OUT(old))
CALL(int, timer_settime,
     (timer_t timer, int flags, const struct itimerspec *restrict new, struct itimerspec *restrict old),
     (timer, flags, new, old), rt_timer_set(pc);
     IN(new), if (r == 0) OUT(old))

/*
 * A function that the C library calls in a thread that it makes for it, unseen. One for all calls of a position with
 * equal events; each stays, as it may be called until the program ends.
 */
struct notice {
	struct notice *next;
	void (*function)(union sigval);
	union sigval value;
	int queue; /* of messages; or one of: */
	uintptr_t pc;
};
enum { OF_TIMER = -1, OF_REQUEST = -2 };

static void notified(union sigval value)
{
	struct notice *n = value.sival_ptr;

	rt_thread_adopt(n->pc);
	after((uintptr_t)n, n->pc);
	if (n->queue != OF_REQUEST)
		after(RT_OBJECT_TIMER, n->pc);
	if (n->queue >= 0)
		rt_fd_received(n->queue, true, n->pc);
	n->function(n->value);
}

static struct notice *notice_of(const struct sigevent *event, int queue, uintptr_t pc)
{
	static struct notice *_Atomic all[256];
	struct notice *_Atomic *bucket =
	    &all[rt_object_mix(pc ^ (uintptr_t)event->sigev_value.sival_ptr) % (sizeof all / sizeof *all)];
	struct notice *first = atomic_load(bucket), *n = first;

	while (n && !(n->function == event->sigev_notify_function && n->queue == queue && n->pc == pc &&
	              n->value.sival_ptr == event->sigev_value.sival_ptr))
		n = n->next;
	if (n || !(n = rt_malloc_unseen(sizeof *n)))
		return n;
	*n = (struct notice){first, event->sigev_notify_function, event->sigev_value, queue, pc};
	while (!atomic_compare_exchange_weak(bucket, &first, n))
		n->next = first;
	return n;
}

/* The program's event, or in `mine` one that runs its function recorded. */
static struct sigevent *observed(struct sigevent *event, struct sigevent *mine, int queue, uintptr_t pc)
{
	struct notice *n;

	if (!event || event->sigev_notify != SIGEV_THREAD || !rt_recording())
		return event;
	before(RT_OBJECT_SIGNAL, pc); /* so it may be called where all threads wait */
	rt_turn_foreign();
	n = notice_of(event, queue, pc);
	if (!n)
		return event;
	before((uintptr_t)n, pc);
	*mine = *event;
	mine->sigev_notify_function = notified;
	mine->sigev_value.sival_ptr = n;
	return mine;
}

struct sigevent *rt_request_notifies(struct sigevent *event, struct sigevent *mine, uintptr_t pc)
{
	if (event && event->sigev_notify == SIGEV_SIGNAL)
		rt_timer_set(pc);
	return observed(event, mine, OF_REQUEST, pc);
}

/*
 * The event of a request is the program's own memory, and is read when the request is done. One of these functions
 * stands there then, and from then on; the value stays the program's, which may change it alone from one request to the
 * next. Each is for the requests of one position with one function.
 */
enum { CALLBACKS = 32, VALUES = 64 };
static struct callback {
	void (*_Atomic function)(union sigval);
	_Atomic uintptr_t pc;
	char objects[VALUES]; /* by value: what orders the call behind the request */
} callbacks[CALLBACKS];

static uintptr_t order_of(const struct callback *c, union sigval value)
{
	return (uintptr_t)&c->objects[rt_object_mix((uintptr_t)value.sival_ptr) % VALUES];
}

static void called_back(const struct callback *c, union sigval value)
{
	rt_thread_adopt(c->pc);
	after(order_of(c, value), c->pc);
	c->function(value);
}

#define EIGHT(of, n) of(0##n##0) of(0##n##1) of(0##n##2) of(0##n##3) of(0##n##4) of(0##n##5) of(0##n##6) of(0##n##7)
#define ALL(of) EIGHT(of, 0) EIGHT(of, 1) EIGHT(of, 2) EIGHT(of, 3)
#define STUB(i)                                                                                                        \
	static void stub_##i(union sigval value)                                                                       \
	{                                                                                                              \
		called_back(&callbacks[i], value);                                                                     \
	}
#define NAME(i) stub_##i,
ALL(STUB)
static void (*const stubs[CALLBACKS])(union sigval) = {ALL(NAME)};

/* The one for the function at the position; CALLBACKS: there are too many, and its threads are missing. */
static unsigned callback_of(void (*function)(union sigval), uintptr_t pc)
{
	unsigned i = 0;
	for (; i < CALLBACKS; i++) {
		void (*none)(union sigval) = NULL;
		if (callbacks[i].function == function && callbacks[i].pc == pc)
			break;
		if (atomic_compare_exchange_strong(&callbacks[i].function, &none, function)) {
			callbacks[i].pc = pc;
			break;
		}
	}
	return i;
}

void rt_request_notifies_in(struct sigevent *event, uintptr_t pc)
{
	if (event->sigev_notify == SIGEV_SIGNAL)
		rt_timer_set(pc);
	if (event->sigev_notify != SIGEV_THREAD || !rt_recording())
		return;
	void (*function)(union sigval) = event->sigev_notify_function;
	for (unsigned i = 0; i < CALLBACKS; i++)
		if (event->sigev_notify_function == stubs[i])
			function = callbacks[i].function;
	before(RT_OBJECT_SIGNAL, pc);
	rt_turn_foreign();
	unsigned i = callback_of(function, pc);
	if (i == CALLBACKS) {
		rt_emit_sync(RT_OP_LOST, RT_LOST_THREAD, 1, pc, 0);
		return;
	}
	before(order_of(&callbacks[i], event->sigev_value), pc);
	event->sigev_notify_function = stubs[i];
}

RT_INTERPOSE(int, timer_create, (clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer))
{
	struct sigevent mine = {0};

	rt_timer_set(RT_PC);
	return RT_REAL(timer_create)(clock, observed(event, &mine, OF_TIMER, RT_PC), timer);
}
RT_INTERPOSE(int, mq_notify, (mqd_t queue, const struct sigevent *event))
{
	struct sigevent mine = {0};

	rt_timer_set(RT_PC);
	return RT_REAL(mq_notify)(queue, observed((struct sigevent *)(uintptr_t)event, &mine, queue, RT_PC));
}

/* System V's queues and semaphores */

uint64_t rt_message_queue(int id)
{
	return RT_OBJECT_QUEUE + (unsigned)id % QUEUES;
}

/* A message is of a type, by which it is taken: it is behind those of its own alone. No type is 0. */
enum { ROOM = 0 };
static uint64_t messages_of(int id, long type)
{
	return rt_fd_object_of(rt_object_mix(rt_object_mix(rt_message_queue(id)) + (uint64_t)type));
}

void rt_message_goes(int id, const void *message, uintptr_t pc)
{
	if (!rt_recording())
		return;
	before(rt_message_queue(id), pc);
	before(messages_of(id, *(const long *)message), pc);
	rt_children_told(pc);
}

/* Others may put messages there, too, between this and a call: half of a queue counts as full. */
bool rt_message_may_wait(int id, size_t size)
{
	struct msqid_ds is;
	return rt_recording() && RT_SYSCALL(SYS_msgctl, id, IPC_STAT, &is) >= 0 &&
	       (is.__msg_cbytes + size > is.msg_qbytes / 2 || is.msg_qnum > is.msg_qbytes / 2);
}

void rt_message_went(int id, bool may_have_waited, uintptr_t pc)
{
	if (may_have_waited && rt_recording())
		after(messages_of(id, ROOM), pc);
}

void rt_message_makes_room(int id, uintptr_t pc)
{
	if (rt_recording())
		before(messages_of(id, ROOM), pc);
}

void rt_message_came(int id, const void *message, uintptr_t pc)
{
	if (!rt_recording())
		return;
	after(messages_of(id, *(const long *)message), pc);
	rt_children_heard(pc);
}

/* Two objects each: what waits for more comes after what adds, what waits for zero after what takes. */
static uint64_t semaphore(int id, unsigned n, bool zero)
{
	return RT_OBJECT_SEMAPHORE + ((unsigned)id * 64 + n) % SEMAPHORES * 2 + zero;
}

#if RT_CONTROLLED
/* The operation for which the call would wait; NULL: it would not. */
static const struct sembuf *waits_for(int id, const struct sembuf *operations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct sembuf *o = &operations[i];
		long value = RT_SYSCALL(SYS_semctl, id, o->sem_num, GETVAL, 0);
		if (value < 0) /* an error, which the call will meet */
			return NULL;
		for (size_t k = 0; k < i; k++)
			if (operations[k].sem_num == o->sem_num)
				value += operations[k].sem_op;
		if (o->sem_op == 0 ? value != 0 : value + o->sem_op < 0)
			return o->sem_flg & IPC_NOWAIT ? NULL : o;
	}
	return NULL;
}

bool rt_semaphores_by_turns(int id, const struct sembuf *operations, size_t n, const struct timespec *timeout,
                            uintptr_t pc)
{
	const struct sembuf *o;
	if (!rt_turn_mine())
		return false;
	rt_turn_step(RT_OP_NONE, 0, 0, pc, timeout ? RT_F_TIMED : 0, false);
	while (rt_controlled && (o = waits_for(id, operations, n))) {
		struct rt_until until = timeout ? RT_UNTIL(RT_CLOCK_DURATION, timeout) : RT_FOREVER;
		uint64_t object = semaphore(id, o->sem_num, o->sem_op == 0);
		if (rt_turn_block(RT_OP_SEM_WAIT, object, until, false) != RT_TURN_AGAIN)
			return false;
		if (rt_turn_is_last_chance() && waits_for(id, operations, n))
			return false;
	}
	return true;
}
#endif

void rt_semaphores_before(int id, const struct sembuf *operations, size_t n, uintptr_t pc)
{
	for (size_t i = 0; i < n && rt_recording(); i++)
		if (operations[i].sem_op)
			before(semaphore(id, operations[i].sem_num, operations[i].sem_op < 0), pc);
	rt_children_told(pc);
}

void rt_semaphores_after(int id, const struct sembuf *operations, size_t n, uintptr_t pc)
{
	for (size_t i = 0; i < n && rt_recording(); i++)
		if (operations[i].sem_op <= 0)
			after(semaphore(id, operations[i].sem_num, operations[i].sem_op == 0), pc);
	rt_children_heard(pc);
}

void rt_semaphores_seen(int id, int number, bool all, uintptr_t pc)
{
	for (unsigned i = all ? 0 : (unsigned)number; i < (all ? SET_MAX : (unsigned)number + 1) && rt_recording();
	     i++) {
		after(semaphore(id, i, false), pc);
		after(semaphore(id, i, true), pc);
	}
}

/* To what, and of SETALL which, is not looked at. */
void rt_semaphores_set(int id, int number, bool all, uintptr_t pc)
{
	if (!rt_recording())
		return;
	for (unsigned i = all ? 0 : (unsigned)number; i < (all ? SET_MAX : (unsigned)number + 1); i++) {
		before(semaphore(id, i, false), pc);
		before(semaphore(id, i, true), pc);
	}
}
