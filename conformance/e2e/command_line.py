"""The commands against a real server: making tenants, stopping, approving as a human, completing."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
from commands import EMAIL, PASSWORD, Commands


def make_people(commands):
    made = commands.run("tenant", "create", "demo", "--name", "Demo")
    assert made["tenant_id"] == "demo", made
    assert commands.refused("tenant", "create", "demo", "--name", "Other") == "tenant_exists"
    assert commands.run("tenant", "list")["tenants"][0]["name"] == "Demo"
    key = commands.run(
        "key", "create", "--tenant", "demo", "--label", "agent", "--scope", "read,probe")
    assert key["access_key"].startswith("ilk_"), key
    assert commands.run("key", "revoke", key["key_id"], "--tenant", "demo")
    listed = commands.run("key", "list", "--tenant", "demo")["keys"]
    assert listed[0]["revoked_at"] and "access_key" not in listed[0], listed
    invited = commands.run("human", "invite", EMAIL, "--tenant", "demo", "--system")
    commands.run(
        "human", "activate", "--code", invited["one_time_code"], "--password-stdin",
        stdin=PASSWORD + "\n")
    assert commands.run("human", "list", "--tenant", "demo")["humans"][0]["state"] == "active"
    # Afterwards only a human invites: an agent may run under the operator's user.
    assert commands.refused(
        "human", "invite", "second@example.com", "--tenant", "demo") == "bootstrap_closed"


def stop_and_release(commands):
    stopped = commands.run("kill", "on", "--tenant", "demo", "--reason", "odd fills")
    assert stopped["stopped"] and not stopped["by_file"] and stopped["audit_ref"], stopped
    released = commands.run("kill", "off")
    approval = released["release_approval_id"]
    assert released["active"] and approval, released
    assert commands.run("approvals", "list", "--state", "pending")["approvals"][0][
        "approval_id"] == approval
    decide = ("approvals", "approve", approval, "--yes", "--email", EMAIL, "--password-stdin")
    wrong = commands.run(*decide, stdin="wrong password here\n", code=1)["error"]
    assert wrong["code"] == "unauthenticated" and "/recover" in wrong["next_step"], wrong
    approved = commands.run(*decide, "--comment", "looked into it", stdin=PASSWORD + "\n")
    assert approved["state"] == "consumed", approved
    assert commands.refused(*decide, stdin=PASSWORD + "\n") == "approval_not_pending"
    switches = commands.run("kill", "status")["switches"]
    assert not any(switch["active"] for switch in switches), switches
    codes = {switch["tenant_id"]: (switch["blocked"] or {}).get("code") for switch in switches}
    assert codes == {"_system": None, "demo": "disabled"}, codes
    assert commands.run("doctor")["warning"]
    # Without a choice: where it is off.
    enabled = commands.as_human("trading", "on")
    assert enabled["trading_enabled"] and enabled["blocked"] is None, enabled
    assert not commands.run("doctor")["warning"]


def a_release_says_what_still_holds(commands):
    """Enabling trading with the release undoes the stop's own, not what somebody turned off before."""
    off = commands.as_human("trading", "off", "--reason", "closed for today")
    assert not off["trading_enabled"] and off["blocked"]["code"] == "account_disabled", off
    commands.run("kill", "on", "--tenant", "demo")
    shown = commands.run("kill", "off", "--enable-trading", as_json=False)
    assert "something else holds still: Trading is off on the account main." in shown, shown
    assert "it trades again" not in shown, shown
    (waiting,) = commands.run("approvals", "list", "--state", "pending")["approvals"]
    assert "and enable trading; still holding then: Trading is off" in waiting["summary"], waiting
    noted = [one for one in commands.run("doctor")["checks"] if one["name"] == "approvals"]
    assert len(noted) == 1 and waiting["approval_id"] in noted[0]["detail"], noted
    commands.as_human("approvals", "approve", waiting["approval_id"], "--yes")
    told = commands.run("kill", "status", "--tenant", "demo")["switches"][0]
    assert told["blocked"]["code"] == "account_disabled", told
    assert commands.as_human("trading", "on")["blocked"] is None
    commands.run("kill", "on", "--tenant", "demo")
    shown = commands.run("kill", "off", "--enable-trading", as_json=False)
    assert "With that approval trading is enabled as well." in shown, shown
    (waiting,) = commands.run("approvals", "list", "--state", "pending")["approvals"]
    commands.as_human("approvals", "approve", waiting["approval_id"], "--yes")
    assert commands.run("kill", "status", "--tenant", "demo")["switches"][0]["blocked"] is None


