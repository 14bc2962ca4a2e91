// Kernels of the HIP programs. Plain OpenCL C; work-item functions are the
// compiler's builtins, so that no device library is needed.

#define LOCAL_X ((uint)__builtin_amdgcn_workitem_id_x())
#define LOCAL_Y ((uint)__builtin_amdgcn_workitem_id_y())
#define GROUP_X ((uint)__builtin_amdgcn_workgroup_id_x())
#define GROUP_Y ((uint)__builtin_amdgcn_workgroup_id_y())

static void synchronise(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// z = k * x + y
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
scale_add(const global float *x, const global float *y, global float *z,
          float k, uint n) {
  uint i = GROUP_X * 256 + LOCAL_X;
  if (i < n)
    z[i] = k * x[i] + y[i];
}

// One sum for each block of 256.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
block_sum(const global float *x, global float *sums, uint n) {
  local float part[256];
  uint i = GROUP_X * 256 + LOCAL_X;
  part[LOCAL_X] = i < n ? x[i] : 0.0f;
  synchronise();
  for (uint width = 128; width; width /= 2) {
    if (LOCAL_X < width)
      part[LOCAL_X] += part[LOCAL_X + width];
    synchronise();
  }
  if (LOCAL_X == 0)
    sums[GROUP_X] = part[0];
}

// to[i] = from[i - 1] + 2 * from[i] + from[i + 1] + bias, around a ring.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
ring_step(const global uint *from, global uint *to, uint bias, uint n) {
  uint i = GROUP_X * 64 + LOCAL_X;
  if (i < n)
    to[i] = from[i ? i - 1 : n - 1] + 2 * from[i] +
            from[i + 1 < n ? i + 1 : 0] + bias;
}

#define TILE 16
struct product {
  const global float *a, *b;
  global float *c;
  uint m, n, k;
};

// c = a * b for row-major matrices; the operands come as one structure.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
multiply(const struct product p) {
  local float left[TILE][TILE], right[TILE][TILE];
  uint row = GROUP_Y * TILE + LOCAL_Y, column = GROUP_X * TILE + LOCAL_X;
  float sum = 0.0f;
  for (uint start = 0; start < p.k; start += TILE) {
    uint across = start + LOCAL_X, down = start + LOCAL_Y;
    left[LOCAL_Y][LOCAL_X] =
        row < p.m && across < p.k ? p.a[row * p.k + across] : 0.0f;
    right[LOCAL_Y][LOCAL_X] =
        down < p.k && column < p.n ? p.b[down * p.n + column] : 0.0f;
    synchronise();
    for (uint i = 0; i < TILE; ++i)
      sum += left[LOCAL_Y][i] * right[i][LOCAL_X];
    synchronise();
  }
  if (row < p.m && column < p.n)
    p.c[row * p.n + column] = sum;
}
