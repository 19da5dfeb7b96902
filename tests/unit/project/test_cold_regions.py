"""The parts of a hot function that are no launch path."""

from __future__ import annotations

import pytest

from cudalint.project.headermacros import home
from projects import project_of

HEAD = """\
#define SYNC() here()
#define STOP_IF(x) do { if (x) { \\
  log("}"); here(); \\
  exit(1); } } while (0)
#define FATAL() do { here(); abort(); } while (0)
#define RUN_OR_STOP(x) do { here(); if (x) { abort(); } } while (0)
void here();
"""


def regions(body: str, head: str = "") -> tuple[bool, bool]:
    """Whether the call `here()` of a function's body is in a cold, and in a lazy region."""
    source = f"{HEAD}{head}\nint f(float* p, int n, cudaError_t err) {{\n{body}\n}}\n"
    project = project_of({"a.cu": source})
    model = project.models["a.cu"]
    call = next(c for c in model.calls if c.name == "here" and c.function >= 0)
    assert home(call) == "a.cu"
    return project.cold_regions.cold(call), project.cold_regions.lazy(call)


@pytest.mark.parametrize(
    "body",
    [
        "if (debug) here();",
        "if (debug) { if (n) { here(); } }",
        "if (!debug) { n = 1; } else here();",
        "const bool tr = env().trace; if (tr && n) here();",
        "auto tr = env().trace; auto g = [&] { if (tr) here(); };",
        "while (verbose) { here(); }",
        "if (!profiling()) return 0; here();",
        "for (;;) { if (!dumping_trace) continue; here(); }",
        "#ifdef DEBUG\nhere();\n#endif",
        "#ifndef NDEBUG\nhere();\n#endif",
        "#ifdef NDEBUG\n#else\nhere();\n#endif",
        "#if OP_TRACE > 1\nhere();\n#endif",
        "std::call_once(flag, [] { here(); });",
        "static const int x = here();",
        "static const int x = [&] { int y = n; here(); return y; }();",
        "if (err != cudaSuccess) { here(); cudaFree(p); return 1; }",
        "if (!p) { here(); release(p); throw 1; }",
        "if (debug) SYNC();",
        "debug ? here() : n;",
        "(void)(n > 3 ? 0 : debug ? here() : 1);",
        "n = !debug ? 0 : here();",
        "(void)(debug && here());",
        "if (n && verbose > 1 && here() == 0) return 1;",
        "return !trace || (n == here());",
        "CHECK(debug ? SYNC() : n);",
        "const bool tr = env().trace; (void)(tr && here());",
        'static const bool kTrace = getenv("T") != nullptr; if (kTrace) here();',
        "const bool debug = opts.flag(); if (!debug) return 0; here();",
    ],
)
def test_cold(body: str) -> None:
    assert regions(body)[0]


@pytest.mark.parametrize(
    "body",
    [
        "here();",
        "if (n > 3) here();",
        "if (!debug) here();",
        "if (debug || n) here();",
        "debug ? n : here();",
        "debug ? n : n ? here() : 1;",
        "debug || here();",
        "n = debug && n || here();",
        "if (!debug) n ? here() : 1;",
        "debug && n; here();",
        "std::pair<int, int>{debug ? 1 : 0, here()};",
        "if (debug && n) n = 1; else here();",
        "if (debug) n = 1; here();",
        "if (debug) return 0; else n = 2; here();",
        "for (;;) { if (!tracing) break; } here();",
        "#ifdef NDEBUG\nhere();\n#endif",
        "#ifdef NDEBUG\n#endif\n#ifdef FAST\nhere();\n#endif",
        "#ifdef DEBUG\n#else\nhere();\n#endif",
        "static int x; x = here();",
        "if (err != cudaSuccess) { here(); return 1; }",
        "if (err != cudaSuccess) { here(); cudaFree(p); }",
        "if (n == 3) { here(); cudaFree(p); return 1; }",
        "const bool tr = n > 3; if (tr) here();",
        "const bool debug = opts.flag(); if (!debug) here();",
        "const bool untraced = !opts.trace; if (untraced) here();",
    ],
)
def test_not_cold(body: str) -> None:
    assert not regions(body)[0]


