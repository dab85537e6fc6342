"""The program's commands as a test runs them: with --json, on a terminal, as a human."""

import json
import os
import pty
import subprocess
import termios
import time

import plane

PASSWORD = "correct horse battery staple"
EMAIL = "owner@example.com"


class Commands:
    def __init__(self, data):
        self.data = data

    def run(self, *arguments, stdin="", code=0, as_json=True):
        options = ["--json"] if as_json else []
        result = subprocess.run(
            [plane.program(), *arguments, "--data", self.data, *options], input=stdin,
            capture_output=True, text=True, timeout=plane.PATIENCE_SECONDS)
        assert result.returncode == code, (arguments, result.returncode, result.stdout,
                                           result.stderr)
        if not as_json:
            return result.stdout
        said = result.stdout or result.stderr
        return json.loads(said) if said else None

    def refused(self, *arguments, stdin="", code=1):
        return self.run(*arguments, stdin=stdin, code=code)["error"]["code"]

    def raw(self, *arguments, environment=None):
        """Exit code and what was said, whatever it is; there is no terminal to ask on."""
        result = subprocess.run(
            [plane.program(), *arguments, "--data", self.data], stdin=subprocess.DEVNULL,
            env=os.environ | dict(environment or {}), capture_output=True, text=True,
            start_new_session=True, timeout=plane.PATIENCE_SECONDS, check=False)
        return result.returncode, result.stdout, result.stderr

    def on_terminal(self, *arguments, answers=(), columns=0, environment=()):
        """Runs a command on a terminal of its own; gives what the terminal showed."""
        child, terminal = pty.fork()
        if child == 0:
            termios.tcsetwinsize(0, (24, columns))
            os.execve(plane.program(), [plane.program(), *arguments, "--data", self.data],
                      os.environ | dict(environment))
        shown = ""
        deadline = time.monotonic() + plane.PATIENCE_SECONDS
        waiting = list(answers)
        while time.monotonic() < deadline:
            try:
                piece = os.read(terminal, 4096).decode()
            except OSError:  # The child has gone.
                break
            if not piece:
                break
            shown += piece
            if waiting and waiting[0][0] in shown:
                os.write(terminal, (waiting.pop(0)[1] + "\n").encode())
        _, status = os.waitpid(child, 0)
        os.close(terminal)
        assert not waiting, (waiting, shown)
        return os.waitstatus_to_exitcode(status), shown

    def as_human(self, *arguments, code=0):
        """A command that logs in."""
        return self.run(*arguments, "--email", EMAIL, "--password-stdin", stdin=PASSWORD + "\n",
                        code=code)


def make_owner(commands, tenant):
    """A tenant with a human who can log in."""
    commands.run("tenant", "create", tenant, "--name", tenant)
    invited = commands.run("human", "invite", EMAIL, "--tenant", tenant, "--system")
    commands.run(
        "human", "activate", "--code", invited["one_time_code"], "--password-stdin",
        stdin=PASSWORD + "\n")
