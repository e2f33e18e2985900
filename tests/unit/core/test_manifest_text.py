import sys

from hypothesis import given
from hypothesis import strategies as st

from cvm.core.manifest import SOURCES, Archive, Component, Manifest, parse_manifest
from cvm.core.manifest_text import archive_order, manifest_text
from cvm.core.platform import PLATFORMS
from cvm.core.toml_text import toml_value
from cvm.core.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
SIZE = st.integers(min_value=0, max_value=2**40)
ARCHIVES = st.builds(
    Archive,
    source=st.sampled_from(SOURCES),
    platform=st.sampled_from([*PLATFORMS, "any"]),
    path=TEXT.filter(bool),
    sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
    size=SIZE,
    version=TEXT,
    cuda_variants=st.lists(st.sampled_from(["cuda11", "cuda12", "cuda13"]), unique=True).map(tuple),
    unpacked=st.none() | SIZE,
    lacks=st.lists(TEXT, max_size=2).map(tuple),
)
COMPONENTS = st.lists(
    st.builds(
        Component,
        key=st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True),
        version=TEXT.filter(bool),
        name=TEXT,
        license=TEXT,
        license_path=TEXT,
        archives=st.lists(ARCHIVES, max_size=3, unique_by=archive_order).map(
            lambda found: tuple(sorted(found, key=archive_order))
        ),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda component: component.key,
).map(lambda found: tuple(sorted(found, key=lambda component: component.key)))
MANIFESTS = st.builds(
    Manifest,
    product=st.just("cuda"),
    version=st.sampled_from(["12.1.1", "13.4.0rc1", "8.9.4"]).map(Version),
    date=st.sampled_from(["", "2023-04-19"]),
    components=COMPONENTS,
)


@given(MANIFESTS)
def test_what_is_written_reads_back_the_same(manifest):
    text = manifest_text(manifest)

    assert parse_manifest(tomllib.loads(text), "a test") == manifest
    assert manifest_text(parse_manifest(tomllib.loads(text), "a test")) == text


@given(TEXT)
def test_every_text_survives(text):
    assert tomllib.loads(f"x = {toml_value(text)}") == {"x": text}


def test_order_does_not_depend_on_the_order_of_the_facts():
    pypi = Archive("pypi", "linux-x86_64", "a.whl", "a" * 64, 1, unpacked=3, lacks=("nvcc",))
    sbsa = Archive("redist", "linux-sbsa", "z.tar.xz", "b" * 64, 2)
    x86 = Archive("redist", "linux-x86_64", "a.tar.xz", "c" * 64, 3, "12.1", ("cuda12",))
    manifest = Manifest(
        "cuda",
        Version("12.1.1"),
        "2023-04-19",
        (Component("libcublas", "12.1", archives=(pypi, x86, sbsa)), Component("cuda_nvcc", "12.1.105", "CUDA NVCC")),
    )

    assert manifest_text(manifest) == (
        """\
schema = 1
product = "cuda"
version = "12.1.1"
date = "2023-04-19"

[components.cuda_nvcc]
name = "CUDA NVCC"
version = "12.1.105"
archives = []

[components.libcublas]
version = "12.1"
archives = [
"""
        f'  {{ source = "redist", platform = "linux-sbsa", path = "z.tar.xz", size = 2, sha256 = "{"b" * 64}" }},\n'
        f'  {{ source = "redist", platform = "linux-x86_64", path = "a.tar.xz", size = 3, sha256 = "{"c" * 64}", '
        'version = "12.1", cuda_variants = ["cuda12"] },\n'
        f'  {{ source = "pypi", platform = "linux-x86_64", path = "a.whl", size = 1, sha256 = "{"a" * 64}", '
        'lacks = ["nvcc"], unpacked = 3 },\n'
        "]\n"
    )
