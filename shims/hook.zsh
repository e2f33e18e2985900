
__cvm_hook() {
    # Options may change what the following means, or tell of each global variable.
    emulate -L zsh
    if [[ ${PWD-}:${VIRTUAL_ENV-}:${CONDA_PREFIX-}:${CVM_TOOLCHAIN-} != "${__cvm_seen-}" ]] || __cvm_edited; then
        __cvm_follow
        __cvm_seen=${PWD-}:${VIRTUAL_ENV-}:${CONDA_PREFIX-}:${CVM_TOOLCHAIN-}
    fi
}

# Only where somebody sits at a prompt.
if [[ -o interactive ]]; then
    autoload -Uz add-zsh-hook
    add-zsh-hook precmd __cvm_hook
fi
