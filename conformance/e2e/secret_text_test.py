"""Canaries of every shape, sent through every text that the API and MCP take: refused in ids, masked in
words, and found again in no database, ledger, artifact, receipt, export, log, letter or journal. Files
are closed to others, and a crash leaves no core.
"""

import json
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lib"))

import commands
import plane

UPPER, LOWER, DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
ALPHABETS = {"b62": UPPER + LOWER + DIGITS, "b64": UPPER + LOWER + DIGITS + "+/", "b32": LOWER + "234567",
             "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", "hex": DIGITS + "abcdef",
             "upper": UPPER, "digit": DIGITS, "word": LOWER}
TENANT = "canary"
# What the random rule may overlook now and then is tested by itself; here every canary must be found.
SURE = {"token", "bearer"}
MCP_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Corpus:
    """Draws secrets of every shape; remembers the parts that must never be seen again."""

    def __init__(self):
        shapes = json.loads((HERE.parent / "secrets" / "shapes.json").read_text())["shapes"]
        self.forms = [(shape["kind"], shape["known"], text)
                      for shape in shapes if shape["kind"] not in SURE for text in shape["secret"]]
        self.state = 20261116
        self.parts = []
        self.next = 0

    def fill(self, text):
        def draw(match):
            out = ""
            for _ in range(int(match[2])):
                self.state = (self.state * 1103515245 + 12345) & 0x7fffffff
                out += ALPHABETS[match[1]][(self.state >> 16) % len(ALPHABETS[match[1]])]
            if len(out) >= 8 and match[1] != "digit":
                self.parts.append(out)
            return out
        return re.sub(r"\{(b62|b64|b32|b58|hex|upper|digit|word):(\d+)\}", draw, text)

    def secret(self, known_only=False):
        while True:
            kind, known, text = self.forms[self.next % len(self.forms)]
            self.next += 1
            if known or not known_only:
                return self.fill(text)

    def words(self, count=3):
        """A few secrets in a sentence, each of another shape."""
        return "please use " + " and then, ".join(self.secret() for _ in range(count)) + " ."


