/* The commands of a document: a Markdown file's blocks of shell, made into one script that checks how
 * each command ends.
 *
 * A ```sh block is a script. All blocks go into one, in the order of the text, so that one may use
 * what an earlier one made. A command must end with status 0, or with N where its line ends in
 * "# exit status N". A block right below a comment "<!-- not run by scenarios/...: why -->" is left
 * out; the comment gives the reason to the reader. */
#ifndef SCENARIOS_DOCUMENT_TESTKIT_H
#define SCENARIOS_DOCUMENT_TESTKIT_H

#include <stdio.h>

#define DOCUMENT_SKIP_MARK "<!-- not run by scenarios/"

/* What was read of a document. */
struct document {
    unsigned commands;
    unsigned blocks;
    unsigned skipped;
};

/* Write the script of a document, which name names in complaints, to a path. */
struct document document_script(FILE *document, const char *name, const char *path);

/* Write the steps of a document's workflows: the commands behind each "run: |" of its ```yaml blocks, as
 * a shell runs them that ends at the first that fails. Each step must end with status 0; one whose line
 * says "run: | # not run by scenarios/...: why" is left out. A step counts as a command. */
struct document document_steps(FILE *document, const char *name, const char *path);

/* Fail the test unless each line of the blocks of ```text is in what the commands said; "..." stands
 * for anything on one line. Returns the number of lines. */
unsigned document_check_shown(FILE *document, const char *said);

#endif
