#!/usr/bin/env python3
"""Clicks through the web pages in a real browser: page_test.py [SCREENSHOT_FOLDER]

Starts `interlock demo` and a headless Chromium, follows the printed link, sets a password, stops,
asks for the release, approves it, makes and revokes a key, sets up an authenticator app, logs out
and in again, and pulls the plug. Chromium is driven over its debugging pipe, so nothing besides it
and Python is needed.
"""

import base64
import fcntl
import hashlib
import hmac
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WAIT_SECONDS = 60
PASSWORD = "correct horse battery"
# What an agent might write to be taken for the page itself, and to read backwards.
HOSTILE = "<img src=x onerror=alert(1)> \u202eeslaf"
HOSTILE_SHOWN = "<img src=x onerror=alert(1)> \\u202eeslaf"


class Navigated(Exception):
    """The page went away under a script; there is nothing else that a command fails with here."""


class Browser:
    """One page of a headless Chromium."""

    def __init__(self, profile):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def place_pipes():  # Chromium reads commands on 3 and writes to 4.
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs_in, theirs_out)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
             f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place_pipes, pass_fds=(3, 4), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.pipe_in, self.pipe_out = ours_in, ours_out
        self.buffer = b""
        self.last_id = 0
        self.session = None
        self.complaints = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call(
            "Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setScrollbarsHidden", hidden=True)

    def receive(self):
        deadline = time.monotonic() + WAIT_SECONDS
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.pipe_in], [], [], deadline - time.monotonic())
            chunk = os.read(self.pipe_in, 1 << 16) if ready else b""
            if not chunk:
                sys.exit("the browser went silent")
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.pipe_out, json.dumps(message).encode() + b"\0")
        return self.last_id

    def call(self, method, **params):
        wanted = self.send(method, **params)
        while True:
            message = self.receive()
            if message.get("id") == wanted:
                if "error" in message:
                    raise Navigated(f"{method}: {message['error']}")
                return message["result"]
            self.on_event(message)

    def on_event(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.javascriptDialogOpening":
            self.send("Page.handleJavaScriptDialog", accept=True)
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"])
        elif method == "Log.entryAdded":
            # A refused login is an entry of the network; advice on style is verbose.
            entry = params["entry"]
            if entry["source"] != "network" and entry["level"] != "verbose":
                self.complaints.append(entry)

    def run(self, script):
        """The value of a script, which may await."""
        answer = self.call(
            "Runtime.evaluate", expression=f"(async () => {{ {script} }})()", awaitPromise=True,
            returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, condition):
        """Waits until a JavaScript expression is true."""
        script = f"""
            const end = Date.now() + {WAIT_SECONDS * 900};
            while (!({condition})) {{
                if (Date.now() > end) return false;
                await new Promise((resolve) => setTimeout(resolve, 20));
            }}
            return true;"""
        for _ in range(5):  # A wait may outlive a page or two.
            try:
                check(self.run(script), condition)
                return
            except Navigated as error:
                reason = error
        raise reason

    def fill(self, selector, text):
        self.run(f"""const input = document.querySelector({json.dumps(selector)});
            input.value = {json.dumps(text)};
            input.dispatchEvent(new Event("input", {{bubbles: true}}));""")

    def click(self, selector):
        self.until(f"document.querySelector({json.dumps(selector)})?.checkVisibility()")
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def text(self, selector):
        return self.run(f"return document.querySelector({json.dumps(selector)}).innerText")

    def shows(self, text):
        self.until(f"document.body.innerText.includes({json.dumps(text)})")

    def look(self, name, folder):
        """Both widths and both colour schemes: nothing may stick out to the side."""
        for width, scheme in ((375, "light"), (375, "dark"), (1280, "light"), (1280, "dark")):
            self.call("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                      deviceScaleFactor=1, mobile=False)
            wide = self.run("return document.documentElement.scrollWidth")
            check(wide <= width, f"{name} is {wide} px wide on a screen of {width} px")
            if folder:
                shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
                Path(folder, f"{name}_{width}_{scheme}.png").write_bytes(
                    base64.b64decode(shot["data"]))


def check(held, what):
    if not held:
        sys.exit(f"not so: {what}")


def one_time_code(key):
    """The six digits of an authenticator app for this moment (RFC 6238)."""
    secret = base64.b32decode(key.replace(" ", "") + "=" * (-len(key.replace(" ", "")) % 8))
    digest = hmac.new(secret, struct.pack(">Q", int(time.time()) // 30), hashlib.sha1).digest()
    start = digest[-1] & 15
    number = struct.unpack(">I", digest[start:start + 4])[0] & 0x7FFFFFFF
    return f"{number % 1000000:06d}"


def start_demo(folder):
    program = os.environ.get("INTERLOCK_BIN", "build/release/bin/interlock")
    demo = subprocess.Popen(
        [program, "demo", "--no-scenes", "--data", f"{folder}/data", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in demo.stdout:
        if found := re.search(r"http://\S+/activate\?code=\S+", line):
            return demo, found.group()
    sys.exit("the demo printed no link")


def activate(browser, link, shots):
    browser.call("Page.navigate", url=link)
    browser.until('document.querySelector("#activate-form")?.checkVisibility()')
    check("code" not in browser.run("return location.href"), "the code has left the address")
    browser.run("window.isOld = true")
    browser.call("Page.reload")
    browser.until('!window.isOld && document.querySelector("#activate-form")?.checkVisibility()')
    browser.look("activate", shots)
    browser.fill("[name=password]", PASSWORD)
    browser.fill("[name=again]", "another password")
    browser.click("#activate-form button")
    browser.until('document.querySelector("[name=again]").validationMessage')
    browser.fill("[name=again]", PASSWORD)
    browser.click("#activate-form button")
    browser.until('document.querySelectorAll("#codes li").length === 10')
    browser.look("codes", shots)
    code = browser.text("#codes li")
    browser.click("#codes button")
    browser.until('document.querySelector("#kill-word")?.innerText === "Trading"')
    return code


def stop_and_release(browser, shots):
    browser.look("running", shots)
    browser.fill("#stop-form input", HOSTILE)
    browser.click("#stop")
    browser.until('document.querySelector("#kill-word").innerText === "Stopped"')
    check(HOSTILE_SHOWN in browser.text("#kill-why"), "a hostile reason is shown as plain text")
    check(browser.run('return document.querySelector("#desk img") === null'), "no markup of it")
    browser.click("#release-form [name=enable]")  # Trading is to stay off for now.
    browser.click("#release-form button")
    browser.until('document.querySelector("#approval-list article")')
    check("stopped_because" in browser.text("#approval-list pre"), "the payload is shown")
    check(re.search("[0-9a-f]{64}", browser.text("#approval-list .hash")), "its hash is shown")
    browser.fill("#approval-list input", "looked at it")
    browser.look("stopped", shots)
    # The login is fresh, so the server would not ask for the password: answer once in its place.
    browser.run("""const real = window.fetch;
        window.fetch = (path, options) => {
            if (!path.endsWith("/approve")) return real(path, options);
            window.fetch = real;
            const error = {code: "reauthentication_required", message: "Too long ago.",
                           next_step: "Give the password again."};
            return Promise.resolve(new Response(JSON.stringify({error}), {status: 403}));
        };""")
    browser.click("#approval-list button.primary")
    browser.until('document.querySelector("#proof").open')
    browser.look("proof", shots)
    browser.fill("#proof [name=password]", "not the password")
    browser.click("#proof button.primary")
    browser.until('document.querySelector("#proof .problem").innerText.includes("wrong_credential")')
    browser.fill("#proof [name=password]", PASSWORD)
    browser.click("#proof button.primary")
    browser.until('document.querySelector("#kill-word").innerText === "Not trading"')
    browser.until('!document.querySelector("#approval-list article")')
    check("Trading is off" in browser.text("#kill-why"), "the page says why nothing trades")
    check("Released, but nothing trades yet. Trading is off" in browser.text("#done"),
          "the page says at once that a release alone lets nobody trade")
    browser.look("not_trading", shots)
    for button, word in (("Enable trading", "Trading"), ("Turn trading off", "Not trading"),
                         ("Enable trading", "Trading")):
        check(browser.text("#trading-form button") == button, f"the button says {button}")
        browser.click("#trading-form button")
        browser.until(f'document.querySelector("#kill-word").innerText === "{word}"')


def read_audit(browser, shots):
    browser.until('document.querySelector("#audit-list").innerText.includes("RELEASED")')
    sequences = [int(n) for n in re.findall(r"^#(\d+)", browser.text("#audit-list"), re.MULTILINE)]
    check(len(sequences) > 3, "there are audit records")
    check(sequences == list(range(sequences[0], 0, -1)), f"newest first, each once: {sequences}")
    browser.click("#audit-list summary")
    browser.until('document.querySelector("#audit-list pre")')
    check('"prev_hash"' in browser.text("#audit-list pre"), "a record opens whole")
    browser.look("audit", shots)
    browser.click("#audit-list summary")


def keys(browser, shots):
    browser.fill("#key-form [name=label]", "a test")
    browser.click("#key-form button")
    browser.until('document.querySelector("#new-key code")')
    check(re.fullmatch("ilk_[a-z0-9]+", browser.text("#new-key code")), "a key is shown")
    browser.look("key", shots)
    browser.click("#new-key button")
    check("ilk_" not in browser.run("return document.documentElement.innerHTML"), "shown once")
    before = browser.run('return document.querySelectorAll("#key-list button").length')
    browser.click('#key-list button[aria-label="Revoke a test"]')
    browser.until(f'document.querySelectorAll("#key-list button").length === {before - 1}')
    browser.run("document.querySelectorAll('[name=scope]').forEach((box) => box.checked = false)")
    browser.fill("#key-form [name=label]", "may nothing")
    browser.click("#key-form button")
    browser.until('document.querySelector("#key-problem").innerText.includes("invalid_request")')
    browser.look("problem", shots)


def authenticator(browser, shots):
    browser.click("#totp-start")
    browser.until('document.querySelector("#totp-key").innerText')
    browser.look("totp", shots)
    browser.fill("#totp-form input", one_time_code(browser.text("#totp-key")))
    browser.click("#totp-form button")
    browser.until('document.querySelector("#totp-state").innerText.startsWith("On")')
    check(browser.run('return document.querySelector("#totp-key").textContent') == "", "key gone")
    browser.fill("#totp-end [name=password]", PASSWORD)
    browser.click("#totp-end button")
    browser.until('document.querySelector("#totp-state").innerText.startsWith("Off")')


def log_out_and_in(browser, shots):
    browser.click("#logout")
    browser.until('document.querySelector("#login").checkVisibility()')
    check(browser.run('return document.querySelector("#audit-list").children.length') == 0,
          "nothing of the tenant stays on the page")
    browser.look("login", shots)
    browser.fill("#login-form [name=email]", "owner@demo.example")
    browser.fill("#login-form [name=password]", "wrong wrong wrong")
    browser.click("#login-form button")
    browser.until('document.querySelector("#login .problem").innerText.includes("unauthenticated")')
    browser.fill("#login-form [name=password]", PASSWORD)
    browser.click("#login-form button")
    browser.until('document.querySelector("#kill-word").innerText === "Trading"')
    check(browser.run("return document.activeElement.id") == "kill-title", "focus is on the desk")
    browser.call("Page.reload")
    browser.until('document.querySelector("#kill-word")?.innerText === "Trading"')


def recover(browser, code, shots):
    """A code sets a new password; the vote then rests, and the page says so."""
    browser.click("#logout")
    browser.until('document.querySelector("#login").checkVisibility()')
    browser.click("#login a")
    browser.until('document.querySelector("#recover-form")?.checkVisibility()')
    browser.look("recover", shots)
    browser.fill("#letter-form [name=email]", "nobody@demo.example")
    browser.click("#letter-form button")
    browser.until('document.querySelector("#letter-said").innerText.startsWith("If an account")')
    browser.fill("#recover-form [name=email]", "owner@demo.example")
    browser.fill("#recover-form [name=code]", "ilr-aaaa-aaaa-aaaa-aaaa-aaaa")
    for name in ("password", "again"):
        browser.fill(f"#recover-form [name={name}]", PASSWORD)
    browser.click("#recover-form button")
    browser.until('document.querySelector("#recover-form .problem").innerText.includes("unauth")')
    browser.fill("#recover-form [name=code]", code.upper())
    browser.click("#recover-form button")
    browser.until('document.querySelectorAll("#codes li").length === 10')
    browser.look("recovered", shots)
    browser.click("#codes button")
    browser.until('document.querySelector("#notices")?.innerText.includes("vote rests")')
    browser.look("resting", shots)


def stop_everything(browser, shots):
    browser.run("""const tenant = document.querySelector("#tenant");
        tenant.value = "_system";
        tenant.dispatchEvent(new Event("change"));""")
    browser.until('document.querySelector("#kill-word").innerText === "Trading"')
    check(browser.run('return document.querySelector("#keys").hidden'), "the host has no keys")
    browser.click("#stop")
    browser.shows("Stopped for all tenants")
    browser.run("""const tenant = document.querySelector("#tenant");
        tenant.value = "demo";
        tenant.dispatchEvent(new Event("change"));""")
    browser.shows("It is released under")
    browser.look("global", shots)
    browser.run("""await fetch("/api/_system/kill", {method: "POST", body: '{"active": false}',
        headers: {"Content-Type": "application/json"}});""")
    browser.shows("1 waits under “All tenants”")
    browser.until('document.title === "(1) Interlock"')
    browser.click("#elsewhere button")
    browser.until('document.querySelector("#tenant").value === "_system"')
    browser.until('document.querySelectorAll("#approval-list article").length === 1')


def exact_payloads(browser):
    shown = browser.run(r"""const {indented} = await import("/assets/raw_json.js");
        return indented('{"a":1.10,"b":[12345678901234567890,"},]\\"{",{}],"c":[]}');""")
    check(shown == '{\n  "a": 1.10,\n  "b": [\n    12345678901234567890,\n    "},]\\"{",\n    {}\n'
          '  ],\n  "c": []\n}', f"numbers and strings stay as written: {shown}")


def main(shots):
    if shutil.which("chromium") is None:
        print("there is no chromium here; install the Debian package of that name")
        return 77
    folder = tempfile.mkdtemp()
    demo, link = start_demo(folder)
    browser = Browser(f"{folder}/profile")
    try:
        code = activate(browser, link, shots)
        exact_payloads(browser)
        stop_and_release(browser, shots)
        read_audit(browser, shots)
        keys(browser, shots)
        authenticator(browser, shots)
        log_out_and_in(browser, shots)
        recover(browser, code, shots)
        stop_everything(browser, shots)
        demo.send_signal(signal.SIGTERM)
        demo.wait(WAIT_SECONDS)
        browser.shows("this page shows an old state")
        browser.look("stale", shots)
        check(not browser.complaints, f"the browser has nothing to complain: {browser.complaints}")
    finally:
        os.killpg(browser.process.pid, signal.SIGKILL)
        browser.process.wait()
        demo.kill()
        demo.wait()
        shutil.rmtree(folder, ignore_errors=True)
    print("the pages work from the first link to the last alarm")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
