#!/bin/bash
# t_sync_only.sh BUILD: programs, or parts of them, that are not instrumented: what they synchronise with is recorded, no
# alarm is false, and the report names the modules of which it knows no more.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# ---- A plain program ----
gcc -D_GNU_SOURCE -g -O1 "$top/tests/process/plain.c" -o plain -pthread || exit 1
for kind in racy clean; do
	./plain $kind >want
	"$racetrace" record --sync-only -o t.zst ./plain $kind >out 2>err
	[ $? = 4 ] || wrong "$kind: not its own status"
	diff want out && [ ! -s err ] || wrong "$kind: not its own output: $(cat err)"
	"$racetrace" analyze --format json t.zst >report.json
	[ $? = 0 ] || wrong "$kind: something is said to be proved"
	jq -e '.trace.sync_only and ([.anomalies[] | select(.verdict != "predicted" or .kind != "deadlock")] == [])' report.json \
		>/dev/null || wrong "$kind: $(jq -c '[.anomalies[] | [.kind, .verdict]]' report.json)"
	jq -e --arg path "$PWD/plain" '.trace.not_instrumented | .modules == [$path] and .system >= 2' report.json >/dev/null ||
		wrong "$kind: not instrumented: $(jq -c .trace.not_instrumented report.json)"
	"$racetrace" info --format json t.zst | jq -e '.kinds | (.read // .write) == null and .["sem-post"] == 1' >/dev/null ||
		wrong "$kind: $("$racetrace" info --format json t.zst | jq -c .kinds)"
done
"$racetrace" record --sync-only -o t.zst ./plain racy >out
"$racetrace" analyze --fail-on predicted --format json t.zst >report.json
[ $? = 1 ] || wrong 'no deadlock is predicted'
# Those of C11's mutexes are ordered by the threads' ends.
jq -e '[.anomalies[].events | map(.source.line) | sort] == [[$a, $b]]' --argjson a "$(grep -n '@forwards' "$top/tests/process/plain.c" | cut -d: -f1)" \
	--argjson b "$(grep -n '@backwards' "$top/tests/process/plain.c" | cut -d: -f1)" report.json >/dev/null ||
	wrong "not that deadlock: $(jq -c '[.anomalies[].events | map(.source.line)]' report.json)"
"$racetrace" analyze --format text t.zst >out
grep -q '^only what the program synchronises with was recorded' out && grep -q "^not instrumented: $PWD/plain$" out ||
	wrong "the text does not say what is missing: $(tail -n 4 out)"

# All of it survives the other formats.
"$racetrace" convert --to jsonl t.zst >t.jsonl && "$racetrace" convert --to racetrace -o back.zst t.jsonl || wrong 'cannot convert'
"$racetrace" analyze --format json back.zst | jq -c '.trace | [.sync_only, .not_instrumented]' >back
"$racetrace" analyze --format json t.jsonl | jq -c '.trace | [.sync_only, .not_instrumented]' >from-lines
jq -c '.trace | [.sync_only, .not_instrumented]' report.json | diff - back && diff back from-lines ||
	wrong 'what was not instrumented is lost by conversion'

# An instrumented program is recorded in full, whatever is asked for; any other of the system's as it is.
gcc -D_GNU_SOURCE -g -O1 -fsanitize=thread "$top/tests/process/plain.c" -o instrumented -pthread || exit 1
"$racetrace" record --sync-only -o t.zst ./instrumented clean >out
"$racetrace" analyze --format json t.zst | jq -e '.trace | .sync_only == null and .not_instrumented.modules == []' >/dev/null ||
	wrong 'an instrumented program is not recorded in full'
for program in "sort --parallel=4 $top/tests/cli/t_sync_only.sh" 'xz -T2 -1 -c /bin/bash' "sh -c 'echo a; sh -c \"exit 3\"'"; do
	command -v "${program%% *}" >/dev/null || continue
	sh -c "$program" >want
	status=$?
	sh -c "'$racetrace' record --sync-only -o t.zst $program" >out 2>err
	[ $? = $status ] || wrong "$program: not its own status"
	cmp want out && [ ! -s err ] || wrong "$program: not its own output: $(cat err)"
	"$racetrace" analyze t.zst >/dev/null || wrong "$program: it has a proved anomaly"
done

