"""Everything that is committed in `manifests/`."""

import re
import sys
from itertools import chain, pairwise
from pathlib import Path

import pytest
from refresh.compat import compat_text, with_releases
from refresh.index import index_text

from cvm.core.compat import ANY_MINOR, EXACT_MINOR, cuda_variant, parse_compat
from cvm.core.manifest import ANY_PLATFORM, parse_manifest
from cvm.core.manifest_text import manifest_text
from cvm.core.profile import parse_profiles
from cvm.core.redistrib import parse_redistrib_rules
from cvm.core.request import COMPANIONS
from cvm.core.version import Version
from cvm.resources import resource

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = resource("manifests")


def table(name):
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))


PRODUCTS = table("products.toml")["products"]
RULES = parse_redistrib_rules(table("redistrib.toml"))
PROFILES = parse_profiles(table("profiles.toml"))
INDEX = table("index.toml")
PATHS = sorted(path for product in PRODUCTS for path in (FOLDER / product).glob("*.toml"))
MANIFESTS = {path: parse_manifest(tomllib.loads(path.read_text(encoding="utf-8")), str(path)) for path in PATHS}
each_manifest = pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")


def archives(path):
    return [(component, archive) for component in MANIFESTS[path].components for archive in component.archives]


def releases(product):
    return {manifest.version: manifest for manifest in MANIFESTS.values() if manifest.product == product}


def test_there_is_nothing_else_in_the_folder():
    files = {path.relative_to(FOLDER) for path in FOLDER.rglob("*") if path.is_file()}

    assert files == {
        *(path.relative_to(FOLDER) for path in PATHS),
        *map(Path, ["compat/cudnn.toml", "index.toml", "products.toml", "profiles.toml", "redistrib.toml"]),
    }


def test_the_products_are_the_toolkit_and_the_companions():
    assert list(PRODUCTS) == ["cuda", *COMPANIONS]
    assert [PRODUCTS[key]["kind"] for key in PRODUCTS] == ["toolkit", *["companion"] * len(COMPANIONS)]
    assert all(PRODUCTS[key]["title"] and PRODUCTS[key]["license_name"] for key in PRODUCTS)
    assert all(url.startswith("https://") for key in PRODUCTS for url in PRODUCTS[key]["licenses"])


@each_manifest
def test_a_manifest_is_where_its_product_and_version_say(path):
    manifest = MANIFESTS[path]

    assert path == FOLDER / manifest.product / f"{manifest.version}.toml"
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", manifest.date)


@each_manifest
def test_a_manifest_is_what_the_generator_would_write(path):
    assert path.read_text(encoding="utf-8") == manifest_text(MANIFESTS[path])


@each_manifest
def test_every_archive_has_bytes_a_hash_and_a_path_of_its_own(path):
    found = [archive for _, archive in archives(path)]

    assert all(archive.size > 0 and re.fullmatch(r"[0-9a-f]{64}", archive.sha256) for archive in found)
    assert len({(archive.source, archive.path) for archive in found}) == len(found)
    assert len({(archive.source, archive.sha256) for archive in found}) == len(found)


@each_manifest
def test_every_component_has_archives_and_says_its_license(path):
    for component in MANIFESTS[path].components:
        assert component.archives, component.key
        assert component.license, component.key
        assert component.name, component.key


@each_manifest
def test_redist_paths_are_relative_archives_and_wheels_are_file_names(path):
    for component, archive in archives(path):
        if archive.source == "redist":
            assert re.fullmatch(rf"{component.key}/[\w./-]+\.(tar\.xz|zip)", archive.path)
        else:
            assert archive.source == "pypi"
            assert re.fullmatch(r"[\w.-]+\.whl", archive.path)


@each_manifest
def test_the_size_of_an_unpacked_wheel_is_known(path):
    assert all(a.unpacked and a.unpacked >= a.size / 2 for _, a in archives(path) if a.source == "pypi")


@each_manifest
def test_no_component_of_the_driver_got_in(path):
    assert [c.key for c in MANIFESTS[path].components if RULES.leaves_out(c.key)] == []


@each_manifest
def test_a_companion_says_its_variants_and_a_toolkit_has_none(path):
    manifest = MANIFESTS[path]
    main = PRODUCTS[manifest.product]["main"]
    variants = [archive.cuda_variants for component, archive in archives(path) if component.key == main]

    assert bool(variants)
    assert all(bool(found) == (manifest.product != "cuda") for found in variants)


@each_manifest
def test_one_archive_answers_a_choice_of_source_platform_and_variant(path):
    choices = [
        (component.key, archive.source, archive.platform, variant)
        for component, archive in archives(path)
        for variant in archive.cuda_variants or ("",)
        if archive.platform != ANY_PLATFORM
    ]

    assert len(set(choices)) == len(choices)


def test_both_sources_of_a_toolkit_say_the_same_versions_but_for_the_wheels_that_lost_their_headers():
    both = [path for path in PATHS if path.parent.name == "cuda" and MANIFESTS[path].sources == ("redist", "pypi")]

    assert len(both) >= 26
    assert {component.key for path in both for component, archive in archives(path) if archive.version} == {"cuda_cccl"}


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_index_is_in_the_order_of_versions_newest_last(product):
    versions = [Version(row["version"]) for row in INDEX[product]]

    assert all(earlier < later for earlier, later in pairwise(versions))
    assert set(versions) == set(releases(product))


