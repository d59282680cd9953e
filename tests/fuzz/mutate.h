/*
 * Mutations that keep a trace of text a trace: lines (events) are dropped, repeated, moved and swapped; a word of one
 * takes the place of a word of another; an operation becomes another one; events are made up. JSON lines and STD alike.
 */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "tracefmt/event.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

struct mutate_text {
	const char *at;
	size_t length;
};
/* A text that is being written; what does not fit is left out, line by line. */
struct mutate_out {
	uint8_t *data;
	size_t size, max;
};

enum { MUTATE_LINES = 2048, MUTATE_LINE = 512 };

static inline uint32_t mutate_random(uint64_t *state, uint32_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return below ? (uint32_t)((*state >> 33) % below) : 0;
}

static inline size_t mutate_split(const uint8_t *data, size_t size, struct mutate_text *lines)
{
	const char *at = (const char *)data, *end = at + size;
	size_t n = 0;
	while (at < end && n < MUTATE_LINES) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		if (length)
			lines[n++] = (struct mutate_text){at, length};
		at += length + 1;
	}
	return n;
}

static inline void mutate_put(struct mutate_out *out, struct mutate_text line)
{
	if (out->max - out->size <= line.length)
		return;
	memcpy(out->data + out->size, line.at, line.length);
	out->size += line.length;
	out->data[out->size++] = '\n';
}

static inline bool mutate_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

/* The n-th word of a line, from 0; length 0: it has fewer. */
static inline struct mutate_text mutate_word(struct mutate_text line, uint32_t n)
{
	size_t at = 0;
	for (;; n--) {
		while (at < line.length && !mutate_is_word(line.at[at]))
			at++;
		size_t begin = at;
		while (at < line.length && mutate_is_word(line.at[at]))
			at++;
		if (!n || at == begin)
			return (struct mutate_text){line.at + begin, at - begin};
	}
}

static inline uint32_t mutate_words(struct mutate_text line)
{
	uint32_t n = 0;
	while (mutate_word(line, n).length)
		n++;
	return n;
}

/* The line with its word replaced, in a buffer of MUTATE_LINE bytes. */
static inline struct mutate_text mutate_replace(struct mutate_text line, struct mutate_text word, const char *by,
                                                size_t length, char *buffer)
{
	size_t before = (size_t)(word.at - line.at), after = line.length - before - word.length;
	if (before + length + after > MUTATE_LINE)
		return line;
	memcpy(buffer, line.at, before);
	memcpy(buffer + before, by, length);
	memcpy(buffer + before + length, word.at + word.length, after);
	return (struct mutate_text){buffer, before + length + after};
}

static inline struct mutate_text mutate_print(char *buffer, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	int n = vsnprintf(buffer, MUTATE_LINE, format, list);
	va_end(list);
	return (struct mutate_text){buffer, n < MUTATE_LINE ? (size_t)n : MUTATE_LINE - 1};
}

/* An event of few threads, objects and positions, so that they meet. */
static inline struct mutate_text mutate_event(uint64_t *random, bool json, char *buffer)
{
	static const char *const std[] = {"r", "w", "acq", "rel", "fork", "join", "begin", "end"};
	uint32_t thread = mutate_random(random, 4), object = mutate_random(random, 4);
	uint32_t line = mutate_random(random, 8), op = mutate_random(random, RT_OP_COUNT);
	if (!json) {
		op = mutate_random(random, 8);
		return mutate_print(buffer, "T%u|%s(%s%u)|%u", thread, std[op],
		                    op / 2 == 2   ? "T"
		                    : op / 2 == 1 ? "L"
		                                  : "x",
		                    object, line);
	}
	if (mutate_random(random, 2)) /* half of them are the usual ones */
		op = mutate_random(random, 2) ? RT_OP_READ + mutate_random(random, 2)
		                              : RT_OP_ACQUIRE + mutate_random(random, 3);
	char extra[64] = "";
	if (op == RT_OP_BLOCK || op == RT_OP_UNBLOCK || op == RT_OP_TRY_FAILED)
		snprintf(extra, sizeof extra, ",\"for\":\"acquire\"");
	else if (mutate_random(random, 3) == 0)
		snprintf(extra, sizeof extra, ",\"arg\":%u",
		         mutate_random(random, 3) ? mutate_random(random, 64) : 1 << 30);
	else if (mutate_random(random, 3) == 0)
		snprintf(extra, sizeof extra, ",\"value\":%u", mutate_random(random, 3));
	bool thread_op = rt_op_group(op) == RT_GROUP_THREAD && op != RT_OP_BEGIN && op != RT_OP_END;
	char what[32];
	snprintf(what, sizeof what, thread_op ? "%u" : "\"0x%x\"", thread_op ? object : 0x1000 + object * 4);
	return mutate_print(buffer, "{\"op\":\"%s\",\"thread\":%u,\"object\":%s,\"location\":\"%u\"%s}", rt_op_name(op),
	                    thread, what, line, extra);
}

