"""A sync planted five calls below a launch, over three files: found, with the right chain.

Through a method, a macro and a lambda; and further ways in which real code
calls. With the root function cold it is not found.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.hostcode.explanation import Explanations
from cudalint.reading import read_project
from cudalint.reporters.sarif import sarif
from cudalint.reporters.text import text
from cudalint.run import Run
from cudalint.runner import Request

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"

STEP = f"""\
{SPDX}#include "engine.h"

extern "C" __global__ void __launch_bounds__(32) decode(float* out) {{ *out = 1.f; }}

void step(Engine& engine, float* out, cudaStream_t stream) {{
  decode<<<1, 32, 0, stream>>>(out);
  engine.finish(stream);
}}
"""
ENGINE = """\
#pragma once
#include "wait.h"

class Engine {
 public:
  void finish(cudaStream_t stream) {
    DRAIN(stream);
  }
};
"""
WAIT_H = """\
#pragma once
#define DRAIN(stream) drain_all(stream)
void drain_all(cudaStream_t stream);
"""
WAIT = """\
#include "wait.h"

static void block(cudaStream_t stream) {
  cudaStreamSynchronize(stream);
}
static void settle(cudaStream_t stream) {
  block(stream);
}
static void each(cudaStream_t stream) {
  settle(stream);
}
void drain_all(cudaStream_t stream) {
  auto lanes = [&](cudaStream_t lane) {
    each(lane);
  };
  lanes(stream);
}
"""
FILES = {
    "host/step.cu": STEP,
    "host/engine.h": ENGINE,
    "host/wait.h": WAIT_H,
    "host/wait.cpp": WAIT,
}

CHAIN = [
    ("host/step.cu", "void step(", "'step' starts the launch path"),
    ("host/step.cu", "decode<<<", "launches 'decode'"),
    ("host/step.cu", "engine.finish", "calls 'finish'"),
    ("host/engine.h", "DRAIN(stream)", "calls 'drain_all'"),
    ("host/wait.cpp", "each(lane)", "calls 'each'"),
    ("host/wait.cpp", "settle(stream);", "calls 'settle'"),
    ("host/wait.cpp", "block(stream);", "calls 'block'"),
    ("host/wait.cpp", "cudaStreamSynchronize", "'cudaStreamSynchronize' waits"),
]


def planted(root: Path, files: dict[str, str], settings: str = "") -> Run:
    write_files(root, {"cudalint.toml": settings, **files})
    return lint(root, select=("CU301",))


def line_of(source: str, needle: str) -> int:
    return source[: source.index(needle)].count("\n") + 1


def test_the_chain_in_text(tmp_path: Path) -> None:
    shown = text(planted(tmp_path, FILES))
    assert shown.startswith(
        "host/wait.cpp:4:3: error CU301 'cudaStreamSynchronize' waits for the GPU in 'block', "
        "which is called by 'step -> finish -> drain_all -> each -> settle' on the launch path "
        "of 'decode'; order the work with streams and events. [sync-in-launch-path]\n"
    )
    steps = re.findall(r"(?m)^ *= step (\d): (.*?):(\d+):\d+: (.*)$", shown)
    assert steps == [
        (str(number), path, str(line_of(FILES[path], needle)), label)
        for number, (path, needle, label) in enumerate(CHAIN, 1)
    ]
    assert shown.endswith("\n1 error\n1 kernel in 4 files\n")


def test_the_chain_in_sarif(tmp_path: Path) -> None:
    log = json.loads(sarif(planted(tmp_path, FILES)))
    [result] = log["runs"][0]["results"]
    [flow] = result["codeFlows"]
    [thread] = flow["threadFlows"]
    found = [
        (
            step["location"]["physicalLocation"]["artifactLocation"]["uri"],
            step["location"]["physicalLocation"]["region"]["startLine"],
            step["location"]["message"]["text"],
        )
        for step in thread["locations"]
    ]
    assert found == [(path, line_of(FILES[path], n), label) for path, n, label in CHAIN]
    [launch] = result["relatedLocations"]
    assert launch["message"]["text"] == "launch of 'decode'"
    assert launch["physicalLocation"]["artifactLocation"]["uri"] == "host/step.cu"
    assert launch["physicalLocation"]["region"]["startLine"] == line_of(STEP, "decode<<<")


def test_graph_tells_the_same_chain_and_how_each_hop_is_made(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES})
    reading, _ = read_project(Request((".",), tmp_path))
    [explanation] = Explanations(reading.project, 10).of("block")
    [chain] = explanation.chains
    [launch] = chain.down
    assert (launch.caller.name, launch.callee.name, launch.means) == ("step", "decode", "<<<>>>")
    assert [(h.caller.name, h.callee.name, h.kind, h.macro, h.in_lambda) for h in chain.below] == [
        ("step", "Engine::finish", "method", "", False),
        ("Engine::finish", "drain_all", "call", "DRAIN", False),
        ("drain_all", "each", "call", "", True),
        ("each", "settle", "call", "", False),
        ("settle", "block", "call", "", False),
    ]


def with_root(name: str = "step", comment: str = "", path: str = "host/step.cu") -> dict[str, str]:
    """The files with the root function named, commented and placed otherwise."""
    source = STEP.replace("void step(", f"{comment}void {name}(").replace(
        '"engine.h"', '"../host/engine.h"'
    )
    return {**{p: s for p, s in FILES.items() if p != "host/step.cu"}, path: source}


COLD = [
    pytest.param(with_root(), 'cold-functions = ["step"]', id="by a setting"),
    pytest.param(with_root(), 'cold-paths = ["host/step.cu"]', id="by a setting of paths"),
    pytest.param(with_root(comment="// cudalint: cold\n"), "", id="by a comment"),
    pytest.param(with_root(comment="/* Once.\n   cudalint: cold */\n"), "", id="by a block"),
    *(
        pytest.param(with_root(name), "", id=f"by the name {name}")
        for name in (
            *("init", "setup_step", "createStep", "destroy", "teardown_all", "shutdown"),
            *("loadStep", "step_load", "upload", "warmup_step", "benchmarkStep", "profile_step"),
            *("test_step", "stepTest", "main"),
        )
    ),
    *(
        pytest.param(with_root(path=path), "", id=f"by the path {path}")
        for path in (
            *("tests/step.cu", "a/test/step.cu", "host/step_test.cu", "host/test_step.cu"),
            *("benchmarks/step.cu", "host/bench_step.cu", "host/perf_step.cu", "examples/step.cu"),
        )
    ),
]


@pytest.mark.parametrize(("files", "settings"), COLD)
def test_with_the_root_cold_it_is_not_found(
    files: dict[str, str], settings: str, tmp_path: Path
) -> None:
    assert planted(tmp_path, files, settings).findings == ()


@pytest.mark.parametrize("name", ["prepare_step", "ensureStep", "latest", "reload_", "payload"])
def test_with_a_root_that_is_only_named_like_a_cold_one_it_is(name: str, tmp_path: Path) -> None:
    [finding] = planted(tmp_path, with_root(name)).findings
    assert f"called by '{name} -> finish" in finding.message


def test_with_a_constructor_as_root_it_is_not_found(tmp_path: Path) -> None:
    source = STEP.replace("void step(Engine& engine", "Step::Step(Engine& engine")
    files = {**FILES, "host/step.cu": source.replace("extern", "struct Step;\nextern", 1)}
    assert planted(tmp_path, files).findings == ()


def test_hot_beats_what_makes_cold(tmp_path: Path) -> None:
    files = with_root("load_step", "// cudalint: hot\n", "tests/step.cu")
    [finding] = planted(tmp_path, files).findings
    assert "called by 'load_step -> finish" in finding.message


def regions(guarded: str) -> dict[str, str]:
    """The files with the root's call of the method written otherwise."""
    return {**FILES, "host/step.cu": STEP.replace("engine.finish(stream);", guarded)}


