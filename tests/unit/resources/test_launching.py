"""How kernels are launched, as settings, launches and launch bounds tell it."""

from __future__ import annotations

import pytest

from cudalint.compile.locate import FunctionPlace
from cudalint.compile.model import FunctionResources
from cudalint.finding import Span
from cudalint.resources.model import LaunchShape
from cudalint.settings.model import LaunchSettings, Settings
from projects import context_of

KERNEL = 'extern "C" __global__ void k(float* y) { y[0] = 1; }\n'
POOL = 'extern "C" __global__ void k(float* y) { extern __shared__ float p[]; y[0] = p[1]; }\n'
TEMPLATE = "template <typename T, int N> __global__ void k(T* y) { y[0] = N; }\n"


def shape(
    files: dict[str, str],
    name: str = "k",
    bounds: int | None = None,
    launches: dict[str, LaunchSettings] | None = None,
    path: str = "k.cu",
) -> LaunchShape:
    """The shape of a kernel that is compiled in the file at `path`."""
    context = context_of(files, Settings(launches=launches or {}))
    function = FunctionResources(name, name, "sm_90", True, 0, 0, 0, max_threads=bounds)
    place = FunctionPlace(name.partition("<")[0], Span(path, 0, 0))
    return context.launches.shape(function, place, path)


def launched(launch: str, kernel: str = KERNEL) -> LaunchShape:
    return shape({"k.cu": kernel + "void run(float* y, int n) {\n" + launch + "\n}\n"})


@pytest.mark.parametrize(
    ("launch", "threads", "shared"),
    [
        ("k<<<8, 256>>>(y);", 256, 0),
        ("k<<<8, dim3(32, 4)>>>(y);", 128, 0),
        ("k<<<dim3(2, 2), dim3{16, 2, 2}, 1 << 14>>>(y);", 64, 16384),
        ("constexpr int kThreads = 96; k<<<8, kThreads, kThreads * sizeof(float)>>>(y);", 96, 384),
        ("k<<<8, 64>>>(y); k<<<8, 128, 512>>>(y); k<<<8, 32, 1024>>>(y);", 128, 1024),
        ("cudaLaunchKernel((const void*)k, dim3(8), dim3(64), args, 2048, s);", 64, 2048),
        ("cudaLaunchKernel(&k, 8, 64, args);", 64, 0),
        ("k<<<8, 2048>>>(y);", None, 0),
        ("k<<<8, n>>>(y);", None, 0),
        ("k<<<8, 64>>>(y); k<<<8, dim3(n, 2)>>>(y);", None, 0),
        ("k<<<8>>>(y);", None, 0),
        ("// k<<<8, 64>>>(y);", None, 0),
        ("other<<<8, 64>>>(y);", None, 0),
        ('const char* s = "k<<<8, 64>>>(y)";', None, 0),
    ],
)
def test_launches_with_constant_configurations(
    launch: str, threads: int | None, shared: int
) -> None:
    found = launched(launch)
    assert (found.threads, found.dynamic_shared) == (threads, shared)
    assert found.source == (None if threads is None else "launch")


@pytest.mark.parametrize(
    ("launch", "shared", "known"),
    [
        ("", 0, False),
        ("k<<<8, 64, n>>>(y);", 0, False),
        ("k<<<8, 64, 4096>>>(y);", 4096, True),
        ("k<<<8, 64, 4096>>>(y); k<<<8, 64, n>>>(y);", 4096, False),
        (
            "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);"
            " k<<<8, 64, n>>>(y);",
            65536,
            True,
        ),
        ("cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, 50);", 0, False),
        ("cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, n);", 0, False),
    ],
)
def test_dynamic_shared_memory_of_a_pool(launch: str, shared: int, known: bool) -> None:
    found = launched(launch, POOL)
    assert (found.dynamic_shared, found.shared_known) == (shared, known)


def test_a_kernel_without_a_pool_needs_no_size() -> None:
    assert launched("").shared_known
    at_file = "extern __shared__ float p[];\n" + KERNEL
    assert not shape({"k.cu": at_file}).shared_known
    of_another = POOL.replace(" k(", " other(") + KERNEL
    assert shape({"k.cu": of_another}).shared_known


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [(128, (128, "bounds")), (None, (None, None)), (2048, (None, None)), (0, (None, None))],
)
def test_launch_bounds_where_no_launch_is_seen(
    bounds: int | None, expected: tuple[int | None, str | None]
) -> None:
    found = shape({"k.cu": KERNEL}, bounds=bounds)
    assert (found.threads, found.source) == expected


def test_settings_beat_both_and_the_first_pattern_counts() -> None:
    files = {"k.cu": POOL + "void run(float* y) { k<<<8, 64, 512>>>(y); }\n"}
    both = {"other": LaunchSettings(32), "k*": LaunchSettings(96, 1024), "*": LaunchSettings(7, 7)}
    assert shape(files, bounds=128, launches=both) == LaunchShape(96, 1024, "settings", True)
    threads = shape(files, bounds=128, launches={"k": LaunchSettings(96)})
    assert threads == LaunchShape(96, 512, "settings", True)
    size = shape(files, bounds=128, launches={"k": LaunchSettings(None, 0)})
    assert size == LaunchShape(64, 0, "launch", True)


@pytest.mark.parametrize(
    ("name", "threads"),
    [("n::k<float, 4>", 64), ("n::k<float, 8>", 128), ("n::k<int, 4>", None)],
)
def test_instances_are_told_apart_by_their_arguments(name: str, threads: int | None) -> None:
    launches = "void run() { n::k<float, 4><<<1, 64>>>(0); n::k<float,8><<<1, 128>>>(0); }\n"
    found = shape({"k.cu": f"namespace n {{\n{TEMPLATE}}}\n{launches}"}, name)
    assert found.threads == threads


def test_of_kernels_with_one_name_each_has_the_launches_of_its_own_file() -> None:
    def host(threads: int) -> str:
        return f"void run(float* y) {{ k<<<1, {threads}>>>(y); }}\n"

    one = {"k.cu": KERNEL, "host.cu": host(64)}
    assert shape(one).threads == 64
    two = {"k.cu": KERNEL + host(32), "m.cu": KERNEL.replace('extern "C"', "static") + host(96)}
    assert shape(two | {"host.cu": host(64)}).threads == 32
    assert shape(two, path="m.cu").threads == 96


def test_a_launch_in_a_macro_counts_where_it_is_used() -> None:
    macro = "#define RUN(N) k<<<1, N>>>(y)\n"
    assert shape({"k.cu": KERNEL + macro}).threads is None
    used = KERNEL + macro + "void run(float* y) { RUN(64); }\n"
    assert shape({"k.cu": used}).threads == 64
