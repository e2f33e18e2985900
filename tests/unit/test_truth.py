"""`scripts/loader-truth`: what counts as agreement, and how a real process is asked."""

import subprocess
import sys

import pytest
from truth.cells import Cell, only_cudnn
from truth.compare import Folders, compare, counting, winners
from truth.environments import Builder, Spec
from truth.model import Prediction, prediction
from truth.reality import MappedFile, Phase, Reality, Store, measure
from truth.table import details, table

PACKAGES = "/env/lib/python3.11/site-packages"
TORCH = f"{PACKAGES}/torch/lib/libtorch_cuda.so"
CUBLAS = f"{PACKAGES}/nvidia/cublas/lib/libcublas.so.12"
FOLDERS = Folders((f"{PACKAGES}/torch",), (f"{PACKAGES}/nvidia",))
MODULE, HELPER = f"{PACKAGES}/torch/_without_cuda.so", f"{PACKAGES}/torch/lib/libhelper.so"
LIBC = "/lib/libc.so.6"
NUMPY = f"{PACKAGES}/numpy/_core/_multiarray_umath.so"
FORTRAN = f"{PACKAGES}/numpy.libs/libgfortran.so.5"
FILES = {
    TORCH: ("libtorch_cuda.so", ("libcublas.so.12", "libc.so.6")),
    CUBLAS: ("libcublas.so.12", ("libc.so.6",)),
    LIBC: ("libc.so.6", ()),
    MODULE: (None, ("libhelper.so", "libc.so.6")),
    HELPER: ("libhelper.so", ()),
    NUMPY: (None, ("libgfortran.so.5", "libc.so.6")),
    FORTRAN: ("libgfortran.so.5", ()),
}
MAPPED = tuple(MappedFile(path, soname, needed) for path, (soname, needed) in FILES.items())
WANTED = (TORCH, CUBLAS, LIBC)
MISSING = "ImportError: libcublas.so.12: cannot open shared object file: No such file or directory"


def real(error=None, use_error=None, mapped=MAPPED, used=MAPPED, folders=()):
    use = None if error else Phase(use_error, use_error or "", None, used)
    return Reality("/env/bin/python", folders, Phase(error, error or "", None, mapped), use, "")


def said(error=None, first_use_error=None, imported=WANTED, loaded=WANTED, verdict=None, **others):
    verdict = verdict or ("error" if error or first_use_error else "ok")
    return Prediction(verdict, (), error, first_use_error, imported, loaded, **others)


@pytest.mark.parametrize(
    ("reality", "prediction", "marks"),
    [
        (real(), said(), "TN TN"),
        (real(MISSING), said(MISSING), "TP"),
        (real(MISSING), said(MISSING.removeprefix("ImportError: ")), "TPt"),
        (real(), said(MISSING), "FPt"),
        (real(MISSING), said(), "FNt !"),
        (real(use_error="RuntimeError: no"), said(first_use_error="RuntimeError: no"), "TN TP"),
        (real(use_error="RuntimeError: no"), said(first_use_error="RuntimeError: nay"), "TN TPt"),
        (real(use_error="RuntimeError: no"), said(), "TN FNt !"),
        (real(), said(first_use_error="RuntimeError: no"), "TN FPt"),
        (real(MISSING), said(MISSING, verdict="warning"), "TP !"),
        (real(use_error="RuntimeError: no"), said(first_use_error="RuntimeError: no", verdict="warning"), "TN TP"),
        (real(use_error="RuntimeError: no"), said(first_use_error="RuntimeError: no", verdict="ok"), "TN TP !"),
        (real(), said(broken="no JSON"), "!"),
    ],
)
def test_a_cell_is_marked_by_how_both_sides_end(reality, prediction, marks):
    comparison = compare(reality, prediction, FOLDERS)
    assert str(comparison) == marks.strip()
    assert comparison.agrees == (not set(marks) & set("Ft!"))


