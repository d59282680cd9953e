#!/bin/bash
# t_guards.sh [BUILD]: the lock that guards each variable, with counts; where it is not held; as attributes, and against
# those that the source has.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
source=$top/tests/cli/guards.c

# is WHAT FILTER: the jq filter is true of out.json.
is() {
	jq -e "$2" out.json >/dev/null || wrong "$1: not so: $2 in $(head -c 1500 out.json)"
}
# status DUE COMMAND...: standard output into out.
status() {
	local due=$1 got
	shift
	timeout 60 "$@" >out 2>err
	got=$?
	[ $got = "$due" ] || wrong "$*: status $got, not $due: $(head -n 3 err)"
}

# 118 accesses of x while it is shared, one of them without m; y: one of two holds it; z is main's before and after.
{
	echo 'main|w(x)|1'
	echo 'main|w(z)|2'
	echo 'main|fork(T)|3'
	echo 'main|fork(U)|3'
	for i in $(seq 59); do
		for t in T U; do
			[ "$t$i" = U59 ] && continue
			printf '%s\n' "$t|acq(m)|10" "$t|w(x)|11" "$t|rel(m)|12"
		done
	done
	printf '%s\n' 'U|r(x)|20' 'T|acq(m)|21' 'T|w(y)|22' 'T|rel(m)|23' 'U|acq(m)|24' 'U|w(y)|25' 'U|rel(m)|26' 'T|w(y)|27' 'U|r(y)|28'
	printf '%s\n' 'T|w(z)|30' 'main|join(T)|40' 'main|join(U)|41' 'main|r(x)|42' 'main|r(z)|43'
} >guards.std
status 0 "$racetrace" guards -f json guards.std
mv out out.json
# The first access of a thread that is not the first one shares the variable: T's. main's read after the joins is none.
is "a guard" '.guards[0] | .variable == "x" and .lock == "m" and .held == 117 and .of == 118'
is "an outlier" '.guards[0].without | length == 1 and .[0].text == "20" and .[0].what == "reads" and .[0].count == 1'
is "no guard" 'any(.guards[]; .variable == "y" and .lock == null and .of == 3 and .locks[0].held == 1)'
is "before and after" '[.guards[] | select(.variable == "z").of] == [1]'
status 0 "$racetrace" guards guards.std
has() {
	grep -qE "$1" out || wrong "no '$1' in: $(head -c 1500 out)"
}
has '^x: guarded by m, held at 117 of 118 accesses$'
has '^  without it: location 20 reads, 1 time$'
has '^[0-9]+ variables: 1 guarded, 1 of them not everywhere; 0 atomic; [0-9]+ without a guard \(--all lists all\)$'
grep -q '^y: ' out && wrong "y is listed without --all"
status 0 "$racetrace" guards --all guards.std
has '^y: no guard; m is held at 1 of 3 accesses$'

gcc -g -O1 -fsanitize=thread "$source" -o guards -pthread || wrong "cannot build guards.c"
status 0 "$racetrace" record -o guards.zst ./guards
status 0 "$racetrace" guards -f json guards.zst
mv out out.json
# breaks SCHEMA FILE: prints where the file breaks docs/SCHEMA.schema.json.
breaks() {
	jq -nr --slurpfile schema "$top/docs/$1.schema.json" --slurpfile value "$2" -f "$top/tests/cli/schema.jq" 2>&1
}
[ -z "$(breaks guards out.json)" ] || wrong "not of its schema: $(breaks guards out.json | head -n 5)"
jq '.guards[0].of = "1" | del(.guards[1].cut) | .more = 1' out.json >broken.json
[ "$(breaks guards broken.json | wc -l)" = 3 ] || wrong "the schema takes anything: $(breaks guards broken.json)"
# The first thread's accesses before the second one comes, and repeats, are not counted: how many there are is not known.
is "forgotten once" '.guards[0] | .variable == "queue.size" and .lock == "queue.lock" and .held < .of and .held * 2 > .of'
is "where" '.guards[0].without | length == 1 and .[0].function == "peek" and .[0].what == "reads"'
is "kept" 'any(.guards[]; .variable == "kept" and .lock == "other" and .held == .of and .of > 1 and .without == [])'
is "an array" '[.guards[] | select(.variable | startswith("slots"))] | length == 1 and .[0].lock == "other"'
is "half" 'any(.guards[]; .variable == "half" and .of > 1 and (.lock == null or .held < .of))'
is "each its own" '[.guards[] | select(.kind == "heap" and .lock)] | length == 1 and (.[0].lock | test("^heap block from main .*c:")) and .[0].held == .[0].of'
# Heap blocks have no names: what their lines write and lock has.
is "a member" '[.guards[] | select(.kind == "heap" and .lock)] | .[0].written == "b->value" and .[0].locks[0].written == "b->m" and .[0].member == "box::value" and .[0].locks[0].member == "box::m"'
status 0 "$racetrace" guards guards.zst
has '^box::value \(heap block from main .*\): guarded by box::m, held at ([0-9]+) of \1 accesses$'

