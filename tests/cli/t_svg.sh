#!/bin/bash
# t_svg.sh [BUILD]: `analyze --format svg` draws one finding: its threads as lanes, the turns of its schedule, its own events with their lines.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE

# picture FILE: it is XML with nothing from elsewhere, and nothing is outside of its size.
picture() {
	python3 - "$1" <<'END_PYTHON' || wrong "$1: $(cat "$1")"
import sys, xml.etree.ElementTree as tree
svg = tree.parse(sys.argv[1]).getroot()
name = lambda e: e.tag.split("}")[1]
assert name(svg) == "svg", svg.tag
width, height = int(svg.get("width")), int(svg.get("height"))
assert svg.get("viewBox") == f"0 0 {width} {height}"
group = next(e for e in svg if name(e) == "g")
top = int(group.get("transform").split(" ")[1].rstrip(")"))
boxes = [e for e in group if name(e) == "rect"]
for e in boxes:
    assert int(e.get("x")) + int(e.get("width")) <= width, "too far right"
    assert top + int(e.get("y")) + int(e.get("height")) <= height, "too far down"
for i, e in enumerate(boxes):
    for other in boxes[:i]:
        beside = int(e.get("x")) != int(other.get("x"))
        assert beside or int(other.get("y")) + int(other.get("height")) <= int(e.get("y")), "boxes overlap"
assert len([e for e in boxes if e.get("class") == "goal"]) > 0, "none of its own events"
assert all(name(e) not in ("script", "image", "foreignObject", "use", "a") for e in svg.iter())
END_PYTHON
}

cat >race.std <<'END_STD'
T0|fork(T1)|race.c:1
T0|fork(T2)|race.c:2
T1|acq(m)|race.c:10
T1|w(x)|race.c:11
T1|rel(m)|race.c:12
T2|acq(m)|race.c:20
T2|rel(m)|race.c:21
T2|r(x)|race.c:22
END_STD
"$racetrace" analyze -f svg --finding F1 race.std >race.svg 2>err
[ $? = 1 ] || wrong "another status: $(cat err)"
picture race.svg
[ "$(grep -o 'class="lane"' race.svg | wc -l)" = 3 ] || wrong "not three lanes: $(cat race.svg)"
grep -q '<title>F1, proved: .* x ' race.svg || wrong "no title: $(cat race.svg)"
grep -q 'race.c:11' race.svg && grep -q 'race.c:22' race.svg || wrong "no lines: $(cat race.svg)"
# It is the page's.
"$racetrace" analyze -f html --finding F1 race.std | sed -n '/class="schedule"/,/<\/svg>/p' | grep -E '^<(path|rect|text)' >page
grep -E '^<(path|rect|text)' race.svg | grep -v '^<text class="name" x="6" y="[0-9]*">' >alone
grep -v '^<text class="name" x="6" y="[0-9]*">' page | cmp -s - alone || wrong "the page's picture differs: $(diff page alone)"
# By the file's name, by an anomaly.
"$racetrace" analyze --anomaly R1 -o anomaly.svg race.std >out 2>err
picture anomaly.svg
grep -q '<title>R1, proved: data race</title>' anomaly.svg || wrong "no anomaly: $(cat anomaly.svg)"

# What the run itself shows has no schedule: its own events in their order.
cat >sequence.std <<'END_STD'
T0|fork(T1)|unit.c:1
T0|acq(m)|unit.c:2
T0|r(x)|unit.c:3
T1|w(x)|unit.c:4
T0|w(x)|unit.c:5
T0|rel(m)|unit.c:6
END_STD
"$racetrace" analyze -f svg --kinds atomicity --finding F1 sequence.std >sequence.svg 2>err
picture sequence.svg
[ "$(grep -o 'class="goal"' sequence.svg | wc -l)" = 3 ] || wrong "not three events: $(cat sequence.svg)"

# A deadlock of three.
for i in 1 2 3; do echo "T0|fork(T$i)|cycle.c:$i"; done >cycle.std
for i in 1 2 3; do
	printf 'T%s|acq(l%s)|cycle.c:1%s\nT%s|acq(l%s)|cycle.c:2%s\nT%s|rel(l%s)|cycle.c:3\nT%s|rel(l%s)|cycle.c:4\n' \
		$i $i $i $i $((i % 3 + 1)) $i $i $((i % 3 + 1)) $i $i
done >>cycle.std
"$racetrace" analyze -f svg --finding F1 cycle.std >cycle.svg 2>err
picture cycle.svg
[ "$(grep -o 'class="goal"' cycle.svg | wc -l)" = 3 ] || wrong "not three acquires: $(cat cycle.svg)"


# Places are the user's own: std::mutex is locked in a header.
cat >order.cpp <<'C'
#include <mutex>
#include <thread>
static std::mutex a, b;
int main()
{
	std::thread([] { std::scoped_lock l(a); std::lock_guard<std::mutex> m(b); }).join();
	std::thread([] { std::scoped_lock l(b); std::lock_guard<std::mutex> m(a); }).join();
	std::thread t([] { std::scoped_lock l(a); std::lock_guard<std::mutex> m(b); });
	std::thread u([] { std::scoped_lock l(b); std::lock_guard<std::mutex> m(a); });
	t.join();
	u.join();
}
C
g++ -std=c++17 -g -O1 -fsanitize=thread -Wno-tsan order.cpp -o order -pthread || exit 1
"$racetrace" record --serial -o order.zst ./order >out 2>err
"$racetrace" analyze -f svg --finding F1 -o order.svg order.zst 2>err
picture order.svg
grep -q '>order.cpp:[89]<' order.svg || wrong "not the user's places: $(cat order.svg)"

# One finding, or none is drawn.
printf 'T0|fork(T3)|race.c:3\nT0|w(y)|race.c:30\nT3|w(y)|race.c:31\n' | cat race.std - >two.std
"$racetrace" analyze -f svg two.std >out 2>err
[ $? = 2 ] && grep -q 'svg draws one anomaly, and there are [0-9]*: say which by --anomaly, or --finding' err || wrong "several: $(cat err)"
exit $fail
