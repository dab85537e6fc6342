import os,subprocess,re
os.chdir(os.environ.get("ROOT",os.getcwd()))
def rd(p): return open(p).read()
def wr(p,s): open(p,"w").write(s)
def sub(p,*pairs):
    s=rd(p)
    for a,b in pairs:
        assert a in s,(p,a); s=s.replace(a,b)
    wr(p,s)
def git(*a): subprocess.run(["git",*a],check=True)
git("rm","-q","-f","tools/check_layers.py")
git("mv","tools/check_core_symbols.sh","tools/check_pure_symbols.sh")
sub("tools/check_pure_symbols.sh",
 ("# Holds contracts and core to being pure (I9): their libraries may refer to nothing that reads a\n# clock, draws randomness, starts a thread, or touches sockets, files, the environment or the log.\n#   check_core_symbols.sh BUILD_FOLDER    checks the two libraries of that build\n#   check_core_symbols.sh --self-test     proves that each kind of symbol is caught",
  "# Holds wire and rules of every room to being pure (I9): their libraries may refer to nothing that\n# reads a clock, draws randomness, starts a thread, or touches sockets, files, the environment or the\n# log.\n#   check_pure_symbols.sh BUILD_FOLDER    checks the pure libraries of that build\n#   check_pure_symbols.sh --self-test     proves that each kind of symbol is caught"),
 ('        for layer in contracts core; do\n            check_library "$1/src/$layer/libinterlock_$layer.a" || status=1\n        done\n',
  '        for room in engine host market account loop trader bots relay; do\n            check_library "$1/src/$room/libinterlock_${room}_pure.a" || status=1\n        done\n'))
sub("test",("tools/core_symbols 120 tools/check_core_symbols.sh","tools/pure_symbols 120 tools/check_pure_symbols.sh"),
 ("tools/core_symbols_can_fail 120 tools/check_core_symbols.sh","tools/pure_symbols_can_fail 120 tools/check_pure_symbols.sh"),
 ("tools/layers 300 python3 tools/check_layers.py","tools/rooms 300 python3 tools/check_rooms.py"))
s=rd("test")
a=s.index("    local layer targets=()"); b=s.index("    build_wrapper=(env)\n}",a)
s=s[:a]+'''    # The rooms with threads or locks of their own.
    local rooms=(net engine host loop trader bots relay app_face)
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
    setarch -R true 2>/dev/null && build_wrapper=(setarch -R)
    if build build_tsan tsan "${rooms[@]/%/_test}"; then
        for room in "${rooms[@]}"; do
            [[ -n $filter ]] || cases "cases_tsan_$room" tsan "^$room\\\\."
        done
    fi
'''+s[b:]
s=s.replace("    # The rooms with threads or locks of their own.\n    local rooms","    local room\n    # The rooms with threads or locks of their own.\n    local rooms")
wr("test",s)
print(s[s.index("thread_sanitizer() {"):][:900])
sub("tools/tidy_rules.py",
 ("# The layers whose results must be the same in every replay.\n","# The parts of rooms whose results must be the same in every replay.\n"),
 ('PURE = ("src/contracts/*.h", "src/contracts/*.cc", "src/core/*.h", "src/core/*.cc")','PURE = ("src/*/wire/*.h", "src/*/wire/*.cc", "src/*/rules/*.h", "src/*/rules/*.cc")'),
 ("leave concurrency to services and net; core runs on one thread","leave concurrency to services and net; rules run on one thread"),
 ('"ask engine/ports/clock.h", ("src/engine/system/", "src/base/log.cc", "bench/")','"ask engine/ports/clock.h", ("src/engine/system/", "src/base/log.cc", "bench/")'),
 ('("src/services/", "sim/"),','("src/*/service/*", "sim/"),'),
 ('"read it in src/app/wiring/config and pass the value down", ("src/bin/", *TESTS)','"read it in app/wiring/config and pass the value down", ("src/app/", *TESTS)'),
 ('("src/ports/", "src/services/", "src/api/", "src/bin/"),','("src/*/ports/*", "src/*/service/*", "src/*/face/*", "src/app/*"),'),
 ('Vendor("toml++/", ("src/bin/",)','Vendor("toml++/", ("src/app/",)'),
 ('Vendor("CLI/", ("src/bin/",), "src/bin")','Vendor("CLI/", ("src/app/",), "app/command")'),
 ('Vendor("prometheus/", ("src/services/",), "the metrics of services/")','Vendor("prometheus/", ("src/host/service/",), "host/service/metrics.h")'),
)
s=rd("tools/mutants.py")
s=s.replace('["core_test", "gates_conformance_test"','["host_test", "loop_test", "gates_conformance_test"').replace('"relay_manage_conformance_test", "services_test",','"relay_manage_conformance_test", "engine_test", "relay_test",')
wr("tools/mutants.py",s)
git("add","-A")
s=rd("tools/tidy_test.py")
for a,b in (("src/core/","src/loop/rules/"),("src/contracts/","src/loop/wire/"),("src/services/","src/loop/service/"),("src/ports/","src/engine/ports/"),("src/api/","src/app/face/"),("src/bin/","src/app/command/"),("src/adapters/","src/engine/")): s=s.replace(a,b)
wr("tools/tidy_test.py",s)
subprocess.run("clang-format-19 -i $(git ls-files '*.cc' '*.h')",shell=True,check=True)
git("add","-A")
