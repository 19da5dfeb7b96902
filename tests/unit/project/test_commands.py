"""What compile commands change in a project: includes, branches, constants, archs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cudalint.compiledb.model import CompileCommand, ForcedInclude
from cudalint.context import Context
from cudalint.finding import Span
from cudalint.project.conditions import every_build
from cudalint.project.project import Project
from cudalint.project.targetbuild import builds
from cudalint.settings.model import Settings
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model

Commands = dict[str, Sequence[CompileCommand]]


def project_of(files: dict[str, str], commands: Commands) -> Project:
    models = {path: read_model(path, text.encode()) for path, text in files.items()}
    sources = {path: SourceFile(path, text.encode()) for path, text in files.items()}
    return Project(models, (), Settings(), sources, commands)


def folders(*names: str) -> list[CompileCommand]:
    return [CompileCommand(folders=names)]


def defining(**names: str | None) -> CompileCommand:
    return CompileCommand(defines=tuple(names.items()))


TWICE = {"x/h.h": "", "y/h.h": "", "y/deep/g.h": '#include "../h.h"\n'}


@pytest.mark.parametrize(
    ("include", "command", "expected"),
    [
        ("<h.h>", CompileCommand(folders=("x",)), ["x/h.h"]),
        ("<h.h>", CompileCommand(folders=("y", "x")), ["y/h.h"]),
        ('"h.h"', CompileCommand(folders=("y", "x")), ["y/h.h"]),
        ('"h.h"', CompileCommand(quoted=("x",), folders=("y",)), ["x/h.h"]),
        ("<h.h>", CompileCommand(quoted=("x",), folders=("y",)), ["y/h.h"]),
        ("<deep/g.h>", CompileCommand(folders=(".", "y")), ["y/deep/g.h", "y/h.h"]),
        ("<g.h>", CompileCommand(folders=("x", "y")), []),
        ('"g.h"', CompileCommand(folders=("x", "y")), ["y/deep/g.h", "y/h.h"]),
        ("<x/h.h>", CompileCommand(folders=(".",)), ["x/h.h"]),
        ("<../x/h.h>", CompileCommand(folders=("y",)), ["x/h.h"]),
        ("<../../h.h>", CompileCommand(folders=("x",)), []),
        ("<h.h>", CompileCommand(), []),
        ('"h.h"', CompileCommand(), []),
    ],
)
def test_folders_of_a_command(include: str, command: CompileCommand, expected: list[str]) -> None:
    project = project_of({**TWICE, "a.cu": f"#include {include}\n"}, {"a.cu": [command]})
    assert list(project.includes.closure("a.cu")) == expected
    assert project.includes.lacks("a.cu") == (not expected and '"' in include)


def test_a_file_beside_goes_before_folders_in_quotes_alone() -> None:
    files = {**TWICE, "h.h": "", "a.cu": '#include "h.h"\n', "b.cu": "#include <h.h>\n"}
    includes = project_of(files, {"a.cu": folders("x"), "b.cu": folders("x")}).includes
    assert (includes.closure("a.cu"), includes.closure("b.cu")) == (("h.h",), ("x/h.h",))


SHARED = {
    "a.cu": '#include "s.h"\n',
    "b.cu": '#include "s.h"\n',
    "c.cu": '#include "s.h"\n',
    "s.h": "#pragma once\n#include <h.h>\n",
    **TWICE,
}


def test_each_unit_sees_a_header_with_its_own_folders() -> None:
    includes = project_of(SHARED, {"a.cu": folders("y"), "b.cu": folders("x")}).includes
    assert includes.closure("a.cu") == ("s.h", "y/h.h")
    assert includes.closure("b.cu") == ("s.h", "x/h.h")
    include = includes._models["s.h"].includes[0]
    assert includes.resolve("s.h", include, "b.cu") == "x/h.h"


def test_a_header_alone_is_seen_with_the_folders_of_the_first_unit_by_path() -> None:
    commands: Commands = {"b.cu": folders("x"), "a.cu": folders("y")}
    includes = project_of(SHARED, commands).includes
    assert includes.closure("s.h") == ("y/h.h",)
    assert includes.closure("c.cu") == ("s.h", "y/h.h")
    assert includes.includers("y/h.h") == ("a.cu", "c.cu", "s.h", "y/deep/g.h")
    assert includes.includers("x/h.h") == ("b.cu",)


def test_several_commands_of_a_unit_add_up_in_their_order() -> None:
    commands: Commands = {"a.cu": [*folders("x"), *folders("y", "x")]}
    includes = project_of({**TWICE, "a.cu": "#include <h.h>\n#include <deep/g.h>\n"}, commands)
    assert includes.includes.closure("a.cu") == ("x/h.h", "y/deep/g.h", "y/h.h")


def test_forced_includes_come_first_and_serve_their_unit_alone() -> None:
    forced = (ForcedInclude("h.h", "build/h.h"), ForcedInclude("pre.h", "pre.h"))
    commands: Commands = {"a.cu": [CompileCommand(folders=("x",), forced=forced)]}
    files = {**TWICE, "pre.h": "", "o.h": "", "a.cu": '#include "o.h"\n', "b.cu": ""}
    includes = project_of(files, commands).includes
    assert includes.closure("a.cu") == ("x/h.h", "pre.h", "o.h")
    assert includes.closure("b.cu") == includes.closure("o.h") == ()


def left_out(condition: str, *commands: CompileCommand, before: str = "") -> list[bool]:
    """Whether a branch is left out in the default build, and by what is known for certain."""
    text = f"{before}\n#if {condition}\nint here;\n#endif\n"
    project = project_of({"a.cu": text}, {"a.cu": commands} if commands else {})
    at = text.index("int here")
    model = project.models["a.cu"]
    return [
        every_build(project, model, default_build=default).leave_out(Span("a.cu", at, at + 3))
        for default in (True, False)
    ]


OFF, ON, DEFAULT = [True, True], [False, False], [True, False]


@pytest.mark.parametrize(
    ("condition", "commands", "expected"),
    [
        ("defined(X)", [defining(X="1")], ON),
        ("!defined(X)", [defining(X="1")], OFF),
        ("X", [defining(X="1")], ON),
        ("X", [defining(X="0")], OFF),
        ("X > 3", [defining(X="(1 + 2)")], OFF),
        ("defined(X)", [defining(X=None)], OFF),
        ("!defined(X)", [defining(X=None)], ON),
        ("defined(X)", [defining(Y="1")], DEFAULT),
        ("defined(X)", [defining(X="1"), defining(Y="1")], ON),
        ("X == 2", [defining(X="1"), defining(X="2")], ON),
        ("X == 3", [defining(X="1"), defining(X="2")], OFF),
        ("X == 3", [defining(X="unknown")], ON),
        ("defined(X)", [], DEFAULT),
    ],
)
def test_branches(condition: str, commands: list[CompileCommand], expected: list[bool]) -> None:
    assert left_out(condition, *commands) == expected


@pytest.mark.parametrize(
    ("before", "given", "expected"),
    [
        ("#ifndef X\n#define X 64\n#endif", "32", OFF),
        ("#if !defined X\n#define X 64\n#endif", "32", OFF),
        ("#ifndef X\n#define X 64\n#endif", "64", ON),
        ("#define X 64", "32", ON),
        ("#ifndef Y\n#define X 64\n#endif", "32", ON),
        ("#ifndef X\n#define X 64\n#endif", None, ON),
    ],
)
def test_a_definition_for_want_of_one_is_beaten(
    before: str, given: str | None, expected: list[bool]
) -> None:
    assert left_out("X == 64", defining(X=given), before=before) == expected


@pytest.mark.parametrize(
    ("text", "commands", "value"),
    [
        ("", [defining(X="32")], 32),
        ("", [defining(X="32"), defining(X="0x20")], 32),
        ("", [defining(X="32"), defining(X="64")], None),
        ("", [defining(X="32"), defining()], None),
        ("", [defining(X=None)], None),
        ("#define X 8\n", [defining(Y="1")], 8),
        ("#define X 8\n", [defining(X="32")], None),
        ("#ifndef X\n#define X 8\n#endif\n", [defining(X="32")], 32),
        ("#ifndef X\n#define X 8\n#endif\n", [defining()], 8),
        ("#ifndef X\n#define X 8\n#endif\n", [defining(X="32"), defining()], None),
        ("constexpr int X = Y * 2;\n", [defining(Y="4")], 8),
        ('#include "h.h"\n', [defining(X="32")], 32),
    ],
)
def test_constants(text: str, commands: list[CompileCommand], value: int | None) -> None:
    header = "#pragma once\n#ifndef X\n#define X 5\n#endif\n"
    project = project_of({"a.cu": text, "h.h": header}, {"a.cu": commands})
    assert project.constants.evaluate("a.cu", "X") == value


def test_a_header_has_the_values_on_which_its_units_agree() -> None:
    files = {"a.cu": '#include "h.h"\n', "b.cu": '#include "h.h"\n', "h.h": "#pragma once\n"}
    commands: Commands = {
        "a.cu": [defining(SAME="1", OTHER="1")],
        "b.cu": [defining(SAME="1", OTHER="2")],
    }
    constants = project_of(files, commands).constants
    assert [constants.evaluate("h.h", name) for name in ("SAME", "OTHER")] == [1, None]


def test_what_no_condition_asks_for_makes_no_build_of_its_own() -> None:
    header = "#pragma once\n#define Y X\n#if Y > 2\nint here;\n#endif\n"
    files = {"h.h": header} | {f"a{n}.cu": '#include "h.h"\n' for n in range(50)}
    commands: Commands = {
        f"a{n}.cu": [
            CompileCommand(archs=("sm_90",), defines=(("FILE", f"{n}"), ("X", f"{n % 2}")))
        ]
        for n in range(50)
    }
    project = project_of(files, commands)
    context = Context(Settings(), project.sources, project, ())
    found = list(builds("h.h", context))
    assert len(found) == 2
    at = header.index("int here")
    assert not any(build.compiles(Span("h.h", at, at + 3)) for build in found)
    every = every_build(project, project.models["h.h"], default_build=True)
    assert len(every._builds) == 2


def test_builds_and_archs_are_those_of_the_commands_where_no_setting_says() -> None:
    files = {"a.cu": '#include "h.h"\n#if X\nint a;\n#endif\n', "h.h": "#pragma once\n"}
    models = {path: read_model(path, text.encode()) for path, text in files.items()}
    commands: Commands = {
        "a.cu": [
            CompileCommand(archs=("sm_90",), defines=(("X", "1"),)),
            CompileCommand(archs=("sm_80", "sm_90"), defines=(("X", "0"), ("Y", None))),
        ]
    }

    def context(*targets: str) -> Context:
        settings = Settings(targets=targets)
        project = Project(models, (), settings, {}, commands)
        return Context(settings, {}, project, ())

    at = files["a.cu"].index("int a")
    found = list(builds("a.cu", context()))
    assert [(build.arch, build.compiles(Span("a.cu", at, at + 3))) for build in found] == [
        ("sm_90", True),
        ("sm_80", False),
        ("sm_90", False),
    ]
    assert [build.arch for build in builds("a.cu", context("sm_121"))] == ["sm_121", "sm_121"]
    assert [build.arch for build in builds("h.h", context("sm_121"))] == ["sm_121"]
    assert context().archs("h.h") == ("sm_80", "sm_90")
    assert context("sm_121").archs("a.cu") == ("sm_121",)
