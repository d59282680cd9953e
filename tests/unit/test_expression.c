/* What a line of source assigns to. */
#include "lib/report/declaration.h"
#include "lib/report/expression.h"
#include "lib/report/fortran.h"
#include "tests/unit/suite.h"

#include <string.h>

/* caret: the column is that of its '^' below the line; NULL: unknown. due: NULL: no answer. */
static const struct {
	const char *line, *caret, *due;
} lines[] = {
    {"\tit->size = 5;", "\t         ^", "it->size"},
    {"\tit->size = 5;", "\t^", "it->size"},
    {"  total += x[i];", "        ^", "total"},
    {"  a.b[i + 1].c++; d = 2;", "              ^", "a.b[i + 1].c"},
    {"  a.b[i + 1].c++; d = 2;", "  ^", "a.b[i + 1].c"},
    {"  a.b[i + 1].c++; d = 2;", "                  ^", "d"},
    {"  ++left;", "  ^", "left"},
    {"  if (--e->refs == 0)", "     ^", "e->refs"},
    {"  if (e->refs == 0)", "     ^", NULL},
    {"  *slot = 1;", "        ^", "*slot"},
    {"  *(int *)p = 1;", "            ^", "*p"},
    {"  *(struct s *)(void *)p = v;", NULL, "*p"},
    {"  y = (int)x;", "    ^", "y"},
    {"  x = y == z;", NULL, "x"},
    {"  x = 1; y = 2;", NULL, NULL},
    {"  puts(\"a = b\"); n = 1;", NULL, "n"},
    {"  use(x); // n = 1", NULL, NULL},
    {"  if (x == 1 && y <= 2)", NULL, NULL},
    {"  strcpy(to, from);", "  ^", NULL},
    {"  Pool::count -= 1;", "              ^", "Pool::count"},
    {"  f() = 1;", "      ^", NULL},
    {"short", "                    ^", NULL},
    {"", NULL, NULL},
    {"]]]] = 1;", "     ^", NULL},
    {"= 1;", "^", NULL},
};

START_TEST(the_variable_that_a_line_assigns_to)
{
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char name[EXPRESSION_MAX] = "";
		uint32_t column = lines[i].caret ? (uint32_t)strlen(lines[i].caret) : 0;
		bool found = expression_assigned(lines[i].line, column, name);
		ck_assert_msg(found == (lines[i].due != NULL), "%s: %s", lines[i].line, found ? name : "none");
		if (found)
			ck_assert_str_eq(name, lines[i].due);
	}
}
END_TEST

START_TEST(what_a_line_reads_or_copies)
{
	static const struct {
		const char *line, *caret, *member, *to, *from;
	} cases[] = {
	    {"  if (it && it->refs > 3)", "              ^", "it->refs", NULL, NULL},
	    {"  x = all.of[i]->time;", "               ^", "all.of[i]->time", NULL, NULL},
	    {"  x = a->b->c;", "       ^", "a->b", NULL, NULL},
	    {"  x = q.slots[i + 1];", "             ^", "q.slots[i + 1]", NULL, NULL},
	    {"  x = y + z;", "        ^", NULL, NULL, NULL},
	    {"  memcpy(data(it), from, n);", "  ^", NULL, "data(it)", "from"},
	    {"  memcpy(&q->items[f(a, b)], p + 1, n);", "  ^", NULL, NULL, "p + 1"},
	    {"  memset(q->items, 0, n);", "  ^", NULL, "q->items", NULL},
	    {"  mymemcpy(a, b, n);", "    ^", NULL, NULL, NULL},
	    {"  memcpy(a", "  ^", NULL, NULL, NULL},
	    {"  memcpy(\"a\", b, n);", "  ^", NULL, NULL, "b"},
	    {"", "^", NULL, NULL, NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char name[3][EXPRESSION_MAX];
		uint32_t column = (uint32_t)strlen(cases[i].caret);
		const char *due[3] = {cases[i].member, cases[i].to, cases[i].from};
		bool found[3] = {expression_member(cases[i].line, column, name[0]),
		                 expression_copied(cases[i].line, column, true, name[1]),
		                 expression_copied(cases[i].line, column, false, name[2])};
		for (int k = 0; k < 3; k++) {
			ck_assert_msg(found[k] == (due[k] != NULL), "%s, %d: %s", cases[i].line, k,
			              found[k] ? name[k] : "none");
			if (found[k])
				ck_assert_str_eq(name[k], due[k]);
		}
	}
}
END_TEST

START_TEST(of_several_arguments_the_one_that_is_called_a_lock)
{
	static const struct {
		const char *line, *due;
	} locks[] = {{"\tif (LOCK_MUTEX(rc, env, env->me_wmutex))", "env->me_wmutex"},
	             {"\tpthread_mutex_timedlock(&m, &until);", "m"},
	             {"\tspin_lock(&q->guard, flags);", "q->guard"},
	             {"  std::unique_lock<std::mutex> held(m, std::defer_lock);", "m"},
	             {"  std::scoped_lock both(a.mutex, b.mutex);", "a.mutex"}};
	char name[EXPRESSION_MAX];
	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
		ck_assert_msg(expression_locked(locks[i].line, name), "%s", locks[i].line);
		ck_assert_str_eq(name, locks[i].due);
	}
	ck_assert(!expression_locks_pointer("\tLOCK_MUTEX(rc, env, rmutex);"));
}
END_TEST

