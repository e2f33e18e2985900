
# shellcheck disable=SC2154 # __cvm_look sets __cvm_want
__cvm_hook() {
    local __cvm_status=$?
    __cvm_look
    if [[ $__cvm_want != "${__cvm_last-}" ]] || __cvm_stray; then
        # First, so that ^C is not followed by another try at each prompt.
        __cvm_last=$__cvm_want
        __cvm_follow
    fi
    unset __cvm_want
    # What stands behind it sees the status of the command too; but with `set -e` that would end the shell.
    [[ $- == *e* ]] || return "$__cvm_status"
}

# Only where somebody sits at a prompt. An array is not exported: a shell without the function won't look for it.
if [[ $- == *i* && "${PROMPT_COMMAND[*]-}" != *__cvm_hook* ]]; then
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
        PROMPT_COMMAND+=(__cvm_hook)
    else
        # shellcheck disable=SC2128,SC2178 # before 5.1 it is a string
        PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__cvm_hook
    fi
fi
