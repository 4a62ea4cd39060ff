#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# Command line: what is refused, in which words, and what every option changes.
. "$(dirname "$0")/../../../btl_tests/tests/mpi.sh"

# check_refusal STATUS TEXT BENCHMARK ARGS: the last run printed one line and no results
check_refusal() {
    [ "$status" -eq "$1" ] || fail "$3 $4: status is not $1"
    [ "$(grep -c "^$3: " "$work/err")" -eq 1 ] || fail "$3 $4: not one line"
    grep -q "^$3: $2" "$work/err" || fail "$3 $4: not \"$2\""
    [ -s "$work/out" ] && fail "$3 $4: results in spite of the error"
}

# refuse STATUS TEXT BENCHMARK ARGS...: without mpirun, which takes a second over each failure; options are read
# before MPI_Init
refuse() {
    wanted=$1 text=$2 benchmark=$3
    shift 3
    "./$benchmark" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check_refusal "$wanted" "$text" "$benchmark" "$*"
}

# Of several ranks only one speaks, and mpirun hands the status on.
run 2 ./osu_bcast --bogus
check_refusal 2 'unknown option --bogus' osu_bcast --bogus
run 2 ./osu_reduce --root 2
check_refusal 2 'option --root: 2 is not one of the 2 ranks (0 to 1)' osu_reduce '--root 2'
run 2 ./osu_alltoall -m 64:128 -M 255
check_refusal 2 'option --mem-limit: 255 bytes are too few' osu_alltoall --mem-limit
run 2 ./osu_reduce --json "$work/none/x.json"
check_refusal 1 'option --json: cannot write .*: No such file' osu_reduce --json

refuse 2 'unknown option --bogus' osu_bcast --bogus
refuse 2 'unknown option -q' osu_bcast -fq
refuse 2 'unexpected argument "64"' osu_bcast 64
refuse 2 'option --full: takes no value' osu_bcast --full=yes
refuse 2 'option --message-size: needs a value' osu_bcast -m
for bad in x 3x -3 0x10 '' ' 3' 1.5 : :4 4:x 4:8:16 99999999999999999999 2147483648; do
    refuse 2 "option --message-size: \"$bad\" is not" osu_bcast "--message-size=$bad"
done
refuse 2 'option --message-size: MIN 9 is above MAX 8' osu_bcast -m 9:8
refuse 2 'option --message-size: MIN 6 is not a multiple of 4 (MPI_FLOAT)' osu_reduce -m 6:64
for bad in 0 -1 x 5s ''; do
    refuse 2 "option --iterations: \"$bad\" is not" osu_alltoall "--iterations=$bad"
    [ "$bad" = 0 ] || refuse 2 "option --cold: \"$bad\" is not" osu_alltoall "--cold=$bad"
    refuse 2 "option --mem-limit: \"$bad\" is not" osu_alltoall "--mem-limit=$bad"
    refuse 2 "option --validation-calls: \"$bad\" is not" osu_alltoall "--validation-calls=$bad"
done
refuse 2 'option --warmup: "-1" is not' osu_alltoall -x -1
refuse 2 'option --root: this collective has no root' osu_alltoall --root 1
refuse 2 'option --message-size: this collective has no messages' osu_barrier -m 8
refuse 2 'option --root: "first" is neither' osu_reduce --root first

./osu_bcast --help >"$work/out"
status=$?
[ "$status" -eq 0 ] || fail "--help"
for option in message-size iterations warmup least-ms cold mem-limit validation validation-calls full root json \
    help version; do
    [ "$(grep -c -e " --$option " "$work/out")" -ge 1 ] || fail "--help without --$option"
done
run 2 ./osu_reduce --version # of several ranks one speaks
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "--version: not one line"

# sizes BENCHMARK WANTED OPTION...: the first column
sizes() {
    benchmark=$1 wanted=$2
    shift 2
    run 2 "./$benchmark" -i 2 -x 0 "$@"
    [ "$status" -eq 0 ] || fail "$benchmark $*"
    got=$(sed -n 's/^\([0-9][0-9]*\) .*/\1/p' "$work/out" | tr '\n' ' ')
    [ "$got" = "$wanted" ] || fail "$benchmark $*: sizes $got, not $wanted"
}

sizes osu_alltoall '1 2 4 8 16 ' -m 16
sizes osu_alltoall '0 1 2 4 ' -m 0:4
sizes osu_bcast '3 6 12 ' -m 3:13
sizes osu_bcast '524288 1048576 ' -m 524288:
sizes osu_bcast '4 8 ' -m 4:8 --cold 100000
sizes osu_reduce '4 8 ' -m 0:8
sizes osu_reduce '12 24 ' -m 12:47
sizes osu_alltoall '16 32 64 ' -m 16:1024 -M 256
grep -q 'stopping before them' "$work/err" || fail "--mem-limit: silent about what is left out"
sizes osu_bcast '16 32 64 128 256 ' -m 16:1024 -M 256
for root in 0 1 rotate; do
    sizes osu_reduce '4 8 16 ' -m 4:16 -c --root "$root"
done

for root in 0 1 rotate; do
    sizes osu_gather '1 2 4 ' -m 1:4 -c --root "$root"
    sizes osu_scatter '1 2 4 ' -m 1:4 -c --root "$root"
done

# Above 8192 bytes there are fewer iterations, unless -i says how many.
run 2 ./osu_bcast -m 8192:16384 -f
[ "$(awk '/^[0-9]/ {print $1, $5}' "$work/out" | tr '\n' ' ')" = "8192 1000 16384 100 " ] ||
    fail "default iterations"
run 2 ./osu_bcast -m 8192:16384 -f -i 7
[ "$(awk '/^[0-9]/ {print $1, $5}' "$work/out" | tr '\n' ' ')" = "8192 7 16384 7 " ] ||
    fail "--iterations"

# Calls are made again, as often as all ranks agree on.
run 2 ./osu_bcast -m 8:16 -f -i 7 --least-ms 30 --json "$work/again.json"
awk '/^[0-9]/ { if ($5 < 7 || $5 % 7) bad = 1; n++ } END { exit bad || n != 2 }' "$work/out" || fail "--least-ms"
python3 - "$work/again.json" <<END || fail "--least-ms: shorter than that"
import json, sys
sys.exit(any(row["t_end_ns"] - row["t_begin_ns"] < 30e6 for row in json.load(open(sys.argv[1]))["rows"]))
END

finish
