/* One anomaly, or the first of one finding, as a picture: the drawing of the HTML page as a file of its own. */
#include "lib/report/formats.h"
#include "lib/report/html/html.h"

#include <string.h>

/* The finding's headline without the marks around code; of an anomaly alone, what it is. */
static void make_title(const struct report *r, char title[FINDING_TEXT_MAX])
{
	char text[FINDING_TEXT_MAX];
	const struct report_entry *entry = &r->entries[0];
	const struct finding *f = r->finding && r->findings->count ? &r->findings->items[0] : NULL;
	if (f)
		finding_title(r, f, text);
	else
		snprintf(text, sizeof text, "%s", anomaly_kind_title(entry->anomaly->kind));
	int n =
	    snprintf(title, FINDING_TEXT_MAX, "%s, %s: ", f ? f->id : entry->id, verdict_name(entry->anomaly->verdict));
	for (const char *c = text; *c && n < FINDING_TEXT_MAX - 1; c++)
		if (*c != '`')
			title[n++] = *c;
	title[n] = '\0';
}

enum rt_status report_svg(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	(void)color;
	char title[FINDING_TEXT_MAX];
	const struct page p = {.r = r, .info = rt_trace_info(r->analysis->trace), .out = out};
	if (!report_is_of_one(r, "svg", err))
		return RT_EUSAGE;
	make_title(r, title);
	return html_put_picture(&p, &r->entries[0], title) ? RT_OK
	                                                   : rt_error_set(err, RT_EMEMORY, "no memory for the picture");
}
