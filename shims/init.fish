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
            set -eg __cvm_last
        end
        @CVM@ $argv
        return
    end
    set -l code (_CVM_SHELL=fish @CVM@ $argv)
    or return
    string join \n -- $code | source
    __cvm_look
    if set -q CVM_TOOLCHAIN
        set -gx _CVM_AUTO $__cvm_want
        set -g __cvm_was yes
    else if test -z "$__cvm_want"
        set -eg _CVM_AUTO
    end
    set -eg __cvm_want
    # To erase what isn't there counts as a failure.
    true
end

# Leave in __cvm_want what decides about this shell's environment; empty when nothing is selected.
function __cvm_look
    if test "$PWD" != "$__cvm_pwd"
        set -g __cvm_pwd $PWD
        set -g __cvm_files
        set -l up $PWD
        while string match -q -- '*/*' $up
            set -a __cvm_files $up/.cuda-version
            set up (string replace -r -- '/[^/]*$' '' $up)
        end
        set -a __cvm_files /.cuda-version $__cvm_home/global
    end
    set -g __cvm_want $CVM_TOOLCHAIN
    if test -z "$__cvm_want"; and test @FOLLOW@ = yes
        for file in $__cvm_files $CVM_SITE_HOME/global
            if test -f $file
                # One that says nothing is an error to be told once, and no missing file; an endless one is not kept.
                set -l text
                test -r $file; and read -z text <$file
                string match -qr '(?s)^.{4097}' -- $text; and set text " $file is too long"
                set __cvm_want "file:$text"
                break
            end
        end
    end
    # Which Python is active decides whether LD_LIBRARY_PATH may be touched.
    test -z "$__cvm_want"; or set __cvm_want "$__cvm_want|$VIRTUAL_ENV|$CONDA_PREFIX"
end

# Whether a toolchain is on PATH though none is selected: leaving a virtual environment puts an old PATH back.
function __cvm_stray
    test -z "$__cvm_want"; and set -q __cvm_was; or return
    for element in $PATH
        test "$__cvm_home/toolchains" = (string replace -r -- '/[^/]*/bin$' '' $element); and return
    end
    false
end

# At each prompt the shell itself looks what is selected; cvm is started only when that is something else.
function __cvm_hook --on-event fish_prompt
    __cvm_look
    if test "$__cvm_want" != "$__cvm_last"; or __cvm_stray
        set -g __cvm_last $__cvm_want
        test -z "$__cvm_want"; or set -g __cvm_was yes
        __cvm_follow
    end
    set -eg __cvm_want
end

function __cvm_follow
    # Without following, only what `use` selected is weighed.
    test @FOLLOW@ = yes; or test -n "$__cvm_want"; or set -eg _CVM_AUTO
    if test "$__cvm_want" = "$_CVM_AUTO"; and not __cvm_stray
        return
    else if not test -x @PROGRAM@
        echo 'cvm: '@PROGRAM@' is gone; install cvm again, then: cvm init --write' >&2
    else if set -l code (_CVM_SHELL=fish @CVM@ use --auto)
        string join \n -- $code | source
        if test -n "$__cvm_want"
            set -gx _CVM_AUTO $__cvm_want
        else
            set -eg _CVM_AUTO
        end
    end
end
