"""What a golden data folder is asked, and how it reads: shared by who writes one and who checks it.

Beside the folder lies a JSON with the throw-away credentials that belong to it, what every question
below was answered when it was written, calls with the bytes that their keys keep, and what the audit
and the replay found."""

import json
import subprocess
import time

import plane

TENANT = "demo"
PASSWORD = "correct horse battery staple"
EMAIL = "owner@example.com"
GATEWAY, INSTANCE, SECRET, USER = "gw1", "i1", "a-secret-of-a-golden-gateway", "ann"
CONFIG = (
    "[http]\nrequests_per_second = 0\ntenant_requests_per_second = 0\n"
    "[[relay.bot]]\nplatform = \"local\"\n")


def start(folder):
    config = folder / "config.toml"
    config.write_text(CONFIG)
    return plane.Child(
        ["serve", "--config", str(config), "--data", str(folder / "data"), "--port", "0"],
        str(folder / "server.log"))


def run(data, *arguments):
    """What a command says, as the JSON of its lines."""
    done = subprocess.run(
        [plane.program(), *arguments, "--data", str(data), "--json"], capture_output=True, text=True,
        timeout=plane.PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def wait_until(what, check):
    deadline = time.monotonic() + plane.PATIENCE_SECONDS
    while not (found := check()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found


def chains(data):
    """How far each chain reaches and its hash there, when all of it holds."""
    (report,) = run(data, "audit", "verify")
    found = {one["tenant_id"]: one for one in report["chains"]}
    found.update(("relay " + one["tenant_id"], one) for one in report["relay_chains"])
    assert report["ok"] and all(one["integrity"] and one["completeness"] for one in found.values()), report
    return {name: picked(one, "records", "head_seq", "head_hash") for name, one in found.items()}


def replay(data):
    """By tenant, how much was decided again to the same bytes."""
    found = {}
    for report in run(data, "replay", "--all"):
        assert report["ok"] and not report["other_policy"], report
        found[report["tenant_id"]] = picked(report, "decisions", "steps")
    return found


class Caller:
    """Calls of the operator, of keys and of people who are logged in."""

    def __init__(self, address, data):
        self.address = address
        self.data = data

    def raw(self, method, path, body=None, key=None, token=None):
        """Status and bytes."""
        is_operator = key is None and token is None
        connection = (plane.UnixConnection(f"{self.data}/operator.sock") if is_operator
                      else plane.connect(self.address))
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["X-Access-Key"] = key
        if token is not None:
            headers["Authorization"] = "Bearer " + token
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def ask(self, method, path, body=None, key=None, token=None):
        status, text = self.raw(method, path, body, key, token)
        assert status // 100 == 2, (method, path, status, text)
        return json.loads(text)

    def log_in(self, email):
        body = {"email": email, "password": PASSWORD, "want_token": True}
        return self.ask("POST", "/account/login", body, token="nobody")["token"]


class Planner:
    """Goes through the loop with plans; keeps every call with the bytes of its answer."""

    def __init__(self, caller, key, name):
        self.caller, self.key, self.name = caller, key, name
        self.decisions = []
        self.kept = []

    def keep(self, path, body, key):
        status, text = self.caller.raw("POST", path, body, key)
        assert status // 100 == 2, (path, status, text)
        self.kept.append({"path": path, "body": body, "key": key, "status": status, "text": text})
        return json.loads(text)

    def tool(self, tool, decision, **fields):
        body = {"decision_id": decision, "tick_id": f"tick_{decision}",
                "idempotency_key": f"{self.name}_{len(self.kept)}", **fields}
        return self.keep(f"/api/{TENANT}/tools/{tool}", body, self.key)

    def decide(self, decision, intents, cancels=(), slippage=25):
        """As far as the loop lets us; the ids of the orders."""
        self.decisions.append(decision)
        wanted = [{**one, "strategy_id": "external", "expected_edge_bps": "100"} for one in intents]
        answer = self.tool("py_validate_plan", decision, plan={
            "intents": wanted, "cancels": list(cancels), "reason": "a golden folder"})
        if not answer["validation"]["pass"]:
            return []
        answer = self.tool(
            "py_dry_run_plan", decision, plan={"intents": intents, "cancels": list(cancels)},
            assumptions={"slippage_bps": slippage, "fee_bps": 20})["dry_run"]
        if not answer["pass"]:
            return []
        approved = [
            {**one, "intent_id": row["intent_id"], "order_client_id": row["order_client_id"]}
            for one, row in zip(intents, answer["projected"])]
        answer = self.tool(
            "py_execute_plan", decision, execution_mode="paper", approved_intents=approved,
            cancels=list(cancels))
        assert answer["status"] == "ok", answer
        wait_until(f"the record of {decision}", lambda: self.caller.ask(
            "GET", f"/api/{TENANT}/decisions/{decision}", key=self.key)["stage"] == "recorded")
        return [one["order_client_id"] for one in approved]


def order(symbol, side, qty, price=None):
    return {"symbol": symbol, "side": side, "order_type": "limit" if price else "market", "qty": qty,
            "limit_price": price, "time_in_force": "GTC"}


def picked(answer, *names):
    return {name: answer[name] for name in names}


def tenant_reads(caller, keys):
    """The loop, its strategies and the host, as the tenant's own agent sees them."""
    def get(path):
        return caller.ask("GET", f"/api/{TENANT}{path}", key=keys["agent"])

    account = get("/account")
    return {
        "account": picked(account, "account_id", "balances", "open_orders", "strategy_ids"),
        "positions": [picked(one, "symbol", "qty", "avg_price") for one in account["positions"]],
        "treasury": picked(account["treasury"], "principal_baseline", "ops_reserve", "profit"),
        "flags": picked(account["runtime_flags"], "trading_enabled", "kill_switch_active", "mode"),
        "accounts": get("/accounts"),
        "limits": get("/limits"),
        "decisions": {one: get(f"/decisions/{one}") for one in keys["decisions"]},
        "orders": get("/orders?limit=200"),
        "fills": get("/fills?limit=200"),
        "kill": get("/kill"),
        "approvals": get("/approvals"),
        "alerts": get("/alerts"),
        "concerns": [
            picked(one, "concern_id", "status", "risk_mode", "active_strategy_id")
            for one in get("/concerns")["concerns"]],
        "instances": {
            one["id"]: {**picked(one, "strategy_type", "mode", "status", "name"), **picked(
                get(f"/instances/{one['id']}?include_config=true&include_report=false"), "config")}
            for one in get("/instances")["strategies"]},
    }


def bot_reads(caller, keys):
    def get(path, key=keys["bot"]):
        return caller.ask("GET", f"/api/{keys['bot_tenant']}{path}", key=key)

    config = get("/config")
    del config["money"]  # What it is worth at the moment.
    return {
        "status": picked(get("/status"), "bot_state", "config_version", "trouble"),
        "config": config,
        "account": get("/account/status"),
        "balances": get("/balances")["balances"],
        "positions": get("/positions")["positions"],
        "orders": get("/orders?limit=200", key=None),  # As the operator.
        "fills": get("/fills?limit=200", key=None),
        "pnl_last_update": get("/pnl_last_update"),
    }


def host_reads(caller, keys):
    def get(path):
        return caller.ask("GET", path)

    return {
        "tenants": get("/tenants"),
        "keys": get(f"/api/{TENANT}/keys"),
        "humans": get(f"/api/{TENANT}/humans"),
        "gateways": get("/api/relay/gateways"),
        "instance": get(f"/api/relay/instance?instance_id={INSTANCE}"),
        "buffer": get(f"/api/relay/buffer?instance_id={INSTANCE}"),
        "outbounds": get("/api/relay/outbounds"),
        "events": get("/api/relay/events"),
    }


def all_reads(caller, keys):
    return {"tenant": tenant_reads(caller, keys), "bot": bot_reads(caller, keys),
            "host": host_reads(caller, keys)}
