#!/usr/bin/env bash
# Lays out every C++ file as .clang-format says: tools/format.sh [--check] [file...]
# With --check nothing is written and the exit status tells whether something would be.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
source tools/build.sh

mode=(-i)
if [[ ${1:-} == --check ]]; then
    mode=(--dry-run -Werror)
    shift
fi
if (($#)); then
    files=("$@")
else
    mapfile -t files < <(source_files '*.h' '*.cc')
fi
((${#files[@]})) || exit 0
if ! clang-format-19 "${mode[@]}" "${files[@]}"; then
    echo "run tools/format.sh to lay the files out" >&2
    exit 1
fi
