"""Every command of README.md, CONTRIBUTING.md and docs/, typed as it is printed, page by page, by somebody
whose checkout has just been built and whose home is empty. CONTRIBUTING.md, "Documents", has the rules:
what each class of block means, how `…` is filled, and what a comment promises. A page is one story: its
blocks are typed in their order, in one folder, beside the servers that it starts itself. README has to put
`interlock` on the PATH by itself; the other pages find it there.

Commands in the middle of a sentence, and the few below that cannot be typed here, have to exist with the
options they are given.
"""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "lib"), str(HERE.parents[1] / "tools")]

import doc_blocks
from plane import PATIENCE_SECONDS, ROOT, program

OWNER = "owner@demo.example"
PASSWORD = "correct horse battery staple"
PORT = "8420"  # As printed; another one here, for others may be testing on this machine.
# Folders of the host that pages write to: below the newcomer's home here.
HOST_FOLDERS = ("/backups", "/safe", "/srv", "/mnt", "/etc/interlock")
QUESTIONS = (
    (re.compile(r"Email: $"), OWNER), (re.compile(r"[Pp]assword[^\n]*: $"), PASSWORD),
    (re.compile(r"One-time code[^\n]*: $"), ""), (re.compile(r"\[y/N\] $"), "y"))
# What stays, and what says that it has come up.
READY = {
    "./run": "--dry-run the grid", "interlock demo": "--dry-run the grid",
    "interlock serve": "ready http", "interlock relay echo": "descriptor "}
# Not typed, and why; how the program tells its options, which are checked.
NOT_TYPED = {
    "cmake --preset": ("a second build of everything", None),
    "ninja -C": ("needs that build", None),
    "python3 tools/mutants.py": ("builds every mutant and runs for hours", "python3 tools/mutants.py"),
    "interlock sim --seeds": ("minutes; the suite runs fifty seeds as a check of its own", "interlock sim"),
    "interlock bench relay": ("minutes; bench_test.py runs it small", "interlock bench relay"),
}
COLUMNS = 80  # Of a terminal that nobody widened.
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Typed:
    """A command on a terminal of its own."""

    def __init__(self, text, folder, environment):
        self.shown = ""
        self.answered = 0
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            termios.tcsetwinsize(0, (24, COLUMNS))
            os.chdir(folder)
            os.execvpe("bash", ["bash", "-c", text], environment)

    def take(self):
        """What has come; false once the command has ended."""
        try:
            piece = os.read(self.terminal, 65536).decode(errors="replace")
        except OSError:  # The child has gone.
            return False
        self.shown += ANSI.sub("", piece).replace("\r\n", "\n")
        for question, answer in QUESTIONS:
            if question.search(self.shown, self.answered):
                self.answered = len(self.shown)
                self.say(answer)
        return bool(piece)

    def say(self, text):
        os.write(self.terminal, (text + "\n").encode())

    def end(self, signal_number=None):
        if signal_number is not None:
            os.kill(self.child, signal_number)
        _, status = os.waitpid(self.child, 0)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


def two_free_ports():
    """The first of two neighbours: the stop listener stands above the server."""
    while True:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                other.bind(("127.0.0.1", port + 1))
                return str(port)


