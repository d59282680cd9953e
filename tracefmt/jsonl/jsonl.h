/* JSON lines, internals shared by reader (jsonl.c, parse.c) and writer (export.c). */
#ifndef TRACEFMT_JSONL_JSONL_H
#define TRACEFMT_JSONL_JSONL_H

#include "lib/base/names.h"
#include "tracefmt/source.h"

#define JSONL_SCHEMA "racetrace.events/"
enum { JSONL_VERSION = 1 };

/* A variable; sorted by address, then larger ones first. */
struct jsonl_variable {
	uint64_t address, size;
	const char *name, *file;
	uint32_t line;
	uint32_t around; /* index of the one that may contain it, from 1; 0: none */
};

/* The meaning of a name that events use. */
struct jsonl_named {
	uint64_t address;
	uint32_t variable; /* index from 1 of the variable created for it; 0: none */
	bool declared, object;
};

struct jsonl_position;
struct jsonl_object;

struct jsonl {
	struct rt_trace trace; /* first: this is a source */
	struct rt_event *events;
	size_t count, room, next;
	struct names strings; /* all texts of the file that are kept */
	struct names thread_names;
	struct rt_thread *threads;
	struct jsonl_thread_at {
		uint64_t ordinal; /* of its last event */
		uint64_t joined;  /* number of the event that joined it; 0: none did since it was forked */
		bool gap;         /* reading: see rt_event.gap */
	} * at;                   /* by thread */
	uint32_t thread_room;
	struct names names;
	struct jsonl_named *named; /* by index into names */
	uint32_t named_room;
	struct names locations;
	struct jsonl_position *positions; /* by pc */
	struct jsonl_object *objects;     /* by address */
	struct jsonl_variable *variables;
	size_t variable_count, variable_room;
	const char **command;
	struct rt_module *modules;
	size_t module_count;
	struct rt_text_file *text_files;
	size_t text_file_count;
	struct rt_hidden_atomic *atomics;
	size_t atomic_count;
	struct rt_update *updates;
	size_t update_count;
	struct rt_declared *declared;
	size_t declared_count;
};

/* Reads fd, which it owns, into an empty struct. On an error the caller frees what was built so far. */
enum rt_status jsonl_parse(struct jsonl *j, int fd, const char *path, struct rt_error *err);

/* Positions and object names. frames are copied, their strings are not. False without memory. */
bool jsonl_add_position(struct jsonl *j, uint64_t pc, const struct rt_frame *frames, size_t n);
bool jsonl_add_object(struct jsonl *j, uint64_t address, const char *name);
/* Appends a variable; *index is its place until all are sorted. */
bool jsonl_add_variable(struct jsonl *j, const struct jsonl_variable *variable, uint32_t *index);

#endif