def reject_on_terminal(commands):
    commands.run("kill", "on", "--tenant", "demo")
    approval = commands.run("kill", "off", "--tenant", "demo")["release_approval_id"]
    code, shown = commands.on_terminal(
        "approvals", "reject", approval,
        answers=[("Reject? [y/N]", "y"), ("Email:", EMAIL), ("Password:", PASSWORD),
                 ("One-time code", "")])
    assert code == 0, shown
    assert "pending -> rejected" in shown, shown
    assert PASSWORD not in shown, "the terminal showed the password"
    code, shown = commands.on_terminal(
        "approvals", "approve",
        commands.run("kill", "off", "--tenant", "demo")["release_approval_id"],
        answers=[("Approve? [y/N]", "n")])
    assert code == 1 and "Nothing was decided" in shown, shown


def stop_everything(commands, server):
    stopped = commands.run("kill", "on")
    assert stopped["tenant_id"] == "_system" and not stopped["by_file"], stopped
    assert all(switch["active"] for switch in commands.run("kill", "status")["switches"])
    examined = commands.run("doctor")
    assert examined["ok"] and examined["warning"], examined
    assert server.stop() == 0
    # Without a server the file stops what will start next.
    stopped = commands.run("kill", "on", "--reason", "no server")
    assert stopped["stopped"] and stopped["by_file"], stopped
    assert pathlib.Path(commands.data, "KILL").exists()
    assert commands.refused("kill", "status", code=3) == "server_unreachable"
    assert commands.run("doctor")["ok"]
    assert commands.run("audit", "verify")["ok"]


