/*
 * Threads of one program that only talk through sockets: TCP, local streams with and without a name, datagrams, and a
 * message queue. What is handed over is not a race; what two threads do on two unrelated connections is one.
 */
#include "named.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int handed_over, unrelated;
static struct sockaddr_storage address;
static socklen_t length;
static int type;

static void *client(void *unused)
{
	char byte = 0;
	int fd = socket(address.ss_family, type, 0);
	MUST(fd >= 0);
	MUST(connect(fd, (struct sockaddr *)&address, length) == 0);
	handed_over++;
	MUST(send(fd, &byte, 1, 0) == 1);
	if (type == SOCK_STREAM) {
		MUST(recv(fd, &byte, 1, 0) == 1);
		handed_over++;
	}
	MUST(close(fd) == 0);
	return unused;
}

/* Serves one client on the address. */
static void serve(void)
{
	pthread_t t;
	char byte;
	int listener = socket(address.ss_family, type, 0);
	MUST(listener >= 0 && bind(listener, (struct sockaddr *)&address, length) == 0);
	socklen_t got = sizeof address;
	MUST(getsockname(listener, (struct sockaddr *)&address, &got) == 0);
	MUST(type != SOCK_STREAM || listen(listener, 5) == 0);
	handed_over = 0;
	MUST(pthread_create(&t, NULL, client, NULL) == 0);
	int fd = type == SOCK_STREAM ? accept(listener, NULL, NULL) : listener;
	MUST(recv(fd, &byte, 1, 0) == 1);
	handed_over++;
	if (type == SOCK_STREAM) {
		MUST(send(fd, &byte, 1, 0) == 1);
		MUST(recv(fd, &byte, 1, 0) == 0);
		MUST(handed_over == 3);
		close(fd);
	}
	close(listener);
	handed_over++;
	pthread_join(t, NULL);
}

static void *queue_sender(void *queue)
{
	handed_over++;
	MUST(mq_send(*(mqd_t *)queue, "x", 1, 0) == 0);
	return NULL;
}

static void serve_queue(void)
{
	pthread_t t;
	char name[64], buffer[16];
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 16};
	snprintf(name, sizeof name, "/racetrace-test-%d", (int)getpid());
	mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	if (queue == (mqd_t)-1)
		return; /* no message queues here */
	mq_unlink(name);
	MUST(pthread_create(&t, NULL, queue_sender, &queue) == 0);
	MUST(mq_receive(queue, buffer, 16, NULL) == 1);
	handed_over++;
	pthread_join(t, NULL);
	mq_close(queue);
}

/* Two threads that each echo on a pair of their own: nothing orders them. */
static void *echo(void *unused)
{
	int pair[2];
	char byte = 0;
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	MUST(write(pair[0], &byte, 1) == 1 && read(pair[1], &byte, 1) == 1);
	unrelated++;
	MUST(write(pair[1], &byte, 1) == 1 && read(pair[0], &byte, 1) == 1);
	return unused; /* stays open: a close comes before the other's socketpair that returns the same numbers */
}

int main(void)
{
	pthread_t t[2];
	struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un local = {.sun_family = AF_UNIX};

	for (int i = 0; i < 2; i++) {
		type = i ? SOCK_DGRAM : SOCK_STREAM;
		memcpy(&address, &inet, sizeof inet), length = sizeof inet;
		serve();
		/* An abstract name: no file. */
		int n =
		    snprintf(local.sun_path + 1, sizeof local.sun_path - 1, "racetrace-test-%d-%d", (int)getpid(), i);
		memset(&address, 0, sizeof address);
		memcpy(&address, &local, sizeof local);
		length = (socklen_t)((size_t)n + 1 + offsetof(struct sockaddr_un, sun_path));
		serve();
	}
	serve_queue();

	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&t[i], NULL, echo, NULL) == 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
