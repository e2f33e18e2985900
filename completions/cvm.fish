# Completion of cvm for fish: put this file into ~/.config/fish/completions.
# No program is started for it: commands and options stand here, toolchains and releases are names of files.

# True behind a command, where so many words have been typed, that command's among them.
function __cvm_at # COMMAND [COUNT]
    set -l words (__cvm_words)
    test -z "$argv[2]"; or test (count $words) -eq "$argv[2]"; or return
    string match -q -- "$argv[1] *" "$words "
end

# Prints the words before the cursor that are neither options nor their values.
function __cvm_words
    set -l value
    for word in (commandline -opc)[2..]
        if set -q value[1]
            set value
        else if __cvm_takes_value $word
            set value yes
        else if not string match -qr -- '^-.*[^-]' $word
            printf '%s\n' $word
        end
    end
end

function __cvm_offer # VALUE..., of which those with an `@` are to be looked up
    set -l home $HOME/.local/share/cvm
    test -n "$XDG_DATA_HOME"; and set home $XDG_DATA_HOME/cvm
    test -n "$CVM_HOME"; and set home $CVM_HOME
    set -l homes $home
    test -n "$CVM_SITE_HOME"; and set -a homes $CVM_SITE_HOME
    set -l manifests @CVM_MANIFESTS@ $homes/manifests
    set -l files
    for value in $argv
        switch $value
            case @own
                set -a files $home/toolchains/*/.cvm/receipt.json
            case @installed
                set -a files $homes/toolchains/*/.cvm/receipt.json
            case @selectable
                set -a files $homes/toolchains/*/.cvm/receipt.json
                # Of the links that stand for a request those with a companion are left out: they are many.
                for link in $homes/resolved/*
                    string match -qr -- '/[^/-]*$' $link; and test -d $link; and set -a files $link
                end
            case @tools
                set -a files $home/shims/*
            case '@*'
                set -a files $manifests/(string sub -s 2 -- $value)/*.toml
            case '*'
                set -a files $value
        end
    end
    # A name that would have to be quoted is none of cvm's. The empty word keeps `string` from reading stdin.
    string replace -r '(/\.cvm/receipt\.json|\.toml)$' '' -- $files '' | string replace -r '.*/' '' |
        string match -r '^[A-Za-z0-9_-][A-Za-z0-9._+-]*$'
end

# Behind `exec ... --` and `doctor ... --` stands a command of its own.
function __cvm_offer_command
    set -l line (commandline -pc | string replace -r '^.*?\s--\s+' '' | string collect)
    complete -C "$line"
end
complete -c cvm -n '__cvm_at exec; and contains -- -- (commandline -opc)' -a '(__cvm_offer_command)'
complete -c cvm -n '__cvm_at doctor; and contains -- -- (commandline -opc)' -a '(__cvm_offer_command)'

# Made by scripts/refresh_completions, from here
function __cvm_takes_value # OPTION
    contains -- $argv[1] --component --env --fail-on --format --from --ld-library-path --platform --profile --redist --root --shell --source --with --with-cudnn --with-nccl
