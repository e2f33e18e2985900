"""The command line of `scripts/loader-truth`."""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from truth.cells import cells, chosen
from truth.compare import compare
from truth.environments import SPECS, Builder
from truth.model import predict
from truth.reality import Store, measure
from truth.table import details, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truth.cells import Cell
    from truth.environments import Spec
    from truth.table import Row

_EPILOG = """\
Each environment is built with pip, compared and removed before the next; the toolchains are installed by cvm into
the work folder, and shared. It takes 12 GB for these, up to 10 GB for an environment, and downloads both. What really
happened is kept in the work folder: a second run with --work and --env only asks cvm anew. Ends with 1 where
anything differs."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the matrix, print the table, and return the exit code."""
    options = _parser().parse_args(arguments)
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
        return run(options, options.work.resolve())
    with tempfile.TemporaryDirectory(prefix="cvm-truth-") as work:
        return run(options, Path(work))


def run(options: argparse.Namespace, work: Path) -> int:
    """Compare row by row."""
    columns = chosen(cells(work), options.cell)
    builder = Builder(work / "env", dict(options.python), dict(options.env), options.keep)
    rows: dict[str, Row] = {}
    for spec in SPECS:
        if options.only and spec.name not in options.only:
            continue
        with builder.environment(spec) as place:
            rows[spec.name] = _row(spec, place, columns, Store(work / "reality" / f"{spec.name}.json"), options)
    if options.reality:
        return 0
    print(table(rows, [cell.name for cell in columns]))
    if options.json:
        options.json.write_text(json.dumps(_document(rows), indent=1) + "\n")
    return int(not all(one.agrees for row in rows.values() for one, _ in row.values()))


def _row(spec: Spec, place: Path, columns: Sequence[Cell], store: Store, options: argparse.Namespace) -> Row:
    python = place / "bin" / "python"
    row: Row = {}
    for cell in columns:
        reality = None if options.fresh else store.get(cell, python)
        if reality is None:
            reality = measure(spec, cell, python)
            store.put(cell, reality)
        if options.reality:
            print(f"{spec.name} {cell.name}: {reality}", flush=True)
            continue
        prediction = predict(spec, cell, python)
        comparison = compare(reality, prediction, spec.libraries(place))
        row[cell.name] = (comparison, prediction)
        for line in (f"{spec.name} {cell.name}: {comparison}", *details(spec.name, cell.name, *row[cell.name])):
            print(line, flush=True)
    return row


def _document(rows: dict[str, Row]) -> dict[str, object]:
    return {
        name: {cell: {"comparison": asdict(one), "prediction": asdict(said)} for cell, (one, said) in row.items()}
        for name, row in rows.items()
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/loader-truth",
        description=__import__("truth").__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [spec.name for spec in SPECS]
    parser.add_argument("--only", nargs="+", action="extend", metavar="NAME", choices=names, help=", ".join(names))
    parser.add_argument("--cell", nargs="+", action="extend", default=[], metavar="NAME", help="only these columns")
    parser.add_argument("--work", type=Path, metavar="DIR", help="work here, and leave toolchains and results behind")
    parser.add_argument("--env", type=_pair, action="append", default=[], metavar="NAME=DIR", help="take this one")
    parser.add_argument(
        "--python", type=_named, action="append", default=[], metavar="3.10=PROGRAM", help="build with it"
    )
    parser.add_argument("--keep", action="store_true", help="leave the environments, in the work folder")
    parser.add_argument("--fresh", action="store_true", help="import again what was imported before")
    parser.add_argument("--reality", action="store_true", help="only import, and say what happened")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything here")
    return parser


def _pair(text: str) -> tuple[str, Path]:
    name, path = _named(text)
    if name not in {spec.name for spec in SPECS} or not Path(path, "bin", "python").exists():
        raise argparse.ArgumentTypeError(f"{text!r} is no row's name with the folder of an environment")
    return name, Path(path).absolute()


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value
