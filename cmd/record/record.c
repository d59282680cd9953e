/* racetrace record: runs a program and writes its trace. */
#include "cmd/base/command.h"
#include "cmd/base/library.h"
#include "cmd/base/siblings.h"
#include "cmd/record/common.h"
#include "cmd/record/options.h"
#include "cmd/record/others.h"
#include "cmd/record/outcome.h"
#include "cmd/record/pid.h"
#include "cmd/record/tool.h"
#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "recorder/collector/find.h"
#include "recorder/collector/limits.h"
#include "recorder/collector/program.h"
#include "recorder/collector/tree.h"
#include "recorder/control.h"
#include "tracefmt/plan.h"
#include "tracefmt/search.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Paths ---- */

/* The recorder that stands in for the library with this soname. */
static enum rt_status find_recorder(const char *folder, const char *soname, char **path, struct rt_error *err)
{
	if (asprintf(path, "%s/%s", folder, soname) < 0)
		return rt_error_set(err, RT_EMEMORY, "no memory for a path");
	if (access(*path, R_OK) != 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot record a program that is linked with '%s': no '%s'",
		                    soname, *path);
	if (strpbrk(*path, ": "))
		return rt_error_set(err, RT_ESYSTEM,
		                    "cannot preload '%s': install racetrace in a folder without colon and space",
		                    *path);
	return RT_OK;
}

/* ---- One recording ---- */

struct recording {
	struct record_options options;
	char *program, *soname, *recorder;
	char *folder;     /* of the recorders */
	struct tool tool; /* that runs the program; without a path: it runs by itself */
	char *path;       /* of the trace */
	struct collector_control control;
	void *plan;       /* the file's content */
	pthread_t teller; /* runs tell_held, if tells */
	bool tells;
	void *input; /* the strategy's, if it has no plan */
	struct tree *tree;
	struct collector *collector; /* the first process's, borrowed from the tree */
	struct rt_writer *writer;
	struct rt_writer_result result;
	int status;    /* as from waitpid */
	int reason;    /* errno of a program that cannot be executed */
	bool unwanted; /* no trace is written: the program has not ended as --trigger has it */
	char **traces; /* of all processes, for --trigger=finding */
	size_t trace_count, trace_room;
	bool ran; /* the program did, to its end, and it was recorded */
};

static void program_ended(void *collector)
{
	collector_stop(collector);
}

/*
 * Sets how the program is recorded. With --preload, the soname is that of a library among the arguments. Programs that
 * are not instrumented are run by the Valgrind tool, if it was built.
 */
static enum rt_status inspect(struct recording *r, struct rt_error *err)
{
	struct record_options *o = &r->options;
	bool plain = o->preload || o->recorder != RECORDER_TSAN;
	enum rt_status status = program_inspect(r->program, &r->soname, &plain, err);
	if (status || (!plain && o->recorder != RECORDER_VALGRIND))
		return status;
	if (o->preload) {
		free(r->soname);
		r->soname = library_runtime(o->command + 1);
		return r->soname ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for a name");
	}
	o->sync_only = o->recorder == RECORDER_SYNC;
	if (o->sync_only)
		return RT_OK;
	status = tool_find(&r->tool, r->program, err);
	if (!status && o->recorder == RECORDER_AUTO)
		fprintf(
		    stderr,
		    "racetrace: '%s' is not instrumented: Valgrind runs it, which takes tens of times as long; gcc "
		    "-fsanitize=thread makes a program that is recorded faster, and --preload records the instrumented "
		    "libraries of this one\n",
		    r->program);
	return status;
}

