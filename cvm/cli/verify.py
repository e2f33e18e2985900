"""`cvm verify`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context


@click.command("verify", epilog="Example: cvm verify 12.1")
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@json_option
@pass_context
def command(context: Context, specs: tuple[str, ...], *, as_json: bool) -> int:
    """Re-hash the installed files, and name those that changed, are missing or came later.

    Without a SPEC every toolchain is checked. Exit code 6 says that something changed.
    """
    from cvm.actions.verify import to_verify, verify_toolchain
    from cvm.errors import IntegrityError

    results = [verify_toolchain(toolchain) for toolchain in to_verify(specs, context.layout)]
    damaged = any(change.kind != "extra" for result in results for change in result.changes)
    if as_json:
        answer_json(
            "verify",
            intact=not damaged,
            toolchains=[
                {
                    "name": result.toolchain.name,
                    "files": result.files,
                    "changes": [{"path": change.path, "kind": change.kind} for change in result.changes],
                }
                for result in results
            ],
        )
    else:
        for result in results:
            for change in result.changes:
                answer(f"{result.toolchain.name}: {change.kind} {change.path}")
            if not result.changes:
                answer(f"{result.toolchain.name}: {result.files} files as installed")
    if damaged:
        for result in results:
            if any(change.kind != "extra" for change in result.changes):
                context.talk(f"to mend it: {result.toolchain.reinstall}")
        return IntegrityError.exit_code
    return 0
