"""People of the relay in a real server, with the Bot API of two bots played here: a stranger is told how to get in, seen
by the operator and let in by his number or a code; what is said to one bot stays there; a group that moves is
followed; and people leave by their own word.
"""

import http.client
import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
import relay_wire
from bot_api import BotApi
from commands import Commands

SECRET = "secret-of-a-gateway-for-people-xx"
ANN, BOB = 4242, 4343
GROUP, MOVED = -55, -1000055


class Gateway:
    def __init__(self, address, gateway_id="gw1"):
        self.address, self.gateway_id = address, gateway_id
        self.wire = relay_wire.RelayWire(address, gateway_id, SECRET)
        self.wire.send({"type": "hello", "platform": "telegram", "botId": "777"})

    def next_message(self):
        while True:
            frame = self.wire.receive()
            if frame["type"] == "inbound":
                self.wire.send({"type": "inbound_ack", "bufferId": frame["bufferId"]})
                return frame["event"]

    def manage(self, path, body):
        line = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=20)
        line.request("POST", path, json.dumps(body),
                     {"Authorization": "Bearer " + relay_wire.upgrade_token(self.gateway_id, SECRET),
                      "Content-Type": "application/json"})
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())


def strangers(commands):
    return commands.run("relay", "strangers")["strangers"]


def a_stranger_is_told_and_let_in_by_his_number(one, commands, gateway):
    one.say(1, ANN, text="anybody there?")
    chat, told = one.answer_after(0)
    assert chat == str(ANN) and "/link CODE" in told and str(ANN) in told, told
    (who,) = strangers(commands)
    assert (who["user_id"], who["bot_id"], who["tenant_id"]) == (str(ANN), "777", None), who
    assert "anybody" not in commands.run("relay", "strangers", as_json=False)
    event = commands.run("relay", "events", "--limit", "1")["events"][0]
    assert event["user_id"] == str(ANN) and event["note"] == "unbound_author" and event["because"], event
    one.say(2, ANN, text="hello?")  # He is not told twice.
    one.wait_for("the second word", lambda: one.offset > 2)
    commands.run("relay", "bind", "--stranger", str(who["number"]), "--instance", "i1")
    assert not strangers(commands)
    one.say(3, ANN, text="and now")
    event = gateway.next_message()
    assert event["text"] == "and now" and event["bot_id"] == "777", event
    assert len(one.sent) == 1, one.sent


def another_bot_is_another_link(one, two, commands, gateway):
    two.say(1, ANN, text="said to the other bot")
    two.answer_after(0)
    one.say(4, ANN, text="behind it")
    assert gateway.next_message()["text"] == "behind it"
    assert [who["bot_id"] for who in strangers(commands)] == ["778"]
    code = commands.run("relay", "link", "create", "--instance", "i1", "--platform", "telegram", "--bot-id", "778")["code"]
    one.say(5, BOB, text=f"/link {code}")
    assert "not valid" in one.answer_after(1)[1], one.sent
    two.say(2, ANN, text=f"/link {code}")
    assert "linked to i1" in two.answer_after(1)[1], two.sent
    two.say(3, ANN, text="by the other bot")
    event = gateway.next_message()
    assert event["text"] == "by the other bot" and event["bot_id"] == "778", event


def a_group_is_followed(one, commands, gateway):
    one.say_in_group(6, GROUP, ANN, text="who is here?")
    one.wait_for("the group", lambda: one.offset > 6)
    (group,) = [who for who in strangers(commands) if who["discriminator"]]
    assert group["discriminator"] == str(GROUP) and group["chat_name"] == "Crew", group
    told = commands.refused("relay", "bind", "--stranger", str(group["number"]), "--instance", "i1", code=2)
    assert told == "bad_usage", told
    commands.run("relay", "route", "add", "--stranger", str(group["number"]), "--tenant", "demo")
    one.say_in_group(7, GROUP, ANN, text="in the group")
    assert gateway.next_message()["source"]["chat_id"] == str(GROUP)
    one.say_in_group(8, GROUP, ANN, migrate_to_chat_id=MOVED)
    one.say_in_group(9, MOVED, ANN, text="in the supergroup")
    assert gateway.next_message()["source"]["chat_id"] == str(MOVED)
    assert [route["discriminator"] for route in commands.run("relay", "route", "list")["routes"]] == [str(MOVED)]