/* The plan that threads are to follow; `racetrace replay` has made it. */
static enum rt_status read_plan(struct recording *r, struct rt_error *err)
{
	FILE *f = fopen(r->options.plan, "r");
	struct stat st;
	if (!f || fstat(fileno(f), &st) != 0 || !(r->plan = malloc((size_t)st.st_size + 1)) ||
	    fread(r->plan, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		enum rt_status status =
		    rt_error_set(err, RT_ESYSTEM, "cannot read '%s': %s", r->options.plan, strerror(errno));
		if (f)
			fclose(f);
		return status;
	}
	fclose(f);
	uint64_t magic = 0;
	memcpy(&magic, r->plan, (size_t)st.st_size < sizeof magic ? (size_t)st.st_size : sizeof magic);
	r->control.strategy = magic == RT_SEARCH_MAGIC ? "systematic" : "follow";
	r->control.input = r->plan;
	r->control.input_bytes = (size_t)st.st_size;
	return RT_OK;
}

/* The plan as the run has left it, and behind it the control area up to the log. */
static enum rt_status write_plan(const struct recording *r, struct rt_error *err)
{
	const struct rt_control *control = r->collector ? collector_control(r->collector) : NULL;
	FILE *f = control ? fopen(r->options.plan, "w") : NULL;
	bool ok = f && fwrite(rt_control_input(control), control->input_bytes, 1, f) == 1 &&
	          fwrite(control, offsetof(struct rt_control, log_count), 1, f) == 1;
	if (f && fclose(f) != 0)
		ok = false;
	return ok ? RT_OK : rt_error_set(err, RT_ESYSTEM, "cannot write '%s': %s", r->options.plan, strerror(errno));
}

static uint32_t control_flags(const struct record_options *o)
{
	return (o->fix_time ? RT_CONTROL_FIX_TIME : 0u) | (o->spurious ? RT_CONTROL_SPURIOUS : 0u) |
	       (o->children ? RT_CONTROL_CHILDREN : 0u);
}

static enum rt_status prepare(struct recording *r, struct rt_error *err)
{
	struct record_options *o = &r->options;
	enum rt_status status;
	if ((status = program_find(o->command[0], &r->program, &r->reason, err)) || (status = inspect(r, err)) ||
	    (status = library_folder(o->serial, &r->folder, err)) ||
	    (status = find_recorder(r->folder, r->soname, &r->recorder, err)))
		return status;
	if (!limit_allows_collector())
		return rt_error_set(err, RT_ESYSTEM, "cannot record '%s': too little memory to write a trace%s",
		                    r->program, limit_behind(EAGAIN));
	uint32_t threads = limit_threads(o->threads, o->ring_kib * UINT64_C(1024));
	if (threads < o->threads)
		fprintf(stderr,
		        "racetrace: the limits of this process (ulimit) allow to record %" PRIu32 " threads at once\n",
		        threads);
	r->control = (struct collector_control){
	    .strategy = o->strategy.name ? o->strategy.name : "random", .seed = o->seed, .flags = control_flags(o)};
	if (strategy_has_aims(&o->strategy) &&
	    (status = strategy_input(&o->strategy, &r->input, &r->control.input_bytes, err)))
		return status;
	r->control.input = r->input;
	if (r->tool.path && threads > TOOL_THREADS)
		threads = TOOL_THREADS;
	struct tool_program program = {.path = r->program, .command = o->command, .turns = o->serial};
	if (r->tool.path && (status = tool_prepare(&r->tool, &program, err)))
		return status;
	if (o->plan && (status = read_plan(r, err)))
		return status;
	struct tree_options tree = {.rings = {.slots = threads,
	                                      .ring_records = o->ring_kib * 1024 / (uint32_t)sizeof(struct rt_record),
	                                      .sync_only = o->sync_only,
	                                      .watched = r->tool.path != NULL,
	                                      .tell = record_tell_error,
	                                      .control = o->serial || record_is_native(o) ? &r->control : NULL,
	                                      .exit_sleep_ms = o->exit_sleep_ms,
	                                      .vary = o->vary,
	                                      .values = o->values},
	                            .output = o->output,
	                            .ring = o->ring,
	                            .folder = o->only_first ? NULL : r->folder,
	                            .shell = r->tool.shell,
	                            .follows_plain = r->tool.launcher != NULL,
	                            .preload = o->preload ? r->soname : NULL};
	status = tree_create(&tree, &r->tree, err);
	if (!status)
		r->collector = tree_first(r->tree);
	return status;
}

/* What the program reads from standard input: the path of a file, or what else it is. */
static const char *describe_input(char *path, size_t size)
{
	struct stat st;
	int flags = fcntl(STDIN_FILENO, F_GETFD);
	if (flags < 0 || flags & FD_CLOEXEC || fstat(STDIN_FILENO, &st) != 0) /* fill_standard_streams has filled it */
		return "closed";
	if (isatty(STDIN_FILENO))
		return "terminal";
	if (S_ISFIFO(st.st_mode))
		return "pipe";
	if (S_ISSOCK(st.st_mode))
		return "socket";
	ssize_t n = readlink("/proc/self/fd/0", path, size - 1);
	if (n <= 0 || *path != '/')
		return "other";
	path[n] = '\0';
	return path;
}

/* True if the program is held where the plan ends. */
static bool is_held(const struct recording *r)
{
	const struct rt_plan *plan = r->plan;
	return plan && r->control.input_bytes >= sizeof *plan && plan->magic == RT_PLAN_MAGIC &&
	       plan->then == RT_PLAN_HOLD;
}

/* While a plan's program is held, its plan is beside the plan's file: a debugger's user is told where threads are. */
static void *tell_held(void *arg)
{
	const struct recording *r = arg;
	const struct timespec pause = {.tv_nsec = 20000000};
	const struct rt_control *control = collector_control(r->collector);
	const struct rt_plan *plan = rt_control_input(control);
	while (!__atomic_load_n(&plan->held, __ATOMIC_ACQUIRE))
		nanosleep(&pause, NULL);
	char path[4096], part[4096];
	snprintf(path, sizeof path, "%.4000s.held", r->options.plan);
	snprintf(part, sizeof part, "%.4000s.part", r->options.plan);
	FILE *f = fopen(part, "w");
	bool ok = f && fwrite(plan, plan->size, 1, f) == 1;
	if (f && fclose(f) == 0 && ok)
		rename(part, path);
	return NULL;
}

static enum rt_status collect(struct recording *r, struct program *program, struct rt_error *err)
{
	char input[4096];
	struct rt_writer_options options = {.command = (const char *const *)r->options.command,
	                                    .pid = (uint64_t)program->pid,
	                                    .sync_only = r->options.sync_only,
	                                    .recording = true,
	                                    .exact = r->options.serial || r->tool.path,
	                                    .values = (r->options.values && !r->options.sync_only) || r->tool.path,
	                                    .binary = r->tool.path != NULL,
	                                    .vary = r->options.vary,
	                                    .ring = r->options.ring,
	                                    .input = describe_input(input, sizeof input)};
	const struct record_options *o = &r->options;
	enum rt_status status = record_create_trace(o->output, o->command[0], &options, &r->writer, &r->path, err);
	if (!status)
		status = tree_start(r->tree, r->path, err);
	if (!status && is_held(r) && pthread_create(&r->teller, NULL, tell_held, r) == 0)
		r->tells = true;
	if (!status)
		status = program_go(program, &r->reason, err);
	if (r->reason)
		return rt_error_set(err, RT_ESYSTEM, "cannot execute '%s': %s", r->program, strerror(r->reason));
	if (status)
		return status;
	return collector_run(r->collector, process_in_proc(program->pid), r->writer, err);
}

/* Runs the program to its end. Its exit status is set even if the trace is lost. */
static enum rt_status run(struct recording *r, struct rt_error *err)
{
	struct program program = {.ended = program_ended, .arg = r->collector};
	struct program_start start = {.path = r->tool.path ? r->tool.path : r->program,
	                              .argv = r->tool.path ? r->tool.argv : r->options.command,
	                              .tool = r->tool.path,
	                              .launcher = r->tool.launcher,
	                              .preload = r->recorder,
	                              .channel = tree_fd(r->tree),
	                              .same_addresses = r->options.serial};
	uint64_t began = now_ns();
	enum rt_status status = program_prepare(&program, &start, err);
	if (status)
		return status;
	unsetenv("DEBUGINFOD_URLS"); /* a recording must not wait for the network; the program keeps its own setting */
	status = collect(r, &program, err);
	enum rt_status waited = program_wait(&program, &r->status, status ? NULL : err);
	r->result.duration_ns = now_ns() - began;
	r->result.exit_kind = WIFSIGNALED(r->status) ? RT_EXIT_SIGNAL : RT_EXIT_STATUS;
	r->result.exit_value = WIFSIGNALED(r->status) ? WTERMSIG(r->status) : WEXITSTATUS(r->status);
	if (r->options.plan && !status)
		status = write_plan(r, err);
	r->ran = r->path && !waited && (collector_started(r->collector) || WIFSIGNALED(r->status));
	return status ? status : waited;
}

static enum rt_status record(struct recording *r, struct rt_error *err)
{
	enum rt_status status = prepare(r, err);
	if (status)
		return status;
	status = run(r, err);
	if (!status && !collector_started(r->collector) && WIFSIGNALED(r->status))
		status =
		    rt_error_set(err, RT_EINPUT,
		                 "'%s' died of signal %d (%s) before the recorder started: in the dynamic linker, or "
		                 "a resolver of an indirect function (ifunc)",
		                 r->program, WTERMSIG(r->status), strsignal(WTERMSIG(r->status)));
	if (!status && !collector_started(r->collector))
		status = rt_error_set(err, RT_EINPUT,
		                      "'%s' did not start the recorder: name the program itself, not a wrapper that "
		                      "starts it; or it lacked memory%s",
		                      r->program, limit_behind(ENOMEM));
	r->unwanted = !status && !trigger_fires(&r->options.trigger, r->result.exit_kind, r->result.exit_value);
	if (status || r->unwanted) {
		rt_writer_abort(r->writer);
		return status;
	}
	return tree_finish(r->tree, r->collector, r->writer, &r->result, err);
}

/* ---- What came of it ---- */

/* The order that they make is not in the trace: what they may order is at most `predicted`. */
static void say_atomics(const struct collector *c)
{
	const char *names = c ? collector_hidden_atomics(c) : NULL;
	if (names)
		fprintf(stderr,
		        "racetrace: the atomic instructions in %s are not recorded: declare what they order with "
		        "racetrace_happens_before and racetrace_happens_after (racetrace.h)\n",
		        names);
}

static void say_modules(const char *path, const struct collector *c)
{
	if (!collector_modules(c)->count)
		fprintf(stderr, "racetrace: '%s' has no source positions: /proc/%ld/maps could not be read\n", path,
		        (long)collector_told(c));
}

/* Without memory it is not looked at. */
static void add_trace(struct recording *r, const char *path)
{
	char *copy = r->options.trigger.kind == TRIGGER_FINDING ? strdup(path) : NULL;
	if (copy && vec_reserve(&r->traces, &r->trace_room, r->trace_count + 1, sizeof *r->traces))
		r->traces[r->trace_count++] = copy;
	else
		free(copy);
}

/* With --trigger=finding: true if the traces are kept. */
static bool is_kept(struct recording *r)
{
	bool kept = !r->trace_count || trigger_keeps(&r->options.trigger, r->traces, r->trace_count);
	if (!kept && r->options.outcome)
		unlink(r->options.outcome);
	return kept;
}

static void tell(const struct tree_trace *trace, void *arg)
{
	struct recording *r = arg;
	const struct record_options *o = &r->options;
	if (trace->error.status) {
		cmd_fail(&trace->error);
		return;
	}
	if (trace->path && r->unwanted)
		unlink(trace->path);
	else if (trace->path) {
		add_trace(r, trace->path);
		if (o->verbose)
			record_say_counts(trace->path, &trace->result);
	}
	record_say_broken(trace->broken);
}

static void release(struct recording *r)
{
	if (r->tells) {
		pthread_cancel(r->teller);
		pthread_join(r->teller, NULL);
	}
	tree_free(r->tree);
	for (size_t i = 0; i < r->trace_count; i++)
		free(r->traces[i]);
	free(r->traces);
	free(r->folder);
	free(r->plan);
	free(r->input);
	strategy_free(&r->options.strategy);
	free(r->path);
	free(r->program);
	free(r->soname);
	free(r->recorder);
	tool_release(&r->tool);
}

/* True if the scheduler has ended the program because no thread could go on. */
static bool is_deadlocked(const struct recording *r)
{
	const struct rt_control *control = r->collector ? collector_control(r->collector) : NULL;
	return control && atomic_load(&control->end) == RT_END_DEADLOCK;
}

static void say_control(const struct recording *r)
{
	const struct rt_control *control = collector_control(r->collector);
	if (is_deadlocked(r))
		fprintf(stderr,
		        "racetrace: deadlock: none of the %" PRIu32 " threads can go on; '%s' was killed: 'racetrace "
		        "analyze %s' says what they wait for\n",
		        atomic_load(&control->standing_count), r->program, r->path);
	if (control && atomic_load(&control->degraded))
		fprintf(stderr, "racetrace: '%s' could not be run one thread at a time: its threads ran free\n",
		        r->program);
}

/* Reports why there is no whole trace. Returns the program's own status if it was recorded. */
static int failed(const struct recording *r, const struct rt_error *err)
{
	int status = cmd_fail(err);
	if (r->reason)
		return r->reason == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	return r->ran ? r->result.exit_value : status;
}

/* On a terminal, names the next command. */
static void say_trace(const struct recording *r)
{
	if (r->options.unkept || !isatty(STDERR_FILENO))
		return;
	if (siblings_count(r->path))
		fprintf(stderr, "racetrace: the traces are '%s' and '%s.PID'; next: racetrace analyze %s %s.*\n",
		        r->path, r->path, r->path, r->path);
	else
		record_say_trace(r->path);
}

static void say_unwanted(const struct recording *r)
{
	const char *how = r->result.exit_kind == RT_EXIT_SIGNAL ? "of signal" : "with status";
	fprintf(stderr, "racetrace: no trace is written: '%s' ended %s %d, which is not what --trigger names\n",
	        r->program, how, r->result.exit_value);
}

static void remove_old(const struct recording *r, struct timespec began)
{
	size_t n = siblings_remove_old(r->path, began);
	if (n)
		fprintf(stderr, "racetrace: %zu old trace%s '%s.PID' of an earlier recording %s removed\n", n,
		        n == 1 ? "" : "s", r->path, n == 1 ? "was" : "were");
}

/* Of the trace of the program itself. */
static void say_written(struct recording *r, struct rt_error *err)
{
	add_trace(r, r->path);
	if (r->options.verbose)
		record_say_counts(r->path, &r->result);
	say_control(r);
	if (r->options.outcome &&
	    outcome_write(r->options.outcome, collector_control(r->collector), &r->result, r->path, err))
		cmd_fail(err);
	say_atomics(r->collector);
	say_modules(r->path, r->collector);
}

/* Opens /dev/null for each closed standard stream, so that no file opened here takes its number. The program finds the
 * stream closed. */
static void fill_standard_streams(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int cmd_record(int argc, char **argv)
{
	struct recording r = {
	    .options = {.output = "trace.zst", .ring_kib = 256, .threads = 32768, .exit_sleep_ms = 1000}};
	struct rt_error err = {0};
	struct timespec began = siblings_now();
	fill_standard_streams();
	cmd_parse(&record_argp, argc, argv, ARGP_IN_ORDER, &r.options);
	if (r.options.pid)
		return record_pid(&r.options);
	if (r.options.idle)
		return record_idle(&r.options);
	enum rt_status status = record(&r, &err);
	int result = status ? failed(&r, &err) : r.result.exit_value;
	bool written = !status && !r.unwanted;
	bool deadlocked = is_deadlocked(&r);
	if (!status)
		record_say_broken(collector_broken(r.collector));
	if (written)
		say_written(&r, &err);
	if (r.tree) {
		others_wait(r.tree);
		tree_end(r.tree, tell, &r);
		others_say_unrecorded(tree_unrecorded(r.tree));
	}
	if (written && is_kept(&r)) {
		remove_old(&r, began);
		say_trace(&r);
	}
	if (r.unwanted)
		say_unwanted(&r);
	release(&r);
	if (deadlocked)
		return EXIT_DEADLOCK;
	if (r.ran && r.result.exit_kind == RT_EXIT_SIGNAL) {
		fflush(NULL);
		program_end_like(r.result.exit_value);
		return 128 + r.result.exit_value;
	}
	return result;
}
