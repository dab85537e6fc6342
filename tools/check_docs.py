"""Checks the documents: every relative link leads to a file and, with '#', to a heading in it; every
decision record has its four parts and stands in the index; every test that the pages of agent loop,
control decisions and bots name exists, and no section of their contracts is without one; every fenced
block says what it is, so that no command escapes conformance/e2e/docs_commands_test.py; the page of
measured figures is what bench_page.py makes of them; every `<page>.md#<heading>` that code or a document
cites exists, and none cites a text that is not in the tree. check_docs_test.py proves that the last two
can fail.
"""

import os
import re
import sys
from pathlib import Path

import bench_page
import doc_blocks
import tidy

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
RULE_TABLE = "## Rules and the tests that prove them"
LOOP_PAGE = "docs/contracts/agent-loop.md"
LOOP_SECTIONS = (
    "1", "1 F1", "1 F2", "1 F3", "2.1", *(f"2.2 {tool}" for tool in "ABCDEFGH"),
    *(f"3.{n}" for n in range(1, 6)), *(f"4.{n}" for n in range(1, 5)), "5.1",
    *(f"5.2.{n}" for n in range(1, 5)), "5.3", *(f"6.1.{n}" for n in range(1, 9)),
    *(f"6.2.{n}" for n in range(1, 7)), "6.3")
CONTROL_PAGE = "docs/contracts/control-decision.md"
CONTROL_SECTIONS = (
    "Goal", *(f"Design rules {n}" for n in range(1, 7)), "Canonical Hermes write tool",
    "Non-canonical helpers", "Supported actions", "Request shape", "Required fields", "Field meanings",
    "Response shape", "Status values", *(f"Validation rules {n}" for n in range(1, 8)),
    *(f"Safety gates {n}" for n in range(1, 6)), "Idempotency", "Audit persistence",
    "Read/write separation", "Suggested implementation mapping", "Versioning rule")
BOT_PAGE = "docs/contracts/bot.md"
BOT_SECTIONS = (
    "authentication", "bot_state_machine", "onboarding_sequence", "no_withdrawal", "spot_only",
    "non_custodial", "maker_only", "max_symbols", "zero_cache_policy", "graceful_degradation",
    "safe_state_on_shutdown", "endpoints", "account", "lifecycle", "status_and_diagnostics",
    "configuration_read", "configuration_proposals", "exchange_connectivity", "pnl_analytics",
    "explicit_exclusions", "roadmap v1.1", "roadmap v1.2", "roadmap commercial")
TEST = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", re.MULTILINE)
RECORD_PARTS = ("Context", "Decision", "Consequences", "Rejected")

# `<page>.md#<heading>`, but not as the end of an address of the web.
CITATION = re.compile(r"(?<![\w/:.@-])((?:[\w.-]+/)*[\w.-]+\.md)#([\w-]+)")
# Where a page is looked for, after the citing file's own folder.
PAGE_FOLDERS = ("", "docs/contracts", "docs")
NO_CITATIONS = ("tools/*_test.py",)  # Their texts are made to be wrong.

# Citations of what was once written outside the tree: numbered rulings, the contracts' own sections,
# findings of audits.
FOREIGN = re.compile(
    r"(?<![\w/.'#-])(?:S(?:1[0-6]|[1-9])(?:\.\d)?|R(?:1[0-7]|[1-9]))(?![\w'])"
    r"|\bSEMANTICS\b|\b[Ss]eeds? 00[0-4]\b|\b00[0-4] §|\b(?:ROOMS|CLUSTER|DESK) [A-Z]\d"
    r"|\b(?:finding|audit,?) [A-Z]\d")
NO_FOREIGN = ("src/", "sim/", "testing/", "bench/", "fuzz/", "tools/", "docs/", "README.md",
              "CONTRIBUTING.md", "ARCHITECTURE.md")
# Records are history, and one page tells where each section of a contract is kept.
MAY_BE_FOREIGN = ("docs/adr/", "docs/contracts/README.md", "tools/check_docs_test.py")


def anchors_of(text):
    """The anchors that a Markdown viewer gives to the headings of a document."""
    anchors = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).lower()
        anchors.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return anchors


