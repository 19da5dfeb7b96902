"""Where rules draw the line: pairs of sources that differ in what decides, and little else."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_tables import KERNEL, SPDX, findings, launching, reported, text_at

FORK = [
    "cudaEventRecord(e, s);",
    "cudaStreamWaitEvent(side, e, 0);",
    "k<<<1, 32, 0, side>>>(o);",
    "cudaEventRecord(f, side);",
]


def with_events(lines: list[str], declared: str = "cudaEvent_t e, cudaEvent_t f") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    head = f"void run(float* o, cudaStream_t s, cudaStream_t side, {declared}, cudaEvent_t g) {{\n"
    return f"{KERNEL}void use(...);\n{head}{body}}}\n"


@pytest.mark.parametrize(
    ("then", "count"),
    [
        ("", 1),
        ("cudaStreamWaitEvent(s, f, 0);", 0),
        ("cudaStreamWaitEvent(side, f, 0);", 1),
        ("cudaStreamWaitEvent(s, g, 0);", 1),
        ("cudaEventSynchronize(f);", 0),
        ("cudaEventSynchronize(g);", 1),
        ("cudaStreamSynchronize(side);", 0),
        ("cudaStreamSynchronize(s);", 1),
        ("use(f);", 0),
        ("use(&f);", 0),
        ("use(side);", 1),
        ("use(o);", 1),
        ("cudaEventDestroy(f);", 1),
        ("cudaEventQuery(f);", 1),
        ("if (!o) return; cudaStreamWaitEvent(s, f, 0);", 1),
        ("cudaStreamWaitEvent(s, f, 0); if (!o) return;", 0),
        ("auto one = [&] { return 1; }; cudaStreamWaitEvent(s, f, 0);", 0),
        ("cudaStreamWaitEvent(s, f, 0); cudaEventRecord(g, side);", 1),
    ],
)
def test_what_joins_a_fork(then: str, count: int, tmp_path: Path) -> None:
    assert len(findings("CU312", tmp_path, with_events([*FORK, then]))) == count


@pytest.mark.parametrize(
    "lines",
    [
        ["cudaEventRecord(e, side);", *FORK[1:]],
        [FORK[1], FORK[0], *FORK[2:]],
        [FORK[0], FORK[3], FORK[1], FORK[2]],
        ["cudaStreamWaitEvent(s, f, 0);", *FORK],
    ],
)
def test_what_is_no_fork(lines: list[str], tmp_path: Path) -> None:
    assert findings("CU312", tmp_path, with_events(lines)) == []


def test_a_way_out_before_the_join_is_shown(tmp_path: Path) -> None:
    source = with_events([*FORK, "if (!o) return;", "cudaStreamWaitEvent(s, f, 0);"])
    [found] = findings("CU312", tmp_path, source)
    assert found.message_id == "early"
    [related] = found.related
    assert source.encode()[related.span.start : related.span.end] == b"return"


@pytest.mark.parametrize(("waited", "count"), [("p->pool[1].done", 0), ("p->pool[1].other", 1)])
def test_a_member_is_waited_for_elsewhere(waited: str, count: int, tmp_path: Path) -> None:
    fork = " ".join(FORK).replace("(f,", "(p->pool[i].done,")
    source = (
        f"{KERNEL}struct Slot {{ cudaEvent_t done, other; }}; struct P {{ Slot pool[4]; }};\n"
        "void run(float* o, P* p, int i, cudaStream_t s, cudaStream_t side, cudaEvent_t e) {\n"
        f"  {fork}\n}}\n"
        f"void later(P* p, cudaStream_t s) {{ cudaStreamWaitEvent(s, {waited}, 0); }}\n"
    )
    assert len(findings("CU312", tmp_path, source)) == count


def test_a_static_event_is_waited_for_by_the_next_call(tmp_path: Path) -> None:
    local = with_events(["static cudaEvent_t f;", *FORK], "cudaEvent_t e")
    assert findings("CU312", tmp_path, local) == []
    assert len(findings("CU312", tmp_path, local.replace("static ", ""))) == 1


SUM = "cub::DeviceReduce::Sum"


@pytest.mark.parametrize(
    ("line", "count"),
    [
        (f"{SUM}(t, n, a, b, 4);", 1),
        (f"{SUM}(t, n, a, b, 4, s);", 0),
        (f"{SUM}(stream_buffer, n, a, b, 4);", 1),
        (f"{SUM}(t, stream_bytes, a, b, 4);", 1),
        (f"{SUM}(nullptr, n, a, b, 4);", 0),
        (f"void* m = nullptr; {SUM}(m, n, a, b, 4);", 0),
        (f"void* m = nullptr; {SUM}(m, n, a, b, 4); m = get();", 0),
        (f"void* m = nullptr; m = get(); {SUM}(m, n, a, b, 4);", 1),
        (f"void* m = get(); {SUM}(m, n, a, b, 4);", 1),
        (f"if (!t) {SUM}(t, n, a, b, 4);", 0),
        (f"if (t == nullptr) {SUM}(t, n, a, b, 4);", 0),
        (f"if (!n) {SUM}(t, n, a, b, 4);", 1),
        (f"if (!t) n = 0; {SUM}(t, n, a, b, 4);", 1),
        (f"cudaStream_t q = s; {SUM}(t, n, a, b, 4, q);", 0),
        (f"int q = 0; {SUM}(t, n, a, b, 4, q);", 1),
        (f"{SUM}(all...);", 0),
        ("thrust::sort();", 0),
        ("thrust::sort(all...);", 0),
        ("thrust::host_vector<int> h; thrust::sort(h.begin(), h.end());", 0),
        ("auto how = thrust::cuda::par.on(s); thrust::sort(how, a, b);", 0),
        ("auto how = a; thrust::sort(how, b);", 1),
        ("cudaMemcpy2D(a, 8, b, 8, 8, 4, cudaMemcpyDeviceToDevice);", 1),
        ("cudaMemcpy2DAsync(a, 8, b, 8, 8, 4, cudaMemcpyDeviceToDevice, s);", 0),
        ("cudaMemcpy2D(a, 8, b, 8, 8, 4, cudaMemcpyHostToDevice);", 0),
    ],
)
def test_what_a_capture_minds(line: str, count: int, tmp_path: Path) -> None:
    assert len(findings("CU306", tmp_path, launching([line]))) == count


def recording(lines: list[str]) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    parameters = "float* o, cudaEvent_t e, cudaEvent_t f, cudaStream_t s, cudaStream_t t"
    return f"{KERNEL}cudaStream_t pool();\nvoid run({parameters}) {{\n{body}}}\n"


ON_S = "k<<<1, 32, 0, s>>>(o);"


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ([ON_S, "cudaEventRecord(e, t);"], 1),
        (["cudaEventRecord(e, t);", ON_S], 0),
        ([ON_S, "cudaEventRecord(e, pool());"], 0),
        ([ON_S, "cudaEventRecord(e, 0);", "cudaEventRecord(f, t);"], 1),
        ([ON_S, "cudaEventRecord(e, s);", "cudaEventRecord(f, t);"], 1),
        (["k<<<1, 32, 0, 0>>>(o);", "cudaEventRecord(e, t);"], 0),
        (["k<<<1, 32, 0, pool()>>>(o);", "cudaEventRecord(e, t);"], 0),
        ([ON_S, "cudaStream_t u = pool();", "cudaEventRecord(e, u);"], 0),
        (["{ int u = 0; pool(u); }", "cudaStream_t u;", "cudaStreamCreate(&u);", ON_S,
          "cudaEventRecord(e, u);"], 1),
        (["cuLaunchKernel(o);", "cudaEventRecord(e, t);"], 0),
    ],
)  # fmt: skip
def test_on_which_stream_an_event_is_recorded(lines: list[str], count: int, tmp_path: Path) -> None:
    assert len(findings("CU307", tmp_path, recording(lines))) == count


def test_the_last_launch_is_named(tmp_path: Path) -> None:
    lines = ["k<<<1, 32, 0, e1>>>(o);", ON_S, "cudaEventRecord(e, t);"]
    [found] = findings("CU307", tmp_path, recording(lines))
    assert found.arguments[-1] == "s"
    assert found.related[0].label == "work on 's'"


BF16 = "/* bf16 */"


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        (f"const unsigned short* a {BF16}, float* b", 1),
        (f"float* b, const unsigned short* a {BF16}", 1),
        (f"float* b {BF16}, const unsigned short* a", 0),
        (f"const unsigned short* a, {BF16} float* b", 0),
        (f"const unsigned short* a, float* b {BF16}", 0),
        ("\n  const unsigned short* a,  // bf16\n  float* b", 1),
        ("\n  const unsigned short* a  // bf16\n  , float* b", 1),
        (f"\n  const unsigned short* a, {BF16} /* in */\n  float* b", 1),
        (f"\n  const unsigned short* a, {BF16} // in\n  float* b", 1),
        (f"{BF16} const unsigned short* a", 1),
        (f"{BF16}\n  const unsigned short* a", 0),
        (f"{BF16} float* b, const unsigned short* a", 0),
        (f"const unsigned short* a\n  {BF16}", 0),
        (f"const unsigned char* a {BF16}", 0),
        ("const unsigned char* a /* e4m3 */", 1),
        (f"unsigned short a {BF16}", 0),
        (f"const float* a {BF16}", 0),
    ],
)
def test_which_parameter_a_comment_is_on(parameters: str, count: int, tmp_path: Path) -> None:
    head = 'extern "C" __global__ void __launch_bounds__(32)'
    assert len(findings("CU107", tmp_path, f"{SPDX}{head} k({parameters}) {{}}\n")) == count


def test_a_comment_behind_the_last_parameter(tmp_path: Path) -> None:
    head = f'{SPDX}extern "C" __global__ void __launch_bounds__(32) k(unsigned short* a)'
    assert len(findings("CU107", tmp_path, f"{head} {BF16} {{}}\n")) == 1
    assert findings("CU107", tmp_path, f"{head} {{ {BF16} }}\n") == []


SM90, SM121 = 'targets = ["sm_90"]\n', 'targets = ["sm_121"]\n'


@pytest.mark.parametrize(
    ("bounds", "settings", "said"),
    [
        ("1025", "", ["threads"]),
        ("1024", "", []),
        ("0", "", ["none"]),
        ("-1", "", ["none"]),
        ("33", "", ["warps"]),
        ("1024, 2", SM121, ["blocks"]),
        ("1024, 2", SM90, []),
        ("768, 2", SM121, []),
        ("769, 2", SM121, ["blocks"]),
        ("1024 /* a, b */, 2", SM121, ["blocks"]),
        ("1024,  // two\n  2", SM121, ["blocks"]),
        ("256, 0", SM121, []),
        ("256, -9", SM121, []),
        ("1024, 2", "", []),
        ("1024, 3", "", ["registers"]),
        ("896, 3", "", []),
        ("768, 3", "", []),
    ],
)
def test_bounds(bounds: str, settings: str, said: list[str], tmp_path: Path) -> None:
    source = f'{SPDX}extern "C" __global__ void __launch_bounds__({bounds}) k(float* o) {{}}\n'
    found = findings("CU109", tmp_path, source, settings)
    assert [finding.message_id for finding in found] == said
    notes = {"warps", "registers"}
    assert [finding.level.value == "note" for finding in found] == [id_ in notes for id_ in said]


def test_bounds_in_a_macro_are_shown_at_its_use(tmp_path: Path) -> None:
    head = 'extern "C" __global__ void __launch_bounds__(2048)'
    source = f"{SPDX}#define K(n) {head} n(float* o) {{}}\nK(a)\n"
    [found] = findings("CU109", tmp_path, source)
    assert [related.label for related in found.related] != ["bounds"]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("k<<<1, 32>>>(o);", 1),
        ("k<<<1, 32>>>(o); CHECK(cudaGetLastError());", 0),
        ("CHECK(cudaSetDevice(0)); k<<<1, 32>>>(o);", 1),
        ("cudaFree(o);", 1),
        ("(void)cudaFree(o);", 0),
        ("(void)cudaFree(o); cudaFree(o);", 1),
        ("auto status = cudaFree(o); use(status);", 0),
        ("pool.cudaFree(o);", 0),
        ("api::cudaFree(o);", 0),
        ("ours(o); cudaFree(o);", 1),
        ("FREE(o);", 0),
    ],
)
def test_whose_status_is_dropped(body: str, count: int, tmp_path: Path) -> None:
    source = (
        f"{KERNEL}#define CHECK(x) do {{ if ((x) != cudaSuccess) throw 1; }} while (0)\n"
        "#define FREE(x) cudaFree(x)\nvoid ours(float*) {}\n"
        f"void run(float* o) {{ {body} }}\n"
    )
    assert len(findings("CU309", tmp_path, source)) == count


def test_a_kernel_s_own_launch_is_not_the_host_s(tmp_path: Path) -> None:
    head = 'extern "C" __global__ void __launch_bounds__(32)'
    source = f"{KERNEL}{head} parent(float* o) {{ k<<<1, 32>>>(o); }}\n"
    assert findings("CU309", tmp_path, source) == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("#include <cstdio>\n", 1),
        ("#include /* io */ <cstdio>\n", 1),
        ('#include /* io */ "cstdio"\n', 1),
        ("/*\n#include /+ io +/ <cstdio>\n*/\n", 0),
        ("#if 0\n#include /* io */ <cstdio>\n#endif\n", 0),
        ("#define IO <cstdio>\n#include IO\n", 1),
        ("#define IO() <cstdio>\n#include IO\n", 0),
        ("#define IO cstdio\n#include IO\n", 0),
    ],
)
def test_how_a_header_is_included(source: str, count: int, tmp_path: Path) -> None:
    assert len(findings("CU103", tmp_path, SPDX + source)) == count


def test_what_an_include_brings_counts_in_code_alone(tmp_path: Path) -> None:
    include = f"{SPDX}#include <cstdio>\n"
    unused = ["// printf\n", '#if 0\n/* a */ void f() { printf(""); }\n#endif\n', "/* puts */\n"]
    for rest in unused:
        [found] = findings("CU103", tmp_path, include + rest + "int x;\n")
        assert found.fix is not None
    for rest in ['/* a */ void f() { printf(""); }\n', '#if 0\n#endif\nvoid f() { puts(""); }\n']:
        [found] = findings("CU103", tmp_path, include + rest)
        assert found.fix is None


def test_an_include_is_deleted_with_its_line_alone(tmp_path: Path) -> None:
    for before in ("\n", "", "int x;\n\n"):
        [found] = findings("CU103", tmp_path, f"{before}#include <cstdio>\nint y;\n")
        assert found.fix is not None
        [edit] = found.fix.edits
        assert (edit.span.start, edit.span.end) == (len(before), len(before) + 18)


def test_a_header_of_one_s_own_list_has_no_fix(tmp_path: Path) -> None:
    settings = '[rules.CU103]\nheaders = ["vector"]\n'
    [found] = findings("CU103", tmp_path, f"{SPDX}#include <vector>\nint y;\n", settings)
    assert found.fix is None


FLAGGED = 'extern "C" __global__ void __launch_bounds__(32) g(float* o, int n, bool flag)'


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for (int i = 0; i < n; ++i) { if (flag) o[i] = 1; }", 1),
        ("for (int i = 0; i < n; ++i) { o[i] = 1; } if (flag) o[0] = 1;", 0),
        ("for (int i = 0; i < n; ++i) {} if (flag) {}", 0),
        ("for (int i = 0; i < n; ++i)o[i] = 1;if (flag) o[0] = 1;", 0),
        ("do { if (flag) o[0] = 1; } while (0);", 0),
        ("do { if (flag) o[0] = 1; } while (false);", 0),
        ("if (n) o[0] = 1; for (int i = 0; i < n; ++i) { if (flag) o[i] = 1; }", 1),
    ],
)
def test_a_flag_in_a_loop(body: str, count: int, tmp_path: Path) -> None:
    host = "void h(bool flag, int n) { for (int i = 0; i < n; ++i) { if (flag) n--; } }\n"
    source = f"{SPDX}{host}{FLAGGED} {{ {body} }}\n"
    assert len(findings("CU204", tmp_path, source)) == count


def test_the_loop_around_a_flag_is_the_innermost_that_is_open(tmp_path: Path) -> None:
    loops = "for (int i = 0; i < n; ++i) { for (int j = 0; j < 4; ++j) {} if (flag) o[i] = 1; }"
    source = f"{SPDX}{FLAGGED} {{ {loops} }}\n"
    [found] = findings("CU204", tmp_path, source)
    [related] = found.related
    assert b"i < n" in source.encode()[related.span.start : related.span.end]


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("cudaEventRecord(e);", ["cudaEventRecord"]),
        ("cudaEventRecord(all...);", []),
        ("cuEventRecord(e);", []),
        ("cudaEventRecord(e, s);", []),
        ("other::cudaEventRecord(e);", []),
        ("timer.cudaEventRecord(e);", []),
    ],
)
def test_records_without_a_stream(line: str, texts: list[str], tmp_path: Path) -> None:
    source = f"{SPDX}void f(cudaEvent_t e, cudaStream_t s) {{ {line} }}\n"
    assert reported("CU302", tmp_path, source) == texts


def test_a_region_that_is_long_is_quoted_in_part(tmp_path: Path) -> None:
    for length in (40, 41):
        source = f"{SPDX}__global__ void scale(float* o) {{ a {'@' * length} b; }}\n"
        [found] = findings("CU001", tmp_path, source)
        assert found.arguments == ("@" * 40 + "…" * (length > 40),)
        assert text_at(source, found) == "@" * length


@pytest.mark.parametrize(("start", "quoted"), [("o[0]", "o[0] = + * + *"), ("o" * 50, None)])
def test_where_something_is_missing_what_stands_before_is_quoted(
    start: str, quoted: str | None, tmp_path: Path
) -> None:
    line = f"{start} = + * + *"
    source = f'{SPDX}extern "C" __global__ void scale(float* o) {{\n  float x = 1;\n  {line}\n}}\n'
    [found] = findings("CU001", tmp_path, source)
    assert found.arguments == (quoted or f"…{line[-40:]}",)


SELECTED = "cvt.rn.satfinite.e2m1x2.f32"


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("if constexpr (kArch >= 120)", 0),
        ("if constexpr (kOther >= 120)", 1),
        ("if (kArch >= 120)", 1),
        ("while (kArch >= 120)", 1),
    ],
)
def test_what_an_arch_selects(condition: str, count: int, tmp_path: Path) -> None:
    statement = f'asm("{SELECTED} %0, %1, %2;" : "=h"(x) : "f"(a), "f"(b));'
    source = (
        f"{SPDX}constexpr int kArch = 1, kOther = 2;\n"
        'extern "C" __global__ void __launch_bounds__(32) q(short* o, float a, float b) {\n'
        f"  short x = 0;\n  {condition} {{ {statement} }}\n  *o = x;\n}}\n"
    )
    assert len(findings("CU206", tmp_path, source, SM121)) == count
