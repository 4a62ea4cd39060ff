/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Bells on the shared-memory btl; steps are those of bell.h.
 *
 *   btl_send, btl_sendi     R1 is the saved function, R2 and R3 follow
 *   btl_progress            B2, and A2 to A5
 *   btl_add_procs           opens the bells of those whom the btl can reach
 *
 * What goes through shared memory and is not rung:
 *
 *   - A fragment that the receiver gives back: the btl does that in its progress function, with no
 *     call that could ring.  A sender waits for it when it sends long messages in fragments (no
 *     single copy, or data with gaps), or has no fragment left.  Therefore a process that has used
 *     btl_send, or was refused by btl_sendi, asks (A1) before it sleeps.
 *   - A message that the btl itself has put off because the receiver's queue was full, and sends in
 *     its progress function.  Its sender asks, too.  The receiver has more than a hundred messages
 *     to read meanwhile; if it sleeps in between, that is a bounded sleep.
 *   - An emulated one-sided operation of 4.1 without single copy (btl_put, btl_get, atomics): its
 *     target, if asleep, answers after a bounded sleep.
 *   - The death of a process.
 *   - A call of a window that changes memory: who makes it looks whether somebody waits for that
 *     (pwr_doorbell_let_go).
 *   - What is not for a collective, by those who ring for nothing else (pwr_doorbell_ring).  What
 *     the btl's progress function sends, to acknowledge a long message for one, is always rung.
 *
 * A single copy needs no ring by itself: pml ob1 tells of its end by btl_send.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/doorbell.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "doorbell_peers.h"
#include "pwr/clock.h"
#include "pwr_ompi/bell.h"
#include "pwr_ompi/modex.h"
#include "pwr_ompi/transport.h"

#include "opal/mca/btl/base/base.h"
#include "opal/mca/btl/btl.h"
#include "opal/util/proc.h"

typedef struct mca_btl_base_endpoint_t endpoint_t;

static const _Atomic uint32_t nobody_waits;

static const char modex_word[] = "bell";

static struct {
    /* What each operation and each message asks: a cache line. */
    _Alignas(PWR_CACHE_LINE) const _Atomic uint32_t *waited; /* of our bell, once it is heard */
    bool rings;                                              /* for what is sent now */
    bool rings_always;
    mca_btl_base_module_sendi_fn_t sendi; /* the saved one */
    pwr_peers_t peers;

    pwr_bell_t bell;
    mca_btl_base_component_progress_fn_t saved_progress;
    bool published;
    bool hung;
    bool lost_one; /* there are more peers than there is room for */
    opal_event_t event;
    mca_btl_base_module_t *btl;
    mca_btl_base_module_t saved;
    _Atomic uint64_t moved;
    _Atomic uint64_t heard;
    _Atomic uint64_t rung;
    uint64_t before; /* events when sleep was announced */
} door = {.waited = &nobody_waits};

/* One thread writes, or it need not be exact. */
static void count(_Atomic uint64_t *counter)
{
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + 1, memory_order_relaxed);
}

/* ---- whom the btl reaches ---- */

static bool find_bell(const opal_proc_t *proc, pwr_bell_address_t *address)
{
    size_t bytes;
    void *sent = pwr_modex_receive(modex_word, &proc->proc_name, &bytes);
    bool ok = NULL != sent && sizeof *address == bytes;
    if (ok) {
        memcpy(address, sent, sizeof *address);
    }
    free(sent);
    return ok && PWR_BELL_VERSION == address->version && address->number < PWR_BELL_MAX_RINGERS;
}

/* endpoint: or, of a process that the btl does not reach, or not yet, the process itself. */
static void add_peer(const void *endpoint, const opal_proc_t *proc)
{
    pwr_bell_address_t address;
    pwr_peers_remove(&door.peers, proc);
    pwr_peer_t *peer = pwr_peers_add(&door.peers, endpoint);
    if (NULL == peer) {
        door.lost_one = true;
        return;
    }
    if (find_bell(proc, &address)) {
        peer->rings = true;
        peer->rings_always = 0 != address.always;
        peer->number = address.number;
        pwr_ringer_open(&peer->ringer, &address, door.bell.address.number);
    }
}

