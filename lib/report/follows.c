/* The causes of an anomaly, in words; see follows.h. */
#include "lib/report/follows.h"

#include "lib/report/subject.h"

#include <inttypes.h>
#include <stdio.h>
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

void follows_text(const struct report *r, const struct cause *cause, char text[FOLLOWS_TEXT_MAX])
{
	const struct anomaly pair = follows_pair(cause);
	struct subject subject;
	char address[32] = "";
	bool about = subject_of(r, &pair, &subject);
	if (about && !strcmp(subject.kind, "global"))
		subject_cut_reserved(subject.name);
	if (about && !*subject.name)
		snprintf(address, sizeof address, "the atomic at 0x%" PRIx64, subject.address);
	const char *quote = about && *subject.name ? "`" : "";
	snprintf(text, FOLLOWS_TEXT_MAX, "%s%.500s%s is relaxed: release and acquire would order it", quote,
	         *quote     ? subject.name
	         : *address ? address
	                    : "an atomic",
	         quote);
}