def check_links(root, path, text):
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (root / path).parent / name if name else root / path
        if not file.exists():
            yield f"{path}: {target} leads nowhere; correct the link or write the document"
        elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text()):
            yield f"{path}: {target} names a heading that is not there; correct the anchor"


def check_records(sources):
    index = sources.get("docs/adr/README.md")
    for path, source in sources.items():
        if not re.fullmatch(r"docs/adr/(\d{4}-.*|template)\.md", path):
            continue
        headings = HEADING.findall(source.text)
        for part in RECORD_PARTS:
            if part not in headings:
                yield f"{path}: has no part '{part}'; follow docs/adr/template.md"
        if index is None or f"({Path(path).name})" not in index.text:
            yield f"{path}: is not in docs/adr/README.md; add its line there"


def check_rule_table(root, sources, page_path, sections):
    """Rows of `section | rule | tests`: C++ tests as `Suite.Name`, cases as paths."""
    page = sources.get(page_path)
    if page is None or RULE_TABLE not in page.text:
        yield f"{page_path}: has no part '{RULE_TABLE}'; write it"
        return
    tests = {".".join(found) for path, source in sources.items() if path.endswith("_test.cc")
             for found in TEST.findall(source.text)}
    proven = set()
    for line in page.text.split(RULE_TABLE)[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3 or cells[0] in ("section", "---"):
            continue
        names = re.findall(r"`([^`]+)`", cells[2])
        for name in names:
            is_case = name.endswith(".json")
            known = (root / "conformance/contracts" / name).exists() if is_case else name in tests
            if not known:
                yield f"{page_path}: {cells[0]} names {name}, which is no test; correct the name"
        if names:
            proven.add(cells[0])
        else:
            yield f"{page_path}: {cells[0]} names no test; write one and name it"
    for section in sections:
        if section not in proven:
            yield f"{page_path}: section {section} of its contract has no row; add it with its test"


def page_of(path, cited, sources):
    """The page that a citation in `path` means; None when there is none."""
    for folder in (os.path.dirname(path), *PAGE_FOLDERS):
        page = os.path.normpath(os.path.join(folder, cited))
        if page in sources:
            return page
    return None


def check_citations(sources):
    """In every text file, whatever it is: a page that is renamed must not leave its readers behind."""
    known = {}
    for path, source in sources.items():
        if ".md#" not in source.text or tidy.within(path, NO_CITATIONS):
            continue
        for match in CITATION.finditer(source.text):
            cited, anchor = match.groups()
            line = tidy.line_of(source.text, match.start())
            page = page_of(path, cited, sources)
            if page is None:
                yield f"{path}:{line}: {cited} is no page; cite one by its path"
                continue
            if page not in known:
                known[page] = anchors_of(sources[page].text)
            if anchor not in known[page]:
                yield f"{path}:{line}: {page} has no heading '{anchor}'; cite one that it has"


def check_foreign(sources, exempt=MAY_BE_FOREIGN):
    for path, source in sources.items():
        if not tidy.within(path, NO_FOREIGN) or tidy.within(path, exempt):
            continue
        for match in FOREIGN.finditer(source.text):
            line = tidy.line_of(source.text, match.start())
            yield (f"{path}:{line}: '{match.group()}' is of a text that is not in the tree; say it on a "
                   "page of docs/contracts and cite that with its heading")


def main():
    root = Path(__file__).resolve().parent.parent
    sources = tidy.load(root)
    documents = {path: s for path, s in sources.items() if path.endswith(".md")}
    problems = [p for path, s in documents.items() for p in check_links(root, path, s.text)]
    problems += [p for path, s in documents.items() if doc_blocks.is_page(path)
                 for p in doc_blocks.problems_of(path, s.text)]
    problems += check_records(sources)
    problems += check_rule_table(root, sources, LOOP_PAGE, LOOP_SECTIONS)
    problems += check_rule_table(root, sources, CONTROL_PAGE, CONTROL_SECTIONS)
    problems += check_rule_table(root, sources, BOT_PAGE, BOT_SECTIONS)
    problems += check_citations(sources)
    problems += check_foreign(sources)
    problems += filter(None, [bench_page.problem_with(root)])
    for problem in problems:
        print(problem)
    print(f"{len(documents)} documents read")
    return 1 if problems or not documents else 0


if __name__ == "__main__":
    sys.exit(main())