START_TEST(what_a_macro_is_given_a_pointer_to)
{
	char name[EXPRESSION_MAX];
	ck_assert(expression_macro("\tFLAG_ASSIGN(&ctx->stop_flag, 1);", 2, name));
	ck_assert_str_eq(name, "ctx->stop_flag");
	ck_assert(!expression_macro("\tFLAG_ASSIGN(ctx, 1);", 2, name));
	ck_assert(!expression_macro("\tassign(&ctx->stop_flag, 1);", 2, name));
	ck_assert(!expression_macro("\tFLAG_ASSIGN(&ctx", 2, name));
	ck_assert(!expression_macro("", 2, name));
}
END_TEST

START_TEST(the_lock_of_a_class_of_locks_is_named_by_its_owner)
{
	static const struct {
		const char *line, *function, *due;
	} calls[] = {
	    {"  impl->mutex_.Lock();", "leveldb::port::Mutex::Lock", "impl->mutex_"},
	    {"    this->mu_->Lock();", "Mutex::Lock()", "mu_"},
	    {"  MutexLock l(&mutex_);", "leveldb::MutexLock::MutexLock", "mutex_"},
	    {"  MutexLock(&mutex_);", "MutexLock::MutexLock(Mutex*)", "mutex_"},
	    {"  clock.tick();", "Clock::tick", NULL},
	    {"  Clock clock(&mutex_);", "Clock::Clock", "mutex_"},
	    {"  Table table(&mutex_);", "Table::Table", NULL},
	    {"  a.Lock(); b.Lock();", "Mutex::Lock", NULL},
	    {"  Lock();", "Mutex::Lock", NULL},
	    {"", "Mutex::Lock", NULL},
	};
	char name[EXPRESSION_MAX];
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		ck_assert_msg(expression_receiver(calls[i].line, calls[i].function, name) == (calls[i].due != NULL),
		              "%s", calls[i].line);
		if (calls[i].due)
			ck_assert_str_eq(name, calls[i].due);
	}
}
END_TEST

START_TEST(a_library_s_object_is_named_by_the_call_of_its_member)
{
	static const struct {
		const char *line, *function, *due;
	} calls[] = {
	    {"\tvalues.push_back(v);", "std::vector<>::push_back", "values"},
	    {"\tint last() { return values.empty() ? 0 : values.back(); }", "std::vector<>::back", "values"},
	    {"\tif (this->rows->count (key))", "std::map<>::count", "rows"},
	    {"\treturn ptr()->rep_.find(key) != ptr()->rep_.end();", "std::map<>::find", "rep_"},
	    {"\tcounts[\"k\" + name]++;", "std::map<>::operator[]", "counts"},
	    {"\tlabel += \"x\";", "std::string::operator+=", "label"},
	    {"\tall_->current = std::make_shared<T>();", "std::shared_ptr<>::operator=", "all_->current"},
	    {"\tfor (auto &v : pool.workers)", "std::vector<>::begin", "pool.workers"},
	    {"\ta.size() + b.size();", "std::vector<>::size", NULL},
	    {"\tx[i] = y[i];", "std::vector<>::operator[]", NULL},
	    {"\tfill(a.begin(), n);", "std::vector<>::resize", NULL},
	    {"\tsort(all);", "std::sort", NULL},
	    {"\tcall();", "std::function<>::operator()", NULL},
	};
	char name[EXPRESSION_MAX];
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		ck_assert_msg(expression_called_for(calls[i].line, calls[i].function, name) == (calls[i].due != NULL),
		              "%s", calls[i].line);
		if (calls[i].due)
			ck_assert_str_eq(name, calls[i].due);
	}
}
END_TEST