# A lock on a stack has no name either, here and in the report of a race.
cat >desk.c <<'C'
#include <pthread.h>
struct desk {
	pthread_mutex_t m;
	long kept, loose;
};
static int total;
static void *work(void *arg)
{
	struct desk *d = arg;
	pthread_mutex_lock(&d->m);
	total++;
	d->kept++;
	pthread_mutex_unlock(&d->m);
	__atomic_fetch_add(&d->loose, 1, __ATOMIC_RELAXED);
	return NULL;
}
int main(void)
{
	struct desk desk = {PTHREAD_MUTEX_INITIALIZER};
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, &desk);
	total++;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return total < 0;
}
C
gcc -g -O1 -fsanitize=thread desk.c -o desk -pthread || wrong "cannot build desk.c"
status 0 "$racetrace" record -o desk.zst ./desk
status 0 "$racetrace" guards -f json desk.zst
mv out desk.json
jq -e '.guards[] | select(.variable == "total") | .locks[0] | .written == "d->m" and (.name | startswith("lock 0x"))' desk.json >/dev/null ||
	wrong "a lock on a stack: $(cat desk.json)"
# Nor have variables there: each is one of its own.
jq -e '.guards[] | select(.member == "desk::kept") | .without == [] and .locks[0].held == .of' desk.json >/dev/null ||
	wrong "two variables on a stack: $(cat desk.json)"
status 1 "$racetrace" analyze -f text desk.zst
has 'holding desk::m \(d->m\)$'