def test_what_a_debugging_macro_does_is_cold() -> None:
    head = "#define LOG_DEBUG(x) LOG(x)\n#define LOG(x) SYNC()\n#define RUN(x) SYNC()\n"
    assert regions("LOG_DEBUG(n);", head) == (True, False)
    assert regions("RUN(n);", head) == (False, False)
    assert regions("CHECK_DEBUG(n);", "#define CHECK_DEBUG(x) SYNC()\n") == (False, False)


def test_a_flag_of_another_function_says_nothing() -> None:
    head = "void g() { const bool slow = trace; }\n"
    assert regions("if (slow) here();", head) == (False, False)


def test_a_flag_that_the_caller_gives_is_no_resource() -> None:
    source = "void here();\nvoid f(bool own, int n) { if (!own) { auto q = malloc(n); here(); } }\n"
    project = project_of({"a.cu": source})
    call = next(c for c in project.models["a.cu"].calls if c.name == "here" and c.function >= 0)
    assert not project.cold_regions.lazy(call)


@pytest.mark.parametrize(
    "body",
    [
        "if (!p) { here(); cudaMalloc(&p, n); }",
        "if (p == nullptr) { p = allocate(n); here(); }",
        "if (nullptr == p) { here(); p = pool.alloc(n); }",
        "if (cap < n) { cudaFree(p); cudaMalloc(&p, n); here(); }",
        "if (n > cap) { cudaMallocAsync(&p, n, s); here(); }",
        "if (buffers.empty()) { buffers.push_back(make_unique(n)); here(); }",
        "if (p) { use(p); } else { cudaMalloc(&p, n); here(); }",
        "if (!p) { here(); p = new float[n]; }",
        "if (!p[n]) { here(); this->p[n] = new float; }",
        "if (p) n = 1; else { here(); p = new float[n]; }",
        "if (!p.get()) { here(); p.reset(new float); }",
        "if (!all().p) { here(); all().p.reset(new float); }",
        "if (all().p == nullptr) { here(); all().p = allocate(n); }",
        "if (!ex) { cudaGraphInstantiate(&ex, graph, 0); here(); }",
        "if (ex == nullptr) { here(); CHECK(cudaGraphInstantiateWithFlags(&this->ex, graph, 0)); }",
        "if (!graph) { here(); cudaStreamEndCapture(s, &graph); }",
        "if (!done) { cudaEventCreateWithFlags(&done, 2); here(); }",
        "if (!handle) { cublasCreate(&handle); here(); }",
        "if (!handle) { cudnnCreate(&handle); here(); }",
        "if (!mod) { cuModuleLoad(&mod, name); here(); }",
        "if (cap >= n) return 0; cudaFree(p); cudaMalloc(&p, n); cap = n; here();",
        "if (n <= this->cap) { return 0; } here(); cudaMalloc(&p, n); this->cap = n;",
        "if (n * sizeof(*p) <= cap) return 0; auto m = n * 2; cudaMalloc(&p, m); cap = m; here();",
        "if (size == n) return 0; here(); cudaMalloc(&p, n); size = n;",
        "if (p != nullptr) { return 1; } here(); cudaMalloc(&p, 4); return 0;",
        "if (p) return 1; here(); cudaMalloc((void**)&p, 4);",
        "if (nullptr != p) throw 1; here(); cudaMalloc(&p, 4);",
        "if (p && cap >= n) return 1; here(); CHECK(cudaMalloc(&p, n)); cap = n;",
        "if (n == 0 || cap >= n) return 1; here(); cudaMalloc(&p, n); cap = n;",
        "for (int i = 0; i < n; ++i) { if (ps[i]) continue; cudaMalloc(&ps[i], n); here(); }",
        "if (p) { n = 1; return 1; } else { n = 2; } here(); p = new float[n];",
        "if (p) return 1; here(); p = (float*)malloc(n);",
        "if (p) return 1; here(); p = std::make_unique<float[]>(n);",
        "if (p.get()) return 1; here(); p.reset(new float);",
        "if (p) return 1; here(); p = pool.allocate(n);",
        "if (ex) return 1; here(); cudaGraphInstantiate(&ex, graph, 0);",
        "if (n) { if (p) return 1; here(); cudaMalloc(&p, 4); } n = 2;",
        "if (!made) { here(); p = (float*)malloc(n); made = true; }",
        "if (!made) { q = (float*)malloc(n); here(); keep(made, q); }",
    ],
)
def test_lazy(body: str) -> None:
    assert regions(body) == (False, True)


