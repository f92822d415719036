// Counts of common bits by warpgroups (sm_90a): the copy engine brings 1024 bits of each row of a tile into a ring in shared memory, one
// warp tells it to, and warpgroups multiply, 64 rows a product. A block goes through tiles until none is left. Blocks of a cluster have
// neighbouring tiles of the same rows, and each brings its share of these rows to all of them.
//
// Budget: shape::strips * shape::columns / 2 accumulators a thread of 232 registers; the ring takes 128 bytes of each row of a tile a slot.

constexpr int strips = shape::strips, columns = shape::columns, slots = shape::slots, groups = shape::groups;
constexpr int cluster = shape::cluster, rows = 64 * strips * groups, share = rows / cluster, depth = 32;
using Left = tw::WgmmaOperand<tw::BitWord, I, W, rows, tw::arch::Swizzle::Bytes128>;
using Right = tw::WgmmaOperand<tw::BitWord, J, W, columns, tw::arch::Swizzle::Bytes128>;
using Sum = tw::WgmmaAccumulator<I, J, columns, int>;
using Tiles = Order<rows, columns * cluster, shape::raster>;
using tw::arch::Mbarrier;

// The cluster's tiles: those of one block after the other; `rank` is the block's number in it.
struct Walk {
  Tiles tiles;
  int rank, first, step;

  TW_DEVICE explicit Walk(const Params& p)
      : tiles(p),
        rank(cluster > 1 ? (int)tw::arch::cluster_rank() : 0),
        first((int)blockIdx.x / cluster),
        step((int)gridDim.x / cluster) {}
  TW_DEVICE int row(int number) const { return tiles[number].row * rows; }
  TW_DEVICE int column(int number) const { return (tiles[number].column * cluster + rank) * columns; }
};

// A place in the ring, and the parity of the round in which it is used.
struct Slot {
  int number = 0;
  unsigned round = 0;
  TW_DEVICE void next() {
    number += 1;
    if (number == slots) {
      number = 0;
      round ^= 1;
    }
  }
};

// Slots one behind the other, and two barriers for each: what was asked for is there, and it has been multiplied.
struct Ring {
  unsigned char* memory;

  static constexpr int slot_bytes = Left::bytes + Right::bytes;
  TW_DEVICE Left left(Slot slot) const { return {(tw::BitWord*)(memory + slot.number * slot_bytes)}; }
  TW_DEVICE Right right(Slot slot) const { return {(tw::BitWord*)(memory + slot.number * slot_bytes + Left::bytes)}; }
  TW_DEVICE Mbarrier* full(Slot slot) const { return (Mbarrier*)(memory + slots * slot_bytes) + slot.number; }
  TW_DEVICE Mbarrier* empty(Slot slot) const { return full(slot) + slots; }

  TW_DEVICE void prepare() const {
    for (Slot slot; slot.round == 0; slot.next()) {
      tw::arch::mbarrier_init(full(slot), 1);
      tw::arch::mbarrier_init(empty(slot), 4 * groups * cluster);
    }
    tw::arch::fence_barrier_init();
  }
};

// One thread: asks for what the warpgroups will multiply, slot by slot, in their order.
TW_DEVICE void bring(const Params& p, Ring ring, Walk walk, int chunks) {
  constexpr unsigned all = (1u << cluster) - 1;
  Slot slot;
  for (int number = walk.first; number < walk.tiles.tiles(); number += walk.step) {
    const int row = walk.row(number) + share * walk.rank, column = walk.column(number);
    for (int chunk = 0; chunk < chunks; ++chunk, slot.next()) {
      tw::arch::mbarrier_wait(ring.empty(slot), slot.round ^ 1);
      tw::arch::mbarrier_arrive_expect_tx(ring.full(slot), Ring::slot_bytes);
      void* const own = ring.left(slot).memory + Left::offset(share * walk.rank, 0);
      if constexpr (cluster > 1) {
        tw::arch::box_load_to(all, own, p.left_map, ring.full(slot), chunk * depth, row);
      } else {
        tw::arch::box_load(own, p.left_map, ring.full(slot), chunk * depth, row);
      }
      tw::arch::box_load(ring.right(slot).memory, p.right_map, ring.full(slot), chunk * depth, column);
    }
  }
}

// The warp has seen the end of all products that read the slot; every block that writes to it is told.
TW_DEVICE void give_back(Ring ring, Slot slot) {
  const int lane = tw::arch::lane();
  if constexpr (cluster > 1) {
    if (lane < cluster) tw::arch::mbarrier_arrive_at(ring.empty(slot), (unsigned)lane);
  } else {
    if (lane == 0) tw::arch::mbarrier_arrive(ring.empty(slot));
  }
}

// A warpgroup: `group` of them that multiply.
TW_DEVICE void multiply(const Params& p, Ring ring, Walk walk, int chunks, int group) {
  const Finish finish{p};
  Slot slot;
  for (int number = walk.first; number < walk.tiles.tiles(); number += walk.step) {
    Sum sums[strips];
    Slot before = slot;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Left left = ring.left(slot);
      const Right right = ring.right(slot);
      tw::arch::mbarrier_wait(ring.full(slot), slot.round);
      tw::arch::wgmma_fence();
      TW_UNROLL
      for (W w(0); w < W(depth); w.value += Left::step) {
        TW_UNROLL
        for (int strip = 0; strip < strips; ++strip) {
          sums[strip].multiply(left, I(64 * (strips * group + strip)), right, J(0), w, chunk > 0 || w > W(0));
        }
      }
      tw::arch::wgmma_commit();
      tw::arch::wgmma_wait<1>();
      if (chunk > 0) give_back(ring, before);
      before = slot;
      slot.next();
    }
    TW_UNROLL
    for (int strip = 0; strip < strips; ++strip) sums[strip].template wait<0>();
    give_back(ring, before);
    const int row = walk.row(number), column = walk.column(number);
    const int thread = tw::arch::thread_of_block() % 128;
    TW_UNROLL
    for (int strip = 0; strip < strips; ++strip) {
      const int first = row + 64 * (strips * group + strip);
      TW_UNROLL
      for (int half = 0; half < 2; ++half) {
        const I i(first + Sum::row(thread, 2 * half));
        finish.row<columns / 32>(i, J(column), [&](int quad, int n, int e) {
          return sums[strip].values[16 * quad + 4 * n + 2 * half + e];
        });
      }
    }
  }
}

// All threads that share a ring.
TW_DEVICE void meet() {
  if constexpr (cluster > 1) {
    tw::arch::cluster_sync();
  } else {
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(128 * (groups + 1), 1) products(const __grid_constant__ Params p) {
  const Ring ring{tw::shared_memory()};
  const Walk walk(p);
  const int chunks = (p.words + depth - 1) / depth;
  const int thread = tw::arch::thread_of_block();
  if (thread == 0) ring.prepare();
  meet();
  if (thread < 128) {
    tw::arch::fewer_registers<40>();
    if (thread == 0) bring(p, ring, walk, chunks);
    __syncwarp();
  } else {
    tw::arch::more_registers<232>();
    multiply(p, ring, walk, chunks, thread / 128 - 1);
  }
  // No block ends before all have written to its ring what they will.
  if constexpr (cluster > 1) meet();
}
