"""Files of Telegram messages in a real server, with the Bot API played here: a gateway gets them by an address of
the connector, in order, whatever is slow, too large or killed; the bot's token goes nowhere.
"""

import http.client
import json
import pathlib
import shutil
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
import relay_wire
from bot_api import PICTURE, BotApi
from commands import Commands

TOKEN = "777:canarytokenofabotKq8ZrT5vXn2"
SECRET = "secret-of-a-gateway-that-fetches-files"
OTHER = "secret-of-another-tenants-gateway-xx"
PATIENCE = plane.PATIENCE_SECONDS
USER = 4242


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
    api.say(1, USER, text="before")
    api.say(2, USER, caption="look", photo=photo("one"))
    api.say(3, USER, text="after")
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
    api.say(4, USER, caption="big", document={
        "file_id": "canaryfile-big", "file_name": "film.mp4", "file_size": 30_000_000})
    event = gateway.next_message()
    assert event["text"] == "big\n[Missing: film.mp4 (document). It is larger than may be fetched.]", event
    assert event["media_urls"] == [], event


def a_slow_file_holds_nobody_up(api, commands, folder, server, gateway):
    """Telegram is told at once; a server killed meanwhile fetches again, and the order is kept."""
    api.set_slow(True)
    api.say(5, USER, caption="slow", photo=photo("two"))
    api.say(6, USER, text="behind it")
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
    api.say(7, USER, caption="at the end", photo=photo("three"))
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
    api = BotApi(TOKEN)
    (pathlib.Path(folder) / "bot.token").write_text(TOKEN + "\n")
    (pathlib.Path(folder) / "config.toml").write_text(
        # A second start takes the same port; the one above it may be somebody else's by then.
        f'[stop]\nport = 0\n[[relay.bot]]\nplatform = "telegram"\nbot_id = "777"\ntoken_file = "{folder}/bot.token"\n'
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
