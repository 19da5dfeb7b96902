"""`cudalint graph` as a process: what it prints, and how it exits."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from conftest import write_files
from cudalint.reporters.graph.json import JsonAnswer
from forked import run_cudalint_text

PAGE = Path(__file__).parents[2] / "docs" / "graph.md"
_FILE = re.compile(r"`([\w/.]+)`:\n\n```cpp\n(.*?)```", re.DOTALL)
_RUN = re.compile(r"```\n\$ (cudalint graph [^\n]*)\n(.*?)```", re.DOTALL)


def graph(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_cudalint_text(["graph", *arguments], cwd=root)


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """The files of the documentation's example."""
    write_files(tmp_path, dict(_FILE.findall(PAGE.read_text(encoding="utf-8"))))
    return tmp_path


def test_the_page_shows_what_the_program_prints(engine: Path) -> None:
    runs = _RUN.findall(PAGE.read_text(encoding="utf-8"))
    assert [command.rpartition("--format ")[2] for command, _ in runs[2:]] == [
        *("dot", "mermaid", "json")
    ]
    for command, shown in runs:
        done = graph(engine, *command.split()[2:])
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["drian"], "there is no function 'drian' in the files that were read; did you mean "),
        (["Queue::drian"], "did you mean 'Queue::drain'?"),
        (
            ["nothing_like_it"],
            "there is no function 'nothing_like_it' in the files that were read\n",
        ),
        (["::drain"], "there is no function '::drain'"),
        (["a b"], "'a b' can't be the name of a function\n"),
        (["host/step.cu"], "'host/step.cu' can't be the name of a function\n"),
        ([""], "'' can't be the name of a function\n"),
        (["step", "no/such/folder"], "no such file or folder: 'no/such/folder'\n"),
        (["step", "--limit", "0"], "0 is not in the range"),
        (["step", "--format", "svg"], "'svg' is not one of 'text', 'dot', 'mermaid', 'json'"),
        (["step", "--config", "absent.toml"], "absent.toml"),
        ([], "Missing argument 'FUNCTION'"),
    ],
)
def test_an_error_of_the_user_is_one_line(
    arguments: list[str], complaint: str, engine: Path
) -> None:
    done = graph(engine, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cudalint: error: ")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_settings_and_exclusion_count_as_for_check(engine: Path) -> None:
    assert " is on a launch path" in graph(engine, "wait_for").stdout
    write_files(engine, {"cudalint.toml": 'cold-functions = ["step"]\n'})
    told = graph(engine, "wait_for").stdout
    assert "cut: step is cold, since 'cold-functions' holds 'step'\n" in told
    assert " is on a launch path" in graph(engine, "wait_for", "--isolated").stdout
    write_files(engine, {"other.toml": 'cold-paths = ["host/step.*"]\n'})
    told = graph(engine, "step", "--config", "other.toml").stdout
    assert "it is cold, since 'cold-paths' holds 'host/step.*'." in told
    apart = graph(engine, "wait_for", "--isolated", "--exclude", "*.cu").stdout
    assert "is on no launch path: no launch is reached from it" in apart
    assert "host/queue.cpp:7:42: Queue::drain calls wait_for (call, in a lambda)\n" in apart
    write_files(engine, {"cudalint.toml": 'launch-functions = ["wait_for"]\n'})
    told = graph(engine, "Queue::drain").stdout
    assert "Queue::drain launches wait_for (launch by launch-functions, in a lambda)" in told


def test_the_cache_and_processes_change_nothing(engine: Path) -> None:
    first = graph(engine, "wait_for", "--jobs", "2", "--cache-dir", ".kept").stdout
    assert (engine / ".kept").is_dir()
    again = graph(engine, "wait_for", "--cache-dir", ".kept").stdout
    assert first == again == graph(engine, "wait_for", "--no-cache", "-j", "1").stdout


def test_paths_are_as_one_types_them_where_one_is(engine: Path) -> None:
    write_files(engine, {"cudalint.toml": ""})
    told = graph(engine / "host", "step", ".").stdout
    assert told.startswith("step.cu:5:6: step is on a launch path")
    told = graph(engine / "host", "wait_for", "queue.cpp").stdout
    assert "    step.cu:7:3: step launches decode" in told


def test_all_functions_of_a_name_are_answered_for(tmp_path: Path) -> None:
    source = "namespace a { void f() {} }\nstruct B { void f() {} };\nvoid g() { a::f(); }\n"
    write_files(tmp_path, {"x.cpp": source, "y.cpp": "static void f() {}\n"})
    told = graph(tmp_path, "f").stdout
    heads = re.findall(r"(?m)^(\S+): (\S+) is on no launch path", told)
    assert heads == [("x.cpp:1:20", "a::f"), ("x.cpp:2:17", "B::f"), ("y.cpp:1:13", "f")]
    assert re.findall(r"(?m)^\S+: (\S+) is on", graph(tmp_path, "B::f").stdout) == ["B::f"]
    assert re.findall(r"(?m)^\S+: (\S+) is on", graph(tmp_path, "::f").stdout) == ["f"]


def test_methods_of_templates_are_named_without_their_arguments(tmp_path: Path) -> None:
    source = "template <typename T> struct L { void f(T* x); void g(); };\n"
    source += "template <typename T> void L<T>::f(T* x) { g(); }\n"
    source += "template <> void L<float>::g() {}\n"
    write_files(tmp_path, {"a.cpp": f"namespace n {{\n{source}}}\n"})
    for asked in ("n::L::f", "L<float>::f", "L<T>::f"):
        assert graph(tmp_path, asked).stdout.startswith("a.cpp:3:34: n::L::f is on no launch path")
    assert "n::L::f calls n::L::g (method)" in graph(tmp_path, "L::g").stdout


def many(count: int) -> str:
    roots = "".join(f"void root{n}(float* o) {{ k<<<1, 1>>>(o); wait(); }}\n" for n in range(count))
    return f"__global__ void k(float* o) {{ *o = 1; }}\nvoid wait() {{}}\n{roots}"


def test_chains_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": many(12)})
    told = graph(tmp_path, "wait").stdout
    assert "chain 10 of 12, from the launch of k:" in told
    assert "chain 11" not in told
    assert told.endswith("\n  2 more chains (--limit)\n")
    assert graph(tmp_path, "wait", "--limit", "11").stdout.endswith("  1 more chain (--limit)\n")
    assert "more" not in graph(tmp_path, "wait", "--limit", "12").stdout
    assert graph(tmp_path, "k").stdout.endswith("\n    2 more (--limit)\n")


HOSTILE = {
    'odd "name" <b> #1;.cu': "__global__ void k(float* o);\n"
    "void step(float* o, Op op) {\n  k<<<1, 1>>>(o);\n"
    '  if (debug && op["a\\"b|`<i>\\\\n"]) helper();\n}\nvoid helper() {}\n',
}


@pytest.mark.parametrize("format_", ["text", "dot", "mermaid", "json"])
def test_names_and_conditions_act_on_nothing(format_: str, tmp_path: Path) -> None:
    write_files(tmp_path, {**HOSTILE, "li\nne.cu": "void helper() {}\n"})
    done = graph(tmp_path, "helper", "--format", format_)
    assert (done.returncode, done.stderr) == (0, "")
    if format_ == "json":
        answer = msgspec.json.decode(done.stdout, type=JsonAnswer)
        [cut, apart] = answer.functions if answer.functions[0].chains else answer.functions[::-1]
        assert cut.chains[0].below[0].cut == (
            'only runs for debugging, under \'if (debug && op["a\\"b|`<i>\\\\n"])\''
        )
        assert apart.place.path == "li\u240ane.cu"
    elif format_ == "dot":
        check_dot(done.stdout)
    elif format_ == "mermaid":
        check_mermaid(done.stdout)
    else:
        assert "li\u240ane.cu:1:6: helper" in done.stdout


_STRING = r'"(?:[^"\\\n]|\\["\\n])*"'
_ATTRIBUTES = rf"\[label={_STRING}(?:, \w+=\w+)*\]"
_DOT_LINE = re.compile(rf"  n\d+(?: -> n\d+)? {_ATTRIBUTES};|  node \[shape=box\];")


def check_dot(text: str) -> None:
    """Each line is one statement of the language, and Graphviz reads it where it is installed."""
    first, *lines, last = text.splitlines()
    assert (first, last) == ("digraph launch_paths {", "}")
    assert [line for line in lines if not _DOT_LINE.fullmatch(line)] == []
    if shutil.which("dot"):
        drawn = subprocess.run(
            ["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=60
        )
        assert (drawn.returncode, drawn.stderr) == (0, "")
        assert drawn.stdout.count('class="node"') == len(re.findall(r"(?m)^  n\d+ \[", text))
        assert drawn.stdout.count('class="edge"') == text.count(" -> n")


_LABEL = r'"(?:[\w ,.:/_\-+=\'()~*!?@$%|{}\[\]]|;|&|#\d+;|<br>)*"'
_MERMAID_LINE = re.compile(
    rf"  classDef \w+ [\w:-]+|  n\d+(?:\[{_LABEL}\]|\(\[{_LABEL}\]\))(?::::\w+)?"
    rf"|  n\d+ -\.?->\|{_LABEL}\| n\d+"
)


def check_mermaid(text: str) -> None:
    """Each line is one statement of a flowchart, with nothing in a label that acts."""
    first, *lines = text.splitlines()
    assert first == "flowchart TD"
    assert [line for line in lines if not _MERMAID_LINE.fullmatch(line)] == []
    boxes = set(re.findall(r"(?m)^  (n\d+)[\[(]", text))
    assert set(re.findall(r"\bn\d+\b(?=$| -)", text, re.MULTILINE)) <= boxes
