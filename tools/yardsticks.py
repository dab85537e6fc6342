"""Measures how the house is built: yardsticks.py [--json] [FOLDER]

What the second plan of the house promised in numbers, read from the sources alone: lines, the graph of
rooms, callbacks in headers, the largest class, places that spell one wire key, money without a type,
comments, citations. FOLDER is another checkout, so that before and after stand side by side. It judges
nothing: what must hold is checked by tidy.py, check_rooms.py and check_docs.py.
"""

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) (\w+)[^;{]*\{", re.MULTILINE)
NO_METHOD = re.compile(r"^\s*(using|friend|struct|class|enum|typedef|explicit|static_assert|~)\b|= default|= delete")
# Rulings and contracts that lie outside the tree; conformance cases name sections on purpose.
OUTSIDE = re.compile(r"\bSEMANTICS\b|\bRELAY\.md\b|\b[Ss]eed 00\d|\((?:S|R)\d{1,2}(?:\.\d+)?\)|\b[SR]\d{1,2}\.\d\b")


def is_test(path):
    return "_test" in path.name or path.name.startswith("test_")


def sources(root, folder="src"):
    return sorted(
        path for path in (root / folder).rglob("*") if path.suffix in (".h", ".cc"))


def lines_of(paths):
    return sum(len(path.read_text().splitlines()) for path in paths)


def room_of(root, path):
    parts = path.relative_to(root / "src").parts
    # Of the tree before rooms a feature was a folder of services.
    return "/".join(parts[:2]) if parts[0] == "services" and len(parts) > 2 else parts[0]


def circles(root, paths):
    """Groups of rooms that reach each other by includes."""
    reach = defaultdict(set)
    for path in paths:
        for header in INCLUDE.findall(path.read_text()):
            target = root / "src" / header
            if target.exists():
                reach[room_of(root, path)].add(room_of(root, target))

    def reached(room):
        seen, todo = set(), list(reach[room])
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += reach[one]
        return seen

    all_reached = {room: reached(room) for room in list(reach)}
    groups = {
        frozenset(other for other in all_reached if other in all_reached[room]
                  and room in all_reached[other]) for room in all_reached}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def body_of(text, at):
    """The text between the brace that opens before `at` and the one that closes it."""
    depth, begin = 1, at
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[begin:at - 1]


def methods_of(body, name):
    """Declarations of functions directly in a class, without constructors."""
    depth, statement, count = 0, "", 0
    for letter in re.sub(r"//[^\n]*", "", body):
        depth += {"{": 1, "(": 0, "}": -1}.get(letter, 0)
        if depth == 0 and letter in ";}":
            text = re.sub(r"^\s*(public|private|protected):", "", statement.strip()).strip()
            if "(" in text and not NO_METHOD.search(text) and not text.startswith(name + "("):
                count += 1
            statement = ""
        elif depth == 0 or (depth == 1 and letter == "{"):
            statement += letter
    return count


def largest_class(paths):
    best = (0, "")
    for path in paths:
        text = path.read_text()
        for found in CLASS.finditer(text):
            many = methods_of(body_of(text, found.end()), found.group(1))
            best = max(best, (many, found.group(1)))
    return best


def measure(root):
    product = [path for path in sources(root) if not is_test(path)]
    headers = [path for path in product if path.suffix == ".h"]
    upper = re.compile(r"src/(services|api|bin|app)/|/(service|face)/")
    of_services = [path for path in headers if upper.search(str(path.relative_to(root)))]
    in_cc = [path for path in product if path.suffix == ".cc"]
    comments = sum(
        line.lstrip().startswith("//") for path in in_cc for line in path.read_text().splitlines())
    text_files = [
        path for folder in ("src", "sim", "testing", "bench", "tools") for path in (root / folder).rglob("*")
        if path.suffix in (".h", ".cc", ".py", ".sh") and path.name != "yardsticks.py"]
    money = [path for path in product if not re.search(r"src/(base|codec)/|indicators|statistic", str(path))]
    many, name = largest_class(headers)
    return {
        "lines of src without tests": lines_of(product),
        "lines of all sources and tests": sum(
            lines_of(sources(root, folder)) for folder in ("src", "sim", "testing", "bench", "conformance", "fuzz")
            if (root / folder).exists()),
        "circles of rooms": circles(root, product),
        "std::function in headers of services, faces, app": sum(
            path.read_text().count("std::function<") for path in of_services),
        "largest class": f"{name}, {many} methods",
        'places that spell "applied_at"': sum(path.read_text().count('"applied_at"') for path in product),
        "lines with a bare Decimal outside base, codec, statistics": sum(
            bool(re.search(r"\bDecimal\b", line)) for path in money for line in path.read_text().splitlines()),
        "comments in .cc": f"{100 * comments / lines_of(in_cc):.1f} %",
        "citations of texts outside the tree": sum(
            len(OUTSIDE.findall(path.read_text())) for path in text_files),
    }


def main():
    parser = argparse.ArgumentParser(description="Measures how the house is built.")
    parser.add_argument("folder", nargs="?", default=HERE, type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.folder.resolve())
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for name, value in found.items():
        print(f"{name}: {value if value != [] else 'none'}")


if __name__ == "__main__":
    main()
