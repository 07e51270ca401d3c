#!/usr/bin/env bash
# A small program in the place of a coding agent. It says how it was started and then does what it is told through a pipe:
# without a word from there it waits, silent and idle, as an agent does whose model never answers. What the agent of the nth
# start is to do by itself stands in the nth line of the plan.
exec 3<> "$STAND_IN_GATE"
echo "$1 $$" >> "$STAND_IN_RUNS"
echo "agent: $1"

obey() {
    case $1 in
        say) echo "$2" ;;
        exit) exit "$2" ;;
        die) kill -9 $$ ;;
        deaf) trap '' TERM HUP; echo deaf > "$TASK_TMPDIR/deaf" ;;
        burn) while :; do :; done ;;
        chatter) while :; do echo "$2"; sleep 0.2; done ;;
        tool) sleep 300 ;;
        leave) sleep 300 & echo "$!" > "$TASK_TMPDIR/left" ;;
    esac
}

read -r what rest < <(sed -n "$(wc -l < "$STAND_IN_RUNS")p" "$TASK_TMPDIR/plan" 2> /dev/null)
obey "$what" "$rest"
while read -r what rest <&3; do
    obey "$what" "$rest"
done
