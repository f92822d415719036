// Two matrices of bits, element by element: 128 bits a thread. Padding is combined too, and stays zero.

struct Params {
  const unsigned* left;
  const unsigned* right;
  unsigned* to;
  long long runs;  // of four words
};
enum class Combine { And, Or, Xor, AndNot };
constexpr Combine how = (Combine)shape::combine;
constexpr int threads = 256;

TW_DEVICE unsigned combined(unsigned a, unsigned b) {
  if constexpr (how == Combine::And) {
    return a & b;
  } else if constexpr (how == Combine::Or) {
    return a | b;
  } else if constexpr (how == Combine::Xor) {
    return a ^ b;
  } else {
    return a & ~b;
  }
}

extern "C" __global__ void __launch_bounds__(threads) combine(const __grid_constant__ Params p) {
  using Run = tw::Vector<unsigned, 4>;
  const long long run = (long long)blockIdx.x * threads + tw::arch::thread_of_block();
  if (run >= p.runs) return;
  const Run a = ((const Run*)p.left)[run], b = ((const Run*)p.right)[run];
  Run result;
  TW_UNROLL
  for (int i = 0; i < 4; ++i) result.values[i] = combined(a.values[i], b.values[i]);
  ((Run*)p.to)[run] = result;
}
