#!/usr/bin/env bash
# A supervising agent over MCP with the official SDK: it lists the tools, reads, applies a decision,
# retries it and gets the duplicate answer. The SDK comes from npm, as its users get it.
#
#   INTERLOCK_BIN=path/to/interlock conformance/e2e/long/mcp_supervisor.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
binary=${INTERLOCK_BIN:-build/release/bin/interlock}
sdk=@modelcontextprotocol/sdk@1.32.2
email=owner@example.com
password="correct horse battery staple"

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
cp "$here/lib/mcp_supervisor.mjs" "$work/mcp_supervisor.mjs"

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

run() { "$binary" "$@" --data "$work/data" --json; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
as_human() { echo "$password" | run "$@" --email "$email" --password-stdin; }

run tenant create demo --name Demo >/dev/null
code=$(run human invite "$email" --tenant demo --system | field one_time_code)
echo "$password" | run human activate --code "$code" --password-stdin >/dev/null
key=$(run key create --tenant demo --label supervisor --scope supervisor | field access_key)
first=$(as_human strategy create --type idle --market BTCUSDT | field id)
second=$(as_human strategy create --type idle --market BTCUSDT | field id)
as_human strategy switch "$first" >/dev/null

MCP_URL=$address/mcp MCP_KEY=$key FIRST=$first SECOND=$second timeout 120 \
    node "$work/mcp_supervisor.mjs"
run audit verify >/dev/null
echo "the ledger verifies"
