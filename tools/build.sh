# shellcheck shell=bash
# Configuring and building, quietly. Sourced by ./run and ./test, which share build/release.
#
# Nothing is printed when nothing needs building. A build that takes longer than a moment says so,
# with a running count on a terminal, and a failing one shows what the compiler said.

build_failures_max=1   # How many failing files until the build gives up; 0 means all of them.
build_wrapper=(env)    # A command in front of ninja.
# Compiled files are found again by ccache from any checkout, not only from this one.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# build_jobs: as many as there are cores, but no more than memory allows (the network files need
# well over a gigabyte each while they compile).
build_jobs() {
    local cores memory_kb=0 jobs
    cores=$(nproc)
    if [[ -r /proc/meminfo ]]; then
        memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    fi
    jobs=$((memory_kb > 0 ? memory_kb / 1500000 : cores))
    ((jobs > cores)) && jobs=$cores
    ((jobs < 1)) && jobs=1
    echo "$jobs"
}

# show_progress LOG WHAT: runs beside a build until it is killed.
show_progress() {
    local log=$1 what=$2 count
    sleep 2 >/dev/null 2>&1  # Holds no pipe of ours open when it outlives us.
    if [[ ! -t 2 ]]; then
        printf 'Building %s (the first time takes a few minutes)...\n' "$what" >&2
        return
    fi
    while :; do
        count=$(sed -n 's/^\[\([0-9]*\/[0-9]*\)\].*/\1/p' "$log" | tail -n 1)
        printf '\r\033[KBuilding %s (the first time takes a few minutes)... %s' \
            "$what" "$count" >&2
        sleep 1 >/dev/null 2>&1
    done
}

# build_preset PRESET [TARGET...]: all targets when none is named. A fresh configure happens when
# the folder is new or INTERLOCK_CONFIGURE=yes; otherwise ninja decides by itself.
build_preset() {
    local preset=$1 folder=build/$1 log=build/$1.log watcher status=0
    shift
    mkdir -p build
    exec {build_lock}>"build/.$preset.lock"
    flock "$build_lock"
    : >"$log"
    show_progress "$log" "interlock ($preset)" {build_lock}>&- &
    watcher=$!
    if [[ ! -e $folder/build.ninja || ${INTERLOCK_CONFIGURE:-} == yes ]]; then
        cmake --preset "$preset" >>"$log" 2>&1 || status=$?
    fi
    if ((status == 0)); then
        : >"$log"
        NINJA_STATUS='[%f/%t] ' "${build_wrapper[@]}" ninja -C "$folder" -k "$build_failures_max" \
            -j "$(build_jobs)" "$@" >>"$log" 2>&1 || status=$?
    fi
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    [[ -t 2 ]] && printf '\r\033[K' >&2
    exec {build_lock}>&-
    if ((status != 0)); then
        grep -v '^\[[0-9]*/[0-9]*\]' "$log" | head -n 80 >&2
        printf 'The %s build failed; all of its output is in %s\n' "$preset" "$log" >&2
    fi
    return "$status"
}

# source_files PATTERN...: every file of ours that matches, also one not yet added to git, because
# the build would take it too.
source_files() {
    if [[ -e .git ]] && command -v git >/dev/null; then
        git -c safe.directory='*' ls-files --cached --others --exclude-standard -- "$@" |
            sort -u | while IFS= read -r file; do [[ -f $file ]] && printf '%s\n' "$file"; done
    else
        local pattern
        for pattern in "$@"; do
            find . -path ./build -prune -o -path '*/node_modules' -prune -o \
                -type f -name "$pattern" -print | sed 's|^\./||'
        done
    fi
}
