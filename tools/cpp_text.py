"""Just enough reading of C++ for tidy.py: comments, literals, includes and where functions lie.

It is no parser. It relies on the layout clang-format gives us and is allowed to miss odd cases; it
must not invent findings in ordinary code.
"""

import re
from typing import NamedTuple


class Function(NamedTuple):
    name: str
    first_line: int
    last_line: int


TOKENS = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<raw> \bu?8?L?R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)" )
    | (?P<string> "(?:\\.|[^"\\\n])*" )
    | (?P<char> (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+' )
    """,
    re.VERBOSE | re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<own>[^"\n]+)"|<(?P<other>[^>\n]+)>)')
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", re.MULTILINE)
SCOPE = re.compile(r"(?:(?:inline|export|typedef|static|extern)\s+)*"
                   r"(?:namespace|class|struct|union|enum)\b")
TEMPLATE = re.compile(r"^\s*template\s*<")


def blank(text):
    """The same lines and columns, with nothing on them."""
    return re.sub(r"[^\n]", " ", text)


def blank_comments(text):
    """Blanks comments and the inside of literals. Include lines keep their header's name."""
    def replace(match):
        found = match.group()
        if match.lastgroup == "comment" or found.startswith("/"):
            return blank(found)
        start = text.rfind("\n", 0, match.start()) + 1
        if INCLUDE.match(text[start:match.end()]):
            return found
        return found[0] + blank(found[1:-1]) + found[-1]
    return TOKENS.sub(replace, text)


def includes_of(text):
    """Yields (line, whether quoted, header) for each include directive."""
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match["own"] is not None, match["own"] or match["other"]


def without_template(head):
    """A declaration without its `template <...>` part."""
    while TEMPLATE.match(head):
        depth = 0
        for index, letter in enumerate(head):
            depth += (letter == "<") - (letter == ">")
            if letter == ">" and depth == 0:
                head = head[index + 1:]
                break
        else:
            return head
    return head


def is_scope(head):
    """Whether a brace after this text opens a namespace or a type."""
    head = without_template(head).strip()
    if re.fullmatch(r'extern\s*"\s*"', head):
        return True
    return bool(SCOPE.match(head)) and not re.search(r"\)\s*(const|noexcept|override|\s)*$", head)


def function_name(head):
    head = without_template(head)
    match = re.search(r"([~\w:]*operator\s*[^\s(]+|[~\w:]+)\s*\(", head)
    if not match:
        return "a function"
    inner = re.match(r"\s*(\w+)\s*,\s*(\w+)", head[match.end():])
    if inner and match.group(1).startswith("TEST"):
        return f"{inner[1]}.{inner[2]}"
    return match.group(1)


def find_functions(code):
    """Function definitions outside other functions, from blanked code, with their extent."""
    code = DIRECTIVE.sub(lambda match: blank(match.group()), code)
    functions = []
    scopes = 0  # Open namespaces and types around us.
    head_start = 0
    parens = 0
    index = 0
    while index < len(code):
        letter = code[index]
        parens += (letter == "(") - (letter == ")")
        if letter == ";" and parens == 0:
            head_start = index + 1
        elif letter == "}":
            scopes -= 1
            head_start = index + 1
            parens = 0
        elif letter == "{" and parens == 0:
            head = code[head_start:index]
            if is_scope(head):
                scopes += 1
                head_start = index + 1
            else:
                end = closing_brace(code, index)
                following = re.compile(r"\s*(.)").match(code, end + 1)
                if following and following[1] in ",{":
                    pass  # An initialiser such as `: name_{name}`: the body is still to come.
                else:
                    if ")" in head:
                        lead = len(head) - len(head.lstrip())
                        first = code.count("\n", 0, head_start + lead) + 1
                        functions.append(
                            Function(function_name(head), first, code.count("\n", 0, end) + 1))
                    head_start = end + 1
                index = end
        index += 1
    return functions


def closing_brace(code, opening):
    depth = 0
    for index in range(opening, len(code)):
        depth += (code[index] == "{") - (code[index] == "}")
        if depth == 0:
            return index
    return len(code) - 1