def test_only_what_the_consumer_brings_counts():
    assert [one.path for one in counting(MAPPED, FOLDERS)] == [TORCH, CUBLAS, LIBC]


def test_a_file_from_the_path_counts_although_it_is_nobodys():
    folders = ("/opt/lib",)
    stray = MappedFile("/opt/lib/libstray.so.1", "libstray.so.1", ())
    lines = winners((*MAPPED, stray), WANTED, FOLDERS._replace(cuda=(*FOLDERS.cuda, *folders)))
    assert lines == ["not foreseen: /opt/lib/libstray.so.1"]
    assert str(compare(real(mapped=(*MAPPED, stray), folders=folders), said(), FOLDERS)) == "TNw TN"


def test_the_wrong_winner_is_named_with_the_right_one():
    stray = "/opt/lib/libcublas.so.12"
    assert winners(MAPPED, (TORCH, stray, LIBC), FOLDERS) == [
        f"not foreseen: {CUBLAS}, but {stray}",
        f"foreseen, not loaded: {stray}, but {CUBLAS}",
    ]


def test_a_missing_driver_is_where_a_first_use_without_a_gpu_ends(environment):
    words = (
        "FAIL : Failed to load library /x/libonnxruntime_providers_cuda.so with error: {}: cannot open shared object"
    )
    packages = next(environment.glob("lib/python3*/site-packages"))
    for library in ("libcuda.so.1", "libcublasLt.so.13"):
        (packages / "prints.py").write_text(f"import sys\nprint({words.format(library)!r}, file=sys.stderr)\n")
        used = outcome(environment, "prints").used
        assert used.text == words.format(library).removeprefix("FAIL : ")
        assert used.error == (None if library == "libcuda.so.1" else used.text)


def test_every_file_that_is_foreseen_for_the_import_must_be_loaded():
    more = (*WANTED, f"{PACKAGES}/other/libother.so")
    assert str(compare(real(), said(imported=more, loaded=more), FOLDERS)) == "TNw TN"
    assert str(compare(real(), said(loaded=more), FOLDERS)) == "TN TN", "a GPU may be what it takes to load the rest"


def test_a_file_of_the_first_use_must_be_foreseen():
    late = MappedFile(f"{PACKAGES}/nvidia/cudnn/lib/libcudnn_graph.so.9", "libcudnn_graph.so.9", ())
    assert str(compare(real(used=(*MAPPED, late)), said(), FOLDERS)) == "TN TNw"
    assert str(compare(real(used=(*MAPPED, late)), said(loaded=(*WANTED, late.path)), FOLDERS)) == "TN TN"


def test_links_lead_to_the_same_file(tmp_path):
    file, link = tmp_path / "real" / "libx.so.1", tmp_path / "link"
    file.parent.mkdir()
    file.touch()
    link.symlink_to("real")
    assert winners([MappedFile(str(file), None, ())], [str(link / "libx.so.1")], Folders((), (str(link),))) == []


def test_the_table_counts_what_agrees():
    good, bad = compare(real(), said(), FOLDERS), compare(real(), said(MISSING), FOLDERS)
    lines = table({"torch-1": {"nothing": (good, said()), "12.1": (bad, said(MISSING))}}, ["nothing", "12.1"])
    assert lines.splitlines()[:4] == [
        "         nothing  12.1",
        "torch-1  TN TN    FPt",
        "",
        "1 of 2 cells agree; 0 TP, 2 TN, 1 FP, 0 FN; other words 1, other files 0, other disagreements 0",
    ]


def test_a_verdict_that_only_a_gpu_could_confirm_is_told():
    prediction = said(verdict="error")
    lines = list(details("torch-1", "12.1", compare(real(), prediction, FOLDERS), prediction))
    assert lines == ["torch-1 12.1: note: works without a GPU, and the verdict is error: "]


