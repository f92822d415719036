// Images whose rows threads load or compute, and write into the ring: memory, or expressions, which are a function of a place, `image`, whose
// parameters say which one it is. part.cuh stands before this text.

// Neighbouring channels that are read together, from a multiple of their number on.
using Together = tw::Vector<Held, shape::vector>;
// An image that an expression computes.
template <class Function> struct Computed {
  const Function& function;

  template <class Channel> TW_DEVICE Together at(N n, Y y, X x, Channel c) const {
    Together made;
    if constexpr (shape::vector > 1) {
      image(function, n.value, y.value, x.value, c.value, made.values);
    } else {
      made[0] = image(function, n.value, y.value, x.value, c.value);
    }
    return made;
  }
  template <class Channel> TW_DEVICE void touch(N n, Y y, X x, Channel c) const {
    image_touch(function, n.value, y.value, x.value, c.value);
  }
};
// An image like `From` in memory.
template <class From> struct InMemory {
  const Held* memory;

  template <class Channel> TW_DEVICE Together at(N n, Y y, X x, Channel c) const {
    return tw::load<shape::vector>(From{memory}.beyond(n).at(y + x + c).address());
  }
};

// The element at a place inside of an image like `From`: computed, or that of the memory at `stored`.
template <bool computed, class From, class Function, class Channel>
TW_DEVICE Held element_of(const Held* stored, const Function& function, N n, Y y, X x, Channel c) {
  if constexpr (computed) {
    return image(function, n.value, y.value, x.value, c.value);
  } else {
    return From{stored}.beyond(n).at(y + x + c).load();
  }
}

// Has the L2 cache read what a row is computed from, which comes later: the sectors of what holds channels side by side as elements, and at least
// one of them for so many channels of anything else.
template <class From, class Channel, int columns, class Source>
TW_DEVICE void touch_row(const Source& source, N n, Y y, X x, Channel c, int own) {
  constexpr int sector = 32 / (int)sizeof(Held), part = channels % sector == 0 ? sector : 8;
  using Parts = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<X, columns>, tw::Run<Channel, channels / part, part>>>;
  for (auto at : Parts::partition(sharer(own), 32 * sharing)) {
    const N own_n = n + tw::along<N>(at);
    const X own_x = x + tw::along<X>(at);
    const Channel own_c = c + tw::along<Channel>(at);
    if (there(own_n) && From::contains(y + own_x + own_c)) source.touch(own_n, y, own_x, own_c);
  }
}

// A row of so many columns of a block's images, from (n, y, x, c) on, by warp number `own` and those that share its step: a lane has a few vectors
// at a time, whose loads are under way together. Outside of the image is zero. The nearest place inside is read for it, and what that makes
// is dropped: with a branch the loads of one vector would wait for those of another.
template <class From, class Channel, int columns, class To, class Source>
TW_DEVICE void read_row(const Source& source, To to, N n, Y y, X x, Channel c, int own) {
  constexpr int part = shape::vector, lanes = 32 * sharing;
  using Parts = tw::Tensor<char, tw::Packed<tw::Run<N, plan::images>, tw::Run<X, columns>, tw::Run<Channel, channels / part, part>>>;
  // As few rounds as there have to be, and as few vectors in each.
  constexpr int rounds = (Parts::len + lanes * plan::at_once - 1) / (lanes * plan::at_once);
  constexpr int at_once = (Parts::len + lanes * rounds - 1) / (lanes * rounds);
  const Held zero(0.0f);
  const Y there_y = nearest(y, From::template extent<Y>().value);
  const bool row_inside = From::contains(y + X(0) + Channel(0));
  TW_NO_UNROLL
  for (int first = sharer(own); first < Parts::len; first += lanes * at_once) {
    Together made[at_once];
    TW_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const auto at = Parts::Layout::coords(first + lanes * i);
      const N own_n = n + tw::along<N>(at);
      const X own_x = x + tw::along<X>(at);
      const Channel own_c = c + tw::along<Channel>(at);
      made[i] = source.at(within<whole_images>(own_n, shape::images), there_y, nearest(own_x, From::template extent<X>().value),
                          within<whole_strips>(own_c, shape::channels - part + 1));
      const bool inside = row_inside && From::contains(Y(0) + own_x + (whole_strips ? Channel(0) : own_c)) && (whole_images || there(own_n));
      TW_UNROLL
      for (int e = 0; e < part; ++e) made[i][e] = inside ? made[i][e] : zero;
    }
    TW_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const int number = first + lanes * i;
      if (number < Parts::len) tw::store(to.at(Parts::Layout::coords(number)).address(), made[i]);
    }
  }
}
