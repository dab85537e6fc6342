"""Telegram's Bot API, as far as a polling bot sees it, played in the test's own process."""

import http.server
import json
import threading
import time

import plane

PICTURE = bytes(range(256)) * 512


class BotApi:
    """Telegram, as far as a polling bot sees it: updates are repeated until a larger offset is asked for."""

    def __init__(self, token):
        self.changed = threading.Condition()
        self.updates = []
        self.offset = 0
        self.fetched = []
        self.sent = []  # (chat, text)
        self.bot_id = int(token.split(":")[0])
        self.is_slow = False
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                assert self.path.startswith(f"/file/bot{token}/"), self.path
                self.answer("application/octet-stream", api.file(self.path.rsplit("/", 1)[1]))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                start = f"/bot{token}/"
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
            return {"id": self.bot_id, "is_bot": True, "username": "test_bot"}
        if method == "getUpdates":
            return self.next_updates(body)
        if method == "getFile":
            return {"file_id": body["file_id"], "file_path": "photos/" + body["file_id"].rsplit("-", 1)[1]}
        if method == "sendMessage":
            return self.take(body)
        return True

    def take(self, body):
        with self.changed:
            self.sent.append((str(body["chat_id"]), body["text"].replace("\\", "")))
            self.changed.notify_all()
            return {"message_id": 10_000 + len(self.sent), "chat": {"id": body["chat_id"], "type": "private"}, "date": 1}

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

    def say(self, number, user, **message):
        with self.changed:
            self.updates.append({"update_id": number, "message": {
                "message_id": number, "chat": {"id": user, "type": "private"}, "from": {"id": user}, **message}})
            self.changed.notify_all()

    def say_in_group(self, number, chat, user, **message):
        self.say(number, user, chat={"id": chat, "type": "group" if chat > -1000 else "supergroup", "title": "Crew"},
                 **message)

    def answer_after(self, count):
        """What is sent next, when so many were sent before."""
        self.wait_for("an answer", lambda: len(self.sent) > count)
        return self.sent[count]

    def set_slow(self, is_slow):
        with self.changed:
            self.is_slow = is_slow
            self.changed.notify_all()

    def wait_for(self, what, condition):
        deadline = time.monotonic() + plane.PATIENCE_SECONDS
        with self.changed:
            while not condition():
                left = deadline - time.monotonic()
                assert left > 0, what
                self.changed.wait(left)
