# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For shared_memory.sh and tcp.sh: all traffic at 1, 2 and 4 ranks over one transport.
. "$(dirname "$0")/mpi.sh"
: "${OMPI_INFO:=ompi_info}"

# has FRAMEWORK NAME: Open MPI was built with that component
has() {
    "$OMPI_INFO" --parsable | grep -q "^mca:$1:$2:version:"
}

# check WANTED WHAT: the last run ended with so many checks
check() {
    [ "$status" -eq 0 ] || fail "$2"
    [ "$(cat "$work/out")" = "$1 checks ok" ] || fail "$2: not $1 checks"
    echo "$2: $(cat "$work/out")"
}

# windows WHAT: one-sided traffic over it, with each component for windows that uses the BTL or messages
windows() {
    for osc in rdma pt2pt; do
        has osc "$osc" || continue
        for np in 1 2 4; do
            if has_no_window "np $np, $1, osc $osc"; then
                echo "left out, a failure of stock Open MPI 4.1: np $np, $1, osc $osc"
                continue
            fi
            OMPI_MCA_osc=$osc run "$np" ./transports put get accumulate
            # 22 sizes; for each pair of ranks 24 messages.
            check $((22 * 24 * np * np)) "np $np, $1, osc $osc"
        done
    done
}

# has_no_window NAME: MPI_Win_create of stock Open MPI 4.1 fails there
has_no_window() {
    case "$1" in
    *", tcp "*", osc rdma" | *"mechanism none, osc rdma" | "np 1, vader, osc rdma") has btl vader ;;
    *) false ;;
    esac
}

# carry BTL [PARAMETER VALUE]...: pml ob1 and nothing but self and BTL, so no other can help out.
# The parameters stay set for the rest of the test.
carry() {
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl="self,$1"
    what=$*
    shift
    while [ $# -gt 0 ]; do
        export "OMPI_MCA_$1=$2"
        shift 2
    done
    for np in 1 2 4; do
        run "$np" ./transports shift window unexpected from_any probe strided
        # 22 sizes; for each pair of ranks 24 messages.
        check $((22 * 24 * np * np)) "np $np, $what"
    done
    windows "$what"
}