static int add_procs(mca_btl_base_module_t *btl, size_t num, opal_proc_t **procs,
                     endpoint_t **endpoints, opal_bitmap_t *reachable)
{
    int rc = door.saved.btl_add_procs(btl, num, procs, endpoints, reachable);
    for (size_t i = 0; i < num && OPAL_SUCCESS == rc; ++i) {
        if (NULL != endpoints[i] && procs[i] != opal_proc_local_get()) {
            add_peer(endpoints[i], procs[i]);
        }
    }
    return rc;
}

static int del_procs(mca_btl_base_module_t *btl, size_t num, opal_proc_t **procs,
                     endpoint_t **endpoints)
{
    for (size_t i = 0; i < num; ++i) {
        if (NULL != endpoints[i]) {
            pwr_peers_remove(&door.peers, endpoints[i]);
        }
    }
    return door.saved.btl_del_procs(btl, num, procs, endpoints);
}

/* ---- ringing ---- */

bool pwr_doorbell_ring(bool on)
{
    bool before = door.rings;
    if (!door.rings_always) {
        door.rings = on;
    }
    return before;
}

void pwr_doorbell_ring_always(void)
{
    door.rings = door.rings_always = true;
}

/* R2, R3 */
static void ring(const pwr_peer_t *peer)
{
    if (NULL != peer->ringer.page && pwr_ringer_ring(&peer->ringer)) {
        count(&door.rung);
    }
}

static int send_and_ring(mca_btl_base_module_t *btl, endpoint_t *endpoint,
                         mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag)
{
    int rc = door.saved.btl_send(btl, endpoint, descriptor, tag); /* R1 */
    pwr_peer_t *peer = pwr_peers_find(&door.peers, endpoint);
    if (NULL != peer) {
        atomic_store_explicit(&peer->sent, true, memory_order_relaxed);
        if (door.rings) {
            ring(peer);
        }
    }
    return rc;
}

static int sendi_and_ring(mca_btl_base_module_t *btl, endpoint_t *endpoint,
                          struct opal_convertor_t *convertor, void *header, size_t header_bytes,
                          size_t payload_bytes, uint8_t order, uint32_t flags,
                          mca_btl_base_tag_t tag, mca_btl_base_descriptor_t **descriptor)
{
    int rc = door.sendi(btl, endpoint, convertor, header, header_bytes, payload_bytes, order, flags,
                        tag, descriptor); /* R1 */
    if (OPAL_SUCCESS == rc && !door.rings) {
        return rc;
    }
    pwr_peer_t *peer = pwr_peers_find(&door.peers, endpoint);
    if (NULL != peer && OPAL_SUCCESS == rc) {
        ring(peer);
    } else if (NULL != peer) {
        atomic_store_explicit(&peer->sent, true, memory_order_relaxed);
    }
    return rc;
}

static int progress_btl(void)
{
    return NULL == door.saved_progress ? 0 : door.saved_progress();
}

/* What a peer sent before it asked is in its queue: looking until nothing is left gives it back.
   Where threads do this at the same time, one may ring for another that still looks: that costs a
   bounded sleep. */
static void answer(void)
{
    enum { LOOKS = 64 };             /* who sends faster than we can look gets on without us */
    pwr_bell_take_asked(&door.bell); /* A2 */
    for (size_t i = 0; i < door.peers.count; ++i) {
        pwr_peer_t *peer = &door.peers.all[i];
        if (peer->rings && pwr_bell_take_ask(&door.bell, peer->number)) { /* A3 */
            atomic_store_explicit(&peer->asks, true, memory_order_relaxed);
        }
    }
    for (int i = 0; i < LOOKS && progress_btl() > 0; ++i) { /* A4 */
        count(&door.moved);
    }
    for (size_t i = 0; i < door.peers.count; ++i) {
        pwr_peer_t *peer = &door.peers.all[i];
        if (atomic_load_explicit(&peer->asks, memory_order_relaxed)) {
            atomic_store_explicit(&peer->asks, false, memory_order_relaxed);
            atomic_thread_fence(memory_order_seq_cst); /* what A4 gave back, pairs with B1 */
            ring(peer);                                /* A5 */
        }
    }
}

