#!/bin/sh
# Runs the program of its own name from the CUDA toolchain that is selected. `cvm rehash` writes one
# copy for each program into the folder `shims` of its home.
#
# A build starts compilers by the thousand. So what is ordinary stands first and starts no process, no
# `$(...)` nor `cat`; and as a shell reads a script bit by bit, the long rest is not even read then.
# All variables begin with `_cvm_`, so that none of the caller's is changed.
# shellcheck disable=SC3013 # every sh that Linux has knows -ef

_cvm_home=@CVM_HOME@
_cvm_tool=${0##*/}

fail() { # EXIT_CODE MESSAGE [HINT]
    printf 'error: %s\n' "$2" >&2 || :
    [ -z "${3-}" ] || printf 'hint: %s\n' "$3" >&2 || :
    exit "$1"
}

endless() {
    fail 127 "$_cvm_tool calls itself through cvm's shims; PATH is ${PATH-}"
}

is_program() {
    [ -f "$1" ] && [ -x "$1" ]
}

is_shim() {
    [ "$1" -ef "$0" ] || [ "$1" -ef "$_cvm_home/shims/$_cvm_tool" ]
}

# Sets _cvm_file to the nearest .cuda-version, or to what is selected everywhere; empty if there is none.
find_file() {
    _cvm_folder=${PWD-}
    case $_cvm_folder/ in
    [!/]* | */./* | */../*) _cvm_folder=$(pwd -P 2>/dev/null) || : ;;
    esac
    # The folder may have been deleted, and some shells then say `.`, above which there is no end.
    _cvm_folder=/${_cvm_folder#/}
    if [ "$_cvm_folder" -ef . ]; then
        _cvm_file=${_cvm_folder%/}/.cuda-version
        until [ -f "$_cvm_file" ]; do
            case $_cvm_folder in
            "" | /) break ;;
            esac
            _cvm_folder=${_cvm_folder%/*}
            _cvm_file=$_cvm_folder/.cuda-version
        done
        [ ! -f "$_cvm_file" ] || return 0
    fi
    _cvm_file=$_cvm_home/global
    [ ! -f "$_cvm_file" ] || return 0
    _cvm_file=${CVM_SITE_HOME:+$CVM_SITE_HOME/global}
    [ -f "$_cvm_file" ] || _cvm_file=''
}

# Sets _cvm_prefix to what the link named by a request leads to; false if there is no such link.
follow_link() { # REQUEST
    _cvm_prefix=$_cvm_home/resolved/$1
    [ -d "$_cvm_prefix" ] || _cvm_prefix=${CVM_SITE_HOME:+$CVM_SITE_HOME/resolved/$1}
    [ -d "$_cvm_prefix" ] || return 1
    # Build systems record the path, which must keep its meaning when 12.1 becomes another 12.1.x.
    if [ -r "$_cvm_prefix/.cvm/prefix" ] && IFS= read -r _cvm_line <"$_cvm_prefix/.cvm/prefix" &&
        [ "$_cvm_line" -ef "$_cvm_prefix" ]; then
        _cvm_prefix=$_cvm_line
    fi
}

# Becomes the tool at _cvm_prefix; comes back if there is none.
run_selected() {
    is_program "$_cvm_prefix/bin/$_cvm_tool" || return 0
    ! is_shim "$_cvm_prefix/bin/$_cvm_tool" || endless
    case ${PATH-}: in
    "$_cvm_prefix/bin:"*) ;;
    *) PATH=$_cvm_prefix/bin${PATH:+:$PATH} ;;
    esac
    CUDA_HOME=$_cvm_prefix
    export PATH CUDA_HOME
    exec "$_cvm_prefix/bin/$_cvm_tool" "$@"
}

case ${_CVM_DEPTH-} in
"" | 0* | *[!0-9]* | ??????*) _CVM_DEPTH=0 ;;
esac
[ "$_CVM_DEPTH" -le 40 ] || endless
_CVM_DEPTH=$((_CVM_DEPTH + 1))
export _CVM_DEPTH

_cvm_file='' _cvm_line='' _cvm_text=${CVM_TOOLCHAIN-}
[ -n "$_cvm_text" ] || find_file
if [ -r "$_cvm_file" ]; then
    if IFS= read -r _cvm_text && { IFS= read -r _cvm_line || [ -n "$_cvm_line" ]; }; then
        _cvm_text=''
    fi <"$_cvm_file"
fi
# One line that has a link is a request, whatever else can be said of its form.
case $_cvm_text in
[!0-9a-z]* | *[!0-9A-Za-z.+_-]*) ;;
?*) ! follow_link "$_cvm_text" || run_selected "$@" ;;
esac

# From here on, what is not ordinary: files of several lines, everything that fails, and other programs
# on PATH. _cvm_file is known.

_cvm_blank=' 	'
_cvm_form='write it as 12.1 or 12.1-cudnn8.9.4'

unreadable() { # ORIGIN LINE
    # A terminal would obey what somebody else's file holds.
    case $2 in
    *[[:cntrl:]]*) fail 2 "$1 can't be read: it holds control characters" "$_cvm_form" ;;
    esac
    fail 2 "$1 can't be read: \`$(printf %.40s "$2")\` is neither a CUDA version nor a companion's" "$_cvm_form"
}

is_version() {
    case $1 in
    "" | [!0-9]* | *[!0-9A-Za-z.+_]*) return 1 ;;
    esac
}

# Linked toolkits have names; `system` and `latest` look like one.
is_name() {
    case $1 in
    "" | [!a-z]* | *[!a-z0-9_.]*) return 1 ;;
    esac
}

trim() { # TEXT, into _cvm_text; blanks and tabs, not what a locale counts among them
    _cvm_text=${1#"${1%%[!"$_cvm_blank"]*}"}
    _cvm_text=${_cvm_text%"${_cvm_text##*[!"$_cvm_blank"]}"}
}

add_companion() { # PRODUCT VERSION; false if it isn't one
    # Each of these means the newest that serves the toolkit, and has one spelling.
    case $2 in
    "" | auto | latest) set -- "$1" '' ;;
    *) is_version "$2" || return 1 ;;
    esac
    eval "_cvm_known=\$_cvm_$1"
    if [ -n "$_cvm_known" ] && [ "$_cvm_known" != "$1$2" ]; then
        _cvm_known=${_cvm_known#"$1"}
        fail 2 "$_cvm_where asks for $1 twice: ${_cvm_known:-any} and ${2:-any}"
    fi
    eval "_cvm_$1=\$1\$2"
}

parse_request() { # TEXT such as 12.1-cudnn8.9.4; false if it isn't one
    _cvm_toolkit=${1%%-*}
    _cvm_rest=${1#"$_cvm_toolkit"}
    if [ "$_cvm_toolkit" != latest ] && ! is_version "$_cvm_toolkit"; then
        [ -z "$_cvm_rest" ] && is_name "$_cvm_toolkit"
        return
    fi
    while [ -n "$_cvm_rest" ]; do
        _cvm_rest=${_cvm_rest#-}
        _cvm_part=${_cvm_rest%%-*}
        _cvm_rest=${_cvm_rest#"$_cvm_part"}
        case $_cvm_part in
        cudnn*) add_companion cudnn "${_cvm_part#cudnn}" || return 1 ;;
        nccl*) add_companion nccl "${_cvm_part#nccl}" || return 1 ;;
        cutensor*) add_companion cutensor "${_cvm_part#cutensor}" || return 1 ;;
        cusparselt*) add_companion cusparselt "${_cvm_part#cusparselt}" || return 1 ;;
        *) return 1 ;;
        esac
    done
}

parse_setting() { # TEXT such as cudnn = 8.9.4; false if it isn't one
    trim "${1%%=*}"
    case $_cvm_text in
    cudnn | nccl | cutensor | cusparselt) _cvm_part=$_cvm_text ;;
    *) return 1 ;;
    esac
    trim "${1#*=}"
    [ -n "$_cvm_text" ] && add_companion "$_cvm_part" "$_cvm_text"
}

# Takes the byte order mark, the carriage return, the comment and the blanks around it off _cvm_line.
clean_line() {
    case $_cvm_number:$_cvm_line in
    1:[!0-9A-Za-z#]*) _cvm_line=${_cvm_line#"$(printf '\357\273\277')"} ;;
    esac
    case $_cvm_line in
    *[[:cntrl:]]) _cvm_line=${_cvm_line%"$(printf '\r')"} ;;
    esac
    case $_cvm_line in
    \#*) _cvm_line='' ;;
    *["$_cvm_blank"]\#*) _cvm_line=${_cvm_line%%["$_cvm_blank"]\#*} ;;
    esac
    trim "$_cvm_line"
    _cvm_line=$_cvm_text
}

read_file() {
    [ -r "$_cvm_file" ] || fail 8 "$_cvm_file can't be read: permission denied" 'make it readable'
    _cvm_number=0
    while IFS= read -r _cvm_line || [ -n "$_cvm_line" ]; do
        _cvm_number=$((_cvm_number + 1))
        _cvm_where=$_cvm_file:$_cvm_number
        [ "${#_cvm_line}" -le 4096 ] || fail 2 "$_cvm_file is too long to name a CUDA version" "$_cvm_form"
        clean_line
        if [ -z "$_cvm_line" ] || parse_setting "$_cvm_line"; then
            :
        elif [ -z "$_cvm_toolkit" ] && parse_request "$_cvm_line"; then
            _cvm_origin=$_cvm_where
        else
            unreadable "$_cvm_where" "$_cvm_line"
        fi
    done <"$_cvm_file"
    [ -n "$_cvm_toolkit" ] || fail 2 "$_cvm_file names no CUDA version" "$_cvm_form"
}

# Sets _cvm_request, empty if nothing is selected, and _cvm_origin: who says so.
select_request() {
    _cvm_toolkit='' _cvm_cudnn='' _cvm_nccl='' _cvm_cutensor='' _cvm_cusparselt=''
    _cvm_origin=CVM_TOOLCHAIN _cvm_where=CVM_TOOLCHAIN
    if [ -n "$_cvm_file" ]; then
        read_file
    elif [ -n "${CVM_TOOLCHAIN-}" ]; then
        parse_request "$CVM_TOOLCHAIN" ||
            fail 2 "CVM_TOOLCHAIN is \`$(printf %.40s "$CVM_TOOLCHAIN")\`, which is not a CUDA version" "$_cvm_form"
    fi
    _cvm_request=${_cvm_cudnn:+-$_cvm_cudnn}${_cvm_nccl:+-$_cvm_nccl}
    _cvm_request=$_cvm_request${_cvm_cutensor:+-$_cvm_cutensor}${_cvm_cusparselt:+-$_cvm_cusparselt}
    # What has a name has the companions that it has.
    [ -z "$_cvm_request" ] || [ "$_cvm_toolkit" = latest ] || ! is_name "$_cvm_toolkit" ||
        unreadable "$_cvm_origin" "$_cvm_toolkit"
    _cvm_request=$_cvm_toolkit$_cvm_request
}

# Sets _cvm_prefix to the toolchain that answers _cvm_request.
find_prefix() {
    ! follow_link "$_cvm_request" || return 0
    _cvm_prefix=$(CVM_HOME=$_cvm_home command cvm which --prefix -- "$_cvm_request" 2>/dev/null </dev/null) || :
    [ ! -d "$_cvm_prefix" ] || return 0
    _cvm_hint="cvm install $_cvm_request"
    [ "$_cvm_request" = latest ] || ! is_name "$_cvm_request" || _cvm_hint='cvm list'
    fail 3 "\`$_cvm_request\` is not installed (set by $_cvm_origin)" "$_cvm_hint"
}

# Sets _cvm_names to the toolchains that have the tool.
list_toolchains() {
    set +f
    _cvm_names=''
    for _cvm_folder in "$_cvm_home" ${CVM_SITE_HOME:+"$CVM_SITE_HOME"}; do
        for _cvm_line in "$_cvm_folder"/resolved/*; do
            _cvm_text=${_cvm_line##*/}
            # The other links there stand for parts of a version.
            if [ -d "$_cvm_folder/toolchains/$_cvm_text" ] && is_program "$_cvm_line/bin/$_cvm_tool"; then
                case ", $_cvm_names, " in
                *", $_cvm_text, "*) ;;
                *) _cvm_names=${_cvm_names:+$_cvm_names, }$_cvm_text ;;
                esac
            fi
        done
    done
}

