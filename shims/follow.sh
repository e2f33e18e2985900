
# Following the folder, for bash and zsh. At each prompt the shell itself looks what is selected, without starting
# anything; cvm is started only when that is something else than before.
# shellcheck disable=SC2050,SC2154 # what stands between two @ is replaced, and init.sh sets __cvm_home

# Leave in __cvm_want what decides about this shell's environment; empty when nothing is selected.
__cvm_look() {
    __cvm_want=${CVM_TOOLCHAIN-}
    if [ -z "$__cvm_want" ] && [ @FOLLOW@ = yes ]; then
        __cvm_up=${PWD-}
        while :; do
            if [ -f "$__cvm_up/.cuda-version" ]; then
                __cvm_read "$__cvm_up/.cuda-version"
                break
            fi
            case $__cvm_up in
            */*) __cvm_up=${__cvm_up%/*} ;;
            *)
                if [ -f "$__cvm_home/global" ]; then
                    __cvm_read "$__cvm_home/global"
                elif [ -n "${CVM_SITE_HOME-}" ] && [ -f "$CVM_SITE_HOME/global" ]; then
                    __cvm_read "$CVM_SITE_HOME/global"
                fi
                break
                ;;
            esac
        done
        unset __cvm_up
    fi
    # Which Python is active decides whether LD_LIBRARY_PATH may be touched.
    if [ -n "$__cvm_want" ]; then
        __cvm_want="$__cvm_want|${VIRTUAL_ENV-}|${CONDA_PREFIX-}"
        __cvm_was=yes
    fi
}

# A file that says nothing is an error to be told once, and no missing file; one that never ends is not read whole.
__cvm_read() {
    __cvm_want=file:
    [ -r "$1" ] || return 0
    while IFS= read -r __cvm_line || [ -n "$__cvm_line" ]; do
        __cvm_want=$__cvm_want$__cvm_line'
'
        [ "${#__cvm_want}" -le 4096 ] || break
    done <"$1"
    [ "${#__cvm_want}" -le 4096 ] || __cvm_want="file: $1 is too long"
    unset __cvm_line
}

# Whether a toolchain is on PATH though none is selected: leaving a virtual environment puts an old PATH back.
__cvm_stray() {
    [ -z "$__cvm_want" ] && [ -n "${__cvm_was-}" ] && case :${PATH-}: in *":$__cvm_home/toolchains/"*) ;; *) false ;; esac
}

__cvm_follow() {
    # Without following, only what `use` selected is weighed.
    [ @FOLLOW@ = yes ] || [ -n "$__cvm_want" ] || unset _CVM_AUTO
    if [ "$__cvm_want" != "${_CVM_AUTO-}" ] || __cvm_stray; then
        if ! [ -x @PROGRAM@ ]; then
            printf 'cvm: %s is gone; install cvm again, then: cvm init --write\n' @PROGRAM@ >&2
        elif __cvm_code=$(PATH="${PATH-}" _CVM_SHELL=@SHELL@ @CVM@ use --auto); then
            eval "$__cvm_code"
            __cvm_note
        fi
        unset __cvm_code
    fi
}

# Nested shells inherit what this one has done already.
__cvm_note() {
    if [ -n "$__cvm_want" ]; then export _CVM_AUTO="$__cvm_want"; else unset _CVM_AUTO; fi
}

__cvm_settle() {
    __cvm_look
    [ -z "${CVM_TOOLCHAIN-}" ] && [ -n "$__cvm_want" ] || __cvm_note
    unset __cvm_want
}
