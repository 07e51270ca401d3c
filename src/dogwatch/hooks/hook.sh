#!/bin/sh
# Notes in a spool that a coding agent called its hook:  hook.sh SPOOL AGENT [PAYLOAD]
#
# The payload is JSON, as the argument or on standard input. It is read to its end, since an agent may take a closed
# pipe for a failure of the hook, but only a bounded part is kept: one line in SPOOL/AGENT<server>%<pane>.events,
# where the server is its socket's path with `,` for `/`. In a line, with tabs between:
#
#     1  agent  pane  $TMUX  caller's pid  boot id  seconds since boot  end of the payload  payload
#
# The end stands there only if the payload was cut, so that fields before a long text and those after it are kept. A
# line has less than 4,096 bytes: every shell hands that to the kernel in one write, which no other write to the file
# can part. It begins with a newline, so that a line which a full disk tore spoils no other.
#
# Whatever happens, the hook says nothing, ends with 0 and ends soon: an agent must not notice that it is watched. It
# makes no directory and leaves no process behind. Two small programs read the payload, since the shell's own `read`
# takes a system call per byte and knows no time limit; time and boot come from /proc, since `date` would be a third.

command exec >/dev/null 2>&1 || exit 0
command trap '' HUP INT XFSZ # a pane that is closed, a key, a file that is full
umask 077
LC_ALL=C
PATH=$PATH:/usr/bin:/bin
spool=$1 agent=$2 rest='' boot='' up=''
read -r up _ </proc/uptime
read -r boot </proc/sys/kernel/random/boot_id
set -f
newline='
'

if [ $# -gt 2 ]; then
    payload=$3
elif [ -t 0 ]; then
    exit 0
else
    limit=
    command -v timeout && limit='timeout 2'
    payload=$($limit dd bs=65536 count=1) # one read gives what was sent, although the sender may never close
    case $payload in
    *'}') ;;
    *) rest=$($limit tail -c 1000) ;;
    esac
    [ ${#rest} -ge 1000 ] || payload=$payload$rest rest='' # it came in pieces, and this is all of it
fi
{ [ -n "$payload" ] && [ -n "$agent" ] && [ -d "$spool" ] && [ -w "$spool" ]; } || exit 0

# Splitting takes linear time; cutting with ${payload#…} would take its square.
swap() { # FROM TO TEXT: $swapped is the text with every FROM as a TO
    IFS=$1
    to=$2
    # shellcheck disable=SC2086 # splitting is meant
    set -- $3
    IFS=$to
    swapped="$*"
    IFS=' '
}

case $payload$rest in
*"$newline"*)
    swap "$newline" ' ' "$payload"
    payload=$swapped
    swap "$newline" ' ' "$rest"
    rest=$swapped
    ;;
esac
if [ -z "$rest" ] && [ ${#payload} -gt 2800 ]; then
    IFS=,
    # shellcheck disable=SC2086
    set -- $payload
    [ $# -le 30 ] || shift $(($# - 30))
    while rest="$*" && [ ${#rest} -gt 1000 ] && [ $# -gt 0 ]; do shift; done
fi

swap / , "${TMUX%,*,*}"
file=$spool/$agent$swapped$TMUX_PANE.events
if [ -e "$file" ] || [ -h "$file" ]; then
    { [ -f "$file" ] && [ ! -h "$file" ]; } || exit 0 # a pipe would make us wait
fi
note() {
    printf '\n1\t%.30s\t%.10s\t%.150s\t%d\t%.36s\t%.20s\t%.1000s\t%.2800s\n' \
        "$agent" "$TMUX_PANE" "$TMUX" "$PPID" "$boot" "$up" "$rest" "$payload" >>"$file"
}

# No file grows beyond 1 MB, whether anybody reads it or not: who finds it full moves it aside. Meanwhile others may
# write on behind that limit, for as much again.
# shellcheck disable=SC3045 # not POSIX, but in every shell; without it nothing has a limit, and all else works
ulimit -S -f 2048
note && exit 0
set -C
if printf '' >"$file.lock"; then
    [ -z "$(find "$file" -size +2000)" ] || mv -f "$file" "$file.1"
    rm -f "$file.lock"
fi
# shellcheck disable=SC3045
ulimit -S -f 4096
note || rm -f "$file.lock" # left by one that was killed
exit 0
