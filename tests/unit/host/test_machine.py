from __future__ import annotations

import pytest

from cvm.core.machine import Machine
from cvm.elf.files import Disk
from cvm.host.machine import read_machine

PROPRIETARY = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\nGCC version:  gcc version 12.3.0\n"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  555.42.06  Release Build  (root@x)  Tue Jun  4 00:35:51 UTC 2024\n"
NOTHING = Machine(gpu=False)


def machine(root, files, *, live=True):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            path.symlink_to(content[3:])
        else:
            path.write_text(content)
    return read_machine(Disk(str(root)), live=live)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, NOTHING),
        ({"dev/null": "", "dev/nvidia-uvm": "", "dev/nvidia0-gone": ""}, NOTHING),
        ({"dev/nvidia0": ""}, NOTHING._replace(gpu=True)),
        ({"dev/nvidiactl": ""}, NOTHING._replace(gpu=True)),
        ({"proc/driver/nvidia/version": PROPRIETARY}, Machine(gpu=True, driver="550.54.14")),
        ({"proc/driver/nvidia/version": OPEN}, Machine(gpu=True, driver="555.42.06")),
        ({"dev/nvidia0": "", "proc/driver/nvidia/version": "other words"}, NOTHING._replace(gpu=True)),
        (
            {"usr/lib/x86_64-linux-gnu/libcuda.so.535.104.05": "", "usr/lib/x86_64-linux-gnu/libcuda.so.1": "-> libcuda.so.535.104.05"},
            Machine(gpu=False, driver="535.104.05"),
        ),
        ({"usr/lib64/libcuda.so.1": ""}, NOTHING),
        ({"usr/lib64/libcuda.so.1.1": "", "usr/lib64/libcuda.so.1": "-> libcuda.so.1.1"}, NOTHING),
        ({"dev/dxg": "", "proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n"}, Machine(gpu=False, wsl=True)),
        (
            {"dev/dxg": "", "proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n", "usr/lib/wsl/lib/libcuda.so.1": "not a link"},
            Machine(gpu=True, wsl=True),
        ),
        ({"proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft\n"}, Machine(gpu=False, wsl=True)),
        ({"etc/nv_tegra_release": "# R35 (release)", "dev/nvhost-gpu": ""}, Machine(gpu=True, tegra=True)),
        ({"proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit\0"}, Machine(gpu=False, tegra=True)),
        ({"proc/device-tree/model": "Raspberry Pi 4\0"}, NOTHING),
    ],
)  # fmt: skip
def test_what_the_files_show(tmp_path, files, expected):
    assert machine(tmp_path, files) == expected


def test_an_image_tells_nothing_of_the_gpu(tmp_path):
    assert machine(tmp_path, {"dev/nvidia0": ""}, live=False).gpu is None
    assert read_machine(Disk(str(tmp_path))).gpu is None
    assert read_machine(Disk()).gpu is not None
