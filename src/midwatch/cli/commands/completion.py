"""`midwatch completion`: scripts that let a shell complete what is typed. They know how to ask `midwatch _complete`."""

from midwatch.cli.parser import Options
from midwatch.core.errors import UsageError

BASH = r"""# Completion of midwatch in bash. Put this line into ~/.bashrc:
#   eval "$(midwatch completion bash)"
_midwatch() {
    local line=${COMP_LINE:0:COMP_POINT} words=() starts=() gap word i
    # Bash splits words at = @ : too. What has no blank before it in the line belongs to the word before.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        gap=${line%%[![:space:]]*}
        line=${line#"$gap"}
        word=${COMP_WORDS[i]}
        ((i == COMP_CWORD)) && word=$line
        line=${line#"$word"}
        if ((i == 0)) || [[ -n $gap ]]; then
            words+=("$word")
            starts+=("$i")
        else
            words[${#words[@]} - 1]+=$word
        fi
    done
    local current=${words[${#words[@]} - 1]} answers=() kind
    mapfile -t answers < <("${words[0]/#\~/$HOME}" _complete -- "${words[@]:1}" 2>/dev/null)
    kind=${answers[0]}
    COMPREPLY=("${answers[@]:1}")
    COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
    case $kind in
    files | directories)
        local value=${current#-*=} flag=-f path
        local prefix=${current%"$value"}
        value=${value#[\"\']}
        [[ $kind == directories ]] && flag=-d
        compopt -o filenames 2>/dev/null
        while IFS= read -r path; do
            COMPREPLY+=("$prefix$path")
        done < <(compgen "$flag" -- "${value//\\/}")
        ;;
    command*)
        local at=${kind#command }
        if declare -F _command_offset >/dev/null; then
            _command_offset "${starts[at]}"
            return
        fi
        flag=-f
        ((at == ${#words[@]} - 1)) && flag=-c
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen "$flag" -- "$current")
        ;;
    esac
    # Only what follows the last place at which bash splits is put into the line, and an @ there, too.
    local breaks="" kept
    for i in = @ :; do [[ $COMP_WORDBREAKS == *"$i"* ]] && breaks+=$i; done
    [[ -z $breaks ]] && return
    kept=${current##*["$breaks"]}
    kept=${current%"$kept"}
    COMPREPLY=("${COMPREPLY[@]#"${kept%@}"}")
}
complete -F _midwatch midwatch
"""
ZSH = r"""#compdef midwatch
# Completion of midwatch in zsh. Put this line into ~/.zshrc, after compinit:
#   eval "$(midwatch completion zsh)"
_midwatch() {
    local -a answers described
    local answer kind tab=$'\t'
    answers=("${(@f)$("${${(Q)words[1]}/#\~/$HOME}" _complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    kind=$answers[1]
    for answer in "${(@)answers[2,-1]}"; do
        if [[ $answer == *$tab* ]]; then
            described+=("${${answer%%$tab*}//:/\\:}:${answer#*$tab}")
        else
            described+=("${answer//:/\\:}")
        fi
    done
    (( $#described )) && _describe -V midwatch described
    case $kind in
    files | directories)
        compset -P '-*='
        if [[ $kind == directories ]]; then _files -/; else _files; fi
        ;;
    command*)
        local -i at=${kind#command }
        shift $at words
        (( CURRENT -= at ))
        _normal
        ;;
    esac
}
if [[ $funcstack[1] == _midwatch ]]; then _midwatch "$@"; else compdef _midwatch midwatch; fi
"""
FISH = r"""# Completion of midwatch in fish. Put this line into ~/.config/fish/config.fish:
#   midwatch completion fish | source
function __midwatch_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answers ($words[1] _complete -- $words[2..] "$current" 2>/dev/null)
    set -l kind (string split ' ' -- $answers[1])
    test (count $answers) -gt 1; and printf '%s\n' $answers[2..]
    switch "$kind[1]"
        case files directories
            set -l value (string replace -r -- '^-[^=]*=' '' "$current")
            set -l prefix (string replace -r -- '^(-[^=]*=)?.*$' '$1' "$current")
            set -l paths (__fish_complete_path "$value")
            test $kind[1] = directories; and set paths (__fish_complete_directories "$value")
            test (count $paths) -gt 0; and printf '%s\n' "$prefix"$paths
        case command
            set -l from (math $kind[2] + 1)
            complete -C (string join -- ' ' (string escape -- $words[$from..]) "$current")
    end
end
complete -c midwatch -f -a '(__midwatch_complete)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def main(options: Options) -> int:
    if len(options.names) != 1 or options.names[0] not in SCRIPTS:
        raise UsageError(f"for which shell? {', '.join(SCRIPTS)}")
    print(SCRIPTS[options.names[0]], end="")
    return 0
