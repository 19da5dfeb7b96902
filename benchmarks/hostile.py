"""What files made to be expensive cost: each within 2 s and 500 MB, or cut off with CU004.

    python benchmarks/hostile.py [--size N] [NAME ...]

One file a case, N repetitions of something (100,000 unless given, where long lines
have 10 MB; traps have a size of their own). Each is linted by all source rules in a
process of its own, whose CPU time and peak memory are printed beside the outcome.
Exits 1 above a limit.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from cudalint.registry import all_rules
from cudalint.runner import Request, run

SECONDS = 2.0
MEGABYTES = 500
STOPPED_AT = 20
"""The seconds after which a case is stopped."""

TEN_MB = 9_990_000
Make = Callable[[int], bytes]


def inside(open_text: bytes, middle: bytes, close_text: bytes, share: int = 1) -> Make:
    """A text nested in itself, in a function."""
    return lambda n: (
        b"void f() { " + open_text * (n // share) + middle + close_text * (n // share) + b" }\n"
    )


def times(text: bytes, share: int = 1, before: bytes = b"", after: bytes = b"") -> Make:
    """A text over and over; `%d` in it is the number of the repetition."""
    fields = text.count(b"%d")
    if not fields:
        return lambda n: before + text * (n // share) + after
    return lambda n: before + b"".join(text % ((i,) * fields) for i in range(n // share)) + after


def ten_mb(text: bytes, before: bytes = b"", after: bytes = b"") -> Make:
    """A text over and over, for 100,000 to the size of the largest file that is read."""
    return lambda n: before + text * (TEN_MB * n // 100_000 // len(text)) + after


def uses(define: bytes, use: bytes, share: int = 1) -> Make:
    """So many macros, each used once."""

    def make(n: int) -> bytes:
        numbers = range(n // share)
        defines = b"".join(define % i for i in numbers)
        return defines + b"void f() {\n" + b"".join(use % i for i in numbers) + b"}\n"

    return make


def doubling(first: bytes, step: bytes, use: bytes) -> Make:
    """Macros each of which is two of the one before."""
    steps = b"".join(step % (i + 1, i, i) for i in range(60))
    return lambda n: first + steps + use * (n // 100)


NESTED: dict[str, Make] = {
    "nested braces": inside(b"{", b"", b"}"),
    "nested parentheses": inside(b"x = (", b"1", b");"),
    "nested brackets": inside(b"a[", b"1", b"]"),
    "nested calls": inside(b"f(", b"1", b")"),
    "nested lambdas": inside(b"h([&](int a) { ", b"g();", b" });", 10),
    "nested templates": inside(b"A<", b"int", b">"),
    "nested initialisers": inside(b"x{", b"1", b"}"),
    "nested macro uses": times(b"M(", 1, b"#define M(a) f(a)\nvoid f() { ", b"1; }"),
    "nested decltype": inside(b"decltype(", b"1", b")", 4),
    "900 deep, often": times(b"void g() { " + b"f(" * 900 + b")" * 900 + b"; }\n", 100),
    "900 lambdas deep": times(b"void g() { " + b"f([&] { " * 900 + b"});" * 900 + b"}\n", 2000),
    "900 blocks deep": times(b"void g() " + b"{ if (a) f(); " * 900 + b"}" * 900 + b"\n", 1000),
    "open braces": times(b"{", 1, b"void f() "),
    "open parentheses": times(b"(", 1, b"int x = "),
    "nested namespaces": times(b"namespace a { ", 4),
    "nested classes": times(b"struct a { ", 4),
    "nested #if": lambda n: b"#if A\n" * (n // 2) + b"int x;\n" + b"#endif\n" * (n // 2),
}
"""What brackets and conditionals hold."""

CHAINS: dict[str, Make] = {
    "a+a+a": times(b"a+", 1, b"int x = ", b"a;\n"),
    "a<a<a": times(b"a<", 1, b"int x = ", b"a;\n"),
    "f(a<a,a<a": times(b"a<a,", 1, b"int x = f(", b"a);\n"),
    "a<b>a<b>": times(b"a<b>", 1, b"int x = ", b"a;\n"),
    "x::x::x": times(b"x::", 1, b"int x = ", b"x;\n"),
    "!!!!": times(b"!", 1, b"int x = ", b"x;\n"),
    "int****": times(b"*", 1, b"int", b"x;\n"),
    "a?b:a?b:": times(b"a?b:", 1, b"int x = ", b"x;\n"),
    "a=a=a": times(b"a=", 1, b"void f() { ", b"x; }\n"),
    "if if if": times(b"if (a) ", 1, b"void f() { ", b"x(); }\n"),
    "else if": times(b"if (a) b(); else ", 1, b"void f() { ", b"x(); }\n"),
    "x.g(1).g(1)": times(b".g(1)", 5, b"void f() { x", b"; }\n"),
    "cout << f(a)": times(b" << f(a)", 5, b"void f() { std::cout", b"; }\n"),
    "a, a, a": times(b"a, ", 1, b"void g() { f(", b"b); }\n"),
    "int a, int a": times(b"int a, ", 1, b"void f(", b"int b) {}\n"),
    "members a, a": times(b"a%d, ", 1, b"struct S { int ", b"b; };\n"),
    "enumerators": times(b"A%d, ", 1, b"enum E { ", b"};\n"),
}
"""What one expression or declaration holds."""

LINES: dict[str, Make] = {
    "a line of numbers": ten_mb(b"1,", b"int a[] = {", b"};\n"),
    "a line of calls": ten_mb(b"f(a, b);", b"void f() { ", b"}\n"),
    "a line of #": ten_mb(b"a# "),
    "a line of /**/#": times(b"a/**/#", 1),
    "a line of /**/": ten_mb(b"a/**/"),
    "a line of spaces": ten_mb(b" ", b"a", b"b\n"),
    "a number": ten_mb(b"1", b"int x = ", b";\n"),
    "a name": ten_mb(b"x", b"int ", b";\n"),
    "empty lines": ten_mb(b"\n"),
    "// comments": ten_mb(b"// a comment\n", b"", b"void f() { g(1); }\n"),
    "// and heads": times(b"// a comment\nvoid f%d();\n", 2),
    "backslash, newline": ten_mb(b"\\\n", b"int x", b";\n"),
    "names cut by it": times(b"\\\na", 1, b"int a", b";\n"),
    "comments cut by it": ten_mb(b"\\\n", b"// a", b";\n"),
    "directives cut by it": ten_mb(b"\\\n", b"#define A", b";\n"),
    'quotes "': times(b'"', 1),
    'a quote " a line': times(b'"a\n', 1),
    "quotes '": times(b"'", 1),
    'R"( over and over': times(b'R"(', 1),
    'R"a( over and over': times(b'R"a(', 1),
    "/* over and over": times(b"/*", 1),
    "backslashes": times(b"\\", 1, b'"'),
    "no text": lambda n: bytes((i * 7919 >> 3) % 255 + 1 for i in range(n)),
    "é": ten_mb("é".encode()),
    "no UTF-8 in comments": ten_mb(b"// \xc3\xa9\n"),
}
"""Long lines, and what has no structure."""

PREPROCESSED: dict[str, Make] = {
    "#if/#else": times(b"#if A%d\nint a%d;\n#else\nint b%d;\n#endif\n", 2),
    "#if/#else heads": times(
        b"#if A\nvoid f%d(int a) {\n#else\nvoid f%d(char a) {\n#endif\n g(a);\n}\n", 2
    ),
    "#elif": times(b"#elif B%d\nint a%d;\n", 2, b"#if A\nint a;\n", b"#endif\n"),
    "#elif in arguments": times(b"#elif B%d\n%d,\n", 2, b"void f() { g(\n#if A\n1,\n", b"#endif\n"),
    "#if 0, comments": times(b"#if 0\nint x; // c\n#endif\n// c\n", 2),
    "open #if": times(b"#if A\nint x;\n", 2),
    "macros used once": uses(b"#define M%d(a) f(a)\n", b"M%d(1);\n"),
    "values used once": uses(b"#define M%d 1\n", b"f(M%d);\n"),
    "20,000 values": uses(b"#define M%d 1\n", b"f(M%d);\n", 5),
    "5,000 macros": uses(b"#define M%d(a) f(a)\n", b"M%d(1);\n", 20),
    "a macro used often": times(b"M(1);\n", 1, b"#define M(a) f(a)\nvoid f() {\n", b"}\n"),
    "blocks that macros begin": times(
        b"M_(i, n) { x = 1; }\n", 1, b"__global__ void k(int n) {\n", b"}\n"
    ),
    "a macro in itself": times(b"void f() { M(1); }\n", 1, b"#define M(a) M(M(a)) + f(a)\n"),
    "macros that double": doubling(
        b"#define M0(a) f(a)\n", b"#define M%d(a) M%d(a) M%d(a)\n", b"void f() { M60(1); }\n"
    ),
    "heads that double": doubling(
        b"#define M0 __device__\n", b"#define M%d M%d M%d\n", b"M60 void f(int a) { g(a); }\n"
    ),
    "parameters that double": doubling(
        b"#define M0(a) int a\n", b"#define M%d(a) M%d(a##x), M%d(a##y)\n", b"void f(M60(q)) {}\n"
    ),
    "arguments that multiply": times(
        b"M(M(M(M(M(M(M(M(1))))))));\n", 50, b"#define M(a) f(a,a,a,a,a,a)\nvoid f() {", b"}\n"
    ),
    "a long macro": times(b"f(a); \\\n", 2, b"#define M(a) ", b"\nvoid f() { M(1); M(2); }\n"),
    "a macro defined often": times(b"#define M(a) f(a)\n", 4, b"", b"void f() { M(1); }\n"),
}
"""Directives and macros."""

DECLARED: dict[str, Make] = {
    "templates": times(b"template <class T> void f%d(T a) { g<T>(a); }\n", 5),
    "template heads": times(b"template <class T> ", 4, b"", b"void f();\n"),
    "kernels": times(b"__global__ void k%d(float* x) { __shared__ float s[9]; s[0] = 1; }\n", 10),
    "launches": times(b"k<<<1, 2>>>(a, b);\n", 4, b"void f() {\n", b"}\n"),
    "broken launches": times(b"k<<<1, 2\n", 2, b"void f() {\n", b"}\n"),
    "__global__": times(b"__global__ ", 1),
    "shared pointers": times(
        b"__shared__ float s%d[9]; float* p%d = s%d + 1;\n", 10, b"__global__ void k() {\n", b"}\n"
    ),
    "streams": times(b"cudaStream_t s%d; ", 4, b"void f() {", b"}"),
    "stream parameters": times(b"void f%d(cudaStream_t s) { g(s); }\n", 4),
    "open streams": times(b"cudaStream_t s = ", 2),
    "asm": times(b'asm volatile("bar.sync 0;" : "=r"(a) : "r"(b));\n', 5, b"void f() {\n", b"}\n"),
    "open asm": times(b"asm(", 1),
    "open __align__": times(b"__align__(", 1),
    "open typeof": times(b"typeof(", 1),
    "[[": times(b"[[a ", 1),
    "static, open": times(b"static int a = (;\n", 2, b"void f() {", b"}"),
    "const, open": times(b"const int ", 1),
    "bool, open": times(b"bool x = ", 1),
    "cases": times(b"case %d: g(); break;\n", 4, b"void f() { switch (a) { ", b"}}"),
    "SHOUTED": times(b"ABCD ", 1),
    "SHOUTED()": times(b"ABCD(1)\n ", 4, b"void f() { ", b"}"),
    "errors": times(b"void f() { int = ; }\n", 4),
    "garbage": times(b"@ ) } ] $ ` ", 2),
    "NOLINT": times(b"int x; // NOLINT\n", 2),
    "using": times(b"using A%d = B%d;\n", 4),
    "one name in classes": times(b"struct S%d { void run() { next.run(); } S next; };\n", 10),
    "overloads": times(b"void run(int a) { run(1); }\n", 20),
}
"""Declarations and statements."""

BLANK = b" " * 20_000


def spread(text: bytes) -> Make:
    """A text with white space without end in place of each blank in it."""
    return lambda _: text.replace(b" ", BLANK) + b"\n"


def fixed(text: bytes, count: int = 1, before: bytes = b"", after: bytes = b"") -> Make:
    """A text so many times, whatever N; `%d` in it is the number of the repetition."""
    return lambda _: times(text, 1, before, after)(count)


KERNEL = b"__global__ void k(float* x, int n) { "
TRAPS: dict[str, Make] = {
    "ranges of cases": fixed(b"case ... ", 3000, b"void f(int a) { switch (a) { ", b"}}\n"),
    "qualifiers": fixed(b"a:: ", 40, b"void f(int ", b"& x::*p) {}\n"),
    "returns": fixed(b"return s ", 20_000, b"cudaStream_t f(S* s) { ", b"}\n"),
    "blanks in aliases": spread(
        KERNEL + b"__shared__ float s[99]; float x = s + 1; auto p = &s; }"
    ),
    "blanks in casts": spread(KERNEL + b"atomicAdd((float )x, 1.f); }"),
    "blanks in a licence": spread(b"/* SPDX-License-Identifier MIT x */"),
    "blanks in launches": spread(b"void f() { k <<< 1, 2>>> (a ); }"),
    "blanks in jumps": spread(b"void f(S s) { if (s ) { break ; } x = cudaMalloc(&x , 1); }"),
    "blanks in loops": spread(
        KERNEL + b"for (int i = 0; i < n ; i += 4 ) { __syncthreads ( ) ; } }"
    ),
    "words of lambdas": fixed(b"__a", 3000, KERNEL + b"auto f = [&] ", b"; x[f(n)] = 1; }\n"),
    "subscripts": fixed(b"[1]", 40, KERNEL + b"__shared__ float s[9]; f(s", b"); }\n"),
    "NOLINT on a line": fixed(b"NOLINT(cu1, ", 20_000, b"int x; // ", b"\n"),
    "NOLINT, many names": fixed(b"a,", 50_000, b"// NOLINTNEXTLINE(", b")\nint x;\n"),
    "NOLINTBEGIN": fixed(b"// NOLINTBEGIN(cu101)\n", 20_000, b"", b"int x;\n"),
    "instructions": fixed(b"cp.async.bulk ", 20_000, b'void f() { asm("', b'"); }\n'),
    "conditions": fixed(b"defined(A) && ", 3000, b"#if ", b"1\nint x;\n#endif\n"),
    "values that double": fixed(
        b"#define A%d (A%d + A%d)\n", 300, b"", b"__global__ void __launch_bounds__(A299) k() {}\n"
    ),
    "flags": fixed(
        b"if (f) x[i] = 1;",
        4000,
        b"__global__ void k(bool f, float* x) { for (int i = 0; i < 9; i++) { ",
        b"} }\n",
    ),
    "constants": fixed(
        b"__shared__ float s%d[c%d][9];",
        2000,
        fixed(b"constexpr int c%d = 3;\n", 4000)(0) + b"__global__ void k() { ",
        b"}\n",
    ),
    "one comment for many": fixed(
        b"__shared__ float s%d[9][9];\n",
        1500,
        b"__global__ void k() {\n" + b"// shared [warp][lane] layout\n" * 5000,
        b"}\n",
    ),
    "barriers": fixed(b"if (n < 3) { __syncthreads(); }", 4000, KERNEL, b"}\n"),
    "locals": fixed(b"int a%d = x[%d];", 4000, KERNEL, b"if (a9) __syncthreads(); }\n"),
}
"""Of a size of their own: what made patterns and rules try without end, or square with the text."""

CASES = {**NESTED, **CHAINS, **LINES, **PREPROCESSED, **DECLARED, **TRAPS}


def lint(data: bytes) -> str:
    """Lint a file of `data`; what came of it in a few words."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "hostile.cu").write_bytes(data)
        finished = run(Request((".",), Path(name), isolated=True, compile="never"))
    failed = [note for note in finished.notifications if note.level.value == "error"]
    cut_off = [finding for finding in finished.findings if finding.code == "CU004"]
    if failed:
        return failed[0].message
    if cut_off:
        return cut_off[0].message.partition("analysed: ")[2]
    return f"{len(finished.findings)} findings"


