"""What `read_model` makes of the text that grammars stumble on."""

from __future__ import annotations

import textwrap

import pytest

from cudalint.syntax.model import FileModel, Function
from cudalint.syntax.read import read_model


def read(text: str) -> FileModel:
    return read_model("a.cu", textwrap.dedent(text).encode())


def kernel(model: FileModel, name: str = "k") -> Function:
    return next(f for f in model.kernels if f.name == name)


@pytest.mark.parametrize(
    "head",
    [
        'extern "C" __global__ void __launch_bounds__(256, 2) k',
        'extern "C" __global__ __launch_bounds__(256, 2) void k',
        'extern "C" __launch_bounds__(256, 2) __global__ void k',
        'extern "C" void __global__ __launch_bounds__(256, 2) k',
        'extern "C" __global__\nvoid\n__launch_bounds__ (\n256 ,\n2) k',
        'extern "C" __global__ void /* why */ __launch_bounds__(256, 2) // so\n k',
        'extern "C" __attribute__((aligned(4))) __global__ void __launch_bounds__(256, 2) k',
        'extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256, 2) k',
    ],
)
def test_a_kernels_head_in_any_order(head: str) -> None:
    found = kernel(read(f"{head}(const float* __restrict__ a, int n) {{ }}\n"))
    assert found.linkage == "C"
    assert found.bounds is not None
    assert found.bounds.arguments == ("256", "2")
    assert [(p.type, p.name) for p in found.parameters] == [("const float*", "a"), ("int", "n")]


def test_bounds_after_the_parameters() -> None:
    bounds = kernel(read("__global__ void k(float* o) __launch_bounds__(64) { }")).bounds
    assert bounds is not None
    assert bounds.arguments == ("64",)


def test_unknown_attribute_macros_in_the_head() -> None:
    model = read("__global__ MY_BOUNDS(128) void OTHER(3) k(float* o) { o[0] = 1; }\nvoid h();\n")
    assert [f.name for f in model.functions] == ["k", "h"]
    assert not model.broken


def test_macros_of_the_file_make_the_head() -> None:
    model = read(
        """\
        #define ENTRY extern "C" __global__
        #define BOUNDED(n) __global__ void __launch_bounds__(n)
        ENTRY void k(float* o) { }
        extern "C" BOUNDED(96) b(float* o) { }
        """
    )
    assert kernel(model).linkage == "C"
    bounds = kernel(model, "b").bounds
    assert bounds is not None
    assert bounds.arguments == ("96",)


def test_names_pasted_together() -> None:
    model = read(
        """\
        #define PASTE2(a, b) a##b
        #define PASTE(a, b) PASTE2(a, b)
        #define NAME foo
        extern "C" __global__ void PASTE(NAME, _64)(float* o) { }
        """
    )
    assert [f.name for f in model.kernels] == ["foo_64"]


def test_kernels_made_by_macros_appear_for_each_use() -> None:
    model = read(
        """\
        #define KERNEL(name, T) \\
          extern "C" __global__ void __launch_bounds__(32) name##_run(T* o) { \\
            __shared__ T tile[32][33]; \\
            o[0] = tile[0][0]; \\
          }
        KERNEL(first, float)
        KERNEL(second, int)
        void after() {}
        """
    )
    made = [f for f in model.kernels if f.use is not None]
    assert [(f.name, f.via_macro, f.parameters[0].type) for f in made] == [
        ("first_run", "KERNEL", "float*"),
        ("second_run", "KERNEL", "int*"),
    ]
    assert all(f.linkage == "C" and f.bounds for f in made)
    assert {model.functions[s.function].name for s in model.shared if s.use} == {
        "first_run",
        "second_run",
    }
    assert model.functions[-1].name == "after"
    assert model.functions[-1].space == "host"


@pytest.mark.parametrize(
    "text",
    [
        '#define ATTR\nextern "C" __global__ void k(void* p) ATTR { f(p); }',
        "#define ONLY if constexpr (true)\n__global__ void k(int* p) { ONLY { f(p); } }",
        "#define LIKELY(x) (__builtin_expect(!!(x), 1))\n"
        "__global__ void k(int n) { if LIKELY(n > 3) f(n); }",
        "__global__ void k(int n) { __typeof__(n) y = 1; typeof(n) z = 2; f(y + z); }",
        "__global__ void k(int n) { switch (n) { case 1 ... 3: f(n); } }",
        "#define IF(c) if (c) {\n#define ENDIF }\n"
        "__global__ void k(int n) { IF (n > 3) f(n); ENDIF }",
        "__glo\\\nbal__ void k(float* p) { __sha\\\nred__ float t[4]; f(t); }",
    ],
)
def test_text_that_is_no_grammar_of_its_own(text: str) -> None:
    model = read(text)
    assert [f.name for f in model.kernels] == ["k"]
    assert "f" in [c.name for c in model.calls if not c.via_macro]
    assert not [region for region in model.broken if region.matters]


