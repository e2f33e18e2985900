import json

import pytest

from cvm.core.manifest import Archive, Component, Manifest
from cvm.core.redistrib import RedistribRules, parse_redistrib_rules, read_redistrib, redistrib_labels
from cvm.core.version import Version
from cvm.errors import UsageError

RULES = RedistribRules(
    left_out=("nvidia_driver", "mft*"),
    label_parts={"cudnn": 3},
    variants={"cutensor": {Version("1.3"): ("cuda11",), Version("1.6.2"): ("cuda11", "cuda12")}},
    renamed={"cccl": "cuda_cccl"},
)
SHA = {letter: letter * 64 for letter in "abcdef"}


def leaf(path, letter="a", size="10"):
    return {"relative_path": path, "sha256": SHA[letter], "md5": "0" * 32, "size": size}


def read(document, product="cuda", label="12.1.1", rules=RULES):
    return read_redistrib(json.loads(json.dumps(document)), product, label, f"redistrib_{label}.json", rules)


def archives(document, product="cudnn", label="9.9.0"):
    return [
        (a.platform, a.path, a.cuda_variants) for c in read(document, product, label).components for a in c.archives
    ]


def test_a_flat_file_of_an_old_toolkit_has_neither_label_nor_license_path():
    document = {
        "release_date": "2023-04-19",
        "cuda_nvcc": {
            "name": "CUDA NVCC",
            "license": "CUDA Toolkit",
            "version": "12.1.105",
            "linux-x86_64": leaf("cuda_nvcc/linux-x86_64/nvcc.tar.xz", "a", "43"),
            "windows-x86_64": leaf("cuda_nvcc/windows-x86_64/nvcc.zip", "b", "57"),
        },
    }

    found = read(document)

    assert found == Manifest(
        "cuda",
        Version("12.1.1"),
        "2023-04-19",
        (
            Component(
                "cuda_nvcc",
                "12.1.105",
                "CUDA NVCC",
                "CUDA Toolkit",
                archives=(
                    Archive("redist", "linux-x86_64", "cuda_nvcc/linux-x86_64/nvcc.tar.xz", SHA["a"], 43),
                    Archive("redist", "windows-x86_64", "cuda_nvcc/windows-x86_64/nvcc.zip", SHA["b"], 57),
                ),
            ),
        ),
    )


def test_license_path_is_kept_and_components_are_sorted():
    document = {
        "release_date": "2024-01-01",
        "release_label": "12.2.0",
        "release_product": "cuda",
        "libcublas": {"version": "12.2.1", "license_path": "libcublas/LICENSE.txt", "linux-sbsa": leaf("b")},
        "cuda_cudart": {"version": "12.2.5", "linux-sbsa": leaf("a")},
    }

    found = read(document, label="12.2.0")

    assert [(c.key, c.license_path) for c in found.components] == [
        ("cuda_cudart", ""),
        ("libcublas", "libcublas/LICENSE.txt"),
    ]


def test_nested_variants_each_give_an_archive():
    document = {
        "cudnn": {
            "version": "9.9.0.52",
            "linux-x86_64": {"cuda11": leaf("eleven", "a"), "cuda12": leaf("twelve", "b")},
            "cuda_variant": ["11", "12"],
            "linux-aarch64": {"cuda12": leaf("jetson", "c")},
        }
    }

    assert archives(document) == [
        ("linux-x86_64", "eleven", ("cuda11",)),
        ("linux-x86_64", "twelve", ("cuda12",)),
        ("linux-aarch64", "jetson", ("cuda12",)),
    ]


def test_a_flat_archive_beside_nested_ones_is_left_out():
    mixed = {"cuda13": leaf("thirteen", "a"), **leaf("cudnn-9.27.0.42_cuda13.4-archive.zip", "b")}
    document = {"cudnn": {"version": "9.27.0.42", "cuda_variant": ["12", "13"], "windows-arm64": mixed}}

    assert archives(document) == [("windows-arm64", "thirteen", ("cuda13",))]


def test_a_lone_flat_archive_is_for_the_major_that_its_name_says():
    document = {
        "cudnn": {"version": "9.27.0.42", "windows-arm64": leaf("cudnn-windows-arm64-9.27.0.42_cuda13.4-archive.zip")}
    }

    assert archives(document) == [("windows-arm64", "cudnn-windows-arm64-9.27.0.42_cuda13.4-archive.zip", ("cuda13",))]


