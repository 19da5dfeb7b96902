"""Whether the cost of a run grows as the code does: trees of 12,500 to 100,000 lines.

    python benchmarks/scale.py [--rounds N] [--lines N ...]

A tree is an engine of many layers: the shipped kernels and, for each copy of
them, host files that launch them, call one another through headers, and use the
same few method names in every class. Each size is linted by all source rules in
a process of its own, cache off, nothing compiled, in turn with the bare parse of
the same files. Exits 1 when doubling the code costs more than 2.2 times, a run
takes more than 4 times the bare parse, or more than 600 MB.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import re
import resource
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import tree_sitter_cuda
from tree_sitter import Language, Parser

from cudalint.runner import Request, run

SIZES = (12_500, 25_000, 50_000, 100_000)
GROWTH = 2.2
RATIO = 4.0
MEGABYTES = 600
SHIPPED = Path(__file__).parents[1] / "kernels" / "gb10" / "common"

LAYER_HEADER = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "core/runtime.h"
#include "core/workspace.h"
#include <cuda_runtime.h>

namespace engine {

struct Layer@Config {
    int hidden = 4096;
    int heads = 32;
    float epsilon = 1e-6f;
    bool trace = false;
};

class Layer@ : public Layer {
  public:
    explicit Layer@(const Layer@Config& config) : config_(config) {}
    void init(Runtime& runtime) override;
    void forward(Runtime& runtime, const Tensor& input, Tensor& output) override;
    void run(Runtime& runtime, cudaStream_t stream);
    bool ready() const { return ready_; }
    void reset() noexcept;

  private:
    void project(const Tensor& input, cudaStream_t stream);
    void attend(Workspace& workspace, cudaStream_t stream);
    Layer@Config config_;
    Workspace workspace_;
    Tensor weights_;
    Tensor scratch_;
    cudaEvent_t done_ = nullptr;
    bool ready_ = false;
};

void report_@(const Layer@& layer);
int choose_@(int rows, int columns);

}  // namespace engine
"""

LAYER_SOURCE = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "layers/layer_@.h"
#include "core/check.h"
#include <algorithm>
#include <vector>

namespace engine {

extern "C" __global__ void scale_@(float* x, float factor, int n);

namespace {

constexpr int kThreads = 256;
constexpr int kRows@ = 8;

int blocks_for(int count) { return (count + kThreads - 1) / kThreads; }

template <typename T>
T clamp_to(T value, T low, T high) {
    return std::min(std::max(value, low), high);
}

struct Shape@ {
    int rows;
    int columns;
    int elements() const { return rows * columns; }
};

}  // namespace

void Layer@::init(Runtime& runtime) {
    weights_ = runtime.load("layer.@.weight");
    workspace_.init(runtime, config_.hidden * sizeof(float));
    ENGINE_CHECK(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming));
    std::vector<float> host(config_.hidden, 1.0f);
    ENGINE_CHECK(cudaMemcpy(weights_.data(), host.data(), host.size() * 4, cudaMemcpyHostToDevice));
    reset();
    ready_ = true;
}

void Layer@::reset() noexcept {
    ready_ = false;
    workspace_.reset();
}

void Layer@::project(const Tensor& input, cudaStream_t stream) {
    const Shape@ shape{input.rows(), input.columns()};
    const int count = clamp_to(shape.elements(), 1, 1 << 24);
    dim3 grid(blocks_for(count));
    dim3 block(kThreads);
    scale_@<<<grid, block, 0, stream>>>(scratch_.data(), config_.epsilon, count);
    ENGINE_CHECK(cudaGetLastError());
}

void Layer@::attend(Workspace& workspace, cudaStream_t stream) {
    float* scores = workspace.reserve(config_.heads * kRows@);
    for (int head = 0; head < config_.heads; head += kRows@) {
        if (scores == nullptr) {
            log_error("layer @ has no scores at head %d", head);
            return;
        }
        const int rows = choose_@(head, kRows@);
        switch (rows) {
            case 1: scale_@<<<1, kThreads, 0, stream>>>(scores, 1.0f, rows); break;
            case 2: scale_@<<<2, kThreads, 0, stream>>>(scores, 0.5f, rows); break;
            default: scale_@<<<blocks_for(rows), kThreads, 0, stream>>>(scores, 0.25f, rows);
        }
        scores += rows;
    }
    ENGINE_CHECK(cudaGetLastError());
}

void Layer@::run(Runtime& runtime, cudaStream_t stream) {
    auto each = [&](Tensor& tensor) {
        project(tensor, stream);
        attend(workspace_, stream);
    };
    each(scratch_);
    ENGINE_CHECK(cudaEventRecord(done_, stream));
    if (config_.trace) {
        ENGINE_CHECK(cudaStreamSynchronize(stream));
        report_@(*this);
    }
    runtime.next().run(runtime, stream);
}

void Layer@::forward(Runtime& runtime, const Tensor& input, Tensor& output) {
    if (!ready()) {
        init(runtime);
    }
    project(input, runtime.stream());
    run(runtime, runtime.stream());
    output = scratch_;
}

void report_@(const Layer@& layer) {
    log_info("layer @ is %s", layer.ready() ? "ready" : "not ready");
}

