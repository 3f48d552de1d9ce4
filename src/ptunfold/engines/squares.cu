// Replace a square matrix by the squares of its means with its transpose, in place.

#define SIDE 32

extern "C" __global__ void square_means(float* matrix, const long long n) {
  if (blockIdx.x < blockIdx.y) return;  // each pair of tiles once
  __shared__ float upper[SIDE][SIDE + 1], lower[SIDE][SIDE + 1];
  const long long left = (long long)blockIdx.x * SIDE, top = (long long)blockIdx.y * SIDE;
  for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
    const int x = i % SIDE, y = i / SIDE;
    if (top + y < n && left + x < n) upper[y][x] = matrix[(top + y) * n + left + x];
    if (left + y < n && top + x < n) lower[y][x] = matrix[(left + y) * n + top + x];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
    const int x = i % SIDE, y = i / SIDE;
    const float mean = 0.5f * (upper[y][x] + lower[x][y]);
    const float mirror = 0.5f * (upper[x][y] + lower[y][x]);
    if (top + y < n && left + x < n) matrix[(top + y) * n + left + x] = mean * mean;
    if (left + y < n && top + x < n) matrix[(left + y) * n + top + x] = mirror * mirror;
  }
}