static int look(void)
{
    bool before = pwr_doorbell_ring(true);
    int moved = progress_btl();
    if (moved > 0) {
        count(&door.moved);
    }
    if (pwr_bell_is_asked(&door.bell)) {
        answer();
    }
    pwr_doorbell_ring(before);
    return moved;
}

/* ---- waits that calls of others end ---- */

static bool is_member(const pwr_doorbell_group_t *group, const pwr_peer_t *peer)
{
    return peer->rings && 0 != (group->members[peer->number / 64] >> peer->number % 64 & 1);
}

bool pwr_doorbell_group_rings(const pwr_doorbell_group_t *group)
{
    int members = 0, ringers = 0;
    for (size_t i = 0; i < sizeof group->members / sizeof group->members[0]; ++i) {
        members += __builtin_popcountll(group->members[i]);
    }
    for (size_t i = 0; i < door.peers.count; ++i) {
        const pwr_peer_t *peer = &door.peers.all[i];
        ringers += NULL != peer->ringer.page && is_member(group, peer) &&
                   pwr_bell_is_rung_by(&door.bell, peer->number);
    }
    return group->known && members == ringers;
}

/* All waits are taken away before anybody is rung: one that comes later is for another call. */
static void wake_waiters(void)
{
    pwr_bell_take_waited(&door.bell); /* W2 */
    for (size_t i = 0; i < door.peers.count; ++i) {
        const pwr_peer_t *peer = &door.peers.all[i];
        if (peer->rings && pwr_bell_take_wait(&door.bell, peer->number)) { /* W3 */
            ring(peer);
        }
    }
}

void pwr_doorbell_let_go(void)
{
    atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps W2 behind R1 */
    if (0 != atomic_load_explicit(door.waited, memory_order_relaxed)) {
        wake_waiters();
    }
}

/* ---- sleeping ---- */

bool pwr_doorbell_is_rung_by(const mca_btl_base_module_t *btl, bool collectives)
{
    if (!door.hung || btl != door.btl || door.peers.count < door.peers.room || door.lost_one) {
        return false; /* or not all of the node are known yet */
    }
    for (size_t i = 0; i < door.peers.count; ++i) {
        const pwr_peer_t *peer = &door.peers.all[i];
        if (!(collectives ? peer->rings : peer->rings_always) ||
            !pwr_bell_is_rung_by(&door.bell, peer->number)) {
            return false;
        }
    }
    return true;
}

/* A1.  Once for all that was sent until now. */
static void ask(void)
{
    for (size_t i = 0; i < door.peers.count; ++i) {
        pwr_peer_t *peer = &door.peers.all[i];
        if (NULL != peer->ringer.page && atomic_load_explicit(&peer->sent, memory_order_relaxed)) {
            atomic_store_explicit(&peer->sent, false, memory_order_relaxed);
            pwr_ringer_ask(&peer->ringer);
        }
    }
}

/* W1 */
static void wait_for(const pwr_doorbell_group_t *group)
{
    for (size_t i = 0; i < door.peers.count; ++i) {
        const pwr_peer_t *peer = &door.peers.all[i];
        if (NULL != peer->ringer.page && is_member(group, peer)) {
            pwr_ringer_wait_for(&peer->ringer);
        }
    }
}

uint64_t pwr_doorbell_events(void)
{
    return atomic_load_explicit(&door.moved, memory_order_relaxed) +
           atomic_load_explicit(&door.heard, memory_order_relaxed);
}

bool pwr_doorbell_is_quiet(void)
{
    return door.before == pwr_doorbell_events();
}

