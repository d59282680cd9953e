#!/bin/bash
# t_java.sh [BUILD]: an instrumented library that a Java virtual machine loads is recorded with --preload. Skipped without
# java, javac and the headers of its native interface.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:-${BUILD:-$here/build}}" && pwd) || exit 1
racetrace=$build/bin/racetrace
command -v java >/dev/null && command -v javac >/dev/null || { echo "skipped: no java and javac"; exit 0; }
home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
[ -e "$home/include/jni.h" ] || { echo "skipped: no jni.h"; exit 0; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

cat >Host.java <<'END'
class Host {
	static native void racy(int n);
	static native void locked(int n);
	public static void main(String[] args) throws Exception {
		System.loadLibrary("inside");
		Thread[] threads = new Thread[2];
		for (int i = 0; i < 2; i++) {
			threads[i] = new Thread(() -> {
				if (args[0].equals("racy"))
					racy(100);
				else
					locked(100);
			});
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
		System.out.println("done");
	}
}
END
cat >inside.c <<'END'
#include <jni.h>
#include <pthread.h>

static int plain, guarded;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both; /* what the machine itself orders is over by then */

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *reserved)
{
	(void)machine, (void)reserved;
	pthread_barrier_init(&both, NULL, 2);
	return JNI_VERSION_1_6;
}

JNIEXPORT void JNICALL Java_Host_racy(JNIEnv *env, jclass class, jint n)
{
	(void)env, (void)class;
	pthread_barrier_wait(&both);
	for (int i = 0; i < n; i++)
		plain++;
}

JNIEXPORT void JNICALL Java_Host_locked(JNIEnv *env, jclass class, jint n)
{
	(void)env, (void)class;
	pthread_barrier_wait(&both);
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		guarded++;
		pthread_mutex_unlock(&mutex);
	}
}
END
javac Host.java >javac.out 2>&1 || { echo "skipped: javac does not work here: $(head -1 javac.out)"; exit 0; }
java -Xint -cp . Host none >java.out 2>&1
grep -q inside java.out || { echo "skipped: java does not work here: $(head -1 java.out)"; exit 0; }
"${CC:-gcc}" -g -O1 -fPIC -shared -fsanitize=thread -I"$home/include" -I"$home/include/linux" inside.c -o libinside.so || exit 1

fail=0
for mode in racy locked; do
	timeout 240 "$racetrace" record --preload -o $mode.zst -- java -Xint -XX:+UseSerialGC -Djava.library.path=. -cp . Host $mode >$mode.out 2>$mode.err
	status=$?
	{ [ $status = 0 ] && grep -qx "done" $mode.out; } || { echo "$mode: recorded with status $status: $(cat $mode.err)"; fail=1; continue; }
	"$racetrace" analyze --allow-incomplete --format json $mode.zst >$mode.json 2>$mode.err || [ $? = 1 ] || { cat $mode.err; fail=1; }
done
jq -e 'any(.anomalies[]; .kind == "race" and .variable.name == "plain" and .verdict == "observed")' racy.json >/dev/null ||
	{ echo "racy: no race of plain"; jq -c '.anomalies[] | [.kind, .verdict, .variable.name]' racy.json | head; fail=1; }
jq -e 'any(.anomalies[]; .kind == "race" and .variable.name == "guarded") | not' locked.json >/dev/null ||
	{ echo "locked: a race of guarded"; fail=1; }
exit $fail