def test_a_flat_archive_serves_every_variant_that_its_component_lists():
    document = {"cudnn": {"version": "9", "cuda_variant": ["11", "12"], "linux-x86_64": leaf("flat")}}

    assert archives(document) == [("linux-x86_64", "flat", ("cuda11", "cuda12"))]


@pytest.mark.parametrize(
    ("label", "expected"),
    [("1.2.0", ()), ("1.5.0", ("cuda11",)), ("1.6.2", ("cuda11", "cuda12")), ("2.0.2.1", ("cuda11", "cuda12"))],
)
def test_variants_inside_an_old_archive_come_from_the_rules(label, expected):
    document = {"libcutensor": {"version": label, "linux-x86_64": leaf("flat")}}

    assert archives(document, "cutensor", label) == [("linux-x86_64", "flat", expected)]


def test_sources_of_samples_are_for_any_platform_and_unknown_platforms_are_left_out():
    document = {
        "cudnn_samples": {"version": "9.0.0", "source": leaf("samples"), "linux-riscv64": leaf("unknown", "b")},
    }

    assert archives(document, label="9.0.0") == [("any", "samples", ())]


def test_the_driver_and_its_friends_are_left_out_unread():
    document = {
        "cuda_cudart": {"version": "12.1.105", "linux-x86_64": leaf("cudart")},
        "nvidia_driver": {"linux-x86_64": {"broken": True}},
        "mft_oem": {"version": "1", "linux-x86_64": leaf("mft")},
    }

    assert [component.key for component in read(document).components] == ["cuda_cudart"]


def test_a_file_named_for_a_build_is_of_its_release():
    document = {
        "cudnn": {"version": "8.9.4.25", "linux-x86_64": leaf("cudnn-linux-x86_64-8.9.4.25_cuda12-archive.tar.xz")}
    }

    found = read(document, "cudnn", "8.9.4.25")

    assert found.version == Version("8.9.4")
    assert found.components[0].archives[0].cuda_variants == ("cuda12",)


def test_all_faults_are_told_together_with_their_keys():
    document = {
        "a": {"linux-x86_64": {"relative_path": "p", "sha256": "XYZ", "size": "ten"}},
        "b": {"version": "1", "linux-sbsa": {"cuda12": {"sha256": SHA["a"], "size": "0"}, "cuda13": []}},
        "c": {"version": "1", "linux-sbsa": "text"},
    }

    with pytest.raises(UsageError) as caught:
        read(document)

    assert caught.value.message == (
        "redistrib_12.1.1.json is not a redistrib manifest: "
        "a.linux-x86_64.sha256 `XYZ` is not 64 lower-case hex digits; "
        "a.linux-x86_64.size `ten` is not a number of bytes; "
        "a.version is missing; "
        "b.linux-sbsa.cuda12.relative_path is missing; "
        "b.linux-sbsa.cuda12.size `0` is not a number of bytes; "
        "b.linux-sbsa.cuda13 is not an object; "
        "c.linux-sbsa is not an object"
    )


def test_a_file_without_components_is_none():
    with pytest.raises(UsageError, match="it has no component with an archive"):
        read({"release_date": "2020-01-01"})


def test_labels_come_from_file_names_in_the_order_of_versions():
    names = ["redistrib_12.10.0.json", "redistrib_12.9.1.json", "index.html", "redistrib_2.30.4-cuda12.9.json"]

    assert redistrib_labels("cuda", names, RULES) == ("12.9.1", "12.10.0")


def test_the_file_of_a_release_wins_over_those_of_its_builds():
    names = [f"redistrib_{label}.json" for label in ("8.9.4.25", "8.9.4", "8.9.5.30", "8.9.5.29")]

    assert redistrib_labels("cudnn", names, RULES) == ("8.9.4", "8.9.5.30")
    assert redistrib_labels("cutensor", ["redistrib_2.0.2.1.json", "redistrib_2.0.2.json"], RULES) == (
        "2.0.2",
        "2.0.2.1",
    )


def test_a_component_that_was_renamed_keeps_its_first_name():
    document = {"cccl": {"version": "13.3.4.3.1", "linux-x86_64": leaf("cccl/linux-x86_64/cccl.tar.xz")}}

    assert [component.key for component in read(document, label="13.4.2").components] == ["cuda_cccl"]


def test_rules_are_read_from_toml_tables():
    document = {
        "left_out": ["nvidia_driver", "mft*"],
        "label_parts": {"cudnn": 3},
        "variants": {"cutensor": {"1.3": ["cuda11"], "1.6.2": ["cuda11", "cuda12"]}},
        "renamed": {"cccl": "cuda_cccl"},
    }

    assert parse_redistrib_rules(document) == RULES
