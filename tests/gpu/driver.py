"""Loads the kernels through the CUDA driver API and launches them by their launch tables.

For tests:

    from .driver import Engine, Tensor, launch_twice, torch
    from .compare import assert_close, assert_equal

    def test_x(engine: Engine) -> None:              # `engine` is a fixture of conftest.py
        kernel = engine.kernel("rms_norm", "rms_norm")           # module, entry; the baseline
        kernel = engine.kernel("rms_norm", "rms_norm", leaf="llama-3.2-1b/bf16")
        kernel.launch(out=out, x=x, weight=w, eps=1e-6, rows=4)  # every argument, by name
        got = launch_twice(kernel, lambda: {"out": torch.empty_like(x), "x": x.clone(), ...},
                           outputs=["out"])          # poisoned, run twice, equal to the bit
        assert_close(got["out"], reference_fp32)     # abs 1e-3, rel 1e-2, NaN equal to NaN

Tensors are contiguous CUDA tensors whose dtype must fit the table's C type; ``None`` is a null
pointer. Work runs on the engine's own stream, ordered after and before torch's current one.
``kernel.bind(...)`` checks the same and returns a call that only launches, for benchmarks.

Importing this module skips the test file, with the reason, where PyTorch, CuPy, nvcc or a GPU is
missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from .build import Module, modules, start_build
from .launch import Geometry, Launch, read_launches

torch: Any = pytest.importorskip("torch", reason="the GPU tests need PyTorch")
cupy: Any = pytest.importorskip("cupy", reason="the GPU tests need CuPy")
numpy: Any = pytest.importorskip("numpy", reason="the GPU tests need NumPy")
if not torch.cuda.is_available():
    pytest.skip("no CUDA GPU on this machine", allow_module_level=True)
_NVCC = shutil.which("nvcc")
if _NVCC is None:
    pytest.skip("no nvcc on PATH to build the kernels with", allow_module_level=True)

Tensor = Any
Argument = Any

_SCALARS = {
    "int": numpy.int32,
    "unsigned": numpy.uint32,
    "unsigned int": numpy.uint32,
    "long long": numpy.int64,
    "float": numpy.float32,
}
_POINTEES = {
    "__nv_bfloat16": (torch.bfloat16,),
    "bf16": (torch.bfloat16,),
    "__half": (torch.float16,),
    "float": (torch.float32,),
    "int": (torch.int32,),
    "long long": (torch.int64,),
    "int8_t": (torch.int8,),
    "uint8_t": (torch.uint8,),
    "__nv_fp8_e4m3": (torch.float8_e4m3fn,),
}
# Above this, a launch must ask for its dynamic shared memory beforehand.
_DEFAULT_SHARED = 48 * 1024


def _pointee(ctype: str) -> str:
    words = [w for w in ctype.replace("*", "").split() if w not in ("const", "__restrict__")]
    return " ".join(words)


def _scalar_or_pointer(name: str, ctype: str, value: Argument) -> Any:
    """The kernel argument as the exact scalar type that the driver copies."""
    if "*" not in ctype:
        return _SCALARS[ctype.removeprefix("const ")](value)
    if value is None:
        return numpy.uint64(0)
    if value.dtype not in _POINTEES[_pointee(ctype)]:
        raise TypeError(f"{name}: {value.dtype} tensor for {ctype}")
    if not (value.is_cuda and value.is_contiguous()):
        raise ValueError(f"{name}: not a contiguous CUDA tensor")
    return numpy.uint64(value.data_ptr())


@dataclass(frozen=True)
class Kernel:
    """A loaded entry point with its launch table."""

    table: Launch
    function: Any
    stream: Any

    def arguments(self, given: Mapping[str, Argument]) -> tuple[Geometry, tuple[Any, ...]]:
        """Geometry and packed arguments. Raises TypeError unless exactly the table's are given.

        A size that only the grid needs, such as a batch, is given by name too.
        """
        arguments = [name for name, _ in self.table.args]
        names = [*arguments, *(n for n in self.table.sizes if n not in arguments)]
        if set(names) != set(given):
            raise TypeError(f"{self.table.entry}: takes {names}, got {sorted(given)}")
        packed = tuple(_scalar_or_pointer(n, ctype, given[n]) for n, ctype in self.table.args)
        return self.table.geometry({n: given[n] for n in self.table.sizes}), packed

    def bind(self, **given: Argument) -> Callable[[], None]:
        """A call that launches on the engine's stream with these arguments and does nothing else.

        The call keeps the tensors alive.
        """
        geometry, packed = self.arguments(given)
        if geometry.shared > _DEFAULT_SHARED:
            self.function.max_dynamic_shared_size_bytes = geometry.shared
        stream = cupy.cuda.Stream.from_external(self.stream)

        def call(_alive: Mapping[str, Argument] = given) -> None:
            self.function(
                geometry.grid,
                geometry.block,
                packed,
                shared_mem=geometry.shared,
                stream=stream,
            )

        return call

    def launch(self, **given: Argument) -> None:
        """Launches after torch's current stream, which then waits for the launch."""
        call = self.bind(**given)
        self.stream.wait_stream(torch.cuda.current_stream())
        call()
        torch.cuda.current_stream().wait_stream(self.stream)


