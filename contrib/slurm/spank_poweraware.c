/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Slurm's option --poweraware: environment of a job's tasks, and the job's joules in its comment.
 *
 * On the nodes, before tasks start, slurm_spank_user_init takes back what an enclosing batch script
 * has got from us, and sets anew what the option, or the site's default, says. Of each variable
 * that we set, SPANK_<name> has the value, too. One that differs from it is the user's own and
 * stays, but for --poweraware=off.
 *
 * Nothing here fails a job. Only a wrong value of the option is an error, and that where the job is
 * submitted.
 */
#include <stddef.h> /* before spank.h, which needs it */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

SPANK_PLUGIN(poweraware, 1)

#define COLL "OMPI_MCA_coll"
#define PARAMETER "OMPI_MCA_coll_poweraware_"
#define REPORT_DIR PARAMETER "report_dir"
#define COMPONENT_PATH "OMPI_MCA_mca_base_component_path"
#define BATCH "SPANK_POWERAWARE_BATCH" /* the job whose batch script it is */
#define EXCLUDED "^poweraware"

enum { LONGEST_NAME = 80, LONGEST_VALUE = PATH_MAX + 64, COMMENT_MAX_S = 30 };

typedef enum choice {
    CHOICE_NONE,
    CHOICE_OFF,
    CHOICE_AUTO,
    CHOICE_THROTTLE,
    CHOICE_REPORT
} choice_t;

static const char *const words[] = {
    [CHOICE_OFF] = "off",
    [CHOICE_AUTO] = "auto",
    [CHOICE_THROTTLE] = "throttle",
    [CHOICE_REPORT] = "report"};

static const char *const frameworks[] = {COLL, "OMPI_MCA_osc", "OMPI_MCA_scoll"};

/* All variables that we may set. */
static const char *const variables[] = {COLL, "OMPI_MCA_osc", "OMPI_MCA_scoll",
    PARAMETER "idle", PARAMETER "priority", PARAMETER "scheme", PARAMETER "report", REPORT_DIR,
    COMPONENT_PATH};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static choice_t asked;           /* by the option */
static choice_t site_default;    /* of plugstack.conf */
static const char *site_path;    /* likewise */
static const char *site_reports; /* likewise */
static bool comment_later;         /* not when this step ends */
static char job_reports[PATH_MAX]; /* where documents of this job go because we said so; else empty */

/* ---- what is wanted ---- */

static choice_t choice_of(const char *word)
{
    for (size_t i = CHOICE_OFF; i < COUNT(words); i++) {
        if (strcmp(word, words[i]) == 0) {
            return (choice_t)i;
        }
    }
    return CHOICE_NONE;
}

static int take_option(int value, const char *argument, int remote)
{
    (void)value;
    bool without = argument == NULL || argument[0] == '\0' || strcmp(argument, "(null)") == 0;
    choice_t found = without ? CHOICE_AUTO : choice_of(argument);
    if (found != CHOICE_NONE) {
        asked = found;
        return ESPANK_SUCCESS;
    }
    if (!remote) {
        slurm_error("--poweraware=%s: is none of off, auto, throttle and report", argument);
    }
    return remote ? ESPANK_SUCCESS : ESPANK_BAD_ARG;
}

static struct spank_option option = {"poweraware", "off|auto|throttle|report",
    "MPI ranks that wait give their CPU back (default: auto)", 2, 0, take_option};

static const char *value_of(const char *argument, const char *key)
{
    size_t length = strlen(key);
    return strncmp(argument, key, length) == 0 ? argument + length : NULL;
}

static void take_argument(const char *argument)
{
    const char *value = NULL;
    if ((value = value_of(argument, "default=")) != NULL && choice_of(value) != CHOICE_NONE) {
        site_default = choice_of(value);
    } else if ((value = value_of(argument, "component_path=/")) != NULL) {
        site_path = value - 1;
    } else if ((value = value_of(argument, "report_dir=/")) != NULL) {
        site_reports = value - 1;
    } else {
        slurm_error("poweraware: plugstack.conf: %s: is none of default=off|auto|throttle|report, "
                    "component_path=/..., report_dir=/...: ignored", argument);
    }
}

int slurm_spank_init(spank_t sp, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        take_argument(argv[i]);
    }
    spank_context_t context = spank_context();
    if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE) {
        (void)spank_option_register(sp, &option);
    }
    return ESPANK_SUCCESS;
}

/* ---- the environment of tasks ---- */

