# Completion of cvm for bash: source this file, or put it where bash-completion looks for it.
command -v cvm >/dev/null && eval "$(_CVM_COMPLETE=bash_source cvm)"
