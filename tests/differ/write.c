/*
 * A program as C. Its operations take their turns as the argument HOW says: "3,0,1e,-1": the operation with id 0 comes
 * fourth, ...; e: the turn ends before the operation, which may block; -1: never. "f7": all run freely, with pauses by
 * that seed. What hands the turns over is not instrumented and orders nothing in the trace.
 */
#include "tests/differ/program.h"

#include <string.h>

static const char *const head =
    "#include <pthread.h>\n"
    "#include <semaphore.h>\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <unistd.h>\n"
    "#define HIDDEN __attribute__((no_sanitize(\"thread\"), noinline)) static\n"
    "static struct { long a; int b[2]; short c[4]; char d[40]; } g __attribute__((aligned(64)));\n"
    "static int atomics[16] __attribute__((aligned(64))), flags[16] __attribute__((aligned(64)));\n"
    "static pthread_mutex_t mutex[4];\n"
    "static pthread_spinlock_t spin;\n"
    "static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;\n"
    "static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;\n"
    "static pthread_barrier_t barrier;\n"
    "static pthread_once_t once = PTHREAD_ONCE_INIT;\n"
    "static pthread_t threads[8];\n"
    "static sem_t semaphore[2];\n"
    "static int pipes[2][2], free_run, turns[200];\n"
    "static char *blocks[3], early[200];\n"
    "static volatile int turn;\n"
    "static volatile char gone[8];\n"
    "static volatile long sunk;\n"
    "static unsigned salt;\n"
    "HIDDEN char *block(int i) { return blocks[i]; }\n"
    "HIDDEN void sink(long x) { sunk = x; }\n"
    "HIDDEN void one(long x) { if (x != 1) _exit(99); }\n"
    "HIDDEN size_t length(int n) { return (size_t)n; }\n"
    "HIDDEN const char *text(int n) { return \"abcdefghijklmnop\" + 16 - n; }\n"
    "HIDDEN void nap(void) { usleep(50); }\n"
    "HIDDEN void end(int t) { gone[t] = 1; }\n"
    "HIDDEN void take(int k) {\n"
    "	unsigned h = (salt + (unsigned)k) * 2654435761u;\n"
    "	__asm__ volatile(\"\" ::: \"memory\");\n"
    "	h = (h ^ h >> 15) * 2246822519u;\n"
    "	if (free_run && (h ^ h >> 13) % 3 == 0) usleep(h >> 8 & 255);\n"
    "	while (!free_run && turn != turns[k]) usleep(30);\n"
    "	if (early[k]) turn++;\n"
    "}\n"
    "HIDDEN void give(int k) {\n"
    "	__asm__ volatile(\"\" ::: \"memory\");\n"
    "	if (!free_run && !early[k]) turn++;\n"
    "}\n";

static const char *const tail =
    "HIDDEN void setup(int parties, const char *how) {\n"
    "	pthread_mutexattr_t recursive;\n"
    "	pthread_mutexattr_init(&recursive);\n"
    "	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);\n"
    "	for (int i = 0; i < 4; i++) pthread_mutex_init(&mutex[i], i == 2 ? &recursive : NULL);\n"
    "	pthread_spin_init(&spin, 0);\n"
    "	pthread_barrier_init(&barrier, NULL, parties ? (unsigned)parties : 1);\n"
    "	for (int i = 0; i < 2; i++) if (sem_init(&semaphore[i], 0, 0) || pipe(pipes[i])) _exit(97);\n"
    "	blocks[1] = calloc(1, 128);\n"
    "	blocks[2] = calloc(1, 192);\n"
    "	if (*how == 'f') { free_run = 1; salt = (unsigned)atoi(how + 1); return; }\n"
    "	for (int k = 0; *how; k++) {\n"
    "		char *rest;\n"
    "		turns[k] = (int)strtol(how, &rest, 10);\n"
    "		if (*rest == 'e') { early[k] = 1; rest++; }\n"
    "		how = *rest ? rest + 1 : rest;\n"
    "	}\n"
    "}\n"
    "HIDDEN void wait_all(int n) { for (int t = 0; t < n; t++) while (!gone[t]) usleep(50); }\n"
    "int main(int argc, char **argv) {\n"
    "	if (argc != 4) return 2;\n"
    "	alarm((unsigned)atoi(argv[3]));\n"
    "	setup(parties[atoi(argv[1])], argv[2]);\n"
    "	mains[atoi(argv[1])](NULL);\n"
    "	wait_all(counts[atoi(argv[1])]);\n"
    "	puts(\"ok\");\n"
    "	return 0;\n"
    "}\n";