START_TEST(a_type_is_that_of_a_plain_declaration)
{
	static const struct {
		const char *line, *name, *due;
	} declared[] = {
	    {"static void pay(Account &from, const Account &to, long n)", "to", "Account"},
	    {"static void pay(struct account *from, struct account *to)", "from", "account"},
	    {"\tstruct item *it = find(key);", "it", "item"},
	    {"\tbank::Account const &to = all[1];", "to", "bank::Account"},
	    {"\tfor (item* it : items)", "it", "item"},
	    {"\tcache_t *const c{open()};", "c", "cache_t"},
	    {"\tauto &to = all[1];", "to", NULL},
	    {"\tstd::shared_ptr<Account> to = open();", "to", NULL},
	    {"\treturn to;", "to", NULL},
	    {"\tdelete to;", "to", NULL},
	    {"\tto->balance += n;", "to", NULL},
	    {"\tmove(from, to);", "to", NULL},
	    {"\tgoto to;", "to", NULL},
	    {"\tint to = 3;", "to", NULL},
	    {"\tx = a == to;", "to", NULL},
	    {"\tx = a * to;", "to", NULL},
	    {"\tAccount into = open();", "to", NULL},
	};
	char type[EXPRESSION_MAX];
	for (size_t i = 0; i < sizeof declared / sizeof *declared; i++) {
		ck_assert_msg(declaration_type(declared[i].line, declared[i].name, type) == (declared[i].due != NULL),
		              "%s: %s", declared[i].line, type);
		if (declared[i].due)
			ck_assert_str_eq(type, declared[i].due);
	}
}
END_TEST

START_TEST(an_atomic_is_named_by_its_operation)
{
	static const struct {
		const char *line, *due;
	} atomics[] = {
	    {"\tif (atomic_fetch_sub_explicit(&ch->recv_ftx, 1, memory_order_acquire) == 1)", "ch->recv_ftx"},
	    {"\twhile (!__atomic_load_n(&queue.ready, __ATOMIC_RELAXED))", "queue.ready"},
	    {"\t__sync_fetch_and_add(&count[i], 1);", "count[i]"},
	    {"\tnode->next.store(last, std::memory_order_relaxed);", "node->next"},
	    {"\tif (head_.compare_exchange_weak(old, next))", "head_"},
	    {"\tatomic_store(&go, atomic_load(&go) + 1);", "go"},
	    {"\tatomic_store(&go, atomic_load(&gone));", NULL},
	    {"\tstore(&go, 1);", NULL},
	    {"\tfile.loader(name);", NULL},
	    {"\tatomic_store(find(key), 1);", NULL},
	    {"", NULL},
	};
	char name[EXPRESSION_MAX];
	for (size_t i = 0; i < sizeof atomics / sizeof *atomics; i++) {
		ck_assert_msg(expression_atomic(atomics[i].line, name) == (atomics[i].due != NULL), "%s",
		              atomics[i].line);
		if (atomics[i].due)
			ck_assert_str_eq(name, atomics[i].due);
	}
}
END_TEST

