"""CU308 banned-call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import translate

import msgspec

from cudalint.context import Context
from cudalint.devicecode.devicecode import device_only, enclosing
from cudalint.finding import Finding, Level
from cudalint.hostcode.hotpath import OnPath
from cudalint.hostcode.pathreport import path_finding, path_messages
from cudalint.project.expansion import Place, places
from cudalint.project.headermacros import home
from cudalint.project.project import Project
from cudalint.regex import regex
from cudalint.rule import Example, ProjectRule
from cudalint.syntax.model import Call

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = f"""\
{_SPDX}extern "C" __global__ void __launch_bounds__(32) k(float* o) {{ *o = 1.f; }}
"""
_GETTERS = frozenset({"get", "is", "has", "query"})


class BannedCallOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Names as called (`setenv`, `ns::call`), or patterns with `*` and `?`.

    `calls` are banned in launch paths, `everywhere` in all host code,
    `guarded_only` in all host code but constructors and destructors.
    """

    calls: tuple[str, ...] = ("setenv", "putenv", "unsetenv")
    everywhere: tuple[str, ...] = ()
    guarded_only: tuple[str, ...] = ()


class BannedCall(ProjectRule):
    """A call that the project has banned.

    What it does
        Reports calls by name or pattern: those of the option `calls` in launch
        paths, those of `everywhere` in all host code, those of `guarded-only` in
        all host code except the constructors and destructors of a scope guard.
        Declarations are no calls, and a pattern with `*` or `?` does not mean
        getters (`getMode`, `isMode`). Cold code is left alone where `calls` are
        concerned, as for CU301.

    Why it matters
        `setenv` races with every thread that reads the environment, those of the
        driver and of libraries among them, and changes what the next step does.
        A mode that is set and not set back outlives the call that needed it.

    Example
            void step(float* out, cudaStream_t stream) {
              setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 1);
              scale<<<grid, block, 0, stream>>>(out);
            }

    How to fix
        Read settings once, at the start, and pass them down. Set a mode in the
        constructor of a guard whose destructor sets it back.

    Options
        `calls`: banned in launch paths; by default `setenv`, `putenv` and
        `unsetenv`. `everywhere`: banned in all host code. `guarded-only`: banned
        in all host code but constructors and destructors, such as `*_set*Mode`.

    Sources
        Llaminar, profiling guide, on the environment. POSIX, `setenv`, on threads.
    """

    code = "CU308"
    name = "banned-call"
    level = Level.ERROR
    messages = {
        **path_messages("'{0}' is banned from launch paths, and called", "call it at load time"),
        "everywhere": "'{0}' is banned, and called in '{1}'; do without it.",
        "guarded": "'{0}' is banned outside scope guards, and called in '{1}'; "
        "call it in a guard's constructor and destructor.",
    }
    options = BannedCallOptions

    INVALID = (
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  setenv("MODE", "1", 1);
  ~~~~~~
  k<<<1, 32, 0, s>>>(o);
  ::unsetenv("MODE");
    ~~~~~~~~
}
""",
            message="'setenv' is banned from launch paths, and called in 'step', which launches",
        ),
        Example(
            code=_KERNEL
            + """\
static void choose(char* text) { if (putenv(text) != 0) throw 1; }
                                     ~~~~~~
void step(float* o, char* text, cudaStream_t s) { choose(text); k<<<1, 32, 0, s>>>(o); }
""",
            message="in 'choose', which is called by 'step' on the launch path of 'k'",
        ),
        Example(
            code=_KERNEL
            + """\
#define MODE(v) setenv("MODE", v, 1)
                ~~~~~~
void step(float* o, cudaStream_t s) {
  auto body = [&] { MODE("1"); };
  body();
  k<<<1, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            path="modes.cpp",
            code="""\
struct Guard { Guard() { blas_setMathMode(1); } ~Guard() { blas_setMathMode(0); } };
void run(int mode) {
  blas_setMathMode(mode);
  ~~~~~~~~~~~~~~~~
  if (mode) { (void)ns::lib_setOtherMode(2); }
                        ~~~~~~~~~~~~~~~~
}
""",
            settings='[rules.CU308]\nguarded-only = ["*_set*Mode"]\n',
            message="'blas_setMathMode' is banned outside scope guards, and called in 'run'; call",
        ),
        Example(
            path="any.cpp",
            code="""\
void run(Table& table) {
  system("ls");
  ~~~~~~
  table.legacy_reset(3);
        ~~~~~~~~~~~~
  old::clear();
       ~~~~~
  other::clear();
}
""",
            settings='[rules.CU308]\neverywhere = ["system", "legacy_*", "old::clear"]\n',
            message="'system' is banned, and called in 'run'; do without it.",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  cublasSetStream(handle(), s);
  ~~~~~~~~~~~~~~~
  k<<<1, 32, 0, s>>>(o);
  setenv("A", "b", 1);
}
""",
            settings='[rules.banned-call]\ncalls = ["cublasSet*"]\n',
        ),
    )
    VALID = (
        Example(
            code=_KERNEL
            + """\