static bool get(spank_t sp, const char *name, char *value)
{
    return spank_getenv(sp, name, value, LONGEST_VALUE) == ESPANK_SUCCESS;
}

static void name_of_mark(char *mark, const char *name)
{
    snprintf(mark, LONGEST_NAME, "SPANK_%s", name);
}

static void set(spank_t sp, const char *name, const char *value)
{
    char mark[LONGEST_NAME];
    name_of_mark(mark, name);
    if (spank_setenv(sp, name, value, 1) == ESPANK_SUCCESS) {
        (void)spank_setenv(sp, mark, value, 1);
    }
}

/* Outcome: whether it has this value now because of us. */
static bool set_unless_there(spank_t sp, const char *name, const char *value)
{
    char present[LONGEST_VALUE];
    if (spank_getenv(sp, name, present, sizeof present) != ESPANK_ENV_NOEXIST) {
        return false;
    }
    set(sp, name, value);
    return true;
}

static void take_back(spank_t sp)
{
    for (size_t i = 0; i < COUNT(variables); i++) {
        char mark[LONGEST_NAME];
        char ours[LONGEST_VALUE];
        char present[LONGEST_VALUE];
        name_of_mark(mark, variables[i]);
        if (!get(sp, mark, ours)) {
            continue;
        }
        if (get(sp, variables[i], present) && strcmp(present, ours) == 0) {
            (void)spank_unsetenv(sp, variables[i]);
        }
        (void)spank_unsetenv(sp, mark);
    }
}

/* Against modules and files of Open MPI, too: an exclusion in the environment wins over what a file
   selects. Windows and OpenSHMEM follow coll where they do not name us: a file that leaves out others,
   as Debian's does for osc, stays in force. */
static void switch_off(spank_t sp)
{
    char selected[LONGEST_VALUE];
    if (!get(sp, COLL, selected)) {
        set(sp, COLL, EXCLUDED);
    }
    for (size_t i = 0; i < COUNT(frameworks); i++) {
        if (get(sp, frameworks[i], selected) && selected[0] != '^' &&
            strstr(selected, "poweraware") != NULL) {
            set(sp, frameworks[i], EXCLUDED);
        }
    }
    set(sp, PARAMETER "idle", "off"); /* for windows that a file gives us */
    set(sp, PARAMETER "priority", "-1");
    set(sp, PARAMETER "scheme", "off");
}

/* Components of a heterogeneous job have one folder, as they have one MPI job. */
static uint32_t job_of(spank_t sp)
{
    char leader[LONGEST_VALUE];
    uint32_t id = 0;
    if (get(sp, "SLURM_HET_JOB_ID", leader)) {
        return (uint32_t)strtoul(leader, NULL, 10);
    }
    return spank_get_item(sp, S_JOB_ID, &id) == ESPANK_SUCCESS ? id : 0;
}

static bool is_own_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/* Called with the user's rights. Another user may have made a folder of this name in the site's. */
static void set_report_dir(spank_t sp, bool wanted)
{
    char path[PATH_MAX];
    char submitted[LONGEST_VALUE];
    int length = -1;
    if (site_reports != NULL) {
        length = snprintf(path, sizeof path, "%s/%u", site_reports, job_of(sp));
    } else if (wanted && get(sp, "SLURM_SUBMIT_DIR", submitted)) {
        length = snprintf(path, sizeof path, "%s/poweraware-%u", submitted, job_of(sp));
    }
    if (length < 0 || length >= (int)sizeof path) {
        return;
    }
    if ((mkdir(path, 0755) != 0 && errno != EEXIST) || !is_own_folder(path)) {
        slurm_info("poweraware: %s: cannot be made, or is not yours: no report", path);
        return;
    }
    if (set_unless_there(sp, REPORT_DIR, path)) {
        strcpy(job_reports, path);
    }
}

/* Steps of a batch script need not care for the comment: it does when it ends. */
static bool is_left_to_batch(spank_t sp, uint32_t step)
{
    char job[16];
    char batch[LONGEST_VALUE];
    snprintf(job, sizeof job, "%u", job_of(sp));
    if (step == SLURM_BATCH_SCRIPT) {
        (void)spank_setenv(sp, BATCH, job, 1);
        return false;
    }
    return get(sp, BATCH, batch) && strcmp(batch, job) == 0;
}

