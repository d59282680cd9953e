/* An array whose content was moved into a file is read, written and freed as before. */
#include "lib/base/spill.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 3 << 20, SMALL = 1 << 16 };

/* An array of that many bytes, each known by its place. */
static unsigned char *make(size_t bytes)
{
	unsigned char *array = malloc(bytes);
	ck_assert_ptr_nonnull(array);
	for (size_t i = 0; i < bytes; i++)
		array[i] = (unsigned char)(i * 7 + i / 4096);
	return array;
}

static void assert_content(const unsigned char *array, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (array[i] != (unsigned char)(i * 7 + i / 4096))
			ck_abort_msg("byte %zu is another one", i);
}

/* True if the byte is in a file without a name. */
static bool is_in_file(const void *byte)
{
	char line[512];
	bool is = false;
	FILE *maps = fopen("/proc/self/maps", "r");
	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof line, maps)) {
		uintptr_t first, end;
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &end) == 2 && (uintptr_t)byte >= first &&
		    (uintptr_t)byte < end)
			is = strstr(line, "(deleted)") != NULL;
	}
	fclose(maps);
	return is;
}

START_TEST(a_large_array_is_as_before_in_its_file)
{
	unsigned char *array = make(LARGE);
	int fd = open("/var/tmp", O_RDWR | O_TMPFILE, 0600); /* not on every file system */
	ck_assert_int_eq(unsetenv("TMPDIR"), 0);
	spill(array, LARGE);
	ck_assert(is_in_file(array + LARGE / 2) == (fd >= 0));
	assert_content(array, LARGE);
	memset(array, 1, LARGE);
	ck_assert_uint_eq(array[LARGE - 1] + array[0], 2);
	free(array);
	if (fd >= 0)
		close(fd);
}
END_TEST

START_TEST(an_array_stays_where_no_file_can_be_made)
{
	unsigned char *array = make(LARGE);
	ck_assert_int_eq(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
	spill(array, LARGE);
	ck_assert(!is_in_file(array + LARGE / 2));
	assert_content(array, LARGE);
	free(array);
}
END_TEST

START_TEST(a_small_array_and_none_stay)
{
	unsigned char *array = make(SMALL);
	ck_assert_int_eq(unsetenv("TMPDIR"), 0);
	spill(array, SMALL);
	ck_assert(!is_in_file(array + SMALL / 2));
	assert_content(array, SMALL);
	free(array);
	spill(NULL, LARGE);
}
END_TEST

SUITE(spill)
{
	Suite *s = suite_create("spill");
	TCase *c = tcase_create("spill");
	tcase_add_test(c, a_large_array_is_as_before_in_its_file);
	tcase_add_test(c, an_array_stays_where_no_file_can_be_made);
	tcase_add_test(c, a_small_array_and_none_stay);
	suite_add_tcase(s, c);
	return s;
}