def test_names_cut_by_a_line_splice_are_whole() -> None:
    model = read_model("a.cu", b'void g() { cudaEvent\\\nRecord(e); auto s = "a\\\nb"; h(); }')
    assert [c.name for c in model.calls] == ["cudaEventRecord", "h"]


@pytest.mark.parametrize("callee", ["(f)", "( &f )", "(::f)"])
def test_parentheses_around_a_callee(callee: str) -> None:
    assert [c.name for c in read(f"void g() {{ {callee}(1); }}").calls] == ["f"]


@pytest.mark.parametrize(
    ("condition", "lives"),
    [
        ("0 && defined(OLD)", False),
        ("!defined(__CUDACC__)", False),
        ("!1", False),
        ("0x0", False),
        ("OFF", True),  # a switch of the file: both its branches are judged
        ("defined(X) || 1", True),
        ("X > 2", True),
    ],
)
def test_constant_conditions(condition: str, lives: bool) -> None:
    model = read(f"#define OFF 0\n#if {condition}\nvoid f();\n#endif\n")
    assert bool(model.functions) == lives


def test_a_whole_head_made_by_a_macro() -> None:
    model = read(
        """\
        #define DEFINE(name, ...) template <typename T, __VA_ARGS__> \\
          __global__ void __launch_bounds__(64) name(const T* a, int n)
        DEFINE(first, bool kFlag) { go(); }
        """
    )
    found = kernel(model, "first")
    assert [(p.type, p.name) for p in found.parameters] == [("const T*", "a"), ("int", "n")]
    assert found.bounds is not None
    assert found.template == "typename T, bool kFlag"


def test_what_a_macro_calls_is_called_where_it_is_used() -> None:
    model = read(
        """\
        #define SYNC(s) cudaStreamSynchronize(s)
        #define STEP(s) do { SYNC(s); } while (0)
        void f(cudaStream_t q) { STEP(q); }
        """
    )
    call = next(c for c in model.calls if c.name == "cudaStreamSynchronize" and c.use)
    assert [a.text for a in call.arguments] == ["q"]
    caller = [
        c for c in model.calls if c.name == "cudaStreamSynchronize" and c.use and c.function >= 0
    ]
    assert [model.functions[c.function].name for c in caller] == ["f"]


@pytest.mark.parametrize(
    ("body", "callees"),
    [
        ("gpu::wait(x)", ["gpu::wait"]),
        ("a::b::wait(x)", ["a::b::wait"]),
        ("first(x); gpu::wait(x)", ["first", "gpu::wait"]),
        ("gpu::wait((x), f(x))", ["gpu::wait", "f"]),
        ("gpu::wait(x);", ["gpu::wait"]),
        ("gpu::Guard guard(x)", []),
    ],
)
def test_a_macros_body_that_ends_in_a_qualified_call(body: str, callees: list[str]) -> None:
    found = read(f"#define WAIT(x) {body}\nvoid step(int s) {{ WAIT(s); }}\n")
    assert [call.callee for call in found.calls if call.via_macro and call.use] == callees


def test_a_call_in_a_macros_argument_appears_once() -> None:
    model = read(
        """\
        #define CHECK(x) do { int e = (x); if (e) die(#x, e); } while (0)
        void f() { CHECK(cudaEventRecord(ev, st)); }
        """
    )
    records = [c for c in model.calls if c.name == "cudaEventRecord"]
    assert [(c.via_macro, len(c.arguments)) for c in records] == [("", 2)]


def test_dead_text_is_no_code_and_else_of_it_is() -> None:
    model = read(
        """\
        #if 0
        __global__ void dead() { printf("x"); }
        #else
        __global__ void alive() { }
        #endif
        """
    )
    assert [f.name for f in model.functions] == ["alive"]
    assert not model.calls


def test_branches_that_exclude_each_other_are_both_read() -> None:
    model = read(
        """\
        #ifdef WIDE
        __global__ void wide(float* o) {
        #else
        __global__ void narrow(float* o) {
        #endif
          o[0] = f();
        }
        void after() { g(); }
        """
    )
    assert "wide" in [f.name for f in model.kernels]
    assert "after" in [f.name for f in model.functions]
    assert {c.name for c in model.calls} == {"f", "g"}


