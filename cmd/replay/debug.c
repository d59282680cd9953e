/* gdb at a program that is held; see debug.h. */
#include "cmd/replay/debug.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* gdb has numbers of its own for threads; its Python knows the kernel's. */
static const char goal_function[] = "set pagination off\n"
                                    "python\n"
                                    "def racetrace_goal(tid, text, function, variable):\n"
                                    "    gdb.write('racetrace: ' + text + '\\n')\n"
                                    "    for t in gdb.selected_inferior().threads():\n"
                                    "        if t.ptid[1] != tid:\n"
                                    "            continue\n"
                                    "        t.switch()\n"
                                    "        f = gdb.newest_frame()\n"
                                    "        while f and (f.name() or '').split('(')[0] != function.split('(')[0]:\n"
                                    "            f = f.older()\n"
                                    "        if f:\n"
                                    "            f.select()\n"
                                    "        gdb.write('racetrace: thread %d of gdb\\n' % t.num)\n"
                                    "        gdb.execute('frame')\n"
                                    "        if variable:\n"
                                    "            try:\n"
                                    "                gdb.execute('print ' + variable)\n"
                                    "            except gdb.error as e:\n"
                                    "                gdb.write(str(e) + '\\n')\n"
                                    "end\n";

/* A string of Python: that of JSON is one. */
static void put_string(FILE *out, const char *text)
{
	json_t *s = json_string(text ? text : "");
	char *quoted = s ? json_dumps(s, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
	fputs(quoted ? quoted : "\"\"", out);
	free(quoted);
	json_decref(s);
}

static bool write_script(const char *path, const struct held_event *events, uint32_t count)
{
	FILE *out = fopen(path, "w");
	if (!out)
		return false;
	fputs(goal_function, out);
	for (uint32_t i = count; i-- > 0;) { /* the first one is selected in the end */
		fprintf(out, "python racetrace_goal(%ld, ", events[i].tid);
		put_string(out, events[i].text);
		fputs(", ", out);
		put_string(out, events[i].function);
		fputs(", ", out);
		put_string(out, events[i].variable);
		fputs(")\n", out);
	}
	return fclose(out) == 0;
}

/* Runs it in the foreground; an interrupt is the debugger's. */
static void run_debugger(const char *command, pid_t pid, const char *script)
{
	char line[4096], number[32];
	int status;
	snprintf(line, sizeof line, "exec %.3000s -q -p \"$1\" -x \"$2\"", command);
	snprintf(number, sizeof number, "%ld", (long)pid);
	void (*before)(int) = signal(SIGINT, SIG_IGN);
	pid_t child = fork();
	if (child == 0) {
		signal(SIGINT, SIG_DFL);
		execl("/bin/sh", "sh", "-c", line, "sh", number, script, (char *)NULL);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, before);
	if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
		fprintf(stderr, "racetrace: cannot start '%s'\n", command);
}

bool debug_held(struct try *t, const char *command, const char *folder)
{
	struct held_event events[RT_PLAN_GOALS];
	uint32_t count = 0;
	char script[4096];
	pid_t pid = try_held(t, events, &count);
	if (!pid)
		return false;
	snprintf(script, sizeof script, "%.4000s/gdb", folder);
	for (uint32_t i = 0; i < count; i++)
		if (events[i].text)
			fprintf(stderr, "racetrace: %s\n", events[i].text);
	if (command) {
		if (write_script(script, events, count))
			run_debugger(command, pid, script);
		else
			fprintf(stderr, "racetrace: cannot write '%s': %s\n", script, strerror(errno));
		kill(pid, SIGKILL);
	}
	for (uint32_t i = 0; i < count; i++)
		free(events[i].text);
	return true;
}
