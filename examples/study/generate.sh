#!/bin/sh
# generate.sh - the studies of this folder, what tests/unit/study/study_tool runs, as `ch study export` writes it.
#
# usage: generate.sh STUDY_TOOL CH
set -eu
store=$(mktemp -d)/s.db
"$1" "$store" widths --trials 40
"$2" study export "$store" "${0%/*}/widths.json"
rm -r "${store%/*}"
