#!/bin/bash
# A small program in the place of Claude Code, run as `claude`. It notes how it was called, begins a conversation or goes on
# with one as Claude Code writes them down, and then does what it is told, as agent.sh does.
number=$(($(cat "$STAND_IN_RUNS" 2> /dev/null | wc -l) + 1))
printf '%s\0' "$PWD" "$@" > "$TASK_TMPDIR/call.$number"
fresh=00000000-0000-4000-8000-00000000000$number
talk=$fresh
while [ $# -gt 0 ]; do
    [ "$1" = --resume ] && talk=$2
    shift
done
read -r what rest < <(sed -n "${number}p" "$TASK_TMPDIR/plan" 2> /dev/null)
shelf=$HOME/.claude/projects/${PWD//[^A-Za-z0-9]/-}
if [ "$what" = mute ]; then
    read -r what rest <<< "$rest"
else
    mkdir -p "$shelf"
    printf '{"type":"user","sessionId":"%s","cwd":"%s","timestamp":"%s","message":{"role":"user","content":"Do it."}}\n' \
        "$talk" "$PWD" "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" >> "$shelf/$talk.jsonl"
fi
exec 3<> "$STAND_IN_GATE"
echo "call $$" >> "$STAND_IN_RUNS"
echo "agent: call $number"

obey() {
    case $1 in
        exit) exit "$2" ;;
        die) kill -9 $$ ;;
        print) for line in $(seq "$2"); do echo "line $line"; read -r -t 0.1 <> <(:); done ;;
        spin) for _ in $(seq "$2"); do printf '\r✻ Thinking… (%ss · esc to interrupt)' "$SECONDS"; read -r -t 0.1 <> <(:); done ;;
    esac
}

obey "$what" "$rest"
while read -r what rest <&3; do
    obey "$what" "$rest"
done
