#!/usr/bin/env python3
"""Checks that need no compiler: tidy.py [file...]

Every finding names its remedy. A rule may be set aside for a file by a line in
tools/tidy_exemptions.txt, with a reason; a line that sets nothing aside is itself a finding. With
file arguments only findings about those files are printed. The rules about words are tables in
tidy_rules.py; the rules about shape are functions here.
"""

import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
import tidy_rules as rules  # noqa: E402
from cpp_text import blank_comments, find_functions, includes_of  # noqa: E402

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
COLUMNS_MAX = 100

CPP = (".h", ".cc")
CODE = (*CPP, ".py", ".sh", ".cmake", ".ts", ".tsx", ".mjs", ".js", ".css")
# Documents that a reader finds without a link.
ENTRY_DOCUMENTS = {"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"}


class Finding(NamedTuple):
    path: str
    line: int
    rule: str
    message: str  # What is wrong, and after a semicolon what to do.


class Source(NamedTuple):
    path: str
    text: str
    code: str  # C++ without comments and literals, same lines; elsewhere the text itself.


def load(root):
    """All text files of the project, by path."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"],
        cwd=root, capture_output=True, check=False)
    if listing.returncode == 0:
        paths = sorted(set(listing.stdout.decode().split("\0")) - {""})
    else:
        paths = sorted(
            str(p.relative_to(root)) for p in Path(root).rglob("*")
            if not {"build", "node_modules", ".git"} & set(p.relative_to(root).parts))
    sources = {}
    for path in paths:
        full = Path(root, path)
        if not full.is_file() or full.is_symlink():
            continue
        try:
            text = full.read_bytes().decode()
        except UnicodeDecodeError:
            continue  # Not text: images, seed inputs of the fuzzers.
        sources[path] = source_of(path, text)
    return sources


def source_of(path, text):
    return Source(path, text, blank_comments(text) if path.endswith(CPP) else text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def within(path, places):
    """Whether a path lies in one of the places: a folder ending in '/', or a pattern."""
    return any(
        path.startswith(place) if place.endswith("/") else fnmatch.fnmatch(path, place)
        for place in places)


def check_sizes(source):
    lines = source.text.split("\n")
    if source.path.endswith(CODE) and len(lines) - 1 > FILE_LINES_MAX:
        yield Finding(
            source.path, 1, "file_lines",
            f"{len(lines) - 1} lines, the limit is {FILE_LINES_MAX}; split it by what it is about")
    if not source.path.endswith(CPP):
        return
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX:
            yield Finding(
                source.path, number, "columns",
                f"{len(line)} columns, the limit is {COLUMNS_MAX}; break the line, or the text in it")
    for function in find_functions(source.code):
        length = function.last_line - function.first_line + 1
        if length > FUNCTION_LINES_MAX:
            yield Finding(
                source.path, function.first_line, "function_lines",
                f"{function.name} has {length} lines, the limit is {FUNCTION_LINES_MAX}; "
                "give a part of it a name of its own")


def check_words(source):
    for rule in rules.WORDS:
        if not within(source.path, rule.places) or within(source.path, rule.except_places):
            continue
        searched = source.text if rule.in_comments else source.code
        for match in re.finditer(rule.pattern, searched, re.MULTILINE):
            yield Finding(
                source.path, line_of(searched, match.start()), rule.name,
                f"'{match.group().strip()}' {rule.because}; {rule.remedy}")


def check_includes(source):
    if not source.path.endswith(CPP):
        return
    for number, quoted, header in includes_of(source.text):
        # Conformance, sim and bench have no include root; there a neighbour goes by its bare name.
        bare = "/" not in header and source.path.startswith(("src/", "testing/"))
        if quoted and (header.startswith(".") or bare):
            yield Finding(
                source.path, number, "relative_include",
                f'"{header}" depends on where the file lies; include from the layer down, as in '
                '"base/json.h"')
        for vendor in rules.VENDORS:
            if header.startswith(vendor.prefix) and not within(source.path, vendor.places):
                yield Finding(
                    source.path, number, "vendor_include",
                    f"<{header}> belongs to {', '.join(vendor.places)}; go through {vendor.instead}")


def check_openings(sources):
    """A file says what it is for; a .cc beside its own header may leave that to the header."""
    for source in sources.values():
        if not source.path.endswith(CPP):
            continue
        own_header = re.sub(r"(_test)?\.cc$", ".h", source.path)
        speaks_elsewhere = source.path.endswith(".cc") and own_header in sources
        if not source.text.startswith("//") and not speaks_elsewhere:
            yield Finding(
                source.path, 1, "opening",
                "does not say what the file is for; open it with a comment of two to six lines")
        if source.path.endswith(".h") and "#pragma once" not in source.code:
            yield Finding(
                source.path, 1, "pragma_once",
                "a header included twice would be read twice; add #pragma once after the opening")


def check_headers_used(sources):
    """A header that no file includes is dead."""
    included = set()
    for source in sources.values():
        if source.path.endswith(CPP):
            folder = os.path.dirname(source.path)
            for _, _, header in includes_of(source.text):
                included |= {header, f"src/{header}", f"{folder}/{header}"}
    for path in sources:
        if path.endswith(".h") and path not in included:
            yield Finding(
                path, 1, "unreferenced",
                "no file includes this header; delete it, or include it where it is needed")


def check_documents_linked(sources):
    """A document that no other document links to is found by nobody."""
    linked = set()
    for source in sources.values():
        if source.path.endswith(".md"):
            folder = os.path.dirname(source.path)
            for target in re.findall(r"\]\(([^)#\s]+)", source.text):
                resolved = os.path.normpath(os.path.join(folder, target))
                if resolved != source.path:
                    linked.update({resolved, resolved + "/README.md"})
    for path in sources:
        if path.endswith(".md") and path not in ENTRY_DOCUMENTS and path not in linked:
            yield Finding(
                path, 1, "unreferenced",
                "no document links to this one; link it where a reader would look, or delete it")


def check_tools_used(sources):
    for path in sources:
        name = os.path.basename(path)
        module = rf"\b{re.escape(name.removesuffix('.py'))}\b"
        if not path.startswith("tools/") or name == "tidy_exemptions.txt":
            continue
        if not any(re.search(module, other.text) for other in sources.values()
                   if other.path != path):
            yield Finding(
                path, 1, "unreferenced",
                "no script or document names this tool; call it from ./test, or delete it")


def find_all(sources):
    findings = []
    for source in sources.values():
        for check in (check_sizes, check_words, check_includes):
            findings.extend(check(source))
    for check in (
            check_openings, check_headers_used, check_documents_linked, check_tools_used):
        findings.extend(check(sources))
    return findings


def apply_exemptions(findings, text):
    """Drops what an exemption covers. A line is: rule, path pattern, reason."""
    path = "tools/tidy_exemptions.txt"
    kept = list(findings)
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(None, 2)
        if len(parts) < 3:
            kept.append(Finding(
                path, number, "exemption",
                "needs a rule, a path and a reason; say why the rule does not fit there"))
            continue
        rule, pattern, _ = parts
        covered = [f for f in findings if f.rule == rule and fnmatch.fnmatch(f.path, pattern)]
        if not covered:
            kept.append(Finding(
                path, number, "exemption",
                f"'{rule} {pattern}' sets nothing aside any more; delete the line"))
        kept = [f for f in kept if f not in covered]
    return kept


def main(arguments):
    root = Path(__file__).resolve().parent.parent
    sources = load(root)
    exemptions = sources.get("tools/tidy_exemptions.txt")
    findings = apply_exemptions(find_all(sources), exemptions.text if exemptions else "")
    if arguments:
        findings = [f for f in findings if f.path in arguments]
    for finding in sorted(findings):
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.message}")
    if findings:
        print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
