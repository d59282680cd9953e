#!/bin/bash
# t_module_locals.sh BUILD: thread-local variables of a module that was loaded later are freed by the thread that makes the next one. That is behind the
# end of the thread that used them, and no race. What the threads race on otherwise is one.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
cat >module.c <<'C'
__thread int mine[16];
void use(int n)
{
	for (int i = 0; i < 16; i++)
		mine[i] += n;
}
C
cat >app.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void (*use)(int);
static volatile int both;
static void *work(void *racy)
{
	use(1);
	if (racy)
		both = 1;
	return NULL;
}
static void *wait_a_little(void *arg)
{
	usleep(1000);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_attr_t detached;
	pthread_t t;
	void *module = dlopen("./module.so", RTLD_NOW);
	if (!module || !(use = (void (*)(int))dlsym(module, "use")))
		return 1;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&t, &detached, work, argc > 1 ? argv : NULL);
	usleep(300000);
	if (argc > 1)
		both = 2;
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, wait_a_little, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
C

# both WAY: records and analyzes the program, as it is and with its race.
both() {
	local way=$1
	run 0 record --recorder="$way" -o "$way.zst" -- ./app
	run 0 analyze --format json "$way.zst"
	holds '.summary.race.observed == 0 and .summary.race.proved == 0 and .summary.race.predicted == 0'
	run 0 dump "$way.zst"
	[ "$(grep -cE 'hb-(before|after) .*locals_ended' out)" -ge 2 ] || wrong "$way: nothing orders what is freed: is it freed in another way?"
	run 0 record --recorder="$way" -o "$way-racy.zst" -- ./app racy
	"$RACETRACE" analyze --format json "$way-racy.zst" >out 2>err
	holds '[.anomalies[] | select(.kind == "race" and .variable.name == "both")] | length == 1'
	holds '.summary.race.observed + .summary.race.predicted == 1'
}
gcc -g -O1 -fsanitize=thread -shared -fPIC module.c -o module.so && gcc -g -O1 -fsanitize=thread app.c -o app -lpthread || exit 1
both tsan
gcc -g -O1 -shared -fPIC module.c -o module.so && gcc -g -O1 app.c -o app -lpthread || exit 1
[ ! -x "$(dirname "$RACETRACE")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || both valgrind
exit $fail
