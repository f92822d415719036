// Absolute values of a matrix, folded along its lines in double precision: their sums, the sums of their squares, or the largest. A line is cut
// into pieces, and some lanes of a warp have one: those that are adjacent read what stands together.
//
// Budget: 64 bytes of shared memory a block of 256 threads.

using Real = shape::Real;
enum class Folding { Largest, Sums, Squares };
constexpr Folding folding = (Folding)shape::folding;
constexpr int threads = 256, warps = threads / 32, at_once = 4;

struct W : tw::Dim<W> { using Dim::Dim; };
using Warps = tw::Tensor<double, tw::Layout<tw::Axis<W, 1, warps, 1, false>>>;
using Element = tw::Vector<Real, shape::parts>;

struct Params {
  const Element* from;
  double* to;               // one of each piece where those are kept, else one of each block
  long long along, across;  // elements from one of a line to the next, and from line to line
  long long length, lines;
  long long piece, pieces;  // elements of a piece; pieces of all lines, the first ones of each before the second ones
  double scale[2], factor;  // of elements; of absolute values that are squared
  int lanes;     // of a piece: a power of two
  int step;      // from one lane of a piece to the next: 1, or as many as a warp has pieces
  int is_scaled, keeps;
};

TW_DEVICE double modulus(const Params& p, Element element) {
  const Real re = element[0], scale = (Real)p.scale[0];
  if constexpr (shape::parts == 1) {
    return tw::abs((double)(p.is_scaled ? re * scale : re));
  } else {
    const Real im = element[1], turn = (Real)p.scale[1];
    const double x = tw::abs((double)(p.is_scaled ? re * scale - im * turn : re));
    const double y = tw::abs((double)(p.is_scaled ? re * turn + im * scale : im));
    if (tw::is_infinite(x) || tw::is_infinite(y)) return tw::Limits<double>::infinity();
    const double large = tw::maximum(x, y), small = tw::minimum(x, y);
    if (large == 0) return 0;
    const double ratio = small / large;
    return large * tw::sqrt(1 + ratio * ratio);
  }
}

TW_DEVICE double folded(double one, double other) {
  return folding == Folding::Largest ? tw::maximum(one, other) : one + other;
}

// Of lines: the largest sum.
TW_DEVICE double joined(double one, double other) {
  return folding == Folding::Squares ? one + other : tw::maximum(one, other);
}

TW_DEVICE double with(const Params& p, double so_far, Element element) {
  const double size = modulus(p, element);
  if constexpr (folding != Folding::Squares) return folded(so_far, size);
  return folded(so_far, size * p.factor * (size * p.factor));
}

// What a lane has of a piece.
TW_DEVICE double own(const Params& p, long long piece, int lane) {
  const Element* const line = p.from + piece % p.lines * p.across;
  const long long begin = piece / p.lines * p.piece, end = begin + p.piece < p.length ? begin + p.piece : p.length;
  double value = 0;
  long long at = begin + lane;
  for (; at + (at_once - 1) * p.lanes < end; at += at_once * p.lanes) {
    Element elements[at_once];
    TW_UNROLL
    for (int i = 0; i < at_once; ++i) elements[i] = line[(at + i * p.lanes) * p.along];
    TW_UNROLL
    for (int i = 0; i < at_once; ++i) value = with(p, value, elements[i]);
  }
  for (; at < end; at += p.lanes) value = with(p, value, line[at * p.along]);
  return value;
}

extern "C" __global__ void __launch_bounds__(threads) fold_moduli(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Warps of_warps = shared.take<Warps>();
  const int lane = tw::arch::lane(), warp = tw::arch::thread_of_block() / 32, together = 32 / p.lanes;
  const int of_piece = lane / p.step % p.lanes, number = p.step == 1 ? lane / p.lanes : lane % together;
  const long long stride = (long long)gridDim.x * warps * together;
  double all = 0;
  for (long long first = ((long long)blockIdx.x * warps + warp) * together; first < p.pieces; first += stride) {
    const long long piece = first + number;
    double value = piece < p.pieces ? own(p, piece, of_piece) : 0;
    for (int flip = p.lanes / 2; flip > 0; flip /= 2) {
      value = folded(value, tw::arch::shuffle_xor(value, flip * p.step, tw::Place::here()));
    }
    if (of_piece != 0 || piece >= p.pieces) continue;
    if (p.keeps) {
      p.to[piece] = value;
    } else {
      all = joined(all, value);
    }
  }
  if (p.keeps) return;
  for (int flip = 16; flip > 0; flip /= 2) all = joined(all, tw::arch::shuffle_xor(all, flip, tw::Place::here()));
  if (lane == 0) *of_warps.at(W(warp)) = all;
  __syncthreads();
  if (tw::arch::thread_of_block() != 0) return;
  for (W w(1); w < W(warps); ++w.value) all = joined(all, of_warps.at(w).load());
  p.to[blockIdx.x] = all;
}
