/* What reports are written with: JSON, pieces that come again, source lines, text from any source. */
#include "lib/report/json_writer.h"
#include "lib/report/pieces.h"
#include "lib/report/utf8.h"
#include "lib/trace/snippet.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What write makes of arg; the caller frees it. */
static char *written(void (*write)(struct json_writer *w, const void *arg), const void *arg)
{
	char *text = NULL;
	size_t size;
	struct json_writer w = {.out = open_memstream(&text, &size)};
	write(&w, arg);
	fclose(w.out);
	ck_assert(!w.failed);
	return text;
}

static void put_character(char c, FILE *out)
{
	putc(c, out);
}

static char *printable_of(const char *text)
{
	char *printable = NULL;
	size_t size;
	FILE *out = open_memstream(&printable, &size);
	utf8_print(text, put_character, out);
	fclose(out);
	return printable;
}

static void write_all(struct json_writer *w, const void *arg)
{
	char ascii[127] = ""; /* jansson writes DEL as it is */
	for (int c = 1; c < 127; c++)
		ascii[c - 1] = (char)c;
	jw_array(w, NULL);
	jw_object(w, NULL);
	jw_object_end(w);
	jw_object(w, NULL);
	jw_text(w, "text", arg);
	jw_text(w, "ascii", ascii);
	jw_text(w, "none", NULL);
	jw_text_or_null(w, "empty", "");
	jw_array(w, "numbers");
	jw_number(w, NULL, 0);
	jw_number(w, NULL, UINT64_MAX);
	jw_number_or_null(w, NULL, 0);
	jw_number_or_null(w, NULL, 7);
	jw_integer(w, NULL, -1);
	jw_hex(w, NULL, 0xabcdef);
	jw_real(w, NULL, 0.57);
	jw_real(w, NULL, 0.57 * 100);
	jw_bool(w, NULL, true);
	jw_bool(w, NULL, false);
	jw_array_end(w);
	jw_array(w, "empty array");
	jw_array_end(w);
	jw_object_end(w);
	jw_array_end(w);
}

START_TEST(json_is_what_jansson_reads_and_writes)
{
	char *text = written(write_all, "caf\xc3\xa9 \xf0\x9f\x98\x80");
	json_error_t error;
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(json != NULL, "%s in %s", error.text, text);
	char *again = json_dumps(json, JSON_REAL_PRECISION(4));
	ck_assert_str_eq(text, again);
	json_t *o = json_array_get(json, 1), *numbers = json_object_get(o, "numbers");
	ck_assert_str_eq(json_string_value(json_object_get(o, "text")), "caf\xc3\xa9 \xf0\x9f\x98\x80");
	ck_assert_uint_eq(strlen(json_string_value(json_object_get(o, "ascii"))), 126);
	ck_assert(json_is_null(json_object_get(o, "none")) && json_is_null(json_object_get(o, "empty")));
	ck_assert_int_eq(json_integer_value(json_array_get(numbers, 1)), INT64_MAX);
	ck_assert(json_is_null(json_array_get(numbers, 2)));
	ck_assert_int_eq(json_integer_value(json_array_get(numbers, 4)), -1);
	ck_assert_str_eq(json_string_value(json_array_get(numbers, 5)), "0xabcdef");
	ck_assert_double_eq(json_real_value(json_array_get(numbers, 7)), 57.0);
	json_decref(json);
	free(again);
	free(text);
}
END_TEST

static void write_text(struct json_writer *w, const void *arg)
{
	jw_text(w, NULL, arg);
}

