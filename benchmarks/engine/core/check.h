// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#define ENGINE_CHECK(call)                                   \
    do {                                                     \
        const cudaError_t status = (call);                   \
        if (status != cudaSuccess) {                         \
            log_error("%s", cudaGetErrorString(status));     \
            fail(__FILE__, __LINE__);                        \
        }                                                    \
    } while (0)
void log_error(const char* format, ...);
void log_info(const char* format, ...);
[[noreturn]] void fail(const char* file, int line);
