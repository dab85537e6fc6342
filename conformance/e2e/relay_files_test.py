"""Files of Telegram messages in a real server, with the Bot API played here: a gateway gets them by an address of
the connector, in order, whatever is slow, too large or killed; the bot's token goes nowhere.
"""

import http.client
import http.server
import json
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
import relay_wire
from commands import Commands

TOKEN = "777:canarytokenofabotKq8ZrT5vXn2"
SECRET = "secret-of-a-gateway-that-fetches-files"
OTHER = "secret-of-another-tenants-gateway-xx"
PATIENCE = plane.PATIENCE_SECONDS
USER = 4242
PICTURE = bytes(range(256)) * 512


class BotApi:
    """Telegram, as far as a polling bot sees it: updates are repeated until a larger offset is asked for."""

    def __init__(self):
        self.changed = threading.Condition()
        self.updates = []
        self.offset = 0
        self.fetched = []
        self.is_slow = False
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                assert self.path.startswith(f"/file/bot{TOKEN}/"), self.path
                self.answer("application/octet-stream", api.file(self.path.rsplit("/", 1)[1]))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                start = f"/bot{TOKEN}/"
                assert self.path.startswith(start), self.path
                result = api.call(self.path.removeprefix(start), body)
                self.answer("application/json", json.dumps({"ok": True, "result": result}).encode())

            def answer(self, kind, body):
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # The server was killed meanwhile.

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}"

    def call(self, method, body):
        if method == "getMe":
            return {"id": 777, "is_bot": True, "username": "files_bot"}
        if method == "getUpdates":
            return self.next_updates(body)
        if method == "getFile":
            return {"file_id": body["file_id"], "file_path": "photos/" + body["file_id"].rsplit("-", 1)[1]}
        return True

    def next_updates(self, body):
        with self.changed:
            self.offset = max(self.offset, body.get("offset", 0))
            self.changed.notify_all()
            waiting = [one for one in self.updates if one["update_id"] >= self.offset]
            if not waiting:
                self.changed.wait(0.2)
            return [one for one in self.updates if one["update_id"] >= self.offset]

    def file(self, name):
        with self.changed:
            self.fetched.append(name)
            self.changed.notify_all()
            while self.is_slow:
                self.changed.wait()
        return PICTURE + name.encode()

    def say(self, number, **message):
        with self.changed:
            self.updates.append({"update_id": number, "message": {
                "message_id": number, "chat": {"id": USER, "type": "private"}, "from": {"id": USER}, **message}})
            self.changed.notify_all()

    def set_slow(self, is_slow):
        with self.changed:
            self.is_slow = is_slow
            self.changed.notify_all()

    def wait_for(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while not condition():
                left = deadline - time.monotonic()
                assert left > 0, what
                self.changed.wait(left)


class Gateway:
    def __init__(self, address, name, secret):
        self.lines = []
        self.wire = relay_wire.RelayWire(address, name, secret)
        self.wire.send({"type": "hello", "platform": "telegram", "botId": "777"})

    def next_message(self):
        while True:
            frame = self.wire.receive()
            self.lines.append(json.dumps(frame))
            if frame["type"] == "inbound":
                self.wire.send({"type": "inbound_ack", "bufferId": frame["bufferId"]})
                return frame["event"]


def get(url, bearer):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.request("GET", parts.path, headers={"Authorization": f"Bearer {bearer}"} if bearer else {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def start(folder):
    port = pathlib.Path(folder) / "port"
    server = plane.Child(
        ["serve", "--config", f"{folder}/config.toml", "--data", f"{folder}/data", "--port",
         port.read_text() if port.exists() else "0"],
        f"{folder}/server.log")
    port.write_text(server.address.rsplit(":", 1)[1])
    return server


def photo(name):
    return [{"file_id": f"canaryfile-small-{name}"}, {"file_id": f"canaryfile-{name}", "file_size": 9}]


def a_file_arrives(api, server, gateway):
    api.say(1, text="before")
    api.say(2, caption="look", photo=photo("one"))
    api.say(3, text="after")
    assert gateway.next_message()["text"] == "before"
    event = gateway.next_message()
    assert event["text"] == "look" and event["message_type"] == "photo", event
    assert gateway.next_message()["text"] == "after"
    media = event["media"][0]
    assert event["media_urls"] == [media["url"]] and media["kind"] == "image", event
    # Clients show their credential only where they dialled.
    assert media["url"].startswith(server.address + "/relay/media/"), media
    assert get(media["url"], relay_wire.upgrade_token("gw1", SECRET)) == (200, PICTURE + b"one")
    assert get(media["url"], None)[0] == 401
    assert get(media["url"], relay_wire.upgrade_token("gw2", OTHER))[0] == 404


def a_file_is_too_large(api, gateway):
    api.say(4, caption="big", document={
        "file_id": "canaryfile-big", "file_name": "film.mp4", "file_size": 30_000_000})
    event = gateway.next_message()
    assert event["text"] == "big\n[Missing: film.mp4 (document). It is larger than may be fetched.]", event
    assert event["media_urls"] == [], event


def a_slow_file_holds_nobody_up(api, commands, folder, server, gateway):
    """Telegram is told at once; a server killed meanwhile fetches again, and the order is kept."""
    api.set_slow(True)
    api.say(5, caption="slow", photo=photo("two"))
    api.say(6, text="behind it")
    api.wait_for("the fetch", lambda: "two" in api.fetched)
    api.wait_for("Telegram to be told", lambda: api.offset > 6)
    assert commands.run("relay", "status")["files_under_way"] == 1
    assert len(commands.run("relay", "buffers", "--instance", "i1")["entries"]) == 2
    server.kill()
    api.set_slow(False)
    server = start(folder)
    gateway = Gateway(server.address, "gw1", SECRET)
    event = gateway.next_message()
    assert event["text"] == "slow", event
    assert get(event["media"][0]["url"], relay_wire.upgrade_token("gw1", SECRET)) == (200, PICTURE + b"two")
    assert gateway.next_message()["text"] == "behind it"
    return server, gateway


def a_stop_waits_for_no_file(api, folder, server, gateway):
    api.set_slow(True)
    api.say(7, caption="at the end", photo=photo("three"))
    api.wait_for("the fetch", lambda: "three" in api.fetched)
    gateway.wire.cut()
    assert server.stop() == 0
    api.set_slow(False)
    server = start(folder)
    gateway = Gateway(server.address, "gw1", SECRET)
    event = gateway.next_message()
    assert event["text"] == "at the end" and len(event["media"]) == 1, event
    return server, gateway


def search(folder, lines):
    own = {f"{folder}/bot.token"}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and not path.is_socket() and str(path) not in own:
            assert TOKEN.encode() not in path.read_bytes(), path
    for line in lines:
        assert TOKEN not in line and "canaryfile" not in line, line


def main():
    folder = tempfile.mkdtemp(prefix="interlock-files-")
    api = BotApi()
    (pathlib.Path(folder) / "bot.token").write_text(TOKEN + "\n")
    (pathlib.Path(folder) / "config.toml").write_text(
        f'[[relay.bot]]\nplatform = "telegram"\nbot_id = "777"\ntoken_file = "{folder}/bot.token"\n'
        f'api_base = "{api.base}"\n')
    server = start(folder)
    commands = Commands(f"{folder}/data")
    for tenant, gateway, instance, secret in (("demo", "gw1", "i1", SECRET), ("rival", "gw2", "i2", OTHER)):
        commands.run("tenant", "create", tenant, "--name", tenant)
        commands.run("relay", "gateway", "add", "--gateway-id", gateway, "--tenant", tenant, "--instance",
                     instance, "--secret", secret)
    commands.run("relay", "bind", "--platform", "telegram", "--user", str(USER), "--instance", "i1")
    first = Gateway(server.address, "gw1", SECRET)
    a_file_arrives(api, server, first)
    a_file_is_too_large(api, first)
    server, second = a_slow_file_holds_nobody_up(api, commands, folder, server, first)
    server, third = a_stop_waits_for_no_file(api, folder, server, second)
    third.wire.cut()
    assert server.stop() == 0
    search(folder, first.lines + second.lines + third.lines)
    shutil.rmtree(folder)
    print("relay: files arrived in order, the large one was told, the slow one came after a crash; no token was found")


if __name__ == "__main__":
    main()
