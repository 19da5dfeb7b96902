"""CU203 undocumented-shared-layout."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from cudalint.compile.archs import WARP
from cudalint.context import Context
from cudalint.devicecode import enclosing
from cudalint.expansion import places
from cudalint.finding import Finding, Level, Span
from cudalint.layouts import LayoutNotes, says_layout
from cudalint.nearby import NearbyComments
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel, SharedDeclaration

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_WORD = re.compile(r"[A-Za-z_]\w*")
_SETTLED = re.compile(r"[A-Z_]|k[A-Z]|\w+_t$")
"""Names of macros, template parameters, types and constants, by how they are written."""
_WORDS_OF_CASTS = frozenset(
    {
        *("reinterpret_cast", "static_cast", "const_cast", "const", "volatile", "sizeof", "std"),
        *("unsigned", "signed", "char", "short", "int", "long", "float", "double", "half", "void"),
        *("bool", "auto", "size", "byte", "float2", "float4", "int2", "int4", "uint2", "uint4"),
    }
)


class UndocumentedSharedLayout(FileRule):
    """A shared memory array whose layout no comment says.

    What it does
        Reports each `__shared__` array, each `extern __shared__` pool, and each
        pointer or reference cut from a pool, that has no comment saying its
        layout: rows, columns, dimensions (`[row][col]`, `8 x 32`), stride,
        order, padding or swizzle. The comment may stand on the same line, in
        the block just above, above the group of shared declarations around it;
        or in the head of the file or of the kernel, or at the constant that
        gives a dimension, if it names the array or is at that constant. Scalars
        are exempt, and so is scratch of one dimension with a value for each
        warp (32 values or fewer).

    Why it matters
        Bank conflicts are made and found in the layout. A reader can't tell a
        deliberate pad from a mistake, nor change an index safely, when only
        the indexing arithmetic says where a value lies.

    Example
            __shared__ float tile[32][33];

    How to fix
        Say the layout where the array is declared:

            __shared__ float tile[32][33];  // [row][col], one pad column against bank conflicts

    Sources
        Metrale Engine, "CUDA Kernel Engineering": shared memory layouts are
        always annotated, near each alias, with order and padding.
    """

    code = "CU203"
    name = "undocumented-shared-layout"
    level = Level.WARNING
    messages = {
        "static": "No comment says the layout of shared array '{0}'; "
        "say rows, columns, order and padding beside or above it.",
        "extern": "No comment says the layout of the shared memory pool '{0}'; "
        "say what lies where beside or above it.",
        "alias": "No comment says the layout of '{0}', which is cut from shared memory; "
        "say rows, columns, order and padding beside or above it.",
    }

    INVALID = (
        Example(
            code="""\
