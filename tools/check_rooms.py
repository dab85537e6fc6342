"""Proves that the walls between rooms are compile errors: check_rooms.py BUILD_FOLDER

For every room, its pure part and every part that stands alone, this compiles, with exactly the flags
the build gives to one of its own sources, a file that includes a header of each other one. What the
table allows must compile; everything else must fail because the header cannot be found. The table is
written out a second time here on purpose: a slip in a CMakeLists.txt does not move it. That no room
sees itself through others is checked on the table.
"""

import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each room may use directly; what those may use is allowed too. wire/ and rules/ of a room are
# its pure part and see the pure parts of the rooms that it uses.
ROOMS = {
    "engine": ["codec"],
    "host": ["engine", "net"],
    "market": ["host"],
    "account": ["market"],
    "loop": ["account"],
    "trader": ["loop"],
    "bots": ["trader"],
    "relay": ["engine", "host"],
}
# Folders that are a library of their own. A room never sees its parts.
PARTS = {
    "base": [],
    "codec": ["base"],
    "net": ["base"],
    "engine/system": ["engine"],
    "engine/memory": ["engine"],
    "engine/sqlite": ["engine"],
    "engine/sink": ["engine", "net"],
    "host/files": ["host", "engine/system"],
    "host/memory": ["host"],
    "host/mail": ["host"],
    "host/webhook": ["host"],
    "host/witness": ["host", "engine/system"],
    "venues/paper": ["account"],
    "venues/shadow": ["venues/paper"],
    "trader/backtest": ["trader", "venues/paper"],
    "bots/files": ["bots", "engine/system"],
    "relay/sqlite": ["relay", "engine/sqlite"],
    "relay/memory": ["relay", "engine/memory"],
    "relay/files": ["relay", "engine/system"],
    "relay/wake": ["relay"],
    "relay/platforms/common": ["relay"],
    "relay/platforms/console": ["relay/platforms/common"],
    "relay/platforms/discord": ["relay"],
    "relay/platforms/telegram": ["relay/platforms/common"],
    "relay/platforms/sms": ["relay/platforms/common"],
    "relay/platforms/wecom": ["relay/platforms/common"],
    "app/plane": ["bots", "relay"],
    "app/face": ["app/plane"],
}
PURE = ("wire", "rules")
# The wiring, the command line and what only they see: nothing is forbidden to them.
FREE = ("app/wiring", "app/command", "app/demo")
# Nothing of it runs yet: all of it is pure.
ONLY_PURE = ("market",)


def pure(room):
    return f"{room}: wire and rules"


def allowed(place):
    if place in ROOMS:
        reached = {place, pure(place)}
        for used in ROOMS[place]:
            reached |= allowed(used)
        return reached
    if place in PARTS:
        reached = {place}
        for used in PARTS[place]:
            reached |= allowed(used)
        return reached
    room = place.split(":")[0]
    reached = {place, *allowed("codec")}
    for used in ROOMS[room]:
        if used in ROOMS:
            reached |= allowed(pure(used))
    return reached


PLACES = [*PARTS, *ROOMS, *map(pure, ROOMS)]


def place_of(path):
    """Where a source file belongs; nothing for what may see everything and for files outside src/."""
    parts = Path(path).relative_to(ROOT).parts if Path(path).is_relative_to(ROOT) else ()
    if parts[:1] == ("build",):
        parts = parts[2:]  # A batch of sources, which lies as its room does.
        if len(parts) > 3 and parts[2].endswith("_batches"):
            return place_of_library(parts[2].removeprefix("interlock_").removesuffix("_batches"))
    if parts[:1] != ("src",) or len(parts) < 3 or (parts[1] == "app" and len(parts) == 3):
        return None  # Directly in app lie main() and what the build makes.
    below = "/".join(parts[1:-1])
    for part in PARTS:
        if below == part or below.startswith(part + "/"):
            return part
    if below.startswith(FREE) or parts[1] not in (*ROOMS, "app"):
        return None if below.startswith(FREE) else below
    if parts[1] == "app":
        return "app/face" if parts[2] == "mcp" else below
    return pure(parts[1]) if parts[2] in PURE else parts[1]


