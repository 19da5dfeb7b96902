"""The calls with which the host waits for the GPU.

Whether a wait is on a launch path is `cudalint.hostcode.hotpath`; whether it may be
there, rule CU301 says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.project.project import Project
    from cudalint.syntax.model import Call

WAITS = frozenset(
    {
        *("cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize"),
        *("cudaEventSynchronize", "cuCtxSynchronize", "cuStreamSynchronize"),
        "cuEventSynchronize",
    }
)
"""The calls of the runtime and the driver that return when work of the GPU is done."""


def waits_of(project: Project, functions: Collection[str]) -> Iterator[Call]:
    """The calls that wait, in all files and through all macros.

    `functions` are further functions that do: qualified names, or plain ones
    for methods and functions of any class and namespace.
    """
    names = WAITS | {name.rpartition("::")[2] for name in functions}
    for call in project.hot_path.calls(names):
        ours = call.name in WAITS and project.hot_path.is_api(call)
        if ours or call.name in functions or call.callee.removeprefix("::") in functions:
            yield call
