// Where the row kernel's sums go. operands.cuh stands before this text.

// Whether expressions' loads for the rows that a step completes are under way during its products: where they take no more registers than
// their addresses, or there are some left.
constexpr bool early = sizeof(epilogue_Ahead) <= 8 || most_complete * (int)sizeof(Beside<Sum>) <= 4 * plan::spare;

// Whether every lane's sums are finite: products of two stay infinite or NaN, and so does what they are added to. Sums beyond 1e19 can have a product
// that is not finite although they are: then the block looks through its results in vain.
template <class Sum> TW_DEVICE bool finite(const Sum (&row)[tiles][strips]) {
  float traces[Sum::elements / 2] = {};
  TW_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    TW_UNROLL
    for (int strip = 0; strip < strips; ++strip) {
      const auto& values = row[tile][strip].values;
      TW_UNROLL
      for (int i = 0; i < Sum::elements / 2; ++i) traces[i] = fmaf(values[2 * i], values[2 * i + 1], traces[i]);
    }
  }
  float all = 0.0f;
  TW_UNROLL
  for (int i = 0; i < Sum::elements / 2; ++i) all += traces[i];
  return fabsf(all) <= 3.402823466e38f;
}

// ---- output rows -----------------------------------------------------------------------------------------------------------------

// Whether matrices go to shared memory by one instruction.
constexpr bool by_matrices = sizeof(Written) == 2 && plan::engine;

// What a lane stores of each row: from where, and to where in the block's first row, if there is such a place.
struct Goal {
  const Written* from;
  Written* to;
  bool inside;
};
constexpr int stores = (Stored::len + 31) / 32;

// A warp that multiplies hands over the rows that it has completed: to memory, or to the warp that sends, which hears of them by
// `announce`, behind a fence.
struct Outlet {
  const Params& p;
  Part part;
  Pixel first_pixel;
  K first_strip;
  Sent sent;
  Staged staged;
  Gates gates;
  int* not_finite;
  Turn turn;
  int announced;   // the place of the first row that the warp that sends has not heard of
  Goal goals[stores];
  int rows[tiles][strips];   // where this lane's row of a tile, or of it and the next, begins in a whole row

