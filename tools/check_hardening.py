"""Checks that the built program carries what the compiler and linker offer against exploits.

    check_hardening.py build/release/bin/interlock
    check_hardening.py --self-test        proves that each check can fail
"""

import pathlib
import platform
import re
import subprocess
import sys
import tempfile

COMPILE = ["-O2", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-D_GLIBCXX_ASSERTIONS", "-fPIE"]
LINK = ["-pie", "-Wl,-z,relro,-z,now,-z,noexecstack"]
CET = ["-fcf-protection=full"] if platform.machine() == "x86_64" else []
PROGRAM = """
#include <cstdio>
#include <cstring>
#include <vector>
int main(int argc, char** argv) {
    char text[16];
    std::vector<int> list(argc);
    std::strcpy(text, argv[0]);
    std::printf("%s %d\\n", text, list[argc - 1]);
}
"""


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def missing_in(path):
    """What the program lacks, by name."""
    header, segments = said("readelf", "-hW", path), said("readelf", "-lW", path)
    dynamic, symbols = said("readelf", "-dW", path), said("readelf", "--dyn-syms", "-W", path)
    stack = re.search(r"GNU_STACK.*", segments)
    checks = {
        "PIE": re.search(r"Type:\s+DYN", header),
        "RELRO": "GNU_RELRO" in segments,
        "BIND_NOW": re.search(r"BIND_NOW|FLAGS_1.*NOW", dynamic),
        "NX": stack and "RWE" not in stack[0],
        "stack protector": "__stack_chk_fail" in symbols,
        "FORTIFY": re.search(r"__[a-z]+_chk\b(?<!__stack_chk)", symbols),
        "_GLIBCXX_ASSERTIONS": "__glibcxx_assert_fail" in symbols,
    }
    if CET:
        # The notes of all objects of all libraries say little; what we compiled begins like this.
        checks["CET"] = "endbr64" in said("objdump", "--disassemble=main", "--no-show-raw-insn", path)
    return [name for name, held in checks.items() if not held]


def built(folder, compile_options, link_options):
    source, program = pathlib.Path(folder, "a.cc"), pathlib.Path(folder, "a")
    source.write_text(PROGRAM)
    subprocess.run(["c++", *compile_options, str(source), "-o", str(program), *link_options], check=True)
    return missing_in(str(program))


def self_test():
    everything = COMPILE + CET
    with tempfile.TemporaryDirectory() as folder:
        assert built(folder, everything, LINK) == [], built(folder, everything, LINK)
        for left_out, name in (("-fstack-protector-strong", "stack protector"),
                               ("-D_FORTIFY_SOURCE=2", "FORTIFY"),
                               ("-D_GLIBCXX_ASSERTIONS", "_GLIBCXX_ASSERTIONS"),
                               ("-fcf-protection=full", "CET")):
            if left_out in everything:
                without = [option for option in everything if option != left_out]
                without += ["-fno-stack-protector"] if name == "stack protector" else []
                without += ["-U_FORTIFY_SOURCE"] if name == "FORTIFY" else []
                without += ["-fcf-protection=none"] if name == "CET" else []
                assert built(folder, without, LINK) == [name], (name, built(folder, without, LINK))
        lazy = built(folder, everything, ["-pie", "-Wl,-z,norelro,-z,lazy,-z,execstack"])
        assert {"RELRO", "BIND_NOW", "NX"} <= set(lazy), lazy
        fixed = built(folder, everything + ["-fno-pie"], ["-no-pie", *LINK[1:]])
        assert "PIE" in fixed, fixed
    print("every check can fail")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    missing = missing_in(sys.argv[1])
    for name in missing:
        print(f"{sys.argv[1]} lacks {name}; see the hardening options in CMakeLists.txt")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
