# cvm for sh, dash, bash and zsh: the shims on PATH, and a function that can change this shell.
# It is evaluated, so it never exits, and survives `set -eu`.
# shellcheck disable=SC2050 # what stands between two @ is replaced

# A person's `alias cvm=…` would stand in the place of the function's name.
unalias cvm 2>/dev/null || :

__cvm_home=@CVM_HOME@
# Another home than the usual one is told to whatever is started from here.
if [ @UNUSUAL@ = yes ] && [ -z "${CVM_HOME-}" ]; then export CVM_HOME="$__cvm_home"; fi

# Put the shims first on PATH, once. A toolchain that is in use may stand before them.
__cvm_rest=${PATH-}
case $__cvm_rest in
"${CUDA_HOME-}/bin":*) __cvm_rest=${__cvm_rest#*:} ;;
esac
case $__cvm_rest in
"$__cvm_home/shims" | "$__cvm_home/shims":*) ;;
*)
    __cvm_rest=:${PATH-}:
    while :; do
        case $__cvm_rest in
        *":$__cvm_home/shims:"*)
            __cvm_rest=${__cvm_rest%%":$__cvm_home/shims:"*}:${__cvm_rest#*":$__cvm_home/shims:"} ;;
        *) break ;;
        esac
    done
    __cvm_rest=${__cvm_rest#:}
    __cvm_rest=${__cvm_rest%:}
    export PATH="$__cvm_home/shims${__cvm_rest:+:$__cvm_rest}"
    ;;
esac
unset __cvm_rest

# `use` and `unuse` answer with commands for this shell; everything else is only passed on.
cvm() {
    # Options of zsh may change what the following means, or tell of each global variable.
    [ -z "${ZSH_VERSION-}" ] || emulate -L zsh
    __cvm_verb=
    for __cvm_word in "$@"; do
        case $__cvm_word in
        -h | --help) __cvm_verb=help && break ;;
        -*) ;;
        *) __cvm_verb=${__cvm_verb:-$__cvm_word} ;;
        esac
    done
    unset __cvm_word
    case $__cvm_verb in
    use | unuse) unset __cvm_verb ;;
    *)
        case $__cvm_verb in
        # What the folder selects may be another thing afterwards: let the hook see for itself.
        install | uninstall | link | rehash | global | local)
            unset __cvm_last
            [ -z "${_CVM_AUTO-}" ] || _CVM_AUTO=stale
            ;;
        esac
        unset __cvm_verb
        @CVM@ "$@"
        return
        ;;
    esac
    __cvm_code=$(PATH="${PATH-}" _CVM_SHELL=@SHELL@ @CVM@ "$@") || return
    eval "unset __cvm_code
$__cvm_code"
    __cvm_settle
}

# After a switch there is nothing for the hook to do.
__cvm_settle() { :; }
