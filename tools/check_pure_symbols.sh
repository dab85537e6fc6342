#!/usr/bin/env bash
# Holds wire and rules of every room to being pure (I9): their libraries may refer to nothing that
# reads a clock, draws randomness, starts a thread, or touches sockets, files, the environment or the
# log.
#   check_pure_symbols.sh BUILD_FOLDER    checks the pure libraries of that build
#   check_pure_symbols.sh --self-test     proves that each kind of symbol is caught
# This sees what the words of tidy.py cannot: what comes in through std or base headers.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# kind and extended regular expression over demangled undefined symbols.
banned=(
    'clock' '^(time|clock|clock_gettime|gettimeofday|timespec_get|localtime(_r)?|gmtime(_r)?)$'
    'clock' '^std::chrono::.*::now\(\)'
    'random' '^(s?rand(om)?(_r)?|[dlm]rand48|arc4random.*|getrandom|getentropy|RAND_.*)$'
    'random' '^(randombytes_.*|std::random_device::.*|interlock::random_bytes\b.*)'
    'thread' '^(pthread_|sem_|thrd_|mtx_|std::thread::|std::jthread::|std::condition_variable)'
    'thread' '^(std::mutex::|std::__future_base|std::future|std::this_thread::)'
    'thread' '^(sleep|usleep|nanosleep|clock_nanosleep|sched_yield)$'
    'socket' '^(socket|connect|bind|listen|accept4?|shutdown|poll|ppoll|select|epoll_.*)$'
    'socket' '^(send|sendto|sendmsg|recv|recvfrom|recvmsg|getaddrinfo|boost::asio::.*)$'
    'file' '^(f?open(at)?(64)?|f?close|p?read(v|64)?|p?write(v|64)?|mmap(64)?|f?sync|fdatasync)$'
    'file' '^(fread|fwrite|fput[cs]|puts|putc|putchar|fflush|(__)?v?[fd]?printf(_chk)?|perror)$'
    'file' '^(unlink(at)?|rename(at)?|mkdir(at)?|rmdir|l?stat(64)?|fstat(at)?(64)?|opendir|readdir)$'
    'file' '^(stdin|stdout|stderr|std::(cin|cout|cerr|clog))$'
    'file' '^(std::basic_[io]?f(stream|ilebuf)<.*|std::filesystem::.*|std::ios_base::Init::.*)'
    'environment' '^((secure_)?getenv|setenv|putenv|unsetenv|environ|getpid|gethostname|uname)$'
    'process' '^(fork|vfork|exec[lv]p?e?|system|popen|posix_spawnp?|exit|_exit|raise|kill)$'
    'log' '^(interlock::log(_(debug|info|warn|error)|)\(.*|spdlog::.*|syslog)'
)

# findings ARCHIVE: prints `kind: symbol` for each banned symbol it refers to.
findings() {
    local symbols i
    symbols=$(nm --undefined-only --demangle --format=just-symbols "$1" 2>/dev/null |
        sed -E '/^$/d; /:$/d; s/@.*//' | sort -u)
    for ((i = 0; i < ${#banned[@]}; i += 2)); do
        grep -E -- "${banned[i + 1]}" <<<"$symbols" | sed "s/^/${banned[i]}: /" || true
    done
}

check_library() {
    local found
    [[ -e $1 ]] || {
        echo "$1 is missing; build that preset first"
        return 1
    }
    found=$(findings "$1")
    [[ -z $found ]] && return 0
    echo "$1 must be pure, but refers to:"
    # shellcheck disable=SC2001
    sed 's/^/  /' <<<"$found"
    echo "take the fact from the event, or return an effect that a service runs"
    return 1
}

# expect KIND CODE: a library made of this code must be caught as KIND, or pass for `nothing`.
expect() {
    local kind=$1 caught
    printf '%s\n' "$2" >"$scratch/code.cc"
    g++ -std=gnu++23 -O1 -c "$scratch/code.cc" -o "$scratch/code.o"
    rm -f "$scratch/libcode.a"
    ar rcs "$scratch/libcode.a" "$scratch/code.o"
    caught=$(findings "$scratch/libcode.a" | cut -d: -f1 | sort -u | paste -sd' ')
    if [[ ${caught:-nothing} != "$kind" ]]; then
        echo "this code should be caught as $kind, and was as ${caught:-nothing}: $2"
        failures=$((failures + 1))
    fi
}

self_test() {
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    failures=0
    expect nothing '#include <map>
#include <string>
int f(std::map<std::string, int>& m, const std::string& k) { return m.at(k) + std::stoi(k); }'
    expect clock '#include <ctime>
long f() { return time(nullptr); }'
    expect clock '#include <chrono>
long f() { return std::chrono::system_clock::now().time_since_epoch().count(); }'
    expect random '#include <cstdlib>
int f() { return rand(); }'
    expect random '#include <random>
unsigned f() { return std::random_device()(); }'
    expect random '#include <string>
namespace interlock { std::string random_bytes(unsigned long); }
std::string f() { return interlock::random_bytes(8); }'
    expect thread '#include <thread>
void f() { std::thread([] {}).join(); }'
    expect thread '#include <mutex>
std::mutex m; int n; void f() { std::lock_guard lock(m); n++; }'
    expect socket '#include <sys/socket.h>
int f() { return socket(AF_INET, SOCK_STREAM, 0); }'
    expect file '#include <cstdio>
FILE* f() { return fopen("x", "r"); }'
    expect file '#include <iostream>
void f() { std::cout << 1; }'
    expect environment '#include <cstdlib>
char* f() { return getenv("HOME"); }'
    expect process '#include <cstdlib>
int f() { return system("true"); }'
    expect log 'namespace interlock { void log(int); }
void f() { interlock::log(1); }'
    ((failures == 0))
}

case ${1:-} in
    --self-test) self_test ;;
    '') echo "name a build folder, or --self-test" >&2 && exit 2 ;;
    *)
        status=0
        for room in engine host market account loop trader bots relay; do
            check_library "$1/src/$room/libinterlock_${room}_pure.a" || status=1
        done
        exit "$status"
        ;;
esac