class Engine:
    """Builds what the launch tables name at once, anything else and loading on demand."""

    def __init__(self) -> None:
        assert _NVCC is not None
        major, minor = torch.cuda.get_device_capability()
        self.stream = torch.cuda.Stream()
        self._launches = read_launches()
        leaves = {"", *(leaf for leaf, _ in self._launches)}
        self._targets = {leaf: modules(leaf) for leaf in sorted(leaves)}
        described = [(self._targets[leaf], table) for (leaf, _), table in self._launches.items()]
        wanted = [target[table.module] for target, table in described if table.module in target]
        self._build = partial(
            start_build, arch=f"sm_{major}{minor}", nvcc=_NVCC, jobs=os.cpu_count() or 1
        )
        self._cubins = self._build(wanted)
        self._loaded: dict[Module, Any] = {}

    def kernel(self, module: str, entry: str, leaf: str = "") -> Kernel:
        """Looks an entry point up by module and name, as an engine does.

        A leaf without a table of its own for the entry is launched by the baseline's. Raises
        KeyError for a module or entry that the target lacks, RuntimeError for one that does not
        compile.
        """
        launch = self._launches.get((leaf, entry)) or self._launches["", entry]
        wanted = self._targets[leaf][module]
        if wanted not in self._cubins:
            self._cubins |= self._build([wanted])
        if wanted not in self._loaded:
            self._loaded[wanted] = cupy.RawModule(path=str(self._cubins[wanted].result()))
        return Kernel(launch, self._loaded[wanted].get_function(entry), self.stream)


def poison(tensor: Tensor) -> None:
    """Fills every byte with 0xff, a NaN in each float type here: an unwritten value shows."""
    tensor.view(torch.uint8).fill_(0xFF)


def launch_twice(
    kernel: Kernel,
    arguments: Callable[[], dict[str, Argument]],
    outputs: Sequence[str],
    inplace: Sequence[str] = (),
) -> dict[str, Tensor]:
    """Runs a kernel on two fresh sets of arguments and requires results equal to the bit.

    ``arguments`` must give equal values each time, cloning what the kernel overwrites. Tensors
    named in ``outputs`` are poisoned first; those named in ``inplace`` are not. Returns both.
    """
    runs: list[dict[str, Tensor]] = []
    for _ in range(2):
        given = arguments()
        for name in outputs:
            poison(given[name])
        kernel.launch(**given)
        runs.append({name: given[name] for name in (*outputs, *inplace)})
    torch.cuda.synchronize()
    for name, first in runs[0].items():
        same = torch.equal(first.view(torch.uint8), runs[1][name].view(torch.uint8))
        assert same, f"{kernel.table.entry}: {name} differs between two runs"
    return runs[0]