def speak_to_people(commands):
    """What somebody types who does not know the program, and what it says to that."""
    def typed(*arguments):
        done = subprocess.run(
            [plane.program(), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
            start_new_session=True, timeout=plane.PATIENCE_SECONDS, check=False)
        return done.returncode, done.stdout, done.stderr

    code, said, _ = typed("--version")
    assert code == 0 and said.startswith("interlock 0."), said
    code, said, _ = typed("help")
    assert code == 0 and "Subcommands:" in said, said
    code, said, _ = typed("help", "kill", "on")
    assert code == 0 and "--reason" in said, said
    code, _, said = typed("kil", "on")
    assert code == 2 and '"kil"; did you mean `interlock kill`?' in said, said
    code, _, said = typed("kill", "on", "--raeson", "x", "--json")
    assert code == 2 and json.loads(said)["error"]["code"] == "bad_usage", said
    code, _, said = typed("config", "show", "--config", "/no/such.toml")
    assert code == 4 and "/no/such.toml cannot be read: No such file" in said, said
    code, _, said = typed("backtest", "--strategy", "idle", "--market-data", "/no/such.csv")
    assert code == 1 and "/no/such.csv cannot be read: No such file" in said, said
    code, said, _ = typed("strategy", "types", "--data", "/no/such/folder")
    assert code == 0 and "sideways" in said, said
    code, _, said = typed(
        "decide", "--concern", "main:btcusdt", "--action", "pause", "--reason", "x",
        "--data", commands.data)
    assert code == 1 and "no terminal" in said and "--yes" not in said, said

    # One tenant: nobody has to name it.
    for words in (("key", "list"), ("human", "list"), ("account",), ("strategy", "list")):
        commands.run(*words)

    _, plain = commands.on_terminal("doctor")
    assert "\x1b[32m" in plain, plain
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        _, plain = commands.on_terminal("doctor", environment=environment)
        assert "\x1b" not in plain and "ok  " in plain, plain
    for columns in (80, 120):
        for words in (("approvals", "list"), ("kill", "status"), ("key", "list")):
            _, shown = commands.on_terminal(*words, columns=columns)
            assert max(map(len, shown.splitlines())) <= columns, shown
    _, shown = commands.on_terminal("approvals", "list", columns=80)
    known = commands.run("approvals", "list")["approvals"]
    assert known and all(one["approval_id"] in shown for one in known), shown


def call_what_has_no_command_of_its_own(commands):
    """Commands that are made from the operation table: as the operator, as a human, as an agent."""
    assert commands.run("limit", "show")["limits"]
    assert "limits" in commands.run("limit", "show", as_json=False)
    assert commands.run("order", "list", "--limit", "5")["orders"] == []
    book = ("cost", "book", "--kind", "infra", "--amount", "1.50", "--reason", "a day")
    first = commands.as_human(*book, "--key", "day-1")
    assert commands.as_human(*book, "--key", "day-1") == first, first
    assert commands.refused("cost", "book", "--kind", "infra", "--amount", "x", "--key", "day-2",
                            "--email", EMAIL, "--password-stdin", stdin=PASSWORD + "\n")
    commands.run("alert", "suppress", "--event", "X", "--hours", "soon", code=1)
    code, said, _ = commands.raw("mode", "set", "--mode", "real")
    assert code == 2, said
    key = commands.run("key", "create", "--tenant", "demo", "--label", "books", "--scope", "read")
    code, said, told = commands.raw(
        "order", "list", "--tenant", "demo", "--json",
        environment={"INTERLOCK_ACCESS_KEY": key["access_key"]})
    assert code == 0 and json.loads(said)["orders"] == [], (said, told)
    commands.run("key", "revoke", key["key_id"])


def read_ledger(commands):
    tail = subprocess.run(
        [plane.program(), "audit", "tail", "-n", "3", "--json", "--data", commands.data],
        capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(tail) == 3, tail
    last = json.loads(tail[-1])
    reference = f"{last['seq']}:{last['hash'][:16]}"
    assert commands.run("audit", "show", reference)["hash"] == last["hash"]
    assert commands.refused(
        "audit", "show", f"{last['seq']}:0000000000000000", code=4) == "corrupt_data"
    everything = pathlib.Path(commands.data, "interlock.db").read_bytes()
    assert PASSWORD.encode() not in everything


def complete(commands):
    script = commands.run("completion", "bash", as_json=False)

    def completions(*words):
        line = " ".join(f"'{word}'" for word in words)
        return subprocess.run(
            ["bash", "-c", f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
             "_interlock; echo \"${COMPREPLY[@]}\""],
            capture_output=True, text=True, check=True).stdout.split()

    assert completions("interlock", "ki") == ["kill"]
    assert {"on", "off", "status"} <= set(completions("interlock", "kill", ""))
    assert completions("interlock", "--data", "/x", "kill", "on", "--ten") == ["--tenant"]
    assert "pending" in completions("interlock", "approvals", "list", "--state", "")
    assert {"list", "show", "create", "switch"} <= set(completions("interlock", "strategy", ""))
    assert "set_risk_mode" in completions("interlock", "decide", "--action", "")
    for shell in ("zsh", "fish"):
        text = commands.run("completion", shell, as_json=False)
        assert "/approvals/approve" in text
        if shutil.which(shell):
            subprocess.run([shell, "-n", "/dev/stdin"], input=text, text=True, check=True)
    page = commands.run("man", as_json=False)
    program = subprocess.run([plane.program(), "--help"], capture_output=True, text=True).stdout
    listed = program.split("Subcommands:")[1].splitlines()
    names = [line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "]
    assert len(names) > 10, program
    for name in names:
        escaped = name.replace("-", "\\-")
        assert f'.SS "{escaped}"' in page, f"{name} is not in the manual page"
    if shutil.which("groff"):
        warnings = subprocess.run(
            ["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True,
            text=True, check=True).stderr
        assert not warnings, warnings


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_commands_") as folder:
        sink = plane.start_sink(folder)
        server = None
        try:
            server = plane.start_server(folder)
            commands = Commands(f"{folder}/data")
            for step in (
                    make_people, stop_and_release, a_release_says_what_still_holds,
                    reject_on_terminal, speak_to_people, call_what_has_no_command_of_its_own,
                    read_ledger, complete):
                step(commands)
                print(f"{step.__name__}: ok")
            stop_everything(commands, server)
            print("stop_everything: ok")
        finally:  # Nothing outlives a test that failed.
            sink.process.kill()
            if server is not None:
                server.process.kill()


if __name__ == "__main__":
    main()