def place_of_library(name):
    for part in PARTS:
        if name == part.replace("platforms/", "").replace("/", "_"):
            return part
    if name.endswith("_pure"):
        return pure(name.removesuffix("_pure"))
    return name if name in ROOMS else None


def flags_by_place(build_folder):
    """Compiler and flags of one source, not a test, of each place."""
    flags = {}
    for entry in json.loads(Path(build_folder, "compile_commands.json").read_text()):
        place = place_of(entry["file"])
        if place is None or "_test." in entry["file"] or "_test_batches" in entry["file"]:
            continue
        words = shlex.split(entry["command"])
        while "ccache" in Path(words[0]).name:
            words.pop(0)
        for option in ("-o", "-c"):
            if option in words:
                at = words.index(option)
                del words[at:at + 2]
        flags.setdefault(place, words)
    return flags


def headers_by_place():
    """The smallest header of each place, which includes the least."""
    headers = {}
    for header in sorted((ROOT / "src").rglob("*.h"), key=lambda path: path.stat().st_size):
        place = place_of(header)
        if place is not None and not header.name.startswith("test_"):
            headers.setdefault(place, str(header.relative_to(ROOT / "src")))
    return headers


def compile_with(flags, header):
    return subprocess.run(
        [*flags, "-x", "c++", "-fsyntax-only", "-"], input=f'#include "{header}"\n',
        capture_output=True, text=True, check=False)


def judge(place, other, flags, header):
    """A sentence when the rule does not hold, else nothing."""
    result = compile_with(flags, header)
    if other in allowed(place):
        if result.returncode != 0:
            return f"{place} may use {other}, but {header} does not compile:\n{result.stderr}"
    elif result.returncode == 0:
        return f"{place} must not use {other}, yet {header} compiles; look at its CMakeLists.txt"
    elif f"{header}: No such file" not in result.stderr:
        return f"{place} and {header}: failed for another reason than the wall:\n{result.stderr}"
    return None


def rule_can_fail(flags, headers):
    """Whether a build that shows the trader's services to the loop would be noticed."""
    roots = [f"-I{root}" for root in (ROOT / "build" / "include_roots").iterdir()]
    return judge("loop", "trader", [*flags["loop"], *roots], headers["trader"]) is not None


def cycles():
    """Sentences about rooms that reach themselves."""
    for room, uses in ROOMS.items():
        todo, seen = list(uses), set()
        while todo:
            used = todo.pop()
            if used not in seen:
                seen.add(used)
                todo += ROOMS.get(used, [])
        if room in seen:
            yield f"{room} reaches itself; a room below declares an interface for what it needs of one above"


def main(build_folder):
    problems = list(cycles())
    if problems:
        print(*problems, sep="\n")
        return 1
    flags = flags_by_place(build_folder)
    headers = headers_by_place()
    problems += [
        f"src/{place} is not in the tables of tools/check_rooms.py; say there what it may use"
        for place in sorted({*flags, *headers} - set(PLACES))]
    problems += [
        f"src/{place} has no source in {build_folder}; nothing was proved about it"
        for place in (*ROOMS, *map(pure, ROOMS), "base", "net")
        if place not in flags and place not in ONLY_PURE]
    pairs = [(place, other) for place in flags if place in PLACES
             for other in headers if other in PLACES]
    with ThreadPoolExecutor(cpu_count()) as pool:
        problems += filter(None, pool.map(
            lambda pair: judge(*pair, flags[pair[0]], headers[pair[1]]), pairs))
    if not problems and not rule_can_fail(flags, headers):
        problems.append("loop could see the trader and this check would not notice; repair it")
    for problem in problems:
        print(problem)
    forbidden = sum(other not in allowed(place) for place, other in pairs)
    print(f"{len(pairs) - forbidden} allowed and {forbidden} forbidden includes tried")
    return 1 if problems or not forbidden else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