class Newcomer:
    """A checkout that has just been built, a home without anything in it, and terminals."""

    def __init__(self, page, home):
        self.page = page
        self.home = pathlib.Path(home)
        self.checkout = self.home / "checkout"
        built = self.checkout / "build/release/bin"
        built.mkdir(parents=True)
        (built / "interlock").symlink_to(pathlib.Path(program()).resolve())
        for name in ("docs", "tools", "conformance"):
            (self.checkout / name).symlink_to(ROOT / name)
        (self.checkout / "run").write_text(
            '#!/bin/sh\nexec "$(dirname "$0")"/build/release/bin/interlock demo "$@"\n')
        (self.checkout / "run").chmod(0o755)
        for folder in HOST_FOLDERS:
            (self.home / folder[1:]).mkdir(parents=True)
        self.port = two_free_ports()
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("INTERLOCK_", "XDG_", "GATEWAY_"))}
        self.environment |= {"HOME": home, "INTERLOCK_PORT": self.port, "TERM": "xterm"}
        if page != "README.md":
            self.environment["PATH"] = f"{built}:{self.environment['PATH']}"
        self.settings = []  # The lines that a terminal remembers.
        self.staying = {}
        self.printed = ""

    def here(self, text):
        """The text of a page with this machine's port and folders."""
        for folder in HOST_FOLDERS:
            text = re.sub(rf"(?<![\w.~/]){folder}(?=/)", f"{self.home}{folder}", text)
        return re.sub(rf"\b{PORT}\b", self.port, text)

    def fill(self, line):
        """`str_…` is the newest thing printed that begins so; the next one of a line, the one before."""
        used = set()

        def newest(match):
            written = match.group(1)
            for prefix in (written, re.split(r"[=/:]", written)[-1]):
                found = dict.fromkeys(re.findall(re.escape(prefix) + r"[\w/.-]*\w", self.printed))
                values = [value for value in found if prefix and value not in used]
                if values:
                    used.add(values[-1])
                    return written.removesuffix(prefix) + values[-1]
            raise AssertionError(f"{self.page}: nothing was printed that fills {line!r}")

        return re.sub(r"([^\s\"'…]*)…", newest, line)

    def start(self, line):
        return Typed("\n".join([*self.settings, line]), self.checkout, self.environment)

    def follow(self, typed, until=None):
        """Reads until the command has ended, or has shown what `until` finds."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (until and re.search(until, typed.shown)):
            assert time.monotonic() < deadline, f"{self.page}: no end of it:\n{typed.shown}"
            places = {one.terminal: one for one in (typed, *self.staying.values())}
            for ready in select.select(places, [], [], 1)[0]:
                if not places[ready].take() and places[ready] is typed:
                    assert not until, f"{self.page}: it ended:\n{typed.shown}"
                    return
        # A staying command goes on to be read whenever another is.

    def type(self, line):
        """Gives what it showed."""
        command, _, comment = line.partition(" # ")
        command = self.fill(self.here(command.rstrip()))
        first = " ".join(command.split()[:3])
        ready = next((sign for start, sign in READY.items() if first.startswith(start)), None)
        if re.match(r"export |\w+=\S*$", command):
            self.settings.append(command)
            return ""
        if ready:
            if command not in self.staying:  # What runs already is not started again.
                self.stay(command, ready)
            return ""
        typed = self.start(command)
        self.follow(typed)
        promised = re.search(r"exit code (\d+)", comment)
        code = typed.end()
        self.printed += typed.shown
        assert code == int(promised.group(1) if promised else 0), (
            f"{self.page}: {command}\nended with {code}:\n{typed.shown}")
        refused = re.search(r'\{"error":\{"code":"(\w+)"', typed.shown)
        promised = re.search(r"error (\w+)", comment)
        assert (refused and refused.group(1)) == (promised and promised.group(1)), (
            f"{self.page}: {command}\n{typed.shown}")
        return typed.shown

    def stay(self, command, ready):
        typed = self.start("exec " + command)
        self.follow(typed, until=re.escape(ready))
        assert "BROKEN" not in typed.shown, f"{self.page}: {command}\n{typed.shown}"
        self.staying[command] = typed
        self.printed += typed.shown
        if link := re.search(r"(http://\S+)/activate\?code=(\S+)", typed.shown):
            set_a_password(*link.groups())

    def talk(self, block):
        """`$ ` begins a command, `> ` is said to it, and every other line has to come."""
        typed = None
        for line in block.text.splitlines():
            if line.startswith("$ "):
                typed = self.start(self.fill(self.here(line[2:])))
            elif line.startswith("> "):
                typed.say(line[2:])
            else:
                self.follow(typed, until=".*".join(map(re.escape, line.split("…"))))
        os.write(typed.terminal, b"\x04")
        self.follow(typed)
        assert typed.end() == 0, f"{self.page}:{block.line}: {typed.shown}"

    def configure(self, block):
        """A file of the page, or an example whose every key has to be one."""
        path = self.checkout / (block.name or "example.toml")
        path.write_text(self.here(block.text) + "\n")
        if block.name:
            return
        for name in re.findall(r'"([^"]*/[^"]*\.(?:token|key|secret|password|pem))"', path.read_text()):
            place = pathlib.Path(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("a-secret-of-some-length")
            place.chmod(0o600)
        self.type(f"interlock config show --config {path}")

    def leave(self):
        for typed in self.staying.values():
            typed.end(signal.SIGTERM)


def set_a_password(address, code):
    """What the page does behind the link."""
    request = urllib.request.Request(
        address + "/account/activate",
        json.dumps({"code": code, "password": PASSWORD}).encode(),
        {"Content-Type": "application/json", "Origin": address})
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        assert answer.status == 200, answer.read()


class TryIt:
    """README: every display, after every step, tells the state that the step before it brought about,
    and after trading was turned on again the demo's grid has orders."""

    def __init__(self, newcomer):
        self.newcomer = newcomer
        self.state = "on"
        self.steps = []

    def look(self, line, shown):
        if line.startswith("interlock kill on"):
            self.state = "stopped"
        if "approvals approve" in line:
            self.state = "disabled"
            assert "interlock trading on" in shown, shown
        if "trading on" in line:
            self.state = "on"
            assert "does not trade" not in shown, shown
            self.wait_for_orders()
        if line.startswith("interlock kill status"):
            word = {"stopped": "STOPPED", "disabled": "not trading", "on": "trading"}[self.state]
            assert re.search(rf"\(global\)\s+(STATE\s+)?{word}\s", shown), (self.state, shown)
        if line.startswith("interlock strategy list"):
            word = "running" if self.state == "on" else "blocked"
            assert re.search(rf"grid_trader.*{word}", shown, re.DOTALL), (self.state, shown)
        if line.startswith("interlock doctor"):
            assert ("Fit to run." in shown) == (self.state == "on"), (self.state, shown)
        self.steps.append(line)

    def wait_for_orders(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not json.loads(self.newcomer.type("interlock account --json"))["open_orders"]:
            assert time.monotonic() < deadline, "nothing was ordered after trading was turned on"
            time.sleep(0.5)

    def finish(self):
        for step in ("kill on", "approvals approve", "trading on", "doctor"):
            assert any(step in line for line in self.steps), (step, self.steps)
        assert self.state == "on"


def commands_of(block):
    """The lines of a block; one that ends with a backslash goes on."""
    return [line for line in block.text.replace("\\\n", "\\\0").splitlines()
            if line.strip() and not line.startswith("#")]


class Names:
    """Whether the commands and options that a page names exist."""

    def __init__(self):
        self.known = {}

    def help(self, words):
        if words not in self.known:
            arguments = [program() if words[0] == "interlock" else words[0], *words[1:], "--help"]
            self.known[words] = subprocess.run(
                arguments, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                check=True).stdout
        return self.known[words]

    def check(self, page, line, start=("interlock",)):
        line = line.replace("./run", "interlock demo")
        words = shlex.split(re.sub(r"[][…]", "", line.partition(" # ")[0]))
        words = words[words.index(start[0]):]
        path, rest = start, words[len(start):]
        while rest and rest[0] in self.subcommands(path):
            path, rest = (*path, rest[0]), rest[1:]
        assert path != ("interlock",), f"{page}: there is no command {line!r}"
        groups_only = self.subcommands(path) and "[SUBCOMMAND]" not in self.help(path)
        assert not (rest and groups_only and re.fullmatch("[a-z-]+", rest[0])), (
            f"{page}: {line!r}: {rest[0]} is no command of {' '.join(path)}")
        known = self.help(path) + (self.help(start[:1]) if start[0] == "interlock" else "")
        for option in (word.partition("=")[0] for word in rest if word.startswith("--")):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", known), (
                f"{page}: {line!r}: there is no option {option}")
        return 1

    def subcommands(self, path):
        listed = re.search(r"\n(?:SUBCOMMANDS|Subcommands):\n(.*)", self.help(path), re.DOTALL)
        return re.findall(r"^  ([a-z-]+)", listed.group(1), re.MULTILINE) if listed else []


