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
