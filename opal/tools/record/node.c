/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Adds up the pages of a node.
 */
#include "config.h"

#include "tools/record/node.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pwr/clock.h"

pwr_status_t node_open(node_t *node, const pwr_env_t *env, const about_t *about)
{
    *node = (node_t){.about = about};
    pwr_status_t status =
        pwr_rundir_open(env, about->run_directory, PWR_RUNDIR_EXISTING, &node->rundir);
    if (status == PWR_OK) {
        pwr_page_sweep(node->rundir, NULL);
    }
    return status;
}

void node_close(node_t *node)
{
    for (unsigned i = 0; i < node->num_members; i++) {
        pwr_page_close(&node->members[i].mapped);
    }
    free(node->members);
    if (node->rundir) {
        pwr_page_sweep(node->rundir, node->about->job);
        pwr_rundir_close(node->rundir);
    }
}

/* ---- who is there ---- */

static bool is_known(const node_t *node, const char *name)
{
    for (unsigned i = 0; i < node->num_members; i++) {
        if (strcmp(node->members[i].mapped.name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void add(node_t *node, const char *name)
{
    member_t *members = realloc(node->members, (node->num_members + 1) * sizeof node->members[0]);
    if (!members) {
        return;
    }
    node->members = members;
    if (pwr_page_open(node->rundir, name, true, &members[node->num_members].mapped) == PWR_OK) {
        members[node->num_members].cpu_ns = members[node->num_members].seen_ns = 0;
        node->num_members++;
    }
}

static void find_new(node_t *node)
{
    DIR *directory = opendir(pwr_rundir_name(node->rundir));
    if (!directory) {
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (pwr_page_is_name(entry->d_name, node->about->job) && !is_known(node, entry->d_name)) {
            add(node, entry->d_name);
        }
    }
    closedir(directory);
}

/* Fields 14 and 15 of /proc/<pid>/stat, behind a name that may have anything in it. */
static bool read_cpu_ns(int pid, uint64_t *cpu_ns)
{
    char path[64];
    char text[1024];
    unsigned long user, system;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (pwr_env_read_text(&pwr_env_real, path, text, sizeof text) != PWR_OK) {
        return false;
    }
    const char *behind_name = strrchr(text, ')');
    if (!behind_name ||
        sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) != 2) {
        return false;
    }
    *cpu_ns = (uint64_t)(user + system) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
    return true;
}

static bool is_finished(const member_t *member)
{
    return atomic_load_explicit(&member->mapped.page->finished, memory_order_acquire) != 0;
}

void node_look(node_t *node)
{
    if (node->num_members < node->about->node_processes) {
        find_new(node);
    }
    for (unsigned i = 0; i < node->num_members; i++) {
        member_t *member = &node->members[i];
        uint64_t cpu_ns;
        if (!is_finished(member) && read_cpu_ns(member->mapped.page->pid, &cpu_ns)) {
            member->cpu_ns = cpu_ns > member->cpu_ns ? cpu_ns : member->cpu_ns;
            member->seen_ns = pwr_now_ns();
        }
    }
}

void node_tell(const node_t *node, const energy_t *energy)
{
    for (unsigned i = 0; i < node->num_members; i++) {
        pwr_page_t *page = node->members[i].mapped.page;
        atomic_store_explicit(&page->node_uj, energy->counted_uj, memory_order_relaxed);
        atomic_store_explicit(&page->node_energy,
                              energy->meter ? energy_provenance(energy) + 1U : 0U,
                              memory_order_relaxed);
    }
}

void node_beat(const node_t *node)
{
    for (unsigned i = 0; i < node->num_members; i++) {
        atomic_fetch_add_explicit(&node->members[i].mapped.page->looks, 1, memory_order_relaxed);
    }
}

bool node_is_over(const node_t *node)
{
    for (unsigned i = 0; i < node->num_members; i++) {
        if (!is_finished(&node->members[i]) && pwr_page_is_alive(&node->members[i].mapped)) {
            return false;
        }
    }
    return true;
}

bool node_is_dead(const node_t *node)
{
    for (unsigned i = 0; i < node->num_members; i++) {
        if (pwr_page_is_alive(&node->members[i].mapped)) {
            return false;
        }
    }
    return true;
}

/* ---- what it comes to ---- */

/* Of its first process; 0: nobody is there. */
static uint64_t begin_of(const node_t *node)
{
    uint64_t first_ns = 0;
    for (unsigned i = 0; i < node->num_members; i++) {
        uint64_t begin_ns = node->members[i].mapped.page->begin_ns;
        if (begin_ns > 0 && (first_ns == 0 || begin_ns < first_ns)) {
            first_ns = begin_ns;
        }
    }
    return first_ns;
}

static uint64_t difference(uint64_t more, uint64_t less)
{
    return more > less ? more - less : 0;
}

static void add_page(const member_t *member, pwr_ledger_node_t *entry)
{
    const pwr_page_t *page = member->mapped.page;
    entry->reported++;
    if (!is_finished(member)) {
        entry->wall_ns += difference(entry->end_ns, page->begin_ns);
        entry->cpu_ns += difference(member->cpu_ns, page->begin_cpu_ns);
        return;
    }
    entry->finished++;
    entry->wall_ns += page->wall_ns;
    entry->cpu_ns += page->cpu_ns;
    entry->setup_ns += page->end.setup_ns;
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        pwr_lever_use_add(&entry->levers[i], &page->end.levers[i]);
    }
}

/* The region that a process is in, or was in when it died: what has passed there is not in its page
   yet. */
static void add_open_region(const member_t *member, pwr_account_t *sum)
{
    const pwr_account_t *account = &member->mapped.page->account;
    uint32_t region = atomic_load_explicit(&account->now.region, memory_order_relaxed);
    if (is_finished(member) || region == 0 || region > PWR_ACCOUNT_REGIONS) {
        return;
    }
    pwr_account_region_t open = account->regions[region - 1];
    open.name[sizeof open.name - 1] = '\0';
    pwr_account_region_t *into = pwr_account_region(sum, open.name);
    into->ns += difference(member->seen_ns, account->now.since_ns);
    into->cpu_ns += difference(member->cpu_ns, account->now.since_cpu_ns);
}

pwr_ledger_t *node_ledger(const node_t *node, const energy_t *energy)
{
    pwr_ledger_node_t entry = {.processes = node->about->node_processes,
                               .begin_ns = begin_of(node)};
    pwr_ledger_t *ledger = pwr_ledger_new();
    if (!ledger) {
        return NULL;
    }
    gethostname(entry.host, sizeof entry.host - 1);
    if (pwr_env_read_text(&pwr_env_real, "/proc/sys/kernel/random/boot_id", entry.machine,
                          sizeof entry.machine) != PWR_OK) {
        entry.machine[0] = '\0';
    }
    energy_describe(energy, &entry);
    for (unsigned i = 0; i < node->num_members; i++) {
        add_page(&node->members[i], &entry);
        const pwr_page_t *page = node->members[i].mapped.page;
        pwr_account_merge(&ledger->account, &page->account, page->process);
        add_open_region(&node->members[i], &ledger->account);
    }
    pwr_ledger_attribute(&ledger->account, &entry, pwr_ledger_weights());
    const pwr_series_t power = energy_series(energy, entry.begin_ns);
    if (pwr_ledger_add_node(ledger, &entry, &power) != PWR_OK) {
        pwr_ledger_free(ledger);
        return NULL;
    }
    return ledger;
}
