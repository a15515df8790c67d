/* Any bytes are claims or one line that says why not. */
#include "scenarios/claims/claims.h"
#include "scenarios/fuzz/target.h"

#include <string.h>

static void check_claim(const struct claim_set *set, const struct claim *claim)
{
    CHECK(claims_find(set, claim->id) == claim);
    CHECK(claim->sink[0] != '\0');
    CHECK(claim->scenario != NULL);
    CHECK(claim->property_count <= CLAIM_LIST_MAX);
    CHECK(claim->oracle_count <= CLAIM_LIST_MAX);
    for (uint32_t i = 0; i < claim->property_count; i++) {
        CHECK(claim->properties[i][0] != '\0');
    }
    for (uint32_t i = 0; i < claim->oracle_count; i++) {
        CHECK(claim->oracles[i] != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct claim_set *set = NULL;
    struct scenario_fault fault;
    if (claims_create((struct bytes){data, size}, "fuzz", &set, &fault) == ERR_OK) {
        for (uint32_t i = 0; i < claims_count(set); i++) {
            check_claim(set, claims_at(set, i));
        }
        claims_destroy(set);
        return 0;
    }
    CHECK(strncmp(fault.message, "fuzz: ", 6) == 0);
    CHECK(bytes_is_utf8(bytes_of_text(fault.message)));
    CHECK(strchr(fault.message, '\n') == NULL);
    return 0;
}
