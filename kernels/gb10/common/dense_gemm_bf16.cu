// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Dense matrix product for the non-MoE feed-forward and projection layers of a prefill;
// dense_gemm_bf16_decode is for few rows:
//
//   c[i][j] = bf16( sum over p of a[i][p] * b[j][p] )          (C = A * B^T)
//
//   a  [m][k] bf16, row-major: activations
//   b  [n][k] bf16, row-major: weights as checkpoints store them, one output channel per row
//   c  [m][n] bf16, row-major
//
// Requirements: a, b and c 16-byte aligned; k a positive multiple of 8, so that each row starts on
// a 16-byte border; m and n any positive number (16-byte stores need n % 8 == 0, other n take the
// 2-byte path). Products accumulate in fp32 in one fixed order per output, so the result is the
// same to the bit on every run. Tolerance against an fp32 product: the final rounding to bf16
// (relative 2^-9) plus fp32 accumulation error, which grows with sqrt(k).
//
// Launch: grid (ceil(m / kTileM) * ceil(n / kTileN), 1, 1), block (kThreads, 1, 1), dynamic shared
// memory kSharedBytes (98,304). That is above 48 KB, so the launch site raises
// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES once, at load time.
//
// How: a block owns a kTileM x kTileN tile of c, each warp a 64 x 64 part of it in registers. k is
// walked in steps of kTileK through a ring of kStages shared-memory stages filled by cp.async;
// fragments for the next 16 columns of k are loaded while the tensor cores work on the current.

#include "cp_async.cuh"
#include "mma_bf16.cuh"

constexpr int kTileM = 256;  // rows of c per block
constexpr int kTileN = 128;  // columns of c per block
constexpr int kTileK = 32;   // columns of a and b per pipeline stage: 32 or 64
constexpr int kStages = 4;
constexpr int kWarpTile = 64;  // a warp owns 64 rows x 64 columns of c
constexpr int kWarpsN = kTileN / kWarpTile;
constexpr int kThreads = 32 * (kTileM / kWarpTile) * kWarpsN;
constexpr int kSteps = kTileK / 16;      // tensor-core steps per stage
constexpr int kRowBytes = kTileK * 2;    // one tile row in shared memory
constexpr int kChunks = kRowBytes / 16;  // 16-byte chunks per tile row: 4 or 8
constexpr int kTileABytes = kTileM * kRowBytes;
constexpr int kStageBytes = (kTileM + kTileN) * kRowBytes;
constexpr int kSharedBytes = kStages * kStageBytes;
constexpr int kRowsPerPass = kThreads / kChunks;  // tile rows that the block copies at once
constexpr int kPassesA = kTileM / kRowsPerPass;
constexpr int kPassesB = kTileN / kRowsPerPass;
constexpr int kRasterRows = 4;  // tile rows of c that are walked together

static_assert(kTileK == 32 || kTileK == 64, "the swizzle knows rows of 64 and 128 bytes");
static_assert(kTileM % kRowsPerPass == 0 && kTileN % kRowsPerPass == 0 && kRowsPerPass % 8 == 0,
              "a pass copies whole rows and keeps the swizzle phase");
static_assert(kSharedBytes <= 99 * 1024, "GB10 gives a block at most 99 KB");
static_assert(kTileM * kTileN * 2 <= kSharedBytes, "the finished tile is staged in the pool");

// Byte offset of 16-byte chunk `chunk` of tile row `row`. Chunks are permuted by xor within each
// group of 8 rows, so that the 8 rows of an ldmatrix tile fall in 8 different 16-byte bank groups:
// rows of 128 bytes by row % 8, rows of 64 bytes (two per 128-byte line) by (row / 2) % 4. The
// pool and each stage start on a 128-byte border.
__device__ __forceinline__ int tile_offset(int row, int chunk) {
  const int phase = (kChunks == 8) ? (row & 7) : ((row >> 1) & 3);
  return row * kRowBytes + ((chunk ^ phase) << 4);
}

// The tile (row, column) of the linear block index: kRasterRows tile rows are walked column by
// column, so the blocks that run side by side share rows of a and of b in L2.
__device__ __forceinline__ int2 tile_of_block(int block, int tiles_m, int tiles_n) {
  const int group = block / (kRasterRows * tiles_n);
  const int first_row = group * kRasterRows;
  const int rows = min(kRasterRows, tiles_m - first_row);
  const int within = block - group * kRasterRows * tiles_n;
  return make_int2(first_row + within % rows, within / rows);
}

