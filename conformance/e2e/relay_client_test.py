"""A whole turn as the gateway client of August 2026 takes it, frame by frame and in its order: it marks the message,
says that it types, answers, takes the mark away and puts another; it asks with buttons and gets the press; it leaves
in good order and comes back to nothing old. What a client reads of each answer is all that is looked at.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
import relay_wire
from commands import Commands

SECRET = "a secret that is long enough"
PATIENCE = plane.PATIENCE_SECONDS


class Client:
    """One at a time: its answers come while nothing else is read, as with the real one's reader."""

    def __init__(self, server):
        self.wire = relay_wire.RelayWire(server.address, "gw1", SECRET)
        self.wire.send({"type": "hello", "platform": "local", "botId": "console"})
        self.descriptor = self.wire.receive()["descriptor"]

    def request(self, op, **keys):
        """The result of an action, tagged as newer clients tag it."""
        request_id = uuid.uuid4().hex
        self.wire.send(
            {"type": "outbound", "requestId": request_id, "action": {"op": op, **keys, "metadata": {"user_id": "ann"}},
             "platform": "local", "botId": "console"})
        while True:
            frame = self.wire.receive()
            if frame["type"] == "outbound_result" and frame["requestId"] == request_id:
                return frame["result"]
            assert frame["type"] == "outbound_result", frame

    def take(self):
        """The next event, acknowledged."""
        frame = self.wire.receive()
        assert frame["type"] == "inbound", frame
        self.wire.send({"type": "inbound_ack", "bufferId": frame["bufferId"]})
        return frame["event"]

    def leave(self):
        self.wire.send({"type": "going_idle"})
        frame = self.wire.receive()
        assert frame == {"type": "going_idle_ack"}, frame
        self.wire.cut()


def say(data, text, wait=None):
    """Begins to say something as the person; who says it ends by itself."""
    more = [] if wait is None else ["--wait", str(wait)]
    return subprocess.Popen(
        [plane.program(), "chat", "--tenant", "demo", "--as", "ann", "--data", data, "--say", text, *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def heard(person, code=0):
    said, complaint = person.communicate(timeout=PATIENCE)
    assert person.returncode == code, (said, complaint)
    return said


def take_a_turn(client, data):
    person = say(data, "hello", PATIENCE)
    event = client.take()
    chat, message = event["source"]["chat_id"], event["message_id"]

    def react(emoji, remove):
        return client.request("react", chat_id=chat, message_id=message, emoji=emoji, remove=remove)

    assert react("👀", False)["success"] is True
    assert client.request("typing", chat_id=chat)["success"] is True
    answer = client.request("send", chat_id=chat, content="⚠️ hi", reply_to=message)
    assert answer["success"] is True and answer["message_id"], answer
    # The mark is the client's own, so it may take it away, though the message is not (section 8).
    assert react("👀", True)["success"] is True
    assert react("✅", False)["success"] is True
    assert react("🎉", True)["code"] == "egress_declined"  # Nobody put that one.
    refused = client.request("edit", chat_id=chat, message_id=message, content="not mine")
    assert refused["code"] == "egress_declined", refused
    assert "bot: ⚠️ hi\n" in heard(person)
    return chat


def ask(client, data, chat):
    """A question with buttons; the second one is pressed from a script."""
    asked = client.request(
        "prompt", chat_id=chat, content="Go on?", prompt_kind="approval", prompt_id="ab12cd.00ff00ff", reply_to=None,
        options=[{"id": "once", "label": "Allow Once", "style": "primary"}, {"id": "deny", "label": "Deny"}])
    assert asked["success"] is True, asked
    assert heard(say(data, "/press 3"), code=1) == ""
    person = say(data, "/press 2")
    event = client.take()
    heard(person)
    response = event["prompt_response"]
    assert (response["prompt_id"], response["option_id"]) == ("ab12cd.00ff00ff", "deny"), event
    assert (event["text"], event["message_type"]) == ("/deny", "command"), event
    assert response["prompt_message_id"] == asked["message_id"], event


def main():
    folder = tempfile.mkdtemp(prefix="interlock-client-")
    config = pathlib.Path(folder) / "config.toml"
    config.write_text('[[relay.bot]]\nplatform = "local"\nbot_id = "console"\n')
    data = f"{folder}/data"
    server = plane.Child(["serve", "--config", str(config), "--data", data, "--port", "0"], f"{folder}/server.log")
    commands = Commands(data)
    commands.run("tenant", "create", "demo", "--name", "Demo")
    commands.run("relay", "gateway", "add", "--gateway-id", "gw1", "--tenant", "demo", "--instance", "i1",
                 "--secret", SECRET)
    commands.run("relay", "bind", "--platform", "local", "--user", "ann", "--instance", "i1")
    client = Client(server)
    assert {"react", "prompt", "get_chat_info"} <= set(client.descriptor["supported_ops"]), client.descriptor
    chat = take_a_turn(client, data)
    ask(client, data, chat)
    client.leave()
    heard(say(data, "while you were away"))
    client = Client(server)
    assert client.take()["text"] == "while you were away"  # And nothing that was done with.
    client.leave()
    assert server.stop() == 0
    shutil.rmtree(folder)
    print("relay client: a turn, a question, a nap")


if __name__ == "__main__":
    main()
