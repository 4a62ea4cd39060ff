# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For scripts of tests whose jobs may hang; to be sourced.  Environment: PWR_SRCDIR.  WORK: a folder of the script's.
# shellcheck shell=bash
: "${PWR_SRCDIR:?}"

# As timeout(1): the exit status is the command's, or 124 if it was ended because it took too long.
within() { # seconds, command
    local seconds=$1 status=0
    shift
    rm -f "$WORK/stacks"
    end_when_late "$seconds" >/dev/null 2>&1 &
    local watcher=$!
    (echo "$BASHPID" >"$WORK/launcher" && exec "$@") || status=$?
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
    [ ! -f "$WORK/stacks" ] || status=124
    return $status
}

# Only seconds count in which it looks: where the machine stands still (a virtual one that is paused), so does the command.
end_when_late() { # seconds
    local left
    trap 'kill $!; exit' TERM
    for ((left = $1; left > 0; --left)); do
        sleep 1 &
        wait $!
    done
    "$PWR_SRCDIR/harness/stacks" $$ >"$WORK/stacks" 2>&1
    kill "$(cat "$WORK/launcher")"
    sleep 60 &
    wait $!
    kill -KILL "$(cat "$WORK/launcher")"
}

# Of a command that took too long: where its processes were before they were ended.
where_it_was() {
    sed 's/^/    /' "$WORK/stacks"
}