# As attributes, and against those that the source has.
status 0 "$racetrace" guards -f clang guards.zst
has 'guards\.c:[0-9]+: size GUARDED_BY\(lock\) // queue\.size: held at [0-9]+ of [0-9]+ accesses$'
has 'guards\.c:[0-9]+: kept GUARDED_BY\(other\) // kept: '
has 'guards\.c:[0-9]+: slots GUARDED_BY\(other\) // '
# Within a class names are as it has them; of an array of locks none can be named.
cat >striped.cc <<'C'
#include <mutex>
#include <pthread.h>
namespace app {
struct conf {
	static std::mutex m;
	static int level;
};
std::mutex conf::m;
int conf::level;
}
static std::mutex stripes[2];
static int slots[4];
static void *work(void *)
{
	for (int i = 0; i < 8; i++) {
		stripes[i % 2].lock();
		slots[i % 4] += i;
		stripes[i % 2].unlock();
		app::conf::m.lock();
		app::conf::level++;
		app::conf::m.unlock();
	}
	return nullptr;
}
int main()
{
	pthread_t t[2];
	for (pthread_t &one : t)
		pthread_create(&one, nullptr, work, nullptr);
	for (pthread_t one : t)
		pthread_join(one, nullptr);
	return slots[0] < 0;
}
C
g++ -g -O1 -fsanitize=thread striped.cc -o striped -pthread || wrong "cannot build striped.cc"
status 0 "$racetrace" record -o striped.zst ./striped
status 0 "$racetrace" guards -f clang striped.zst
has 'striped\.cc:[0-9]+: level GUARDED_BY\(m\) // app::conf::level: '
has 'striped\.cc:[0-9]+: // slots\[\]: no attribute names one lock of the array stripes\[\], held at '
cp "$source" guards_kept.h
grep -v 'int peak' "$source" | sed '1i #include "guards_kept.h"' >guards_main.c
jq -n --arg d "$PWD" '[{directory: $d, file: "guards_main.c", arguments: ["cc", "-I", ".", "-c", "guards_main.c"]}]' >db.json
status 1 "$racetrace" guards --compile-commands db.json -f json guards.zst
mv out out.json
is attributes '[.attributes[] | select(.file | endswith("guards_kept.h")) | .variable] == ["size", "peak", "never"]'
[ -z "$(breaks guards out.json)" ] || wrong "attributes are not of the schema: $(breaks guards out.json | head -n 5)"
is attributes '[.attributes[] | select(.variable == "size") | .is] | unique == ["not kept"]'
is attributes '[.attributes[] | select(.variable == "peak") | .is] == ["kept"]'
is attributes '[.attributes[] | select(.variable == "never") | .is] | unique == ["not shared"]'
grep -v 'int size' "$source" >guards_main.c
status 0 "$racetrace" guards --compile-commands db.json guards.zst
has 'guards_main\.c:[0-9]+: peak GUARDED_BY\(lock\): kept, held at ([0-9]+) of \1 accesses of queue\.peak$'
status 2 "$racetrace" guards --compile-commands guards.std guards.zst
grep -q "guards.std' is not a compile database" err || wrong "$(cat err)"
status 2 "$racetrace" guards --compile-commands none.json guards.zst
status 2 "$racetrace" guards
status 3 "$racetrace" guards none.zst
# A pool's queue is an array in a block: one row, by what a line reads. Its lock is named in brackets.
cat >pool.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct pool { pthread_mutex_t lock; long *queue; int head, sum; };
static void *worker(void *arg)
{
	struct pool *pool = arg;
	for (int i = 0; i < 16; i++) {
		pthread_mutex_lock(&(pool->lock));
		pool->sum += (int)pool->queue[pool->head];
		pool->head++;
		pthread_mutex_unlock(&(pool->lock));
	}
	return NULL;
}
int main(void)
{
	struct pool *pool = calloc(1, sizeof *pool);
	pthread_t t[2];
	pthread_mutex_init(&pool->lock, NULL);
	pool->queue = malloc(32 * sizeof *pool->queue);
	pthread_mutex_lock(&(pool->lock));
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, pool);
	for (int i = 0; i < 32; i++)
		pool->queue[i] = i;
	pthread_mutex_unlock(&(pool->lock));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return pool->sum == 0;
}
C
gcc -g -O0 -fsanitize=thread pool.c -o pool -pthread || exit 1
"$RACETRACE" record -o pool.zst ./pool >out 2>err
"$RACETRACE" guards pool.zst >out 2>err
[ "$(grep -c 'pool\.c:20' out)" = 1 ] && grep -q '^pool::queue\[\] (heap block from main (pool\.c:20)): guarded by pool::lock, held at' out ||
	wrong "the queue: $(head -8 out)"

# A member of the elements of a block has a row, at any optimisation, if one lock guards them. Of a lock of each element
# it has one for each.
cat >slots.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct slot { pthread_mutex_t own; int used; long bytes; };
struct slots { pthread_mutex_t m; struct slot *all; };
static struct slots *p;
static void use(struct slot *s)
{
	s->used++;
#ifdef OWN
	pthread_mutex_lock(&s->own);
#endif
	s->bytes += 10;
#ifdef OWN
	pthread_mutex_unlock(&s->own);
#endif
}
static void *work(void *arg)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&p->m);
		use(&p->all[i]);
		pthread_mutex_unlock(&p->m);
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	p = calloc(1, sizeof *p);
	pthread_mutex_init(&p->m, NULL);
	p->all = calloc(4, sizeof *p->all);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
for level in -O0 -O1 '-O1 -DOWN'; do
	gcc -g $level -fsanitize=thread slots.c -o slots -pthread || exit 1
	"$RACETRACE" record -o slots.zst ./slots >out 2>err
	"$RACETRACE" guards slots.zst >out 2>err
	[ "$(grep -c '^slot::used (heap block from main (slots\.c:[0-9]*)): guarded by slots::m, held at 1*[68] of 1*[68] accesses$' out)" = 1 ] || wrong "slots $level: $(head -8 out)"
	[[ $level == *OWN ]] || [ "$(wc -l <out)" = 3 ] || wrong "slots $level: $(head -8 out)"
done

exit $fail
