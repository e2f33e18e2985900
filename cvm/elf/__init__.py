"""ELF files and a model of glibc's dynamic loader: what a program would load, from where and why, without running it.

    files = Disk()                                  # or Disk("/srv/image"): links are followed within it
    program = "/usr/bin/python3"
    runtime = read_runtime(files, files.elf(program).interpreter, Processor(level=3))
    process = Process(program, runtime, files, environment={"LD_LIBRARY_PATH": "/opt/cuda/lib64"})
    process.started.failure                         # None, or what the program would die of
    outcome = process.dlopen("/venv/…/libtorch_global_deps.so", Mode.NOW | Mode.GLOBAL)
    outcome.ok, outcome.failure.text                # what dlerror would say, word for word
    for one in outcome.loaded:
        print(one.path, one.found, one.requested_by)    # found: "LD_LIBRARY_PATH[0]=/opt/cuda/lib64"

`Elf` reads one file: `files.elf(path).dynamic.needed`, `.undefined`, `.defines("cudnnCreate")`, `.dlopen_names`.
Constructors, audit modules and setuid programs are not modelled; musl's loader is recognised (`Elf.musl`), no more.
"""
