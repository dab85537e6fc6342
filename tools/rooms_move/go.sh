#!/usr/bin/env bash
# Moves the tree of a clean checkout into rooms, in place: run from the root of a clone that may be thrown away.
#   edits.py      what has to change first, so that the graph of rooms has no cycle
#   plan.py       where every file goes; alone it prints includes that would break the graph
#   apply.py      git mv, includes, and every path in a text
#   new/          the build files of the rooms, tools/check_rooms.py
#   tools_fix.py  the checks that knew the layers
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export ROOT=$PWD
python3 "$here/edits.py" >/dev/null
git add -A
python3 "$here/plan.py"
python3 "$here/apply.py"
git rm -q -f --cached cmake/layer.cmake
rm -f cmake/layer.cmake
cp -r "$here"/new/* .
python3 "$here/tools_fix.py"
git add -A