# ---- A mixed program ----
cat >library.c <<'END'
#include <pthread.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
void add(long n)
{
	pthread_mutex_lock(&lock);
	sum += n;
	pthread_mutex_unlock(&lock);
}
void put(char *to, const char *text)
{
	strcpy(to, text);
}
void with_lock(void (*f)(void))
{
	pthread_mutex_lock(&lock);
	f();
	pthread_mutex_unlock(&lock);
}
END
cat >mixed.c <<'END'
#include <pthread.h>
#include <string.h>
void add(long n);
void put(char *to, const char *text);
void with_lock(void (*f)(void));
static char text[64];
static int guarded, racy;
static void count(void)
{
	guarded++;
}
static void *work(void *racy_too)
{
	add(1);
	with_lock(count);
	if (racy_too)
		put(text, "a text of more than a few letters"); /* in the library, by the C library */
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	racy = argc > 1 && !strcmp(argv[1], "racy");
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, racy ? text : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return guarded;
}
END
gcc -g -fPIC -shared library.c -o libplain.so && gcc -g -fPIC -shared -fsanitize=thread library.c -o libseen.so &&
	gcc -g -fsanitize=thread mixed.c ./libplain.so -o mixed && gcc -g -fsanitize=thread mixed.c ./libseen.so -o seen || exit 1
for kind in racy clean; do
	for program in mixed seen; do
		"$racetrace" record -o t.zst ./$program $kind >out 2>err
		[ $? = 2 ] && [ ! -s err ] || wrong "$program $kind: $(cat err)"
		"$racetrace" analyze --format json t.zst >report.json
		jq -e --arg racy $kind '[.anomalies[] | select(.verdict == "observed" or .verdict == "proved") | .variable.name] |
			unique == (if $racy == "racy" then ["text[0]"] else [] end)' report.json >/dev/null ||
			wrong "$program $kind: $(jq -c '[.anomalies[] | [.variable.name, .verdict]]' report.json)"
		[ $program = mixed ] && want="[\"$PWD/libplain.so\"]" || want='[]'
		[ "$(jq -c .trace.not_instrumented.modules report.json)" = "$want" ] ||
			wrong "$program: not instrumented: $(jq -c .trace.not_instrumented report.json)"
	done
done

# ---- Blocks whose references a plain library counts ----
cat >objects.c <<'END'
#include <stdlib.h>
struct object {
	int references, data;
};
struct object *object_new(int references)
{
	struct object *o = malloc(sizeof *o);
	o->references = references;
	return o;
}
void object_drop(struct object *o)
{
	if (__atomic_sub_fetch(&o->references, 1, __ATOMIC_ACQ_REL) == 0)
		free(o);
}
END
cat >shared.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct object {
	int references, data;
} *object_new(int references);
void object_drop(struct object *o);
int seen;
static int racy;
static void *first(void *o)
{
	seen = ((struct object *)o)->data; /* @use */
	if (!racy)
		object_drop(o);
	return NULL;
}
static void *last(void *o)
{
	usleep(20000);
	if (racy)
		free(o); /* @free */
	else
		object_drop(o);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	struct object *o = object_new(2);
	racy = argc > 1;
	o->data = 7;
	pthread_create(&t[0], NULL, first, o);
	pthread_create(&t[1], NULL, last, o);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
END
gcc -g -fPIC -shared objects.c -o libobjects.so && gcc -g -fsanitize=thread shared.c ./libobjects.so -o shared || exit 1
"$racetrace" record -o t.zst ./shared || wrong 'shared: cannot be recorded'
"$racetrace" analyze --format json t.zst >report.json || wrong 'shared: a library counts the references'
jq -e '[.anomalies[] | [.verdict, .reasons[].reason, .reasons[].detail]] == [["predicted", "plain-module", "libobjects.so"]]' report.json >/dev/null ||
	wrong "shared: $(jq -c '[.anomalies[] | [.verdict, .reasons]]' report.json)"
"$racetrace" record -o t.zst ./shared racy || wrong 'shared racy: cannot be recorded'
"$racetrace" analyze --format json t.zst >report.json
jq -e '[.anomalies[].verdict] == ["observed"]' report.json >/dev/null || wrong "shared racy: $(jq -c '[.anomalies[] | [.verdict, .reasons]]' report.json)"
exit $fail
