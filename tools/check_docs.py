"""Checks the documents: every relative link leads to a file and, with '#', to a heading in it; every
decision record has its four parts and stands in the index.
"""

import re
import sys
from pathlib import Path

import tidy

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
RECORD_PARTS = ("Context", "Decision", "Consequences", "Rejected")


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


def main():
    root = Path(__file__).resolve().parent.parent
    sources = tidy.load(root)
    documents = {path: s for path, s in sources.items() if path.endswith(".md")}
    problems = [p for path, s in documents.items() for p in check_links(root, path, s.text)]
    problems += check_records(sources)
    for problem in problems:
        print(problem)
    print(f"{len(documents)} documents read")
    return 1 if problems or not documents else 0


if __name__ == "__main__":
    sys.exit(main())
