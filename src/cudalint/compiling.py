"""Compiling what a run has read: from paths to what nvcc said of them.

What a compile is made of is `cudalint.compile`'s business; what comes of it, that
of the rules CU5 and of `cudalint.resources`. Failures that no rule tells are told here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.compile.launcher import find_launcher
from cudalint.compile.model import Compilation, CompiledFile
from cudalint.finding import Finding, Level
from cudalint.run import Notification, Skip

if TYPE_CHECKING:
    from cudalint.compile.progress import Progress
    from cudalint.project.project import Project
    from cudalint.settings.model import Settings


class Compiled(msgspec.Struct, frozen=True):
    """What nvcc said of each file, and what is to be told of the compiling itself.

    `files` is None where there is no usable nvcc, and then `why` says so in one line.
    """

    files: tuple[CompiledFile, ...] | None
    why: str = ""
    notifications: tuple[Notification, ...] = ()
    skips: tuple[Skip, ...] = ()


def compile_project(
    paths: Iterable[str],
    root: Path,
    project: Project,
    settings: Settings,
    jobs: int,
    cache: Path | None,
    launcher: str | None = None,
    progress: Progress | None = None,
) -> Compiled:
    """Compile the `.cu` files among `paths` for all their targets, `jobs` at a time.

    No nvcc is looked for when there is nothing to compile. `launcher` is the
    command line's, and beats that of the settings; "none" is none. `progress` is
    told what is in work.
    """
    from cudalint.compile.excuse import without_excused
    from cudalint.compile.plan import plan
    from cudalint.compile.stage import compile_files, find_toolchains

    requests = plan(paths, root, project.trees, settings, project.compile_commands)
    if not requests:
        return Compiled(())
    toolchains = find_toolchains()
    if not toolchains.found:
        return Compiled(None, "; ".join(toolchains.problems) or "no nvcc")
    warnings: list[str] = []
    program, notifications = _launcher(launcher, settings, root)
    compiled = compile_files(
        requests,
        toolchains,
        jobs,
        settings.compile_timeout,
        cache,
        warn=warnings.append,
        launcher=program,
        progress=progress,
    )
    kept, skips = without_excused(compiled, project.compile_commands)
    notifications += [
        Notification("cache-unusable", Level.WARNING, warning) for warning in warnings
    ]
    return Compiled(tuple(kept), "", tuple(notifications), tuple(skips))


def untold_failures(files: Iterable[CompiledFile], findings: Sequence[Finding]) -> list[Skip]:
    """What was not judged because it does not compile, where none of the findings says so.

    CU508 says it of a file; CU505 of each compile that fails by static shared memory.
    """
    from cudalint.compile.kernels import where
    from cudalint.compile.sharedexcess import fails_by_shared_memory

    told = {finding.compiled_from for finding in findings if finding.code == "CU508"}
    refused = {f.compiled_from for f in findings if (f.code, f.message_id) == ("CU505", "static")}
    untold: dict[str, tuple[CompiledFile, list[Compilation]]] = {}
    for file in files:
        failed = [
            one
            for one in file.compilations
            if one.failure and not (file.path in refused and fails_by_shared_memory(one))
        ]
        if failed and file.path not in told:
            untold[file.path] = file, failed
    if not untold:
        return []
    first = min(untold)
    file, failed = untold[first]
    failure = failed[0].failure
    on = where((one for one in failed if one.failure == failure), file)
    more = f" and {len(untold) - 1} more" if len(untold) > 1 else ""
    why = f"it does not compile for {on}: {failure.rstrip('.')}"
    return [Skip(f"CU5 of {first}{more}", why)]


def _launcher(
    asked: str | None, settings: Settings, root: Path
) -> tuple[str | None, list[Notification]]:
    """The program that nvcc is called by. Where it is missing that is said, and done without.

    It is an error only for who asked for it on the command line.
    """
    name = asked or settings.compiler_launcher
    if name is None or name == "none":
        return None, []
    found = find_launcher(name, root, os.environ)
    if found is not None:
        return found, []
    where = "" if os.path.isabs(name) else " on PATH outside of what is linted"  # noqa: PTH117
    message = f"there is no compiler launcher '{name}'{where}: compiled without it"
    level = Level.WARNING if asked is None else Level.ERROR
    return None, [Notification("no-launcher", level, message)]
