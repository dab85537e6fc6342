"""README's "Try it", line by line as it is printed, by somebody who has just built: stop, see, release, approve,
trade again. What the commands show on the way is true, and at the end the demo's grid has orders again.
"""

import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from plane import PATIENCE_SECONDS, ROOT, program

PASSWORD = "correct horse battery staple"
OWNER = "owner@demo.example"
ASKS = ("approvals approve", "trading on")  # These want a login.


def printed_commands():
    block = re.search(r"## Try it\n.*?```\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return [line for line in block.group(1).splitlines() if line]


class Newcomer:
    """A checkout that has just been built, a home without anything in it, and a terminal."""

    def __init__(self, folder):
        self.checkout = pathlib.Path(folder, "checkout")
        built = self.checkout / "build/release/bin"
        built.mkdir(parents=True)
        (built / "interlock").symlink_to(pathlib.Path(program()).resolve())
        (self.checkout / "run").write_text(
            '#!/bin/sh\nexec "$(dirname "$0")"/build/release/bin/interlock demo "$@"\n')
        (self.checkout / "run").chmod(0o755)
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("INTERLOCK_", "XDG_"))}
        # The port alone is another one, for others may be testing on this machine.
        self.environment |= {"HOME": folder, "INTERLOCK_PORT": "0"}
        self.settings = []  # The lines that a terminal remembers.

    def begin(self, line):
        demo = subprocess.Popen(
            ["bash", "-c", f"exec {line}"], cwd=self.checkout, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said = ""
        for text in demo.stdout:
            said += text
            if "--dry-run the grid" in text:
                return demo, said
        raise AssertionError(said)

    def arguments(self, line):
        return ["bash", "-c", "\n".join([*self.settings, line])]

    def type(self, line):
        done = subprocess.run(
            self.arguments(line), cwd=self.checkout, env=self.environment, capture_output=True,
            text=True, timeout=PATIENCE_SECONDS, check=False)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def type_and_answer(self, line):
        answers = [("Approve? [y/N]", "y")] if "approve" in line else []
        answers += [("Email:", OWNER), ("Password:", PASSWORD), ("One-time code", "")]
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.checkout)
            os.execvpe("bash", self.arguments(line), self.environment)
        shown = ""
        while True:
            try:
                piece = os.read(terminal, 4096).decode()
            except OSError:  # The child has gone.
                break
            if not piece:
                break
            shown += piece
            if answers and answers[0][0] in shown:
                os.write(terminal, (answers.pop(0)[1] + "\n").encode())
        _, status = os.waitpid(child, 0)
        os.close(terminal)
        assert os.waitstatus_to_exitcode(status) == 0 and not answers, (line, shown)
        return shown


def set_a_password(said):
    """What the page does behind the link."""
    address, code = re.search(r"(http://\S+)/activate\?code=(\S+)", said).groups()
    request = urllib.request.Request(
        address + "/account/activate",
        json.dumps({"code": code, "password": PASSWORD}).encode(),
        {"Content-Type": "application/json", "Origin": address})
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        assert answer.status == 200, answer.read()


def expect(line, shown, state):
    """Every display, after every step, tells the state that the step before it brought about."""
    if line.startswith("interlock kill status"):
        word = {"stopped": "STOPPED", "disabled": "not trading", "on": "trading"}[state]
        assert re.search(rf"^\(global\)\s+{word}\s", shown, re.MULTILINE), (state, shown)
    if line.startswith("interlock strategy list"):
        word = "running" if state == "on" else "blocked"
        assert re.search(rf"grid_trader.*{word}", shown), (state, shown)
    if line.startswith("interlock doctor"):
        assert ("Fit to run." in shown) == (state == "on"), (state, shown)


def wait_for_orders(newcomer):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not json.loads(newcomer.type("interlock account --json"))["open_orders"]:
        assert time.monotonic() < deadline, "nothing was ordered after trading was turned on"
        time.sleep(0.5)


def follow(newcomer):
    lines = printed_commands()
    assert lines[0].startswith("./run"), lines
    demo, said = newcomer.begin(lines[0])
    try:
        set_a_password(said)
        state = "on"
        approval = None
        done = []
        for line in lines[1:]:
            if line.startswith(("export ", "PATH=")):
                newcomer.settings.append(line)
                continue
            line = line.replace("apr_…", approval or "apr_…")
            if any(words in line for words in ASKS):
                shown = newcomer.type_and_answer(line)
            else:
                shown = newcomer.type(line)
            if found := re.search(r"apr_\w+", shown):
                approval = found.group()
            if line.startswith("interlock kill on"):
                state = "stopped"
            if "approvals approve" in line:
                state = "disabled"
                assert "interlock trading on" in shown, shown
            if "trading on" in line:
                state = "on"
                assert "does not trade" not in shown, shown
                wait_for_orders(newcomer)
            expect(line, shown, state)
            done.append(line.split("#")[0].strip())
        assert state == "on" and "interlock trading on" in done, done
        assert f"export INTERLOCK_DATA={newcomer.environment['HOME']}/" in said, said
    finally:
        demo.terminate()
        demo.wait(PATIENCE_SECONDS)
        demo.stdout.close()


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_try_it_") as folder:
        follow(Newcomer(folder))


if __name__ == "__main__":
    main()
