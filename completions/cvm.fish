# Completion of cvm for fish: put this file into ~/.config/fish/completions.
type -q cvm; and env _CVM_COMPLETE=fish_source cvm | source
