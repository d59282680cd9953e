/* A trace whose events are delayed, as delay.c and sights.c know it. Events are known by index. */
#ifndef LIB_EXPLORE_DELAY_PARTS_H
#define LIB_EXPLORE_DELAY_PARTS_H

#include "lib/base/hash.h"
#include "lib/explore/delay.h"

#define NONE UINT32_MAX
enum { BYTES_MAX = 64 }; /* of an access: further ones are not looked at */

struct seen {
	uint64_t number, ordinal, object, mutex, pc, value;
	uint32_t thread, bytes; /* bytes: that it accesses; 0: it is no access */
	uint32_t next;          /* the thread's next event, by index */
	uint32_t needs; /* the event that it comes behind, by index: what it waits for; of an access the last write */
	enum rt_op op;
	bool has_value;
};

/* What an event that comes behind needs: the last one of its kind at the object. */
enum kind { WRITE, WAKE, POST, ONCE, TOLD, ARRIVAL, FORK, END };
struct place {
	uint64_t key;
	uint32_t event;
	UT_hash_handle hh;
};
struct holder {
	uint64_t lock;
	uint32_t thread, since; /* since: the event by which it took it */
	UT_hash_handle hh;
};

/* A byte that a thread has accessed: the last events, by index; NONE: none. */
struct touched {
	uint64_t address;
	uint32_t read, write;
	UT_hash_handle hh;
};

/* A wait of a thread: at which condition variable, and what woke it for sure. */
struct waiting {
	uint64_t condition; /* 0: it does not wait */
	uint32_t woken;     /* an event, NONE: not known */
};

struct delays {
	struct seen *events;
	size_t count, room;
	uint32_t thread_count;
	uint32_t *first, *last; /* by thread: its events so far, when they are loaded; NONE: none */
	uint32_t *upto;         /* by thread: the last event of the run, NONE: none */
	uint64_t *done;         /* by thread: the ordinal that the runs have come to */
	struct waiting *waits;  /* by thread, when they are loaded */
	uint32_t *open;         /* events whose needs are to be looked at */
	size_t open_count, open_room;
	struct touched *touched; /* by the thread held, before it waits */
	struct place *places;
};

#endif
