"""Where in the sources things are that nvcc and ptxas speak of."""

from __future__ import annotations

import msgspec
import pytest

from cudalint.compile.locate import FunctionPlace, LinePlace, Locator
from cudalint.compile.model import Compilation, CompiledFile, Diagnostic
from cudalint.context import Context
from cudalint.finding import Span
from cudalint.settings.model import Settings
from projects import context_of, project_of

MAIN = """\
// first
#include "other.cuh"
#include "outer.cuh"
#define LOG(x) printf(x)
#define UNUSED(x) malloc(x)
#define OWN(n) __global__ void n##_own(int a) { }
__device__ void helper(int a) { LOG(a); alloca(a); }
OWN(one)
FROM( two , 3)
FROM(lonely)
// FROM(spoken, 3)
"""
OUTER = '#include "inner.cuh"\n__device__ int outer(int q) { return q; }\n'
INNER = """\
#define QUIET(n) __device__ void n##_3(int b) { }
#define FROM(n, t) __global__ void n##_##t(int b) { vanish(b); }
__global__ void inner(float* x) { }
"""
FILES = {"a.cu": MAIN, "outer.cuh": OUTER, "inner.cuh": INNER, "other.cuh": "int other;\n"}
NOWHERE = Span("a.cu", 0, 0)


def locator(files: dict[str, str], *unasked: str, missing: tuple[str, ...] = ()) -> Locator:
    """Of a.cu, in a run that did not ask for `unasked` and does not have `missing`."""
    sources = {
        path: msgspec.structs.replace(source, requested=path not in unasked)
        for path, source in context_of(files).sources.items()
        if path not in missing
    }
    context = Context(Settings(), sources, project_of(files), ())
    compiled = CompiledFile("a.cu", (Compilation("sm_90", (), dependencies=tuple(files)),))
    return Locator(compiled, context)


def span_of(words: str, path: str = "a.cu", files: dict[str, str] = FILES) -> Span:
    at = files[path].encode().index(words.encode())
    return Span(path, at, at + len(words.encode()))


INCLUDE = span_of('#include "outer.cuh"')


def test_a_call_is_where_it_is_written_or_its_macro_is_used() -> None:
    found = locator(FILES)
    assert found.call("alloca") == span_of("alloca")
    assert found.call("printf") == span_of("LOG(a)")
    assert found.call("malloc") is None, "nothing uses the macro"
    assert found.call("nothing") is None


def test_a_function_is_where_it_is_written_or_its_macro_is_used() -> None:
    found = locator(FILES)
    inner = found.symbol("_Z5innerPf")
    head = span_of("__global__ void inner(float* x) ", "inner.cuh")
    assert inner == FunctionPlace("inner", span_of("inner", "inner.cuh"), (head,))
    own = found.symbol("_Z7one_owni")
    body = span_of("__global__ void n##_own(int a) ")
    assert own == FunctionPlace("one_own", span_of("OWN(one)"), (body, span_of("n##_own")))


def test_a_function_of_a_file_that_is_not_shown_is_where_that_is_included() -> None:
    found = locator(FILES, "inner.cuh").symbol("_Z5innerPf")
    written = span_of("inner", "inner.cuh")
    head = span_of("__global__ void inner(float* x) ", "inner.cuh")
    assert found == FunctionPlace("inner", INCLUDE, (written, head))


def test_a_function_that_another_file_s_macro_makes() -> None:
    """By its use in code; also beside a use that lacks an argument."""
    found = locator(FILES)
    made = span_of("n##_##t", "inner.cuh")
    assert found.symbol("_Z5two_3i") == FunctionPlace("two_3", span_of("FROM( two , 3)"), (made,))
    for symbol, name in (("_Z8spoken_3i", "spoken_3"), ("_Z5two_4i", "two_4")):
        assert found.symbol(symbol) == FunctionPlace(name, NOWHERE, known=False)


def test_a_function_that_nobody_has_written() -> None:
    assert locator(FILES).symbol("_ZN1n1kILi4EEEvv") == FunctionPlace("n::k", NOWHERE, known=False)


KERNELS = """\
namespace { __global__ void k(int a) { } }
namespace a { __global__ void k(int b) { } namespace b { __global__ void k(int c) { } } }
__global__ void k(int d) { }
__global__ void k(int e, int f) { }
template <int N> __global__ void k(int g) { }
extern "C" __global__ void c(int h);
namespace n { __global__ void c(int i) { } }
extern "C" __global__ void c(int j) { }
extern "C" __global__ void z(int l) { }
__global__ void z(float m) { }
"""


@pytest.mark.parametrize(
    ("symbol", "parameter"),
    [
        ("_ZN12_GLOBAL__N_11kEi", "int a"),
        ("_ZN1a1kEi", "int b"),
        ("_ZN1a1b1kEi", "int c"),
        ("_Z1ki", "int d"),
        ("_Z1kii", "int e, int f"),
        ("_Z1kILi4EEvi", "int g"),
        ("_ZN1n1cEi", "int i"),
        ("c", "int j"),
        ("z", "int l"),
        ("_Z1zf", "float m"),
    ],
)
def test_of_several_functions_of_a_name_the_likeliest_is_meant(symbol: str, parameter: str) -> None:
    """By scope, then template or not, then how many parameters, then linkage."""
    files = {"a.cu": KERNELS}
    place = locator(files).symbol(symbol)
    written = KERNELS[place.span.start :].partition("(")[2].partition(")")[0]
    assert written == parameter


def test_lines_and_words_in_them() -> None:
    text = "  int x = 1;  \n   \nfoo();"
    found = locator({"a.cu": text})
    assert found.line("a.cu", 1) == Span("a.cu", 2, 12)
    assert found.line("a.cu", 1, 7) == Span("a.cu", 6, 7)
    assert found.line("a.cu", 1, 3) == Span("a.cu", 2, 5)
    assert found.line("a.cu", 2) == Span("a.cu", 18, 18)
    assert found.line("a.cu", 3) == Span("a.cu", 19, 25)
    assert found.line("a.cu", 4) is None
    assert found.line("b.cu", 1) is None


def test_where_a_message_is_about() -> None:
    def place(path: str, line: int = 1, unasked: tuple[str, ...] = ()) -> LinePlace:
        shown = locator(FILES, *unasked, missing=("inner.cuh", "gone.cuh"))
        return shown.diagnostic(Diagnostic("error", "x", path, line, 0))

    assert place("") == LinePlace(NOWHERE, exact=False)
    assert place("a.cu") == LinePlace(span_of("// first"), exact=True)
    assert place("outer.cuh") == LinePlace(Span("outer.cuh", 0, 20), exact=True)
    assert place("outer.cuh", unasked=("outer.cuh",)) == LinePlace(INCLUDE, exact=False)
    assert place("inner.cuh") == LinePlace(INCLUDE, exact=False)
    assert place("gone.cuh") == LinePlace(NOWHERE, exact=False)


def test_what_is_shown() -> None:
    found = locator(FILES, "outer.cuh", "a.cu")
    assert found.is_shown(Span("a.cu", 3, 4))
    assert found.is_shown(Span("inner.cuh", 3, 4))
    assert not found.is_shown(Span("outer.cuh", 3, 4))
