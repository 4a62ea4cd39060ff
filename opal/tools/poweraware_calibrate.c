/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-calibrate: measures what waiting and moving levers costs here, and writes the table.
 *
 *   1. bind to one core;
 *   2. the wait rungs;
 *   3. the levers of cores, guarded as in any job: whatever ends this program, the guardian
 * restores them;
 *   4. the power of each state, where there is a meter;
 *   5. 3 and 4 for the levers of packages, bound to a whole one;
 *   6. everything back to what it was, and only then the output.
 */
#include "config.h"

#include "pwr/command.h"
#include "pwr/save.h"
#include "tools/calibrate/calibrate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WHY_BYTES = 1024 };

static const calibrate_plan_t thorough = {.samples = 1000,
                                          .series_ns = 2000000000,
                                          .lever_rounds = 25,
                                          .settle_window_ns = 10000000,
                                          .power_windows = 7,
                                          .power_window_ns = 250000000};

static const calibrate_plan_t quick = {.samples = 100,
                                       .series_ns = 250000000,
                                       .lever_rounds = 7,
                                       .settle_window_ns = 4000000,
                                       .power_windows = 3,
                                       .power_window_ns = 100000000};

typedef struct options {
    const calibrate_plan_t *plan;
    bool quick;
    const char *output;     /* NULL: the user's table, or with json nowhere */
    const char *helper_dir; /* NULL: the installed one */
    int cpu;
    bool json;
} options_t;

/* Reasons for what is missing, one line per row. */
typedef struct notes {
    char levers[2][WHY_BYTES]; /* of each scope */
    char meter[WHY_BYTES];
    char rows[PWR_POLICY_NUM_ROWS][128];
} notes_t;

#define AT(member) .at = offsetof(options_t, member)
static const pwr_option_t known[] = {
    {'o', "output", "FILE",
     "where to write (default: your own table, ~/.config/poweraware/calibration.json)",
     pwr_option_text, AT(output)},
    {'j', "json", NULL, "print the table as JSON; writes no file without --output", pwr_option_flag,
     AT(json)},
    {'q', "quick", NULL, "a few seconds, less precise", pwr_option_flag, AT(quick)},
    {'c', "cpu", "N", "measure on the core of CPU N (default: the last one allowed)",
     pwr_option_int, AT(cpu), 0, 65535},
    {0, "helper-dir", "DIR", "where helper programs are (default: where they are installed)",
     pwr_option_text, AT(helper_dir)},
    {0},
};

static const pwr_command_t command = {
    .name = "poweraware-calibrate",
    .usage =
        "Usage: poweraware-calibrate [--quick] [--output FILE] [--json] [--cpu N]\n"
        "\n"
        "Measures on one core of this machine what waiting and moving power levers costs; levers\n"
        "of packages on the whole package. Writes the table from which poweraware decides when\n"
        "they pay. Takes about half a minute; use an idle machine. Needs no rights; without those\n"
        "for levers and meters their rows stay as built in, and the reason is said.\n"
        "\n",
    .options = known,
};

/* ---- measuring ---- */

/* One line on a terminal, overwritten by the next. */
static void progress(const char *what)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K%s%s", what[0] != '\0' ? "measuring " : "", what);
    }
}

static void measure_rungs(const options_t *options, const calibrate_place_t *place,
                          pwr_policy_table_t *table, notes_t *notes)
{
    for (unsigned i = 0; i < PWR_POLICY_LEVERS; i++) {
        pwr_policy_row_id_t id = (pwr_policy_row_id_t)i;
        progress(pwr_policy_row_name(id));
        calibrate_rung(options->plan, place, id, notes->rows[i], sizeof notes->rows[i],
                       &table->rows[i]);
    }
}

static bool is_of(pwr_policy_row_id_t id, pwr_scope_t scope)
{
    return pwr_policy_row_is_lever(id) &&
           pwr_lever_type((pwr_lever_id_t)(id - PWR_POLICY_LEVERS))->scope == scope;
}

static void measure_levers(const options_t *options, pwr_power_t *power, pwr_scope_t scope,
                           pwr_policy_table_t *table, notes_t *notes)
{
    for (unsigned i = 0; i < PWR_NUM_LEVERS; i++) {
        pwr_lever_id_t lever = (pwr_lever_id_t)i;
        pwr_policy_row_id_t row = PWR_POLICY_LEVER(lever);
        if (!is_of(row, scope)) {
            continue;
        }
        progress(pwr_policy_row_name(row));
        calibrate_lever(options->plan, power, lever, notes->rows[row], sizeof notes->rows[row],
                        &table->rows[row]);
    }
}

/* Of the rungs together with the levers of cores. */
static void measure_watts(const options_t *options, const pwr_env_t *env, pwr_power_t *power,
                          pwr_scope_t scope, pwr_policy_table_t *table, notes_t *notes)
{
    calibrate_watts_t *watts =
        calibrate_watts_open(env, pwr_power_topo(power), notes->meter, sizeof notes->meter);
    if (!watts) {
        return;
    }
    snprintf(table->meter, sizeof table->meter, "%s", calibrate_watts_backend(watts));
    for (unsigned i = 0; i < PWR_POLICY_NUM_ROWS; i++) {
        pwr_policy_row_id_t id = (pwr_policy_row_id_t)i;
        bool wanted = is_of(id, scope) || (scope == PWR_SCOPE_CPU && !pwr_policy_row_is_lever(id));
        if (wanted && table->rows[i].origin != PWR_POLICY_ABSENT && calibrate_watts_knows(id)) {
            progress("power");
            table->rows[i].power_w = calibrate_watts_measure(watts, options->plan, power, id);
        }
    }
    calibrate_watts_close(watts);
}

