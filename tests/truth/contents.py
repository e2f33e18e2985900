"""What stands in a stand-in: empty functions, calls of those that it needs, and what little some of them really do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.truth.facts import Library

Version = tuple[int, int, int]


class Versions(NamedTuple):
    """The cuDNN that libraries are, and the one that a torch was compiled with."""

    cudnn: Version = (0, 0, 0)
    compiled: Version = (0, 0, 0)


_OPENING = """
#include <dlfcn.h>
__attribute__((constructor)) static void at_load(void) { %s }
"""
# What `from torch._C import *` imports; laid out as Python's stable ABI has it.
_MODULE = """
static struct { long count; void *type, *init; long index; void *copy; const char *name, *doc; long size;
    void *methods, *slots, *traverse, *clear, *free; } module = {1, 0, 0, 0, 0, "torch._C", 0, -1, 0, 0, 0, 0, 0};
extern void *PyModule_Create2(void *, int);
void *initModule(void) { return PyModule_Create2(&module, 1013); }
"""
# Written as compilers write `getCompileVersion`: a tuple in memory begins with its last number.
_COMPILED = """
void compiled_cudnn(volatile long *version) {{ version[0] = {2}; version[1] = {1}; version[2] = {0}; }}
extern unsigned long cudnnGetVersion(void);
unsigned long runtime_cudnn(void) {{ return cudnnGetVersion(); }}
"""
_EXTENSION = "extern void *initModule(void); void *PyInit__C(void) { return initModule(); }"
# The library that programs link passes every call on to another, whose number it puts together itself.
_PASSING = """
#include <dlfcn.h>
#include <string.h>
unsigned long cudnnGetVersion(void) {
    static const char *const numbers[] = { %s };
    for (int i = 0; i < %d; i++) {
        char name[64];
        void *library = dlopen(strcat(strcpy(name, "%s"), numbers[i]), RTLD_NOW | RTLD_LOCAL);
        if (library) return ((unsigned long (*)(void))dlsym(library, "cudnnGetVersion"))();
    }
    return 0;
}
"""
_ANSWERING = "const unsigned {name}_version = {packed}; unsigned long cudnnGetVersion(void) {{ return {number}; }}"
_ANSWERS = re.compile(r"lib(cudnn_graph|cudnn_ops_infer)\.so")


def code_of(library: Library, versions: Versions) -> str:
    """Return the C code of a library."""
    parts = [_special(library, versions)]
    parts += [f"void {symbol}(void) {{}}" for symbol in library.defines]
    wanted = [symbol for needed in library.needs for symbol in needed.symbols if symbol not in parts[0]]
    parts += [f"extern void {symbol}(void);" for symbol in wanted]
    parts.append(f"void calls(void) {{ {' '.join(f'{symbol}();' for symbol in wanted)} }}")
    parts.append(f"const char *const names[] = {{ {_quoted(library.names)} 0 }};")
    if library.opens:
        parts.append(_OPENING % " ".join(f'dlopen("{name}", RTLD_LAZY);' for name in library.opens))
    return "\n".join(parts)


def uses_libc(code: str) -> bool:
    """Whether code needs more than the libraries that it names."""
    return "#include" in code


def _special(library: Library, versions: Versions) -> str:
    cudnn = versions.cudnn
    if library.name == "_C":
        return _EXTENSION
    if library.name == "libtorch_python.so":
        return _MODULE + _COMPILED.format(*versions.compiled)
    if library.name.startswith("libcudnn.so"):
        return _passing(cudnn)
    answers = _ANSWERS.match(library.name)
    if answers:
        major, minor, patch = cudnn
        number = major * (1000 if major < 9 else 10000) + minor * 100 + patch
        return _ANSWERING.format(name=answers[1], packed=major << 16 | minor << 8 | patch, number=number)
    return ""


def _passing(cudnn: Version) -> str:
    major, minor, patch = cudnn
    if major < 9:
        return _PASSING % ('""', 1, f"libcudnn_ops_infer.so.{major}")
    numbers = (f".{major}.{minor}.{patch}", f".{major}.{minor}", f".{major}")
    return _PASSING % (_quoted(numbers), len(numbers), "libcudnn_graph.so")


def _quoted(names: tuple[str, ...]) -> str:
    return "".join(f'"{name}", ' for name in names)