def test_the_index_is_what_the_generator_would_write():
    text = index_text({key: releases(key) for key in PRODUCTS}, {key: PRODUCTS[key]["main"] for key in PRODUCTS})

    assert (FOLDER / "index.toml").read_text(encoding="utf-8") == text


def test_every_hash_is_of_one_file_name_only():
    names = {}
    for path in PATHS:
        for _, archive in archives(path):
            names.setdefault(archive.sha256, set()).add((archive.filename, archive.size))

    assert [found for found in names.values() if len(found) > 1] == []


def test_the_usual_toolchain_is_there_in_full_from_both_sources():
    def picked(product, version, source, variant=""):
        return [
            archive
            for component in releases(product)[Version(version)].components
            for archive in component.archives
            if (archive.source, archive.platform) == (source, "linux-x86_64")
            and (not variant or variant in archive.cuda_variants)
        ]

    wheels = picked("cuda", "12.1.1", "pypi") + picked("cudnn", "8.9.4", "pypi", "cuda12")

    assert len(wheels) == 20
    assert sum(wheel.size for wheel in wheels) == 1_878_221_959
    assert sum(wheel.unpacked for wheel in wheels) == 3_040_461_895
    assert sorted(part for wheel in wheels for part in wheel.lacks) == ["libcudadevrt", "libcudart_static", "nvcc"]
    assert [(archive.path, archive.size) for archive in picked("cudnn", "8.9.4", "redist", "cuda12")][:1] == [
        ("cudnn/linux-x86_64/cudnn-linux-x86_64-8.9.4.25_cuda12-archive.tar.xz", 887_509_908)
    ]


def test_toolkits_of_wheels_lack_the_static_runtime_before_12_9_and_the_compiler_before_13():
    lacks = {
        manifest.version: {a.lacks for c in manifest.components for a in c.archives if a.lacks}
        for manifest in releases("cuda").values()
        if "pypi" in manifest.sources
    }
    runtime, compiler = ("libcudart_static", "libcudadevrt"), ("nvcc",)

    assert {version: found for version, found in lacks.items() if version < Version("12.9")} == {
        version: {runtime, compiler} for version in lacks if version < Version("12.9")
    }
    # The nvcc of 13.0.0's wheels compiles and can't link.
    assert lacks.pop(Version("13.0.0")) == {("link.stub",)}
    assert {str(version): found for version, found in lacks.items() if version >= Version("12.9")} == {
        str(version): ({compiler} if version < Version("13.0.0") else set())
        for version in lacks
        if version >= Version("12.9")
    }


@pytest.mark.parametrize("profile", ["runtime", "full_only"])
def test_every_key_of_a_profile_is_that_of_a_component(profile):
    keys = {component.key for manifest in MANIFESTS.values() for component in manifest.components}
    # Seen in releases of CUDA 13 that are newer than these manifests.
    keys.add("libcuobjclient")
    pattern_of = {pattern: re.compile(pattern.replace("*", ".*")) for pattern in getattr(PROFILES, profile)}

    assert [pattern for pattern, found in pattern_of.items() if not any(map(found.fullmatch, keys))] == []


def test_main_components_are_in_every_profile():
    mains = [PRODUCTS[product]["main"] for product in PRODUCTS]

    assert all(PROFILES.includes(profile, main) for main in mains for profile in ("runtime", "devel", "full"))


COMPAT = table("compat/cudnn.toml")


def test_every_cudnn_release_has_a_row_for_each_of_its_variants():
    compat = parse_compat(COMPAT, "compat/cudnn.toml")
    known = {(version, build.variant) for version, builds in compat.builds.items() for build in builds}
    published = {
        (version, variant)
        for version, manifest in releases("cudnn").items()
        for variant in chain(*(a.cuda_variants for c in manifest.components for a in c.archives))
    }

    assert published - known == set()


def test_rules_and_sources_of_the_builds_are_known():
    builds = [build for row in COMPAT["releases"] for build in row["builds"]]

    assert {build["rule"] for build in builds} == {ANY_MINOR, EXACT_MINOR}
    assert {source for build in builds for source in build["sources"]} == set(COMPAT["sources"])
    assert all(source["what"] for source in COMPAT["sources"].values())
    assert all(build.get("documented_minors") for build in builds if build["rule"] == EXACT_MINOR)


def test_cudnn_8_9_4_serves_every_cuda_11_and_12_and_no_13():
    compat = parse_compat(COMPAT, "compat/cudnn.toml")

    def variant(toolkit):
        build = compat.build_for(Version("8.9.4"), Version(toolkit))
        return build and build.variant

    assert [variant(toolkit) for toolkit in ("11.8.0", "12.1.1", "12.9.1", "13.0.2")] == [
        "cuda11",
        cuda_variant(Version("12.1.1")),
        "cuda12",
        None,
    ]


def test_the_compatibility_table_is_what_the_generator_would_write():
    text = compat_text(with_releases(COMPAT, releases("cudnn").values()))

    assert (FOLDER / "compat/cudnn.toml").read_text(encoding="utf-8") == text


def test_the_folder_stays_small():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 6_000_000
