// What becomes of counts, `kind` says which: counts as they are, distances, counts of 16 bits, bits, sums of rows.
enum class Kind { Counts, Distances, Saturated, MoreThan, Parity, RowSums };
constexpr Kind kind = (Kind)shape::finish;

template <Kind> struct ElementOf { using Type = int; };
template <> struct ElementOf<Kind::Saturated> { using Type = unsigned short; };

struct Finish {
  const Params& p;

  // Counts of row `i`, 32 columns at a time from `j` on, over the lanes of a quad, which all call this: value(group, n, e) is the count
  // of column 8 n + 2 (lane % 4) + e of its group.
  template <int groups, class Value> TW_DEVICE void row(I i, J j, Value value) const {
    if constexpr (kind == Kind::RowSums) {
      sum<groups>(i, value);
    } else {
      TW_UNROLL
      for (int group = 0; group < groups; ++group) {
        const J first(j.value + 32 * group);
        const auto of_group = [&](int n, int e) { return value(group, n, e); };
        if constexpr (kind == Kind::MoreThan || kind == Kind::Parity) {
          word(i, first, of_group);
        } else {
          pairs(i, first, of_group);
        }
      }
    }
  }

 private:
  using Element = typename ElementOf<kind>::Type;

  TW_DEVICE static int lane_of_quad() { return tw::arch::lane() % 4; }

  TW_DEVICE Element finished(int count, I i, J j) const {
    if constexpr (kind == Kind::Distances) {
      return p.left_ones[i.value] + p.right_ones[j.value] - 2 * count;
    } else if constexpr (kind == Kind::Saturated) {
      return (unsigned short)(count < 65535 ? count : 65535);
    } else {
      return count;
    }
  }
  // Two neighbours at once, where they stand at a multiple of their size.
  template <class Value> TW_DEVICE void pairs(I i, J j, Value value) const {
    if (i >= I(p.rows)) return;
    const auto row = p.to<Element>().row(i);
    const bool even = p.pitch % 2 == 0;
    TW_UNROLL
    for (int n = 0; n < 4; ++n) {
      const J first(j.value + 8 * n + 2 * lane_of_quad()), second(first.value + 1);
      if (second < J(p.columns) && even) {
        const tw::Vector<Element, 2> both = {{finished(value(n, 0), i, first), finished(value(n, 1), i, second)}};
        *(tw::Vector<Element, 2>*)row.at(first) = both;
      } else {
        if (first < J(p.columns)) *row.at(first) = finished(value(n, 0), i, first);
        if (second < J(p.columns)) *row.at(second) = finished(value(n, 1), i, second);
      }
    }
  }
  TW_DEVICE bool bit(int count) const {
    return kind == Kind::Parity ? count % 2 != 0 : count > p.threshold;
  }
  // A word of bits: 8 of each lane. Columns behind the last have counts of zero, and become zeros.
  template <class Value> TW_DEVICE void word(I i, J j, Value value) const {
    unsigned bits = 0;
    TW_UNROLL
    for (int n = 0; n < 4; ++n) {
      bits |= (unsigned)bit(value(n, 0)) << 8 * n | (unsigned)bit(value(n, 1)) << (8 * n + 1);
    }
    bits <<= 2 * lane_of_quad();
    bits |= tw::arch::shuffle_xor(bits, 1, tw::Place::here());
    bits |= tw::arch::shuffle_xor(bits, 2, tw::Place::here());
    const bool mine = lane_of_quad() == 0 && i < I(p.rows) && j < J(p.columns);
    if (mine) *p.to<unsigned>().row(i).at(J(j.value / 32)) = bits;
  }
  template <int groups, class Value> TW_DEVICE void sum(I i, Value value) const {
    unsigned long long sum = 0;
    TW_UNROLL
    for (int group = 0; group < groups; ++group) {
      TW_UNROLL
      for (int n = 0; n < 4; ++n) sum += (unsigned long long)value(group, n, 0) + (unsigned long long)value(group, n, 1);
    }
    sum += tw::arch::shuffle_xor(sum, 1, tw::Place::here());
    sum += tw::arch::shuffle_xor(sum, 2, tw::Place::here());
    if (lane_of_quad() == 0 && i < I(p.rows)) atomicAdd(p.to<unsigned long long>().row(i).at(J(0)), sum);
  }
};