  TW_DEVICE void prepare() {
    const int lane = tw::arch::lane();
    TW_UNROLL
    for (int tile = 0; tile < tiles && plan::whole; ++tile) {
      const Pixel pixel = first_pixel + Tile(tile) + Pixel(tile + 1 < tiles ? lane : lane % 16);
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) rows[tile][strip] = tw::arch::kept(SentRow::offset(pixel + first_strip + Strip(strip)));
    }
  }

  // A strip's sums of 32 pixels, or of 16, by matrices: this lane's row of them begins at `row`.
  template <class S> TW_DEVICE void stage(const S& sum, Written* row) {
    tw::arch::stmatrix<2, false>(row, sum.template as<Written>().bits);
  }
  template <class S> TW_DEVICE void stage(const S& sum, const S& next, Written* row) {
    const auto first = sum.template as<Written>(), second = next.template as<Written>();
    const unsigned bits[] = {first.bits[0], first.bits[1], second.bits[0], second.bits[1]};
    tw::arch::stmatrix<4, false>(row, bits);
  }

  TW_DEVICE void begin(const Part& next) {
    part = next;
    if constexpr (plan::whole) return;
    const Output out = Output{p.y}.beyond(part.n);
    TW_UNROLL
    for (int i = 0; i < stores; ++i) {
      const int number = 32 * i + tw::arch::lane();
      const auto at = Stored::coords_of(number);
      const Pixel pixel = first_pixel + tw::along<Pixel>(at);
      const auto to = Places::coords_of(pixel.value) + part.column + output_row(part, 0) + part.k +
                      first_strip + tw::along<K>(at);
      const bool in_image = there(part.n + tw::along<N>(to)) && out.contains(to);
      goals[i] = {staged.at(at).address(), out.at(to).address(), pixel.value < pixels && in_image && number < Stored::len};
    }
  }

  TW_DEVICE void announce() {
    TW_UNROLL
    for (int i = 0; i < most_complete && plan::whole; ++i) {
      if (tw::arch::lane() == 0 && announced != turn.place) tw::arch::mbarrier_arrive(gates.full + announced);
      if (announced != turn.place && ++announced == sent_rows) announced = 0;
    }
  }

  // Loads what an expression takes for output row `o` of the block, where there is one.
  template <class S> TW_DEVICE void ask_for(int o, Beside<S>& beside) const {
    if constexpr (shape::expression) {
      ask(p, part.n, output_row(part, o), part.column, part.k + first_strip, first_pixel, beside);
    }
  }

  // Output row `o` of the block is complete; an expression takes what lies beside.
  template <class S> TW_DEVICE void finish(int o, const Beside<S>& beside, S (&row)[tiles][strips]) {
    if (o < 0 || o >= part.rows) return;
    if (shape::watched && !finite(row)) *not_finite = 1;
    if constexpr (shape::expression) {
      apply(p, part.n, output_row(part, o), part.column, part.k + first_strip, first_pixel, beside, row);
    }
    if constexpr (plan::whole) {
      tw::arch::mbarrier_wait(gates.empty + turn.place, turn.parity);
      Written* const to = (Written*)tw::arch::shared_pointer(tw::arch::shared_address(sent.at(Slot(turn.place)).address()));
      TW_UNROLL
      for (int strip = 0; strip < strips; ++strip) {
        TW_UNROLL
        for (int tile = 0; tile < tiles; tile += by_matrices ? 2 : 1) {
          if constexpr (!by_matrices) {
            row[tile][strip].scatter(SentRow{to}.at(first_pixel + Tile(tile) + first_strip + Strip(strip)));
          } else if (tile + 1 < tiles) {
            stage(row[tile][strip], row[tile + 1][strip], to + rows[tile][strip]);
          } else {
            stage(row[tile][strip], to + rows[tile][strip]);
          }
        }
      }
      turn.next(sent_rows);
    } else {
      TW_UNROLL
      for (int tile = 0; tile < tiles; ++tile) {
        TW_UNROLL
        for (int strip = 0; strip < strips; ++strip) {
          const auto to = staged.at(Tile(tile) + Strip(strip));
          if constexpr (by_matrices) {
            row[tile][strip].template as<Written>().store(to);
          } else {
            row[tile][strip].scatter(to);
          }
        }
      }
      __syncwarp();
      TW_UNROLL
      for (int i = 0; i < stores; ++i) {
        const auto part_of_row = tw::load<together>(goals[i].from);
        if (goals[i].inside) tw::store_global(goals[i].to + Output::offset(Phased(o)), part_of_row);
      }
      __syncwarp();
    }
  }
};

// The warp that sends whole rows.
TW_DEVICE void send(const Params& p, Sent sent, Gates gates, const int* not_finite) {
  if (tw::arch::lane() != 0) return;
  Turn turn = to_empty();
  int before = -1;   // the place whose row is under way
  for (int item = 0; item < plan::items; ++item) {
    const Part part = part_of(blockIdx.x, item);
    for (int o = 0; o < part.rows; ++o) {
      tw::arch::mbarrier_wait(gates.full + turn.place, turn.parity);
      const Y y = output_row(part, o);
      tw::arch::box_store(p.out, sent.at(Slot(turn.place)).address(), part.k.value, part.column.value, y.value, part.n.value);
      tw::arch::bulk_commit();
      tw::arch::bulk_wait_read<1>();
      if (before >= 0) tw::arch::mbarrier_arrive(gates.empty + before);
      before = turn.place;
      turn.next(sent_rows);
    }
  }
  tw::arch::bulk_wait_read<0>();
  // What is mended then has to be there.
  if (shape::zeros && *not_finite != 0) tw::arch::bulk_wait<0>();
}