/* Steps 3 and 4. */
static bool measure_with_levers(const options_t *options, const pwr_env_t *env, pwr_scope_t scope,
                                pwr_policy_table_t *table, notes_t *notes)
{
    pwr_power_t *power;
    pwr_power_config_t config = {0};
    for (unsigned i = 0; i < PWR_NUM_LEVERS; i++) {
        config.use[i] = is_of(PWR_POLICY_LEVER((pwr_lever_id_t)i), scope);
    }
    pwr_status_t status = pwr_power_open(env, &config, &power);
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-calibrate: %s\n", pwr_status_text(status));
        return false;
    }
    pwr_power_arm(power);
    measure_levers(options, power, scope, table, notes);
    measure_watts(options, env, power, scope, table, notes);
    snprintf(notes->levers[scope], WHY_BYTES, "%s", pwr_power_why_off(power));
    pwr_power_close(power);
    return true;
}

static bool measure(const options_t *options, const pwr_env_t *env, pwr_policy_table_t *table,
                    notes_t *notes)
{
    calibrate_place_t place;
    pwr_status_t status = pwr_policy_identify(env, table);
    if (status != PWR_OK) {
        fprintf(stderr,
                "poweraware-calibrate: /proc/cpuinfo does not name this processor (%s): a table "
                "could never be matched to it\n",
                pwr_status_text(status));
        return false;
    }
    if (!calibrate_settle_down(env, options->cpu, &place)) {
        return false;
    }
    measure_rungs(options, &place, table, notes);
    bool measured = measure_with_levers(options, env, PWR_SCOPE_CPU, table, notes) &&
                    pwr_cpuset_bind(&place.package) &&
                    measure_with_levers(options, env, PWR_SCOPE_PACKAGE, table, notes);
    progress("");
    return measured;
}

/* ---- output ---- */

static void print_time(uint64_t ns)
{
    if (ns == PWR_POLICY_NS_UNKNOWN) {
        printf(" %11s", "not seen");
    } else {
        printf(" %8.2f us", 1e-3 * (double)ns);
    }
}

static void print_row(pwr_policy_row_id_t id, const pwr_policy_row_t *row)
{
    printf("%-15s", pwr_policy_row_name(id));
    print_time(row->entry_ns);
    print_time(row->exit_ns);
    if (pwr_policy_row_is_lever(id)) {
        print_time(row->entry_settle_ns);
        print_time(row->exit_settle_ns);
    } else {
        printf(" %11s %11s", "", "");
    }
    if (row->power_w >= 0.0) {
        printf(" %8.2f W", row->power_w);
    }
    printf("\n");
}

static void print_text(const pwr_policy_table_t *table, const notes_t *notes)
{
    printf("%s, Linux %s\n\n", table->cpu.name, table->kernel);
    printf("%-15s %11s %11s %11s %11s %10s\n", "", "entry", "exit", "entry obeyed", "exit obeyed",
           "package");
    for (unsigned i = 0; i < PWR_POLICY_NUM_ROWS; i++) {
        if (table->rows[i].origin != PWR_POLICY_ABSENT) {
            print_row((pwr_policy_row_id_t)i, &table->rows[i]);
        } else {
            printf("%-15s not measured: %s\n", pwr_policy_row_name((pwr_policy_row_id_t)i),
                   notes->rows[i]);
        }
    }
    printf("\n");
    for (unsigned scope = 0; scope < 2; scope++) {
        if (notes->levers[scope][0] != '\0') {
            printf("levers: %s\n", notes->levers[scope]);
        }
    }
    if (notes->meter[0] != '\0') {
        printf("no power: %s\n", notes->meter);
    }
}

static bool finish_stdout(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "poweraware-calibrate: standard output: %s\n", strerror(errno));
        return false;
    }
    return true;
}

static bool put_out(const options_t *options, const char *file, const pwr_policy_table_t *table,
                    const notes_t *notes)
{
    char *text;
    pwr_status_t status = pwr_policy_format(table, &text);
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-calibrate: %s\n", pwr_status_text(status));
        return false;
    }
    if (options->json) {
        fputs(text, stdout);
    } else {
        print_text(table, notes);
    }
    bool good = !file || pwr_save(command.name, file, text);
    free(text);
    if (good && file && !options->json) {
        printf("written to %s\n", file);
    }
    return finish_stdout() && good;
}

static void stamp(pwr_policy_table_t *table)
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(table->date, sizeof table->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(table->tool, sizeof table->tool, "poweraware-calibrate %s", PACKAGE_VERSION);
}

/* NULL: no file is wanted.  False: there is nowhere to write. */
static bool choose_file(const options_t *options, char user[PATH_MAX], const char **file)
{
    *file = options->output;
    if (!options->output && !options->json) {
        if (pwr_policy_user_path(user, PATH_MAX) != PWR_OK) {
            fputs("poweraware-calibrate: no home folder to write to: use --output or --json\n",
                  stderr);
            return false;
        }
        *file = user;
    }
    return !*file || pwr_save_check(command.name, *file);
}

int main(int argc, char **argv)
{
    options_t options = {.cpu = -1};
    char user[PATH_MAX];
    const char *file;
    pwr_command_read(&command, &options, NULL, argc, argv);
    options.plan = options.quick ? &quick : &thorough;
    if (!choose_file(&options, user, &file)) {
        return EXIT_FAILURE;
    }
    pwr_policy_table_t table = {0};
    notes_t notes = {0};
    pwr_env_t env = pwr_env_real;
    env.helper_dir = options.helper_dir;
    if (!measure(&options, &env, &table, &notes)) {
        return EXIT_FAILURE;
    }
    stamp(&table);
    return put_out(&options, file, &table, &notes) ? EXIT_SUCCESS : EXIT_FAILURE;
}