START_TEST(text_is_made_valid_or_printable_character_by_character)
{
	/* In JSON control characters are escapes of their own. */
	static const struct {
		const char *in, *json, *printable;
	} cases[] = {
	    {"caf\xc3\xa9", "\"caf\xc3\xa9\"", "caf\xc3\xa9"},
	    {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"", "\xef\xbf\xbd\xef\xbf\xbd"},
	    {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
	     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	    {"a\tb\n", "\"a\\tb\\n\"", "a b\\x0a"},
	    {"\x7f", "\"\\u007F\"", "\\x7f"},
	    {"\xc2\x9b", "\"\\u009B\"", "\\x9b"},
	    {"\xe2\x80\xae", "\"\\u202E\"", "\\u202e"},
	    {"\xf3\xa0\x80\x81", "\"\\uDB40\\uDC01\"", "\\U000e0001"},
	    {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"", "\xef\xbf\xbd\xef\xbf\xbd"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *json = written(write_text, cases[i].in), *printable = printable_of(cases[i].in);
		ck_assert_str_eq(json, cases[i].json);
		ck_assert_str_eq(printable, cases[i].printable);
		free(json);
		free(printable);
	}
}
END_TEST

static void make_piece(FILE *out, uint64_t pc, const void *arg)
{
	int *made = *(int *const *)arg;
	++*made;
	fprintf(out, "<%d>", (int)pc);
}

START_TEST(a_piece_is_made_once_and_written_each_time)
{
	int made = 0, *count = &made;
	struct pieces p = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (uint64_t i = 0; i < 6; i++)
		ck_assert(pieces_write(&p, i % 3, make_piece, &count, out));
	fclose(out);
	ck_assert_str_eq(text, "<0><1><2><0><1><2>");
	ck_assert_int_eq(made, 3);
	pieces_release(&p);
	free(text);
}
END_TEST

START_TEST(any_line_of_a_long_file_is_found)
{
	enum { LINES = 200 };
	char path[] = "/tmp/racetrace-test-XXXXXX", want[32];
	char *root = realpath("/tmp", NULL);
	struct snippets s = {.root = root};
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	for (int i = 1; i <= LINES; i++)
		fprintf(f, "\t  line %*d%s", i % 7 + 1, i, i < LINES ? " \r\n" : "");
	fclose(f);
	for (int i = LINES; i > 0; i -= 3) {
		char *line = snippet(&s, path, (uint32_t)i);
		snprintf(want, sizeof want, "line %*d", i % 7 + 1, i);
		ck_assert_str_eq(line, want);
		free(line);
	}
	ck_assert_ptr_null(snippet(&s, path, 0));
	ck_assert_ptr_null(snippet(&s, path, LINES + 1));
	ck_assert_ptr_null(snippet(&s, path, UINT32_MAX));
	ck_assert_ptr_null(snippet(&s, "/tmp", 1));
	ck_assert_ptr_null(snippet(&s, NULL, 1));
	unlink(path);
	ck_assert_ptr_null(snippet(&s, path, 1));
	snippets_release(&s);
	free(root);
}
END_TEST

/* Of a line of more than a screen's width, only blanks are before what is shown: nothing is said to be left out. */
START_TEST(indentation_is_not_part_of_a_long_line)
{
	enum { INDENT = 80, LENGTH = 110 };
	char path[] = "/tmp/racetrace-test-XXXXXX";
	char *root = realpath("/tmp", NULL);
	struct snippets s = {.root = root};
	FILE *f = fdopen(mkstemp(path), "w");
	fprintf(f, "%*s", INDENT, "");
	for (int i = 0; i < LENGTH; i++)
		fputc('a' + i % 26, f);
	fclose(f);
	char *start = snippet_around(&s, path, 1, INDENT + 20), *end = snippet_around(&s, path, 1, INDENT + 100);
	ck_assert_int_eq(strncmp(start, "abc", 3), 0);
	ck_assert_ptr_nonnull(end);
	ck_assert_int_ne(end[0], ' ');
	free(start);
	free(end);
	unlink(path);
	snippets_release(&s);
	free(root);
}
END_TEST

SUITE(writing)
{
	Suite *s = suite_create("writing");
	TCase *c = tcase_create("what reports are written with");
	tcase_add_test(c, json_is_what_jansson_reads_and_writes);
	tcase_add_test(c, text_is_made_valid_or_printable_character_by_character);
	tcase_add_test(c, a_piece_is_made_once_and_written_each_time);
	tcase_add_test(c, any_line_of_a_long_file_is_found);
	tcase_add_test(c, indentation_is_not_part_of_a_long_line);
	suite_add_tcase(s, c);
	return s;
}
