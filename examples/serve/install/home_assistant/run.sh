#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts the server with the add-on's options, and tells Home Assistant where it is.
set -euo pipefail
option() { jq -r ".$1" "${GOLDCREST_OPTIONS:-/data/options.json}"; }

announce() {
  sleep 2
  curl -sf -H "Authorization: Bearer $SUPERVISOR_TOKEN" -H 'Content-Type: application/json' \
    -d "{\"service\":\"wyoming\",\"config\":{\"uri\":\"tcp://$(hostname):10300\"}}" http://supervisor/discovery ||
    echo "run.sh: Home Assistant did not take the discovery; add the integration by hand" >&2
}
[ -z "${SUPERVISOR_TOKEN:-}" ] || announce &
exec goldcrest-serve --model "$(option model)" --language "$(option language)" --threads "$(option threads)" \
  --wyoming tcp://0.0.0.0:10300
