"""`scripts/refresh_manifests`, against a folder of NVIDIA's JSON and a package index on this machine."""

import hashlib
import io
import json
import shutil
import sys
import zipfile

import pytest
from packaging.specifiers import SpecifierSet
from refresh.app import main
from refresh.redist import read_pins
from refresh.toolkits import toolkit_files, toolkit_pins
from refresh.wheels import newest, pinned, wheels_of

from cvm.core.version import Version
from cvm.resources import resource
from cvm.sources.index import IndexFile
from tests.fakes.server import Behaviour, Server

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TAGS = "py3-none-manylinux2014_x86_64"
LISTING = {"cuda_runtime": ["lib/libcudart.so.12"], "cuda_nvcc": ["bin/ptxas"], "cuda_cccl": ["include/nv/target"]}


class World:
    """NVIDIA's JSON, a package index, and a folder of manifests."""

    def __init__(self, folder, server):
        self.redist = folder / "redist"
        self.output = folder / "manifests"
        self.server = server
        self.output.mkdir()
        for name in ("products.toml", "redistrib.toml", "profiles.toml"):
            shutil.copy(resource("manifests") / name, self.output / name)
        for project in ("nvidia-nccl", "cutensor", "nvidia-cusparselt", "nvidia-cudnn"):
            for variant in ("cu11", "cu12", "cu13"):
                self.publish(f"{project}-{variant}")

    def json(self, product, label, document):
        path = self.redist / product / f"redistrib_{label}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
        return path

    def publish(self, project, *wheels, yanked=()):
        files = []
        for version, members in wheels:
            name = f"{project.replace('-', '_')}-{version}-{TAGS}.whl"
            data = wheel(members)
            path = self.server.folder / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            files.append(
                {
                    "filename": name,
                    "url": f"../../files/{name}",
                    "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                    "size": len(data),
                    "upload-time": "2023-05-01T00:00:00Z",
                    "yanked": version in yanked,
                }
            )
        page = self.server.folder / "simple" / project / "index.json"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(json.dumps({"meta": {"api-version": "1.1"}, "name": project, "files": files, "versions": []}))

    def refresh(self, *arguments):
        return main(["--index", f"{self.server.url}/simple/", "--output", str(self.output), *arguments])

    def manifest(self, name):
        return tomllib.loads((self.output / f"{name}.toml").read_text())

    def bytes(self):
        return {path.relative_to(self.output): path.read_bytes() for path in self.output.rglob("*.toml")}