/* By a clock that is read after B1: as long as nothing comes, and once more when the time is over,
 * however late that is seen. */
static void look_for(uint64_t ns)
{
    uint64_t begin = pwr_now_ns();
    while (pwr_doorbell_is_quiet() && pwr_now_ns() - begin < ns) {
        look();
    }
    look();
}

bool pwr_doorbell_may_sleep(const pwr_doorbell_group_t *group)
{
    door.before = pwr_doorbell_events();
    if (door.hung) {
        pwr_bell_sleeps(&door.bell, true); /* B1 */
        ask();
        if (NULL != group) {
            wait_for(group);
        }
        look_for(PWR_WAIT_LINGER_NS); /* B2 */
    }
    return pwr_doorbell_is_quiet();
}

void pwr_doorbell_awake(void)
{
    if (door.hung) {
        pwr_bell_sleeps(&door.bell, false); /* B4 */
    }
}

/* B3: called by the event loop, asleep or in progress. */
static void hear(int fd, short events, void *arg)
{
    (void)fd;
    (void)events;
    (void)arg;
    pwr_bell_hush(&door.bell);
    count(&door.heard);
}

pwr_doorbell_counts_t pwr_doorbell_counts(void)
{
    return (pwr_doorbell_counts_t){
        .heard = atomic_load_explicit(&door.heard, memory_order_relaxed),
        .rung = atomic_load_explicit(&door.rung, memory_order_relaxed),
    };
}

/* ---- up and down ---- */

/* Every other process of the node costs a file descriptor. */
static bool may_open_enough(const pwr_env_t *env)
{
    enum { OF_A_BELL = 3 };
    return pwr_env_may_keep(env, OF_A_BELL + (unsigned)opal_process_info.num_local_peers);
}

void pwr_doorbell_publish(const pwr_env_t *env, bool always)
{
    static const pwr_bell_address_t none;
    bool open =
        may_open_enough(env) && 0 == pwr_bell_open(&door.bell, opal_process_info.my_local_rank);
    if (open) {
        door.bell.address.always = always;
    }
    door.published = pwr_modex_send(modex_word, PWR_MODEX_NODE, open ? &door.bell.address : &none,
                                    sizeof none) &&
                     open;
    if (open && !door.published) {
        pwr_bell_close(&door.bell);
    }
}

static mca_btl_base_module_t *find_btl(void)
{
    mca_btl_base_selected_module_t *selected;
    OPAL_LIST_FOREACH(selected, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t)
    {
        if (pwr_btl_is_shared_memory(selected->btl_module)) {
            return selected->btl_module;
        }
    }
    return NULL;
}

static bool listen_to_bell(void)
{
    return 0 == opal_event_set(opal_sync_event_base, &door.event, door.bell.pipe[0],
                               OPAL_EV_READ | OPAL_EV_PERSIST, hear, NULL) &&
           0 == opal_event_add(&door.event, NULL);
}

/* The bml registers btl_progress, as it then is, when it first adds processes. */
static void interpose(void)
{
    door.saved = *door.btl;
    door.saved_progress = door.btl->btl_component->btl_progress;
    door.btl->btl_add_procs = add_procs;
    door.btl->btl_del_procs = del_procs;
    door.btl->btl_send = send_and_ring;
    door.sendi = door.saved.btl_sendi;
    if (NULL != door.sendi) {
        door.btl->btl_sendi = sendi_and_ring;
    }
    door.btl->btl_component->btl_progress = look;
}

/* It reaches those of this job and node, and no others. */
static bool make_bell_heard(void)
{
    door.hung =
        pwr_peers_make_room(&door.peers, opal_process_info.num_local_peers) && listen_to_bell();
    if (door.hung) {
        door.waited = &door.bell.page->waited;
    }
    return door.hung;
}

/* Without the btl; not where several threads would hear it. */
static bool hang_alone(void)
{
    return door.hung || 0 == opal_process_info.num_local_peers ||
           (door.published && !opal_using_threads() && make_bell_heard());
}