static void switch_on(spank_t sp, choice_t choice)
{
    set_unless_there(sp, PARAMETER "priority", "77");
    set_unless_there(sp, PARAMETER "scheme", choice == CHOICE_THROTTLE ? "throttle" : "auto");
    if (choice == CHOICE_REPORT) {
        set_unless_there(sp, PARAMETER "report", "summary");
    }
    char path[LONGEST_VALUE];
    if (site_path != NULL && snprintf(path, sizeof path, "%s:SYS_DEFAULT:USER_DEFAULT",
                                 site_path) < (int)sizeof path) {
        set_unless_there(sp, COMPONENT_PATH, path);
    }
    set_report_dir(sp, choice == CHOICE_REPORT);
}

static bool is_of_the_user(spank_t sp, uint32_t *step)
{
    return spank_get_item(sp, S_JOB_STEPID, step) == ESPANK_SUCCESS && *step != SLURM_EXTERN_CONT;
}

int slurm_spank_user_init(spank_t sp, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    uint32_t step = 0;
    if (!is_of_the_user(sp, &step)) {
        return ESPANK_SUCCESS;
    }
    take_back(sp);
    if (asked == CHOICE_OFF) {
        switch_off(sp);
    } else if (asked != CHOICE_NONE) {
        switch_on(sp, asked);
    } else if (site_default != CHOICE_NONE && site_default != CHOICE_OFF) {
        switch_on(sp, site_default);
    }
    comment_later = is_left_to_batch(sp, step);
    return ESPANK_SUCCESS;
}

/* ---- joules in the comment ---- */

typedef struct user {
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    int num_groups;
} user_t;

/* Between fork and exec of a process with threads: system calls only. */
static void become(const user_t *user, char *const *arguments)
{
    static char path[] = "PATH=" BINDIR ":/usr/local/bin:/usr/bin:/bin";
    static char *const environment[] = {path, NULL};
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++) {
        (void)dup2(null, fd);
    }
    setpgid(0, 0);
    signal(SIGTERM, SIG_IGN); /* which descendants of a step get when the job is over */
    if (chdir("/") == 0 && setgroups((size_t)user->num_groups, user->groups) == 0 &&
        setgid(user->gid) == 0 && setuid(user->uid) == 0) {
        execve(arguments[0], arguments, environment);
    }
    _exit(127);
}

static void wait_for(pid_t child)
{
    const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    for (int i = 0; i < COMMENT_MAX_S * 50; i++) {
        pid_t ended = waitpid(child, NULL, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            return;
        }
        nanosleep(&moment, NULL);
    }
    kill(-child, SIGKILL);
    (void)waitpid(child, NULL, 0);
}

/* For scontrol, to whom the number of an array's first job means all of them. */
static void name_of_job(spank_t sp, char *name, size_t room)
{
    uint32_t array = 0;
    uint32_t task = NO_VAL;
    if (spank_get_item(sp, S_JOB_ARRAY_ID, &array) == ESPANK_SUCCESS && array != 0 &&
               spank_get_item(sp, S_JOB_ARRAY_TASK_ID, &task) == ESPANK_SUCCESS && task != NO_VAL) {
        snprintf(name, room, "%u_%u", array, task);
    } else {
        snprintf(name, room, "%u", job_of(sp));
    }
}

/* Before Slurm hears that the step is over, so before the job is and accounting gets its comment.
   With the rights of the user, who may set it: documents are his, and nothing that he writes is
   read by root. */
int slurm_spank_task_exit(spank_t sp, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    uint32_t step = 0;
    uint32_t task = 1;
    user_t user = {0};
    if (job_reports[0] == '\0' || comment_later || !is_of_the_user(sp, &step) ||
        spank_get_item(sp, S_TASK_GLOBAL_ID, &task) != ESPANK_SUCCESS || task != 0 ||
        spank_get_item(sp, S_JOB_UID, &user.uid) != ESPANK_SUCCESS ||
        spank_get_item(sp, S_JOB_GID, &user.gid) != ESPANK_SUCCESS ||
        spank_get_item(sp, S_JOB_SUPPLEMENTARY_GIDS, &user.groups, &user.num_groups) !=
            ESPANK_SUCCESS) {
        return ESPANK_SUCCESS;
    }
    char program[] = COMMENT_PROGRAM;
    char name[32];
    name_of_job(sp, name, sizeof name);
    char *const arguments[] = {program, name, job_reports, NULL};
    pid_t child = fork();
    if (child == 0) {
        become(&user, arguments);
    }
    if (child > 0) {
        wait_for(child);
    }
    return ESPANK_SUCCESS;
}
