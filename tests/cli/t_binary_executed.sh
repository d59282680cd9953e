#!/bin/bash
# t_binary_executed.sh BUILD: what a program that is recorded by Valgrind executes, by a shell, by name or by a descriptor, is recorded too.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/text.sh"
racetrace=$RACETRACE
[ -x "$(dirname "$racetrace")/../lib/racetrace/valgrind/racetrace-amd64-linux" ] || exit 0 # t_binary.sh says what record says then

cat >more.c <<'END'
#include <pthread.h>
static void *work(void *arg) { return arg; }
int main(void)
{
	pthread_t a;
	return pthread_create(&a, NULL, work, NULL) || pthread_join(a, NULL) ? 1 : 3;
}
END
gcc -g -O1 more.c -o more -pthread || exit 1

# What a shell or a script starts: plain programs run under the tool too, an instrumented one by itself. The environment
# of each is as without a recorder.
gcc -g -O1 -fsanitize=thread more.c -o more_tsan -pthread || exit 1
printf '#!/bin/sh\n./more\n./more_tsan >/dev/null\nenv | grep -E "^(LD_|VALGRIND|RACETRACE_CHANNEL=)"\nexit 5\n' >script
chmod +x script
env -u LD_PRELOAD "$racetrace" record -o c.zst ./script >out 2>err
[ $? = 5 ] || wrong "script: $(cat err)"
[ -s out ] && wrong "an executed program sees the recorder in its environment: $(cat out)"
for f in c.zst.*; do
	"$racetrace" info --format json "$f" | jq -r '"\(.command | join(" ")) \(.order) \([.threads[]] | length > 1)"'
done | sort -u >got
printf '%s\n' './more exact true' './more_tsan stamped true' >want
grep -vE ' false$' got | diff want - || wrong "traces of what a script starts: $(cat got)"
env -u LD_PRELOAD "$racetrace" record --no-children -o n.zst ./script >out 2>err
ls n.zst.* >/dev/null 2>&1 && wrong 'with --no-children there are traces of children'

# A program that is executed by its name is the one that execvpe finds: without PATH, in an empty folder of it, which is
# the current one, and behind a folder that has a folder or a pipe of that name.
mkdir -p folder/named pipes
mkfifo -m 755 pipes/named || exit 1
cat >find.c <<'END'
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **arguments)
{
	if (count < 3 || (*arguments[1] == '-' ? unsetenv("PATH") : setenv("PATH", arguments[1], 1)))
		return 1;
	execvp(arguments[2], arguments + 2);
	return errno == EACCES ? 2 : 1;
}
END
cat >named.c <<'END'
#include <pthread.h>
static void *work(void *arg) { return arg; }
int main(void)
{
	pthread_t a;
	return pthread_create(&a, NULL, work, NULL) || pthread_join(a, NULL);
}
END
# And whatever it is executed by; one that its descriptor alone names runs as well.
cat >by.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **arguments)
{
	char **next = arguments + 2;
	int fd = open("./named", O_RDONLY | O_CLOEXEC), folder = open("folder", O_RDONLY | O_CLOEXEC);
	if (count < 4 || fd < 0 || folder < 0)
		return 1;
	if (!strcmp(arguments[1], "number"))
		syscall(SYS_execve, next[0], next, environ);
	else if (!strcmp(arguments[1], "at"))
		syscall(SYS_execveat, AT_FDCWD, next[0], next, environ, 0);
	else if (!strcmp(arguments[1], "folder"))
		execveat(folder, "../named", next, environ, 0);
	else
		fexecve(fd, next, environ);
	return 1;
}
END
gcc find.c -o find && gcc by.c -o by && gcc named.c -o named -pthread || exit 1
printf '#!/bin/sh\n%s && %s && %s && %s && %s && %s && %s && %s && %s\n%s\n[ $? = 2 ]\n' "./find - sh -c './named default'" './find : named here' \
	'./find folder:. named behind' './find folder:: named last' './by number ./named number' './by at ./named at' \
	'./by folder ./named folder' './by descriptor ./named descriptor' './find pipes:. named pipe || exit 1' './find pipes named none' >finds
chmod +x finds
env -u LD_PRELOAD timeout 600 "$racetrace" record -o p.zst ./finds >out 2>err || wrong "finds: $(cat err)"
for f in p.zst.*; do
	"$racetrace" info --format json "$f" | jq -r '.command[0] |= split("/")[-1] | "\(.command | join(" ")) \(.order)"'
done | LC_ALL=C sort >got
printf 'named %s exact\n' at behind default descriptor folder here last number pipe | diff got - ||
	wrong 'programs that were executed by name'

# The same for what system and popen start, where the shell's messages are as ever; and what cannot be executed is refused
# as the kernel does it, a pipe that nobody writes to included. A command that would become too long for an argument is
# run as it is.
cat >shells.c <<'END'
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
	static char quotes[60000] = "exit 9 #";
	char line[100], *arguments[] = {"pipe", NULL};
	pid_t pid;
	int status = system("./more; echo \"$? it's $0 $LD_PRELOAD$RACETRACE_CHANNEL$VALGRIND_LIB\"; exit 7");
	FILE *f = popen("./more || echo $0", "r");
	if (status >> 8 != 7 || !f || !fgets(line, sizeof line, f) || pclose(f) != 0)
		return 1;
	printf("%s", line);
	memset(quotes + strlen(quotes), '\'', sizeof quotes - 1 - strlen(quotes));
	if (system(quotes) >> 8 != 9)
		return 3;
	if (posix_spawn(&pid, "./pipe", NULL, NULL, arguments, environ) == 0 || execv("./pipe", arguments) == 0)
		return 2;
	return 0;
}
END
gcc -g shells.c -o shells && mkfifo -m 755 pipe || exit 1
env -u LD_PRELOAD timeout 120 "$racetrace" record --recorder=valgrind -o l.zst ./shells >out 2>err || wrong "shells: $(cat err)"
[ "$(cat out)" = "3 it's sh 
sh" ] || wrong "shells print: $(cat out)"
for f in l.zst.*; do
	"$racetrace" info --format json "$f" | jq -r 'select([.threads[]] | length > 1) | "\(.command | join(" ")) \(.order)"'
done >got
[ "$(cat got)" = './more exact
./more exact' ] || wrong "traces of what system and popen start: $(cat got)"
exit $fail
