/* Errors of the outside world: input, limits, refusals. Broken invariants are CHECKs instead. */
#ifndef SINKS_BASE_ERR_H
#define SINKS_BASE_ERR_H

/* Each function's header lists the codes it can return. After any error but ERR_LIMIT the object
 * is unchanged (STYLE 28). */
enum err {
    ERR_OK = 0,
    ERR_LIMIT,     /* memory, tape, event or table capacity used up */
    ERR_INVALID,   /* a value outside what is allowed */
    ERR_TRUNCATED, /* input ends before it is complete */
    ERR_CORRUPT,   /* checksum, magic or structure is wrong */
    ERR_VERSION,   /* a version this build does not know */
    ERR_NOT_FOUND, /* a name or file that does not exist */
    ERR_CONFLICT,  /* two inputs that cannot both hold */
    ERR_SYSTEM,    /* the operating system refused; only in scenarios/ */
};

/* Return the constant name of a code, e.g. "truncated". */
const char *err_name(enum err code);

#endif
