"""LD_LIBRARY_PATH is split as the loader splits it.

Must stay quiet: a value that is empty as a whole; folders that don't exist (`/usr/local/nvidia/lib64` in images).
"""

from __future__ import annotations

import pytest

from cvm.doctor.case import PathElement
from cvm.doctor.case_path import path_elements
from cvm.elf.files import Disk
from cvm.elf.found import Rule
from cvm.elf.process import Process
from cvm.elf.runtime import Processor, read_runtime

FOLDERS = {
    "/": [],
    "/here": ["libcudart.so.12", "main.py"],
    "/here/lib": [],
    "/opt/cuda/lib64": ["libcublas.so.12", "libcublas.so.12.4.5.8", "libcudart_static.a", "libfoo.so", "stubs"],
    "/opt/cuda/lib64/stubs": ["libcuda.so", "libnvidia-ml.so"],
}


def split(value, folder="/here"):
    return path_elements(value, folder, FOLDERS.__contains__, FOLDERS.__getitem__)


def test_an_empty_value_holds_nothing():
    assert split("") == ()


def test_a_folder_is_named_with_its_cuda_libraries():
    cuda = ("libcublas.so.12", "libcublas.so.12.4.5.8")
    assert split("/opt/cuda/lib64/") == (PathElement(0, "/opt/cuda/lib64/", "/opt/cuda/lib64", cuda),)
    assert split("/opt/cuda/lib64/stubs")[0].cuda == ("libcuda.so", "libnvidia-ml.so")


def test_empty_and_relative_elements_lead_below_the_current_folder():
    here = PathElement(1, "", "/here", ("libcudart.so.12",))
    assert split("/gone::lib") == (PathElement(0, "/gone", None), here, PathElement(2, "lib", "/here/lib"))
    assert split(":") == (here._replace(number=0),)
    assert split("/") == (PathElement(0, "/", "/"),)


def test_a_semicolon_separates_too():
    assert [one.text for one in split("/gone;/here:/")] == ["/gone", "/here", "/"]


def test_the_first_of_equal_elements_counts():
    assert [(one.number, one.text) for one in split("/gone:/here:/gone/:/")] == [(0, "/gone"), (1, "/here"), (3, "/")]


@pytest.mark.parametrize("text", ["$ORIGIN/../lib", "${LIB}", "/usr/$LIB", "$PLATFORM"])
def test_an_element_with_a_token_has_no_folder(text):
    assert split(text) == (PathElement(0, text, None),)


def test_an_element_reads_as_in_a_finding():
    assert str(split("/gone:/opt/cuda/lib64")[1]) == "LD_LIBRARY_PATH[1]=/opt/cuda/lib64"


@pytest.mark.parametrize(
    "value", ["", ":", "::", "/a:", ";/a", "/a:/b;/a/:c/:c", "/:/", ":/", "//:/", "/a:$LIB/x", ".:./"]
)
def test_the_model_of_the_loader_numbers_them_alike(value):
    """What fails to be found names every place that was searched."""
    files = Disk()
    runtime = read_runtime(files, files.elf("/bin/sh").interpreter, Processor(level=1))
    process = Process("/bin/sh", runtime, files, environment={"LD_LIBRARY_PATH": value})
    places = process.dlopen("libnowhere.so.99").failure.libraries[0].places
    searched = [(p.found.number, p.found.element) for p in places if p.found.rule is Rule.ENVIRONMENT]
    assert [(one.number, one.text) for one in split(value)] == searched
