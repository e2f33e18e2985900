"""CVM024: the toolkit's stub of libcuda where programs run.

Must stay quiet: stubs in LIBRARY_PATH; a `stubs` folder that doesn't exist or holds no libcuda; the driver's own.
"""

from __future__ import annotations

from cvm.doctor.checks.stub_libcuda import check
from cvm.elf.found import Found, Rule
from tests.unit.doctor.environments import (
    brief,
    case,
    commands,
    consumer,
    element,
    from_variable,
    library,
    load,
    loaded,
    opened,
    torch_dist,
)

STUBS = "/usr/local/cuda/lib64/stubs"
STUB = f"{STUBS}/libcuda.so.1"
ON_PATH = element(1, STUBS, cuda=["libcuda.so", "libnvidia-ml.so"])


def judge(*path, variables=None, **more):
    return list(check(case(*more.pop("consumers", ()), path=path, variables=variables, **more)))


def test_stubs_on_the_path_are_an_error():
    (finding,) = judge(element(0, "/opt/cuda/lib64"), ON_PATH)
    assert brief([finding]) == [("CVM024", "error", "")]
    assert finding.evidence == {"winner": f"{STUBS}/libcuda.so", "culprit": f"LD_LIBRARY_PATH[1]={STUBS}"}
    assert commands(finding) == [["export", "LD_LIBRARY_PATH=/opt/cuda/lib64"], ["export", f"LIBRARY_PATH={STUBS}"]]


def test_stubs_for_the_linker_are_quiet():
    assert judge(element(0, "/opt/cuda/lib64"), variables={"LIBRARY_PATH": STUBS}) == []


def test_what_the_linker_knows_already_is_not_added():
    variables = {"LD_LIBRARY_PATH": STUBS, "LIBRARY_PATH": f"/x:{STUBS}"}
    (finding,) = judge(ON_PATH._replace(number=0), variables=variables)
    assert finding.hint == ("unset LD_LIBRARY_PATH",)
    (finding,) = judge(ON_PATH._replace(number=0), variables=variables | {"LIBRARY_PATH": "/x:/y z"})
    assert commands(finding)[1] == ["export", f"LIBRARY_PATH=/x:/y z:{STUBS}"]


def test_a_folder_of_that_name_without_libcuda_or_that_is_gone_is_quiet():
    assert judge(ON_PATH._replace(cuda=())) == []
    assert judge(ON_PATH._replace(cuda=("libcublas.so",))) == []
    assert judge(ON_PATH._replace(folder=None, cuda=())) == []
    assert judge(element(0, "/opt/stubs/lib", cuda=["libcuda.so.1"])) == []


def test_a_stub_that_wins_is_told_once():
    found = judge(element(0, "/x"), ON_PATH, libcuda=opened(STUB, from_variable(1, STUBS)))
    assert brief(found) == [("CVM024", "error", "")]
    assert found[0].evidence["winner"] == STUB
    assert commands(found[0])[0] == ["export", "LD_LIBRARY_PATH=/x"]


def test_a_stub_from_the_cache_is_an_error():
    (finding,) = judge(libcuda=opened(STUB, Found(Rule.CACHE)))
    assert finding.evidence == {"winner": STUB, "found_via": "ld.so.cache", "culprit": f"ld.so.cache: {STUBS}"}
    assert commands(finding) == []


def test_the_drivers_own_is_quiet():
    driver = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
    now = load(files=(loaded(driver), loaded(f"{STUBS}/libcublas.so")))
    libraries = {driver: library(driver, f"{driver[:-1]}550.54.14")}
    assert judge(libcuda=opened(driver), consumers=[consumer(torch_dist(), now=now, libraries=libraries)]) == []


def test_a_stub_that_a_consumer_loads_is_an_error_also_behind_a_link():
    one = consumer(torch_dist(), now=load(files=(loaded(STUB),)))
    assert brief(judge(consumers=[one, one])) == [("CVM024", "error", "")]
    path = "/opt/driver/libcuda.so.1"
    one = consumer(
        torch_dist(), now=load(files=(loaded(path),)), libraries={path: library(path, f"{STUBS}/libcuda.so")}
    )
    assert brief(judge(consumers=[one])) == [("CVM024", "error", "")]
