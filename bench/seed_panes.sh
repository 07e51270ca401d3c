#!/usr/bin/env bash
# seed_panes.sh SOCKET SESSION…: looks at sessions as the monitors do that Midwatch replaces: one client for each question.
socket=$1
shift
for session in "$@"; do
    tmux -S "$socket" has-session -t "$session" || exit 1
    tmux -S "$socket" list-panes -t "$session" -F 'session=#{session_name} pid=#{pane_pid} cmd=#{pane_current_command} cwd=#{pane_current_path}'
    tmux -S "$socket" capture-pane -p -t "$session"
done
