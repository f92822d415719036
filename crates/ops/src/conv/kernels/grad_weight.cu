// The gradient of a convolution's weights, by rows: a block takes some rows of the result's gradient, some columns of some images, and
// some strips of 8 channels, and adds up what every tap has met there. Pixels are what is summed over: a product has two taps of 8 read
// channels each, 8 written channels, and so many pixels, turned over as they are read from shared memory. weight_operands.cuh stands
// before this text.
//
// One warp brings rows into the ring, or some where rows are computed; the others multiply. In the end the warps that share a strip lay their sums down side by side where
// the ring was, as many as find room there, the others upon them one turn after another.

using Sum = tw::FragmentC<Both, K, 16, 8>;

// What a block has added up, in the order of the result.
using Collected = tw::Tensor<float, tw::Packed<tw::Run<K, channels>, tw::Run<R, shape::taps_y>, tw::Run<S, shape::taps_x>,
                                              tw::Run<C, shape::group>>>;

// Elements of it, in that order; side by side, in memory that is free once all rows have been read.
struct Place : tw::Dim<Place> { using Dim::Dim; };
struct Copy : tw::Dim<Copy> { using Dim::Dim; };
constexpr int room = Ring::len * (int)sizeof(Held) / (Collected::len * (int)sizeof(float));
constexpr int copies = room < 1 ? 1 : room < warps_along ? room : warps_along;
using Copies = tw::Tensor<float, tw::Packed<tw::Run<Copy, copies>, tw::Run<Place, Collected::len>>>;

// Parts of the sum, or the result where there is one: each of the blocks of as many channels as there are has added up.
struct Share : tw::Dim<Share> { using Dim::Dim; };
constexpr int of_channel = Collected::len / channels;
using Sums = tw::Tensor<float, tw::Packed<tw::Run<Share, 1>, tw::Run<K, shape::channels>, tw::Run<Place, of_channel>>>;
using Sharing = tw::Tensor<char, tw::Packed<tw::Run<Share, plan::blocks_n * plan::blocks_y * plan::blocks_x>, tw::Run<K, plan::blocks_k>>>;

// The warps that multiply.
struct Worker {
  const Part& part;
  Ring ring;
  Gates gates;
  Turn turn;
  Reader reader;
  Right given[kept][tiles];   // rows of the result's gradient, each in its place
  Sum sums[taps][pairs];

  // Step `step` of the images, row `s` of its cycle.
  TW_DEVICE void take(int step, int s) {
    const bool input = brings_input(part, step), fresh = brings_given(part, step);
    if (input || fresh) tw::arch::mbarrier_wait(gates.full + turn.place, turn.parity);
    const Held* const from = ring.at(Slot(turn.place)).address();
    if (s % down == 0) {
      TW_UNROLL
      for (int tile = 0; tile < tiles; ++tile) {
        if (fresh) {
          given[place_of(s / down)][tile] = reader.right(from, tile);
        } else {
          given[place_of(s / down)][tile].fill(Element(0.0f));
        }
      }
    }
    if (input) products(from, s);
    if (input || fresh) hand_over();
  }

  TW_DEVICE void products(const Held* from, int s) {
    if (s % down >= taps) return;
    TW_UNROLL
    for (int tile = 0; tile < tiles; ++tile) {
      TW_UNROLL
      for (int read = 0; read < lefts; ++read) {
        Left left[matrices];
        reader.left(from, tile, read, left);
        TW_UNROLL
        for (int pair = read * matrices; pair < tw::minimum(read * matrices + matrices, pairs); ++pair) {
          TW_UNROLL
          for (int o = first_output(s); o <= last_output(s); ++o) {
            Sum& sum = sums[s - down * o][pair];
            tw::mma(sum, left[pair % matrices], given[place_of(o)][tile], sum);
          }
        }
      }
    }
  }

  // What the step read may be overwritten. The fence waits for matrices that are still on their way, which an arrival at a barrier
  // overtakes. A lane speaks for its warp, or, where threads write to the ring, each for itself.
  TW_DEVICE void hand_over() {
    if constexpr (plan::bulk_input || plan::bulk_given) tw::arch::fence_proxy_async();
    if constexpr (by_threads) __threadfence_block();
    __syncwarp();
    if (by_threads || tw::arch::lane() == 0) tw::arch::mbarrier_arrive(gates.empty + turn.place);
    turn.next(plan::slots);
  }

  TW_DEVICE void images() {
    TW_UNROLL
    for (int place = 0; place < kept; ++place) {
      TW_UNROLL
      for (int tile = 0; tile < tiles; ++tile) given[place][tile].fill(Element(0.0f));
    }
    for (int base = 0; base < part.end; base += cycle) {
      TW_UNROLL
      for (int s = 0; s < cycle; ++s) {
        if (base + s < part.end) take(base + s, s);
      }
    }
  }

  // Adds the warp's sums to what those before it have laid down there.
  TW_DEVICE void collect(Collected to, K strip, C half, bool first) const {
    TW_UNROLL
    for (int r = 0; r < taps; ++r) {
      TW_UNROLL
      for (int pair = 0; pair < pairs; ++pair) {
        TW_UNROLL
        for (int i = 0; i < Sum::elements; ++i) {
          const auto at = Sum::coords(tw::arch::lane(), i);
          const auto [tap, read] = met(pair, at.template get<Both>());
          const K written = tw::along<K>(at);
          const bool same_group = shape::group >= 8 || group_of(C(read)) == group_of(written);
          if (!same_group || tap >= shape::taps_x) continue;
          const auto sum = to.at(strip + written + R(r) + S(tap) + (shape::group > 8 ? half + C(read) : of_group(C(read))));
          *sum = sums[r][pair].values[i] + (first ? 0.0f : sum.load());
        }
      }
    }
  }
};

