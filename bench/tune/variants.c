/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is compared: a communicator of its own for each variant, in one and the same job.
 *
 * The info key coll_poweraware_algorithm says what our component does on a communicator, and Open
 * MPI's ompi_comm_coll_preference whose functions come first.  Which algorithms there are, the
 * component's parameters say (MPI_T).
 */
#include "config.h"

#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if OMPI_MAJOR_VERSION >= 5
#define HAN_PRIORITY NULL
#else
#define HAN_PRIORITY "coll_han_priority"
#endif
enum { ABOVE_BASIC = 12 };

/* Components of Open MPI and the collectives they have functions for; NULL: all. */
static const struct {
    const char *name;
    const char *collectives;
    const char *priority; /* parameter, where the component's default is to be left out */
} components[] = {
    {"adapt", "bcast,reduce", "coll_adapt_priority"},
    {"basic", NULL, NULL},
    {"han", "allgather,allreduce,alltoall,barrier,bcast,gather,reduce,scatter", HAN_PRIORITY},
    {"sm", "allreduce,barrier,bcast,reduce", "coll_sm_priority"},
    {"tuned", NULL, NULL},
    {"xhc", "allreduce,barrier,bcast,reduce", "coll_xhc_priority"},
};
enum { COMPONENTS = sizeof components / sizeof components[0] };

static const char stock[] = "stock"; /* as a word: our component calls the stock function */
static const char copy[] = "copy";
static const char left_alone[] = "off"; /* the word for a communicator without us */

static void set_parameter(const char *name, const char *value)
{
    char variable[96];
    snprintf(variable, sizeof variable, "OMPI_MCA_%s", name);
    setenv(variable, value, 0);
}

void tune_variants_environment(const tune_options_t *options)
{
    set_parameter("coll_poweraware_priority", "95");
    set_parameter("coll_poweraware_scheme", "auto");
    /* Levers move around stock functions as well: they are no part of the comparison. */
    set_parameter("coll_poweraware_pstates", "0");
    set_parameter("coll_poweraware_tstates", "0");
    for (int i = 0; i < COMPONENTS; i++) {
        if (components[i].priority && tune_list_has(options->variants, components[i].name)) {
            char priority[8];
            snprintf(priority, sizeof priority, "%d", ABOVE_BASIC);
            set_parameter(components[i].priority, priority);
        }
    }
}

static tune_variant_t *find(tune_variants_t *variants, const char *name)
{
    for (int i = 0; i < variants->num; i++) {
        if (strcmp(variants->variant[i].name, name) == 0) {
            return &variants->variant[i];
        }
    }
    return NULL;
}

/* NULL: there are too many. */
static tune_variant_t *add(tune_variants_t *variants, const char *name, const char *word,
                           const char *preference)
{
    tune_variant_t *variant = find(variants, name);
    if (!variant && variants->num < TUNE_VARIANTS_MAX) {
        variant = &variants->variant[variants->num++];
        *variant = (tune_variant_t){.preference = preference};
        snprintf(variant->name, sizeof variant->name, "%s", name);
        variant->word = word ? word : variant->name;
    }
    return variant;
}

/* The words of one of the component's parameters that are algorithms.  Components that are variants
   themselves are not ours. */
static void add_algorithms(tune_variants_t *variants, const tune_options_t *options, int collective,
                           MPI_T_enum words)
{
    int num;
    char name[TUNE_NAME_MAX];
    int length = sizeof name;
    MPI_T_enum_get_info(words, &num, name, &length);
    for (int i = 0; i < num; i++) {
        int value;
        length = sizeof name;
        MPI_T_enum_get_item(words, i, &value, name, &length);
        tune_variant_t *known = find(variants, name);
        if (strcmp(name, "choose") == 0 || (known && !known->is_ours) ||
            (options->variants && !tune_list_has(options->variants, name))) {
            continue;
        }
        tune_variant_t *variant = add(variants, name, NULL, NULL);
        if (variant) {
            variant->is_ours = true;
            variant->has[collective] = true;
        }
    }
}

