"""A gateway's side of /relay in plain Python: the upgrade, masked frames, newline-delimited JSON."""

import base64
import hashlib
import hmac
import json
import os
import socket
import struct
import time


def upgrade_token(gateway, secret, life=300):
    """seed 003 §6.1: base64url(gateway:expiry:hex HMAC-SHA256)."""
    text = f"{gateway}:{int(time.time()) + life}"
    signature = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    return base64.urlsafe_b64encode(f"{text}:{signature}".encode()).rstrip(b"=").decode()


class Closed(Exception):
    """The socket is over; `code` is the close frame's, 1006 without one."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


class RelayWire:
    def __init__(self, address, gateway, secret, timeout=30, connected=None, life=300):
        """`connected`: a socket that leads there already, through TLS or a proxy; `life`: of the token, by our clock."""
        host, port = address.removeprefix("http://").split(":")
        self.socket = connected or socket.create_connection((host, int(port)), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /relay HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {upgrade_token(gateway, secret, life)}\r\n\r\n".encode())
        self.bytes = b""
        self.text = b""
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.socket.recv(4096)
            if not piece:
                raise Closed(1006)
            head += piece
        head, self.bytes = head.split(b"\r\n\r\n", 1)
        self.status = int(head.split(b" ", 2)[1])
        if self.status != 101:
            raise Closed(self.status)

    def take(self, count):
        while len(self.bytes) < count:
            try:
                piece = self.socket.recv(65536)
            except OSError as error:
                raise Closed(1006) from error
            if not piece:
                raise Closed(1006)
            self.bytes += piece
        taken, self.bytes = self.bytes[:count], self.bytes[count:]
        return taken

    def send_frame(self, opcode, payload):
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack("!H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack("!Q", size)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        try:
            self.socket.sendall(head + mask + masked)
        except OSError as error:
            raise Closed(1006) from error

    def send(self, frame):
        self.send_frame(1, (json.dumps(frame) + "\n").encode())

    def receive(self):
        """The next frame of the relay."""
        while b"\n" not in self.text:
            first, second = self.take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack("!H", self.take(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self.take(8))[0]
            payload = self.take(size)
            opcode = first & 0x0F
            if opcode == 8:
                raise Closed(struct.unpack("!H", payload[:2])[0] if size >= 2 else 1005)
            if opcode == 9:
                self.send_frame(10, payload)
            elif opcode in (0, 1, 2):
                self.text += payload
        line, self.text = self.text.split(b"\n", 1)
        return json.loads(line)

    def cut(self):
        """As a killed process would: no close frame."""
        self.socket.close()
