# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# Which algorithms the component offers: asked of Open MPI, so that a new one is tested at once.  Functions of coll/basic are
# among them; to call those of coll/tuned would be no other test.
# Sourced, with bash, behind jobs.sh.  Sets names, rounds; the word forced sets FORCED.
# Environment: PWR_LISTED, a folder with the component to ask: one with sanitizers cannot be loaded
# by ompi_info, which has none (default: the one under test).  LEFT_OUT: an algorithm of which the test has no use.
# shellcheck shell=bash disable=SC2034 # for those who source this

declare -A names=() # collective -> its algorithms
while read -r collective name; do
    names[$collective]+="$name "
done < <(OMPI_MCA_mca_base_component_path=${PWR_LISTED:-$PWR_BUILDDIR/coll_poweraware/component}:SYS_DEFAULT \
    "${OMPI_INFO:-ompi_info}" --param coll poweraware --level 9 --parsable |
    sed -n 's/.*:coll_poweraware_\([a-z_]*\)_algorithm:enumerator:value:[0-9]*:\(.*\)/\1 \2/p' | grep -v " tuned\$\| ${LEFT_OUT:-none}\$")
if [ ${#names[@]} = 0 ]; then
    echo "FAILED: ompi_info names no algorithm of the component"
    exit 1
fi
rounds=0 # in round k every collective takes its algorithm k, and begins again behind its last
for names_of_one in "${names[@]}"; do
    read -ra list <<<"$names_of_one"
    rounds=$((${#list[@]} > rounds ? ${#list[@]} : rounds))
done

forced() { # round: sets FORCED
    local round=$1 collective list
    FORCED=()
    for collective in "${!names[@]}"; do
        read -ra list <<<"${names[$collective]}"
        FORCED+=(--mca "coll_poweraware_${collective}_algorithm" "${list[round % ${#list[@]}]}")
    done
}
