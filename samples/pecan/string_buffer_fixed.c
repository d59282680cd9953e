/*
 * string_buffer.c put right: append() takes the other buffer's lock once, for both the length and the characters. The
 * lock of the buffer at the lower address is taken first.
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

static void buffer_set_length(struct string_buffer *b, size_t length)
{
	pthread_mutex_lock(&b->lock);
	b->length = length;
	pthread_mutex_unlock(&b->lock);
}

static void buffer_append(struct string_buffer *b, struct string_buffer *other)
{
	struct string_buffer *first = b < other ? b : other, *second = b < other ? other : b;

	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	if (other->length > CAPACITY - b->length)
		b->length = 0;
	memcpy(b->chars + b->length, other->chars, other->length);
	b->length += other->length;
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
}

static void append(int thread, int round)
{
	(void)thread;
	(void)round;
	buffer_append(&line, &word);
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
