/* Source positions and variables: this test's own code and data, which the compiler has described to itself. */
#include "recorder/collector/debug.h"
#include "recorder/collector/resolve.h"
#include "tests/unit/suite.h"
#include "tracefmt/trace.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes this program look like one that calls the recorder's hooks; there is no such function, and nothing calls it. */
void __tsan_func_entry(void *) __attribute__((weak));
void (*volatile hook)(void *);

struct point {
	int x, y;
};
static struct {
	char tag;
	struct point corner[2][3];
	union {
		long whole;
		struct {
			int low, high;
		};
	};
	unsigned bits : 3, more : 20;
} volatile figure;
typedef struct point pixel;
volatile pixel shown_pixel;
static __thread volatile int own;

static struct modules modules;
static struct resolver *resolver;
static struct rt_error error;

static void setup(void)
{
	hook = __tsan_func_entry;
	ck_assert_int_eq(modules_read(&modules, getpid(), &error), RT_OK);
	ck_assert_int_eq(resolver_create(&modules, NULL, &resolver, &error), RT_OK);
}

static void teardown(void)
{
	resolver_free(resolver);
	modules_release(&modules);
}

/* ---- Positions ---- */

static __attribute__((noinline)) uint64_t here(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static int inner_line;
static inline __attribute__((always_inline)) uint64_t inner(void)
{
	inner_line = __LINE__ + 1;
	uint64_t pc = here();
	__asm__ volatile("");
	return pc;
}

static int middle_line;
static inline __attribute__((always_inline)) uint64_t middle(void)
{
	middle_line = __LINE__ + 1;
	uint64_t pc = inner();
	__asm__ volatile("");
	return pc;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(end);
	return s && strlen(s) >= n && !strcmp(s + strlen(s) - n, end);
}

START_TEST(test_a_return_address_is_resolved_to_the_line_of_the_call)
{
	struct rt_frame frames[RESOLVE_FRAMES_MAX];
	int line = __LINE__ + 1;
	uint64_t pc = here();
	ck_assert_uint_eq(resolver_frames(resolver, pc, frames), 1);
	ck_assert_str_eq(frames[0].function, __func__);
	ck_assert_uint_eq(frames[0].line, (unsigned)line);
	ck_assert(ends_with(frames[0].file, "/tests/unit/test_resolve.c"));
	ck_assert_ptr_null(strstr(frames[0].file, "/./"));
	ck_assert_str_eq(frames[0].module, "unit");
	ck_assert_uint_eq(frames[0].pc, pc);
}
END_TEST

START_TEST(test_inlined_calls_give_a_frame_each_with_the_line_of_the_call)
{
	struct rt_frame frames[RESOLVE_FRAMES_MAX];
	int line = __LINE__ + 1;
	uint64_t pc = middle();
	ck_assert_uint_eq(resolver_frames(resolver, pc, frames), 3);
	ck_assert_str_eq(frames[0].function, "inner");
	ck_assert_uint_eq(frames[0].line, (unsigned)inner_line);
	ck_assert_str_eq(frames[1].function, "middle");
	ck_assert_uint_eq(frames[1].line, (unsigned)middle_line);
	ck_assert_str_eq(frames[2].function, __func__);
	ck_assert_uint_eq(frames[2].line, (unsigned)line);
	ck_assert_ptr_eq(frames[1].file, frames[2].file);
}
END_TEST

START_TEST(test_a_function_of_a_library_is_named_by_its_symbol)
{
	struct rt_frame frames[RESOLVE_FRAMES_MAX];
	uint64_t pc = (uint64_t)(uintptr_t)a64l + 1;
	ck_assert_uint_eq(resolver_frames(resolver, pc, frames), 1);
	ck_assert_str_eq(frames[0].function, "a64l");
	ck_assert_ptr_null(frames[0].file);
	ck_assert(!strncmp(frames[0].module, "libc.so", 7));
}
END_TEST

/* A sample of the module's symbols, at even distances: libdwfl walks all of them for each address. */
static unsigned compare_symbols(struct debug_image *image, int every)
{
	unsigned compared = 0;
	for (int i = 1, n = dwfl_module_getsymtab(image->module); i < n; i++) {
		GElf_Sym symbol, found;
		GElf_Addr start;
		GElf_Off offset;
		if (!dwfl_module_getsym_info(image->module, i, &symbol, &start, NULL, NULL, NULL) ||
		    symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		const GElf_Addr at[] = {start, start + symbol.st_size / 2, start + symbol.st_size, start - 1};
		for (unsigned k = 0; k < sizeof at / sizeof *at; k++) {
			const char *name = symbol_places_name(&image->places, image->module, at[k]);
			if (i % every)
				continue;
			const char *other =
			    dwfl_module_addrinfo(image->module, at[k], &offset, &found, NULL, NULL, NULL);
			if (other && found.st_size && offset >= found.st_size)
				other = NULL;
			ck_assert_pstr_eq(name, other);
			compared++;
		}
	}
	return compared;
}

START_TEST(test_a_symbol_is_the_one_that_libdwfl_finds)
{
	enum { OF_PROGRAM = 20, OF_LIBRARIES = 100 };
	struct debug debug = {0};
	unsigned compared = 0;
	ck_assert_int_eq(debug_open(&debug, &modules, &error), RT_OK);
	for (size_t i = 0; i < debug.image_count; i++)
		compared += compare_symbols(&debug.images[i], i ? OF_LIBRARIES : OF_PROGRAM);
	ck_assert_uint_gt(compared, 400);
	debug_release(&debug);
}
END_TEST

/* A function without a size, as a linker leaves one that it has merged with another. */
enum { LABEL_SIZE = 4096 };
void test_resolve_label(void);
__asm__(".text\n.globl test_resolve_label\n.type test_resolve_label, @function\ntest_resolve_label:\n.skip 4096, "
        "0x90\nret\n"
        ".globl test_resolve_behind\n.type test_resolve_behind, @function\ntest_resolve_behind:\nret\n"
        ".size test_resolve_behind, 1\n");

START_TEST(test_a_symbol_without_a_size_is_asked_of_libdwfl_once)
{
	struct debug debug = {0};
	uint64_t start = (uint64_t)(uintptr_t)test_resolve_label;
	ck_assert_int_eq(debug_open(&debug, &modules, &error), RT_OK);
	struct debug_image *image = debug_image_at(&debug, start);
	for (uint64_t i = 0; i < LABEL_SIZE; i++)
		ck_assert_pstr_eq(symbol_places_name(&image->places, image->module, start + i), "test_resolve_label");
	ck_assert_uint_eq(image->places.walks, 1);
	ck_assert_pstr_eq(symbol_places_name(&image->places, image->module, start + LABEL_SIZE + 1),
	                  "test_resolve_behind");
	debug_release(&debug);
}
END_TEST

START_TEST(test_an_address_outside_all_modules_has_no_frames)
{
	struct rt_frame frames[RESOLVE_FRAMES_MAX];
	int local;
	ck_assert_uint_eq(resolver_frames(resolver, 0, frames), 0);
	ck_assert_uint_eq(resolver_frames(resolver, 1, frames), 0);
	ck_assert_uint_eq(resolver_frames(resolver, (uint64_t)(uintptr_t)&local, frames), 0);
	ck_assert_uint_eq(resolver_frames(resolver, UINT64_MAX, frames), 0);
}
END_TEST

START_TEST(test_a_module_whose_file_is_gone_is_left_out)
{
	char path[] = "/nowhere/gone";
	struct module gone = {0x1000, 0x2000, path, false};
	struct modules list = {.items = &gone, .count = 1};
	struct resolver *r;
	struct rt_frame frames[RESOLVE_FRAMES_MAX];
	ck_assert_int_eq(resolver_create(&list, NULL, &r, &error), RT_OK);
	ck_assert_uint_eq(resolver_frames(r, 0x1800, frames), 0);
	resolver_free(r);
}
END_TEST

/* ---- Variables ---- */

static char folder[64], path[96];

static struct rt_trace *written_trace(void)
{
	struct rt_writer *w;
	struct rt_writer_options options = {0};
	struct rt_writer_result result = {0};
	struct rt_trace *trace;
	strcpy(folder, "/tmp/test-resolve-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/t.zst", folder);
	ck_assert_int_eq(rt_writer_create(path, &options, &w, &error), RT_OK);
	ck_assert_msg(resolver_write(resolver, w, false, &error) == RT_OK, "%s", error.message);
	ck_assert_int_eq(rt_writer_finish(w, &result, &error), RT_OK);
	ck_assert_int_eq(rt_trace_open(path, &trace, &error), RT_OK);
	unlink(path);
	rmdir(folder);
	return trace;
}

static void check_name(const struct rt_trace *trace, const volatile void *p, const char *name, size_t size)
{
	struct rt_variable v;
	ck_assert_msg(rt_trace_variable(trace, (uint64_t)(uintptr_t)p, &v), "%s", name);
	ck_assert_str_eq(v.name, name);
	ck_assert_uint_eq(v.size, size);
	ck_assert_uint_eq(v.address, (uint64_t)(uintptr_t)p);
	ck_assert(ends_with(v.file, "/tests/unit/test_resolve.c"));
	ck_assert_uint_gt(v.line, 0);
}

START_TEST(test_variables_are_named_down_to_members_and_elements)
{
	static volatile int calls;
	calls++;
	struct rt_trace *trace = written_trace();
	figure.bits = 1;
	check_name(trace, &figure.tag, "figure.tag", 1);
	check_name(trace, &figure.corner[1][2].y, "figure.corner[1][2].y", sizeof(int));
	check_name(trace, &figure.whole, "figure.whole", sizeof(long));
	check_name(trace, &shown_pixel.y, "shown_pixel.y", sizeof(int));
	check_name(trace, &hook, "hook", sizeof hook);
	rt_trace_free(trace);
}
END_TEST

START_TEST(test_a_static_variable_of_a_function_has_the_functions_name_before_it)
{
	static volatile int calls;
	calls++;
	struct rt_trace *trace = written_trace();
	check_name(trace, &calls, "test_a_static_variable_of_a_function_has_the_functions_name_before_it_fn::calls",
	           sizeof calls);
	rt_trace_free(trace);
}
END_TEST

START_TEST(test_thread_local_variables_have_no_fixed_address)
{
	struct rt_variable v;
	struct rt_trace *trace = written_trace();
	own = 1;
	ck_assert(!rt_trace_variable(trace, (uint64_t)(uintptr_t)&own, &v));
	rt_trace_free(trace);
}
END_TEST

START_TEST(test_a_librarys_objects_are_named_by_their_symbols)
{
	struct rt_variable v;
	struct rt_trace *trace = written_trace();
	ck_assert(rt_trace_variable(trace, (uint64_t)(uintptr_t)&stdout, &v));
	ck_assert(!strncmp(v.name, "stdout", 6));
	rt_trace_free(trace);
}
END_TEST

/* ---- Maps ---- */

START_TEST(test_modules_are_runs_of_mappings_of_one_file)
{
	char text[] = "1000-2000 r--p 00000000 08:01 1 /bin/app\n"
	              "2000-3000 r-xp 00001000 08:01 1 /bin/app\n"
	              "3000-4000 rw-p 00000000 00:00 0 \n"
	              "5000-6000 rw-p 00000000 00:00 0 [heap]\n"
	              "7000-8000 r--p 00000000 08:01 2 /lib/with space.so\n"
	              "8000-9000 rw-p 00001000 08:01 2 /lib/with space.so (deleted)\n"
	              "a000-b000 rw-p 00003000 08:01 3 /data\n"
	              "damaged line\n"
	              "c000-d000 r--p 00000000 08:01 1 /bin/app";
	struct modules m = {0};
	/* Read twice: what is known is not added again. */
	for (int i = 0; i < 2; i++) {
		FILE *f = fmemopen(text, strlen(text), "r");
		ck_assert_int_eq(modules_parse(&m, f, &error), RT_OK);
		fclose(f);
	}
	ck_assert_uint_eq(m.count, 3);
	ck_assert_str_eq(m.items[0].path, "/bin/app");
	ck_assert_uint_eq(m.items[0].start, 0x1000);
	ck_assert_uint_eq(m.items[0].end, 0x3000);
	ck_assert_str_eq(m.items[1].path, "/lib/with space.so");
	ck_assert_uint_eq(m.items[1].end, 0x9000);
	ck_assert_uint_eq(m.items[2].start, 0xc000);
	modules_release(&m);
}
END_TEST

SUITE(resolve)
{
	Suite *s = suite_create("resolve");
	TCase *positions = tcase_create("positions");
	tcase_add_checked_fixture(positions, setup, teardown);
	tcase_add_test(positions, test_a_return_address_is_resolved_to_the_line_of_the_call);
	tcase_add_test(positions, test_inlined_calls_give_a_frame_each_with_the_line_of_the_call);
	tcase_add_test(positions, test_a_function_of_a_library_is_named_by_its_symbol);
	tcase_add_test(positions, test_a_symbol_is_the_one_that_libdwfl_finds);
	tcase_add_test(positions, test_a_symbol_without_a_size_is_asked_of_libdwfl_once);
	tcase_add_test(positions, test_an_address_outside_all_modules_has_no_frames);
	tcase_add_test(positions, test_a_module_whose_file_is_gone_is_left_out);
	suite_add_tcase(s, positions);
	TCase *variables = tcase_create("variables");
	tcase_add_checked_fixture(variables, setup, teardown);
	tcase_add_test(variables, test_variables_are_named_down_to_members_and_elements);
	tcase_add_test(variables, test_a_static_variable_of_a_function_has_the_functions_name_before_it);
	tcase_add_test(variables, test_thread_local_variables_have_no_fixed_address);
	tcase_add_test(variables, test_a_librarys_objects_are_named_by_their_symbols);
	suite_add_tcase(s, variables);
	TCase *maps = tcase_create("maps");
	tcase_add_test(maps, test_modules_are_runs_of_mappings_of_one_file);
	suite_add_tcase(s, maps);
	return s;
}
