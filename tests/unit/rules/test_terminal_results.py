"""The wait for a result that a function is there to fetch."""

from __future__ import annotations

import pytest

from cudalint.hostcode.terminal import terminal_copy
from projects import project_of


def is_terminal(body: str, parameters: str = "int* out, int* d, cudaStream_t s") -> bool:
    source = f"bool f({parameters}) {{ {body} return true; }}\n"
    model = project_of({"a.cu": source}).models["a.cu"]
    wait = next(c for c in model.calls if c.name.endswith("StreamSynchronize"))
    return terminal_copy(wait, model) is not None


COPY = "cudaMemcpyAsync(out, d, 4, cudaMemcpyDeviceToHost, s);"
WAIT = "cudaStreamSynchronize(s);"


@pytest.mark.parametrize(
    "body",
    [
        COPY + WAIT,
        "k<<<1, 1, 0, s>>>(d);" + COPY + WAIT,
        f"CHECK({COPY[:-1]}); CHECK({WAIT[:-1]});",
        "cudaMemcpyAsync(out + 3, d, 4, cudaMemcpyDeviceToHost, s);" + WAIT,
        COPY + WAIT + "if (cudaGetLastError() != cudaSuccess) return false;",
        "cuMemcpyDtoHAsync(out, d, 4, s); cuStreamSynchronize(s);",
    ],
)
def test_terminal(body: str) -> None:
    assert is_terminal(body)


@pytest.mark.parametrize(
    "body",
    [
        WAIT,
        WAIT + COPY,
        COPY + WAIT + "k<<<1, 1, 0, s>>>(d);",
        COPY + WAIT + WAIT,
        COPY + WAIT + "cudaFree(d);",
        "cudaMemcpyAsync(d, out, 4, cudaMemcpyHostToDevice, s);" + WAIT,
        "cudaMemcpyAsync(local, d, 4, cudaMemcpyDeviceToHost, s);" + WAIT,
        "cudaMemcpyAsync(out, d, 4, cudaMemcpyDeviceToHost, other);" + WAIT,
        "cudaMemcpyAsync(out, d, 4, cudaMemcpyDeviceToHost);" + WAIT,
    ],
)
def test_not_terminal(body: str) -> None:
    assert not is_terminal(body)


def test_a_result_by_value_is_no_place_of_the_caller() -> None:
    assert not is_terminal(COPY + WAIT, "int out, int* d, cudaStream_t s")
