/*
 * Asynchronous input and output: output happens at the request, input has arrived when its result is taken. Requests
 * with 64-bit offsets are the same under other names. Who is told that a request is done is in notify.c.
 */
#include "recorder/intercept/fd.h"
#include "recorder/intercept/sync.h"

#include <aio.h>
#include <netdb.h>

static void asked(struct aiocb *c, bool out, uintptr_t pc)
{
	if (!rt_recording())
		return;
	rt_fd_uses(c->aio_fildes, pc);
	rt_request_notifies_in(&c->aio_sigevent, pc);
	if (!out)
		return;
	rt_emit_range(RT_OP_READ, (const void *)c->aio_buf, c->aio_nbytes, pc);
	rt_fd_publishes(c->aio_fildes, NULL, 0, pc);
}

static void list_asked(struct aiocb *const list[], int n, uintptr_t pc)
{
	for (int i = 0; i < n && rt_recording(); i++)
		if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
			asked(list[i], list[i]->aio_lio_opcode == LIO_WRITE, pc);
}

/* The operation is the C library's to keep from the request on. */
static void taken(const struct aiocb *c, ssize_t n, uintptr_t pc)
{
	if (c->aio_lio_opcode != LIO_READ || !rt_recording())
		return;
	rt_fd_read(c->aio_fildes, n, pc);
	if (n > 0)
		rt_emit_range(RT_OP_WRITE, (const void *)c->aio_buf, (size_t)n, pc);
}

#define REQUESTS(suffix)                                                                                               \
	RT_INTERPOSE(int, aio_read##suffix, (struct aiocb##suffix * c))                                                \
	{                                                                                                              \
		asked((struct aiocb *)c, false, RT_PC);                                                                \
		return RT_REAL(aio_read##suffix)(c);                                                                   \
	}                                                                                                              \
	RT_INTERPOSE(int, aio_write##suffix, (struct aiocb##suffix * c))                                               \
	{                                                                                                              \
		asked((struct aiocb *)c, true, RT_PC);                                                                 \
		return RT_REAL(aio_write##suffix)(c);                                                                  \
	}                                                                                                              \
	RT_INTERPOSE(int, aio_fsync##suffix, (int what, struct aiocb##suffix *c))                                      \
	{                                                                                                              \
		asked((struct aiocb *)c, false, RT_PC);                                                                \
		return RT_REAL(aio_fsync##suffix)(what, c);                                                            \
	}                                                                                                              \
	RT_INTERPOSE(int, lio_listio##suffix,                                                                          \
	             (int mode, struct aiocb##suffix *const list[], int n, struct sigevent *when_done))                \
	{                                                                                                              \
		list_asked((struct aiocb *const *)list, n, RT_PC);                                                     \
		struct sigevent mine;                                                                                  \
		when_done = rt_request_notifies(when_done, &mine, RT_PC);                                              \
		if (RT_UNLIKELY(rt_controlled) && mode == LIO_WAIT)                                                    \
			rt_turn_leaves(RT_PC);                                                                         \
		int result = RT_REAL(lio_listio##suffix)(mode, list, n, when_done);                                    \
		rt_emit_time();                                                                                        \
		return result;                                                                                         \
	}                                                                                                              \
	RT_INTERPOSE(int, aio_suspend##suffix,                                                                         \
	             (const struct aiocb##suffix *const list[], int n, const struct timespec *timeout))                \
	{                                                                                                              \
		if (RT_UNLIKELY(rt_controlled))                                                                        \
			rt_turn_leaves(RT_PC);                                                                         \
		int result = RT_REAL(aio_suspend##suffix)(list, n, timeout);                                           \
		rt_emit_time();                                                                                        \
		return result;                                                                                         \
	}                                                                                                              \
	RT_INTERPOSE(ssize_t, aio_return##suffix, (struct aiocb##suffix * c))                                          \
	{                                                                                                              \
		ssize_t n = RT_REAL(aio_return##suffix)(c);                                                            \
		taken((const struct aiocb *)c, n, RT_PC);                                                              \
		return n;                                                                                              \
	}

REQUESTS()
REQUESTS(64)

/* Names that are looked up: what for is read at the request, what is found is the C library's. */
RT_INTERPOSE(int, getaddrinfo_a, (int mode, struct gaicb *list[], int n, struct sigevent *when_done))
{
	struct sigevent mine;
	when_done = rt_request_notifies(when_done, &mine, RT_PC);
	for (int i = 0; i < n && rt_recording(); i++)
		if (list[i]) {
			rt_emit_string(RT_OP_READ, list[i]->ar_name, RT_PC);
			rt_emit_string(RT_OP_READ, list[i]->ar_service, RT_PC);
		}
	if (RT_UNLIKELY(rt_controlled) && mode == GAI_WAIT)
		rt_turn_leaves(RT_PC);
	int result = RT_REAL(getaddrinfo_a)(mode, list, n, when_done);
	rt_emit_time();
	return result;
}