def play(page, text):
    """How many commands of the page were typed, and how many were looked up only."""
    names = Names()
    looked_up = sum(names.check(page, line) for line in doc_blocks.commands_in_text(text))
    blocks = list(doc_blocks.blocks_of(page, text))
    typed = 0
    with tempfile.TemporaryDirectory(prefix="interlock_docs_") as home:
        newcomer = Newcomer(page, home)
        witness = TryIt(newcomer) if page == "README.md" else None
        try:
            for block in sorted(blocks, key=lambda one: not one.name):  # Files come first.
                if block.kind == "toml":
                    newcomer.configure(block)
                elif block.kind == doc_blocks.TALK:
                    newcomer.talk(block)
                    typed += 1
                for line in commands_of(block) if block.kind == doc_blocks.COMMANDS else ():
                    line = line.replace("\0", "\n")
                    reason = next((why for start, why in NOT_TYPED.items() if line.startswith(start)), None)
                    if reason is None:
                        shown = newcomer.type(line)
                        typed += 1
                        if witness:
                            witness.look(line, shown)
                    elif reason[1]:
                        looked_up += names.check(page, line, tuple(reason[1].split()))
            if witness:
                witness.finish()
        finally:
            newcomer.leave()
    return typed, looked_up


# Pages on which something is wrong, and what is said of it.
BROKEN = (
    ("```sh\ninterlock kil on\n```", 'did you mean `interlock kill`'),
    ("```sh\ninterlock version   # exit code 1\n```", "ended with 0"),
    ("```sh\necho '{\"error\":{\"code\":\"not_found\"}}'\n```", "not_found"),
    ("```sh\ninterlock strategy show str_…\n```", "nothing was printed that fills"),
    ("```console\n$ interlock version\nNo such line.\n```", "it ended"),
    ("```toml\n[http]\nprot = 1\n```", "Unknown configuration key http.prot"),
    ("Say `interlock kill onn`.", "onn is no command of interlock kill"),
    ("Say `interlock kill on --raeson x`.", "there is no option --raeson"),
)


def prove_that_it_can_fail():
    for text, said in BROKEN:
        try:
            play("broken.md", text)
        except AssertionError as problem:
            assert said in str(problem), (text, problem)
        else:
            raise AssertionError(f"passes: {text}")
    for text in ("```\nls\n```", "```bash\nls\n```", "```text\ninterlock kill on\n```"):
        assert list(doc_blocks.problems_of("broken.md", text)), text


def timed(page):
    start = time.monotonic()
    return page, play(page, (ROOT / page).read_text()), time.monotonic() - start


def main():
    wanted = sys.argv[1:]
    prove_that_it_can_fail()
    pages = [str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))]
    pages = sorted(page for page in pages if doc_blocks.is_page(page) and (not wanted or page in wanted))
    pages.sort(key=lambda page: page != "README.md")  # The longest one first.
    total = [0, 0]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for page, counts, seconds in pool.map(timed, pages):
            total = [a + b for a, b in zip(total, counts)]
            if any(counts):
                print(f"{page}: {counts[0]} typed, {counts[1]} looked up, {seconds:.1f} s")
    assert wanted or total[0] > 60, total
    print(f"{len(pages)} pages: {total[0]} commands typed, {total[1]} looked up")


if __name__ == "__main__":
    main()
