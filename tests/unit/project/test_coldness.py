"""Which whole functions are cold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.hostcode.coldness import Coldness, words
from cudalint.settings.model import Settings
from projects import project_of


def is_cold(source: str, name: str, path: str = "a.cu", **settings: tuple[str, ...]) -> bool:
    chosen = Settings(**settings)
    project = project_of({path: source}, chosen)
    function = next(f for f in project.models[path].functions if f.name == name)
    return Coldness(project.models, project.includes, chosen).is_cold(path, function)


@pytest.mark.parametrize(
    "name",
    [
        *("main", "init", "init_tables", "initTables", "InitTables", "warmupKernels", "warm_up"),
        *(
            "run_test",
            "loadTables",
            "upload",
            "gpu_setup",
            "setUp",
            "benchmark_gemm",
            "gemmProfile",
        ),
        *("destroy_all", "tear_down", "shutdown", "createPlan", "initialize_model"),
    ],
)
def test_cold_by_name(name: str) -> None:
    assert is_cold(f"void {name}() {{}}", name)


@pytest.mark.parametrize(
    "name",
    [
        *("step", "prepare", "ensure_capacity", "mainloop", "main_loop", "attest", "reload_all"),
        *("testable", "run_test_step", "profiler", "initial", "loader", "domain", "createdAt"),
    ],
)
def test_not_cold_by_name(name: str) -> None:
    assert not is_cold(f"void {name}() {{}}", name)


def test_constructors_and_destructors_are_cold_and_methods_are_not() -> None:
    source = "struct Op { Op() {} ~Op() {} void run() {} };\nOp make() { return {}; }\n"
    assert is_cold(source, "Op")
    assert is_cold(source, "~Op")
    assert not is_cold(source, "run")


@pytest.mark.parametrize(
    ("path", "cold"),
    [
        ("tests/a.cu", True),
        ("src/test/deep/a.cu", True),
        ("src/step_test.cu", True),
        ("src/test_step.cpp", True),
        ("benchmarks/a.cu", True),
        ("src/gemm_bench.cu", True),
        ("src/perf.cu", True),
        ("examples/a.cu", True),
        ("src/step.cu", False),
        ("src/contest.cu", False),
    ],
)
def test_cold_by_path(path: str, cold: bool) -> None:
    assert is_cold("void step() {}", "step", path) is cold


def test_settings_replace_the_names_and_the_paths() -> None:
    assert is_cold("void measure_all() {}", "measure_all", cold_functions=("measure",))
    assert not is_cold("void init() {}", "init", cold_functions=("measure",))
    assert is_cold("void step() {}", "step", "tools/a.cu", cold_paths=("tools/**",))
    assert not is_cold("void step() {}", "step", "tests/a.cu", cold_paths=())


def test_hot_beats_name_and_path() -> None:
    source = "// cudalint: hot\nvoid init() {}\n"
    assert not is_cold(source, "init", "tests/a.cu")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("warmupKernels", ["warmup", "kernels"]),
        ("run_test_2", ["run", "test", "2"]),
        ("HTTPServer", ["http", "server"]),
        ("w8a16_gemv", ["w", "8", "a", "16", "gemv"]),
        ("__init__", ["init"]),
        ("", []),
    ],
)
def test_words(name: str, expected: list[str]) -> None:
    assert words(name) == expected


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True))
def test_words_lose_nothing_but_underscores_and_case(name: str) -> None:
    assert "".join(words(name)) == name.replace("_", "").lower()