class Callers:
    """The operator, an agent with every scope and a human, over HTTP, and the agent over MCP."""

    def __init__(self, folder, server):
        self.server = server
        self.operator_path = f"{folder}/data/operator.sock"
        self.runner = commands.Commands(f"{folder}/data")
        commands.make_owner(self.runner, TENANT)
        status, made = self.operator("POST", f"/api/{TENANT}/keys", {
            "label": "all", "scopes": ["read", "planner", "supervisor", "bot", "probe"]})
        assert status == 201, made
        self.key = made["access_key"]
        status, session = self.http("POST", "/account/login", {
            "email": commands.EMAIL, "password": commands.PASSWORD, "want_token": True})
        assert status == 200, session
        self.session = session["token"]
        self.mcp_session = None

    def operator(self, method, path, body=None):
        connection = plane.UnixConnection(self.operator_path)
        status, answer = plane.call(connection, method, path, body)
        connection.close()
        return status, json.loads(answer) if answer else None

    def http(self, method, path, body=None, bearer=None):
        connection = plane.connect(self.server.address)
        headers = {"Content-Type": "application/json"}
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text

    def mcp(self, method, params):
        headers = {**MCP_HEADERS, "Authorization": f"Bearer {self.key}"}
        if self.mcp_session:
            headers["Mcp-Session-Id"] = self.mcp_session
        connection = plane.connect(self.server.address)
        connection.request("POST", "/mcp", headers=headers, body=json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        answer = connection.getresponse()
        text = answer.read().decode()
        self.mcp_session = answer.getheader("Mcp-Session-Id") or self.mcp_session
        connection.close()
        lines = [line[6:] for line in text.splitlines() if line.startswith("data: ")] or [text]
        return json.loads(lines[-1])


def is_id(name):
    return bool(re.search(r"(^|_)(ids?|hash|url|email|symbols?)$|[a-z](Ids?)$", name)) or name.endswith("_key")


def fill_schema(schema, corpus, name="", as_id=None):
    """A body for a schema: words full of canaries, plain ids; with `as_id`, that field is a canary."""
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object" or "properties" in schema:
        members = {key: fill_schema(value, corpus, key, as_id)
                   for key, value in schema.get("properties", {}).items()}
        if not members:
            members = {"note": corpus.words(2), "deep": [{"rationale": corpus.words(2)}]}
        return members
    if kind == "array":
        return [fill_schema(schema.get("items", {"type": "string"}), corpus, name, as_id)]
    if kind == "boolean":
        return False
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if name == as_id:
        return corpus.secret(known_only=True)
    if (schema.get("writeOnly") or "password" in name
            or name in ("totp", "code", "secret", "api_key", "api_secret")):
        return "not-a-canary-1"
    if is_id(name):
        return f"plain-{corpus.next}"
    text = corpus.words(1 if schema.get("maxLength", 4096) < 600 else 3)
    return text


def string_ids(schema, found=None):
    found = set() if found is None else found
    for name, value in schema.get("properties", {}).items():
        # A field that asks for a key is the one place where a key belongs.
        if is_id(name) and name != "api_key" and "string" in str(value.get("type")):
            found.add(name)
        string_ids(value, found)
    return found


def through_http(callers, corpus, document):
    """Every operation with a body, as everybody; ids one by one."""
    sent = refused = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if not body or "kill" in path:
                continue
            schema = body["schema"]
            real = re.sub(r"\{[a-z_A-Z]+\}", "none", path.replace("{tenant_id}", TENANT))
            for ask in (callers.operator,
                        lambda *a: callers.http(*a, bearer=callers.key),
                        lambda *a: callers.http(*a, bearer=callers.session)):
                status, _ = ask(method.upper(), real, fill_schema(schema, corpus))
                assert status < 500 or status == 503, (path, status)
                sent += 1
            if path.endswith("/stop"):
                continue  # Nobody is kept from stopping because of an id: stops_go_through().
            for name in sorted(string_ids(schema)):
                for ask in (callers.operator, lambda *a: callers.http(*a, bearer=callers.key)):
                    status, answer = ask(method.upper(), real, fill_schema(schema, corpus, as_id=name))
                    if status in (401, 403, 404, 429):
                        continue  # Not for this caller.
                    assert answer["error"]["code"] == "looks_like_secret", (path, name, status, answer)
                    assert answer["error"]["retryable"] is False, answer
                    refused += 1
    return sent, refused


def through_mcp(callers, corpus):
    tools = callers.mcp("tools/list", {})["result"]["tools"]
    sent = refused = 0
    for tool in tools:
        if "kill" in tool["name"]:
            continue
        callers.mcp("tools/call", {"name": tool["name"],
                                   "arguments": fill_schema(tool["inputSchema"], corpus)})
        sent += 1
        if tool["name"].endswith("_stop"):
            continue
        for name in sorted(string_ids(tool["inputSchema"]))[:4]:
            answer = callers.mcp("tools/call", {
                "name": tool["name"], "arguments": fill_schema(tool["inputSchema"], corpus, as_id=name)})
            assert "looks_like_secret" in json.dumps(answer), (tool["name"], name, answer)
            refused += 1
    return sent, refused


def stops_go_through(callers, corpus):
    """A bot is stopped under a key that is a secret, by HTTP and by MCP: it stops, the same key gives the
    same answer, and at the end of the test nothing of the key is anywhere."""
    def ask(path, body=None):
        return callers.http("POST", f"/api/{TENANT}{path}", body, bearer=callers.key)

    def good(answer):
        assert answer[0] == 200, answer
        return answer[1]

    keys = {"exchange": "paper", "api_key": "plain-key", "api_secret": "plain-secret"}
    for path, body in (("/update_exchange_keys", keys), ("/initialize_bot", {}), ("/start", {})):
        good(ask(path, body))
    stop = {"idempotency_key": corpus.secret(known_only=True)}
    stopped = good(ask("/stop", stop))
    assert stopped["bot_state"] == "stopped", stopped
    assert good(ask("/stop", stop)) == stopped
    status, answer = ask("/stop", {"idempotency_key": corpus.secret(known_only=True)})
    assert (status, answer["error"]["code"]) == (409, "wrong_bot_state"), answer
    good(ask("/restart", {}))
    told = json.dumps(callers.mcp("tools/call", {
        "name": "bot_stop", "arguments": {"idempotency_key": corpus.secret(known_only=True)}}))
    assert "looks_like_secret" not in told and "stopped" in told, told


def calls_that_succeed(callers, corpus):
    """Words that certainly become history: each of these is recorded, with its words."""
    def good(status, answer, want=200):
        assert status == want, (status, answer)

    def plan(number):
        return {"intents": [], "cancels": [], "reason": corpus.words()} if number else {}

    agent = lambda *a: callers.http(*a, bearer=callers.key)
    good(*callers.operator("POST", "/tenants", {"tenant_id": "second", "name": corpus.words(1)[:60]}), 201)
    for number in range(1, 40):
        status, answer = agent("POST", f"/api/{TENANT}/tools/py_validate_plan", {
            "decision_id": f"d{number}", "tick_id": f"t{number}", "idempotency_key": f"k{number}",
            "plan": plan(number)})
        assert status in (200, 400), answer
        good(*agent("POST", f"/api/{TENANT}/tools/py_record_decision", {
            "decision_id": f"d{number}", "tick_id": f"t{number}", "idempotency_key": f"r{number}",
            "record": {
                "plan_summary": corpus.words(), "validation_summary": corpus.words(),
                "execution_summary": corpus.words(), "verification_summary": corpus.words(),
                "state_delta": {"rationale": [corpus.words(), {"token": corpus.secret()}]},
                "metrics": {"note": corpus.words()}}}))
        # Nothing is active, so there is nothing to pause: an answer like another, with its reason kept.
        status, answer = agent("POST", f"/api/{TENANT}/control_decisions", {
            "decision_id": f"c{number}", "concern_id": "main:btcusdt", "account_id": "main",
            "market_symbol": "BTCUSDT", "action": "pause", "reason": corpus.words(), "confidence": 0.5})
        assert status == 200 and answer["decision_id"] == f"c{number}", (status, answer)
    # A stop goes through whatever its id looks like, and keeps nothing of it.
    good(*agent("POST", f"/api/{TENANT}/tools/py_set_kill_switch", {
        "decision_id": corpus.secret(known_only=True), "tick_id": "t", "active": True,
        "idempotency_key": "stop", "reason": corpus.words(), "actor": "agent"}))
    good(*callers.http("POST", "/signup", {
        "email": "second@example.com", "plan": "trial",
        "agent_metadata": {"model": corpus.words(), "api_key": corpus.secret()}}), 201)


def contents_of(folder, output):
    contents = list(output)
    for path in pathlib.Path(folder).rglob("*"):
        if not path.is_file():
            continue
        contents.append((str(path), path.read_bytes()))
        if path.suffix == ".db":
            database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
                for row in database.execute(f'SELECT * FROM "{table}"'):
                    for value in row:
                        if isinstance(value, (str, bytes)):
                            text = value.encode() if isinstance(value, str) else value
                            contents.append((f"{path}:{table}", text))
            database.close()
    return contents


def check_modes(data):
    for path in pathlib.Path(data).rglob("*"):
        if path.is_file() and path.name != "ledger.pub":
            assert path.stat().st_mode & 0o077 == 0, (path, oct(path.stat().st_mode))


def main():
    folder = tempfile.mkdtemp(prefix="interlock-secret-text-")
    config = pathlib.Path(folder, "config.toml")
    config.write_text('[log]\nlevel = "debug"\n[http]\nrequests_per_second = 0\n'
                      'tenant_requests_per_second = 0\n')
    server = plane.Child(["serve", "--config", str(config), "--data", f"{folder}/data", "--port", "0"],
                         f"{folder}/server.log")
    limits = pathlib.Path(f"/proc/{server.process.pid}/limits").read_text()
    assert re.search(r"Max core file size\s+0\s+0", limits), limits
    corpus = Corpus()
    callers = Callers(folder, server)
    status, document = callers.operator("GET", "/openapi.json")
    assert status == 200
    callers.mcp("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                               "clientInfo": {"name": "canary", "version": "1"}})
    stops_go_through(callers, corpus)
    calls_that_succeed(callers, corpus)
    by_http = through_http(callers, corpus, document)
    by_mcp = through_mcp(callers, corpus)
    output = []
    for tenant in (TENANT, "_system"):
        done = subprocess.run(
            [plane.program(), "audit", "export", "--tenant", tenant, "--out", f"{folder}/{tenant}.export",
             "--data", f"{folder}/data"], capture_output=True, timeout=plane.PATIENCE_SECONDS, check=False)
        output.append((f"export {tenant}", done.stdout + done.stderr))
    for number in (1, 2, 3):
        for path in (f"/api/{TENANT}/decisions/d{number}", f"/api/{TENANT}/decisions/d{number}/receipt"):
            output.append((path, json.dumps(callers.http("GET", path, bearer=callers.session)[1],
                                            default=str).encode()))
    check_modes(f"{folder}/data")
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(plane.PATIENCE_SECONDS)
    contents = contents_of(folder, output)
    leaks = [(name, part) for name, text in contents for part in corpus.parts if part.encode() in text]
    assert not leaks, (len(leaks), leaks[:8])
    masked = sum(text.count(b"[masked:") for name, text in contents if "interlock.db:" in name)
    kinds = {kind for name, text in contents if "interlock.db:" in name
             for kind in re.findall(rb"\[masked:([a-z_]+)\]", text)}
    assert masked > 200 and len(kinds) > 20, (masked, kinds)
    shutil.rmtree(folder)
    print(f"{by_http[0]} bodies by HTTP and {by_mcp[0]} by MCP, {by_http[1] + by_mcp[1]} ids refused, "
          f"{len(corpus.parts)} canaries in none of {len(contents)} texts, {masked} masks of {len(kinds)} kinds")


if __name__ == "__main__":
    main()
