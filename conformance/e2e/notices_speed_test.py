"""How long people wait: from the record to the folder, and to the webhook, that took its notice (notices.md 5.1), on a
real server with durable commits; each run is a tenant of its own with one person and one webhook. Prints the middle
and the longest of the runs, ten unless told otherwise; docs/benchmarks/notices.md has them.
"""

import http.server
import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane
from commands import PASSWORD, Commands


class Receiver(http.server.ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), ReceiverCall)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class ReceiverCall(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def start(folder):
    path = pathlib.Path(folder) / "config.toml"
    path.write_text("[notices]\nallow_cidrs = [\"127.0.0.0/8\"]\n")
    return plane.Child(
        ["serve", "--config", str(path), "--data", f"{folder}/data", "--port", "0"], f"{folder}/server.log")


def run_once(commands, tenant, url):
    """Milliseconds to the folder and to the webhook."""
    address = f"{tenant}@example.com"
    commands.run("tenant", "create", tenant, "--name", tenant)
    invited = commands.run("human", "invite", address, "--tenant", tenant)
    commands.run("human", "activate", "--code", invited["one_time_code"], "--password-stdin", stdin=PASSWORD + "\n")

    def ask(*words):
        return commands.run("notices", *words, "--tenant", tenant, "--email", address, "--password-stdin",
                            stdin=PASSWORD + "\n")

    ask("webhook", "set", url)
    ask("test")
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while True:
        took = {one["to"]: one["took_ms"] for one in ask("show")["outlets"] if one["sent_at"]}
        if len(took) == 2:
            webhook = took.pop("webhook")
            return took.popitem()[1], webhook
        assert time.monotonic() < deadline, "a notice did not leave"


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    folder = tempfile.mkdtemp(prefix="interlock-speed-")
    receiver = Receiver()
    server = start(folder)
    commands = Commands(f"{folder}/data")
    url = f"http://127.0.0.1:{receiver.server_address[1]}/hook"
    took = [run_once(commands, f"tenant-{number}", url) for number in range(runs)]
    server.kill()
    receiver.shutdown()
    shutil.rmtree(folder)
    for channel, times in zip(("folder", "webhook"), zip(*took)):
        print(f"asked -> sent, {channel}: p50 {statistics.median(times):.0f} ms, max {max(times)} ms, {runs} runs")


if __name__ == "__main__":
    main()
