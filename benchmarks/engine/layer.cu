// SPDX-License-Identifier: MIT OR Apache-2.0
// Layer @: projects its input, attends over the cache, and leaves the result in scratch_.
#include "layer_@.h"
#include "../core/check.h"
#include <algorithm>
#include <vector>

namespace engine {

extern "C" __global__ void scale_@(float* x, float factor, int n);

namespace {

constexpr int kThreads = 256;
constexpr int kRows@ = 8;

int blocks_for(int count) { return (count + kThreads - 1) / kThreads; }

// What a layer works on at once: rows of so many columns, padded to whole tiles.
struct Shape@ {
    int rows;
    int columns;
    int elements() const { return rows * columns; }
};

}  // namespace

// Everything that must not happen while tokens are made: memory, events, the weights' upload.
void Layer@::init(Runtime& runtime) {
    weights_ = runtime.load("layer.@.weight");
    scratch_ = runtime.load("layer.@.scratch");
    workspace_.init(runtime, config_.hidden * sizeof(float));
    ENGINE_CHECK(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming));
    std::vector<float> host(config_.hidden, 1.0f);
    for (int i = 0; i < config_.hidden; i++) {
        // Powers of two, so that what comes back is exact.
        host[i] = i % 2 == 0 ? 1.0f : 0.5f;
    }
    const size_t bytes = host.size() * sizeof(float);
    ENGINE_CHECK(cudaMemcpy(weights_.data(), host.data(), bytes, cudaMemcpyHostToDevice));
    if (config_.trace) {
        log_info("layer @ has %d columns in %d heads", config_.hidden, config_.heads);
    }
    reset();
    ready_ = true;
}

void Layer@::reset() noexcept {
    ready_ = false;
    workspace_.reset();
}

// Rows go through in tiles; the last one may be short.
void Layer@::project(const Tensor& input, cudaStream_t stream) {
    const Shape@ shape{input.rows(), input.columns()};
    const int count = std::min(std::max(shape.elements(), 1), 1 << 24);
    const int tile = std::max(1, count / kRows@);
    dim3 block(kThreads);
    for (int done = 0; done < count; done += tile) {
        const int left = std::min(tile, count - done);
        if (left <= 0) {
            break;
        }
        // The whole tile at once where it fits a grid, else in two halves.
        if (blocks_for(left) < 65536) {
            scale_@<<<blocks_for(left), block, 0, stream>>>(scratch_.data() + done,
                                                            config_.epsilon, left);
        } else {
            const int half = left / 2;
            dim3 grid(blocks_for(half));
            scale_@<<<grid, block, 0, stream>>>(scratch_.data() + done, config_.epsilon, half);
            scale_@<<<grid, block, 0, stream>>>(scratch_.data() + done + half,
                                                config_.epsilon, left - half);
        }
        ENGINE_CHECK(cudaGetLastError());
    }
}

// Scores of one head after the other: each has its rows in the workspace.
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
        // A head that is left over is done with the next call.
        if (head + kRows@ > config_.heads) {
            log_info("layer @ leaves %d heads", config_.heads - head);
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
    // What comes after waits for this event and never for the host.
    ENGINE_CHECK(cudaEventRecord(done_, stream));
    if (config_.trace) {
        ENGINE_CHECK(cudaStreamSynchronize(stream));
        report_@(*this);
    }
    ENGINE_CHECK(cudaStreamWaitEvent(stream, done_, 0));
    runtime.next().run(runtime, stream);
}

// One step: what is not there yet is made first, so that the graph's capture finds it.
void Layer@::forward(Runtime& runtime, const Tensor& input, Tensor& output) {
    if (!ready()) {
        init(runtime);
    }
    if (input.rows() == 0 || input.columns() != config_.hidden) {
        log_error("layer @ can't take %d x %d", input.rows(), input.columns());
        fail(__FILE__, __LINE__);
    }
    const cudaStream_t stream = runtime.stream();
    project(input, stream);
    run(runtime, stream);
    output = scratch_;
}

void report_@(const Layer@& layer) {
    log_info("layer @ is %s", layer.ready() ? "ready" : "not ready");
}

// The largest power of two that divides the rows and is no more than the columns.
int choose_@(int rows, int columns) {
    int best = 1;
    for (int candidate = 1; candidate <= columns; candidate *= 2) {
        if (rows % candidate == 0 && candidate > best) {
            best = candidate;
        } else if (candidate > rows + 1) {
            // Nothing larger can divide them.
            break;
        }
    }
    return best;
}

}  // namespace engine
