"""The fenced blocks of the documents, and the classes that a fence names. CONTRIBUTING.md, "Documents", says
what each class means; check_docs.py refuses a fence without one, and conformance/e2e/docs_commands_test.py
types what stands in the blocks of commands.
"""

import re
from collections import namedtuple

COMMANDS = "sh"  # Typed line by line.
TALK = "console"  # Typed, and what is shown is compared.
FILES = ("toml",)  # With a name behind the class: a file of that name, written before the commands.
OTHERS = ("text", "json", "nginx", "caddyfile")  # What programs say, and other programs' settings.
CLASSES = (COMMANDS, TALK, *FILES, *OTHERS)

# How a line begins that somebody could type; none may stand where no test types it.
TYPED = re.compile(r"\s*(\$ )?(interlock|curl|cmake|ninja|export|\./(run|test)|(python3 )?(tools|docs|conformance)/)(\s|/|$)")
INLINE = re.compile(r"(?<!`)`((?:(?:time )?interlock|\./run) [^`]+)`(?!`)")

Block = namedtuple("Block", "page line kind name text")


def is_page(path):
    """Pages for people who use or build this; decision records tell what was, not what to type."""
    return path in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md") or (
        path.startswith("docs/") and path.endswith(".md") and not path.startswith("docs/adr/"))


def blocks_of(page, text):
    block = None
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(.*)", line)
        if fence and block is None:
            words = fence.group(1).split()
            block = (number, words[0] if words else "", words[1] if len(words) > 1 else "", [])
        elif fence:
            lines = block[3]
            indent = min((len(one) - len(one.lstrip()) for one in lines if one.strip()), default=0)
            yield Block(page, *block[:3], "\n".join(one[indent:] for one in lines))
            block = None
        elif block is not None:
            block[3].append(line)


def commands_in_text(text):
    """Commands in the middle of a sentence, without what stands in blocks."""
    plain = re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [" ".join(found.split()) for found in INLINE.findall(plain)]


def problems_of(page, text):
    for block in blocks_of(page, text):
        place = f"{page}:{block.line}"
        if block.kind not in CLASSES:
            yield f"{place}: a block needs a class after ```, one of {', '.join(CLASSES)}; see CONTRIBUTING.md"
        elif block.kind in OTHERS and any(TYPED.match(line) for line in block.text.splitlines()
                                          if not line.startswith("$ curl -X")):
            yield f"{place}: a command stands in a block of class {block.kind}, where no test types it; use ```sh"