/* One word of the line becomes another: one of the same place in another line, an operation, a number, or any. */
static inline struct mutate_text mutate_line(struct mutate_text line, struct mutate_text other, uint64_t *random,
                                             char *buffer)
{
	static const char *const numbers[] = {"0",     "1",          "2",          "8",
	                                      "65536", "4294967295", "4294967296", "281474976710655"};
	uint32_t words = mutate_words(line), n = mutate_random(random, words);
	struct mutate_text word = mutate_word(line, n), by = mutate_word(other, n);
	switch (mutate_random(random, 4)) {
	case 0:
		for (uint32_t i = 0; i + 1 < words; i++) {
			struct mutate_text key = mutate_word(line, i);
			if (key.length == 2 && !memcmp(key.at, "op", 2))
				word = mutate_word(line, i + 1);
		}
		by.at = rt_op_name(mutate_random(random, RT_OP_COUNT));
		by.length = strlen(by.at);
		break;
	case 1:
		for (uint32_t i = 0; i < words && !isdigit((unsigned char)*word.at); i++)
			word = mutate_word(line, (n + i) % words);
		by.at = numbers[mutate_random(random, sizeof numbers / sizeof *numbers)];
		by.length = strlen(by.at);
		break;
	case 2:
		if (words)
			by = mutate_word(line, mutate_random(random, words));
		break;
	default:
		break;
	}
	return word.length && by.length ? mutate_replace(line, word, by.at, by.length, buffer) : line;
}

/* One mutation; returns the new size. */
static inline size_t mutate_once(uint8_t *data, size_t size, size_t max, uint64_t *random)
{
	static struct mutate_text lines[MUTATE_LINES];
	char buffer[MUTATE_LINE];
	uint8_t *copy = malloc(size + 1);
	memcpy(copy, data, size);
	size_t n = mutate_split(copy, size, lines);
	bool json = size && *copy == '{';
	uint32_t head = json && n ? 1 : 0, events = (uint32_t)n - head; /* the header stays */
	uint32_t from = head + mutate_random(random, events), to = head + mutate_random(random, events + 1);
	uint32_t count = 1 + (mutate_random(random, 3) ? 0 : mutate_random(random, 16));
	uint32_t what = events ? mutate_random(random, 16) : 0;
	if (from + count > n)
		count = (uint32_t)n - from;
	struct mutate_out out = {data, 0, max};
	for (uint32_t i = 0; i <= n; i++) {
		if (i == to) {
			if (what <= 3)
				mutate_put(&out, mutate_event(random, json, buffer));
			else if (what <= 6) /* repeated; or moved */
				for (uint32_t k = from; k < from + count; k++)
					mutate_put(&out, lines[k]);
		}
		bool within = i >= from && i < from + count;
		if (i == n || (within && what >= 5 && what <= 8)) /* moved; or dropped */
			continue;
		if (within && what >= 9 && what <= 10 && i + 1 < n) { /* swapped with the next */
			mutate_put(&out, lines[i + 1]);
			mutate_put(&out, lines[i]);
			i++;
		} else if (within && what >= 11) {
			mutate_put(&out,
			           mutate_line(lines[i], lines[head + mutate_random(random, events)], random, buffer));
		} else {
			mutate_put(&out, lines[i]);
		}
	}
	free(copy);
	return out.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	if (mutate_random(&random, 64) == 0)
		return LLVMFuzzerMutate(data, size, max);
	for (uint32_t rounds = 1 + mutate_random(&random, 4); rounds; rounds--)
		size = mutate_once(data, size, max, &random);
	return size;
}

/* The beginning of one, and then lines of both by turns. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2, uint8_t *out,
                                 size_t max, unsigned seed)
{
	static struct mutate_text lines[2][MUTATE_LINES];
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 2;
	size_t n[2] = {mutate_split(data1, size1, lines[0]), mutate_split(data2, size2, lines[1])}, at[2] = {0};
	struct mutate_out text = {out, 0, max};
	if (size2 && *data2 == '{')
		at[1]++;
	if (size1 && *data1 == '{' && n[0])
		mutate_put(&text, lines[0][at[0]++]);
	while (at[0] < n[0] || at[1] < n[1]) {
		uint32_t which = mutate_random(&random, 2);
		for (uint32_t count = mutate_random(&random, 20); count && at[which] < n[which]; count--)
			mutate_put(&text, lines[which][at[which]++]);
	}
	return text.size;
}

#endif
