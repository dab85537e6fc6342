"""Access keys against a real server: in the path, dead everywhere at once when revoked, and in clear
nowhere on the disk or in the log, also after a crash."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

# Nobody's key; that it is wrong is no reason to write it down.
CANARY = "ilk_canarycanarycanarycanarycanarycanarycanarycanary"
MCP_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def start(folder):
    config = pathlib.Path(folder, "config.toml")
    config.write_text('[http]\npublic_url = "https://bots.example.com"\n[log]\nlevel = "debug"\n')
    return plane.Child(
        ["serve", "--config", str(config), "--data", f"{folder}/data", "--port", "0"],
        f"{folder}/server.log")


def make_key(folder, tenant):
    operator = plane.UnixConnection(f"{folder}/data/operator.sock")
    plane.call(operator, "POST", "/tenants", {"tenant_id": tenant, "name": tenant})
    status, answer = plane.call(
        operator, "POST", f"/api/{tenant}/keys", {"label": "test", "scopes": ["read"]})
    assert status == 201, answer
    operator.close()
    made = json.loads(answer)
    return made["access_key"], made["key_id"]


def get(address, path, key=None):
    connection = plane.connect(address)
    status, body = plane.call(connection, "GET", path, key=key)
    connection.close()
    return status, body


def mcp(address, key, body, session=None):
    headers = {**MCP_HEADERS, "Authorization": f"Bearer {key}"}
    if session:
        headers["Mcp-Session-Id"] = session
    connection = plane.connect(address)
    connection.request("POST", "/mcp", body=json.dumps(body), headers=headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response, text


def open_stream(address, key):
    """An MCP session and its standing stream, open."""
    response, _ = mcp(address, key, {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                   "clientInfo": {"name": "test", "version": "1"}}})
    assert response.status == 200, response.status
    session = response.getheader("Mcp-Session-Id")
    connection = plane.connect(address)
    connection.request("GET", "/mcp", headers={
        **MCP_HEADERS, "Authorization": f"Bearer {key}", "Mcp-Session-Id": session})
    stream = connection.getresponse()
    assert stream.status == 200, stream.status
    assert stream.getheader("Content-Type").startswith("text/event-stream")
    return session, connection, stream


def keys_in_paths(address, key):
    status, body = get(address, f"/{key}/kill")
    assert status == 200 and not json.loads(body)["active"], (status, body)
    refused = get(address, "/api/demo/kill", key=CANARY)
    assert refused[0] == 401
    for path in (f"/{CANARY}/kill", f"/{CANARY}/kill?limit=1", f"/%69lk_{CANARY[4:]}/kill",
                 f"/ilk_{CANARY[4:] * 20}/kill"):
        assert get(address, path) == refused, path
    for path in (f"/{key}", f"/{key}/", f"/{key}/mcp", f"/{key}/signup", f"/{key}/none",
                 f"/{CANARY}/none", f"/{key}/account/login"):
        status, body = get(address, path)
        assert status == 404 and b"ilk_" not in body, (path, status, body)


def documents(address):
    schema = json.loads(get(address, "/ai/agent-schema.json")[1])
    assert schema["alternative_base_url_pattern"] == "https://bots.example.com/{access_key}"
    assert len(json.loads(get(address, "/ai/errors.json")[1])["errors"]) > 80
    tools = {tool["id"] for tool in json.loads(get(address, "/ai/tools.json")[1])["tools"]}
    assert "py_set_kill_switch" in tools, tools
    assert b"https://bots.example.com/ai/tools.json" in get(address, "/llms.txt")[1]


def revoke(folder, address, key, key_id, other):
    session, connection, stream = open_stream(address, key)
    kept_session, kept_connection, kept_stream = open_stream(address, other)
    operator = plane.UnixConnection(f"{folder}/data/operator.sock")
    status, _ = plane.call(operator, "DELETE", f"/api/demo/keys/{key_id}")
    operator.close()
    assert status == 200, status
    # The end of the stream, not a timeout: read() comes back.
    assert stream.read() == b"", "the stream of a dead key said something"
    connection.close()
    refused = get(address, "/api/demo/kill", key=CANARY)
    assert get(address, "/api/demo/kill", key=key) == refused
    assert get(address, f"/{key}/kill") == refused
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    response, _ = mcp(address, key, ping, session)
    assert response.status == 401, response.status
    response, _ = mcp(address, other, ping, kept_session)
    assert response.status == 200, response.status
    assert not kept_stream.isclosed()
    kept_connection.close()


def nothing_in_clear(folder, secrets):
    files = [path for path in pathlib.Path(folder).rglob("*") if path.is_file()]
    assert any(path.name == "server.log" for path in files)
    assert any(path.name == "interlock.db" for path in files)
    for path in files:
        content = path.read_bytes()
        for secret in secrets:
            assert secret[4:].encode() not in content, f"{path} holds a key in clear"


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_keys_") as folder:
        server = start(folder)
        try:
            key, key_id = make_key(folder, "demo")
            other, _ = make_key(folder, "other")
            keys_in_paths(server.address, key)
            print("keys_in_paths: ok")
            documents(server.address)
            print("documents: ok")
            revoke(folder, server.address, key, key_id, other)
            print("revoke: ok")
            nothing_in_clear(folder, (key, other, CANARY))
            server.kill()
            server = start(folder)
            assert get(server.address, f"/{key}/kill")[0] == 401
            assert get(server.address, f"/{other}/kill")[0] == 200
            assert server.stop() == 0
            nothing_in_clear(folder, (key, other, CANARY))
            print("nothing_in_clear: ok")
        finally:
            server.process.kill()


if __name__ == "__main__":
    main()
