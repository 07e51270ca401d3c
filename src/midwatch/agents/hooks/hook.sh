#!/bin/sh
# Notes in a spool that a coding agent called its hook:  hook.sh SPOOL AGENT [PAYLOAD]
#
# The payload is JSON, as the argument or on standard input. It is read to its end, since an agent may take a closed
# pipe for a failure of the hook, but only a bounded part is kept: one line in SPOOL/AGENT<server>%<pane>.events,
# where the server is its socket's path with `,` for `/`; in a sandbox in $MIDWATCH_DIR/AGENT.events. In a line, with
# tabs between:
#
#     1  agent  pane  $TMUX  caller's pid  boot id  seconds since boot  end of the payload  payload
#
# The end stands there only if the payload was cut, so that fields before a long text and those after it are kept. A
# line has less than 4,096 bytes: every shell hands that to the kernel in one write, which no other write to the file
# can part. It begins with a newline, so that a line which a full disk tore spoils no other.
#
# Whatever happens, the hook says nothing, ends with 0 and ends soon: an agent must not notice that it is watched. It
# makes no directory and leaves no process behind. Reading takes one small program, since the shell's own `read` makes
# a system call for every byte; time and boot come from /proc, since `date` would be another.

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

may_wait() { # whether standard input can be waited at: a pipe, or anything if dd knows no other way
    [ -n "$from" ] || ! dd count=0 iflag=nonblock </dev/null
}
within() { # run a program for two seconds at most
    if command -v timeout >/dev/null; then timeout 2 "$@"; else "$@"; fi
}
piece() { # what comes next from a socket, within two seconds
    tries=0
    until dd bs=1048576 count=1 iflag=nonblock || [ $((tries += 1)) -gt 40 ]; do sleep 0.05; done
}
late() { # nothing was there
    if may_wait; then payload=$(within dd bs=65536 count=1); else payload=$(piece); fi
}
long() { # more is to come
    if may_wait; then
        rest=$(within tail -c 1000)
        [ ${#rest} -ge 1000 ] || payload=$payload$rest
        return
    fi
    last=$payload
    pieces=0
    while [ $((pieces += 1)) -le 999 ] && more=$(piece) && [ -n "$more" ]; do
        [ ${#payload} -gt 65536 ] || payload=$payload$more
        rest=$last$more
        last=$more
    done
    rest=$(printf %s "$rest" | tail -c 1000)
}

if [ $# -gt 2 ]; then
    payload=$3
elif [ -t 0 ]; then
    exit 0
else
    # What is there is read without waiting; a time limit for waiting would take a second program. Nobody else may find
    # his end of a pipe changed by that, so it is opened anew; a socket's end is ours alone.
    from=
    [ -p /proc/self/fd/0 ] && [ -r /proc/self/fd/0 ] && from=if=/proc/self/fd/0
    # shellcheck disable=SC2086 # no word if it is empty
    payload=$(dd bs=65536 count=1 iflag=nonblock $from) || late
    case $payload in
    *'}') ;; # all is there, although the sender may never close
    *) long ;;
    esac
fi
{ [ -n "$payload" ] && [ -n "$agent" ]; } || exit 0

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
if [ ${#payload} -le 2800 ]; then
    rest=
elif [ ${#rest} -lt 1000 ]; then
    IFS=,
    # shellcheck disable=SC2086
    set -- $payload
    [ $# -le 30 ] || shift $(($# - 30))
    while rest="$*" && [ ${#rest} -gt 1000 ] && [ $# -gt 0 ]; do shift; done
fi

swap / , "${TMUX%,*,*}"
file=$spool/$agent$swapped$TMUX_PANE.events
box_file() { # in a sandbox only the drop box of the session can be written to; the directory says whose events these are
    file=$MIDWATCH_DIR/$agent.events
    [ -n "$MIDWATCH_DIR" ] && [ -f "$MIDWATCH_DIR/run" ]
}
{ [ -d "$spool" ] && [ -w "$spool" ]; } || box_file || exit 0
note() {
    if [ -e "$file" ] || [ -h "$file" ]; then
        { [ -f "$file" ] && [ ! -h "$file" ]; } || exit 0 # a pipe would make us wait
    fi
    printf '\n1\t%.30s\t%.10s\t%.150s\t%d\t%.36s\t%.20s\t%.1000s\t%.2800s\n' \
        "$agent" "$TMUX_PANE" "$TMUX" "$PPID" "$boot" "$up" "$rest" "$payload" >>"$file"
}

# No file grows beyond 1 MB, whether anybody reads it or not: who finds it full moves it aside. Meanwhile others may
# write on behind that limit, for as much again.
# shellcheck disable=SC3045 # not POSIX, but in every shell; without it nothing has a limit, and all else works
ulimit -S -f 2048
note && exit 0
if [ ! -e "$file" ] && box_file; then # not every sandbox lets `test -w` tell
    note
    exit 0
fi
set -C
if printf '' >"$file.lock"; then
    [ -z "$(find "$file" -size +2000)" ] || mv -f "$file" "$file.1"
    rm -f "$file.lock"
fi
# shellcheck disable=SC3045
ulimit -S -f 4096
note || rm -f "$file.lock" # left by one that was killed
exit 0
