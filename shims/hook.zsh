
__cvm_hook() {
    __cvm_look
    if [[ $__cvm_want != "${__cvm_last-}" ]] || __cvm_stray; then
        # First, so that ^C is not followed by another try at each prompt.
        __cvm_last=$__cvm_want
        __cvm_follow
    fi
    unset __cvm_want
}

# Only where somebody sits at a prompt.
if [[ -o interactive ]]; then
    autoload -Uz add-zsh-hook
    add-zsh-hook precmd __cvm_hook
fi