int choose_@(int rows, int columns) {
    int best = 1;
    for (int candidate = 1; candidate <= columns; candidate *= 2) {
        if (rows % candidate == 0 && candidate > best) {
            best = candidate;
        } else if (candidate > rows + 1) {
            break;
        }
    }
    return best;
}

}  // namespace engine
"""

MODEL_SOURCE = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "layers/layer_@.h"
#include "core/runtime.h"

namespace engine {

class Model@ {
  public:
    void init(Runtime& runtime) {
        for (auto* layer : layers_) layer->init(runtime);
        own_.init(runtime);
    }
    void forward(Runtime& runtime, const Tensor& input, Tensor& output) {
        for (auto* layer : layers_) layer->forward(runtime, input, output);
        own_.forward(runtime, input, output);
        sample(runtime, output);
    }
    void run(Runtime& runtime) { forward(runtime, runtime.input(), runtime.output()); }

  private:
    void sample(Runtime& runtime, Tensor& output) {
        own_.run(runtime, runtime.stream());
        runtime.finish(output);
    }
    Layer@ own_{Layer@Config{}};
    Layer* layers_[4] = {};
};

void serve_@(Runtime& runtime) {
    Model@ model;
    model.init(runtime);
    while (runtime.running()) {
        model.run(runtime);
    }
}

}  // namespace engine
"""

CORE = {
    "core/check.h": """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#define ENGINE_CHECK(call)                                   \\
    do {                                                     \\
        const cudaError_t status = (call);                   \\
        if (status != cudaSuccess) {                         \\
            log_error("%s", cudaGetErrorString(status));     \\
            fail(__FILE__, __LINE__);                        \\
        }                                                    \\
    } while (0)
void log_error(const char* format, ...);
void log_info(const char* format, ...);
[[noreturn]] void fail(const char* file, int line);
""",
    "core/runtime.h": """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cuda_runtime.h>
namespace engine {
class Tensor {
  public:
    float* data() const;
    int rows() const;
    int columns() const;
};
class Runtime;
class Layer {
  public:
    virtual ~Layer() = default;
    virtual void init(Runtime& runtime) = 0;
    virtual void forward(Runtime& runtime, const Tensor& input, Tensor& output) = 0;
};
class Runtime {
  public:
    cudaStream_t stream() const;
    Tensor load(const char* name);
    Tensor& input();
    Tensor& output();
    Runtime& next();
    void run(Runtime& runtime, cudaStream_t stream);
    void finish(Tensor& output);
    bool running() const;
};
}  // namespace engine
""",
    "core/workspace.h": """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "core/runtime.h"
namespace engine {
class Workspace {
  public:
    void init(Runtime& runtime, unsigned long bytes);
    void reset();
    float* reserve(int count);
};
}  // namespace engine
""",
}


def make_tree(folder: Path, wanted: int) -> int:
    """Write a tree of about `wanted` lines below `folder`; how many lines it has."""
    kernels = {file.stem: file.read_text() for file in sorted(SHIPPED.glob("*.cu"))}
    lines = 0

    def write(path: str, text: str) -> None:
        nonlocal lines
        lines += text.count("\n")
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    for path, text in CORE.items():
        write(f"src/{path}", text)
    for header in sorted(SHIPPED.glob("*.cuh")):
        write(f"kernels/{header.name}", header.read_text())
    names = sorted(kernels)
    number = 0
    while lines < wanted:
        name = f"{number:04}"
        write(f"src/layers/layer_{name}.h", LAYER_HEADER.replace("@", name))
        write(f"src/layers/layer_{name}.cu", LAYER_SOURCE.replace("@", name))
        write(f"src/models/model_{name}.cpp", MODEL_SOURCE.replace("@", name))
        for stem in (names[number * 2 % len(names)], names[(number * 2 + 1) % len(names)]):
            text = re.sub(rf"\b{stem}(?=\w*\()", f"{stem}_{name}", kernels[stem])
            write(f"kernels/{stem}_{name}.cu", text)
        number += 1
    return lines


def measure(wanted: int, rounds: int) -> tuple[int, float, float, int, int]:
    """Lines, the least CPU seconds of a run and of the bare parse, peak MB, findings."""
    gc.disable()  # as the command line does it
    parser = Parser(Language(tree_sitter_cuda.language()))
    linted, parsed = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = make_tree(folder, wanted)
        request = Request((".",), folder, isolated=True, compile="never")
        files = [file.read_bytes() for file in sorted(folder.rglob("*.*")) if file.is_file()]
        for _ in range(rounds):
            start = time.process_time()
            for data in files:
                parser.parse(data)
            parsed.append(time.process_time() - start)
            start = time.process_time()
            finished = run(request)
            linted.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return lines, min(linted), min(parsed), peak, len(finished.findings)


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--lines", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    faults = []
    costs = []
    print(f"{'lines':>8} {'CPU s':>7} {'bare s':>7} {'ratio':>6} {'growth':>7}  peak MB  found")
    context = multiprocessing.get_context("spawn")
    for wanted in arguments.lines:
        with context.Pool(1) as pool:
            lines, seconds, bare, peak, found = pool.apply(measure, (wanted, arguments.rounds))
        costs.append((lines, seconds))
        growth = ""
        for (few, before), (many, after) in list(pairwise(costs))[-1:]:
            doubling = after / before / (many / few) * 2
            growth = f"{doubling:.2f}"
            if doubling > GROWTH:
                faults.append(f"{lines} lines cost {growth} times half of them")
        if seconds / bare > RATIO:
            faults.append(f"{lines} lines take {seconds / bare:.2f} times the bare parse")
        if peak > MEGABYTES:
            faults.append(f"{lines} lines take {peak} MB")
        print(f"{lines:8} {seconds:7.2f} {bare:7.2f} {seconds / bare:6.2f} {growth:>7} "
              f"{peak:8} {found:6}", flush=True)  # fmt: skip
    for fault in faults:
        print(f"above the limit: {fault}", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())
