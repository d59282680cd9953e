/*
 * String buffer: each operation takes the buffer's lock, as in java.lang.StringBuffer (PECAN's Table 1).
 *
 * The bug: append() asks the other buffer for its length in one call and for its characters in another. Each call takes
 * the other buffer's lock, but in between the other buffer may have become shorter; Java throws, this returns -1.
 *
 * In the recorded run the buffer is made shorter when it has been appended. No annotation is needed: append() holds its
 * own buffer's lock all the time, and that is the region.
 */
#include "run.h"

#include <string.h>

enum { CAPACITY = 64 };

struct string_buffer {
	pthread_mutex_t lock;
	size_t length;
	char chars[CAPACITY];
};

struct string_buffer line = {.lock = PTHREAD_MUTEX_INITIALIZER},
                     word = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 5, .chars = "hello"};

static size_t buffer_length(struct string_buffer *b)
{
	size_t length;

	pthread_mutex_lock(&b->lock);
	length = b->length; /* @length */
	pthread_mutex_unlock(&b->lock);
	return length;
}

static void buffer_set_length(struct string_buffer *b, size_t length)
{
	pthread_mutex_lock(&b->lock);
	b->length = length; /* @set */
	pthread_mutex_unlock(&b->lock);
}

/* Copies the first `count` characters; -1 if there are fewer. */
static int buffer_get_chars(struct string_buffer *b, size_t count, char *to)
{
	int status = -1;

	pthread_mutex_lock(&b->lock);
	if (count <= b->length) { /* @check */
		memcpy(to, b->chars, count);
		status = 0;
	}
	pthread_mutex_unlock(&b->lock);
	return status;
}

static int buffer_append(struct string_buffer *b, struct string_buffer *other)
{
	size_t length;
	int status;

	pthread_mutex_lock(&b->lock);
	length = buffer_length(other);
	if (length > CAPACITY - b->length)
		b->length = 0;
	status = buffer_get_chars(other, length, b->chars + b->length);
	b->length += status ? 0 : length;
	pthread_mutex_unlock(&b->lock);
	return status;
}

static void append(int thread, int round)
{
	(void)thread;
	if (buffer_append(&line, &word) && !round)
		puts("ERROR: the word has become shorter");
}

static void shorten(int thread, int round)
{
	(void)thread;
	buffer_set_length(&word, (size_t)round % 5);
}

int main(int argc, char **argv)
{
	static part *const parts[] = {append, shorten};

	run(argc, argv, parts, 2, 2);
	printf("%.*s\n", (int)line.length, line.chars);
	return 0;
}
