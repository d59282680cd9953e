/*
 * The head of the HTML page: its style, and the only script, which chooses what is shown. The policy is a second
 * barrier behind the escapes: the page loads nothing, and runs nothing but the script with this digest.
 */
#include "lib/report/html/html.h"

#define COLOURS                                                                                                        \
	":root{color-scheme:light "                                                                                    \
	"dark;--ink:#1f2328;--paper:#fff;--dim:#59636e;--rule:#d1d9e0;--soft:#f4f6f8;--link:#0550ae;"                  \
	"--error:#b3001b;--warning:#7a4d00;--goal:#ffe1e1;--mark:#fff3b0}"                                             \
	"@media(prefers-color-scheme:dark){:root{--ink:#dfe4ea;--paper:#14171b;--dim:#a2acb8;--rule:#3d444d;"          \
	"--soft:#20252b;--link:#8ab8ff;--error:#ff8f8f;--warning:#e8b64c;--goal:#5a1f24;--mark:#3f3810}}"

/* Of schedules as pictures. */
#define PICTURES                                                                                                       \
	"svg text{fill:var(--ink);font:13px ui-monospace,monospace}"                                                   \
	"svg .name,svg .own{font-weight:bold}svg .lane{stroke:var(--rule);stroke-dasharray:3 3;fill:none}"             \
	"svg .turn{fill:var(--soft);stroke:var(--dim)}svg .goal{fill:var(--goal);stroke:var(--error);stroke-width:2}"  \
	"svg .next{stroke:var(--dim);stroke-width:1.5;fill:none;marker-end:url(#arrow)}#arrow path{fill:var(--dim)}"

#define ARROW                                                                                                          \
	"<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "   \
	"orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>"

const char html_picture_style[] = COLOURS PICTURES "svg{background:var(--paper)}";
const char html_picture_arrow[] = ARROW;

static const char style[] = COLOURS
    "*{box-sizing:border-box}"
    "body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:76em;padding:1em;color:var(--ink);"
    "background:var(--paper);overflow-wrap:anywhere}"
    "td code{overflow-wrap:anywhere}h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.2em;margin:0 0 "
    ".5em}h3{font-size:1.05em;margin:1.2em 0 .3em}"
    "h4{font-size:1em;margin:1em 0 .3em}p{margin:.4em 0}a{color:var(--link)}"
    ":focus-visible{outline:3px solid var(--link);outline-offset:2px}"
    "section.finding,main>section{border:1px solid var(--rule);border-radius:6px;padding:1em;margin:1em 0}"
    "section section{margin:0}"
    ".counts{display:flex;flex-wrap:wrap;gap:.6em;list-style:none;padding:0;margin:.8em 0}"
    ".counts li{border:1px solid var(--rule);border-radius:6px;padding:.3em .9em}.counts b{font-size:1.4em}"
    ".scroll{overflow-x:auto;max-width:100%}table{border-collapse:collapse;margin:.5em 0}"
    "td,th{border-bottom:1px solid var(--rule);padding:.3em .8em .3em "
    "0;text-align:left;vertical-align:top;overflow-wrap:break-word}"
    "ol.stack{margin:.3em 0;padding-left:2.5em}ol.stack,p.stack,pre,code{font:.85em/1.5 ui-monospace,monospace}"
    "pre{margin:.2em 0;padding:.4em .6em;background:var(--soft);white-space:pre-wrap;tab-size:4;border-radius:4px}"
    "mark{background:var(--mark);color:inherit}"
    ".source>*{display:block;padding-left:8ch;text-indent:-8ch}"
    ".error,.confirmed,.observed,.proved{color:var(--error);font-weight:bold}"
    ".warning,.predicted{color:var(--warning);font-weight:bold}.dim,.note,.conditional,.refuted{color:var(--dim)}"
    ".places{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24em,100%),1fr));gap:.8em}"
    ".place{border:1px solid var(--rule);border-radius:6px;padding:.4em .8em;min-width:0}"
    "details{margin:.6em 0}summary{cursor:pointer;color:var(--link)}"
    "form{display:flex;flex-wrap:wrap;gap:.4em 1.2em;align-items:center;margin:1em "
    "0}form[hidden],[hidden]{display:none}"
    "fieldset{border:0;padding:0;margin:0;display:flex;flex-wrap:wrap;gap:.2em "
    ".8em}legend{float:left;margin-right:.6em}"
    "input[type=search]{font:inherit;padding:.3em .5em;border:1px solid var(--dim);border-radius:4px;"
    "background:var(--paper);color:inherit;max-width:100%}"
    "svg.schedule{display:block}" PICTURES
    "@media(max-width:45em){.list th:nth-child(3),.list td:nth-child(3),.list th:nth-child(5),.list "
    "td:nth-child(5){display:none}}"
    "footer{color:var(--dim);border-top:1px solid var(--rule);margin-top:2em}";