// What one thread copies for each stage: the same 16-byte chunk of every kRowsPerPass-th tile row.
struct StageCopy {
  const bf16* source_a;  // its chunk of the tile's first row, in the next stage to copy
  const bf16* source_b;
  size_t pass_stride;  // elements between its rows
  int rows_a;          // rows from its first to the edge of a, and of b
  int rows_b;
  int columns;   // columns from its chunk of the next stage to the edge
  unsigned dst;  // where its chunk lies in stage 0
};

// Starts the copies of the next stage, to `stage` bytes into the pool; what lies past an edge
// becomes zero and is not read.
__device__ __forceinline__ void copy_stage(StageCopy& copy, unsigned stage) {
  const int valid_a = (copy.columns > 0) ? copy.rows_a : 0;
  const int valid_b = (copy.columns > 0) ? copy.rows_b : 0;
#pragma unroll
  for (int i = 0; i < kPassesA; ++i) {
    cp_async_16_or_zero(copy.dst + stage + i * kRowsPerPass * kRowBytes,
                        copy.source_a + i * copy.pass_stride, i * kRowsPerPass < valid_a);
  }
#pragma unroll
  for (int i = 0; i < kPassesB; ++i) {
    cp_async_16_or_zero(copy.dst + stage + kTileABytes + i * kRowsPerPass * kRowBytes,
                        copy.source_b + i * copy.pass_stride, i * kRowsPerPass < valid_b);
  }
  copy.source_a += kTileK;
  copy.source_b += kTileK;
  copy.columns -= kTileK;
}

__device__ __forceinline__ unsigned next_stage(unsigned stage) {
  return (stage + kStageBytes == kSharedBytes) ? 0 : stage + kStageBytes;
}

// The fragments of one 16-deep step: 4 tiles of 16 rows of a, 4 tiles of 16 rows of b.
struct Fragments {
  unsigned a[4][4];
  unsigned b[4][4];
};

// `lane_a` and `lane_b` are this lane's addresses for step 0; a step is two chunks further, which
// the swizzle turns into an xor. 16 rows down keeps the swizzle phase.
__device__ __forceinline__ void load_fragments(Fragments& fragments, unsigned lane_a,
                                               unsigned lane_b, int step) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    ldmatrix_x4(fragments.a[i], (lane_a ^ (step << 5)) + i * 16 * kRowBytes);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    ldmatrix_x4(fragments.b[j], (lane_b ^ (step << 5)) + j * 16 * kRowBytes);
  }
}

__device__ __forceinline__ void multiply(float (&acc)[4][8][4], const Fragments& fragments) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      mma_m16n8k16(acc[i][j], fragments.a[i], fragments.b[j / 2][2 * (j & 1)],
                   fragments.b[j / 2][2 * (j & 1) + 1]);
    }
  }
}

// Puts a warp's 64 x 64 part, rounded to bf16, into its 8 KB of the pool:
// [row][64 columns], 128 bytes per row, 16-byte chunks xor-swizzled by row % 8.
__device__ __forceinline__ void stage_warp_tile(unsigned staging, const float (&acc)[4][8][4],
                                                int lane) {
  const int g = lane >> 2;
  const int t = lane & 3;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const unsigned at = staging + (16 * i + g) * 128 + ((j ^ g) << 4) + 4 * t;
      const unsigned low = pack_bf16x2(acc[i][j][0], acc[i][j][1]);
      const unsigned high = pack_bf16x2(acc[i][j][2], acc[i][j][3]);
      asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(at), "r"(low) : "memory");
      asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(at + 8 * 128), "r"(high) : "memory");
    }
  }
}