# Becomes what would run without this shim: the next on PATH, or else one before it.
run_next() {
    _cvm_rest=${PATH-}: _cvm_found='' _cvm_before='' _cvm_passed=''
    while [ -n "$_cvm_rest" ]; do
        _cvm_folder=${_cvm_rest%%:*}
        _cvm_rest=${_cvm_rest#*:}
        # An empty element means the current folder, where anybody's program may lie.
        if [ -z "$_cvm_folder" ] || ! is_program "$_cvm_folder/$_cvm_tool"; then
            continue
        elif ! is_shim "$_cvm_folder/$_cvm_tool"; then
            _cvm_found=${_cvm_found:-$_cvm_folder/$_cvm_tool}
        elif [ -z "$_cvm_passed" ]; then
            _cvm_before=$_cvm_found _cvm_found='' _cvm_passed=yes
        fi
    done
    _cvm_found=${_cvm_found:-$_cvm_before}
    [ -z "$_cvm_found" ] || exec "$_cvm_found" "$@"
}

select_request
case $_cvm_request in
"")
    run_next "$@"
    list_toolchains
    _cvm_hint='cvm install 12.1'
    [ -z "$_cvm_names" ] || _cvm_hint="cvm use NAME, where NAME is one of $_cvm_names"
    fail 127 "no toolchain is selected, and no other $_cvm_tool is on PATH" "$_cvm_hint"
    ;;
system)
    run_next "$@"
    fail 127 "$_cvm_tool is not on PATH outside cvm's shims (system is set by $_cvm_origin)"
    ;;
*)
    find_prefix
    run_selected "$@"
    list_toolchains
    _cvm_hint='no installed toolchain has it'
    [ -z "$_cvm_names" ] || _cvm_hint="cvm exec NAME -- $_cvm_tool, where NAME is one of $_cvm_names"
    fail 127 "$_cvm_tool is not in $_cvm_request (set by $_cvm_origin)" "$_cvm_hint"
    ;;
esac
