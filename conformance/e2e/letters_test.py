"""One letter that hangs holds up no other: a mail server that takes the first connection and says nothing, and
answers the next ones; who signed up second is mailed while the first letter still waits.
"""

import pathlib
import shutil
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane


class HalfDeadMailServer:
    """SMTP that keeps its first caller waiting for a greeting until the test ends."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.held = []
        self.letters = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            if not self.held:
                self.held.append(caller)
            else:
                threading.Thread(target=self.serve, args=(caller,), daemon=True).start()

    def serve(self, caller):
        lines = caller.makefile("rwb")

        def say(text):
            lines.write(text.encode() + b"\r\n")
            lines.flush()

        say("220 here")
        while line := lines.readline():
            word = line.split()[0].upper()
            if word == b"DATA":
                say("354 go on")
                letter = b""
                while (part := lines.readline()) not in (b".\r\n", b""):
                    letter += part
                self.letters.append(letter.decode())
                say("250 taken")
            elif word == b"QUIT":
                say("221 bye")
                return
            else:
                say("250 well")

    def is_holding(self):
        """Whether the first caller is still there."""
        self.held[0].setblocking(False)
        try:
            return self.held[0].recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True


def start(folder, port):
    path = pathlib.Path(folder) / "config.toml"
    path.write_text(
        "[mail]\ndelivery = \"smtp\"\nfrom = \"desk@example.com\"\nsmtp_host = \"127.0.0.1\"\n"
        f"smtp_port = {port}\nsmtp_tls = \"none\"\nsmtp_timeout_seconds = 60\n")
    return plane.Child(
        ["serve", "--config", str(path), "--data", f"{folder}/data", "--port", "0"], f"{folder}/server.log")


def sign_up(server, address):
    connection = plane.connect(server.address)
    status, answer = plane.call(
        connection, "POST", "/signup", {"email": address, "plan": "trial", "agent_metadata": None})
    connection.close()
    assert status == 201, (status, answer)


def wait_until(what, check):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while not check():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def main():
    folder = tempfile.mkdtemp(prefix="interlock-letters-")
    mail = HalfDeadMailServer()
    server = start(folder, mail.port)
    sign_up(server, "first@example.com")
    wait_until("the first letter to hang", lambda: mail.held)
    sign_up(server, "second@example.com")
    wait_until("the second letter", lambda: any("To: second@example.com" in one for one in mail.letters))
    assert mail.is_holding(), "the first letter was given up before the second one came"
    server.kill()
    mail.listener.close()
    shutil.rmtree(folder)
    print("letters: the second signup was mailed while the first one's letter hung")


if __name__ == "__main__":
    main()