/* Shows what has the text, the levels and the kinds; and opens what a link leads into. */
static const char script[] =
    "(()=>{const f=document.querySelector('form'),all=[...document.querySelectorAll('[data-a]')],"
    "texts=all.map(e=>e.textContent.toLowerCase()),"
    "on=n=>[...f.querySelectorAll('input[name='+n+']:checked')].map(x=>x.value);"
    "function apply(){const t=f.elements.text.value.toLowerCase(),a=on('a'),k=on('k');let n=0;"
    "all.forEach((e,i)=>{const show=a.includes(e.dataset.a)&&e.dataset.k.split(' ').some(x=>k.includes(x))"
    "&&texts[i].includes(t);e.hidden=!show;n+=show&&e.tagName==='TR'?1:0});"
    "f.querySelector('output').textContent=n+' shown'}"
    "function open(){const e=document.getElementById(location.hash.slice(1));"
    "for(let d=e;d;d=d.parentElement)if(d.tagName==='DETAILS')d.open=true;if(e)e.scrollIntoView()}"
    "if(f){f.hidden=false;f.addEventListener('input',apply);f.addEventListener('submit',e=>e.preventDefault());apply()}"
    "addEventListener('hashchange',open);open()})()";

/* SHA-256 of the script, as policies have it; tests/cli/t_formats.sh computes it again. */
static const char digest[] = "LA54oxt9i+1CvEjk0Dt/03sB0ONHZk9Svpw2N1QsqDA=";

void html_put_head(const struct page *p)
{
	fprintf(p->out,
	        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	        "'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\"/>\n"
	        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>racetrace: ",
	        digest);
	html_put(p, p->r->unkept && p->info->command ? p->info->command[0] : p->info->path);
	fprintf(p->out, "</title>\n<style>%s</style>\n</head>\n<body>\n", style);
}

void html_put_end(const struct page *p)
{
	fprintf(p->out,
	        "<svg width=\"0\" height=\"0\" aria-hidden=\"true\">%s</svg>\n<script>%s</script>\n</body>\n</html>\n",
	        html_picture_arrow, script);
}

/* The filter */

static void put_box(const struct page *p, const char *name, const char *value, const char *label)
{
	fprintf(p->out, "<label><input type=\"checkbox\" name=\"%s\" value=\"%s\" checked=\"checked\"/> %s</label>\n",
	        name, value, label);
}

void html_put_choice(const struct page *p, const char *a, uint32_t kinds)
{
	fprintf(p->out, " data-a=\"%s\" data-k=\"", a);
	const char *between = "";
	for (int i = 0; i < ANOMALY_KINDS; i++) {
		if (!(kinds >> i & 1))
			continue;
		fprintf(p->out, "%s%s", between, anomaly_kind_name((enum anomaly_kind)i));
		between = " ";
	}
	putc('"', p->out);
}

void html_put_filter(const struct page *p, uint32_t verdicts, uint32_t kinds, bool incidents)
{
	/* The script shows it: without one it could do nothing. */
	fprintf(p->out,
	        "<form hidden=\"hidden\" role=\"search\" aria-label=\"filter\">\n<label>Filter <input type=\"search\" "
	        "name=\"text\"/></label>\n<fieldset><legend>%s</legend>\n",
	        verdicts ? "Verdict" : "Level");
	for (int i = LEVELS - 1; !verdicts && i >= 0; i--)
		put_box(p, "a", finding_level_name((enum finding_level)i), finding_level_name((enum finding_level)i));
	for (int i = VERDICTS - 1; i >= 0; i--)
		if (verdicts >> i & 1)
			put_box(p, "a", verdict_name((enum verdict)i), verdict_name((enum verdict)i));
	fputs("</fieldset>\n<fieldset><legend>Kind</legend>\n", p->out);
	for (int i = 0; i < ANOMALY_KINDS; i++)
		if (kinds >> i & 1)
			put_box(p, "k", anomaly_kind_name((enum anomaly_kind)i),
			        anomaly_kind_title((enum anomaly_kind)i));
	if (incidents)
		put_box(p, "k", "incident", "how a run ended");
	fputs("</fieldset>\n<output></output>\n</form>\n", p->out);
}