def wheel(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return stream.getvalue()


def part(component, size=100):
    return {f"nvidia/{component}/{name}": "x" * size for name in LISTING.get(component, ["lib/libx.so"])}


def requires(*lines):
    return {
        "cuda_toolkit.dist-info/METADATA": "".join(["Name: cuda-toolkit\n", *map("Requires-Dist: {}\n".format, lines)])
    }


def leaf(path, sha256="a" * 64):
    return {"relative_path": path, "sha256": sha256, "size": "77"}


@pytest.fixture
def world(tmp_path, monkeypatch):
    # The corrections of real releases would ask for their wheels.
    monkeypatch.setattr("refresh.app.read_tables", corrected_tables)
    with Server(tmp_path / "www") as server:
        server.content_types["index.json"] = "application/vnd.pypi.simple.v1+json"
        built = World(tmp_path, server)
        built.publish(
            "cuda-toolkit",
            ("0.0.0a0", requires("nvidia-nothing==1")),
            (
                "12.1.1.0",
                requires(
                    "nvidia-cuda-runtime-cu12==12.1.105.*; (sys_platform == 'linux') and extra == 'all'",
                    "nvidia-cuda-nvcc-cu12==12.1.105.*; extra == 'nvcc'",
                    "nvidia-cuda-runtime-cu12==12.1.105.*; extra == 'nvcc'",
                    "nvidia-cuda-cccl-cu12==12.1.109.*; extra == 'all'",
                    "nvidia-nvjitlink-cu12<13,>=12.1.105; extra == 'nvjitlink'",
                ),
            ),
        )
        built.publish("nvidia-cuda-runtime-cu12", ("12.1.105", part("cuda_runtime")))
        built.publish("nvidia-cuda-nvcc-cu12", ("12.1.105", part("cuda_nvcc")))
        built.publish("nvidia-cuda-cccl-cu12", ("12.1.109", part("bare")), ("12.3.101.post1", part("cuda_cccl")))
        built.publish("nvidia-nvjitlink-cu12", ("12.1.105", part("nvjitlink")), ("12.9.86", part("nvjitlink", 9)))
        built.publish(
            "nvidia-cudnn-cu12",
            ("8.9.4.25", part("cudnn", 1000)),
            ("8.9.7.28", part("cudnn")),
            ("8.9.7.29", part("cudnn")),
            ("9.0.0.dev1", part("cudnn")),
            yanked=("8.9.7.29",),
        )
        built.publish("nvidia-nccl-cu12", ("2.26.2", part("nccl")), ("2.26.2.post1", part("nccl", 7)))
        built.json(
            "cuda",
            "12.1.1",
            {
                "release_date": "2023-04-19",
                "cuda_cudart": {
                    "name": "CUDA Runtime (cudart)",
                    "license": "CUDA Toolkit",
                    "version": "12.1.105",
                    "linux-x86_64": leaf("cuda_cudart/linux-x86_64/a.tar.xz"),
                },
                "nvidia_driver": {"version": "530", "linux-x86_64": leaf("nvidia_driver/x", "b" * 64)},
            },
        )
        yield built


def corrected_tables():
    from dataclasses import replace

    from refresh.tables import read_tables

    return replace(read_tables(), pins={})


def test_a_second_run_writes_the_same_bytes_and_looks_into_no_wheel(world, capsys):
    arguments = ["--redist", str(world.redist)]
    assert world.refresh(*arguments) == 0
    first = world.bytes()
    inspected = [request.path for request in world.server.requests if request.range]
    assert capsys.readouterr().out.splitlines() == [
        "compat/cudnn.toml",
        "cuda/12.1.1.toml",
        "cudnn/8.9.4.toml",
        "cudnn/8.9.7.toml",
        "index.toml",
        "nccl/2.26.2.toml",
        "6 files changed",
    ]
    assert len(inspected) == 7

    assert world.refresh(*arguments) == 0

    assert world.bytes() == first
    assert [request.path for request in world.server.requests if request.range] == inspected
    assert capsys.readouterr().out == "0 files changed\n"


def test_both_sources_of_a_toolkit_are_in_one_file(world):
    world.refresh("--redist", str(world.redist))

    manifest = world.manifest("cuda/12.1.1")
    assert manifest["date"] == "2023-04-19"
    assert {
        key: [(a["source"], a["path"], a.get("version"), a.get("lacks"), a.get("unpacked")) for a in item["archives"]]
        for key, item in manifest["components"].items()
    } == {
        "cuda_cccl": [("pypi", f"nvidia_cuda_cccl_cu12-12.3.101.post1-{TAGS}.whl", None, None, 100)],
        "cuda_cudart": [
            ("redist", "cuda_cudart/linux-x86_64/a.tar.xz", None, None, None),
            (
                "pypi",
                f"nvidia_cuda_runtime_cu12-12.1.105-{TAGS}.whl",
                None,
                ["libcudart_static", "libcudadevrt"],
                100,
            ),
        ],
        "cuda_nvcc": [("pypi", f"nvidia_cuda_nvcc_cu12-12.1.105-{TAGS}.whl", None, ["nvcc"], 100)],
        "libnvjitlink": [("pypi", f"nvidia_nvjitlink_cu12-12.1.105-{TAGS}.whl", None, None, 100)],
    }


def test_a_compiler_that_cannot_link_is_told():
    from refresh.tables import read_tables
    from refresh.wheels import missing_parts

    tables = read_tables()
    assert missing_parts({"ptxas"}, "cuda_nvcc", tables) == ("nvcc",)
    assert missing_parts({"nvcc", "ptxas"}, "cuda_nvcc", tables) == ("link.stub",)
    assert missing_parts({"nvcc.exe", "link.stub"}, "cuda_nvcc", tables) == ()


def test_companions_are_by_release_without_yanked_files_and_pre_releases(world):
    world.refresh("--redist", str(world.redist))

    index = world.manifest("index")
    assert index["cudnn"] == [
        {
            "version": version,
            "date": "2023-05-01",
            "platforms": {"pypi": ["linux-x86_64"]},
            "variants": {"pypi": ["cuda12"]},
        }
        for version in ("8.9.4", "8.9.7")
    ]
    assert world.manifest("cudnn/8.9.7")["components"]["cudnn"]["version"] == "8.9.7.28"
    assert world.manifest("nccl/2.26.2")["components"]["nccl"]["version"] == "2.26.2.post1"
    assert world.manifest("compat/cudnn")["releases"][0] == {
        "version": "8.9.4",
        "builds": [
            {"variant": "cuda12", "version": "8.9.4.25", "rule": "any-minor-of-major", "sources": ["cuda_variant"]}
        ],
    }


def test_what_is_not_read_again_stays_and_what_left_the_index_goes(world):
    world.refresh("--redist", str(world.redist))
    before = world.bytes()

    world.refresh()
    assert world.bytes() == before
    world.refresh("--redist", str(world.redist), "--no-index")
    assert world.bytes() == before

    world.publish("nvidia-nccl-cu12")
    world.refresh()
    assert not (world.output / "nccl/2.26.2.toml").exists()
    assert world.manifest("index")["nccl"] == []


def test_a_pin_that_differs_is_an_error(world, tmp_path, capsys):
    path = world.redist / "cuda" / "redistrib_12.1.1.json"
    pins = tmp_path / "pins.tsv"
    pins.write_text(f"product\trelease\tsha256_of_manifest\ncuda\t12.1.1\t{'0' * 64}\n")

    assert world.refresh("--redist", str(world.redist), "--pins", str(pins), "--no-index") == 6

    found = hashlib.sha256(path.read_bytes()).hexdigest()
    assert capsys.readouterr().err == f"error: {path} has sha256 {found}, the pin says {'0' * 64}\n"
    assert read_pins(pins) == {("cuda", "12.1.1"): "0" * 64}


def test_json_on_a_server_is_found_by_its_listing(world):
    folder = world.server.folder / "compute" / "cuda" / "redist"
    shutil.copytree(world.redist / "cuda", folder)
    for product in ("cuda", "cudnn", "nccl", "cutensor", "cusparselt"):
        page = world.server.folder / "compute" / product / "redist" / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("<a href='redistrib_12.1.1.json'>redistrib_12.1.1.json</a>" if product == "cuda" else "")

    world.refresh("--redist", f"{world.server.url}/compute", "--no-index")

    assert world.manifest("cuda/12.1.1")["components"]["cuda_cudart"]["archives"][0]["source"] == "redist"


def test_every_pin_without_a_wheel_is_named(world, capsys):
    world.publish("nvidia-nvjitlink-cu12", ("12.9.86", part("nvjitlink")))
    world.publish("nvidia-cuda-nvcc-cu12")

    assert world.refresh() == 4

    assert capsys.readouterr().err == (
        "error: CUDA 12.1.1 can't be made of wheels: no wheel of nvidia-cuda-nvcc-cu12 ==12.1.105.*; "
        "no wheel of nvidia-nvjitlink-cu12 ==12.1.105.*\n"
    )


def test_a_wheel_that_lost_its_headers_is_told(world, capsys):
    world.publish("nvidia-cuda-cccl-cu12", ("12.1.109", part("bare")), ("12.3.101.post1", part("bare")))

    assert world.refresh() == 6

    assert capsys.readouterr().err.startswith(
        f"error: nvidia_cuda_cccl_cu12-12.3.101.post1-{TAGS}.whl has no nv/target\nhint: "
    )


def test_a_server_without_ranges_is_told(world, capsys):
    name = f"nvidia_cudnn_cu12-8.9.4.25-{TAGS}.whl"
    world.publish("nvidia-cudnn-cu12", ("8.9.4.25", part("cudnn", 70_000)))
    world.server.behave(f"files/{name}", Behaviour(ignore_range=True))

    assert world.refresh() == 5

    assert capsys.readouterr().err == f"error: {world.server.url}/files/{name} does not serve parts of a file\n"


def test_a_long_listing_is_read_in_two_steps(world):
    world.publish("nvidia-nccl-cu12", ("2.18.3", {f"nvidia/nccl/{'a' * 90}{number}": "" for number in range(1000)}))

    assert world.refresh() == 0

    assert world.manifest("nccl/2.18.3")["components"]["nccl"]["archives"][0]["unpacked"] == 0
    assert len([r for r in world.server.requests if r.range and "2.18.3" in r.path]) == 2


def file(name, *, yanked=False, uploaded=""):
    return IndexFile(name, f"https://host/{name}", "a" * 64, 1, uploaded, yanked)


def chosen(pin, *names):
    files = [name if isinstance(name, IndexFile) else file(name) for name in names]
    return {
        platform: wheel.file.filename for platform, wheel in pinned(wheels_of("p", files), SpecifierSet(pin)).items()
    }


def test_a_pin_takes_the_repacked_wheel_and_never_a_yanked_one():
    assert chosen(
        "==12.4.127.*",
        "p-12.4.127.post1-py3-none-manylinux2014_x86_64.whl",
        file("p-12.4.127.post2-py3-none-manylinux2014_x86_64.whl", yanked=True),
        "p-12.4.128-py3-none-manylinux2014_x86_64.whl",
        "p-12.4.127rc1-py3-none-manylinux2014_x86_64.whl",
        "p-12.4.127.tar.gz",
        "p-12.4.127-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl",
        "p-12.4.127-py3-none-win_amd64.whl",
        "p-12.4.127-py3-none-win_arm64.whl",
        "p-12.4.127-py3-none-any.whl",
    ) == {
        "linux-x86_64": "p-12.4.127.post1-py3-none-manylinux2014_x86_64.whl",
        "linux-sbsa": "p-12.4.127-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl",
        "windows-x86_64": "p-12.4.127-py3-none-win_amd64.whl",
        "windows-arm64": "p-12.4.127-py3-none-win_arm64.whl",
    }


def test_a_pinned_pre_release_is_taken():
    assert list(chosen("==13.4.46rc1", "p-13.4.46rc1-py3-none-win_amd64.whl")) == ["windows-x86_64"]


def test_of_wheels_of_one_version_the_higher_build_then_the_later_upload_counts():
    wheels = wheels_of(
        "p",
        [
            file("p-1.0-2-py3-none-manylinux1_x86_64.whl", uploaded="2020-01-01"),
            file("p-1.0-py3-none-manylinux2014_x86_64.whl", uploaded="2024-01-01"),
            file("p-1.0-py3-none-manylinux2014_aarch64.whl", uploaded="2024-11-20"),
            file("p-1.0-py3-none-manylinux_2_27_aarch64.whl", uploaded="2024-10-01"),
        ],
    )

    assert {platform: wheel.file.filename for platform, wheel in newest(wheels).items()} == {
        "linux-x86_64": "p-1.0-2-py3-none-manylinux1_x86_64.whl",
        "linux-sbsa": "p-1.0-py3-none-manylinux2014_aarch64.whl",
    }


def test_ranges_are_pinned_to_their_lower_bound():
    pins = toolkit_pins(
        wheel(requires("a<14,>=13.0.88; extra == 'all'", "b<14,>=13.4.46rc1", "c==12.1.105.*", "d; extra == 'nvcc'"))
    )

    assert {project: str(pin) for project, pin in pins.items()} == {
        "a": "==13.0.88.*",
        "b": "==13.4.46rc1",
        "c": "==12.1.105.*",
    }


def test_metapackages_are_by_release():
    names = ["0.0.0a0", "12.8.1", "12.8.2.0", "13.4.0rc1"]

    files = toolkit_files(map(file, [f"cuda_toolkit-{name}-py2.py3-none-any.whl" for name in names]))

    assert list(files) == [Version("12.8.1"), Version("12.8.2"), Version("13.4.0rc1")]
