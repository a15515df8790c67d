/* Parts of the matrix as one page of HTML (reports/matrix.h). */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "reports/matrix.h"

/* Any text as content, or in an attribute in double quotes. */
void html_text(FILE *file, const char *text);

/* The same, as the part of an id or a class: letters, digits, '-', '_' and '.'; else '-'. */
void html_word(FILE *file, const char *text);

/* One claim with its evidence, under a heading of the fourth level. */
void html_claim(FILE *file,
                const struct report_claim *claim,
                const struct report_evidence *evidence_or_null);

/* Swim lanes as SVG, and the same as a list. id: unique in the page. mark: "fails" or "passes". */
void html_timeline(FILE *file,
                   const struct report_timeline *timeline,
                   const char *id,
                   const char *mark);

/* The page's style and script, and the picture that explains the lanes. */
void html_style(FILE *file);
void html_script(FILE *file);
void html_legend(FILE *file);

/* What a verdict is called in style: "holds", "fails", "broken" or "open". */
const char *html_verdict_class(const struct report_claim *claim);

#endif