@pytest.mark.parametrize(
    "body",
    [
        "if (!p) { here(); }",
        "if (!p) { here(); auto q = new float[n]; }",
        "if (!p) { here(); } p = new float[n];",
        "if (!ready()) { here(); auto q = malloc(n); }",
        "if (!done) { cudaMalloc(&p, n); here(); }",
        "if (n) { cudaMalloc(&p, n); here(); }",
        "if (!p) { cudaMalloc(&p, n); } here();",
        "while (!p) { cudaMalloc(&p, n); here(); }",
        "if (n == 0) { invokeInitialize(p, n); here(); }",
        "if (n > 1) { auto q = malloc(n); here(); }",
        "if (!p) { cudaGraphInstantiate(&ex, graph, 0); here(); }",
        "if (!p) { load(p); here(); }",
        "if (!ex) { cudaGraphInstantiate(&ex, graph, 0); } here();",
        "if (n > most) return 1; float* q; cudaMalloc(&q, n); here();",
        "if (cap >= n) return 1; cudaMalloc(&p, n); here();",
        "if (cap <= n) return 1; cudaMalloc(&p, n); cap = n; here();",
        "if (n == 0) return 1; n = n * 2; cudaMalloc(&p, n); here();",
        "if (step >= n) return 1; cudaMalloc(&p, bytes); step = step + 1; here();",
        "if (p == nullptr) return 1; cudaMalloc(&q, n); here();",
        "if (!p) return 1; cudaMalloc(&p, n); here();",
        "if (p) return 1; cudaMalloc(&q, n); here();",
        "if (n) return 1; cudaMalloc(&q, n); here();",
        "if (p) n = 1; cudaMalloc(&p, n); here();",
        "if (p || n > 2) { cudaMalloc(&p, n); return 1; } here();",
        "if (p && n > 2) return 1; cudaMalloc(&p, n); here();",
        "if (err) return 1; err = cudaMalloc(&p, n); here();",
        "if (code != 0) return 1; code = allocate(n); here();",
        "if (x != 0) return 1; x = cudaMalloc(&p, n); here();",
        "if (p) goto out; cudaMalloc(&p, n); out: here();",
        "switch (n) { case 0: if (p) break; cudaMalloc(&p, n); break; case 1: here(); }",
        "if (n) { if (p) return 1; cudaMalloc(&p, 4); } here();",
        "{ auto make = [&] { if (p) return; cudaMalloc(&p, 4); }; make(); } here();",
        "if (!classical) { here(); int* q = nullptr; q = (int*)malloc(n); use(q); }",
        "if (!this->glued) { send(p); } else { here(); cudaHostAlloc(&q, this->n, 0); }",
    ],
)
def test_not_lazy(body: str) -> None:
    assert not regions(body)[1]


def test_a_function_that_always_ends_the_program_is_cold() -> None:
    assert regions("log(); here(); exit(1);") == (True, False)
    assert regions("if (n) return 1; here(); exit(1);") == (False, False)