def test_a_kernel_in_one_configuration_is_a_kernel() -> None:
    model = read(
        """\
        #ifdef NDEBUG
        __device__
        #else
        __global__
        #endif
        void k(float* o) { }
        """
    )
    assert kernel(model).name == "k"


def test_extern_c_split_over_conditionals() -> None:
    model = read(
        """\
        #ifdef __cplusplus
        extern "C" {
        #endif
        __global__ void k(float* o) { }
        #ifdef __cplusplus
        }
        #endif
        __global__ void m(float* o) { }
        """
    )
    assert kernel(model).linkage == "C"
    assert kernel(model, "m").linkage == "C++"


def test_instantiations_are_no_definitions() -> None:
    model = read(
        "template <int N> __global__ void k(float*) { }\ntemplate __global__ void k<6>(float*);"
    )
    assert [f.kind for f in model.kernels] == ["definition", "instantiation"]


@pytest.mark.parametrize(
    ("text", "kernel_text", "configuration"),
    [
        ("k<<<g, b>>>(x);", "k", ["g", "b"]),
        ("k<4, float><<<dim3(1, 2), b, 0, s>>>(x);", "k<4, float>", ["dim3(1, 2)", "b", "0", "s"]),
        ("ns::k<<<g,\n  b>>>\n (x);", "ns::k", ["g", "b"]),
        ("(*fn)<<<g, b>>>(x);", "(*fn)", ["g", "b"]),
        ("k<<<n >> 2, (a < b) ? c : d>>>(x);", "k", ["n >> 2", "(a < b) ? c : d"]),
    ],
)
def test_launches(text: str, kernel_text: str, configuration: list[str]) -> None:
    launches = read(f"void f() {{ {text} }}").launches
    assert [launch.kernel for launch in launches] == [kernel_text]
    assert [a.text for a in launches[0].configuration] == configuration


def test_a_configuration_out_of_a_macro() -> None:
    model = read(
        """\
        #define ARGS4(g, b, sh, st) <<<g, b, sh, st>>>
        #define FIXED <<<1, 32>>>
        void f() { k<3> ARGS4(dim3(1, 2), 128, 0, s)(p); q FIXED (x); g(1); }
        """
    )
    found = [(launch.kernel, [a.text for a in launch.configuration]) for launch in model.launches]
    assert found == [("k<3>", ["dim3(1, 2)", "128", "0", "s"]), ("q", ["1", "32"])]
    assert [c.name for c in model.calls if not c.via_macro and c.name != "dim3"] == ["g"]


def test_shared_memory_in_its_forms() -> None:
    model = read(
        """\
        #define SMEM __shared__
        __global__ void k(float* o) {
          extern __shared__ __align__(16) unsigned char pool[];
          __shared__ alignas(16) float tile[32][33], part[8];
          volatile __shared__ int flag;
          SMEM double table[N + 1];
          float* a = reinterpret_cast<float*>(pool);
          auto* b = (half*)(a + 64);
          float sum = tile[0][0] * part[1];
          f(pool);
        }
        """
    )
    found = [(s.name, s.kind, s.dimensions) for s in model.shared]
    assert found == [
        ("pool", "extern", ("",)),
        ("tile", "static", ("32", "33")),
        ("part", "static", ("8",)),
        ("flag", "static", ()),
        ("table", "static", ("N + 1",)),
        ("a", "alias", ()),
        ("b", "alias", ()),
    ]
    assert "f" in [c.name for c in model.calls]


def test_calls_keep_their_receiver_and_their_statement() -> None:
    source = "void f() { (void)::cudaFree(p); a.b->c<int>(x, {1, 2}); auto s = g(h(1)); }"
    model = read(source)
    calls = {c.name: c for c in model.calls}
    assert calls["cudaFree"].expression_statement
    assert (calls["c"].receiver, [a.text for a in calls["c"].arguments]) == ("a.b", ["x", "{1, 2}"])
    assert not calls["g"].expression_statement
    statement = calls["h"].statement
    assert source[statement.start : statement.end] == "auto s = g(h(1));"


def test_lambdas_of_device_code_are_device_code() -> None:
    model = read(
        "__global__ void k(float* o) { auto f = [=] __device__ (int x) { return g(x); }; f(1); }"
    )
    lambda_ = next(f for f in model.functions if f.lambda_)
    assert (lambda_.space, lambda_.parent) == ("device", 0)
    assert next(c for c in model.calls if c.name == "g").function == lambda_.index


