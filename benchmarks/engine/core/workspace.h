// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "runtime.h"
namespace engine {
class Workspace {
  public:
    void init(Runtime& runtime, unsigned long bytes);
    void reset();
    float* reserve(int count);
};
}  // namespace engine
