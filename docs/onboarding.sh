#!/usr/bin/env bash
# The seven steps (docs/onboarding.md) with curl and nothing else, on a server that runs
# already. Prints every call and its answer; access keys are masked.
#
#   docs/onboarding.sh http://127.0.0.1:8420 owner@example.com
set -euo pipefail

address=${1:?the address of the server}
email=${2:-owner@example.com}
key=
tenant=

# call METHOD PATH [BODY]: prints both, leaves the answer in $answer; ends on anything but 2xx.
call() {
    local method=$1 path=$2 body=${3:-} options=()
    [[ -z $key ]] || options+=(-H "X-Access-Key: $key")
    [[ -z $body ]] || options+=(-H "Content-Type: application/json" --data "$body")
    local status
    answer=$(curl -sS -X "$method" "${options[@]}" -w '\n%{http_code}' "$address$path")
    status=${answer##*$'\n'}
    answer=${answer%$'\n'*}
    printf '$ curl -X %s %s%s%s\n%s %s\n\n' "$method" "$path" \
        "${key:+ -H \"X-Access-Key: ilk_…\"}" "${body:+ --data '$body'}" "$status" \
        "$(sed -E 's/ilk_[a-z0-9]+/ilk_…/g' <<<"$answer")"
    [[ $status == 2?? ]]
}

field() { sed -nE "s/.*\"$1\":\"?([^\",}]*)\"?.*/\1/p" <<<"$answer"; }

# expect FIELD VALUE: what the document says this step confirms.
expect() {
    [[ $(field "$1") == "$2" ]] || { echo "expected $1 to be $2"; exit 1; }
}

echo "# 1. Obtain an access key and a tenant"
call POST /signup "{\"email\":\"$email\",\"plan\":\"standard\",\"agent_metadata\":{\"model\":\"curl\"}}"
key=$(field access_key)
tenant=$(field tenant_id)

echo "# 2. Provision exchange credentials"
call POST "/api/$tenant/update_exchange_keys" \
    '{"exchange":"paper","api_key":"my-paper-key","api_secret":"my-paper-secret","api_password":null}'

echo "# 3. Verify that they are loaded"
call GET "/api/$tenant/exchange_status"
expect keys_loaded true

echo "# 4. Build the bot"
call POST "/api/$tenant/initialize_bot"

echo "# 5. Confirm that it is ready"
call GET "/api/$tenant/status"
expect bot_state ready

echo "# 6. Begin"
call POST "/api/$tenant/start"

echo "# 7. Confirm that it runs"
call GET "/api/$tenant/status"
expect bot_state running
