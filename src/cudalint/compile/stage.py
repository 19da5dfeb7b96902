"""The compile stage: nvcc over each file and arch, in parallel, with results kept.

Only `.cu` files are compiled; headers are read with the files that include them.
Nothing is written below the project root: all that nvcc leaves is in a temporary
folder that goes when the stage ends. Which files and archs, the caller says; the
rules CU5 judge what comes out.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from cudalint.compile.archs import arch_order
from cudalint.compile.model import Compilation, CompiledFile
from cudalint.compile.process import Processes
from cudalint.compile.progress import Progress, Untold
from cudalint.compile.request import CompileRequest
from cudalint.compile.single import Compiler
from cudalint.compile.store import Store
from cudalint.compile.toolchain import Toolchains, find_toolchains
from cudalint.signals import LOOK_AGAIN, ended_by_signals

__all__ = ["CompileRequest", "compile_files", "find_toolchains"]


def compile_files(
    requests: Sequence[CompileRequest],
    toolchains: Toolchains,
    jobs: int,
    timeout: float,
    cache_dir: Path | None,
    *,
    warn: Callable[[str], None] = lambda message: None,
    environment: Mapping[str, str] | None = None,
    launcher: str | None = None,
    progress: Progress | None = None,
) -> list[CompiledFile]:
    """Compile every request, `jobs` at a time, each for at most `timeout` seconds.

    Requests that differ in their targets alone are compiled once. Results are in
    the order of paths, then archs, whatever the order of the requests. `warn` is
    told, once, of a cache that can't be written. `launcher` is the program that
    nvcc is called by, as `cudalint.compile.launcher` finds it; `progress` is told
    what is in work. A compile that goes wrong has a
    `failure`, and the others go on. When this is interrupted, every child process
    is ended before the exception goes on.
    """
    merged = _merged(request for request in requests if request.path.endswith(".cu"))
    if not merged:
        return []
    processes = Processes()
    stores: dict[str, Store] = {}
    if cache_dir is not None:
        folder = cache_dir / "compile"
        stores = {request.root: Store(folder, Path(request.root), warn) for request in merged}
    try:
        scratch = _scratch({request.root for request in merged}, cache_dir)
    except OSError as error:
        failure = f"no temporary folder can be made: {error.strerror}"
        return _by_file((request, _failed(request, failure)) for request in merged)
    with scratch as folder_name:
        compiler = Compiler(
            toolchains=toolchains,
            processes=processes,
            timeout=timeout,
            scratch=Path(folder_name),
            stores=stores,
            environment=os.environ if environment is None else environment,
            launcher=launcher,
        )
        watcher = Untold() if progress is None else progress
        watcher.begin(len(merged))

        def compile_one(request: CompileRequest) -> Compilation:
            watcher.started(request.path)
            try:
                return compiler.compile(request)
            finally:
                watcher.ended(request.path)

        results = _each(merged, compile_one, processes, max(1, jobs))
    for store in stores.values():
        store.prune()
    return _by_file(zip(merged, results, strict=True))


def _each(
    requests: Sequence[CompileRequest],
    compile_one: Callable[[CompileRequest], Compilation],
    processes: Processes,
    jobs: int,
) -> list[Compilation]:
    """The result of each request, in order; on an interrupt all children are killed first."""
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

    with ended_by_signals() as look:
        executor = ThreadPoolExecutor(min(jobs, len(requests)))
        try:
            # What takes long is not left for the end, when the other processors have no work.
            order = sorted(range(len(requests)), key=lambda at: -_size(requests[at]))
            submitted = {at: executor.submit(compile_one, requests[at]) for at in order}
            left = set(submitted.values())
            while left:
                done, left = wait(left, LOOK_AGAIN, FIRST_EXCEPTION)
                for future in done:
                    future.result()
                look()
            return [submitted[at].result() for at in range(len(requests))]
        except BaseException:
            processes.stop()
            raise
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def _size(request: CompileRequest) -> int:
    """The bytes of the source, which go with how long its compile takes."""
    try:
        return (Path(request.root) / request.path).stat().st_size
    except OSError:
        return 0


def _merged(requests: Iterable[CompileRequest]) -> list[CompileRequest]:
    """Requests that ask for the same compile as one, with the targets of all."""
    targets: dict[CompileRequest, dict[str, None]] = {}
    for request in requests:
        alone = msgspec.structs.replace(request, targets=())
        targets.setdefault(alone, {}).update(dict.fromkeys(request.targets))
    return [
        msgspec.structs.replace(request, targets=tuple(sorted(names)))
        for request, names in targets.items()
    ]


def _by_file(results: Iterable[tuple[CompileRequest, Compilation]]) -> list[CompiledFile]:
    files: dict[str, list[Compilation]] = {}
    for request, result in results:
        files.setdefault(request.path, []).append(result)
    return [
        CompiledFile(path, tuple(sorted(found, key=lambda c: (arch_order(c.arch), c.targets))))
        for path, found in sorted(files.items())
    ]


def _failed(request: CompileRequest, failure: str) -> Compilation:
    return Compilation(request.arch or "", request.targets, failure=failure)


def _scratch(roots: set[str], cache_dir: Path | None) -> tempfile.TemporaryDirectory[str]:
    """A temporary folder of our own, outside the tree even where the usual place is in it."""
    usual = Path(tempfile.gettempdir())
    inside = any(usual.resolve().is_relative_to(Path(root).resolve()) for root in roots)
    place = cache_dir if inside and cache_dir is not None else usual
    place.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="cudalint-", dir=place)
