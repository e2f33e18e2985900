from __future__ import annotations

import hashlib
import json

from cvm.archive import unpack
from cvm.core.entry import StoredFile
from tests.fakes.redist import LICENSE, members_of_wheel, publish, publish_cudnn, publish_toolkit, wheel_bytes
from tests.fakes.toolkit import cudnn, library, text


def test_a_published_release_is_what_its_json_says(tmp_path):
    published = publish_toolkit(tmp_path, "12.1.1")
    document = json.loads(published.manifest.read_text())
    assert published.manifest == tmp_path / "compute/cuda/redist/redistrib_12.1.1.json"
    for key, path in published.archives.items():
        described = document[key]["linux-x86_64"]
        assert published.manifest.parent / described["relative_path"] == path
        assert described["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert described["size"] == str(path.stat().st_size)


def test_variants_of_a_companion_stand_side_by_side(tmp_path):
    publish_cudnn(tmp_path, "8.9.4.25", "cuda11")
    document = json.loads(publish_cudnn(tmp_path, "8.9.4.25", "cuda12").manifest.read_text())
    assert document["cudnn"]["cuda_variant"] == ["11", "12"]
    assert sorted(document["cudnn"]["linux-x86_64"]) == ["cuda11", "cuda12"]


def test_archives_are_the_same_each_time_and_unpack(tmp_path):
    first, second = (
        publish(tmp_path / n, "cuda", "1.0", {"cuda_x": ("1.0", {"bin/x": text("x")})}).archives["cuda_x"] for n in "ab"
    )
    assert first.read_bytes() == second.read_bytes()
    (tmp_path / "out").mkdir()
    files = unpack([first.read_bytes()], first.name, tmp_path / "out")
    top = "cuda_x-linux-x86_64-1.0-archive"
    assert {(file.path, file.size) for file in files} == {(f"{top}/LICENSE", len(LICENSE.data)), (f"{top}/bin/x", 1)}
    assert isinstance(files[0], StoredFile)


def test_a_wheel_has_neither_links_nor_stubs_and_can_become_an_archive_again(tmp_path):
    wheel = tmp_path / "nvidia_cudnn_cu12-8.9.4.25-py3-none-manylinux1_x86_64.whl"
    wheel.write_bytes(wheel_bytes("nvidia_cudnn_cu12", "8.9.4.25", cudnn("8.9.4.25"), folder="cudnn"))
    assert members_of_wheel(wheel, "cudnn", "8.9.4", "12.1.1").keys() == cudnn("8.9.4.25").keys()
    assert (
        members_of_wheel(wheel, "cudnn", "8.9.4", "12.1.1")["lib/libcudnn.so.8.9.4"].data
        == library("libcudnn.so.8", "cudnnGetVersion").data
    )
