/*
 * Preloaded: fails one allocation of a program. RT_FAULT_LIST=FILE: writes the number of each allocation that comes
 * from a place (the calls that led to it) of its own, one a line. RT_FAULT_AT=N: the N-th returns NULL; with
 * RT_FAULT_SHOW the calls that led to it are printed. RT_FAULT_EACH=FILE: the program runs once for each number in the
 * file, in a process that is forked before main, as most of the time of a short run is that of the dynamic linker; see
 * run_each. The C library's own allocations (getline, asprintf, open_memstream) come here too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 24, PLACES = 1 << 16 };

static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t);
static uint64_t number, at, places[PLACES];
static bool ready;
static __thread bool inside;
static int list = -1;

/* dlsym may allocate before the real functions are known. */
static char early[65536] __attribute__((aligned(16)));
static size_t early_used;

static void *early_take(size_t size)
{
	size_t begin = early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > sizeof early)
		abort();
	return early + begin;
}

static void find_real(void)
{
	static bool finding;

	if (finding)
		return;
	finding = true;
	real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	finding = false;
}

static void number_open(const char *name, uint64_t *to)
{
	const char *value = getenv(name);

	*to = value ? strtoull(value, NULL, 10) : 0;
}

/* The file NUMBER.NAME of the folder "got" stands for the descriptor. */
static void into(uint64_t n, const char *name, int fd)
{
	char path[64];

	snprintf(path, sizeof path, "got/%lu.%s", (unsigned long)n, name);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || dup2(file, fd) < 0)
		abort();
	close(file);
}

/*
 * Returns in a process for each number, which has a minute. What it says is in "got/NUMBER.out" and "got/NUMBER.err", a
 * file "written" that it leaves becomes "got/NUMBER.written", and a line "NUMBER STATUS" is added to "got/ends".
 */
static void run_each(const char *path)
{
	FILE *numbers = fopen(path, "r");
	int ends = open("got/ends", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), status;
	unsigned long n;
	char written[64];

	if (!numbers || ends < 0)
		abort();
	while (fscanf(numbers, "%lu", &n) == 1) {
		pid_t child = fork();
		if (child == 0) {
			close(fileno(numbers));
			close(ends);
			into(n, "out", STDOUT_FILENO);
			into(n, "err", STDERR_FILENO);
			alarm(60);
			at = n;
			return;
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			abort();
		snprintf(written, sizeof written, "got/%lu.written", n);
		rename("written", written);
		dprintf(ends, "%lu %d\n", n, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	}
	_exit(0);
}

__attribute__((constructor)) static void start(void)
{
	void *frames[2];
	const char *path = getenv("RT_FAULT_LIST");

	find_real();
	backtrace(frames, 2); /* loads what it needs */
	number_open("RT_FAULT_AT", &at);
	/* Not through stdio, which allocates. */
	if (path)
		list = dup2(STDERR_FILENO, 200);
	unsetenv("LD_PRELOAD");
	if (getenv("RT_FAULT_EACH"))
		run_each(getenv("RT_FAULT_EACH"));
	ready = true;
}

static bool new_place(void)
{
	void *frames[DEPTH];
	int n = backtrace(frames, DEPTH);
	uint64_t hash = 1469598103934665603u;

	for (int i = 2; i < n; i++)
		hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211u;
	hash |= 1;
	for (uint64_t i = hash >> 7;; i++) {
		if (places[i % PLACES] == hash)
			return false;
		if (!places[i % PLACES]) {
			places[i % PLACES] = hash;
			return true;
		}
	}
}

static void show(void)
{
	void *frames[DEPTH];

	if (getenv("RT_FAULT_SHOW"))
		backtrace_symbols_fd(frames, backtrace(frames, DEPTH), STDERR_FILENO);
}

/* True: this one fails. */
static bool fails(void)
{
	bool failed = false;

	if (!ready || inside)
		return false;
	inside = true;
	uint64_t n = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
	if (list >= 0 && new_place())
		dprintf(list, "allocation %lu\n", (unsigned long)n);
	if (n == at) {
		failed = true;
		show();
	}
	inside = false;
	if (failed)
		errno = ENOMEM;
	return failed;
}

void *malloc(size_t size)
{
	if (!real_malloc)
		find_real();
	if (!real_malloc)
		return early_take(size);
	return fails() ? NULL : real_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	if (!real_calloc)
		find_real();
	if (!real_calloc)
		return early_take(n * size);
	return fails() ? NULL : real_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	if (!real_realloc)
		find_real();
	return fails() ? NULL : real_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	if (n && size > SIZE_MAX / n) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, n * size);
}

/* AddressSanitizer has its own of these, which do not come to malloc. */
char *strndup(const char *text, size_t most)
{
	size_t n = strnlen(text, most);
	char *copy = malloc(n + 1);

	if (!copy)
		return NULL;
	copy[n] = 0;
	return memcpy(copy, text, n);
}

char *strdup(const char *text)
{
	return strndup(text, strlen(text));
}