START_TEST(a_pointer_to_a_lock_is_named_by_the_caller)
{
	static const struct {
		const char *line;
		bool pointer;
	} locks[] = {{"\tpthread_mutex_lock(m);", true},
	             {"\treturn pthread_mutex_lock(m);", false}, /* as a declaration: it keeps its name */
	             {"\tpthread_mutex_lock(&m);", false},
	             {"\tpthread_mutex_lock(q->m);", false},
	             {"  std::lock_guard<std::mutex> guard(m);", false},
	             {"  std::lock_guard lock(m);", false},
	             {"  go(m);", false}};
	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
		ck_assert_msg(expression_locks_pointer(locks[i].line) == locks[i].pointer, "%s", locks[i].line);
	char name[EXPRESSION_MAX];
	bool handed;
	ck_assert(expression_passed("  enter(&queue->mutex);", "enter", name, &handed));
	ck_assert_str_eq(name, "queue->mutex");
	ck_assert(!handed);
	ck_assert(expression_passed("  locks::enter(m, 1);", "locks::enter(mutex*, int)", name, &handed));
	ck_assert_str_eq(name, "m");
	ck_assert(handed);
	ck_assert(!expression_passed("  enter(&a); enter(&b);", "enter", name, &handed));
	ck_assert(!expression_passed("  reenter(&a);", "enter", name, &handed));
	ck_assert(!expression_passed("  enter(of(x));", "enter", name, &handed));
	ck_assert(!expression_passed("  enter", "enter", name, &handed));
	ck_assert(!expression_passed("", "", name, &handed));
}
END_TEST

START_TEST(a_pointer_that_is_no_parameter_is_not_handed_over)
{
	ck_assert_int_eq(expression_begins("void enter(mutex *m)", "enter", "m"), 1);
	ck_assert_int_eq(expression_begins("void queue::enter (mutex *m) {", "queue::enter(mutex*)", "m"), 1);
	ck_assert_int_eq(expression_begins("void *try_enter(unsigned hash) {", "try_enter", "m"), 0);
	ck_assert_int_eq(expression_begins("void *try_enter(unsigned mm) {", "try_enter", "m"), 0);
	ck_assert_int_eq(expression_begins("\tenter(m);", "enter", "m"), -1);
	ck_assert_int_eq(expression_begins("void enter(mutex *m);", "enter", "m"), -1);
	ck_assert_int_eq(expression_begins("void reenter(mutex *m)", "enter", "m"), -1);
	ck_assert_int_eq(expression_begins("", "enter", "m"), -1);
	/* Its parameters go on below. */
	ck_assert_int_eq(expression_begins("void enter(int how,", "enter", "m"), -1);
	ck_assert_int_eq(expression_begins("void enter(mutex *m,", "enter", "m"), 1);
	ck_assert_int_eq(expression_begins("x", "", "m"), -1);
}
END_TEST

START_TEST(what_a_line_calls_or_frees)
{
	char name[EXPRESSION_MAX];
	ck_assert(expression_called("  r = localtime(&t);", 7, name));
	ck_assert_str_eq(name, "localtime");
	ck_assert(expression_called("  r = localtime(&t);", 16, name)); /* as C++ has it */
	ck_assert_str_eq(name, "localtime");
	/* Of a macro, its arguments tell. */
	ck_assert(expression_called("KEPT(by_ctime, ctime(&zero), ctime_r(&zero, TEXT))", 1, name));
	ck_assert_str_eq(name, "ctime");
	ck_assert(!expression_called("EITHER(ctime(&t), asctime(&tm))", 1, name));
	ck_assert(expression_called("KEPT(by_x, USE(readdir(d)))", 1, name));
	ck_assert_str_eq(name, "readdir");
	ck_assert(!expression_called("KEPT(a, b)", 1, name));
	ck_assert(!expression_called("KEPT(a, ctime", 1, name) || !strcmp(name, "ctime"));
	ck_assert(!expression_called("  r = localtime(&t);", 8, name));
	ck_assert(!expression_called("  r = x + 1;", 7, name));
	ck_assert(!expression_called("", 1, name));
	static const char *const frees[][2] = {
	    {"\tfree(q->next);", "q->next"}, {"  delete [] items;", "items"}, {"  delete this->head;", "this->head"},
	    {"  free(of(x));", NULL},        {"  release(x);", NULL},         {"  deleted = 1;", NULL},
	    {"  delete a; delete b;", NULL}};
	for (size_t i = 0; i < sizeof frees / sizeof *frees; i++) {
		bool found = expression_freed(frees[i][0], name);
		ck_assert_msg(found == (frees[i][1] != NULL), "%s: %s", frees[i][0], found ? name : "none");
		if (found)
			ck_assert_str_eq(name, frees[i][1]);
	}
}
END_TEST

