/* Deadlocks in which a thread waits for what another one is to do: the end of a wait, a signal, a post, a routine, a
 * barrier. */
#include "tests/unit/deadlock.h"

START_TEST(a_wait_that_ends_takes_its_mutex_again)
{
	struct fixture f;
	/* Either the lock of B or the end of the wait with it may wait for the second thread. */
	CHECK_DEADLOCKS(&f, 2, ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, ACQ(1, B),
	                {1, RT_OP_SIGNAL, COND, 0, 0}, REL(1, B), {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A),
	                NESTED(1, B, A));
	ck_assert_uint_eq(f.a->summary[ANOMALY_DEADLOCK][VERDICT_PROVED], 2);
	ck_assert_uint_eq(f.a->model->events[f.a->anomalies.items[1].events[0]].number, 7);
	/* To be at the end of the wait, it must have been woken. */
	const struct schedule *s = f.a->anomalies.items[1].schedule;
	uint32_t done[2] = {0, 0};
	for (uint32_t i = 0; i < s->count; i++)
		done[s->steps[i].thread] = s->steps[i].to + 1;
	ck_assert_uint_ge(done[1], 2);
	fixture_release(&f);
}
END_TEST

#define SIGNAL(t)                                                                                                      \
	{                                                                                                              \
		t, RT_OP_SIGNAL, COND, 0, 0                                                                            \
	}

START_TEST(a_signal_behind_a_lock_that_the_waiting_thread_holds_may_deadlock)
{
	struct fixture f;
	/* A nested monitor: A is held while the thread waits with B. */
	CHECK_DEADLOCKS(&f, 1, ACQ(1, A), REL(1, A), ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 1);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 7);
	fixture_release(&f);
	/* What the thread signalled before came before the wait. */
	CHECK_DEADLOCKS(&f, 1, SIGNAL(1), ACQ(1, A), REL(1, A), ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0},
	                SIGNAL(1), {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
	/* The signal comes before the lock; another thread may signal; the wait may give up. */
	CHECK_DEADLOCKS(&f, 0, ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A), ACQ(1, A), REL(1, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A), SIGNAL(2));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, RT_F_TIMED}, REL(0, B), REL(0, A));
	fixture_release(&f);
	/* The lock is the one that the wait gives up. */
	CHECK_DEADLOCKS(&f, 0, ACQ(1, B), REL(1, B), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B));
	fixture_release(&f);
}
END_TEST

START_TEST(semaphores_that_are_locks_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, MAKE(0, A, 1), MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 4);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 8);
	fixture_release(&f);
	/* With a lock, which a third thread takes, too. */
	CHECK_DEADLOCKS(&f, 1, MAKE(0, A, 1), WAIT(0, A), ACQ(0, B), REL(0, B), POST(0, A), ACQ(1, B), WAIT(1, A),
	                POST(1, A), REL(1, B), WAIT(2, A), POST(2, A), ACQ(2, B), REL(2, B));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 1, MAKE(0, A, 1), MAKE(0, B, 1), MAKE(0, C, 1), TAKEN(0, A, B), TAKEN(1, B, C),
	                TAKEN(2, C, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-3");
	fixture_release(&f);
}
END_TEST

START_TEST(a_semaphore_that_is_no_lock_is_in_no_cycle_of_locks)
{
	struct fixture f;
	/* Two may take it; its first value is unknown; another thread posts it; one that posts did not take it. */
	CHECK_DEADLOCKS(&f, 0, MAKE(0, A, 2), MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, A, 1), MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A), WAIT(0, A), POST(1, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, A, 1), MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A), POST(1, A));
	fixture_release(&f);
	/* It may give up. */
	CHECK_DEADLOCKS(&f, 0, MAKE(0, A, 1), MAKE(0, B, 1), WAIT(0, A), {0, RT_OP_SEM_WAIT, B, 0, RT_F_TIMED},
	                POST(0, B), POST(0, A), TAKEN(1, B, A));
	fixture_release(&f);
}
END_TEST

#define OP(t, op, x, arg)                                                                                              \
	{                                                                                                              \
		t, RT_OP_##op, x, arg, 0                                                                               \
	}

START_TEST(a_once_routine_that_takes_a_lock_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), OP(1, ONCE_END, D, 0), ACQ(0, A),
	                OP(0, ONCE_SEEN, D, 0), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 6);
	fixture_release(&f);
	/* Before the routine, or behind it, the lock is nothing to those that wait for the routine. */
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), OP(1, ONCE_BEGIN, D, 0), OP(1, ONCE_END, D, 0), ACQ(1, A),
	                REL(1, A), ACQ(0, A), OP(0, ONCE_SEEN, D, 0), REL(0, A));
	fixture_release(&f);
	/* Left by an exception, it is begun again. */
	CHECK_DEADLOCKS(&f, 0, OP(1, ONCE_BEGIN, D, 0), OP(1, HB_BEFORE, D, 0), ACQ(1, A), REL(1, A),
	                OP(1, ONCE_BEGIN, D, 0), OP(1, ONCE_END, D, 0), ACQ(0, A), OP(0, ONCE_SEEN, D, 0), REL(0, A));
	fixture_release(&f);
	/* Two routines that use one another. */
	CHECK_DEADLOCKS(&f, 1, OP(0, ONCE_BEGIN, C, 0), ACQ(0, A), REL(0, A), OP(0, ONCE_END, C, 0),
	                OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), OP(1, ONCE_SEEN, C, 0), REL(1, A), OP(1, ONCE_END, D, 0));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

