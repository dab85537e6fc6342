# shellcheck shell=bash
# The Debian packages we need, listed once, and how they get installed. Sourced by ./run and ./test.
#
# An entry is `package` or `package:command`: the second form is also satisfied by a command that
# came from elsewhere, such as a newer compiler or Node from its own repository. Development
# packages that these depend on (zlib and civetweb for prometheus-cpp) come along by themselves.

build_packages=(
    g++:g++ cmake:cmake ninja-build:ninja pkg-config:pkg-config ccache:ccache mold:mold
    libboost1.81-dev libssl-dev libsqlite3-dev libsodium-dev libfmt-dev libspdlog-dev
    libtomlplusplus-dev libcli11-dev prometheus-cpp-dev rapidjson-dev libcurl4-openssl-dev
)
test_packages=(
    "${build_packages[@]}"
    libgtest-dev librapidcheck-dev libsimdjson-dev libbenchmark-dev
    clang-format-19:clang-format-19 python3:python3 sqlite3:sqlite3 strace:strace curl:curl
    nodejs:node npm:npm git:git ca-certificates wrk:wrk
)
all_packages=(
    "${test_packages[@]}" clang-19:clang++-19 libclang-rt-19-dev chromium:chromium
    nginx-light:nginx caddy:caddy
)

# stop SENTENCE: says why we cannot go on, and ends.
stop() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

# is_installed ENTRY
is_installed() {
    local package=${1%%:*} command=
    [[ $1 == *:* ]] && command=${1#*:}
    if [[ -n $command ]] && command -v "$command" >/dev/null; then
        return 0
    fi
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]]
}

# install_packages ENTRY...: installs what is missing and is silent when nothing is. With
# INTERLOCK_INSTALL=no it installs nothing and leaves it to the build to miss what it needs.
install_packages() {
    [[ ${INTERLOCK_INSTALL:-yes} == no ]] && return 0
    local entry missing=()
    for entry in "$@"; do
        is_installed "$entry" || missing+=("${entry%%:*}")
    done
    ((${#missing[@]})) || return 0

    command -v apt-get >/dev/null || stop "there is no apt-get here; install by other means what \
these Debian 12 packages hold, then set INTERLOCK_INSTALL=no: ${missing[*]}"
    local as_root=(env)
    if ((EUID != 0)); then
        command -v sudo >/dev/null || stop "installing packages needs root and there is no sudo; \
run as root: apt-get install ${missing[*]}"
        as_root=(sudo env)
    fi
    as_root+=(DEBIAN_FRONTEND=noninteractive)

    printf 'Installing %d Debian packages: %s\n' "${#missing[@]}" "${missing[*]}" >&2
    local log
    log=$(mktemp)
    # An update that fails is not the end: the lists at hand may do.
    "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=120 update >"$log" 2>&1 || true
    if ! "${as_root[@]}" apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 \
        install "${missing[@]}" >>"$log" 2>&1; then
        local unknown
        unknown=$(sed -n 's/^E: Unable to locate package //p' "$log" | paste -sd' ')
        tail -n 20 "$log" >&2
        rm -f "$log"
        [[ -z $unknown ]] || stop "apt knows no package named ${unknown}; we build on Debian 12 \
(bookworm) with its main archive"
        stop "apt-get could not install the packages; its last words are above"
    fi
    rm -f "$log"
}