START_TEST(what_a_line_locks)
{
	static const char *const locks[][2] = {
	    {"\tpthread_mutex_lock(&b->m);", "b->m"},
	    {"  std::lock_guard<std::mutex> guard(queue.mutex_);", "queue.mutex_"},
	    {"  if (pthread_mutex_timedlock(&m[i], &until))", "m[i]"},
	    {"  omp_set_lock( & l );", "l"},
	    {"    if(pthread_mutex_lock(&(pool->lock)) != 0) {", "pool->lock"},
	    {"  pthread_mutex_lock((pthread_mutex_t *)m);", NULL},
	    {"  pthread_mutex_lock(&(of(x)));", NULL},
	    {"  pthread_mutex_lock(of(x));", NULL},
	    {"\tmutex_lock(&item_locks[h & mask(lock_bits)]);", "item_locks[h & mask(lock_bits)]"},
	    {"  lock(&a); lock(&b);", NULL},
	    {"void Mutex::Lock() { PthreadCall(\"lock\", pthread_mutex_lock(&mu_)); }", "mu_"},
	    {"  go();", NULL},
	    {"  lock", NULL},
	    {"", NULL}};
	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
		char name[EXPRESSION_MAX] = "";
		bool found = expression_locked(locks[i][0], name);
		ck_assert_msg(found == (locks[i][1] != NULL), "%s: %s", locks[i][0], found ? name : "none");
		if (found)
			ck_assert_str_eq(name, locks[i][1]);
	}
}
END_TEST

START_TEST(a_name_that_is_too_long_is_none)
{
	char line[3 * EXPRESSION_MAX], name[EXPRESSION_MAX];
	memset(line, 'x', sizeof line);
	memcpy(line + 2 * EXPRESSION_MAX, " = 1;", sizeof " = 1;");
	ck_assert(!expression_assigned(line, 0, name));
}
END_TEST

START_TEST(a_line_of_fortran_is_read_as_one_of_c)
{
	static const struct {
		const char *line, *due;
	} cases[] = {
	    {"    total = total + grid(i)", "total"},
	    {"  s%hits(mod(i, 8)) = 1 ! hits = 2", "s%hits(mod(i, 8))"},
	    {"  if (a /= b) n = 1", "n"},
	};
	char line[EXPRESSION_MAX], name[EXPRESSION_MAX];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(line, sizeof line, "%s", cases[i].line);
		fortran_to_c(line);
		ck_assert_msg(expression_assigned(line, 0, name), "%s", line);
		fortran_from_c(name);
		ck_assert_str_eq(name, cases[i].due);
	}
	ck_assert(fortran_is_source("/src/heat.f90") && fortran_is_source("OLD.F") && !fortran_is_source("heat.c"));
	ck_assert(!fortran_is_source("f") && !fortran_is_source(NULL));
}
END_TEST

SUITE(expression)
{
	Suite *s = suite_create("expression");
	TCase *t = tcase_create("lines");
	tcase_add_test(t, the_variable_that_a_line_assigns_to);
	tcase_add_test(t, what_a_line_reads_or_copies);
	tcase_add_test(t, of_several_arguments_the_one_that_is_called_a_lock);
	tcase_add_test(t, what_a_macro_is_given_a_pointer_to);
	tcase_add_test(t, the_lock_of_a_class_of_locks_is_named_by_its_owner);
	tcase_add_test(t, a_library_s_object_is_named_by_the_call_of_its_member);
	tcase_add_test(t, a_type_is_that_of_a_plain_declaration);
	tcase_add_test(t, an_atomic_is_named_by_its_operation);
	tcase_add_test(t, a_pointer_to_a_lock_is_named_by_the_caller);
	tcase_add_test(t, a_pointer_that_is_no_parameter_is_not_handed_over);
	tcase_add_test(t, what_a_line_calls_or_frees);
	tcase_add_test(t, what_a_line_locks);
	tcase_add_test(t, a_line_of_fortran_is_read_as_one_of_c);
	tcase_add_test(t, a_name_that_is_too_long_is_none);
	suite_add_tcase(s, t);
	return s;
}
