#!/usr/bin/env bash
# Stands in for the wrapper of the protocol that Midwatch replaces, by what is known of its rules: pid, then the manifest,
# then the agent's end as exit_code, manifest and done, in this order and each at once.
set -u
dir=$TASK_TMPDIR

put() { printf '%s\n' "$2" > "$dir/$1.tmp" && mv "$dir/$1.tmp" "$dir/$1"; }

merge() {
    if [ -e "$dir/manifest.json" ]; then
        "$STAND_IN_PYTHON" -I -S -c '
import json, sys
path, *pairs = sys.argv[1:]
found = json.load(open(path))
for pair in pairs:
    key, _, value = pair.partition("=")
    found[key] = int(value) if value.isdecimal() else value
json.dump(found, open(path + ".tmp", "w"))' "$dir/manifest.json" "$@" && mv "$dir/manifest.json.tmp" "$dir/manifest.json"
    elif [ -e "$dir/manifest" ]; then
        for _ in $(seq 50); do mkdir "$dir/manifest.lock" 2> /dev/null && break; sleep 0.1; done
        for pair in "$@"; do
            grep -v "^${pair%%=*}=" "$dir/manifest" > "$dir/manifest.new"
            printf '%s\n' "$pair" >> "$dir/manifest.new"
            mv "$dir/manifest.new" "$dir/manifest"
        done
        rmdir "$dir/manifest.lock"
    fi
}

[ -e "$dir/done" ] && exit 0
mode=fresh
if [ -e "$dir/resume" ]; then
    rm "$dir/resume"
    mode=resumed
fi
bash "$STAND_IN_AGENT" "$mode" < "$dir/prompt" &
agent=$!
put pid "$agent"
merge status=running pid="$agent"
wait "$agent"
code=$?
[ -p "$dir/slow" ] && read -r _ < "$dir/slow"
put exit_code "$code"
status=completed
[ "$code" -ne 0 ] && status=failed
merge status="$status" exit_code="$code" finished_at="$(date -u +%Y-%m-%dT%H:%M:%SZ)"
: > "$dir/done"
