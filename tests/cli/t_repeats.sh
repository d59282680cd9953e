#!/bin/bash
# t_repeats.sh [BUILD]: an access that repeats others is left out, and yet it may write another value than they did, or
# would read another one in a schedule: nothing is proved by a schedule that has it elsewhere.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"

# The last write is the third one of its place. So `late` is read only after `early`, of which nothing else is true.
cat >third.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int turn, early, late, seen;
static void *writes(void *times)
{
	for (long i = 1; i <= (long)times; i++) {
		turn = (int)i;
		if (i == 2)
			early = 1;
	}
	late = 1;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return NULL;
}
static void *reads(void *times)
{
	usleep(200000);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	if (turn == (long)times) {
		seen = early;
		seen = late;
	}
	return NULL;
}
int main(int argc, char **argv)
{
	void *times = (void *)(argc > 1 ? 2L : 3L);
	pthread_t a, b;
	(void)argv;
	pthread_create(&a, NULL, writes, times);
	pthread_create(&b, NULL, reads, times);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
END
gcc -g -O0 -fsanitize=thread third.c -o third -lpthread || wrong "third.c does not compile"
verdicts() { # EXPECTED: by variable
	run 0 analyze -f json --kinds race --fail-on never third.zst
	holds '[.anomalies[] | select(.kind == "race") | {(.variable.name): .verdict}] | add == '"$1"
}
run 0 record -o third.zst ./third
"$RACETRACE" info third.zst | grep -q 'left out.* [1-9]' || wrong "nothing is left out: $("$RACETRACE" info third.zst)"
verdicts '{turn: "proved", early: "predicted", late: "proved"}'
holds '.anomalies[] | select(.variable.name == "early").reasons | any(.reason == "repeats")'
id=$(jq -r '.anomalies[] | select(.variable.name == "early").id' out)
run 0 schedule --anomaly "$id" third.zst
mv out early.json
run 1 schedule --verify early.json --trace third.zst
grep -q 'repeats others, and was left out' out || wrong "the schedule is not refused: $(cat out)"
# Without a third write, what is before the second one is ordered by it.
run 0 record -o third.zst ./third twice
verdicts '{turn: "proved", late: "proved", early: "proved"}'
run 0 record --values -o third.zst ./third
run 0 analyze -f json --kinds race --fail-on never third.zst
holds '[.anomalies[] | select(.variable.name == "early" and .verdict == "proved")] == []'

# Under Valgrind what a thread does on a page of its own has no values, and is left out whatever they are.
if [ -x "$(dirname "$RACETRACE")/../lib/racetrace/valgrind/racetrace-amd64-linux" ]; then
	sed 's/turn, early, late, seen;/early, late, seen;\nstatic struct { int at; char own[4096]; } page __attribute__((aligned(4096)));\n#define turn page.at/
		s/^\tfor (long i/\tfor (int i = 0; i < 20000; i++)\n\t\tpage.own[i % 1000]++;\n&/' third.c >page.c
	gcc -g -O0 page.c -o page -lpthread || wrong "page.c does not compile"
	run 0 record -o page.zst ./page
	[ "$("$RACETRACE" dump page.zst | grep -c 'write *page\.at \[4\] *[^ =]')" = 2 ] ||
		wrong "not two writes without a value: $("$RACETRACE" dump page.zst | grep 'page\.at')"
	run 0 analyze -f json --kinds race --fail-on never page.zst
	holds '[.anomalies[] | select(.variable.name == "early")] | length == 1 and .[0].verdict == "predicted"'
fi

# A thread has read a flag twice, and reads it again behind what comes next; another one sets it in between.
cat >flag.jsonl <<'END'
{"schema":"racetrace.events/1","threads":["main",{"name":"main.1","parent":"main"},{"name":"main.2","parent":"main"}]}
{"op":"fork","object":"main.1","location":"m.c:1"}
{"op":"fork","object":"main.2","location":"m.c:2"}
{"op":"read","object":"flag","location":"a.c:1","thread":"main.1"}
{"op":"read","object":"flag","location":"a.c:1","thread":"main.1"}
{"op":"write","object":"x","location":"a.c:2","thread":"main.1"}
{"op":"write","object":"y","location":"a.c:3","thread":"main.1","ordinal":GAP}
{"op":"write","object":"flag","location":"b.c:1","thread":"main.2"}
{"op":"write","object":"y","location":"b.c:2","thread":"main.2"}
{"op":"read","object":"x","location":"b.c:3","thread":"main.2"}
END
judged() { # STATUS, ORDINAL of the fourth event, steps of main.1 and main.2
	sed "s/GAP/$2/" flag.jsonl >flag.$2.jsonl
	cat >flag.json <<-END
		{"schema": "racetrace.schedule/1", "kind": "race", "steps": [{"thread": "main", "from": 1, "to": 2}, $3],
		 "goal": [{"thread": "main.1", "ordinal": $2}, {"thread": "main.2", "ordinal": 2}]}
	END
	run "$1" schedule --verify flag.json --trace flag.$2.jsonl
}
sets='{"thread": "main.2", "from": 1, "to": 1}'
reads='{"thread": "main.1", "from": 1, "to": 2}'
judged 0 4 "$reads, $sets, {\"thread\": \"main.1\", \"from\": 3, \"to\": 3}"
judged 1 5 "$reads, $sets, {\"thread\": \"main.1\", \"from\": 3, \"to\": 4}"
grep -q 'repeats others, and was left out' out || wrong "the flag: $(cat out)"
judged 0 5 "{\"thread\": \"main.1\", \"from\": 1, \"to\": 4}, $sets"
exit $fail
