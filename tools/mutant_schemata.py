"""Rewrites C++ so that one build holds many mutants, each behind a switch chosen at run time.

`a < b` becomes `mutant::relation<...>(17, a, b)`, which answers `a <= b` in a process that was
started with INTERLOCK_MUTANT=17 and `a < b` in every other one. The helpers are in mutant_switch.h;
they take each operand once, so nesting does not multiply the text.

It is no parser. It relies on the layout clang-format gives us: binary operators have a space on
both sides, template brackets and references have none, every branch has braces.
"""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"""
      (?P<space> \s+ | //[^\n]* | /\*.*?\*/ | ^[ \t]*\#[^\n]* )
    | (?P<text> \bu?8?L?R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"
              | "(?:\\.|[^"\\\n])*"(?:_[a-z]+)? | '(?:\\.|[^'\\\n])+' )
    | (?P<number> \d[\w.']* )
    | (?P<word> [A-Za-z_]\w* )
    | (?P<sign> <=> | <<= | >>= | \.\.\. | ->\* | \.\* | :: | -> | \+\+ | -- | <= | >= | == | !=
              | && | \|\| | \+= | -= | \*= | /= | %= | &= | \|= | \^= | . )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE)

PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<=>": 7, "<": 6, "<=": 6, ">": 6, ">=": 6,
    "==": 5, "!=": 5, "&": 4, "^": 4, "|": 4, "&&": 2, "||": 1,
}
OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = {close: opener for opener, close in OPEN.items()}
ENDS_OPERAND = {",", ";", "?", ":", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
                "return", "case", "else", "co_return", "throw", "{", "}"}
RELATIONS = {
    "<": ("less", [("<=", "less_equal")]),
    "<=": ("less_equal", [("<", "less")]),
    ">": ("greater", [(">=", "greater_equal")]),
    ">=": ("greater_equal", [(">", "greater")]),
    "==": ("equal", [("!=", "not_equal")]),
    "!=": ("not_equal", [("==", "equal")]),
}
ARITHMETIC = {"+": ("plus", "-"), "-": ("minus", "+"), "*": ("times", "/"), "/": ("over", "*")}
RECKONING = {  # Exact arithmetic with a name: the other operation, or the other rounding.
    "add": "subtract", "subtract": "add", "multiply_up": "multiply_down",
    "multiply_down": "multiply_up", "divide_up": "divide_down", "divide_down": "divide_up",
}
RECKONERS = {"reckon", "reckon_", "inventory"}
# What a statement that is not a bare expression begins with.
NOT_EXPRESSIONS = {
    "return", "if", "for", "while", "switch", "case", "default", "const", "auto", "constexpr",
    "using", "static", "struct", "class", "enum", "template", "typename", "namespace", "public",
    "private", "protected", "do", "else", "goto", "throw", "try", "delete", "static_assert",
    "TRY_ASSIGN", "CHECK", "inline", "explicit", "friend", "typedef", "union", "extern", "unsigned",
    "break", "operator", "volatile", "mutable",
}


class Mutant(NamedTuple):
    number: int
    file: str
    line: int
    text: str    # The source as it is, on one line; of a number also the line that it stands in.
    change: str  # What is done to it.


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Edit(NamedTuple):
    """Text around a stretch of source, or instead of it."""
    start: int
    end: int
    before: str
    after: str | None  # None: `before` stands instead of it.
    rank: int = 0      # Around the same stretch the higher one is outside.


def tokens_of(text):
    found = []
    for match in TOKEN.finditer(text):
        if match.lastgroup == "space" or (match["space"] is not None):
            continue
        kind = "text" if match["text"] is not None else match.lastgroup
        found.append(Token(kind, match.group(), match.start(), match.end()))
    return found


class Rewriter:
    """Finds the mutants of one file and writes the file that holds them all."""

    def __init__(self, name, text, first_number, disabled=frozenset()):
        self.name = name
        self.text = text
        self.tokens = tokens_of(text)
        self.disabled = disabled  # (line, change) of those that do not compile.
        self.next = first_number
        self.mutants = []
        self.skipped = 0
        self.edits = []
        self.partner = self.match_brackets()
        self.zone = self.find_zones()

    # Structure.

    def match_brackets(self):
        partner = {}
        stack = []
        for at, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in OPEN:
                stack.append(at)
            elif token.text in CLOSE and stack:
                partner[at] = stack.pop()
                partner[partner[at]] = at
        return partner

    def spaced(self, at):
        """A binary operator, by our layout."""
        token = self.tokens[at]
        before = self.text[token.start - 1:token.start]
        after = self.text[token.end:token.end + 1]
        return before.isspace() and after.isspace()

    def brace_kind(self, at):
        """scope, body (statements), or list (initialisers)."""
        before = self.tokens[at - 1] if at > 0 else None
        if before is None:
            return "scope"
        head = self.head_before(at)
        if re.match(r"(inline )?namespace\b|(enum |struct |class |union )|template <.*> ?(struct|class) ", head) \
                and not head.rstrip().endswith(")"):
            return "scope"
        if before.text in {")", "else", "do", "try", ";", "{", "}", "mutable", "noexcept",
                           "override", "const", "&&"}:
            return "list" if before.text == "{" and self.kinds.get(at - 1) == "list" else "body"
        if before.text == "]":
            return "body"
        if before.text == ":" and re.match(r"case |default", head):
            return "body"
        if before.kind == "word" or before.text in {">", "*", "&"}:
            # A return type behind the arrow of a lambda.
            return "body" if re.search(r"\)( mutable| const)* -> [\w:<>,&* ]+$", head) else "list"
        return "list"

    def head_before(self, at):
        """The source from the last end of a statement to this token."""
        back = at - 1
        depth = 0
        while back >= 0:
            token = self.tokens[back]
            if token.text in CLOSE and token.kind == "sign":
                if token.text == "}" and depth == 0:
                    break
                back = self.partner.get(back, back)
            elif token.text in {";", "{"}:
                break
            back -= 1
        start = self.tokens[back].end if back >= 0 else 0
        return re.sub(r"\s+", " ", self.text[start:self.tokens[at].start]).strip()

    def find_zones(self):
        """For each token whether it stands in code that runs: a function that is no constant."""
        self.kinds = {}
        zone = []
        stack = []  # (kind, runs)
        constant_until = -1
        angle = 0
        for at, token in enumerate(self.tokens):
            runs = bool(stack) and stack[-1][1]
            if token.kind == "sign" and token.text == "{":
                kind = self.brace_kind(at)
                self.kinds[at] = kind
                head = self.head_before(at)
                is_constant = kind == "body" and not runs and re.search(r"\bconst(expr|eval)\b", head)
                if kind == "scope":
                    inner = False
                elif kind == "body":
                    inner = not is_constant
                else:
                    inner = runs
                stack.append((kind, inner))
            elif token.kind == "sign" and token.text == "}" and stack:
                stack.pop()
            if token.text in {"constexpr", "static_assert", "case", "consteval", "CHECK"} and runs:
                constant_until = self.end_of_constant(at)
            # Template arguments are constants.
            if token.text == "<" and not self.spaced(at) and self.tokens[at - 1].kind == "word":
                angle += 1
            zone.append(runs and at > constant_until and angle == 0)
            if token.text == ">" and angle > 0 and not self.spaced(at):
                angle -= 1
            if token.text in {";"}:
                angle = 0
        return zone

    def end_of_constant(self, at):
        end = ":" if self.tokens[at].text == "case" else ";"
        while at < len(self.tokens) and self.tokens[at].text != end:
            at = self.partner[at] if self.tokens[at].text in OPEN and at in self.partner else at
            at += 1
        return at

    # Operands.

    def left_of(self, at, precedence):
        """The first token of the left operand of the operator at `at`."""
        back = at - 1
        first = at
        while back >= 0:
            token = self.tokens[back]
            if token.kind == "sign" and token.text in CLOSE and back in self.partner:
                if token.text == "}" and self.kinds.get(self.partner[back]) == "body" \
                        and self.tokens[self.partner[back] - 1].text not in {")", "]"}:
                    break
                back = self.partner[back]
                first = back
                back -= 1
                continue
            if token.text in OPEN or token.text in ENDS_OPERAND:
                break
            if token.text in PRECEDENCE and self.spaced(back) and PRECEDENCE[token.text] < precedence:
                break
            first = back
            back -= 1
        return first

    def right_of(self, at, precedence):
        """The last token of the right operand of the operator at `at`."""
        on = at + 1
        last = at
        while on < len(self.tokens):
            token = self.tokens[on]
            if token.kind == "sign" and token.text in OPEN and on in self.partner:
                last = self.partner[on]
                on = last + 1
                continue
            if token.text in CLOSE or token.text in ENDS_OPERAND:
                break
            if token.text in PRECEDENCE and self.spaced(on) and PRECEDENCE[token.text] <= precedence:
                break
            last = on
            on += 1
        return last

    # Mutants.

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1

    def add(self, start, end, change, within=""):
        """A number for the mutant, or None when it is one that does not compile."""
        line = self.line_of(start)
        if (line, change) in self.disabled:
            self.skipped += 1
            return None
        text = re.sub(r"\s+", " ", self.text[start:end]).strip() + within
        same = sum((one.line, one.change) == (line, change) and one.text.split(" (again")[0] == text
                   for one in self.mutants)
        text += f" (again, {same})" if same else ""
        number = self.next
        self.next += 1
        self.mutants.append(Mutant(number, self.name, line, text, change))
        return number

    def around(self, first, last):
        return self.tokens[first].start, self.tokens[last].end

    def mutate(self):
        for at, token in enumerate(self.tokens):
            if not self.zone[at]:
                continue
            if token.kind == "sign":
                self.at_sign(at)
            elif token.kind == "number":
                self.at_number(at)
            elif token.kind == "word":
                self.at_word(at)
            if self.starts_statement(at):
                self.at_statement(at)
        return self.write()

    def at_sign(self, at):
        text = self.tokens[at].text
        if text == "!" and not self.spaced(at):
            self.negation(at)
        elif text == "?":
            first = self.left_of(at, 0)
            if first < at:
                self.condition(first, at - 1)
        elif not self.spaced(at):
            return
        elif text in RELATIONS:
            self.relation(at)
        elif text in {"&&", "||"}:
            self.logic(at)
        elif text in ARITHMETIC:
            self.arithmetic(at)

    def relation(self, at):
        precedence = PRECEDENCE[self.tokens[at].text]
        first, last = self.left_of(at, precedence), self.right_of(at, precedence)
        if first >= at or last <= at:
            return
        text = self.tokens[at].text
        name, others = RELATIONS[text]
        start, end = self.around(first, last)
        if text in {"==", "!="} and self.is_whole_condition(first, last):
            return
        for other, other_name in others:
            number = self.add(start, end, f"{text} becomes {other}")
            if number is not None:
                self.edits.append(Edit(
                    start, end, f"(mutant::relation<mutant::{name}, mutant::{other_name}>({number}, ", "))"))
                self.edits.append(Edit(self.tokens[at].start, self.tokens[at].end, ",", None))

    def logic(self, at):
        text = self.tokens[at].text
        precedence = PRECEDENCE[text]
        first, last = self.left_of(at, precedence), self.right_of(at, precedence)
        if first >= at or last <= at:
            return
        start, end = self.around(first, last)
        left = self.add(start, end, f"only what stands left of the last {text}")
        right = self.add(start, end, f"only what stands right of the last {text}")
        if left is None or right is None:
            return
        helper = "both" if text == "&&" else "either"
        wrap = "[&]() -> bool { return static_cast<bool>("
        self.edits.append(Edit(start, end, f"mutant::{helper}({left}, {wrap}", "); })"))
        self.edits.append(
            Edit(self.tokens[at].start, self.tokens[at].end, f"); }}, {wrap}", None))

    def arithmetic(self, at):
        text = self.tokens[at].text
        precedence = PRECEDENCE[text]
        first, last = self.left_of(at, precedence), self.right_of(at, precedence)
        operands = self.tokens[first:last + 1]
        # Text is put together with `+` as well.
        is_text = any(token.kind == "text" or token.text in {"to_text", "to_string", "to_word", "string"}
                      for token in operands)
        if first >= at or last <= at or is_text:
            return
        start, end = self.around(first, last)
        name, other = ARITHMETIC[text]
        number = self.add(start, end, f"{text} becomes {other}")
        if number is not None:
            self.edits.append(Edit(start, end, f"mutant::{name}({number}, ", ")"))
            self.edits.append(Edit(self.tokens[at].start, self.tokens[at].end, ",", None))

    def negation(self, at):
        on = at + 1
        while on < len(self.tokens) and self.tokens[on].text in {"!", "*"}:
            on += 1
        last = on
        while on < len(self.tokens):
            token = self.tokens[on]
            if token.kind == "sign" and token.text in {"(", "["}:
                last = self.partner[on]
                on = last + 1
            elif token.kind == "word" or token.text in {"::", ".", "->"}:
                last = on
                on += 1
            elif token.text == "<" and not self.spaced(on):
                while self.tokens[on].text != ">":
                    on += 1
                last = on
                on += 1
            else:
                break
        if self.is_whole_condition(at, last):
            return
        start, end = self.around(at, last)
        number = self.add(start, end, "! is gone")
        if number is not None:
            self.edits.append(
                Edit(self.tokens[at].start, self.tokens[at].end, "", None))
            self.edits.append(
                Edit(self.tokens[at + 1].start, end, f"mutant::negate({number}, ", ")"))

    def is_whole_condition(self, first, last):
        """Then true and false ask more of the tests than its opposite."""
        return self.tokens[first - 1].text == "(" and self.tokens[last + 1].text == ")" \
            and self.tokens[first - 2].text in {"if", "while"} or self.tokens[last + 1].text == "?" \
            and self.tokens[first - 1].text in ENDS_OPERAND

    def condition(self, first, last):
        start, end = self.around(first, last)
        true = self.add(start, end, "the condition is true")
        false = self.add(start, end, "the condition is false")
        if true is not None and false is not None:
            self.edits.append(Edit(start, end, f"mutant::condition({true}, ", ")", 1))

    def at_word(self, at):
        text = self.tokens[at].text
        after = self.tokens[at + 1].text if at + 1 < len(self.tokens) else ""
        if text in {"if", "while"} and after == "(":
            first, last = at + 2, self.partner[at + 1] - 1
            self.condition_in(first, last)
        elif text == "for" and after == "(":
            semicolons = [on for on in range(at + 2, self.partner[at + 1])
                          if self.tokens[on].text == ";" and self.is_at_depth(at + 1, on)]
            if len(semicolons) == 2 and semicolons[1] > semicolons[0] + 1:
                self.condition(semicolons[0] + 1, semicolons[1] - 1)
        elif text in RECKONING and after == "(" and self.tokens[at - 1].text == "." \
                and self.tokens[at - 2].text in RECKONERS:
            self.reckoning(at)
        elif text in {"min", "max"} and after == "(" and self.tokens[at - 1].text == "::" \
                and self.tokens[at - 2].text == "std":
            self.bound(at)

    def is_at_depth(self, opener, at):
        on = opener + 1
        while on < at:
            if self.tokens[on].text in OPEN and on in self.partner:
                on = self.partner[on]
            on += 1
        return on == at

    def condition_in(self, first, last):
        """Of an if or while, behind the declaration if there is one."""
        on = first
        while on <= last:
            token = self.tokens[on]
            if token.text == ";":
                first = on + 1
            if token.text in OPEN and on in self.partner:
                on = self.partner[on]
            on += 1
        has_declaration = any(
            self.tokens[on].text == "=" and self.is_at_depth(first - 1, on)
            for on in range(first, last + 1))
        if first <= last and not has_declaration:
            self.condition(first, last)

    def reckoning(self, at):
        name = self.tokens[at].text
        other = RECKONING[name]
        start, end = self.around(at - 2, self.partner[at + 1])
        number = self.add(start, end, f"{name} becomes {other}")
        if number is None:
            return
        owner = self.tokens[at - 2]
        self.edits.append(Edit(
            owner.start, self.tokens[at].end,
            f"({owner.text}.*mutant::pick({number}, &Reckoning::{name}, &Reckoning::{other}))", None))

    def bound(self, at):
        name = self.tokens[at].text
        other = "max" if name == "min" else "min"
        start, end = self.around(at, self.partner[at + 1])
        number = self.add(start, end, f"{name} becomes {other}")
        if number is not None:
            self.edits.append(Edit(
                self.tokens[at - 2].start, self.tokens[at + 1].end, f"mutant::{name}_of({number}, ", None))

    def at_number(self, at):
        text = self.tokens[at].text
        if not re.fullmatch(r"\d[\d']*[uUlL]*", text):
            return
        if self.tokens[at - 1].text == "[" and self.tokens[at - 2].kind == "word":
            return  # An array's size or a known place.
        start, end = self.tokens[at].start, self.tokens[at].end
        line = self.text.split("\n")[self.line_of(start) - 1]
        number = self.add(start, end, "one more", " in " + re.sub(r"\s+", " ", line).strip())
        if number is not None:
            self.edits.append(Edit(
                self.tokens[at].start, self.tokens[at].end, f"mutant::one_more({number}, ", ")"))

    # Statements.

    def starts_statement(self, at):
        before = self.tokens[at - 1]
        if before.kind != "sign":
            return False
        if before.text == ";":
            return not self.is_in_for(at)
        if before.text == "{":
            return self.kinds.get(at - 1) == "body"
        return before.text == "}" and self.kinds.get(self.partner.get(at - 1)) == "body" \
            and self.tokens[at].text not in {")", ",", ";", "}", "."}

    def is_in_for(self, at):
        back = at - 1
        while back >= 0:
            token = self.tokens[back]
            if token.text in CLOSE and token.kind == "sign" and back in self.partner:
                back = self.partner[back] - 1
                continue
            if token.text == "(":
                return True
            if token.text == "{":
                return False
            back -= 1
        return False

    def at_statement(self, at):
        end = at
        while end < len(self.tokens) and self.tokens[end].text != ";":
            end = self.partner[end] if self.tokens[end].text in OPEN and end in self.partner else end
            end += 1
        if end >= len(self.tokens):
            return
        first = self.tokens[at]
        if first.text == "return":
            self.early_return(at, end)
            return
        if first.text == "continue":
            self.remove(at, end, "the continue is gone")
            return
        if first.kind == "word" and first.text in NOT_EXPRESSIONS or self.is_declaration(at, end):
            return
        if first.text in {"}", "~", "["}:
            return
        self.remove(at, end, "the statement is gone")

    def is_declaration(self, at, end):
        """A type and a name behind it."""
        on = at
        while on < end and (self.tokens[on].kind == "word" or self.tokens[on].text == "::"):
            if on > at and self.tokens[on].kind == "word" and self.tokens[on - 1].kind == "word":
                return True
            on += 1
        if self.tokens[on].text == "<" and not self.spaced(on):
            depth = 0
            while on < end:
                depth += (self.tokens[on].text == "<") - (self.tokens[on].text == ">")
                on += 1
                if depth == 0:
                    break
            while on < end and self.tokens[on].text in {"::", "&", "*", "&&"}:
                on += 1
            return self.tokens[on].kind == "word"
        if self.tokens[on].text in {"&", "*", "&&"} and not self.spaced(on):
            return True
        return self.tokens[on].text == "{"

    def remove(self, at, end, change):
        start, stop = self.tokens[at].start, self.tokens[end].end
        number = self.add(start, stop, change)
        if number is not None:
            self.edits.append(Edit(start, stop, f"if (!mutant::on({number})) {{ ", " }"))

    def early_return(self, at, end):
        """One that is not the last word of its function, and does more than its condition: a
        block of nothing but a return goes with the condition."""
        closing = end + 1
        if closing >= len(self.tokens) or self.tokens[closing].text != "}":
            return
        opening = self.partner[closing]
        if at - 1 == opening:
            return
        before = self.tokens[opening - 1]
        if before.text != ")" or self.tokens[self.partner[opening - 1] - 1].text != "if":
            return
        self.remove(at, end, "the early return is gone")

    # Writing.

    def write(self):
        opens, closes, instead = {}, {}, {}
        for order, edit in enumerate(self.edits):
            if edit.after is None:
                if edit.before == "," and edit.start in instead:
                    continue
                instead[edit.start] = (edit.end, edit.before)
            else:
                opens.setdefault(edit.start, []).append((-edit.end, -edit.rank, order, edit.before))
                closes.setdefault(edit.end, []).append((-edit.start, edit.rank, -order, edit.after))
        out = []
        position = 0
        points = sorted(set(opens) | set(closes) | set(instead))
        for point in points:
            if point > position:
                out.append(self.text[position:point])
                position = point
            for *_, text in sorted(closes.get(point, [])):
                out.append(text)
            for *_, text in sorted(opens.get(point, [])):
                out.append(text)
            if point in instead and position == point:
                end, text = instead[point]
                out.append(text)
                position = end
        out.append(self.text[position:])
        return "".join(out)