// What a tap has met in a block, by the definition: sums that are not finite are computed anew, since tensor cores multiply the zeros of
// padding and between narrow groups too, and a zero times an infinity is NaN.
template <class Params, class At> TW_DEVICE float sum_of(const Params& p, const Part& part, At at) {
  using Given = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<Y, plan::rows>, tw::Run<X, plan::columns>>>;
  const K k = part.k + tw::along<K>(at);
  const C c = C(group_of(k) * shape::group) + tw::along<C>(at);
  float sum = 0.0f;
  TW_NO_UNROLL
  for (int item = 0; item < plan::items; ++item) {
    TW_NO_UNROLL
    for (auto place : Given::points()) {
      const N own = tw::along<N>(place);
      const Y y = output_row(part, place.template get<Y>());
      const X x = part.column + tw::along<X>(place);
      const auto source = Rows::whole(Rows::up_times(y + tw::along<R>(at))) + Columns::whole(Columns::up_times(x + tw::along<S>(at))) + c;
      const N n = images_of(part, item) + own;
      if (!there(n) || place.template get<Y>() >= part.rows || !Output::contains(y + x) || !Input::contains(source)) continue;
      const Y read_y = tw::along<Y>(source);
      const X read_x = tw::along<X>(source);
      const Held read = element_of<shape::computed_input, Input>(p.x, p.input, n, read_y, read_x, c);
      const Held given = element_of<shape::computed_given, Output>(p.dy, p.gradient, n, y, x, k);
      sum = fmaf((float)read, (float)given, sum);
    }
  }
  return sum;
}

// What the copies add up to, in their order.
template <int together> TW_DEVICE tw::Vector<float, together> total(Copies sums, Place place) {
  auto total = tw::load<together>(sums.at(place).address());
  TW_UNROLL
  for (int copy = 1; copy < copies; ++copy) {
    const auto more = tw::load<together>(sums.at(Copy(copy) + place).address());
    TW_UNROLL
    for (int e = 0; e < together; ++e) total[e] += more[e];
  }
  return total;
}

// A block's part of the result, some elements at once.
TW_DEVICE void store(const Params& p, Copies sums, const Part& part) {
  constexpr int together = shape::channels * of_channel % 4 == 0 ? 4 : 1;
  const auto to = Sums{p.sums}.beyond(Share(Sharing::coords_of(blockIdx.x).template get<Share>())).at(part.k);
  const int len = tw::minimum(channels, shape::channels - part.k.value) * of_channel;
  for (int i = threadIdx.x * together; i < len; i += 32 * warps * together) {
    auto values = total<together>(sums, Place(i));
    TW_UNROLL
    for (int e = 0; e < together; ++e) {
      if (!(values[e] * 0.0f == 0.0f)) values[e] = sum_of(p, part, Collected::coords_of(i + e));
    }
    tw::store_global(to.at(Place(i)).address(), values);
  }
}

extern "C" __global__ void __launch_bounds__(32 * (warps + plan::bringing), plan::resident) conv2d_grad_weight(const __grid_constant__ Params p) {
  tw::Shared shared;
  const Zeros zeros = shared.take<Zeros>();
  tw::arch::Mbarrier* const barriers = tw::arch::kept(shared.take<Barriers>().data);
  const Ring ring = shared.take<Ring, 128 * plan::span>();
  const Copies collected{(float*)ring.data};   // once all rows have been read
  const Gates gates{barriers, barriers + plan::slots};
  if (threadIdx.x == 0) {
    for (int i = 0; i < plan::slots; ++i) {
      tw::arch::mbarrier_init(gates.full + i, by_threads ? 32 * sharing : 1);
      tw::arch::mbarrier_init(gates.empty + i, by_threads ? 32 * warps : warps);
    }
    tw::arch::fence_barrier_init();
  }
  if (threadIdx.x == 32 * warps) {
    if (plan::bulk_input) tw::arch::prefetch_map(p.in);
    if (plan::bulk_given) tw::arch::prefetch_map(p.given);
  }
  if (threadIdx.x < run) *zeros.at(K(threadIdx.x)) = Held(0.0f);
  __syncthreads();
  tw::arch::take_turn();

  const Part part = part_of(blockIdx.x);
  const int warp = threadIdx.x / 32;
  if (warp >= warps) {
    bring(p, ring, part, gates, warp - warps);
    return;
  }
  const auto own = Warps::coords_of(warp);
  const Pixel first = tw::along<Pixel>(own);
  const K strip = tw::along<K>(own);
  const C half = tw::along<C>(own);
  Worker worker{part, {tw::arch::kept(ring.data)}, gates, to_empty(), {zeros.data, {}, {}}, {}, {}};
  worker.reader.prepare(first, read_by(strip) + half, strip);
  TW_UNROLL
  for (int r = 0; r < taps; ++r) {
    TW_UNROLL
    for (int pair = 0; pair < pairs; ++pair) worker.sums[r][pair].fill(0.0f);
  }
  for (int item = 0; item < plan::items && there(images_of(part, item)); ++item) worker.images();
  // The warps that bring rows are gone by now.
  const int along = first.value / (depth * tiles);
  for (int turn = 0; turn < (warps_along + copies - 1) / copies; ++turn) {
    tw::arch::named_barrier_sync(1, 32 * warps);
    if (along / copies != turn) continue;
    worker.collect(Collected{collected.at(Copy(along % copies)).address()}, strip, half, turn == 0);
  }
  tw::arch::named_barrier_sync(1, 32 * warps);
  store(p, collected, part);
}