def who_asks_for_his_messages_is_told_him(one, commands, gateway):
    commands.run("relay", "gateway", "add", "--gateway-id", "gw2", "--tenant", "demo", "--instance", "i2",
                 "--secret", SECRET)
    commands.run("relay", "bind", "--platform", "telegram", "--bot-id", "777", "--user", str(ANN), "--instance", "i2")
    other = Gateway(gateway.address, "gw2")
    status, asked = other.manage("/manage/dm-default", {"platform": "telegram", "userId": str(ANN), "botId": "777"})
    assert (status, asked["state"]) == (200, "asked"), asked
    before = len(one.sent)
    for number in (10, 11):
        one.say(number, ANN, text="to the one I chose")
        assert gateway.next_message()["text"] == "to the one I chose"
    chat, told = one.answer_after(before)
    assert chat == str(ANN) and "i2 asks to get your direct messages" in told and "/default i2" in told, told
    one.say(12, ANN, text="/default 2")
    assert "go to i2 now" in one.answer_after(before + 1)[1], one.sent  # Told once, although he spoke twice.
    one.say(13, ANN, text="to the other")
    assert other.next_message()["text"] == "to the other"
    one.say(14, ANN, text="/unlink 2")
    assert "no longer linked to i2" in one.answer_after(before + 2)[1], one.sent
    other.wire.cut()


def people_leave_by_their_own_word(one, gateway):
    before = len(one.sent)
    one.say(20, ANN, text="/whoami")
    assert "1. i1" in one.answer_after(before)[1], one.sent
    one.say(21, ANN, text="/unlink")
    assert "no longer linked to i1" in one.answer_after(before + 1)[1], one.sent
    one.say(22, ANN, text="nobody hears this")
    one.wait_for("the last word", lambda: one.offset > 22)


def main():
    folder = tempfile.mkdtemp(prefix="interlock-people-")
    one, two = BotApi("777:tokenofonebotKq8ZrT5vXn2aaaaa"), BotApi("778:tokenofanotherKq8ZrT5vXn2bbbbb")
    (pathlib.Path(folder) / "config.toml").write_text("[stop]\nport = 0\n" + "".join(
        f'[[relay.bot]]\nplatform = "telegram"\nbot_id = "{bot.bot_id}"\ntoken = "{token}"\napi_base = "{bot.base}"\n'
        for bot, token in ((one, "777:tokenofonebotKq8ZrT5vXn2aaaaa"), (two, "778:tokenofanotherKq8ZrT5vXn2bbbbb"))))
    server = plane.Child(["serve", "--config", f"{folder}/config.toml", "--data", f"{folder}/data", "--port", "0"],
                         f"{folder}/server.log")
    commands = Commands(f"{folder}/data")
    commands.run("tenant", "create", "demo", "--name", "Demo")
    commands.run("relay", "gateway", "add", "--gateway-id", "gw1", "--tenant", "demo", "--instance", "i1",
                 "--secret", SECRET)
    gateway = Gateway(server.address)
    a_stranger_is_told_and_let_in_by_his_number(one, commands, gateway)
    another_bot_is_another_link(one, two, commands, gateway)
    a_group_is_followed(one, commands, gateway)
    who_asks_for_his_messages_is_told_him(one, commands, gateway)
    people_leave_by_their_own_word(one, gateway)
    gateway.wire.cut()
    assert server.stop() == 0
    shutil.rmtree(folder)
    print("relay: a stranger got in by his number, a code worked at its bot only, a group was followed")


if __name__ == "__main__":
    main()
