// What nvcc declares before the first line of a CUDA file, as far as types go.
// libclang reads this before each file; nothing here is ever compiled or run.
#pragma once

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__
#define __inline_hint__
#define __nv_pure__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB

#include <stddef.h>
#include <stdint.h>
#include <type_traits>
#include <vector_types.h>
#include <cuda_runtime_api.h>

// Which of the two a launch needs depends on a toolkit that clang may find by itself.
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = nullptr);
extern "C" int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = nullptr);

extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;
