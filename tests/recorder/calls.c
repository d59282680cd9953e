/*
 * Calls the functions of the recorder's table once each (recorder/intercept/call.h), with arguments that are valid, and
 * prints what they return and leave in memory. t_calls.sh compares that with a run without the recorder. What differs
 * from run to run by itself is not printed.
 */
#include "calls.h"

FILE *out;
char a[SIZE], b[SIZE];
wchar_t w[SIZE], v[SIZE];

void print(const char *format, ...)
{
	int saved = errno;
	va_list args;
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	errno = saved;
}

void memory(const void *p, size_t n)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < n; i++)
		hash = hash * 31 + ((const unsigned char *)p)[i];
	print(" %016llx", (unsigned long long)hash);
}

int main(int argc, char **argv)
{
	out = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!out)
		return 2;
	call_numbers();
	call_lists();
	call_times();
	call_texts();
	call_files();
	call_streams();
	call_names();
	call_systems();
	return fclose(out);
}
