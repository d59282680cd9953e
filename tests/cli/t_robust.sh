#!/bin/bash
# t_robust.sh BUILD: a thread that ends with a robust mutex, under the Valgrind tool: nobody says more than without it.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
[ -x "$(dirname "$RACETRACE")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || {
	echo "built without Valgrind: not tested"
	exit 0
}
cat >app.c <<'END'
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;

static void *dies(void *unused)
{
	pthread_mutex_lock(&mutex);
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_mutexattr_t robust;
	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &robust);
	pthread_create(&t, NULL, dies, NULL);
	pthread_join(t, NULL);
	return pthread_mutex_lock(&mutex) == EOWNERDEAD ? 7 : 1;
}
END
gcc -g app.c -o app -pthread || exit 1
"$RACETRACE" record --recorder=valgrind -o t.zst ./app >out 2>err
[ $? = 7 ] && [ ! -s out ] && [ ! -s err ] || wrong "not its own status or output: $(cat out err)"
exit $fail