def measure(data: bytes) -> tuple[float, int, str]:
    """CPU seconds, peak MB and the outcome of linting in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        gc.disable()
        resource.setrlimit(resource.RLIMIT_CPU, (STOPPED_AT, STOPPED_AT))
        start = time.process_time()
        outcome = lint(data)
        os.write(writing, f"{time.process_time() - start:.2f} {outcome[:200]}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, _, usage = os.wait4(child, 0)
    seconds, _, outcome = said.partition(" ")
    return float(seconds or STOPPED_AT), usage.ru_maxrss // 1024, outcome or "stopped"


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--size", type=int, default=100_000, help="repetitions")
    arguments = parser.parse_args()
    all_rules()
    lint(b"void f() {}\n")  # so that no case pays for the imports
    above = 0
    print(f"{'case':<26} {'MB':>6} {'CPU s':>6} {'peak MB':>8}   outcome")
    for name, make in CASES.items():
        if arguments.names and name not in arguments.names:
            continue
        data = make(arguments.size)
        seconds, peak, outcome = measure(data)
        late = seconds > SECONDS or peak > MEGABYTES
        above += late
        print(f"{name:<26} {len(data) / 1e6:6.2f} {seconds:6.2f} {peak:8}   "
              f"{'ABOVE THE LIMIT ' if late else ''}{outcome}", flush=True)  # fmt: skip
    print(f"{above} above the limits of {SECONDS} s and {MEGABYTES} MB")
    return int(above > 0)


if __name__ == "__main__":
    raise SystemExit(main())
