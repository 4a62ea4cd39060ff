# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For shared_memory.sh and tcp.sh: all traffic at 1, 2 and 4 ranks over one transport.
. "$(dirname "$0")/mpi.sh"
: "${OMPI_INFO:=ompi_info}"

# has_btl NAME: Open MPI was built with it
has_btl() {
    "$OMPI_INFO" --parsable | grep -q "^mca:btl:$1:version:"
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
        run "$np" ./transports
        [ "$status" -eq 0 ] || fail "np $np, $what"
        # 22 sizes; for each pair of ranks 24 messages.
        wanted=$((22 * 24 * np * np))
        [ "$(cat "$work/out")" = "$wanted checks ok" ] || fail "np $np, $what: not $wanted checks"
        echo "np $np, $what: $(cat "$work/out")"
    done
}