int main() {
  setenv("MODE", "1", 1);
  k<<<1, 32, 0, cudaStreamPerThread>>>(nullptr);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
struct Environment { void setenv(const char*, const char*); };
int setenv(const char* name, const char* value, int overwrite);
void step(float* o, Environment& e, cudaStream_t s) {
  e.setenv("A", "b");
  k<<<1, 32, 0, s>>>(o);  // setenv("A", "b", 1);
}
""",
        ),
        Example(
            path="modes.cpp",
            code=_SPDX
            + """\
int blas_getMathMode();
struct Guard {
  int old = blas_getMathMode();
  Guard() { blas_setMathMode(1); }
  ~Guard() { blas_setMathMode(old); }
};
int read() { return blas_getMathMode(); }
""",
            settings='[rules.CU308]\nguarded-only = ["*_*Mode"]\n',
        ),
        Example(
            path="settings.cpp",
            code=_SPDX + 'void apply(const char* v) { setenv("MODE", v, 1); }\n',
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s, bool debug) {
  if (debug) setenv("MODE", "1", 1);
#if 0
  setenv("MODE", "1", 1);
#endif
  k<<<1, 32, 0, s>>>(o);
}
""",
        ),
        Example(
            code=_KERNEL
            + """\
void step(float* o, cudaStream_t s) {
  setenv("MODE", "1", 1);
  k<<<1, 32, 0, s>>>(o);
}
""",
            settings="[rules.CU308]\ncalls = []\n",
        ),
    )

    def check(
        self, project: Project, context: Context, options: BannedCallOptions
    ) -> Iterator[Finding]:
        """Judge the calls of each option's names."""
        hot = project.hot_path

        def on_path(call: Call) -> OnPath | None:
            return hot.place(call)

        for place in places(_named(project, options.calls), on_path, lambda c: True, alone=False):
            yield path_finding(type(self), place, "is called")
        for names, message in (
            (options.everywhere, "everywhere"),
            (options.guarded_only, "guarded"),
        ):

            def judge(call: Call, message: str = message) -> str | None:
                return _host_function(call, project, guards=message == "guarded")

            for fault in places(_named(project, names), judge, lambda c: True, alone=False):
                yield self._found(message, fault)

    def _found(self, message: str, fault: Place[Call, str]) -> Finding:
        return self.report(
            message,
            fault.span,
            fault.record.name,
            fault.verdict,
            related=fault.related,
            extents=(fault.record.statement, *fault.uses),
        )


def _named(project: Project, patterns: Iterable[str]) -> Iterator[Call]:
    """The calls that a name or pattern means; a plain name of an option's means any qualifier.

    Names without a pattern mean free functions, or what they are qualified with.
    """
    hot = project.hot_path
    for pattern in patterns:
        last = pattern.rpartition("::")[2]
        if "*" in pattern or "?" in pattern:
            from cudalint.hostcode.coldness import words

            match = regex(translate(last)).match
            found = [n for n in hot.names if match(n) and _GETTERS.isdisjoint(words(n))]
            yield from hot.calls(found)
        elif "::" in pattern:
            plain = pattern.removeprefix("::")
            yield from (c for c in hot.calls((last,)) if c.callee.removeprefix("::") == plain)
        else:
            yield from hot.api_calls((pattern,))


def _host_function(call: Call, project: Project, *, guards: bool) -> str | None:
    """The name of the host function of a call; None for the members of a scope guard."""
    model = project.models[home(call)]
    index = enclosing(model, call.function)
    if index < 0 or device_only(model, call.function):
        return None
    function = model.functions[index]
    if guards and function.owner and function.name.lstrip("~") == function.owner:
        return None
    return function.name
