#include "scenarios/cli/status.h"

enum status status_worse(enum status a, enum status b)
{
    /* From least to most: as expected, broken, a limit, nondeterminism, bad input. */
    static const int ranks[] = {
        [STATUS_OK] = 0,
        [STATUS_BROKEN] = 1,
        [STATUS_USAGE] = 4,
        [STATUS_NONDETERMINISM] = 3,
        [STATUS_INTERNAL] = 2,
    };
    return ranks[a] >= ranks[b] ? a : b;
}
