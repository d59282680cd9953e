/* From C-Thread-Pool's thpool_destroy: a thread's last deed is `alive--` under a lock; main polls `alive`
 * without it (racy) between lock/unlock pairs, and frees what the thread used once it reads 0.
 * Program order + the value read put `use` before `free` in every sequentially consistent run.
 * Plain reads have no stamp of their own: the trace can put main's last read of alive (which saw 0) BEFORE
 * the write of 0 that it saw.
 * What must be said: race on alive (real); use against free() is one by the standard, and follows it,
 * wherever the read of alive stands. Only if main takes jm once more after the last use, that lock orders
 * the two in this run, and it is no race of it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#define N 4
volatile int alive; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, jm = PTHREAD_MUTEX_INITIALIZER; int *p;
void *w(void *a){
  for(int i=0;i<50;i++){ pthread_mutex_lock(&jm); p[0]++; /* use */ pthread_mutex_unlock(&jm); sched_yield(); }
  pthread_mutex_lock(&m); alive--; pthread_mutex_unlock(&m); return 0; }
int main(){ pthread_t t[N]; p = calloc(8,4); alive = N;
  for(int i=0;i<N;i++) pthread_create(&t[i],0,w,0);
  while(alive){ pthread_mutex_lock(&jm); p[1]++; pthread_mutex_unlock(&jm); for(volatile int i=0;i<20000;i++); }
  free(p);
  for(int i=0;i<N;i++) pthread_join(t[i],0); puts("ok"); }
