#!/usr/bin/env bash
# Calls every operation of /openapi.json with what schemathesis makes up, right and wrong, and fails where the server
# answers 5xx. `make api-cases` runs it. schemathesis comes from PyPI, into a virtual environment under build/; nothing
# else in this project needs that. CASES is the number for each operation.
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=build/schemathesis
[ -x "$venv/bin/schemathesis" ] || { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet 'schemathesis>=4.32,<5'; }

data=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$data"' EXIT
"${SPINE_BIN:-build/spine}" serve --quiet --listen 127.0.0.1:0 --data "$data/store" >"$data/log" 2>&1 &
server=$!
until [ -s "$data/store/server.json" ]; do
	kill -0 "$server" || { cat "$data/log"; exit 1; }
	sleep 0.05
done
url=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["url"])' "$data/store/server.json")

# With a key, or the first that is made up would close the server to all cases after it.
key=$(python3 tests/openapi/cases_key.py make "$url")

# The streams never end, and so would a case of theirs.
SCHEMATHESIS_HOOKS=hooks PYTHONPATH=tests/openapi "$venv/bin/schemathesis" --config-file tests/openapi/schemathesis.toml \
	run "$url/openapi.json" --checks not_a_server_error --max-examples "${CASES:-150}" --phases coverage,fuzzing \
	--header "Authorization: Bearer $key" --exclude-path-regex '(/stream|^/v1/events)$' --request-timeout 20 \
	--output-sanitize true --no-color "$@"

# All of it was heard, and not refused at the door.
SPINE_KEY=$key python3 tests/openapi/cases_key.py check "$url"
