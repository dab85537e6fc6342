"""Certificates, and HTTP as a browser behind some address would speak it."""

import http.client
import json
import os
import socket
import ssl
import subprocess

NAME = "desk.example.org"
PATIENCE_SECONDS = 30


def make_certificate(folder, name=NAME, stem="privkey", chain="fullchain"):
    """Signed by itself; the key is readable by its owner alone."""
    key, certificate = f"{folder}/{stem}.pem", f"{folder}/{chain}.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", key, "-out", certificate, "-days", "30", "-subj", f"/CN={name}",
         "-addext", f"subjectAltName=DNS:{name}"],
        check=True, capture_output=True)
    os.chmod(key, 0o600)
    return certificate, key


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def serial_of(port, name=NAME):
    """The certificate that a listener shows, as its bytes."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as plain:
        with context.wrap_socket(plain, server_hostname=name) as secured:
            return secured.getpeercert(binary_form=True)


class Door(http.client.HTTPConnection):
    """A connection to a listener on this machine under a name of its own, from an address of choice."""

    def __init__(self, port, certificate=None, name=NAME, source="127.0.0.1"):
        super().__init__(name, port, timeout=PATIENCE_SECONDS)
        self.certificate = certificate
        self.source = source

    def connect(self):
        self.sock = self.dial()

    def dial(self):
        plain = socket.create_connection(
            ("127.0.0.1", self.port), PATIENCE_SECONDS, source_address=(self.source, 0))
        if self.certificate is None:
            return plain
        context = ssl.create_default_context(cafile=self.certificate)
        return context.wrap_socket(plain, server_hostname=self.host)

    def ask(self, method, path, body=None, **headers):
        """Status, headers and body; header names are given with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        text = None if body is None else json.dumps(body)
        if text is not None:
            sent["Content-Type"] = "application/json"
        self.request(method, path, text, sent)
        answer = self.getresponse()
        read = answer.read()
        try:
            read = json.loads(read)
        except ValueError:
            pass
        return answer.status, answer.headers, read
