# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# Completion of poweraware and poweraware-* in bash.  Commands and options are those that --help names, so
# there is no second list of them.
# shellcheck shell=bash

# Words that start as "$1" among those that "--help" of the command names by a pattern.
_poweraware_words() { # start, pattern, command...
    local start=$1 pattern=$2
    shift 2
    mapfile -t COMPREPLY < <(compgen -W "$("$@" --help 2>/dev/null | grep -oE -- "$pattern" | tr -d ' ' | sort -u)" -- "$start")
}

_poweraware() {
    local current=${COMP_WORDS[COMP_CWORD]} command=("${COMP_WORDS[0]}")
    COMPREPLY=()
    if [ "${COMP_WORDS[0]##*/}" = poweraware ] && [ "$COMP_CWORD" = 1 ] && [[ $current != -* ]]; then
        _poweraware_words "$current" '^    [a-z]+( |$)' "${command[@]}"
    elif [[ $current == -* ]]; then
        [ "${COMP_WORDS[0]##*/}" != poweraware ] || [ "$COMP_CWORD" = 1 ] || command+=("${COMP_WORDS[1]}")
        _poweraware_words "$current" '--[a-z][a-z-]+' "${command[@]}"
    fi
}

# Where nothing is found, names of files.
complete -o default -F _poweraware poweraware poweraware-info poweraware-calibrate poweraware-restore poweraware-sample poweraware-tune
