/*
 * gen SEED COUNT FOLDER: writes FOLDER/programs.c, COUNT programs in one, and what is known of each program N:
 * N.possible: races and deadlocks of any run, as "race LINE LINE"; none if there are too many states to tell.
 * N.R.how: the script of run R; N.R.observed: what that run has. Run 3, if there is one, comes to a standstill.
 * N.features: the mask of them.
 */
#include "tests/differ/program.h"

#include <stdlib.h>

enum { PROGRAMS = 1000, RUNS = 4, STUCK_RUN = 3, TRIES = 40 };

static FILE *create(const char *folder, int program, const char *name)
{
	char path[4096];
	if (program < 0)
		snprintf(path, sizeof path, "%s/%s", folder, name);
	else
		snprintf(path, sizeof path, "%s/%d.%s", folder, program, name);
	FILE *out = fopen(path, "w");
	if (!out) {
		perror(path);
		exit(1);
	}
	return out;
}

static void write_pairs(const struct program *p, pairs races, FILE *out)
{
	for (int t = 0; t < p->threads; t++)
		for (int i = 0; i < p->count[t]; i++)
			for (int u = t + 1; u < p->threads; u++)
				for (int j = 0; j < p->count[u]; j++) {
					int a = op_line(p, &p->ops[t][i]), b = op_line(p, &p->ops[u][j]);
					if (races[t][i][u][j])
						fprintf(out, "race %d %d\n", a < b ? a : b, a < b ? b : a);
				}
}

/* Threads with higher numbers come first in the text. */
static void write_cycles(const struct cycles *c, FILE *out)
{
	for (int i = 0; i < c->count; i++) {
		fprintf(out, "deadlock");
		for (int t = THREADS - 1; t >= 0; t--)
			if (c->lines[i][t])
				fprintf(out, " %d", c->lines[i][t]);
		fprintf(out, "\n");
	}
}

static void write_script(const struct program *p, int order[STEPS], int length, const bool blocked[STEPS], FILE *out)
{
	int turns[STEPS], ids = 0;
	bool early[STEPS] = {0};
	for (int k = 0; k < STEPS; k++)
		turns[k] = -1;
	for (int i = 0; i < length; i++)
		turns[order[i]] = i;
	for (int t = 0; t < p->threads; t++)
		for (int i = 0; i < p->count[t]; i++, ids++)
			early[p->ops[t][i].id] = p->ops[t][i].kind == WAIT_BEGIN || p->ops[t][i].kind == ARRIVE;
	for (int k = 0; k < ids; k++) {
		if (blocked[k])
			turns[k] = length++;
		fprintf(out, "%s%d%s", k ? "," : "", turns[k], early[k] || blocked[k] ? "e" : "");
	}
	fprintf(out, "\n");
}

static void write_runs(const struct program *p, int number, const char *folder)
{
	static pairs races;
	int order[STEPS], length;
	bool blocked[STEPS];
	struct cycles cycles;
	for (int run = 0; run < RUNS; run++) {
		char name[32];
		int tries = 0;
		while (tries < TRIES && !model_run(p, run == STUCK_RUN, order, &length, races, blocked, &cycles))
			tries++;
		if (tries == TRIES)
			continue;
		snprintf(name, sizeof name, "%d.how", run);
		FILE *out = create(folder, number, name);
		write_script(p, order, length, blocked, out);
		fclose(out);
		snprintf(name, sizeof name, "%d.observed", run);
		out = create(folder, number, name);
		write_pairs(p, races, out);
		write_cycles(&cycles, out);
		fclose(out);
	}
}

static void write_possible(const struct program *p, int number, const char *folder)
{
	static pairs races;
	struct cycles cycles;
	if (!model_all(p, races, &cycles))
		return;
	FILE *out = create(folder, number, "possible");
	write_pairs(p, races, out);
	write_cycles(&cycles, out);
	fclose(out);
}

/* A program of which a run that ends was found. */
static void make(struct program *p)
{
	static pairs races;
	int order[STEPS], length;
	bool blocked[STEPS];
	struct cycles cycles;
	do
		while (!program_make(p))
			;
	while (!model_run(p, false, order, &length, races, blocked, &cycles));
}

int main(int argc, char **argv)
{
	static struct program programs[PROGRAMS];
	int count = argc == 4 ? (int)strtol(argv[2], NULL, 10) : 0, line;
	if (count < 1 || count > PROGRAMS) {
		fprintf(stderr, "usage: gen SEED COUNT FOLDER\n");
		return 2;
	}
	FILE *text = create(argv[3], -1, "programs.c");
	program_write_head(text, &line);
	for (int n = 0; n < count; n++) {
		struct program *p = &programs[n];
		set_seed((uint64_t)strtoul(argv[1], NULL, 10) + (unsigned)n);
		make(p);
		program_write(p, n, text, &line);
		write_runs(p, n, argv[3]);
		write_possible(p, n, argv[3]);
		FILE *out = create(argv[3], n, "features");
		fprintf(out, "%u\n", p->features);
		fclose(out);
	}
	program_write_main(programs, count, text);
	return fclose(text) != 0;
}
