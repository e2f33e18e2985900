# cvm for fish: the shims on PATH, a function that can change this shell, and following the folder.

set -g __cvm_home @CVM_HOME@
# Another home than the usual one is told to whatever is started from here.
test @UNUSUAL@ = no; or set -q CVM_HOME; or set -gx CVM_HOME $__cvm_home

# Put the shims first on PATH, once. A toolchain that is in use may stand before them.
if test "$PATH[1]" != "$__cvm_home/shims"
    and not begin
        test "$PATH[1]" = "$CUDA_HOME/bin"; and test "$PATH[2]" = "$__cvm_home/shims"
    end
    set -l rest
    for element in $PATH
        test "$element" = "$__cvm_home/shims"; or set -a rest $element
    end
    set -gx PATH "$__cvm_home/shims" $rest
end

# `use` and `unuse` answer with commands for this shell; everything else is only passed on.
function cvm --description 'A version manager for the CUDA toolchain'
    set -l words (string match -v -- '-*' $argv)
    if contains -- -h $argv; or contains -- --help $argv; or not contains -- "$words[1]" use unuse
        # What the folder selects may be another thing afterwards: let the hook see for itself.
        if contains -- "$words[1]" install uninstall link rehash global local
            set -q _CVM_AUTO; and set -gx _CVM_AUTO stale
            set -eg __cvm_seen
        end
        @CVM@ $argv
        return
    end
    set -l code (_CVM_SHELL=fish @CVM@ $argv)
    or return
    string join \n -- $code | source
    set -l want (__cvm_look | string collect)
    if set -q CVM_TOOLCHAIN
        set -gx _CVM_AUTO $want
    else if test -z "$want"
        set -eg _CVM_AUTO
    end
    # To erase what isn't there counts as a failure.
    true
end

# Say what decides about this shell's environment; nothing when nothing is selected.
function __cvm_look
    set -g __cvm_file
    set -g __cvm_text
    set -l want $CVM_TOOLCHAIN
    if test -z "$want"; and test @FOLLOW@ = yes
        set -l up $PWD
        while not test -f "$up/.cuda-version"; and string match -q -- '*/*' $up
            set up (string replace -r -- '/[^/]*$' '' $up)
        end
        for file in "$up/.cuda-version" "$__cvm_home/global" "$CVM_SITE_HOME/global"
            if test -f $file
                __cvm_read $file
                set want $__cvm_text
                break
            end
        end
    end
    # Which Python is active decides whether LD_LIBRARY_PATH may be touched.
    test -z "$want"; or printf '%s' "$want|$VIRTUAL_ENV|$CONDA_PREFIX"
end

# A file that says nothing is an error to be told once, and no missing file.
function __cvm_read
    set -l text
    test -r $argv[1]; and read -z text <$argv[1]
    set -g __cvm_file $argv[1]
    set -g __cvm_text "file:$text"
end

# Whether the file that decided says something else now: an editor or git wrote it.
function __cvm_edited
    test -n "$__cvm_file"; or return
    set -l held $__cvm_text
    __cvm_read $__cvm_file
    test "$held" != "$__cvm_text"
end

# At a prompt with nothing new this is a comparison, and reading the file that decided, by the shell itself;
# cvm is started only when something else is selected.
function __cvm_hook --on-event fish_prompt
    set -l now "$PWD:$VIRTUAL_ENV:$CONDA_PREFIX:$CVM_TOOLCHAIN"
    test "$now" = "$__cvm_seen"; and not __cvm_edited; and return
    set -l want (__cvm_look | string collect)
    # Without following, only what `use` selected is weighed.
    test @FOLLOW@ = yes; or test -n "$want"; or set -eg _CVM_AUTO
    if test "$want" != "$_CVM_AUTO"
        _CVM_SHELL=fish @CVM@ use --auto | source
        if test -n "$want"
            set -gx _CVM_AUTO $want
        else
            set -eg _CVM_AUTO
        end
    end
    set -g __cvm_seen "$PWD:$VIRTUAL_ENV:$CONDA_PREFIX:$CVM_TOOLCHAIN"
end