extern "C" __global__ void scale(float* o) {
  __shared__ float tile[32][33];
                   ~~~~
  tile[threadIdx.y][threadIdx.x] = 0.f;
  o[0] = tile[0][0];
}
""",
            message="No comment says the layout of shared array 'tile';",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o) {
  extern __shared__ __align__(16) unsigned char pool[];  // all that we need
                                                ~~~~
  float* keys = reinterpret_cast<float*>(pool);
         ~~~~
  float* values = keys + 64 * 64;
         ~~~~~~
  o[0] = keys[0] + values[0];
}
""",
            message="No comment says the layout of the shared memory pool 'pool';",
        ),
        Example(
            code="""\
// Load x into shared memory in order to reuse it.
extern "C" __global__ void scale(float* o) {
  // row-major copy of the weights

  __shared__ float weights[128];
                   ~~~~~~~
  __shared__ float half_of[16][16], scratch[8];
                   ~~~~~~~
  o[0] = weights[0] + half_of[0][0] + scratch[0];
}
""",
        ),
        Example(
            code="""\
#define TILE(name) __shared__ float name[32][33]
                                    ~~~~
template <typename T> __device__ void body(T* o) { TILE(tile); o[0] = tile[0][0]; }
""",
        ),
        Example(
            code="""\
extern "C" __global__ void scale(float* o) {
#ifdef WIDE
  __shared__ float tile[64][64];  // [row][col]
#else
  __shared__ float tile[32][32];
                   ~~~~
#endif
  o[0] = tile[0][0];
}
""",
        ),
        Example(
            code="""\
// Scales a matrix: rows are read by warps, and written once.
// The buffer of a block is filled before that,
// and its tile after it.
template <int N>
__global__ void scale(float* o) {
  __shared__ float buffer[N];
                   ~~~~~~
  __shared__ alignas(16) char raw[4096];  // bytes [slot][byte]
  auto& tile = *reinterpret_cast<float (*)[16][64]>(raw);
        ~~~~
  o[0] = buffer[0] + tile[0][0];
}
""",
            message="No comment says the layout of shared array 'buffer';",
        ),
    )
    VALID = (
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  __shared__ float tile[32][33];  // [row][col], one pad column against bank conflicts
  // Row-major, 8 warps of 32 lanes.
  __shared__ float part[8][32];
  __shared__ int done;
  __shared__ float warp_sums[32];
  tile[threadIdx.y][threadIdx.x] = part[0][threadIdx.x] = 0.f;
  warp_sums[0] = 0.f;
  done = 1;
  o[0] = tile[0][0] + part[0][0] + warp_sums[0] + done;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  /* Keys, then values: 64 x 64 each,
     xor swizzle in units of 16 bytes. */
  extern __shared__ __align__(16) unsigned char pool[];
  float* keys = reinterpret_cast<float*>(pool);
  float* values = keys + 64 * 64;
  const float* mine = keys + threadIdx.x * 64;
  keys[threadIdx.x] = values[threadIdx.x] = 0.f;
  o[0] = keys[0] + values[0] + mine[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
// Sums the rows of a matrix.
//
// Shared memory: `tile` holds 32 rows of kPitch floats, the last one a pad.
constexpr int kPitch = 33;
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  __shared__ float tile[32][kPitch];
  tile[0][threadIdx.x] = 0.f;
  o[0] = tile[0][0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
#define PITCH 68  // floats in a row: 64 and a pad of 4
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  __shared__ float tile[32][PITCH];
  tile[0][threadIdx.x] = 0.f;
  o[0] = tile[0][0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
constexpr int kThreads = 256;
// Stages `rows` in shared memory as [warp][column], unpadded.
extern "C" __global__ void __launch_bounds__(kThreads) scale(float* o) {
  __shared__ float rows[kThreads];
  __shared__ float warp_max[kThreads / 32];
  struct Pair { float a, b; };
  __shared__ Pair pair;
  rows[threadIdx.x] = warp_max[0] = pair.a = 0.f;
  o[0] = rows[0] + warp_max[0] + pair.a;
}
""",
        ),
        Example(
            code=_SPDX
            + """\
extern "C" __global__ void __launch_bounds__(64) scale(float* o, int n) {
  extern __shared__ float pool[];  // [stage][column]: two stages of n columns
  float* stage = pool;
  for (int i = 0; i < n; ++i) {
    float* next = pool + (i & 1) * n;
    next[threadIdx.x] = o[i];
  }
  o[0] = stage[0];
}
""",
        ),
        Example(
            code=_SPDX
            + """\
// [row][col] of a 32 x 32 block
#define TILE(name) __shared__ float name[32][32]
extern "C" __global__ void __launch_bounds__(64) scale(float* o) {
  TILE(tile);
  // __shared__ float old[32][33];
  __shared__ float lane_values[64];  // one per thread
  tile[0][threadIdx.x] = lane_values[threadIdx.x] = 0.f;
  o[0] = tile[0][0] + lane_values[0];
}
""",
        ),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge each shared declaration of the file."""
        if not file.shared:
            return
        judge = _Judge(file, context)
        for place in places(file.shared, judge.verdict, lambda declaration: True):
            declaration = place.record
            yield self.report(
                place.verdict,
                place.span,
                declaration.name,
                related=place.related,
                extents=(declaration.statement, *place.uses),
            )


class _Judge:
    """Judges the shared declarations of one file."""

    def __init__(self, file: FileModel, context: Context) -> None:
        self._file = file
        self._context = context
        self._comments = NearbyComments(file, context.sources[file.path].data)
        self._group = [declaration.statement for declaration in file.shared]
        heads = [f.head.start for f in file.functions if not f.lambda_ and not f.via_macro]
        first_code = min(heads, default=file.size)
        head = [c.text for c in file.comments if c.alone and c.span.start < first_code]
        self._head = LayoutNotes("\n".join(head))
        self._notes: dict[str, LayoutNotes] = {}
        self._branches = _merged(branch.span for branch in file.branches)
        self._constants = {constant.name for constant in file.constants}
        self._by_name = {(d.function, d.name): d for d in file.shared}

    def verdict(self, declaration: SharedDeclaration) -> str | None:
        """The message that fits, None for a declaration that is exempt or documented."""
        if self._exempt(declaration) or self._documented(declaration):
            return None
        return declaration.kind

    def _exempt(self, declaration: SharedDeclaration) -> bool:
        if declaration.kind == "static":
            return not declaration.dimensions or self._is_scratch(declaration)
        return declaration.kind == "alias" and not self._is_cut(declaration)

    def _is_scratch(self, declaration: SharedDeclaration) -> bool:
        """Whether it is of one dimension, with at most a value for each lane or warp."""
        if len(declaration.dimensions) != 1:
            return False
        size = declaration.dimensions[0]
        value = self._context.project.constants.evaluate(self._file.path, size)
        if value is not None:
            return value <= WARP
        return "warp" in size.lower() and "*" not in size

    def _is_cut(self, declaration: SharedDeclaration) -> bool:
        """Whether an alias gives a part of a pool a shape of its own.

        A mere second name does not, nor does a pointer into a tile, to the part
        of one thread or warp, or one that a loop moves along.
        """
        if _WORD.fullmatch(declaration.initializer) or self._is_inside_branch(declaration):
            return False
        sources = self._sources(declaration)
        if not any(source.kind == "alias" for source in sources):
            return any(_is_pool(source) for source in sources)
        return self._is_settled(declaration, {source.name for source in sources})

    def _is_settled(self, declaration: SharedDeclaration, sources: set[str]) -> bool:
        """Whether nothing that varies from thread to thread is in the initialiser."""
        words = set(_WORD.findall(declaration.initializer)) - sources - _WORDS_OF_CASTS
        words = {word for word in words if not _SETTLED.match(word)}
        if not words:
            return True
        function = self._file.functions[enclosing(self._file, declaration.function)]
        words -= {parameter.name for parameter in function.parameters}
        return words <= self._constants

    def _sources(self, declaration: SharedDeclaration) -> list[SharedDeclaration]:
        found = []
        for word in _WORD.findall(declaration.initializer):
            function = declaration.function
            while function >= 0 and (function, word) not in self._by_name:
                function = self._file.functions[function].parent
            source = self._by_name.get((function, word))
            if source is not None and source is not declaration:
                found.append(source)
        return found

    def _is_inside_branch(self, declaration: SharedDeclaration) -> bool:
        place = bisect_right(self._branches, (declaration.statement.start, self._file.size)) - 1
        return place >= 0 and declaration.statement.start < self._branches[place][1]

    def _documented(self, declaration: SharedDeclaration) -> bool:
        flat = len(declaration.dimensions) == 1 or declaration.kind != "static"
        statement = declaration.statement
        comments = self._comments
        if says_layout(comments.beside(statement), one_dimension=flat):
            return True
        if says_layout(comments.above(statement, self._group), one_dimension=flat):
            return True
        sizes = set(_WORD.findall(" ".join(declaration.dimensions)))
        if self._documented_constant(sizes):
            return True
        names = {declaration.name, *sizes}
        return self._head.speak_of(names) or any(
            self._notes_of(text).speak_of(names) for text in self._heads(declaration) if text
        )

    def _notes_of(self, text: str) -> LayoutNotes:
        if text not in self._notes:
            self._notes[text] = LayoutNotes(text)
        return self._notes[text]

    def _documented_constant(self, names: set[str]) -> bool:
        """Whether the comment at a constant of this file says a layout."""
        spans = [c.span for c in self._file.constants if c.name in names]
        spans += [m.span for m in self._file.macros if m.name in names]
        return any(
            says_layout(self._comments.beside(span)) or says_layout(self._comments.above(span))
            for span in spans
        )

    def _heads(self, declaration: SharedDeclaration) -> Iterator[str]:
        """The comments before the function and before the macro around."""
        function = enclosing(self._file, declaration.function)
        if function >= 0:
            yield self._file.functions[function].comment
        for macro in self._file.macros if declaration.via_macro else ():
            if macro.name == declaration.via_macro:
                yield self._comments.above(macro.span)


def _merged(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Sorted ranges of offsets, those that overlap made one."""
    found: list[tuple[int, int]] = []
    for span in sorted(spans):
        if found and span.start < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], span.end))
        else:
            found.append((span.start, span.end))
    return found


def _is_pool(declaration: SharedDeclaration) -> bool:
    """Whether it is memory that others give a shape to: the dynamic pool, or plain bytes."""
    if declaration.kind == "extern":
        return True
    byte = declaration.type.removeprefix("std::").removeprefix("unsigned ").removeprefix("signed ")
    return byte in ("char", "uint8_t", "int8_t", "byte") and len(declaration.dimensions) == 1
