#!/usr/bin/env bash
# client_per_question.sh SOCKET SESSION…: asks about sessions as shell monitors do: one tmux client for each question.
socket=$1
shift
for session in "$@"; do
    tmux -S "$socket" has-session -t "$session" || exit 1
    tmux -S "$socket" list-panes -t "$session" -F 'session=#{session_name} pid=#{pane_pid} cmd=#{pane_current_command} cwd=#{pane_current_path}'
    tmux -S "$socket" capture-pane -p -t "$session"
done
