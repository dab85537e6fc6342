"""Proves that the layering rule is a compile error: check_layers.py BUILD_FOLDER

For every layer this compiles, with exactly the flags the build gives to one of its own sources, a
file that includes a header of each other layer. What the table allows must compile; everything
else must fail because the header cannot be found. The table is written out a second time here on
purpose: a slip in src/CMakeLists.txt does not move it.
"""

import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each layer may use directly; what those may use is allowed too.
MAY_USE = {
    "base": [],
    "contracts": ["base"],
    "core": ["contracts"],
    "ports": ["core"],
    "services": ["ports"],
    "net": ["base"],
    "api": ["services", "net"],
    "adapters/memory": ["ports"],
    "adapters/sqlite": ["ports"],
    "adapters/system": ["ports"],
    "adapters/sink": ["ports", "net"],
    "adapters/paper": ["ports"],
    "adapters/mail": ["ports"],
    "adapters/discord": ["ports", "net"],
    "adapters/chat": ["ports", "net"],
    "adapters/console": ["adapters/chat"],
    "adapters/telegram": ["adapters/chat"],
    "adapters/twilio": ["adapters/chat"],
    "adapters/wecom": ["adapters/chat"],
    "adapters/wake": ["ports", "net"],
    "adapters/webhook": ["ports", "net"],
    "adapters/witness": ["net", "adapters/system"],
}
MUST_EXIST = ("base", "contracts", "core", "net", "services", "api")


def allowed(layer):
    reached = {layer}
    for used in MAY_USE[layer]:
        reached |= allowed(used)
    return reached


def layer_of(path):
    """The layer a source file belongs to; nothing for bin and for files outside src/."""
    parts = Path(path).relative_to(ROOT).parts if Path(path).is_relative_to(ROOT) else ()
    if parts[:1] == ("build",):
        parts = parts[2:]  # A batch of sources, which lies as its layer does.
    if len(parts) < 3 or parts[0] != "src":
        return None
    return "/".join(parts[1:3]) if parts[1] == "adapters" else parts[1]


def flags_by_layer(build_folder):
    """Compiler and flags of one source, not a test, of each layer."""
    flags = {}
    for entry in json.loads(Path(build_folder, "compile_commands.json").read_text()):
        layer = layer_of(entry["file"])
        if layer is None or "_test." in entry["file"]:
            continue
        words = shlex.split(entry["command"])
        while "ccache" in Path(words[0]).name:
            words.pop(0)
        for option in ("-o", "-c"):
            if option in words:
                at = words.index(option)
                del words[at:at + 2]
        flags.setdefault(layer, words)
    return flags


def headers_by_layer():
    """The smallest header of each layer, which includes the least."""
    headers = {}
    for header in sorted((ROOT / "src").rglob("*.h"), key=lambda path: path.stat().st_size):
        layer = layer_of(header)
        if layer is not None:
            headers.setdefault(layer, str(header.relative_to(ROOT / "src")))
    return headers


def compile_with(flags, header):
    return subprocess.run(
        [*flags, "-x", "c++", "-fsyntax-only", "-"], input=f'#include "{header}"\n',
        capture_output=True, text=True, check=False)


def judge(layer, other, flags, header):
    """A sentence when the rule does not hold, else nothing."""
    result = compile_with(flags, header)
    if other in allowed(layer):
        if result.returncode != 0:
            return f"{layer} may use {other}, but {header} does not compile:\n{result.stderr}"
    elif result.returncode == 0:
        return f"{layer} must not use {other}, yet {header} compiles; look at its MAY_USE"
    elif f"{header}: No such file" not in result.stderr:
        return f"{layer} and {header}: failed for another reason than the layer:\n{result.stderr}"
    return None


def rule_can_fail(flags, headers):
    """Whether a build that shows services to core would be noticed."""
    roots = [f"-I{root}" for root in (ROOT / "build" / "include_roots").iterdir()]
    return judge("core", "services", [*flags["core"], *roots], headers["services"]) is not None


def main(build_folder):
    flags = flags_by_layer(build_folder)
    headers = headers_by_layer()
    problems = [
        f"src/{layer} is not in the table of tools/check_layers.py; say there what it may use"
        for layer in sorted({*flags, *headers} - {"bin"} - set(MAY_USE))]
    problems += [
        f"src/{layer} has no source in {build_folder}; nothing was proved about it"
        for layer in MUST_EXIST if layer not in flags]
    pairs = [(layer, other) for layer in flags if layer in MAY_USE
             for other in headers if other in MAY_USE]
    with ThreadPoolExecutor(cpu_count()) as pool:
        problems += filter(None, pool.map(
            lambda pair: judge(*pair, flags[pair[0]], headers[pair[1]]), pairs))
    if not problems and not rule_can_fail(flags, headers):
        problems.append("core could see services and this check would not notice; repair it")
    for problem in problems:
        print(problem)
    forbidden = sum(other not in allowed(layer) for layer, other in pairs)
    print(f"{len(pairs) - forbidden} allowed and {forbidden} forbidden includes tried")
    return 1 if problems or not forbidden else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
