#!/usr/bin/env bash
# The agent of a maker bot over MCP with the official SDK: its tools are the document's endpoints, with
# `bot_` before their names; it provisions, builds, starts, reads and stops its bot and gets a proposal for a change.
# The SDK comes from npm, as its users get it.
#
#   INTERLOCK_BIN=path/to/interlock conformance/e2e/long/mcp_bot.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
binary=${INTERLOCK_BIN:-build/release/bin/interlock}
sdk=@modelcontextprotocol/sdk@1.32.2

if ! command -v npm >/dev/null; then
    echo "npm is needed to install the MCP SDK"
    exit 77
fi
[[ -x $binary ]] || { echo "there is no program at $binary; build it first"; exit 1; }
binary=$(realpath "$binary")

work=$(mktemp -d)
server=
cleanup() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

npm install --prefix "$work" --no-audit --no-fund --loglevel=error "$sdk"
cp "$here/lib/mcp_bot.mjs" "$work/mcp_bot.mjs"

"$binary" serve --port 0 --data "$work/data" >"$work/server.out" 2>"$work/server.err" &
server=$!
address=
for _ in $(seq 100); do
    address=$(sed -n 's/^ready \(http:[^ ]*\).*/\1/p' "$work/server.out" | head -n 1)
    [[ -z $address ]] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
done
if [[ -z $address ]]; then
    echo "the server did not get ready"
    cat "$work/server.out" "$work/server.err"
    exit 1
fi

BASE_URL=$address timeout 120 node "$work/mcp_bot.mjs"
"$binary" audit verify --data "$work/data" --json >/dev/null
echo "the ledger verifies"
