"""As much of an MCP client as a test needs: Streamable HTTP, one request at a time."""

import json

from plane import connect


class McpClient:
    def __init__(self, address, key):
        self.address = address
        self.key = key
        self.session = None
        self.number = 0
        self.request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}})
        self.notify("notifications/initialized")

    def post(self, message):
        headers = {"Content-Type": "application/json",
                   "Accept": "application/json, text/event-stream",
                   "Authorization": f"Bearer {self.key}"}
        if self.session:
            headers.update({"Mcp-Session-Id": self.session, "MCP-Protocol-Version": "2025-11-25"})
        connection = connect(self.address)
        connection.request("POST", "/mcp", body=json.dumps(message), headers=headers)
        response = connection.getresponse()
        text = response.read().decode()
        self.session = response.getheader("Mcp-Session-Id") or self.session
        connection.close()
        return text

    def notify(self, method):
        self.post({"jsonrpc": "2.0", "method": method})

    def request(self, method, params):
        self.number += 1
        text = self.post(
            {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        for message in self.messages(text):
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
        raise AssertionError(f"{method} was not answered: {text!r}")

    @staticmethod
    def messages(text):
        """Of an answer as JSON, or as a stream of events."""
        if text.startswith("{"):
            return [json.loads(text)]
        lines = (line.removeprefix("data:").strip() for line in text.splitlines()
                 if line.startswith("data:"))
        return [json.loads(line) for line in lines if line]

    def list_tools(self):
        tools, cursor = [], None
        while True:
            page = self.request("tools/list", {"cursor": cursor} if cursor else {})
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return tools

    def call_tool(self, name, arguments):
        """What the tool said, be it a yes or a no."""
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        return json.loads(result["content"][0]["text"])