end
complete -c cvm -f
complete -c cvm -n "__cvm_at '' 0" -a install -d 'Install a toolkit, and companions such as cuDNN, side by side with the others.'
complete -c cvm -n "__cvm_at '' 0" -a uninstall -d 'Remove a toolchain, and the archives that no other one uses.'
complete -c cvm -n "__cvm_at '' 0" -a list -d 'List the installed toolchains.'
complete -c cvm -n "__cvm_at '' 0" -a list-remote -d 'List the releases that can be installed.'
complete -c cvm -n "__cvm_at '' 0" -a verify -d 'Compare the files of a toolchain with its receipt.'
complete -c cvm -n "__cvm_at '' 0" -a use -d 'Switch this shell to a toolchain.'
complete -c cvm -n "__cvm_at '' 0" -a unuse -d 'Put this shell back as it was.'
complete -c cvm -n "__cvm_at '' 0" -a local -d 'Select a toolchain for this folder and those below.'
complete -c cvm -n "__cvm_at '' 0" -a global -d 'Select a toolchain for wherever nothing else does.'
complete -c cvm -n "__cvm_at '' 0" -a current -d 'Say which toolchain is selected here, and by what.'
complete -c cvm -n "__cvm_at '' 0" -a which -d 'Say where a CUDA tool is.'
complete -c cvm -n "__cvm_at '' 0" -a exec -d 'Run a command with a toolchain.'
complete -c cvm -n "__cvm_at '' 0" -a env -d 'Print the environment of a toolchain, for a shell, a Dockerfile, a module system.'
complete -c cvm -n "__cvm_at '' 0" -a doctor -d 'Say whether CUDA programs here will load, and if not, what to do.'
complete -c cvm -n "__cvm_at '' 0" -a link -d 'Adopt a toolkit that is already on this machine.'
complete -c cvm -n "__cvm_at '' 0" -a prune -d 'Remove what no toolchain uses.'
complete -c cvm -n "__cvm_at '' 0" -a cache -d 'Show or clear the download cache.'
complete -c cvm -n "__cvm_at '' 0" -a init -d 'Teach a shell to switch.'
complete -c cvm -n "__cvm_at '' 0" -a completions -d 'Print the completion script of a shell.'
complete -c cvm -n "__cvm_at '' 0" -a rehash -d 'Write shims and links anew.'
complete -c cvm -n "__cvm_at '' 0" -a manifest -d 'Keep the manifests up to date.'
complete -c cvm -n "__cvm_at '' 0" -l version -d 'Show the version and exit.'
complete -c cvm -n "__cvm_at '' 0" -s q -l quiet -d 'Print answers and errors only.'
complete -c cvm -n "__cvm_at '' 0" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'install'" -l with-cudnn -x -a '(__cvm_offer @cudnn auto)' -d 'Add cuDNN: a version, or the newest that serves this toolkit.'
complete -c cvm -n "__cvm_at 'install'" -l with-nccl -x -a '(__cvm_offer @nccl auto)' -d 'Add NCCL.'
complete -c cvm -n "__cvm_at 'install'" -l with -x -a 'cudnn nccl cutensor cusparselt' -d 'Add cudnn, nccl, cutensor or cusparselt.'
complete -c cvm -n "__cvm_at 'install'" -l source -x -a 'auto redist pypi file' -d 'NVIDIA\'s archives (redist), NVIDIA\'s wheels (pypi), what a manifest of yours names (file), or the first that can be reached.'
complete -c cvm -n "__cvm_at 'install'" -l profile -x -a 'runtime devel full' -d 'Libraries only, what building takes, or all with profilers\' GUIs and docs.'
complete -c cvm -n "__cvm_at 'install'" -l component -x -d 'Only this part of the toolkit.'
complete -c cvm -n "__cvm_at 'install'" -l from -r -F -d 'Take archives, or a toolkit, from here.'
complete -c cvm -n "__cvm_at 'install'" -l platform -x -a 'linux-x86_64 linux-sbsa linux-aarch64 linux-ppc64le' -d 'Another platform, such as linux-sbsa.'
complete -c cvm -n "__cvm_at 'install'" -l dry-run -d 'Print the plan, and do nothing.'
complete -c cvm -n "__cvm_at 'install'" -l reinstall -d 'Check the stored archives, and build the toolchain anew.'
complete -c cvm -n "__cvm_at 'install'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'install'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'install'" -a '(__cvm_offer @cuda latest)'
complete -c cvm -n "__cvm_at 'uninstall'" -l dry-run -d 'Say what would be removed, and remove nothing.'
complete -c cvm -n "__cvm_at 'uninstall'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'uninstall'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'uninstall'" -a '(__cvm_offer @own)'
complete -c cvm -n "__cvm_at 'list'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'list'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'list-remote'" -l platform -x -a 'linux-x86_64 linux-sbsa linux-aarch64 linux-ppc64le' -d 'Another platform, such as linux-sbsa.'
complete -c cvm -n "__cvm_at 'list-remote'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'list-remote'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'list-remote' 1" -a 'cuda cudnn nccl cutensor cusparselt'
complete -c cvm -n "__cvm_at 'verify'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'verify'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'verify'" -a '(__cvm_offer @installed)'
complete -c cvm -n "__cvm_at 'use'" -l install -d 'Install the toolchain where it is missing.'
complete -c cvm -n "__cvm_at 'use'" -l ld-library-path -x -a 'auto always never' -d 'Put the libraries on LD_LIBRARY_PATH: unless the active Python has its own (auto), always, never.'
complete -c cvm -n "__cvm_at 'use'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'use' 1" -a '(__cvm_offer @selectable system -)'
complete -c cvm -n "__cvm_at 'unuse'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'local'" -l force -d 'Write it down even if it isn\'t installed here.'
complete -c cvm -n "__cvm_at 'local'" -l unset -d 'Remove this folder\'s .cuda-version.'
complete -c cvm -n "__cvm_at 'local'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'local'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'local' 1" -a '(__cvm_offer @selectable system)'
complete -c cvm -n "__cvm_at 'global'" -l unset -d 'Have no global default any more.'
complete -c cvm -n "__cvm_at 'global'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'global'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'global' 1" -a '(__cvm_offer @selectable system)'
complete -c cvm -n "__cvm_at 'current'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'current'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'which'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'which'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'which' 1" -a '(__cvm_offer @tools)'
complete -c cvm -n "__cvm_at 'exec'" -l ld-library-path -x -a 'auto always never' -d 'Put the libraries on LD_LIBRARY_PATH: unless the active Python has its own (auto), always, never.'
complete -c cvm -n "__cvm_at 'exec'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'exec' 1" -a '(__cvm_offer @selectable)'
complete -c cvm -n "__cvm_at 'env'" -l shell -x -a 'bash zsh fish sh' -d 'Commands for this shell; sh is usual.'
complete -c cvm -n "__cvm_at 'env'" -l format -x -a 'json dotenv dockerfile github modulefile' -d 'Text for something else than a shell.'
complete -c cvm -n "__cvm_at 'env'" -l ld-library-path -x -a 'auto always never' -d 'Put the libraries on LD_LIBRARY_PATH: unless the active Python has its own (auto), always, never.'
complete -c cvm -n "__cvm_at 'env'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'env' 1" -a '(__cvm_offer @selectable)'
complete -c cvm -n "__cvm_at 'doctor'" -s q -l quiet -d 'Print nothing unless the verdict is one to fail on.'
complete -c cvm -n "__cvm_at 'doctor'" -s v -l verbose -d 'Add every library and how it is found, step by step.'
complete -c cvm -n "__cvm_at 'doctor'" -l fail-on -x -a 'error warning unknown never' -d 'The mildest verdict that exits with 1: of error, warning, unknown, ok.'
complete -c cvm -n "__cvm_at 'doctor'" -l root -r -F -d 'Look at the system in this folder, such as an unpacked image.'
complete -c cvm -n "__cvm_at 'doctor'" -l env -x -d 'A variable that the process would have: with --root there are no others.'
complete -c cvm -n "__cvm_at 'doctor'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'doctor'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'doctor'" -F
complete -c cvm -n "__cvm_at 'link'" -l force -d 'Take the name over when it is linked already.'
complete -c cvm -n "__cvm_at 'link'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'link'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'link' 2" -F
complete -c cvm -n "__cvm_at 'prune'" -l dry-run -d 'Say what would be removed, and remove nothing.'
complete -c cvm -n "__cvm_at 'prune'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'prune'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'cache' 1" -a clear -d 'Delete what is in the cache.'
complete -c cvm -n "__cvm_at 'cache' 1" -a dir -d 'Print where the cache is.'
complete -c cvm -n "__cvm_at 'cache' 1" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'cache clear'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'cache clear'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'cache dir'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'cache dir'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'init'" -l write -d 'Let the shell\'s rc file read it; says what was written where.'
complete -c cvm -n "__cvm_at 'init'" -l dry-run -d 'With --write: say what would be written, and write nothing.'
complete -c cvm -n "__cvm_at 'init'" -l no-auto-switch -d 'Don\'t follow .cuda-version files when the folder changes.'
complete -c cvm -n "__cvm_at 'init'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'init' 1" -a 'bash zsh fish sh'
complete -c cvm -n "__cvm_at 'completions'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'completions' 1" -a 'bash zsh fish'
complete -c cvm -n "__cvm_at 'rehash'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'rehash'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'manifest' 1" -a refresh -d 'Bring releases that are newer than this cvm.'
complete -c cvm -n "__cvm_at 'manifest' 1" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'manifest refresh'" -l redist -r -F -d 'Read from here instead of NVIDIA\'s host or CVM_REDIST_URL.'
complete -c cvm -n "__cvm_at 'manifest refresh'" -l force -d 'Read known releases again.'
complete -c cvm -n "__cvm_at 'manifest refresh'" -l json -d 'Print one JSON document.'
complete -c cvm -n "__cvm_at 'manifest refresh'" -s h -l help -d 'Show this message and exit.'
complete -c cvm -n "__cvm_at 'manifest refresh'" -a 'cuda cudnn nccl cutensor cusparselt'
# to here.
