
__cvm_hook() {
    local __cvm_status=$?
    if [[ ${PWD-}:${VIRTUAL_ENV-}:${CONDA_PREFIX-}:${CVM_TOOLCHAIN-} != "${__cvm_seen-}" ]] || __cvm_edited; then
        __cvm_follow
        __cvm_seen=${PWD-}:${VIRTUAL_ENV-}:${CONDA_PREFIX-}:${CVM_TOOLCHAIN-}
    fi
    # What stands behind it sees the status of the command too; but with `set -e` that would end the shell.
    [[ $- == *e* ]] || return "$__cvm_status"
}

# Only where somebody sits at a prompt.
if [[ $- == *i* && ${PROMPT_COMMAND-} != *__cvm_hook* ]]; then
    PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__cvm_hook
fi