// Writes a warp's staged part, whose first element is c[row0][col0], up to the edges of c.
__device__ __forceinline__ void store_warp_tile(bf16* c, const unsigned char* staged, int row0,
                                                int col0, int m, int n, int lane) {
  const int rows = min(kWarpTile, m - row0);
  if ((n & 7) == 0) {
    // 8 lanes write the 8 chunks of a row, 4 rows at a time.
    const int chunk = lane & 7;
    for (int row = lane >> 3; row < rows; row += 4) {
      if (col0 + 8 * chunk < n) {
        *reinterpret_cast<uint4*>(c + static_cast<size_t>(row0 + row) * n + col0 + 8 * chunk) =
            *reinterpret_cast<const uint4*>(staged + row * 128 + ((chunk ^ (row & 7)) << 4));
      }
    }
  } else {
    for (int row = 0; row < rows; ++row) {
      for (int column = lane; column < min(kWarpTile, n - col0); column += 32) {
        const int chunk = (column >> 3) ^ (row & 7);
        c[static_cast<size_t>(row0 + row) * n + col0 + column] =
            *reinterpret_cast<const bf16*>(staged + row * 128 + chunk * 16 + (column & 7) * 2);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    dense_gemm_bf16(const bf16* __restrict__ a, const bf16* __restrict__ b, bf16* __restrict__ c,
                    int m, int n, int k) {
  // Pool: [stage][a tile rows, then b tile rows][kTileK columns], chunks swizzled as tile_offset
  // says; after the main loop, one [64 rows][64 columns] output tile per warp, swizzled too.
  extern __shared__ __align__(128) unsigned char gemm_pool[];
  const unsigned pool = shared_address(gemm_pool);
  const int tid = threadIdx.x;
  const int lane = tid & 31;
  const int warp_m = (tid >> 5) / kWarpsN;
  const int warp_n = (tid >> 5) % kWarpsN;
  const int tiles_n = (n + kTileN - 1) / kTileN;
  const int2 tile = tile_of_block(blockIdx.x, (m + kTileM - 1) / kTileM, tiles_n);
  const int row0 = tile.x * kTileM;
  const int col0 = tile.y * kTileN;

  const int copy_row = tid / kChunks;
  const int copy_column = 8 * (tid % kChunks);
  StageCopy copy;
  copy.source_a = a + static_cast<size_t>(row0 + copy_row) * k + copy_column;
  copy.source_b = b + static_cast<size_t>(col0 + copy_row) * k + copy_column;
  copy.pass_stride = static_cast<size_t>(kRowsPerPass) * k;
  copy.rows_a = m - row0 - copy_row;
  copy.rows_b = n - col0 - copy_row;
  copy.columns = k - copy_column;
  copy.dst = pool + tile_offset(copy_row, tid % kChunks);

  float acc[4][8][4] = {};
  Fragments fragments[2];
  // Lane addresses for ldmatrix. a: 16 rows, then the same rows 8 columns further. b: 8 rows, the
  // same rows 8 columns further, then the next 8 rows likewise.
  const unsigned lane_a = pool + tile_offset(warp_m * kWarpTile + (lane & 15), lane >> 4);
  const unsigned lane_b =
      pool + kTileABytes +
      tile_offset(warp_n * kWarpTile + (lane & 7) + ((lane >> 4) << 3), (lane >> 3) & 1);

#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) {
    copy_stage(copy, i * kStageBytes);  // a stage past the end is all zeros
    cp_async_commit();
  }
  cp_async_wait<kStages - 2>();
  __syncthreads();
  unsigned read_stage = 0;
  unsigned write_stage = (kStages - 1) * kStageBytes;
  load_fragments(fragments[0], lane_a, lane_b, 0);

  for (int column = 0; column < k; column += kTileK) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step == kSteps - 1) {
        // The next stage must have landed, and all warps be done reading the current one.
        cp_async_wait<kStages - 2>();
        __syncthreads();
        read_stage = next_stage(read_stage);
      }
      load_fragments(fragments[(step + 1) & 1], lane_a + read_stage, lane_b + read_stage,
                     (step + 1) % kSteps);
      if (step == 0) {
        copy_stage(copy, write_stage);
        cp_async_commit();
        write_stage = next_stage(write_stage);
      }
      multiply(acc, fragments[step & 1]);
    }
  }
  cp_async_wait<0>();
  __syncthreads();

  const int warp_tile = (tid >> 5) * (kWarpTile * kWarpTile * 2);
  stage_warp_tile(pool + warp_tile, acc, lane);
  __syncwarp();
  store_warp_tile(c, gemm_pool + warp_tile, row0 + warp_m * kWarpTile, col0 + warp_n * kWarpTile, m,
                  n, lane);
}
