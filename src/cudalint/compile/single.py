"""One compile: from a request to a Compilation, by way of the kept results.

The command line is `cudalint.compile.command`, running it
`cudalint.compile.process`, reading what comes out `cudalint.compile.leavings`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from cudalint.compile.command import Command, Refusal, build_command
from cudalint.compile.environment import clean_environment
from cudalint.compile.key import result_key
from cudalint.compile.launcher import ENVIRONMENT
from cudalint.compile.leavings import Leavings
from cudalint.compile.model import Compilation
from cudalint.compile.process import Outcome, Processes
from cudalint.compile.request import CompileRequest
from cudalint.compile.store import Store
from cudalint.compile.toolchain import Toolchain, Toolchains


class Compiler:
    """What all compiles of one run share. `compile` may be called from several threads.

    `stores` has one for each project root, none at all without a cache.
    `launcher` is the program that nvcc is called by, if any.
    """

    def __init__(
        self,
        toolchains: Toolchains,
        processes: Processes,
        timeout: float,
        scratch: Path,
        stores: Mapping[str, Store],
        environment: Mapping[str, str],
        launcher: str | None = None,
    ) -> None:
        self._toolchains = toolchains
        self._processes = processes
        self._timeout = timeout
        self._scratch = scratch
        self._stores = stores
        self._environment = environment
        self._launcher = launcher

    def compile(self, request: CompileRequest) -> Compilation:
        """Compile one request, or find its result; what goes wrong is the result's `failure`."""
        toolchain = self._toolchains.choose(request.arch)
        if toolchain is None:
            versions = ", ".join(found.version for found in self._toolchains.found) or "none"
            return _failed(request, f"no nvcc knows {request.arch} (found: {versions})")
        try:
            with TemporaryDirectory(dir=self._scratch, ignore_cleanup_errors=True) as folder:
                in_two = self._launcher is not None
                command = build_command(request, Path(folder), in_two=in_two)
                if isinstance(command, Refusal):
                    return _failed(request, command.why)
                return self._kept_or_run(request, toolchain, command)
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            return _failed(request, f"nvcc can't be run ({error.strerror or error}{where})")

    def _kept_or_run(
        self, request: CompileRequest, toolchain: Toolchain, command: Command
    ) -> Compilation:
        store = self._stores.get(request.root)
        if store is None:
            return self._run(request, toolchain, command).compilation()
        key = result_key(request, toolchain, command, self._environment)
        kept = store.find(key)
        if kept is not None:
            return msgspec.structs.replace(kept, targets=request.targets)
        # By the clock that stamps files, which lags behind the one that tells the time.
        started = command.folder.stat().st_mtime
        leavings = self._run(request, toolchain, command)
        result = leavings.compilation()
        # A clock that was put back meanwhile hides which files have changed since.
        os.utime(command.folder)
        if not result.failure and command.folder.stat().st_mtime >= started:
            unnamed = msgspec.structs.replace(result, targets=())
            store.keep(key, leavings.reading(started), unnamed)
        return result

    def _run(self, request: CompileRequest, toolchain: Toolchain, command: Command) -> Leavings:
        environment = clean_environment(self._environment, command.folder)

        def run(*words: str) -> Outcome:
            return self._processes.run(
                words, timeout=self._timeout, folder=command.folder, environment=environment
            )

        def disassemble(cubin: Path) -> str:
            if toolchain.nvdisasm is None:
                return ""
            outcome = run(toolchain.nvdisasm, "-gi", "-c", str(cubin))
            return outcome.output if outcome.ok else ""

        if self._launcher is None:
            outcome = run(toolchain.nvcc, *command.arguments)
        else:
            environment |= ENVIRONMENT
            outcome = run(self._launcher, toolchain.nvcc, *command.arguments)
        if outcome.ok and command.rest is not None:
            rest = run(toolchain.nvcc, *command.rest)
            outcome = msgspec.structs.replace(rest, output=outcome.output + rest.output)
        return Leavings(request, toolchain, command, outcome, self._timeout, disassemble)


def _failed(request: CompileRequest, failure: str) -> Compilation:
    return Compilation(request.arch or "", request.targets, failure=failure)
