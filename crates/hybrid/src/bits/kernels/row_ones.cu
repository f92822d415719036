// How many bits of each row are set: a warp a row.

struct Params {
  const unsigned* from;  // rows x pitch words
  int* to;
  long long pitch;
  int rows, words;
};
constexpr int threads = 256;

extern "C" __global__ void __launch_bounds__(threads) row_ones(const __grid_constant__ Params p) {
  const long long row = (long long)blockIdx.x * (threads / 32) + tw::arch::thread_of_block() / 32;
  if (row >= p.rows) return;
  const unsigned* const from = p.from + row * p.pitch;
  int sum = 0;
  for (int word = tw::arch::lane(); word < p.words; word += 32) sum += __popc(from[word]);
  sum = tw::arch::redux_sum(tw::arch::whole_warp, sum, tw::Place::here());
  if (tw::arch::lane() == 0) p.to[row] = sum;
}
