"""`cvm which`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context


@click.command("which", epilog="Example: cvm which nvcc")
@click.argument("tool")
@click.option("--prefix", "as_prefix", is_flag=True, hidden=True, help="TOOL is a request: print its prefix.")
@json_option
@pass_context
def command(context: Context, tool: str, *, as_prefix: bool, as_json: bool) -> None:
    """Say where a CUDA tool is: in the selected toolchain, else on PATH.

    The path is the answer; stderr says which toolchain it is of, and what selected that one.
    """
    from cvm.actions.choose import choose

    if as_prefix:
        answer(choose(tool, context.layout).prefix)
        return
    path, name, origin = _find(context, tool)
    if as_json:
        answer_json("which", tool=tool, path=path, toolchain=name, origin=origin)
        return
    context.talk(f"{name or 'system'} ({f'set by {origin}' if origin else 'nothing is selected'})")
    answer(path)


def _find(context: Context, tool: str) -> tuple[str, str | None, str | None]:
    from cvm.actions.choose import choose_selected
    from cvm.actions.tool import having, tool_in, tool_on_path
    from cvm.errors import ToolMissingError, UsageError
    from cvm.selected import selection

    if "/" in tool or not tool:
        raise UsageError(f"`{tool}` is not the name of a tool", hint="cvm which nvcc")
    chosen = selection(context.layout, context.environment, context.folder)
    if chosen is not None and not chosen.is_system:
        toolchain, said = choose_selected(chosen, context.layout)
        return str(tool_in(toolchain.prefix, tool, said, context.layout)), toolchain.name, chosen.origin
    found = tool_on_path(tool, context.environment.get("PATH", ""), context.layout)
    if found is None:
        said = chosen.of("system") if chosen else "no toolchain is selected"
        names = having(tool, context.layout)
        hint = f"cvm use NAME, where NAME is one of {names}" if names else "no installed toolchain has it"
        raise ToolMissingError(f"{tool} is not on PATH outside cvm's shims ({said})", hint=hint)
    return str(found), None, chosen.origin if chosen else None