def test_the_prediction_is_the_packages_own():
    other = {"name": "torchvision", "error": "no", "libraries": []}
    torch = {
        "name": "torch",
        "error": None,
        "first_use_error": "RuntimeError: no",
        "imported": 1,
        "libraries": [{"path": TORCH}, {"path": CUBLAS}],
    }
    document = {"verdict": "error", "findings": [{"code": "CVM001"}], "consumers": [other, torch], "unknown": ["x"]}
    assert prediction(document, "torch") == Prediction(
        "error", ("CVM001",), None, "RuntimeError: no", (TORCH,), (TORCH, CUBLAS), ("x",)
    )
    assert prediction(document, "jax").broken == "no consumer jax"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment with packages that work, raise, and end the process."""
    place = tmp_path_factory.mktemp("env") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    packages = next(place.glob("lib/python3*/site-packages"))
    (packages / "works.py").write_text("import ctypes\nctypes.CDLL('libm.so.6')\n")
    (packages / "raises.py").write_text("raise ImportError('libx.so.1: of two\\nlines')\n")
    (packages / "dies.py").write_text("import os, sys\nprint('Assertion failed', file=sys.stderr)\nos.abort()\n")
    return place


def outcome(environment, package, folders=()):
    spec = Spec(package, package, "3", ())
    return measure(spec, Cell("cell", tuple(folders)), environment / "bin" / "python")


def test_a_real_process_tells_what_is_loaded(environment):
    found = outcome(environment, "works")
    assert (found.imported.error, found.used.error) == (None, None)
    libm = next(one for one in found.imported.mapped if one.soname == "libm.so.6")
    assert libm.path.startswith("/")
    assert libm.needed == ("libc.so.6",) or "ld-linux" in " ".join(libm.needed)


def test_a_real_process_tells_the_last_line(environment):
    found = outcome(environment, "raises")
    assert (found.imported.error, found.imported.text) == ("lines", "ImportError: libx.so.1: of two\nlines")
    assert found.used is None


def test_a_process_that_a_signal_ends_is_an_outcome(environment):
    found = outcome(environment, "dies")
    assert (found.imported.error, found.imported.text) == ("Assertion failed", "ended by SIGABRT")


def test_what_happened_is_kept_for_the_same_environment_and_folders(environment, tmp_path):
    python, cell = environment / "bin" / "python", Cell("cell", ("/opt/lib",))
    found = outcome(environment, "works", cell.folders)
    Store(tmp_path / "works.json").put(cell, found)
    assert Store(tmp_path / "works.json").get(cell, python) == found
    assert Store(tmp_path / "works.json").get(Cell("cell", ("/opt/lib2",)), python) is None
    assert Store(tmp_path / "works.json").get(cell, tmp_path / "python") is None


def test_cudnn_gets_a_folder_of_its_own(tmp_path):
    libraries = tmp_path / "lib"
    libraries.mkdir()
    for name in ("libcudnn.so.9.1.1", "libcudart.so.12"):
        (libraries / name).write_text(name)
    (libraries / "libcudnn.so.9").symlink_to("libcudnn.so.9.1.1")
    folder = only_cudnn(libraries, tmp_path / "cudnn" / "9.1")
    assert sorted(path.name for path in folder.iterdir()) == ["libcudnn.so.9", "libcudnn.so.9.1.1"]
    assert (folder / "libcudnn.so.9").resolve() == folder / "libcudnn.so.9"


def test_an_environment_that_is_given_is_left_alone_and_a_built_one_goes(tmp_path):
    given = tmp_path / "given"
    given.mkdir()
    spec = Spec("torch-1", "torch", "3", ())
    with Builder(tmp_path / "env", {}, {"torch-1": given}).environment(spec) as place:
        assert place == given
    assert given.is_dir()
    built = tmp_path / "env" / "torch-1"
    built.mkdir(parents=True)
    (built / ".complete").touch()
    with Builder(tmp_path / "env", {}, {}).environment(spec) as place:
        assert place == built
    assert not built.exists()
