#include "scenarios/cli/plots/plotting.h"

#include "scenarios/cli/files.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/process.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define NOT_THERE 127 /* what env ends with when there is no such program */

enum status plotting_open(struct plotting *plotting, struct session *session)
{
    *plotting = (struct plotting){.session = session, .folder = session->options->plots};
    if (folder_make(plotting->folder) != ERR_OK) {
        complain("--plots \"%s\": cannot be made; allowed: a folder that can be made or written",
                 plotting->folder);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

const char *plotting_name(struct plotting *plotting, const char *kind, const char *scenario)
{
    char *name = text_format(&plotting->session->texts, "%s-%s", kind, scenario);
    for (char *at = name; *at != '\0'; at++) {
        *at = isalnum((unsigned char)*at) || strchr("-_.", *at) != NULL ? *at : '-';
    }
    return name;
}

static bool write_table(const void *context, FILE *file)
{
    return report_plot_table(file, context);
}

static bool write_script(const void *context, FILE *file)
{
    return report_plot_script(file, context);
}

/* Run gnuplot in the folder, so that the script may be run there again by hand. */
static void draw(struct plotting *plotting, const char *script)
{
    struct text_pool *texts = &plotting->session->texts;
    const char *log = text_format(texts, "%s/gnuplot.log", plotting->folder);
    const char *const words[] = {"env", "-C", plotting->folder, "gnuplot", script, NULL};
    const int status = process_run(words, log);
    if (status == NOT_THERE || status < 0) {
        plotting->lacks_gnuplot = true;
        complain("--plots \"%s\": no gnuplot to draw with; the tables and scripts are there",
                 plotting->folder);
    } else if (status != 0) {
        complain("--plots \"%s\": gnuplot %s ended with status %d; see gnuplot.log there",
                 plotting->folder,
                 script,
                 status);
        plotting->status = status_worse(plotting->status, STATUS_INTERNAL);
        return;
    }
    (void)remove(log);
}

static bool is_empty(const struct report_plot *plot)
{
    for (size_t i = 0; i < plot->series_count; i++) {
        if (plot->series[i].count > 0) {
            return false;
        }
    }
    return true;
}

void plotting_add(struct plotting *plotting, const struct report_plot *plot)
{
    struct text_pool *texts = &plotting->session->texts;
    const char *script = text_format(texts, "%s.gp", plot->name);
    if (is_empty(plot)) {
        complain("--plots: %s: there is nothing to draw", plot->name);
        return;
    }
    enum status status = output_whole("--plots",
                                      text_format(texts, "%s/%s.tsv", plotting->folder, plot->name),
                                      plot,
                                      write_table);
    const enum status scripted = output_whole(
        "--plots", text_format(texts, "%s/%s", plotting->folder, script), plot, write_script);
    status = status_worse(status, scripted);
    plotting->status = status_worse(plotting->status, status);
    plotting->written += status == STATUS_OK ? 1 : 0;
    if (status == STATUS_OK && !plotting->lacks_gnuplot) {
        draw(plotting, script);
    }
}

void plotting_close(const struct plotting *plotting)
{
    (void)printf("plots: %" PRIu32 " in %s: %s\n",
                 plotting->written,
                 plotting->folder,
                 plotting->lacks_gnuplot ? "tables and scripts" : "tables, scripts, SVG and PNG");
}
