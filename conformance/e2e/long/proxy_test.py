"""The desk behind nginx and behind Caddy, with the configurations that docs/proxy.md shows.

Through each: activation and login with a Secure cookie, STOP by a page of the public origin and by none
other, bounds by the caller's own address whatever he claims to be, an event stream and a WebSocket that
are not held back, and no numbers for anybody. Exit status 77 without the two programs.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import front_doors
import plane
import relay_wire
from commands import PASSWORD, Commands

TENANT = "alpha"
SECRET = "a secret of a gateway that was pinned"
STREAM_SILENCE_SECONDS = 0.5
SIGNUPS_AN_HOUR = 10  # Of one address.


def documented(language):
    """The one block of the page in that language."""
    page = (plane.ROOT / "docs/proxy.md").read_text()
    blocks = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 1, (language, len(blocks))
    return blocks[0]


def put(text, *changes):
    """Replaces what differs on a test machine; each must occur, or the page says something else."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


class Proxy:
    """A proxy as a child, ended with the block."""

    def __init__(self, command, folder, port):
        with open(f"{folder}/proxy.log", "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder,
                     "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder})
        self.port = port
        self.log = pathlib.Path(f"{folder}/proxy.log")

    def __enter__(self):
        deadline = time.monotonic() + front_doors.PATIENCE_SECONDS
        while True:
            try:
                front_doors.serial_of(self.port)
                return self
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, (
                    self.log.read_text())
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(front_doors.PATIENCE_SECONDS)


def nginx(folder, backend, files):
    port = front_doors.free_port()
    site = put(
        documented("nginx"), ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("127.0.0.1:8420", f"127.0.0.1:{backend}"),
        ("/etc/ssl/desk/fullchain.pem", files[0]), ("/etc/ssl/desk/privkey.pem", files[1]))
    temporary = "".join(
        f"{what}_temp_path {folder}/{what};\n"
        for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    config = pathlib.Path(folder) / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log stderr warn;\n"
        f"events {{}}\nhttp {{ access_log off;\n{temporary}{site}}}\n")
    return Proxy(["nginx", "-c", str(config), "-p", folder, "-e", "stderr"], folder, port)


def caddy(folder, backend, files):
    port = front_doors.free_port()
    site = put(
        documented("caddyfile"),
        ("desk.example.org {", f"https://desk.example.org:{port} {{\n    bind 127.0.0.1"),
        ("127.0.0.1:8420", f"127.0.0.1:{backend}"),
        ("/etc/ssl/desk/fullchain.pem", files[0]), ("/etc/ssl/desk/privkey.pem", files[1]))
    config = pathlib.Path(folder) / "Caddyfile"
    config.write_text("{\n    admin off\n    auto_https disable_redirects\n}\n" + site)
    return Proxy(["caddy", "run", "--config", str(config), "--adapter", "caddyfile"], folder, port)


def start_server(folder, backend, public_port):
    config = pathlib.Path(folder) / "config.toml"
    config.write_text(
        # The backend's port was drawn beforehand; the one above it may be somebody else's.
        f'[stop]\nport = 0\n[http]\npublic_url = "https://{front_doors.NAME}:{public_port}"\n'
        'trusted_proxies = ["127.0.0.1"]\n')
    return plane.Child(
        ["serve", "--config", str(config), "--data", f"{folder}/data", "--port", str(backend)],
        f"{folder}/server.log")


def cookie_of(headers):
    cookies = headers.get_all("Set-Cookie") or []
    found = [one for one in cookies if one.startswith("interlock_session=")]
    assert len(found) == 1, cookies
    assert "; Secure" in found[0] and "; HttpOnly" in found[0] and "SameSite=Strict" in found[0], found
    return found[0].split(";")[0]


def check_desk(door, origin, commands):
    """Activation, login, STOP and what a page of another origin may do: nothing."""
    commands.run("tenant", "create", TENANT, "--name", TENANT)
    invited = commands.run("human", "invite", "owner@example.com", "--tenant", TENANT)
    status, headers, page = door.ask("GET", "/")
    assert status == 200 and headers["Strict-Transport-Security"], (status, headers)

    code = {"code": invited["one_time_code"], "password": PASSWORD}
    status, _, answer = door.ask("POST", "/account/activate", code, Origin="https://evil.example")
    assert status == 403 and answer["error"]["code"] == "cross_origin", (status, answer)
    status, headers, answer = door.ask("POST", "/account/activate", code, Origin=origin)
    assert status == 200, (status, answer)
    cookie_of(headers)
    login = {"email": "owner@example.com", "password": PASSWORD}
    status, headers, answer = door.ask("POST", "/account/login", login, Origin=origin)
    assert status == 200, (status, answer)
    cookie = cookie_of(headers)

    stop = {"active": True, "reason": "from the desk"}
    path = f"/api/{TENANT}/kill"
    for foreign in ("https://evil.example", origin.replace("https:", "http:"), "null"):
        status, _, answer = door.ask("POST", path, stop, Origin=foreign, Cookie=cookie)
        assert status == 403 and answer["error"]["code"] == "cross_origin", (foreign, status, answer)
    assert door.ask("POST", path, stop, Cookie=cookie)[0] == 403  # A form of another site has none.
    assert door.ask("GET", path, Cookie=cookie)[2]["active"] is False
    status, _, answer = door.ask("POST", path, stop, Origin=origin, Cookie=cookie)
    assert status == 200 and answer["active"] is True, (status, answer)
    assert door.ask("GET", path, Cookie=cookie)[2]["active"] is True


def check_bounds(proxy, certificate):
    """One address uses its signups up, under whatever names it goes; another still has its own."""
    def sign_up(source, number, **claims):
        door = front_doors.Door(proxy.port, certificate, source=source)
        body = {"email": f"{source}-{number}@example.com", "plan": "standard", "agent_metadata": None}
        status = door.ask("POST", "/signup", body, **claims)[0]
        door.close()
        return status

    for number in range(SIGNUPS_AN_HOUR):
        assert sign_up("127.0.0.5", number) == 201, number
    for claim in ({}, {"X_Forwarded_For": "198.51.100.9"}, {"Forwarded": "for=198.51.100.9"},
                  {"X_Forwarded_For": "127.0.0.1"}, {"X_Real_IP": "198.51.100.9"}):
        assert sign_up("127.0.0.5", 99, **claim) == 429, claim
    assert sign_up("127.0.0.6", 1) == 201


def check_streams(door, address, commands):
    """The head of a stream comes while it stays open, and its end when it ends; a WebSocket likewise."""
    key = commands.run("key", "create", "--tenant", TENANT, "--label", "agent", "--scope",
                       "planner,read")
    headers = {"Authorization": f"Bearer {key['access_key']}", "Accept": "application/json, text/event-stream"}
    status, answered, _ = door.ask(
        "POST", "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "initialize",
         "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"}}}, **headers)
    assert status == 200, status
    session = {"Mcp-Session-Id": answered["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
    assert door.ask("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"},
                    **headers, **session)[0] == 202
    stream = front_doors.Door(door.port, door.certificate)
    stream.request("GET", "/mcp", headers={**headers, **session})
    answer = stream.getresponse()
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream"
    stream.sock.settimeout(STREAM_SILENCE_SECONDS)
    try:
        raise AssertionError(f"the stream did not stay open: {answer.readline()!r}")
    except TimeoutError:
        pass
    stream.close()
    stream = front_doors.Door(door.port, door.certificate)
    stream.request("GET", "/mcp", headers={**headers, **session})
    answer = stream.getresponse()
    commands.run("key", "revoke", key["key_id"], "--tenant", TENANT)  # Ends its sessions at once.
    assert answer.read() == b""
    stream.close()

    commands.run("relay", "gateway", "add", "--gateway-id", "gw-1", "--tenant", TENANT,
                 "--secret", SECRET)
    wire = relay_wire.RelayWire(address, "gw-1", SECRET, connected=door.dial())
    wire.send({"type": "hello", "platform": "relay", "botId": ""})
    assert wire.receive()["type"] == "descriptor"
    wire.cut()


def check_numbers(door):
    for path in ("/metrics", "/exposure", "//metrics", "/metrics?x=1"):
        status, _, answer = door.ask("GET", path, X_Forwarded_For="127.0.0.1")
        assert status in (401, 404), (path, status)
        assert "interlock_turns_total" not in str(answer), path


def check(make):
    folder = tempfile.mkdtemp(prefix="interlock-proxy-")
    server = None
    try:
        files = front_doors.make_certificate(folder)
        backend = front_doors.free_port()
        proxy = make(folder, backend, files)
        server = start_server(folder, backend, proxy.port)
        with proxy:
            address = f"{front_doors.NAME}:{proxy.port}"
            door = front_doors.Door(proxy.port, files[0], source="127.0.0.7")
            commands = Commands(f"{folder}/data")
            check_desk(door, f"https://{address}", commands)
            check_bounds(proxy, files[0])
            check_streams(door, address, commands)
            check_numbers(door)
            shown = {one["name"]: one for one in commands.run("doctor", code=0)["checks"]}
            assert shown["proxy"]["state"] == "ok" and "127.0.0.1" in shown["proxy"]["detail"], shown
        assert server.stop() == 0
        server = None
    finally:
        if server is not None:
            server.kill()
        shutil.rmtree(folder)


def main():
    for program in ("nginx", "caddy", "openssl"):
        if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            print(f"{program} is not here")
            return 77
    for make in (nginx, caddy):
        begin = time.monotonic()
        check(make)
        print(f"{make.__name__}: ok in {time.monotonic() - begin:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
