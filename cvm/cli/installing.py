"""Installing for a person: the plan shown, the lock taken, progress drawn, the outcome told."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from cvm.actions.choose import choose
from cvm.actions.copy import copy_tree, tree_name
from cvm.actions.install import Tools, install, installed_as_planned, licenses
from cvm.actions.planning import AUTO, InstallPlan, measure
from cvm.actions.prepare import drop_damaged, prepare
from cvm.actions.switch import switch
from cvm.catalog import Catalog
from cvm.cli.context import answer, human_size
from cvm.cli.locking import hold
from cvm.cli.machine import native_platform, now, this_platform
from cvm.cli.plans import describe, plan_lines
from cvm.core.local import LocalArchives
from cvm.core.platform import native_name, parse_platform
from cvm.core.resolve import Choices
from cvm.errors import CvmError, UsageError
from cvm.prefix.receipt import read_receipt
from cvm.settings import Settings
from cvm.sources.local import local_archives
from cvm.sources.servers import Servers
from cvm.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cvm.cli.context import Context
    from cvm.cli.options import Options
    from cvm.core.request import Request
    from cvm.fetch import Event


class Installer:
    """Installs one request after the other with the same options."""

    def __init__(self, context: Context, options: Options, *, talk: bool) -> None:
        self._context = context
        self._options = options
        self._talk = talk
        self._catalog = Catalog(context.layout)

    def install(self, request: Request) -> dict[str, object]:
        """Install a request, or print its plan; returns what JSON says of it."""
        tools = self._tools
        plan = prepare(request, self._catalog, self._choices(), tools, reinstall=self._options.reinstall)
        for note in plan.plan.notes:
            self._context.talk(note)
        if self._options.dry_run:
            self._answer(plan_lines(plan))
            return self._describe(plan, "planned")
        with hold(self._context):
            return self._install_locked(measure(plan.plan, tools.store, tools.layout, tools.local), tools)

    def copy(self, request: Request) -> dict[str, object]:
        """Install the toolkit at --from as a copy."""
        path = self._options.path
        assert path is not None
        for option, given in (("--platform", self._options.platform), ("--component", self._options.components)):
            if given:
                raise UsageError(f"{option} does not go with {path}: a toolkit's folder is copied whole")
        name, receipt = tree_name(path, request)
        target = self._context.layout.toolchain(name)
        status = "planned" if self._options.dry_run else "installed"
        if not self._options.dry_run:
            with hold(self._context):
                if read_receipt(target) is not None and not self._options.reinstall:
                    raise UsageError(f"{name} is installed already", hint=self._options.again(name))
                copy_tree(path, replace(receipt, platform=this_platform(), created=now()), self._context.layout)
        self._answer([f"{'would copy' if status == 'planned' else 'copied'} {path} to {target}"])
        return {"name": name, "prefix": str(target), "status": status}

    def _install_locked(self, plan: InstallPlan, tools: Tools) -> dict[str, object]:
        prefix = tools.layout.toolchain(plan.plan.name)
        there = installed_as_planned(plan.plan, tools.layout)
        if there is not None and not self._options.reinstall:
            if not there:
                self._context.talk(
                    f"{plan.plan.name} is installed with another profile, source or other components; "
                    f"to change it: {self._options.again(native_name(plan.plan.name, plan.plan.platform))}"
                )
            self._answer([f"{plan.plan.name} is installed at {prefix}"])
            return self._describe(plan, "present")
        if self._options.reinstall:
            for name in drop_damaged(plan.plan, tools):
                self._context.talk(f"{name} was damaged in the store, and is fetched again")
            plan = measure(plan.plan, tools.store, tools.layout, tools.local)
        self._announce(plan)
        with self._progress(plan) as draw:
            install(plan, self._catalog.products, replace(tools, on_event=draw), now())
        self._answer([f"installed {plan.plan.name} at {prefix}"])
        self._foretell(plan)
        return self._describe(plan, "installed")

    def _foretell(self, plan: InstallPlan) -> None:
        """Tell what `use` would: better known now than in the middle of something."""
        if plan.plan.platform == native_platform():
            with suppress(CvmError):
                chosen = choose(plan.plan.name, self._context.layout)
                for note in switch(chosen, self._context.environment, self._context.layout, None).notes:
                    self._context.talk(f"with `cvm use {chosen.name}` here, {note}")

    def _describe(self, plan: InstallPlan, status: str) -> dict[str, object]:
        return describe(plan, self._catalog, status, str(self._context.layout.toolchain(plan.plan.name)))

    def _announce(self, plan: InstallPlan) -> None:
        agreed = {entry.name: entry.url for entry in licenses(plan.plan, self._catalog.products)}
        text = "; ".join(f"{name} ({url})" for name, url in agreed.items())
        self._context.talk(f"installing means agreeing to the {text}")
        if plan.missing:
            self._context.talk(
                f"{len(plan.missing)} of {len(plan.plan.archives)} archives to fetch: "
                f"{human_size(plan.sizes.download)}, {'about ' if plan.sizes.estimated else ''}"
                f"{human_size(plan.sizes.unpacked)} on disk"
            )

    def _progress(self, plan: InstallPlan) -> AbstractContextManager[Callable[[Event], None]]:
        from cvm.cli.progress import Lines, Notes

        names = {i.archive.sha256: f"{i.component} {i.version}" for i in plan.missing}
        if not self._context.moves:
            return nullcontext(Notes(names, self._context.talk))
        return Lines(names, {i.archive.sha256: i.archive.size for i in plan.missing})

    @cached_property
    def _tools(self) -> Tools:
        layout = self._context.layout
        servers = Servers(Settings.from_environment(self._context.environment))
        local = local_archives(self._options.path) if self._options.path else LocalArchives({})
        return Tools(layout, Store(layout), servers, local, _ignore)

    def _choices(self) -> Choices:
        options = self._options
        return Choices(
            platform=parse_platform(options.platform) if options.platform else this_platform(),
            sources=AUTO if options.source == "auto" else (options.source,),
            profile=options.profile,
            components=tuple(name.replace("-", "_") for name in options.components),
            native=native_platform(),
        )

    def _answer(self, lines: Iterable[str]) -> None:
        if self._talk:
            for line in lines:
                answer(line)


def _ignore(_: Event) -> None:
    return None
