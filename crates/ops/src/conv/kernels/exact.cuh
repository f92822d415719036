// Sums that are not finite. Tensor cores multiply zeros too: those of padding, of a stride that is undone, and between groups narrower
// than 8. A zero times an infinity is NaN where the definition adds nothing. No sum is finite that should not be, so those that are not
// are watched for, and a block that saw one computes all of its own anew in the end, from nothing but what the definition adds, in the
// order of the CPU. Where no weight is such a zero, a sum can be NaN for its sake only if a weight is not finite: then those are watched, once, and no sums
// (not so with f32, whose infinities become NaN on their way).

// Where a place that is written reads under a tap, along one axis; less than nothing where it reads nothing.
TW_DEVICE int met(int written, int tap, int stride, int dilation, int padding, int extent) {
  const int from = shape::transposed ? written + padding - tap * dilation : written * stride + tap * dilation - padding;
  if (from < 0 || (shape::transposed && from % stride != 0)) return -1;
  const int read = shape::transposed ? from / stride : from;
  return read < extent ? read : -1;
}

// A sum by the definition.
template <class Params> TW_DEVICE float sum_of(const Params& p, N n, Y y, X x, K k) {
  const Weights w{p.weights};
  const int own = k.value / shape::group * shape::group;
  float sum = 0.0f;
  TW_NO_UNROLL
  for (int r = 0; r < shape::taps_y; ++r) {
    const int row = met(y.value, r, shape::stride_y, shape::dilation_y, shape::padding_y, shape::height);
    TW_NO_UNROLL
    for (int s = 0; row >= 0 && s < shape::taps_x; ++s) {
      const int column = met(x.value, s, shape::stride_x, shape::dilation_x, shape::padding_x, shape::width);
      TW_NO_UNROLL
      for (int c = 0; column >= 0 && c < shape::group; ++c) {
        const Held value = element_of<shape::computed, Input>(p.x, p.image, n, Y(row), X(column), C(own + c));
        const auto tap = R(r) + S(s);
        const Held weight = shape::transposed ? w.at(K(own + c) + tap + C(k.value - own)).load() : w.at(k + tap + C(c)).load();
        sum = fmaf((float)value, (float)weight, sum);
      }
    }
  }
  return shape::bias ? sum + p.bias[k.value] : sum;
}

// Computes a block's results that are not finite anew, or all that an expression made, by so many threads. All of them are stored.
template <int threads, class Params> TW_DEVICE void mend(const Params& p) {
  constexpr int most_rows = plan::rows < shape::out_height ? plan::rows : shape::out_height;
  using Results = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, most_rows>, tw::Run<X, plan::columns>,
                                              tw::Run<K, channels>>>;
  TW_NO_UNROLL
  for (int item = 0; item < plan::items; ++item) {
    const Part part = part_of(blockIdx.x, item);
    TW_NO_UNROLL
    for (auto at : Results::partition(threadIdx.x, threads)) {
      const N n = part.n + tw::along<N>(at);
      const Y y = output_row(part, at.template get<Y>());
      const X x = part.column + tw::along<X>(at);
      const K k = part.k + tw::along<K>(at);
      if (!there(n) || at.template get<Y>() >= part.rows || !Output::contains(y + x + k)) continue;
      const auto to = Output{p.y}.beyond(n).at(y + x + k);
      // An expression may have made anything of a sum.
      const bool anew = shape::expression || !((float)to.load() * 0.0f == 0.0f);
      if (anew) *to = made_of(p, n, y, x, k, sum_of(p, n, y, x, k));
    }
  }
}
