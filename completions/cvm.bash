# Completion of cvm for bash: source this file, or put it where bash-completion looks for it.
# No program is started for it: commands and options stand here, toolchains and releases are names of files.
# shellcheck shell=bash

_cvm() {
    local IFS=$' \t\n' failglob=-u
    COMPREPLY=()
    # A pattern that fits no file is no error here, nor is what is false where the person has `set -e`.
    shopt -q failglob && failglob=-s
    shopt -u failglob
    __cvm_complete || :
    shopt "$failglob" failglob
}

# Reads the words before the cursor, and offers what can stand there.
__cvm_complete() {
    local current=${COMP_WORDS[COMP_CWORD]-} path='' values='' waits='' dashes=0 place=0 i word
    local commands options arguments
    __cvm_know ''
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $waits ]]; then
            # Readline makes three words of `--source=pypi`.
            [[ $word == = ]] || waits=''
        elif ((dashes)) || [[ $word != -?* && ! $commands ]]; then
            ((++place))
        elif [[ $word == -- ]]; then
            dashes=$i
        elif [[ " $options" == *" $word="* ]]; then
            waits=yes
            values=${options#*"$word="}
        elif [[ $word != -* ]]; then
            path=${path:+$path }$word
            __cvm_know "$path"
        fi
    done
    if [[ $path == exec || $path == doctor ]] && ((dashes)); then
        __cvm_offer_command
    elif [[ $waits ]]; then
        current=${current#=}
        __cvm_offer "${values%% *}"
    else
        __cvm_offer "${commands// /,}"
        if [[ $current == -* ]] && ! ((dashes)); then
            for word in $options; do __cvm_add "${word%%=*}"; done
        fi
        for values in $arguments; do
            ((place-- == 0)) || [[ $values == *... ]] && __cvm_offer "${values%...}" && break
        done
    fi
}

__cvm_offer() { # VALUE,VALUE..., of which those with an `@` are to be looked up
    local home=${CVM_HOME:-${XDG_DATA_HOME:-${HOME-}/.local/share}/cvm} value file
    local homes=("$home" ${CVM_SITE_HOME:+"$CVM_SITE_HOME"})
    for value in ${1//,/ }; do
        case $value in
        @own) __cvm_add "$home"/toolchains/*/.cvm/receipt.json ;;
        @installed | @selectable)
            for home in "${homes[@]}"; do
                __cvm_add "$home"/toolchains/*/.cvm/receipt.json
                [[ $value == @installed ]] && continue
                # Of the links that stand for a request those with a companion are left out: they are many.
                for file in "$home"/resolved/*; do
                    [[ ${file##*/} != *-* && -d $file ]] && __cvm_add "$file"
                done
            done
            ;;
        @tools) __cvm_add "$home"/shims/* ;;
        # Readline offers files itself where there is nothing else.
        @files) compopt -o default 2>/dev/null ;;
        @nothing) ;;
        @*) for home in @CVM_MANIFESTS@ "${homes[@]/%//manifests}"; do __cvm_add "$home/${value#@}"/*.toml; done ;;
        *) __cvm_add "$value" ;;
        esac
    done
    return 0
}

# Adds the words, or names of files, that go on from what has been typed. What would have to be quoted is none of cvm's.
__cvm_add() {
    local name typed=${current#[\"\']}
    for name; do
        name=${name%/.cvm/receipt.json}
        name=${name##*/}
        name=${name%.toml}
        [[ $name != "$typed"* || $name == .* || $name == *[!A-Za-z0-9._+-]* ]] && continue
        [[ " ${COMPREPLY[*]-} " == *" $name "* ]] || COMPREPLY+=("$name")
    done
}

# Behind `exec ... --` and `doctor ... --` stands a command of its own: `dashes` says where.
__cvm_offer_command() {
    if declare -F _command_offset >/dev/null; then
        _command_offset $((dashes + 1))
    elif ((COMP_CWORD > dashes + 1)) || [[ $current == */* ]]; then
        compopt -o default 2>/dev/null
    elif path=$(compgen -c -- "$current"); then
        mapfile -t COMPREPLY <<<"$path"
    fi
}

# Made by scripts/refresh_completions, from here
__cvm_know() { # COMMAND
    commands='' options='' arguments=''
    case $1 in
    '')
        commands='install uninstall list list-remote verify use unuse local global current which exec env doctor link prune cache init completions rehash manifest'
        options='--version -q --quiet -h --help'
        ;;
    install)
        options='--with-cudnn=@cudnn,auto --with-nccl=@nccl,auto --with=cudnn,nccl,cutensor,cusparselt --source=auto,redist,pypi,file --profile=runtime,devel,full --component= --from=@files --platform=linux-x86_64,linux-sbsa,linux-aarch64,linux-ppc64le --dry-run --reinstall --json -h --help'
        arguments=@cuda,latest...
        ;;
    uninstall)
        options='--dry-run --json -h --help'
        arguments=@own...
        ;;
    list)
        options='--json -h --help'
        ;;
    list-remote)
        options='--platform=linux-x86_64,linux-sbsa,linux-aarch64,linux-ppc64le --json -h --help'
        arguments='cuda,cudnn,nccl,cutensor,cusparselt @nothing'
        ;;
    verify)
        options='--json -h --help'
        arguments=@installed...
        ;;
    use)
        options='--install --ld-library-path=auto,always,never -h --help'
        arguments=@selectable,system,-
        ;;
    unuse)
        options='-h --help'
        ;;
    local)
        options='--force --unset --json -h --help'
        arguments=@selectable,system
        ;;
    global)
        options='--unset --json -h --help'
        arguments=@selectable,system
        ;;
    current)
        options='--json -h --help'
        ;;
    which)
        options='--json -h --help'
        arguments=@tools
        ;;
    exec)
        options='--ld-library-path=auto,always,never -h --help'
        arguments=@selectable
        ;;
    env)
        options='--shell=bash,zsh,fish,sh --format=json,dotenv,dockerfile,github,modulefile --ld-library-path=auto,always,never -h --help'
        arguments=@selectable
        ;;
    doctor)
        options='-q --quiet -v --verbose --fail-on=error,warning,unknown,never --root=@files --env= --json -h --help'
        arguments=@files...
        ;;
    link)
        options='--force --json -h --help'
        arguments='@nothing @files'
        ;;
    prune)
        options='--dry-run --json -h --help'
        ;;
    cache)
        commands='clear dir'
        options='-h --help'
        ;;
    'cache clear')
        options='--json -h --help'
        ;;
    'cache dir')
        options='--json -h --help'
        ;;
    init)
        options='--write --dry-run --no-auto-switch -h --help'
        arguments=bash,zsh,fish,sh
        ;;
    completions)
        options='-h --help'
        arguments=bash,zsh,fish
        ;;
    rehash)
        options='--json -h --help'
        ;;
    manifest)
        commands=refresh
        options='-h --help'
        ;;
    'manifest refresh')
        options='--redist=@files --force --json -h --help'
        arguments=cuda,cudnn,nccl,cutensor,cusparselt...
        ;;
    esac
}
# to here.

complete -F _cvm cvm
