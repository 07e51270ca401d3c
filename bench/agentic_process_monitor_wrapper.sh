#!/usr/bin/env bash
# agentic_process_monitor_wrapper.sh STEP DIR CMD…: does what agentic-process-monitor's wrapper does, in our words and
# with all its faults: a heartbeat that a separate loop keeps fresh, whatever the work does; a status that comes
# before its result, neither written whole; a pid that is the wrapper's; nothing cleared from an earlier run.
set -uo pipefail
step=$1 place=$2
shift 2
mkdir -p "$place"
echo "$$" >"$place/$step.pid"

( while :; do touch "$place/$step.heartbeat"; sleep 10; done ) &
beating=$!
trap 'kill "$beating" 2>/dev/null' EXIT

verdict=FAILED
"$@" 2>"$place/$step.log" && verdict=SUCCESS
echo "$verdict" >"$place/$step.status"
[ "$verdict" = FAILED ] || echo '{"key": "value"}' >"$place/$step.result"
