"""Resolution over a small world of hand-made releases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cvm.core.compat import ANY_MINOR, EXACT_MINOR, Build, CompatTable
from cvm.core.manifest import Archive, Component, Manifest
from cvm.core.profile import Profiles
from cvm.core.request import parse_request
from cvm.core.resolve import Choices, Release, World, resolve
from cvm.core.version import Version
from cvm.errors import IncompatibleError, NoMatchError

X86 = "linux-x86_64"


def archive(source: str, name: str, **more: object) -> Archive:
    ending = "whl" if source == "pypi" else "tar.xz"
    return replace(Archive(source, X86, f"{name}.{ending}", name.ljust(64, "0")[:64], 100), **more)  # type: ignore[arg-type]


def toolkit(version: str, *sources: str) -> Manifest:
    keys = ("cuda_cudart", "cuda_nvcc", "libcublas", "nsight_compute")
    components = []
    for key in keys:
        lacks = ("nvcc",) if key == "cuda_nvcc" else ()
        archives = [
            archive(source, f"{key}-{version}-{source}", lacks=lacks if source == "pypi" else ())
            for source in sources
            if not (source == "pypi" and key == "nsight_compute")
        ]
        components.append(Component(key, version, archives=tuple(archives)))
    return Manifest("cuda", Version(version), components=tuple(components))


def cudnn(label: str, build: str, variants: str, *sources: str) -> Manifest:
    archives = tuple(
        archive(source, f"cudnn-{build}-{variant}-{source}", cuda_variants=(variant,))
        for source in sources
        for variant in variants.split()
    )
    return Manifest("cudnn", Version(label), components=(Component("cudnn", build, archives=archives),))


MANIFESTS = [
    toolkit("11.8.0", "redist", "pypi"),
    toolkit("12.1.0", "redist", "pypi"),
    toolkit("12.1.1", "redist", "pypi"),
    toolkit("12.10.0", "redist"),
    toolkit("13.0.2", "pypi"),
    cudnn("7.6.5", "7.6.5.32", "cuda10", "redist"),
    cudnn("8.6.0", "8.6.0.163", "cuda11", "redist", "pypi"),
    cudnn("8.9.4", "8.9.4.25", "cuda11 cuda12", "redist", "pypi"),
    cudnn("9.9.0", "9.9.0.52", "cuda12", "redist"),
    cudnn("9.13.1", "9.13.1.26", "cuda12 cuda13", "redist", "pypi"),
]


def _releases(product: str) -> list[Release]:
    found = []
    for manifest in MANIFESTS:
        if manifest.product == product:
            archives = [a for c in manifest.components for a in c.archives]
            sources = {a.source for a in archives}
            variants = {s: tuple({v for a in archives if a.source == s for v in a.cuda_variants}) for s in sources}
            found.append(Release(manifest.version, dict.fromkeys(sources, (X86,)), variants))
    return found


COMPAT = CompatTable(
    {
        Version("7.6.5"): (Build("cuda10.2", EXACT_MINOR, ("10.2",)),),
        Version("8.6.0"): (Build("cuda11", ANY_MINOR),),
        Version("8.9.4"): (Build("cuda11", ANY_MINOR), Build("cuda12", ANY_MINOR)),
        Version("9.9.0"): (Build("cuda12", ANY_MINOR),),
    }
)
WORLD = World(
    _releases,
    lambda product, version: next(m for m in MANIFESTS if (m.product, m.version) == (product, version)),
    {"cudnn": COMPAT},
    Profiles(("cuda_cudart", "libcublas", "cudnn"), ("nsight_*",)),
)
AUTO = Choices(X86, ("redist", "pypi"))


def names(request: str, choices: Choices = AUTO) -> tuple[str, list[str]]:
    plan = resolve(parse_request(request), WORLD, choices)
    return plan.name, [item.archive.filename for item in plan.archives]


def test_the_newest_release_that_fits_is_chosen_by_parts() -> None:
    assert names("12.1") == (
        "12.1.1",
        ["cuda_cudart-12.1.1-redist.tar.xz", "cuda_nvcc-12.1.1-redist.tar.xz", "libcublas-12.1.1-redist.tar.xz"],
    )


def test_the_cudnn_build_for_the_toolkits_major_is_chosen() -> None:
    name, archives = names("11.8-cudnn8.9.4", replace(AUTO, sources=("pypi",)))
    assert (name, archives[-1]) == ("11.8.0-cudnn8.9.4.25", "cudnn-8.9.4.25-cuda11-pypi.whl")


def test_auto_takes_the_newest_cudnn_that_serves_the_toolkit() -> None:
    assert names("12.1-cudnn")[0] == "12.1.1-cudnn9.13.1.26"
    assert names("11.8-cudnn")[0] == "11.8.0-cudnn8.9.4.25"
    assert names("13-cudnn")[0] == "13.0.2-cudnn9.13.1.26"


def test_a_partial_cudnn_version_takes_the_newest_of_its_line_that_fits() -> None:
    assert names("11.8-cudnn8")[0] == "11.8.0-cudnn8.9.4.25"
    assert names("11.8-cudnn8.6")[0] == "11.8.0-cudnn8.6.0.163"


def test_a_whole_build_number_is_that_build_or_nothing() -> None:
    assert names("12.1-cudnn8.9.4.25")[0] == "12.1.1-cudnn8.9.4.25"
    with pytest.raises(NoMatchError, match=r"cudnn 8\.9\.4\.26 has no archive"):
        names("12.1-cudnn8.9.4.26")


def test_a_pair_that_does_not_fit_is_refused_with_the_reason_and_what_fits() -> None:
    with pytest.raises(IncompatibleError) as caught:
        names("12.1-cudnn8.6")
    assert caught.value.message == (
        "cudnn 8.6.0 does not go with CUDA 12.1.1: its builds serve every CUDA 11.x; these fit: 8.9.4 to 9.13.1"
    )
    assert caught.value.hint == "cvm install 12.1.1 --with cudnn=auto"


def test_no_release_names_the_nearest() -> None:
    with pytest.raises(NoMatchError) as caught:
        names("12.2")
    assert caught.value.message == (
        "no cuda release matches `12.2` for this platform and source; the nearest are 12.1.0, 12.1.1, 12.10.0"
    )


def test_an_insisted_source_narrows_the_versions() -> None:
    assert names("12", replace(AUTO, sources=("pypi",)))[0] == "12.1.1"


def test_what_a_source_lacks_is_named() -> None:
    full = replace(AUTO, sources=("pypi",), profile="full")
    assert resolve(parse_request("12.1"), WORLD, full).toolkit.lacks == ("nvcc", "nsight_compute")


def test_profiles_and_components_choose_parts() -> None:
    assert len(names("12.1", replace(AUTO, profile="runtime"))[1]) == 2
    assert len(names("12.1", replace(AUTO, profile="full"))[1]) == 4
    assert names("12.1", replace(AUTO, components=("libcublas",)))[1] == ["libcublas-12.1.1-redist.tar.xz"]
    missing = r"cuda 12\.1\.1 has no component `libcublsa` for linux-x86_64; it has cuda_cudart, "
    with pytest.raises(NoMatchError, match=missing):
        names("12.1", replace(AUTO, components=("libcublsa",)))