void pwr_doorbell_hang(bool threads)
{
    door.rings_always =
        threads || 0 != door.bell.address.always; /* threads then never write rings */
    door.rings = door.rings_always;
    door.btl = door.published ? find_btl() : NULL;
    if (NULL == door.btl || NULL == door.btl->btl_component->btl_progress ||
        0 == opal_process_info.num_local_peers) {
        door.btl = NULL;
    } else if (make_bell_heard()) {
        interpose();
    }
}

/* Those that were looked for: PMIx of 5.0 loses memory with each look. */
static struct {
    opal_process_name_t process;
    unsigned number;
} bells[PWR_BELL_MAX_RINGERS];
static size_t num_bells;

static bool find_number(const opal_proc_t *proc, unsigned *number)
{
    pwr_bell_address_t address;
    for (size_t i = 0; i < num_bells; ++i) {
        if (0 == opal_compare_proc(bells[i].process, proc->proc_name)) {
            *number = bells[i].number;
            return true;
        }
    }
    if (!find_bell(proc, &address)) {
        return false;
    }
    *number = address.number;
    if (num_bells < PWR_BELL_MAX_RINGERS) {
        bells[num_bells].process = proc->proc_name;
        bells[num_bells++].number = *number;
    }
    return true;
}

static void add_member(pwr_doorbell_group_t *group, const opal_proc_t *proc)
{
    unsigned number;
    if (!find_number(proc, &number)) {
        group->known = false;
        return;
    }
    group->members[number / 64] |= UINT64_C(1) << number % 64;
    for (size_t i = 0; i < door.peers.count; ++i) {
        if (door.peers.all[i].rings && number == door.peers.all[i].number) {
            return;
        }
    }
    add_peer(proc, proc);
}

void pwr_doorbell_stores(const opal_proc_t *process)
{
    unsigned number;
    for (size_t i = 0; find_number(process, &number) && i < door.peers.count; ++i) {
        const pwr_peer_t *peer = &door.peers.all[i];
        if (peer->rings && number == peer->number && NULL != peer->ringer.page) {
            pwr_ringer_stores(&peer->ringer);
        }
    }
}

bool pwr_doorbell_is_stored_past(void)
{
    return door.hung && pwr_bell_is_stored_past(&door.bell);
}

void pwr_doorbell_group(struct ompi_communicator_t *comm, pwr_doorbell_group_t *group)
{
    *group = (pwr_doorbell_group_t){.known = hang_alone(), .is_whole = true};
    for (int i = 0; group->known && i < ompi_comm_size(comm); ++i) {
        const opal_proc_t *proc = &ompi_comm_peer_lookup(comm, i)->super;
        if (!OPAL_PROC_ON_LOCAL_NODE(proc->proc_flags)) {
            group->is_whole = false;
        } else if (proc != opal_proc_local_get()) {
            add_member(group, proc);
        }
    }
}

/* Only what is still ours: others may have come after us. */
#define PUT_BACK(function, ours)                                                                   \
    if ((ours) == door.btl->function) {                                                            \
        door.btl->function = door.saved.function;                                                  \
    }

static void put_back(void)
{
    PUT_BACK(btl_add_procs, add_procs)
    PUT_BACK(btl_del_procs, del_procs)
    PUT_BACK(btl_send, send_and_ring)
    PUT_BACK(btl_sendi, sendi_and_ring)
    if (look == door.btl->btl_component->btl_progress) {
        door.btl->btl_component->btl_progress = door.saved_progress;
    }
    /* This component's code may be gone before the bml is. */
    opal_progress_unregister(look);
}

void pwr_doorbell_take_down(void)
{
    num_bells = 0;
    if (door.hung) {
        door.hung = false;
        door.waited = &nobody_waits;
        opal_event_del(&door.event);
        if (NULL != door.btl) {
            put_back();
        }
    }
    pwr_peers_free(&door.peers);
    if (door.published) {
        door.published = false;
        pwr_bell_close(&door.bell);
    }
}
