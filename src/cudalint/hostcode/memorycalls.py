"""The API calls that take memory, or give it back, by name.

Expressions such as `new` and the growth of containers are `cudalint.hostcode.allocations`.
"""

from __future__ import annotations

TAKING = frozenset(
    {
        *("cudaMalloc", "cudaMallocHost", "cudaMallocManaged", "cudaMallocPitch", "cudaMalloc3D"),
        *("cudaMallocArray", "cudaMalloc3DArray", "cudaMallocMipmappedArray", "cudaMallocAsync"),
        *("cudaMallocFromPoolAsync", "cudaHostAlloc", "cuMemAlloc", "cuMemAlloc_v2"),
        *("cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemAllocHost", "cuMemAllocHost_v2"),
        *("cuMemAllocManaged", "cuMemAllocPitch", "cuMemAllocPitch_v2", "cuMemHostAlloc"),
    }
)
GIVING = frozenset(
    {
        *("cudaFree", "cudaFreeHost", "cudaFreeArray", "cudaFreeMipmappedArray", "cudaFreeAsync"),
        *("cuMemFree", "cuMemFree_v2", "cuMemFreeHost", "cuMemFreeAsync"),
    }
)
HOST_TAKING = frozenset({"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign"})
HOST_GIVING = frozenset({"free"})
MAKING = frozenset(
    {
        *("cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"),
        *("cudaEventCreate", "cudaEventCreateWithFlags", "cuStreamCreate", "cuEventCreate"),
        *("cuStreamCreateWithPriority", "cublasCreate", "cublasCreate_v2", "cublasLtCreate"),
        *("cudnnCreate", "cusparseCreate", "cusolverDnCreate", "curandCreateGenerator"),
        *("cufftCreate", "cufftPlan1d", "cufftPlan2d", "cufftPlan3d", "cufftPlanMany"),
        *("ncclCommInitRank", "ncclCommInitAll"),
    }
)
"""Makes a stream, an event or a library's handle."""
