// What kernels that go by rows have in memory: the result, weights and bias, and what a launch says of them; and a block's part of all images in its turn.
// part.cuh stands before this text.

using Written = shape::Written;   // as results stand in memory
using Output = tw::Tensor<Written, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, shape::out_height>, tw::Run<X, shape::out_width>,
                                              tw::Run<K, shape::channels>>>;
using Weights = tw::Tensor<const Held, tw::Packed<tw::Run<K, shape::channels>, tw::Run<R, shape::taps_y>, tw::Run<S, shape::taps_x>,
                                                     tw::Run<C, shape::group>>>;
using Bias = tw::Tensor<const float, tw::Packed<tw::Run<K, shape::channels>>>;
struct Params {
  tw::TensorMap in, out;
  const Held* x;
  const Held* weights;
  const float* bias;
  Written* y;
  epilogue_Params epilogue;
  image_Params image;
};

// A block's part in its turn `item`, without rows where that is one too many. Of rows that are stacked, image upon image, a turn has those of
// the same images.
TW_DEVICE Part part_of(int number, int item) {
  Part part = part_of(number);
  if constexpr (plan::stacked) {
    constexpr int groups = (shape::images + plan::images - 1) / plan::images;
    const int from = part.first, to = tw::minimum(from + plan::rows, groups * shape::out_height);
    const int group = from / shape::out_height + item, first = item == 0 ? from % shape::out_height : 0;
    part.n = N(group * plan::images);
    part.take(first, tw::minimum(to - group * shape::out_height, shape::out_height) - first);
  } else {
    part.n = images_of(part, item);
    if (!there(part.n)) part.rows = 0;
  }
  return part;
}