void program_write_head(FILE *out, int *line)
{
	fputs(head, out);
	*line = 1;
	for (const char *c = head; *c; c++)
		*line += *c == '\n';
}

void program_write_main(const struct program *programs, int count, FILE *out)
{
	fprintf(out, "static void *(*const mains[])(void *) = {");
	for (int n = 0; n < count; n++)
		fprintf(out, "p%d_t0, ", n);
	fprintf(out, "};\nstatic const int counts[] = {");
	for (int n = 0; n < count; n++)
		fprintf(out, "%d, ", programs[n].threads);
	fprintf(out, "}, parties[] = {");
	for (int n = 0; n < count; n++)
		fprintf(out, "%d, ", programs[n].parties);
	fprintf(out, "};\n%s", tail);
}

static const char *type_of(int size)
{
	return size == 1 ? "char" : size == 2 ? "short" : size == 4 ? "int" : "long";
}

static void write_place(const struct span *s, FILE *out)
{
	static const char *const areas[] = {"(char *)&g", "block(1)", "block(2)", "(char *)atomics", "(char *)flags"};
	fprintf(out, "%s + %d", areas[s->area], s->offset);
}

static void write_access(const struct op *o, FILE *out)
{
	const struct span *s = &o->memory;
	if (o->kind == READ || o->kind == WRITE) {
		fprintf(out, o->kind == READ ? "sink(*(%s *)(" : "*(%s *)(", type_of(s->size));
		write_place(s, out);
		if (o->kind == READ)
			fprintf(out, "));");
		else
			fprintf(out, ") = %d;", o->id);
		return;
	}
	fprintf(out, o->kind == MEMSET ? "memset(" : o->kind == MEMCPY ? "memcpy(" : "strcpy(");
	write_place(s, out);
	fprintf(out, ", ");
	if (o->kind == MEMSET)
		fprintf(out, "%d, length(%d));", o->id, s->size);
	else if (o->kind == STRCPY)
		fprintf(out, "text(%d));", s->size - 1);
	else {
		write_place(&o->from, out);
		fprintf(out, ", length(%d));", s->size);
	}
}

static const char *order_name(int order)
{
	return order == __ATOMIC_RELAXED   ? "__ATOMIC_RELAXED"
	       : order == __ATOMIC_ACQUIRE ? "__ATOMIC_ACQUIRE"
	       : order == __ATOMIC_RELEASE ? "__ATOMIC_RELEASE"
	       : order == __ATOMIC_ACQ_REL ? "__ATOMIC_ACQ_REL"
	                                   : "__ATOMIC_SEQ_CST";
}

static void write_atomic(const struct op *o, FILE *out)
{
	const char *order = order_name(o->order);
	switch ((int)o->kind) {
	case LOAD:
		fprintf(out, "r = __atomic_load_n(&atomics[%d], %s);", o->a, order);
		break;
	case POLL_ATOMIC:
		fprintf(out, "while (!__atomic_load_n(&atomics[%d], %s)) nap();", o->a, order);
		break;
	case STORE:
		fprintf(out, "__atomic_store_n(&atomics[%d], %d, %s);", o->a, o->b, order);
		break;
	case EXCHANGE:
		fprintf(out, "r = __atomic_exchange_n(&atomics[%d], %d, %s);", o->a, o->b, order);
		break;
	case ADD:
		fprintf(out, "r = __atomic_fetch_add(&atomics[%d], 1, %s);", o->a, order);
		break;
	case COMPARE:
		fprintf(out, "{ int old = 0; r = __atomic_compare_exchange_n(&atomics[%d], &old, %d, 0, %s, %s); }",
		        o->a, o->b, order, order_name(o->fail_order));
		break;
	default:
		fprintf(out, "__atomic_thread_fence(%s);", order);
	}
}

