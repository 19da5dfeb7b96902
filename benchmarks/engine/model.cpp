// SPDX-License-Identifier: MIT OR Apache-2.0
// Model @: four layers that are shared, and one of its own.
#include "../layers/layer_@.h"
#include "../core/check.h"
#include "../core/runtime.h"

namespace engine {

class Model@ {
  public:
    // Layers may be absent: a model that is cut over several devices has some of them only.
    void init(Runtime& runtime) {
        for (auto* layer : layers_) {
            if (layer == nullptr) {
                continue;
            }
            layer->init(runtime);
            log_info("model @ has one more layer");
        }
        own_.init(runtime);
    }

    void forward(Runtime& runtime, const Tensor& input, Tensor& output) {
        for (auto* layer : layers_) {
            if (layer != nullptr) {
                // Each layer leaves its output where the next one looks for its input.
                layer->forward(runtime, input, output);
            }
        }
        own_.forward(runtime, input, output);
        if (output.rows() > 0) {
            sample(runtime, output);
        }
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

// Until nobody asks any more; every step is one pass through the layers.
void serve_@(Runtime& runtime) {
    Model@ model;
    model.init(runtime);
    int steps = 0;
    while (runtime.running()) {
        model.run(runtime);
        steps++;
        if (steps % 1024 == 0) {
            log_info("model @ made %d steps", steps);
        }
    }
    log_info("model @ ends after %d steps", steps);
}

}  // namespace engine