def test_a_file_of_aliases_alone() -> None:
    aliases = read(
        "using vec_t = float4;\ntypedef float4 v2_t;\nnamespace n { using w = int; }"
    ).aliases
    assert [(a.name, a.target) for a in aliases] == [
        ("vec_t", "float4"),
        ("v2_t", "float4"),
        ("w", "int"),
    ]


def test_a_launch_without_arguments_is_a_macros_argument() -> None:
    text = """\
        template <typename T> void f(T* out, cudaStream_t s) {
          CALL(state, (make<T><<<out[0], dim3(1, 2), 0, s>>>), out);
          CALL(state, ( ns::make<<<1, 32>>> ), out);
        }
        """
    model = read(text)
    assert [(launch.kernel, len(launch.configuration)) for launch in model.launches] == [
        ("make<T>", 4),
        ("ns::make", 2),
    ]
    assert [launch.arguments for launch in model.launches] == [(), ()]
    assert model.broken == ()
    assert read("void f() { (make<<<1, >>); make<<<1, 2>>>; }").broken != ()


@pytest.mark.parametrize(
    ("written", "type_", "name"),
    [
        ("void* p ATTR(3)", "void*", "p"),
        ("const int n ALIGNED (f(3))", "const int", "n"),
        ("int a[4] ATTR(1)", "int *", "a"),
        ("void* q [[maybe_unused]]", "void*", "q"),
        ("float* [[gnu::aligned(16)]] t", "float*", "t"),
        ("[[maybe_unused]] float x", "float", "x"),
        ("int done(int)", "int done(int)", ""),
        ("const T done(T(int))", "const T done(T(int))", ""),
        ("std::vector<int> done(int)", "std::vector<int> done(int)", ""),
    ],
)
def test_attributes_after_a_parameters_name_are_no_part_of_it(
    written: str, type_: str, name: str
) -> None:
    (function,) = read(f"void f({written});").functions
    assert [(p.type, p.name) for p in function.parameters] == [(type_, name)]


def test_a_variadic_parameter_is_one() -> None:
    parameters = read("void f(const char* format, ...);").functions[0].parameters
    assert [p.type for p in parameters] == ["const char*", "..."]


def test_methods_and_scopes() -> None:
    model = read(
        """\
        namespace n { namespace { struct S { S(); ~S(); void run(int a = 3); int* p; }; } }
        void n::S::run(int a) { go(); }
        """
    )
    found = {(f.name, f.kind): f for f in model.functions}
    assert found["S", "declaration"].scope == ("n", "", "S")
    assert found["~S", "declaration"].owner == "S"
    assert found["run", "declaration"].parameters[0].default == "3"
    assert found["run", "definition"].owner == "S"
    assert [m.name for m in model.structs[0].members] == ["p"]


def test_local_objects_are_no_functions() -> None:
    assert [f.name for f in read("void f(int n) { dim3 grid(n); Guard g(m); }").functions] == ["f"]


def test_bom_and_carriage_returns_keep_offsets() -> None:
    plain = b"// c\n__global__ void k(float* o)\n{\n  f(o);\n}\n"
    data = b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")
    model = read_model("a.cu", data)
    call = model.calls[0]
    assert data[call.span.start : call.span.end] == b"f(o)"
    assert model.comments[0].text == "// c"


def test_text_that_no_compiler_takes_is_listed() -> None:
    model = read('extern "C" __global__ void k(float* o) { o[0] = = 3; }\n')
    assert any(region.matters for region in model.broken)


@pytest.mark.parametrize(
    "text",
    [
        "#pragma unroll\nfor (int i = 0; i < 4; ++i)\n#pragma unroll 2\nfor (;;) { o[i] = 1; }",
        "MY_PRAGMA_UNROLL\nfor (int i = 0; i < 4; ++i) { o[i] = typeid(double).name()[0]; }",
        "T x = {}; auto y = f(typename A<B>::C{}); [[maybe_unused]] int z;",
        "LOG_ONCE(o)\nif (o) { return; }",
        'asm volatile("mov.u32 %0, %1;" : "=r"(x) : "r"(y) : "memory");',
    ],
)
def test_what_nvcc_takes_is_not_broken(text: str) -> None:
    model = read(f"__global__ void k(float* o) {{\n{text}\n}}\n")
    assert not [region for region in model.broken if region.matters]
