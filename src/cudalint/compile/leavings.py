"""What one run of nvcc left behind, read into a Compilation.

Its words, the PTX, the dependency file and, for what spills, the disassembled
cubin. Each format has a module of its own; nothing is judged here.
"""

from __future__ import annotations

import posixpath
import signal
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import msgspec

from cudalint.compile.command import Command
from cudalint.compile.demangle import demangle
from cudalint.compile.depfile import read_dependencies
from cudalint.compile.frontend import read_complaints
from cudalint.compile.model import Compilation, Diagnostic, FunctionResources, SpillLine
from cudalint.compile.place import Placer, relative_path
from cudalint.compile.process import Outcome
from cudalint.compile.ptx import EntryBounds, LineTable, read_bounds, read_local_arrays
from cudalint.compile.ptxas import PtxasOutput, read_ptxas
from cudalint.compile.request import CompileRequest
from cudalint.compile.sass import read_spill_lines
from cudalint.compile.store import Reading
from cudalint.compile.toolchain import Toolchain

_SAYS_NO_HOST_COMPILER = "Failed to preprocess host compiler properties"
_LAST_WORDS = 200
_NO_BOUNDS = EntryBounds(None, None)


class Leavings:
    """The outcome of `command`, with the files in its folder while that is there.

    `disassemble` gives nvdisasm's text of a cubin, "" when there is none.
    """

    def __init__(
        self,
        request: CompileRequest,
        toolchain: Toolchain,
        command: Command,
        outcome: Outcome,
        timeout: float,
        disassemble: Callable[[Path], str],
    ) -> None:
        self._request = request
        self._root = Path(request.root)
        self._toolchain = toolchain
        self._command = command
        self._outcome = outcome
        self._words = "" if outcome.how == "output" else outcome.output
        self._timeout = timeout
        self._disassemble = disassemble

    def compilation(self) -> Compilation:
        """All of it, put together."""
        request = self._request
        ptxas = read_ptxas(self._words, request.arch or "")
        diagnostics = self._diagnostics(ptxas)
        functions = self._functions(ptxas)
        arch = request.arch or (functions[0].arch if functions else "")
        return Compilation(
            arch=arch,
            targets=request.targets,
            functions=functions,
            diagnostics=diagnostics,
            failure=self._failure(diagnostics, functions),
            dependencies=self._dependencies[0],
            nvcc=self._toolchain.version,
        )

    def reading(self, started: float) -> Reading:
        """What the compile, begun at `started`, depends on."""
        inside, outside = self._dependencies
        includes = [relative_path(path, self._root) or path for path in self._command.includes]
        folders = {posixpath.dirname(path) for path in inside} | set(includes)
        return Reading(inside, outside, tuple(sorted(folders)), started)

    @cached_property
    def _ptx(self) -> str:
        texts = (file.read_text("utf-8", "replace") for file in self._command.ptx())
        return "\n".join(texts)

    @cached_property
    def _bounds(self) -> dict[str, EntryBounds]:
        return read_bounds(self._ptx)

    @cached_property
    def _dependencies(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files read: those of the project, relative to its root, and all others."""
        try:
            text = self._command.listing.read_text("utf-8", "surrogateescape")
        except FileNotFoundError:
            return (self._request.path,), ()
        inside: dict[str, None] = {self._request.path: None}
        outside: dict[str, None] = {}
        toolkit = self._toolkit()
        for path in read_dependencies(text):
            relative = relative_path(path, self._root)
            if relative and not relative.startswith(toolkit):
                inside[relative] = None
            else:
                outside[posixpath.normpath(path)] = None
        return tuple(inside), tuple(outside)

    def _toolkit(self) -> tuple[str, ...]:
        """Where nvcc's own headers are, when the project root holds them (a `.venv`)."""
        nvcc = Path(self._toolchain.nvcc)
        homes = {nvcc.parent.parent, nvcc.resolve().parent.parent}
        inside = (relative_path(str(home), self._root) for home in homes)
        return tuple(path + "/" for path in inside if path not in ("", "."))

    def _diagnostics(self, ptxas: PtxasOutput) -> tuple[Diagnostic, ...]:
        """Each once, in the order in which the tools spoke: front end, then ptxas."""
        placer = Placer(self._root)
        found = [placer.complaint(c) for c in read_complaints(self._words)]
        if ptxas.diagnostics:
            lines = LineTable(self._ptx)
            found += [placer.ptxas(diagnostic, lines) for diagnostic in ptxas.diagnostics]
        return tuple(dict.fromkeys(found))

    def _functions(self, ptxas: PtxasOutput) -> tuple[FunctionResources, ...]:
        bounds = self._bounds if ptxas.functions else {}
        spills: dict[str, tuple[SpillLine, ...]] = {}
        if any(function.spill_stores or function.spill_loads for function in ptxas.functions):
            spills = read_spill_lines(
                self._disassemble(self._command.output),
                read_local_arrays(self._ptx),
                lambda path: bool(relative_path(path, self._root)),
            )
        return tuple(
            msgspec.structs.replace(
                function,
                max_threads=bounds.get(function.symbol, _NO_BOUNDS).max_threads,
                min_blocks=bounds.get(function.symbol, _NO_BOUNDS).min_blocks,
                spill_lines=self._spill_lines(function, spills),
            )
            for function in ptxas.functions
        )

    def _spill_lines(
        self, function: FunctionResources, spills: dict[str, tuple[SpillLine, ...]]
    ) -> tuple[SpillLine, ...]:
        """The lines of a function that spills; what else lies in its frame is none of them."""
        if not function.spill_stores and not function.spill_loads:
            return ()
        return tuple(self._relative(line) for line in spills.get(function.symbol, ()))

    def _relative(self, line: SpillLine) -> SpillLine:
        inside = relative_path(line.path, self._root)
        return msgspec.structs.replace(line, path=inside) if inside else line

    def _failure(
        self, diagnostics: tuple[Diagnostic, ...], functions: tuple[FunctionResources, ...]
    ) -> str:
        """What went wrong in one line; "" when nvcc exited 0 and all kernels are told of."""
        outcome = self._outcome
        if outcome.ok:
            if not self._command.output.is_file():
                return "nvcc exited 0 and wrote no cubin"
            return self._untold(functions)
        if outcome.how == "timeout":
            return f"nvcc took longer than {self._timeout:g} s"
        if outcome.how == "output":
            return "nvcc printed without end"
        if outcome.how == "stopped":
            return "the run was stopped"
        if outcome.how == "signal":
            return f"nvcc was killed by {_signal_name(outcome.code)}"
        if _SAYS_NO_HOST_COMPILER in outcome.output:
            return "nvcc can't run its host compiler"
        first = next((d.text for d in diagnostics if d.severity == "error"), "")
        if first:
            return first
        lines = [line for line in outcome.output.splitlines() if line.strip()]
        words = f": {lines[-1].strip()[:_LAST_WORDS]}" if lines else ""
        return f"nvcc exited with status {outcome.code}{words}"

    def _untold(self, functions: tuple[FunctionResources, ...]) -> str:
        """Which kernels of the PTX ptxas' words leave out, in one line; "" if none.

        Without this, words that are cut off or of a new form would pass for kernels
        with nothing to object to.
        """
        told = {function.symbol for function in functions if function.registers is not None}
        lacking = [demangle(symbol).text for symbol in self._bounds if symbol not in told]
        if not lacking:
            return ""
        others = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        return f"ptxas did not tell, or not in full, what kernel {lacking[0]}{others} takes"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
