#!/bin/bash
# small_program.sh SEED: prints a C program of 2 or 3 threads that do a few things each with plain and atomic variables, a lock, a semaphore and a
# condition. It always ends, as main gives what threads wait for. Its exit status, which is not 0, depends on what the reads saw.
RANDOM=$1
threads=$((2 + RANDOM % 2))
steps=$((threads == 2 ? 2 : 1))
pick() { picked=$((RANDOM % $1)); }
# body THREAD: to text. RANDOM begins anew in a subshell, so there is none.
body() {
	local i what
	for ((i = 0; i < steps; i++)); do
		pick 9
		what=$picked
		pick 2
		case $what in
		0 | 1) text+="	x$picked = $((10 * $1 + i + 1));" ;;
		2 | 3) text+="	saw = saw * 31 + x$picked;" ;;
		4) text+="	atomic_store(&a, $1 + 1);" ;;
		5) text+="	if (atomic_load(&a))
		x$picked = $((100 + $1));" ;;
		6) text+="	pthread_mutex_lock(&m);
	x$picked += $(($1 + 1));
	pthread_mutex_unlock(&m);" ;;
		7) [ "$1" = 0 ] && text+="	sem_post(&s);" || text+="	if (sem_trywait(&s) == 0)
		x$picked = 7;" ;;
		8) [ "$1" = 0 ] && text+="	pthread_mutex_lock(&m);
	go = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);" || text+="	pthread_mutex_lock(&m);
	while (!go)
		pthread_cond_wait(&c, &m);
	saw += go;
	pthread_mutex_unlock(&m);" ;;
		esac
		text+=$'\n'
	done
}
cat <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static volatile struct { int value; long apart[8]; } v[2];
#define x0 v[0].value
#define x1 v[1].value
static atomic_int a;
static int go;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
C
text=""
for ((t = 0; t < threads; t++)); do
	text+="static void *f$t(void *arg)
{
	unsigned saw = 0;
"
	body $t
	text+="	*(unsigned *)arg = saw;
	return arg;
}
"
done
printf %s "$text"
pick 2
echo "int main(void)
{
	pthread_t t[$threads];
	unsigned saw[$threads];
	sem_init(&s, 0, $picked);"
for ((t = 0; t < threads; t++)); do echo "	pthread_create(&t[$t], NULL, f$t, &saw[$t]);"; done
case $text in *pthread_cond_wait*) echo "	pthread_mutex_lock(&m);
	go = 2;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);" ;;
esac
echo "	unsigned all = 0;"
for ((t = 0; t < threads; t++)); do echo "	pthread_join(t[$t], NULL);
	all = all * 7 + saw[$t];"; done
echo "	return (int)((all + (unsigned)x0 * 3 + (unsigned)x1 * 5) % 120 + 1);
}"