/* The library sets a guard's first byte, and callers look at that. */
#define INITIALISED(t, x) OP(t, ONCE_END, x, 0), OP(t, ATOMIC_STORE, x, 1)

START_TEST(a_static_local_whose_initialisation_takes_a_lock_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), INITIALISED(1, D), ACQ(0, A),
	                OP(0, ATOMIC_LOAD, D, 1), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 7);
	fixture_release(&f);
	/* The thread that does not find it initialised calls, and waits there. It is looked at before the lock, or only
	 * another byte is. */
	CHECK_DEADLOCKS(&f, 1, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), OP(1, ONCE_END, D, 0), ACQ(0, A),
	                OP(0, ATOMIC_LOAD, D, 1), OP(0, ONCE_SEEN, D, 0), OP(1, ATOMIC_STORE, D, 1), REL(0, A));
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 7);
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), INITIALISED(1, D),
	                OP(0, ATOMIC_LOAD, D, 1), ACQ(0, A), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), INITIALISED(1, D), ACQ(0, A),
	                OP(0, ATOMIC_LOAD, 0x100, 1), REL(0, A), OP(1, ATOMIC_STORE, 0x100, 1));
	fixture_release(&f);
}
END_TEST

START_TEST(a_post_behind_a_lock_that_the_waiting_thread_holds_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, MAKE(0, C, 0), ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A), WAIT(0, C), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 6);
	fixture_release(&f);
	/* The post is before the lock; another thread may post, or take what is posted; the first value is unknown, or
	 * it is enough; the wait may give up. */
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 0), POST(1, C), ACQ(1, A), REL(1, A), ACQ(0, A), WAIT(0, C), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 0), ACQ(1, A), REL(1, A), POST(1, C), POST(2, C), ACQ(0, A), WAIT(0, C),
	                REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 1), WAIT(2, C), ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A), WAIT(0, C),
	                REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A), WAIT(0, C), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 1), ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A), WAIT(0, C), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 0), ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A),
	                {0, RT_OP_SEM_WAIT, C, 0, RT_F_TIMED}, REL(0, A));
	fixture_release(&f);
}
END_TEST

START_TEST(a_barrier_behind_a_lock_that_the_waiting_thread_holds_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, ACQ(1, A), REL(1, A), OP(1, BARRIER_ARRIVE, C, 2), ACQ(0, A),
	                OP(0, BARRIER_ARRIVE, C, 2), OP(0, BARRIER_LEAVE, C, 0), OP(1, BARRIER_LEAVE, C, 0), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
	/* The lock is taken behind it; more threads come there than are parties. */
	CHECK_DEADLOCKS(&f, 0, OP(1, BARRIER_ARRIVE, C, 2), ACQ(0, A), OP(0, BARRIER_ARRIVE, C, 2),
	                OP(0, BARRIER_LEAVE, C, 0), OP(1, BARRIER_LEAVE, C, 0), REL(0, A), ACQ(1, A), REL(1, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), OP(1, BARRIER_ARRIVE, C, 2), ACQ(0, A),
	                OP(0, BARRIER_ARRIVE, C, 2), OP(0, BARRIER_LEAVE, C, 0), OP(1, BARRIER_LEAVE, C, 0), REL(0, A),
	                OP(2, BARRIER_ARRIVE, C, 2), OP(1, BARRIER_ARRIVE, C, 2), OP(2, BARRIER_LEAVE, C, 0),
	                OP(1, BARRIER_LEAVE, C, 0));
	fixture_release(&f);
}
END_TEST

SUITE(waits)
{
	Suite *s = suite_create("waits");
	TCase *c = tcase_create("search");
	tcase_add_test(c, a_wait_that_ends_takes_its_mutex_again);
	tcase_add_test(c, a_signal_behind_a_lock_that_the_waiting_thread_holds_may_deadlock);
	tcase_add_test(c, semaphores_that_are_locks_may_deadlock);
	tcase_add_test(c, a_semaphore_that_is_no_lock_is_in_no_cycle_of_locks);
	tcase_add_test(c, a_once_routine_that_takes_a_lock_may_deadlock);
	tcase_add_test(c, a_static_local_whose_initialisation_takes_a_lock_may_deadlock);
	tcase_add_test(c, a_post_behind_a_lock_that_the_waiting_thread_holds_may_deadlock);
	tcase_add_test(c, a_barrier_behind_a_lock_that_the_waiting_thread_holds_may_deadlock);
	suite_add_tcase(s, c);
	return s;
}
