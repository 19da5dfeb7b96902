"""How kernels are launched: the block size and the dynamic shared memory, as far as text tells.

Asked in this order: the settings' `[launches]`; the launches of the project whose
configuration is constant, and `cudaFuncSetAttribute` with a constant size;
`__launch_bounds__`. What follows for the occupancy is `cudalint.compile.occupancy`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from cudalint.compile.archs import THREADS_PER_BLOCK
from cudalint.compile.demangle import without_arguments
from cudalint.regex import regex
from cudalint.resources.model import LaunchShape, ShapeSource
from cudalint.syntax.brackets import split_arguments

if TYPE_CHECKING:
    from cudalint.compile.locate import FunctionPlace
    from cudalint.compile.model import FunctionResources
    from cudalint.context import Context
    from cudalint.settings.model import LaunchSettings

_KERNEL = regex(r"([A-Za-z_]\w*)\s*(<.*>)?[\s)]*$", re.DOTALL)
_DIM3 = regex(r"dim3\s*[({](.*)[)}]", re.DOTALL)
_LAUNCH_CALLS = frozenset({"cudaLaunchKernel", "cudaLaunchCooperativeKernel"})
_LIMITS = frozenset({"cudaFuncAttributeMaxDynamicSharedMemorySize"})


class _Site(msgspec.Struct, frozen=True):
    """One launch, or one raise of a kernel's limit of shared memory (`threads` is -1 then).

    `threads` and `shared` are None where the text does not tell them. `arguments`
    are those of the template, without white space.
    """

    path: str
    arguments: str
    threads: int | None
    shared: int | None


class Launches:
    """Answers for the kernels of one run."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sites: dict[str, list[_Site]] | None = None

    def shape(
        self, function: FunctionResources, place: FunctionPlace, compiled: str
    ) -> LaunchShape:
        """The largest block of `function`, which is at `place` and of the compiled file."""
        name = without_arguments(function.name).rpartition("::")[2]
        said = self._settings(function.name)
        paths = {place.span.path, compiled}
        sites = self._of(name, function.name, paths)
        threads, source = self._threads(said, sites, function.max_threads)
        shared, known = self._shared(said, sites, name, paths)
        return LaunchShape(threads, shared, source, known)

    def _settings(self, name: str) -> LaunchSettings | None:
        plain = without_arguments(name)
        names = (name, plain, plain.rpartition("::")[2])
        for pattern, settings in self._context.settings.launches.items():
            if any(fnmatchcase(word, pattern) for word in names):
                return settings
        return None

    @staticmethod
    def _threads(
        said: LaunchSettings | None, sites: list[_Site], bounds: int | None
    ) -> tuple[int | None, ShapeSource | None]:
        if said is not None and said.threads is not None:
            return said.threads, "settings"
        threads = [site.threads for site in sites if site.threads != -1]
        known = [count for count in threads if count is not None]
        if threads and len(known) == len(threads):
            return max(known), "launch"
        if bounds is not None and 0 < bounds <= THREADS_PER_BLOCK:
            return bounds, "bounds"
        return None, None

    def _shared(
        self, said: LaunchSettings | None, sites: list[_Site], name: str, paths: set[str]
    ) -> tuple[int, bool]:
        """The bytes of dynamic shared memory, and whether that is all there is to know."""
        if said is not None and said.dynamic_shared is not None:
            return said.dynamic_shared, True
        known = [site.shared for site in sites if site.shared is not None]
        raised = any(site.threads == -1 and site.shared is not None for site in sites)
        complete = raised or (bool(sites) and len(known) == len(sites))
        return max(known, default=0), complete or not self._has_pool(name, paths)

    def _has_pool(self, name: str, paths: set[str]) -> bool:
        """Whether a kernel of this name, or its file for all, declares dynamic shared memory."""
        for path in sorted(paths & self._context.models.keys()):
            model = self._context.models[path]
            mine = {f.index for f in model.kernels if f.name == name and f.kind == "definition"}
            for declaration in model.shared:
                if declaration.kind == "extern" and declaration.function in {-1, *mine}:
                    return True
        return False

    def _of(self, name: str, full: str, paths: set[str]) -> list[_Site]:
        """The sites of a kernel: of several with its name, the one that is written in the file."""
        if self._sites is None:
            self._sites = {}
            for path in sorted(self._context.models):
                for found, site in self._read(path):
                    self._sites.setdefault(found, []).append(site)
        written = full[len(without_arguments(full)) :] if full.endswith(">") else ""
        definitions = [
            kernel
            for kernel in self._context.project.kernels_named(name)
            if kernel.kind == "definition"
        ]
        return [
            site
            for site in self._sites.get(name, ())
            if site.arguments == "".join(written.split())
            and (len(definitions) == 1 or site.path in paths)
        ]

    def _read(self, path: str) -> Iterator[tuple[str, _Site]]:
        """The launches of a file by the name of the kernel."""
        model = self._context.models[path]
        for launch in model.launches:
            if launch.via_macro and launch.use is None:
                continue
            texts = [argument.text for argument in launch.configuration]
            if len(texts) > 1:
                shared = texts[2] if len(texts) > 2 else "0"
                yield from self._site(path, launch.kernel, texts[1], shared)
        for call in model.calls:
            if call.name in _LAUNCH_CALLS:
                texts = [argument.text for argument in call.arguments]
                if len(texts) >= 4:
                    shared = texts[4] if len(texts) > 4 else "0"
                    yield from self._site(path, texts[0], texts[2], shared)
            elif call.name == "cudaFuncSetAttribute":
                texts = [argument.text for argument in call.arguments]
                if len(texts) == 3 and texts[1].rpartition("::")[2].strip() in _LIMITS:
                    yield from self._site(path, texts[0], None, texts[2])

    def _site(
        self, path: str, kernel: str, block: str | None, shared: str
    ) -> Iterator[tuple[str, _Site]]:
        if (match := _KERNEL.search(kernel)) is not None:
            threads = -1 if block is None else self._block(path, block)
            size = self._context.project.constants.evaluate(path, shared)
            arguments = "".join((match[2] or "").split())
            if size is not None and size < 0:
                size = None
            yield match[1], _Site(path, arguments, threads, size)

    def _block(self, path: str, text: str) -> int | None:
        """The threads of a block as a number or a `dim3(…)` says it."""
        evaluate = self._context.project.constants.evaluate
        dim3 = _DIM3.fullmatch(text.strip())
        if dim3 is None:
            threads = evaluate(path, text)
        else:
            inside = dim3[1].encode()
            threads = 1
            for start, end in split_arguments(inside):
                size = evaluate(path, inside[start:end].decode())
                if size is None:
                    return None
                threads *= size
        return threads if threads is not None and 0 < threads <= THREADS_PER_BLOCK else None
