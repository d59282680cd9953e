/* The causes of an anomaly, in words; see follows.h. */
#include "lib/report/follows.h"

#include "lib/report/expression.h"
#include "lib/report/place.h"
#include "lib/report/subject.h"
#include "lib/trace/snippet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cause *follows_cause(const struct report *r, const struct anomaly *anomaly, uint32_t n)
{
	return &r->analysis->causes.items[anomaly->causes[n]];
}

const char *follows_id(const struct report *r, const struct anomaly *anomaly, uint32_t n)
{
	return r->cause_ids ? r->cause_ids[anomaly->causes[n]] : "";
}

const char *follows_under(const struct report *r, const struct anomaly *anomaly)
{
	for (uint32_t i = 0; i < anomaly->cause_count; i++)
		if (*follows_id(r, anomaly, i))
			return follows_id(r, anomaly, i);
	return "";
}

const char *follows_beside(enum verdict verdict)
{
	return verdict == VERDICT_PREDICTED ? "beside it only locks order its events, in this run"
	                                    : "nothing else orders its events";
}

struct anomaly follows_pair(const struct cause *cause)
{
	return (struct anomaly){
	    .kind = ANOMALY_RACE, .pattern = "w-r", .event_count = 2, .events = {cause->write, cause->read}};
}

/* What the source line of one of the two names as the atomic. */
static bool named_atomic(const struct report *r, const struct cause *cause, char name[EXPRESSION_MAX])
{
	const uint32_t events[] = {cause->write, cause->read};
	bool known = false;
	for (int i = 0; i < 2 && !known; i++) {
		const struct rt_frame *frame = place_of(r, events[i]).frame;
		char *line = frame && frame->file ? snippet_whole(r->sources, frame->file, frame->line) : NULL;
		known = line && expression_atomic(line, name);
		free(line);
	}
	return known;
}

/* What the two operations lack for an order between them. */
static const char *lacking_order(const struct report *r, const struct cause *cause)
{
	const struct model *m = r->analysis->model;
	unsigned write = m->sites[m->events[cause->write].site].order,
	         read = m->sites[m->events[cause->read].site].order;
	bool releases = write == __ATOMIC_RELEASE || write >= __ATOMIC_ACQ_REL;
	bool acquires = read == __ATOMIC_CONSUME || read == __ATOMIC_ACQUIRE || read >= __ATOMIC_ACQ_REL;
	if (acquires && !releases)
		return "is changed without release: that would order it";
	if (releases && !acquires)
		return "is read without acquire: that would order it";
	return "is relaxed: release and acquire would order it";
}

void follows_text(const struct report *r, const struct cause *cause, char text[FOLLOWS_TEXT_MAX])
{
	const struct anomaly pair = follows_pair(cause);
	struct subject subject;
	char address[32] = "", name[EXPRESSION_MAX];
	bool about = subject_of(r, &pair, &subject);
	if (about && strcmp(subject.kind, "global") != 0 && named_atomic(r, cause, name))
		snprintf(subject.name, sizeof subject.name, "%s", name);
	if (about && !strcmp(subject.kind, "global"))
		subject_cut_reserved(subject.name);
	if (about && !*subject.name)
		snprintf(address, sizeof address, "the atomic at 0x%" PRIx64, subject.address);
	const char *quote = about && *subject.name ? "`" : "";
	snprintf(text, FOLLOWS_TEXT_MAX, "%s%.500s%s %s", quote,
	         *quote     ? subject.name
	         : *address ? address
	                    : "an atomic",
	         quote, lacking_order(r, cause));
}
