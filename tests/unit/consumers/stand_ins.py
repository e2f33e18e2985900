"""Libraries and packages that stand in for CUDA's, made with the `site` fixture."""

from __future__ import annotations

GRAPH = """
const unsigned cudnn_graph_version = {number};
unsigned long cudnnGetVersion(void) {{ return 7; }}
const char *named[] = {{ {names} }};
"""


def cudnn(
    site, folder, version=(9, 1, 0), *, names=("libcudnn_engines_precompiled.so",), members=("ops", "cnn", "adv")
):
    """Make a cuDNN 9 in a folder: the library that passes calls on, and those that it opens."""
    major, minor, patch = version
    opened = ", ".join(f'"libcudnn_{name}.so"' for name in ("adv", "cnn", "graph", "ops"))
    number = major << 16 | minor << 8 | patch
    site.lib(
        f"{folder}/libcudnn.so.9",
        f"const char *names[] = {{ {opened} }}; long cudnnGetVersion(void) {{ return 1; }}",
        soname="libcudnn.so.9",
        runpath="$ORIGIN",
    )
    code = GRAPH.format(number=number, names=", ".join(f'"{name}"' for name in names))
    site.lib(f"{folder}/libcudnn_graph.so.9", code, soname="libcudnn_graph.so.9", runpath="$ORIGIN")
    for name in members:
        site.lib(f"{folder}/libcudnn_{name}.so.9", soname=f"libcudnn_{name}.so.9", runpath="$ORIGIN")


def record(site, name, paths, version="1.0", sizes=None):
    """Write the record of a distribution, and return it."""
    distribution = site.distribution(name, version)
    lines = [f"{path},,{(sizes or {}).get(path, '')}" for path in paths]
    site.write(f"{name}-{version}.dist-info/RECORD", "\n".join(lines) + "\n")
    return distribution


def loaded(session):
    """Return the files of the test in a process, by their names below `site`."""
    parts = [one.path.partition("/site/") for one in session.process.loaded]
    return [rest for _, found, rest in parts if found]


def steps(session):
    """Return calls with what came of them."""
    return [(step.call, step.outcome.ok, step.handled, step.first_use) for step in session.steps]
