"""Types that hang on what a compile command defines and includes."""

from __future__ import annotations

import pytest

from cudalint.compiledb.model import CompileCommand, ForcedInclude
from cudalint.project.project import Project
from cudalint.semantics.types import TypeOracle
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model

FORCED = (ForcedInclude("pre.h", "pre.h"),)


@pytest.mark.parametrize(
    ("text", "command", "canonical"),
    [
        ("__global__ void k(STORAGE* p) {}\n", CompileCommand(), "STORAGE*"),
        (
            "__global__ void k(STORAGE* p) {}\n",
            CompileCommand(defines=(("STORAGE", "void"),)),
            "void*",
        ),
        (
            "#ifdef WIDE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"
            "template <typename T> struct id { typedef T type; };\n"
            "__global__ void k(id<real>::type p) {}\n",
            CompileCommand(defines=(("WIDE", "1"), ("OFF", None))),
            "double",
        ),
        ("__global__ void k(forced_t p) {}\n", CompileCommand(forced=FORCED), "const void*"),
        ("__global__ void k(forced_t p) {}\n", CompileCommand(), "forced_t"),
        (
            "#include <sub/x.h>\n__global__ void k(sub_t p) {}\n",
            CompileCommand(folders=("inc",)),
            "void*",
        ),
    ],
)
def test_commands_reach_the_types(text: str, command: CompileCommand, canonical: str) -> None:
    files = {
        "k.cu": text,
        "pre.h": "typedef const void* forced_t;\n",
        "inc/sub/x.h": "#include <sub/y.h>\n",
        "inc/sub/y.h": "typedef void* sub_t;\n",
    }
    models = {path: read_model(path, code.encode()) for path, code in files.items()}
    sources = {path: SourceFile(path, code.encode()) for path, code in files.items()}
    project = Project(models, (), None, sources, {"k.cu": [command]})
    (parameter,) = TypeOracle(project, sources).parameters(models["k.cu"].kernels[0])
    assert parameter.canonical == canonical


@pytest.mark.parametrize("value", ["void\n#include </etc/passwd>", "-include=/etc/passwd", '"x'])
def test_odd_values_do_no_harm(value: str) -> None:
    text = "__global__ void k(Unknown<int>::type p, void* q) {}\n"
    model = read_model("k.cu", text.encode())
    sources = {"k.cu": SourceFile("k.cu", text.encode())}
    command = CompileCommand(defines=(("X", value),))
    project = Project({"k.cu": model}, (), None, sources, {"k.cu": [command]})
    oracle = TypeOracle(project, sources)
    assert [p.untyped for p in oracle.parameters(model.kernels[0])] == [False, True]
    assert oracle.failure is None
