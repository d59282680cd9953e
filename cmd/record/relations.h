/* May-trigger relations (recorder/control.h) in the outcome of a run, and from there in the input of the next one. */
#ifndef CMD_RECORD_RELATIONS_H
#define CMD_RECORD_RELATIONS_H

#include "lib/base/error.h"
#include "recorder/control.h"

#include <jansson.h>
#include <stddef.h>

struct rt_trace;

/* Those that the run had, as a JSON array. NULL without memory. */
json_t *relations_json(const struct rt_trace *trace, const struct rt_control *control);
/* "MODULE+OFFSET"; NULL: no module is there, or no memory. */
json_t *relations_offset(const struct rt_trace *trace, uint64_t pc);

/* Relations for a strategy's input; the modules and types that they name are numbered. Zeros at first. */
struct relations {
	struct rt_may_trigger *list;
	struct rt_module_name *modules;
	const char **types; /* owned by the JSON that they were read from */
	uint32_t count, module_count, type_count;
	uint32_t room, module_room, type_room;
};
/* Adds those of an outcome; what makes no sense is left out. The outcome must live as long as *r. */
enum rt_status relations_read(const json_t *outcome, struct relations *r, struct rt_error *err);
void relations_free(struct relations *r);

#endif