@pytest.mark.parametrize(
    "guarded",
    [
        "if (debug) engine.finish(stream);",
        "if (!options.verbose) return;\n  engine.finish(stream);",
        "const bool tell = env().trace;\n  if (tell) { engine.finish(stream); }",
        "#ifdef ENGINE_DEBUG\n  engine.finish(stream);\n#endif",
        "std::call_once(flag, [&] { engine.finish(stream); });",
        "validate && (engine.finish(stream), true);",
    ],
)
def test_with_the_call_in_a_cold_region_it_is_not_found(guarded: str, tmp_path: Path) -> None:
    assert planted(tmp_path, regions(guarded)).findings == ()


WAYS = {
    "template": (
        {
            "host/engine.h": ENGINE.replace("  void finish(", "  template <int N> void finish("),
            "host/step.cu": STEP.replace("engine.finish(", "engine.template finish<4>("),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "template of a class": (
        {
            "host/engine.h": ENGINE.replace("class Engine", "template <typename T> class Engine"),
            "host/step.cu": STEP.replace("Engine& engine", "const Engine<float>& engine"),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "overload": (
        {
            "host/wait.cpp": WAIT.replace(
                "static void settle(",
                "static void block(int count) { (void)count; }\nstatic void settle(",
            )
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "alias of a namespace": (
        {
            "host/wait.h": WAIT_H.replace(
                "void drain_all(cudaStream_t stream);",
                "namespace gpu::wait { void drain_all(cudaStream_t stream); }\n"
                "namespace other { void drain_all(cudaStream_t stream); }\n"
                "namespace w = gpu::wait;",
            ).replace("(stream) drain", "(stream) w::drain"),
            "host/wait.cpp": WAIT.replace("void drain_all", "namespace gpu::wait {\nvoid drain_all")
            + "}\n",
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "using directive": (
        {
            "host/wait.h": WAIT_H.replace(
                "void drain_all(cudaStream_t stream);",
                "namespace gpu { void drain_all(cudaStream_t stream); }\n"
                "namespace cpu { void drain_all(cudaStream_t stream); }\nusing namespace gpu;",
            ),
            "host/wait.cpp": WAIT.replace("void drain_all", "void gpu::drain_all"),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "method out of its class": (
        {
            "host/engine.h": ENGINE.replace(" {\n    DRAIN(stream);\n  }", ";"),
            "host/engine.cpp": '#include "engine.h"\n'
            "void Engine::finish(cudaStream_t stream) { DRAIN(stream); }\n",
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "inherited method": (
        {
            "host/engine.h": ENGINE + "class Decoder final : public Engine {};\n",
            "host/step.cu": STEP.replace("Engine& engine", "Decoder& engine"),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "virtual method": (
        {
            "host/engine.h": ENGINE.replace("class Engine {", "class Engine : public Base {")
            .replace("cudaStream_t stream) {", "cudaStream_t stream) override {")
            .replace(
                "class Engine",
                "struct Base { virtual void finish(cudaStream_t stream) = 0; };\nclass Engine",
                1,
            ),
            "host/step.cu": STEP.replace("Engine& engine", "Base& engine"),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "member behind a smart pointer": (
        {
            "host/step.cu": STEP.replace(
                "void step(Engine& engine, ",
                "struct Model { std::vector<std::unique_ptr<Engine>> engines_; };\n"
                "void step(Model& model, ",
            ).replace("engine.finish(stream);", "model.engines_[0]->finish(stream);"),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "loop over a container": (
        {
            "host/step.cu": STEP.replace(
                "Engine& engine", "const std::vector<Engine*>& engines"
            ).replace("engine.finish", "for (const auto& engine : engines) engine->finish"),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "local made by a function": (
        {
            "host/step.cu": STEP.replace("Engine& engine, ", "").replace(
                "engine.finish", "auto engine = std::make_unique<Engine>();\n  engine->finish"
            ),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "singleton": (
        {
            "host/engine.h": ENGINE.replace(" public:\n", " public:\n  static Engine& get();\n"),
            "host/step.cu": STEP.replace("Engine& engine, ", "").replace(
                "engine.", "Engine::get()."
            ),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "macro that calls a method of its argument": (
        {
            "host/wait.h": WAIT_H.replace(
                "#pragma once",
                "#pragma once\n#define END(engine, s) do { (engine).finish(s); } while (0)",
            ),
            "host/step.cu": STEP.replace("engine.finish(stream)", "END(engine, stream)"),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "macro in a macro of another file": (
        {
            "host/wait.h": WAIT_H.replace("(stream) drain_all", "(stream) DRAIN_ALL").replace(
                "#pragma once", "#pragma once\n#define DRAIN_ALL(stream) drain_all(stream)"
            )
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "check macro around the call": (
        {
            "host/wait.h": WAIT_H
            + "#define CHECK(x) do { auto e = (x); if (e != cudaSuccess) throw e; } while (0)\n",
            "host/wait.cpp": WAIT.replace(
                "cudaStreamSynchronize(stream);", "CHECK(cudaStreamSynchronize(stream));"
            ).replace("  block(stream);", "  CHECK((block(stream), cudaGetLastError()));"),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
    "call operator": (
        {
            "host/engine.h": ENGINE.replace("void finish(", "void operator()("),
            "host/step.cu": STEP.replace("engine.finish(", "engine("),
        },
        "step -> operator() -> drain_all -> each -> settle",
    ),
    "default argument of a declaration": (
        {
            "host/wait.h": WAIT_H.replace("stream);", "stream, int lanes = 1);"),
            "host/wait.cpp": WAIT.replace(
                "void drain_all(cudaStream_t stream)",
                "void drain_all(cudaStream_t stream, int lanes)",
            ),
        },
        "step -> finish -> drain_all -> each -> settle",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_other_ways_to_call(way: str, tmp_path: Path) -> None:
    changed, chain = WAYS[way]
    [finding] = planted(tmp_path, {**FILES, **changed}).findings
    assert f"in 'block', which is called by '{chain}' on the launch path" in finding.message
    [*_, last] = finding.flow
    assert last.label == "'cudaStreamSynchronize' waits"