static void write_call(const struct op *o, int number, FILE *out)
{
	switch ((int)o->kind) {
	case FREE:
		fprintf(out, "free(block(2));");
		break;
	case LOCK:
	case UNLOCK:
		if (o->a == SPIN)
			fprintf(out, "pthread_spin_%s(&spin);", o->kind == LOCK ? "lock" : "unlock");
		else
			fprintf(out, "pthread_mutex_%s(&mutex[%d]);", o->kind == LOCK ? "lock" : "unlock", o->a);
		break;
	case TRY:
		fprintf(out, "r = pthread_mutex_trylock(&mutex[%d]) != 0;", o->a);
		break;
	case RDLOCK:
		fprintf(out, "pthread_rwlock_rdlock(&rwlock);");
		break;
	case WRLOCK:
		fprintf(out, "pthread_rwlock_wrlock(&rwlock);");
		break;
	case RWUNLOCK:
		fprintf(out, "pthread_rwlock_unlock(&rwlock);");
		break;
	case POST:
		fprintf(out, "sem_post(&semaphore[%d]);", o->a);
		break;
	case SEM_WAIT:
		fprintf(out, "while (sem_wait(&semaphore[%d])) ;", o->a);
		break;
	case ARRIVE:
		fprintf(out, "pthread_barrier_wait(&barrier);");
		break;
	case ONCE:
		fprintf(out, "pthread_once(&once, once%d);", number);
		break;
	case SET_FLAG:
		fprintf(out, "flags[%d] = 1;", o->a);
		break;
	case READ_FLAG:
		fprintf(out, "r = flags[%d];", o->a);
		break;
	case POLL_FLAG:
		fprintf(out, "while (!flags[%d]) nap();", o->a);
		break;
	case SIGNAL:
		fprintf(out, "pthread_cond_signal(&condition);");
		break;
	case WAIT_BEGIN:
		fprintf(out, "pthread_cond_wait(&condition, &mutex[0]);");
		break;
	case PIPE_WRITE:
		fprintf(out, "one(write(pipes[%d][1], \"x\", 1));", o->a);
		break;
	case PIPE_READ:
		fprintf(out, "{ char c; one(read(pipes[%d][0], &c, 1)); }", o->a);
		break;
	case CREATE:
		fprintf(out, "pthread_create(&threads[%d], NULL, p%d_t%d, NULL);", o->a, number, o->a);
		break;
	case JOIN:
		fprintf(out, "pthread_join(threads[%d], NULL);", o->a);
		break;
	default:
		break; /* LEAVE and WAIT_END are the ends of calls */
	}
}

static void write_op(const struct op *o, int number, FILE *out)
{
	if (o->kind == IF || o->kind == END_IF) {
		fprintf(out, o->kind == IF ? "	if (r == %d) {\n" : "	}\n", o->a);
		return;
	}
	fprintf(out, "	take(%d); ", o->id);
	if (o->kind <= STRCPY)
		write_access(o, out);
	else if (o->kind >= LOAD && o->kind <= POLL_ATOMIC)
		write_atomic(o, out);
	else
		write_call(o, number, out);
	fprintf(out, " give(%d);\n", o->id);
}

void program_write(struct program *p, int number, FILE *out, int *line)
{
	int id = 0;
	p->once_line = (*line)++;
	fprintf(out, "static void once%d(void) { *(int *)((char *)&g + %d) = 7; }\n", number, p->once.offset);
	for (int t = p->threads - 1; t >= 0; t--) {
		fprintf(out, "static void *p%d_t%d(void *z) { int r = 0; (void)r;\n", number, t);
		++*line;
		for (int i = 0; i < p->count[t]; i++) {
			struct op *o = &p->ops[t][i];
			o->id = id++;
			o->line = *line - (o->kind == WAIT_END); /* the same call as the one before */
			write_op(o, number, out);
			++*line;
		}
		fprintf(out, "	end(%d); return z; }\n", t);
		++*line;
	}
}
