#!/bin/bash
# t_replay_outside.sh [BUILD]: a replay waits for what another process sends, and lets threads answer it of which the schedule says nothing.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# The child takes its time; it sends the byte that the reader waits for when it has the one of the writer.
cat >answers.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

int x;
static int to_child[2], from_child[2];

static void *reads(void *unused)
{
	char c;
	struct pollfd p = {from_child[0], POLLIN, 0};
	if (poll(&p, 1, -1) == 1 && read(from_child[0], &c, 1) == 1)
		x = 1;
	return unused;
}
static void *asks(void *unused)
{
	usleep(200000);
	if (write(to_child[1], "x", 1) != 1)
		_exit(1);
	return unused;
}
static void *races(void *unused)
{
	usleep(900000);
	x = 2;
	return unused;
}
int main(void)
{
	static void *(*const work[])(void *) = {reads, races, asks};
	pthread_t t[3];
	char c;
	if (pipe(to_child) || pipe(from_child))
		return 1;
	if (fork() == 0) {
		if (read(to_child[0], &c, 1) != 1)
			_exit(1);
		usleep(200000);
		_exit(write(from_child[1], &c, 1) != 1);
	}
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
"${CC:-gcc}" -g -O1 -fsanitize=thread answers.c -o answers -lpthread || wrong 'answers.c does not compile'
run 0 record --no-children -o answers.zst ./answers
run 0 replay --attempts 1 answers.zst
holds '[.anomalies[].replay | select(.)] | length == 1 and all(.outcome == "confirmed" and .confirmed == 2)'

exit $fail
