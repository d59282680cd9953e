/* Locations as text; see location.h. */
#include "tracefmt/location.h"

#include <string.h>

/* Cuts ":NUMBER" off the end of text[0..*length) and returns the number; 0: there is none. */
static uint32_t cut_number(const char *text, size_t *length)
{
	size_t digits = *length;
	while (digits && text[digits - 1] >= '0' && text[digits - 1] <= '9')
		digits--;
	if (digits == *length || digits < 2 || text[digits - 1] != ':')
		return 0;
	uint64_t number = 0;
	for (size_t i = digits; i < *length && number <= UINT32_MAX; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	if (number == 0 || number > UINT32_MAX)
		return 0;
	*length = digits - 1;
	return (uint32_t)number;
}

void rt_location_parse(const char *text, size_t length, char *file, struct rt_frame *frame)
{
	frame->text = text;
	size_t n = length;
	uint32_t last = cut_number(text, &n), before = last ? cut_number(text, &n) : 0;
	if (last) {
		memcpy(file, text, n);
		file[n] = '\0';
		frame->file = file;
		frame->line = before ? before : last;
		frame->column = before ? last : 0;
		return;
	}
	uint64_t line = 0;
	for (size_t i = 0; i < length && line <= UINT32_MAX; i++) {
		if (text[i] < '0' || text[i] > '9') {
			frame->function = text;
			return;
		}
		line = line * 10 + (uint64_t)(text[i] - '0');
	}
	frame->line = line <= UINT32_MAX ? (uint32_t)line : 0;
}
