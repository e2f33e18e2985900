
__cvm_hook() {
    if [[ $PWD:${VIRTUAL_ENV-}:${CONDA_PREFIX-}:${CVM_TOOLCHAIN-} != "${__cvm_seen-}" ]]; then
        __cvm_follow
        __cvm_seen=$PWD:${VIRTUAL_ENV-}:${CONDA_PREFIX-}:${CVM_TOOLCHAIN-}
    fi
}

# Only where somebody sits at a prompt; last, so that other hooks see the status of the command.
if [[ $- == *i* && ${PROMPT_COMMAND-} != *__cvm_hook* ]]; then
    PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__cvm_hook
fi
