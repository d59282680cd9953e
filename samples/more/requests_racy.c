/*
 * Requests that threads of the C library's own work on: it calls a function, or sends a signal, when each is done. The
 * function adds to a number that its requester knows, and posts; a third thread waits for that. The racy one adds to
 * each number once the request is on its way.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef FIXED
#define GIVES(number, call) (number++, (call))
#else
#define GIVES(number, call) ((call), number++)
#endif

static void must(int is)
{
	if (!is)
		abort();
}

static int file;
static sem_t done;
static char letter = 'x';
static struct aiocb request;
static struct aiocb *list[] = {&request};

static struct aiocb output(struct sigevent event)
{
	return (struct aiocb){.aio_fildes = file,
	                      .aio_buf = &letter,
	                      .aio_nbytes = 1,
	                      .aio_lio_opcode = LIO_WRITE,
	                      .aio_sigevent = event};
}

static void asks_one(struct sigevent event)
{
	request = output(event);
	must(aio_write(&request) == 0);
}
static void asks_again(struct sigevent event)
{
	request.aio_sigevent.sigev_value = event.sigev_value; /* the function is still there */
	must(aio_write(&request) == 0);
}
static void asks_to_sync(struct sigevent event)
{
	request = output(event);
	must(aio_fsync(O_SYNC, &request) == 0);
}
static void asks_all(struct sigevent event)
{
	request = output((struct sigevent){.sigev_notify = SIGEV_NONE});
	must(lio_listio(LIO_NOWAIT, list, 1, &event) == 0);
}
static void asks_for_name(struct sigevent event)
{
	static struct gaicb name = {.ar_name = "127.0.0.1"}, *names[] = {&name};
	must(getaddrinfo_a(GAI_NOWAIT, names, 1, &event) == 0);
}

/* One request; then what its function does, and who waits for that. */
#define REQUEST(number, asks)                                                                                          \
	static int number, number##_passed;                                                                            \
	static void number##_done(union sigval value)                                                                  \
	{                                                                                                              \
		number += value.sival_int;                                                                             \
		sem_post(&done);                                                                                       \
	}                                                                                                              \
	static void *number##_waits(void *unused)                                                                      \
	{                                                                                                              \
		sem_wait(&done);                                                                                       \
		number##_passed++;                                                                                     \
		return unused;                                                                                         \
	}                                                                                                              \
	static void number##_run(void)                                                                                 \
	{                                                                                                              \
		pthread_t t;                                                                                           \
		struct sigevent event = {                                                                              \
		    .sigev_notify = SIGEV_THREAD, .sigev_notify_function = number##_done, .sigev_value.sival_int = 2}; \
		pthread_create(&t, NULL, number##_waits, NULL);                                                        \
		number##_passed = 1;                                                                                   \
		GIVES(number, asks(event));                                                                            \
		pthread_join(t, NULL);                                                                                 \
	}
REQUEST(one, asks_one)       /* @one */
REQUEST(flush, asks_to_sync) /* @flush */
REQUEST(all, asks_all)       /* @all */
REQUEST(name, asks_for_name) /* @name */

static int again;

static void again_done(union sigval value)
{
	again += value.sival_int; /* @again_done */
	sem_post(&done);
}

int main(void)
{
	char path[] = "/tmp/requestsXXXXXX";
	struct sigevent event = {
	    .sigev_notify = SIGEV_THREAD, .sigev_notify_function = again_done, .sigev_value.sival_int = 2};
	sem_init(&done, 0, 0);
	file = mkstemp(path);
	must(file >= 0);
	unlink(path);
	one_run();
	flush_run();
	all_run();
	name_run();
	asks_one(event);
	sem_wait(&done);
	event.sigev_value.sival_int = 3;
	GIVES(again, asks_again(event)); /* @again */
	sem_wait(&done);
#ifdef FIXED
	must(again == 6); /* the value was the second's own */
#endif
	return 0;
}
