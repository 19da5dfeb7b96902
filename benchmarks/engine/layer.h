// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "../core/runtime.h"
#include "../core/workspace.h"
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