static bool find_algorithms(tune_variants_t *variants, const tune_options_t *options)
{
    int num = 0;
    bool found = false;
    for (int c = 0; c < pwr_osu_num_benchmarks; c++) {
        char name[96];
        int index;
        MPI_T_enum words = MPI_T_ENUM_NULL;
        MPI_Datatype type;
        int verbosity, binding, scope;
        num = sizeof name;
        snprintf(name, sizeof name, "coll_poweraware_%s_algorithm", pwr_osu_benchmarks[c].name);
        if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
            MPI_T_cvar_get_info(index, name, &num, &verbosity, &type, &words, NULL, NULL, &binding,
                                &scope) != MPI_SUCCESS ||
            words == MPI_T_ENUM_NULL) {
            continue;
        }
        found = true;
        add_algorithms(variants, options, c, words);
    }
    return found;
}

/* The component's own count of the calls its algorithms took. */
static bool open_counter(tune_variants_t *variants)
{
    int index;
    int num;
    return MPI_T_pvar_get_index("coll_poweraware_handled", MPI_T_PVAR_CLASS_COUNTER, &index) ==
               MPI_SUCCESS &&
           MPI_T_pvar_session_create(&variants->session) == MPI_SUCCESS &&
           MPI_T_pvar_handle_alloc(variants->session, index, NULL, &variants->handled, &num) ==
               MPI_SUCCESS;
}

unsigned long long tune_variants_handled(const tune_variants_t *variants)
{
    unsigned long long calls = 0;
    MPI_T_pvar_read(variants->session, variants->handled, &calls);
    return calls;
}

void tune_variants_close(tune_variants_t *variants)
{
    if (variants->num > 0) {
        MPI_T_pvar_handle_free(variants->session, &variants->handled);
        MPI_T_pvar_session_free(&variants->session);
        MPI_T_finalize();
    }
}

static void add_stock(tune_variants_t *variants, const char *name, const char *word,
                      const char *preference, const char *collectives)
{
    tune_variant_t *variant = add(variants, name, word, preference);
    for (int c = 0; variant && c < pwr_osu_num_benchmarks; c++) {
        variant->has[c] = !collectives || tune_list_has(collectives, pwr_osu_benchmarks[c].name);
    }
}

/* Where there is a message. */
static void add_copy(tune_variants_t *variants)
{
    tune_variant_t *variant = add(variants, copy, left_alone, NULL);
    for (int c = 0; variant && c < pwr_osu_num_benchmarks; c++) {
        variant->copies = true;
        variant->has[c] = pwr_osu_benchmarks[c].data->unit > 0;
    }
}

/* Every word of the option must have become a variant. */
static bool all_found(tune_variants_t *variants, const char *list)
{
    char name[TUNE_NAME_MAX];
    while (tune_list_next(&list, name)) {
        if (!find(variants, name)) {
            return tune_refuse("option --variants: \"%s\" is neither stock, auto, copy, one of our "
                               "algorithms nor a component of Open MPI known here",
                               name);
        }
    }
    return true;
}

bool tune_variants_find(tune_variants_t *variants, const tune_options_t *options)
{
    *variants = (tune_variants_t){.num = 0};
    add_stock(variants, stock, options->variants ? left_alone : stock, NULL, NULL);
    for (int i = 0; i < COMPONENTS; i++) {
        if (tune_list_has(options->variants, components[i].name)) {
            add_stock(variants, components[i].name, left_alone, components[i].name,
                      components[i].collectives);
        }
    }
    if (tune_list_has(options->variants, "auto")) {
        add_stock(variants, "auto", "choose", NULL, NULL);
    }
    if (tune_list_has(options->variants, copy)) {
        add_copy(variants);
    }
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (!find_algorithms(variants, options) || !open_counter(variants)) {
        variants->num = 0;
        MPI_T_finalize();
        return tune_refuse(
            "Open MPI has not loaded coll_poweraware: install it, or name its folder with "
            "OMPI_MCA_mca_base_component_path, and do not leave it out with --mca coll");
    }
    return all_found(variants, options->variants);
}

MPI_Comm tune_variant_open(const tune_variant_t *variant, MPI_Comm base)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "coll_poweraware_algorithm", variant->word);
    if (variant->preference) {
        MPI_Info_set(info, "ompi_comm_coll_preference", variant->preference);
    }
    MPI_Comm_dup_with_info(base, info, &comm);
    MPI_Info_free(&info);
    return comm;
}
