/* The catalogue: the tables of all modules agree with each other.
 *
 * link: product
 */
#include "scenarios/wiring/catalogue.h"

#include "scenarios/wiring/wiring.h"
#include "sinks/base/test.h"

#include <string.h>

/* Goal: a tape finds a site by its key. Method: keys strictly ascend, and all are found. */
static void sites_ascend_by_key(void **state)
{
    (void)state;
    const struct choice_registry *registry = catalogue_registry();
    assert_true(registry->site_count > 15);
    for (size_t i = 0; i < registry->site_count; i++) {
        const struct choice_site *site = registry->sites[i];
        assert_true(i == 0 || registry->sites[i - 1]->key < site->key);
        assert_ptr_equal(choice_site_by_key(registry, site->key), site);
        assert_ptr_equal(choice_site_by_name(registry, bytes_of_text(site->name)), site);
    }
}

static bool is_word(const char *text, const char *extra)
{
    for (const char *at = text; *at != '\0'; at++) {
        const bool is_plain =
            (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9') || *at == '_';
        if (!is_plain && strchr(extra, *at) == NULL) {
            return false;
        }
    }
    return *text != '\0';
}

/* Goal: names can stand on a tape and mean one thing. */
static void names_are_unique_words(void **state)
{
    (void)state;
    const struct choice_registry *registry = catalogue_registry();
    for (size_t i = 0; i < registry->site_count; i++) {
        const struct choice_site *site = registry->sites[i];
        assert_true(is_word(site->name, "."));
        assert_true(site->sentence != NULL && site->sentence[0] != '\0');
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(site->name, registry->sites[k]->name);
        }
        for (uint32_t a = 0; a < site->outcome_count; a++) {
            assert_true(is_word(site->outcomes[a].name, ""));
            for (uint32_t b = 0; b < a; b++) {
                assert_string_not_equal(site->outcomes[a].name, site->outcomes[b].name);
            }
        }
    }
}

/* Goal: a menu fits its mask, index 0 is calm, and every other outcome is licensed by a clause or is
 * order or latency, which no clause forbids. */
static void outcomes_are_licensed(void **state)
{
    (void)state;
    const struct choice_registry *registry = catalogue_registry();
    for (size_t i = 0; i < registry->site_count; i++) {
        const struct choice_site *site = registry->sites[i];
        assert_in_range(site->outcome_count, 2, CHOICE_MENU_MAX);
        assert_int_equal(site->outcomes[0].kind, FAULT_NONE);
        assert_null(site->outcomes[0].clause);
        for (uint32_t k = 1; k < site->outcome_count; k++) {
            const struct choice_outcome *outcome = &site->outcomes[k];
            assert_true(outcome->weight > 0);
            assert_true(outcome->kind < FAULT_KIND_COUNT);
            /* How much later is no cause of its own: the site's draw is made for a fault that
             * another site licensed. */
            const bool is_free = outcome->kind == FAULT_ORDER || outcome->kind == FAULT_LATENCY ||
                                 outcome->kind == FAULT_NONE;
            if (outcome->clause == NULL && !is_free) {
                fail_msg("%s: %s has no clause", site->name, outcome->name);
            }
        }
    }
}

/* Goal: what a model draws from can be replayed. */
static void sites_of_models_are_registered(void **state)
{
    (void)state;
    for (size_t i = 0; i < catalogue_model_count; i++) {
        const struct model_type *model = catalogue_models[i];
        for (size_t k = 0; k < model->site_count; k++) {
            const struct choice_site *site = &model->sites[k];
            assert_ptr_equal(choice_site_by_key(catalogue_registry(), site->key), site);
        }
        for (size_t k = 0; k < model->fate_count; k++) {
            const struct choice_site *site = model->fates[k].site;
            assert_ptr_equal(choice_site_by_key(catalogue_registry(), site->key), site);
        }
    }
}

static void check_options(const struct sink_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(is_word(options[i].key, ""));
        assert_true(options[i].sentence != NULL && options[i].sentence[0] != '\0');
        assert_true(options[i].type > SINK_OPTION_NONE && options[i].type <= SINK_OPTION_TEXT);
        if (options[i].type != SINK_OPTION_TEXT) {
            /* 0 may stand for an option that is not given. */
            assert_true(options[i].fallback == 0 || options[i].fallback >= options[i].min);
            assert_true(options[i].fallback <= options[i].max);
        }
        assert_int_equal(options[i].type == SINK_OPTION_ENUM, options[i].names != NULL);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(options[i].key, options[k].key);
        }
    }
}

/* Goal: sinks and models can be found by name, a sink by an unmistakable beginning, too, and their
 * option tables are sound. */
static void sinks_and_models_are_found_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < catalogue_sink_count; i++) {
        const struct sink_type *sink = catalogue_sinks[i];
        assert_ptr_equal(catalogue_sink(bytes_of_text(sink->name)), sink);
        assert_int_equal(sink->abi_version, SINK_ABI_VERSION);
        assert_int_equal(sink->type_size, sizeof(struct sink_type));
        assert_non_null(wiring_of(sink->service));
        check_options(sink->options, sink->option_count);
    }
    for (size_t i = 0; i < catalogue_model_count; i++) {
        const struct model_type *model = catalogue_models[i];
        assert_ptr_equal(catalogue_model(bytes_of_text(model->name)), model);
        check_options(model->options, model->option_count);
    }
    assert_string_equal(catalogue_sink(BYTES_LITERAL("cloudtasks-ex"))->name,
                        "cloudtasks-exactly-once");
    assert_null(catalogue_sink(BYTES_LITERAL("cloudtasks")));
    assert_null(catalogue_sink(BYTES_LITERAL("")));
    assert_null(catalogue_sink(BYTES_LITERAL("cloudtasks-exactly-once-more")));
    assert_null(catalogue_model(BYTES_LITERAL("cloud")));
}

TEST_MAIN(catalogue,
          TEST(sites_ascend_by_key),
          TEST(names_are_unique_words),
          TEST(outcomes_are_licensed),
          TEST(sites_of_models_are_registered),
          TEST(sinks_and_models_are_found_by_name))
