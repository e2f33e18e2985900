"""CVM026: elements of LD_LIBRARY_PATH that aren't the folders which somebody meant.

Must stay quiet: an empty value; absolute folders that don't exist (`/usr/local/nvidia/lib64` in NVIDIA's images);
several toolkits; what the loader itself replaces (`$ORIGIN`, `$LIB`).
"""

from __future__ import annotations

import pytest

from cvm.doctor.case_path import path_elements
from cvm.doctor.checks.path_elements import check
from tests.unit.doctor.environments import brief, case, commands

FOLDERS = {"/here": ["main.py"], "/cuda": ["libcudart.so.12"], "/cuda/lib": ["libcublas.so.12"], "/opt/lib": []}


def judge(value, folder="/here"):
    path = path_elements(value, folder, FOLDERS.__contains__, FOLDERS.__getitem__)
    return list(check(case(path=path, variables={"LD_LIBRARY_PATH": value})))


@pytest.mark.parametrize("value", ["/opt/lib:", ":/opt/lib", "/opt/lib::/cuda", ":", ";", "/opt/lib;"])
def test_an_empty_element_is_a_note(value):
    (finding,) = judge(value)
    assert brief([finding]) == [("CVM026", "note", "")]
    assert "files" not in finding.evidence


def test_an_empty_element_where_cuda_lies_is_a_warning():
    (finding,) = judge("/opt/lib:", "/cuda")
    assert brief([finding]) == [("CVM026", "warning", "")]
    assert finding.summary == (
        "for the empty element LD_LIBRARY_PATH[1]= of LD_LIBRARY_PATH the loader looks in the current folder, "
        "where libcudart.so.12 lies right now"
    )
    assert finding.evidence == {"culprit": "LD_LIBRARY_PATH[1]=", "files": ("/cuda/libcudart.so.12",)}
    assert commands(finding) == [["export", "LD_LIBRARY_PATH=/opt/lib"]]


@pytest.mark.parametrize(("folder", "severity"), [("/cuda", "warning"), ("/here", "note")])
def test_a_relative_element_is_told(folder, severity):
    (finding,) = judge("/opt/lib:lib", folder)
    assert brief([finding]) == [("CVM026", severity, "")]
    assert finding.evidence["culprit"] == "LD_LIBRARY_PATH[1]=lib"
    assert commands(finding) == [["export", "LD_LIBRARY_PATH=/opt/lib"]]


@pytest.mark.parametrize(
    "value", ["", "/opt/lib", "/opt/lib:/cuda:/cuda/lib", "/usr/local/nvidia/lib:/gone", "/opt/lib/"]
)
def test_folders_are_quiet_whether_they_exist_or_not(value):
    assert judge(value, "/cuda") == []


@pytest.mark.parametrize("text", ["$ORIGIN/../lib", "${ORIGIN}", "$LIB", "/usr/$LIB/x", "${PLATFORM}/x"])
def test_what_the_loader_replaces_is_quiet(text):
    assert judge(text) == []


@pytest.mark.parametrize(
    "text",
    ["$LD_LIBRARY_PATH", "${CUDA_HOME}/lib64", "~/cuda/lib64", "/opt/$CUDA/lib64", '"/opt/lib"', "'/opt/lib", "$(pwd)"],
)
def test_what_no_shell_has_expanded_is_one_note(text):
    (finding,) = judge(f"/opt/lib:{text}", "/cuda")
    assert brief([finding]) == [("CVM026", "note", "")]
    assert finding.evidence == {"culprit": f"LD_LIBRARY_PATH[1]={text}"}
    assert commands(finding) == [["export", "LD_LIBRARY_PATH=/opt/lib"]]


def test_each_kind_is_told_once():
    assert len(judge("::lib::lib/:$X:")) == 3
