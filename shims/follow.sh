
# Following the folder, for bash and zsh. At a prompt with nothing new this is a comparison, and reading the file
# that decided, by the shell itself; cvm is started only when something else is selected.
# shellcheck disable=SC2050,SC2154 # what stands between two @ is replaced, and init.sh sets __cvm_home

# Leave in __cvm_want what decides about this shell's environment; empty when nothing is selected.
__cvm_look() {
    __cvm_file='' __cvm_text=''
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
        __cvm_want=$__cvm_text
    fi
    # Which Python is active decides whether LD_LIBRARY_PATH may be touched.
    [ -z "$__cvm_want" ] || __cvm_want="$__cvm_want|${VIRTUAL_ENV-}|${CONDA_PREFIX-}"
}

# A file that says nothing is an error to be told once, and no missing file.
__cvm_read() {
    __cvm_file=$1 __cvm_text=file:
    while IFS= read -r __cvm_line || [ -n "$__cvm_line" ]; do
        __cvm_text=$__cvm_text$__cvm_line'
'
    done 2>/dev/null <"$1" || :
    unset __cvm_line
}

# Whether the file that decided says something else now: an editor or git wrote it.
__cvm_edited() {
    [ -n "${__cvm_file-}" ] || return 1
    __cvm_held=$__cvm_text
    __cvm_read "$__cvm_file"
    [ "$__cvm_held" != "$__cvm_text" ]
}

__cvm_follow() {
    __cvm_look
    # Without following, only what `use` selected is weighed.
    [ @FOLLOW@ = yes ] || [ -n "$__cvm_want" ] || unset _CVM_AUTO
    if [ "$__cvm_want" != "${_CVM_AUTO-}" ]; then
        if __cvm_code=$(PATH="${PATH-}" _CVM_SHELL=@SHELL@ @CVM@ use --auto); then
            eval "$__cvm_code"
        fi
        if [ -n "$__cvm_want" ]; then export _CVM_AUTO="$__cvm_want"; else unset _CVM_AUTO; fi
    fi
    unset __cvm_want __cvm_code __cvm_held
}

__cvm_settle() {
    __cvm_look
    if [ -n "${CVM_TOOLCHAIN-}" ]; then
        export _CVM_AUTO="$__cvm_want"
    elif [ -z "$__cvm_want" ]; then
        unset _CVM_AUTO
    fi
    unset __cvm_want
}
