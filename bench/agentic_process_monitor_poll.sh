#!/usr/bin/env bash
# agentic-process-monitor's decision tree with its recommended defaults, as the polling agent runs it.
STEP=$1 MONITOR_DIR=$2 POLL_INTERVAL=15 STALE_THRESHOLD=60 MAX_TIMEOUT=1800
BEGAN=$(date +%s)
while true; do
    if [ -e "$MONITOR_DIR/$STEP.status" ]; then
        cat "$MONITOR_DIR/$STEP.status" "$MONITOR_DIR/$STEP.result"
        exit
    fi
    NOW=$(date +%s)
    if [ -e "$MONITOR_DIR/$STEP.heartbeat" ] &&
        [ $((NOW - $(stat -c %Y "$MONITOR_DIR/$STEP.heartbeat"))) -gt $STALE_THRESHOLD ]; then
        kill "$(cat "$MONITOR_DIR/$STEP.pid")"
        echo hung
        exit
    fi
    if [ $((NOW - BEGAN)) -gt $MAX_TIMEOUT ]; then
        kill "$(cat "$MONITOR_DIR/$STEP.pid")"
        echo timeout
        exit
    fi
    sleep $POLL_INTERVAL
done
