"""Statements that are given to macros of other files, and other text that grammars refuse."""

from __future__ import annotations

import textwrap

import pytest

from cudalint.syntax.model import FileModel
from cudalint.syntax.read import read_model


def read(text: str) -> FileModel:
    return read_model("a.cu", textwrap.dedent(text).encode())


SWITCHES = """\
void step(Tensor in, Tensor out, int n, cudaStream_t s) {
  SWITCH_TYPE(in.dtype(), T, k<T><<<n, 32, 0, s>>>(cast<T*>(in.data), n););
  SWITCH_TYPE(
      in.dtype(), T,
      SWITCH_TYPEx2_ONLY(
          n ? out.dtype : in.dtype, 2, U,
          constexpr int size = 16 / sizeof(T), twice = 2 * size;
          if (size == 16) { k<T, U><<<n, size, 0, s>>>(in, n); return; }
          SWITCH_CONDITION(n % 2 == 0, kEven, {
            m<T, kEven>
            <<<n, 32, 0, s>>>(in);
          }, {
            check(cudaGetLastError());
          });
      )  // U
  );  // T
  SWITCH_OUT(out.dtype(), U, if (n > 1) { q<<<n, 32, 0, s>>>(in); } else { FAIL("no"); });
  check(cudaGetLastError());
}
"""


def test_statements_in_a_macros_arguments_are_read() -> None:
    model = read(SWITCHES)
    assert model.broken == ()
    assert [(launch.kernel, len(launch.configuration)) for launch in model.launches] == [
        ("k<T>", 4),
        ("k<T, U>", 4),
        ("m<T, kEven>", 4),
        ("q", 4),
    ]
    assert {launch.function for launch in model.launches} == {0}
    launched = model.launches[1]
    assert [a.text for a in launched.configuration] == ["n", "size", "0", "s"]
    uses = [call for call in model.calls if call.name.startswith("SWITCH")]
    assert [(call.name, [a.text for a in call.arguments]) for call in uses] == [
        ("SWITCH_TYPE", ["in.dtype()", "T"]),
        ("SWITCH_TYPEx2_ONLY", ["n ? out.dtype : in.dtype", "2", "U"]),
    ]
    assert [call.name for call in model.calls].count("check") == 2
    assert [(b.keyword, b.condition) for b in model.branches] == [
        ("if", "size == 16"),
        ("if", "n > 1"),
        ("else", "n > 1"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "void f() { CHECK(run([&] { a(); b(); })); }",
        "void f() { DISPATCH(type, [&] { a(); }, b); }",
        "void f() { Point P({1, 2}); Call(a, b); }",
        "void f() { FOR_EACH(i, n) { a(i); } }",
        "void f() { GNU(({ int x = a(); x; })); }",
    ],
)
def test_what_brackets_are_around_is_left_alone(text: str) -> None:
    model = read(text)
    assert model.broken == ()
    assert b"{" not in b"".join(c.argument_text[:1] for c in model.calls if c.name != "P")


def test_macros_of_the_file_are_given_them_too() -> None:
    model = read(
        """\
        #define TWICE(x, body) { body body }
        void f(cudaStream_t s) { TWICE(1, k<<<1, 32>>>();) }
        """
    )
    assert model.broken == ()
    assert [(launch.kernel, launch.function) for launch in model.launches] == [("k", 0)]


def test_a_macro_without_parameters_is_a_statement_without_a_semicolon() -> None:
    model = read(
        """\
        #define RUN dim3 grid(n); k<<<grid, 32, 0, s>>>(n);
        void f(int n, cudaStream_t s) {
          if (n > 1) {
            RUN
          }
          else {
            RUN
            g(n);
          }
        }
        """
    )
    assert model.broken == ()
    assert [b.keyword for b in model.branches] == ["if", "else"]
    assert "g" in [call.name for call in model.calls]


def test_macros_without_a_semicolon_under_if_and_else() -> None:
    model = read(
        """\
        #define RUN(T) k<T><<<1, 32, 0, s>>>(n);
        void f(int n, cudaStream_t s) {
          if (n > 1) RUN(half) else RUN(float)
          for (int i = 0; i < (n); ++i)
            LIBRARY_CHECK(n > 1, "no")

          if (n == 1) RUN(int)
          else if (n == 2) RUN(char)
          else
            LIBRARY_CHECK(false, "no")
          g(n);
        }
        """
    )
    assert model.broken == ()
    assert [b.keyword for b in model.branches] == ["if", "else", "for", "if", "else", "if", "else"]
    assert "g" in [call.name for call in model.calls]
    assert len([x for x in model.launches if x.use is not None]) == 4


def test_braces_in_a_launchs_configuration() -> None:
    model = read(
        """\
        void f(int n, cudaStream_t s) {
          if (n > 1) { k<<<n, {32, n, 1}, 0, s>>>(n); } else { k<T><<<{n}, { 8 }, 0, {}>>>(n); }
        }
        """
    )
    assert model.broken == ()
    assert [[a.text for a in x.configuration] for x in model.launches] == [
        ["n", "{32, n, 1}", "0", "s"],
        ["{n}", "{ 8 }", "0", "{}"],
    ]
    assert [b.keyword for b in model.branches] == ["if", "else"]


def test_specifiers_of_libraries_and_braces_behind_decltype() -> None:
    model = read(
        """\
        __global__ void k(float* o) {
          struct Tiles {
            int at, n;
            CUTLASS_DEVICE Tiles(int count) : at(blockIdx.x), n(count) { next(); }
            CUTLASS_HOST_DEVICE unsigned first() const { return at; }
          };
          using Tile = decltype(make(decltype(o){}, 1));
          const float * MY_RESTRICT from = o, * MY_RESTRICT to = o;
          void        * MY_RESTRICT any  = o;
        }
        """
    )
    assert model.broken == ()
    assert [f.name for f in model.functions] == ["k", "Tiles", "first"]
