// Products of a warpgroup: operands in shared memory, read through descriptors; results that appear when they are waited for.
// What was read is kept and read again at the wait: memory that was overwritten in between is reported.
#pragma once

#include "tilewright/host/shadow.h"
#include "tilewright/host/warp.h"

namespace tw {
namespace host {

// A matrix of 16-bit elements, `extent` x 16, or of bits, `extent` x 256: bits 0-13 the start address, 16-29 the leading byte offset, 32-45 the stride
// byte offset, each in units of 16 bytes, and 62-63 the swizzle (1: 128 bytes, 2: 64, 3: 32).
struct Descriptor {
  unsigned long long bits;

  unsigned start() const { return field(0); }
  unsigned leading() const { return field(16); }
  unsigned stride() const { return field(32); }
  // Bytes of a row that a swizzle permutes.
  unsigned width() const { return 128u >> ((bits >> 62) + 3) % 4; }

  // Where chunk `chunk` of 8 elements stands: along K (two a row), or, transposed, along the other dimension.
  unsigned address(unsigned row, unsigned chunk, bool transposed) const {
    const unsigned chunks = width() / 16;
    unsigned at = start();
    if (!transposed) {
      at += row % 8 * width() + row / 8 * stride() + chunk * (chunks == 1 ? leading() : 16);
    } else if (chunks == 1) {
      at += row % 8 * 16 + row / 8 * leading() + chunk * stride();
    } else {
      at += row % 8 * width() + row / 8 * stride() + chunk % chunks * 16 + chunk / chunks * leading();
    }
    return at ^ ((at >> 7) & (chunks - 1)) << 4;
  }

 private:
  unsigned field(int shift) const { return (unsigned)(bits >> shift & 0x3fff) * 16; }
};

// Notes the read of a matrix with `extent` rows, of 16 elements each, at the shadow of shared memory.
inline void watch_operand(Descriptor from, unsigned extent, bool transposed, Place place) {
  const unsigned rows = transposed ? 16 : extent, chunks = transposed ? extent / 8 : 2;
  for (unsigned i = 0; i < rows * chunks; ++i) {
    const unsigned char* address = shared_memory() + from.address(i / chunks, i % chunks, transposed);
    shared_read_async(address, address, 16, {place});
  }
}

// Elements (i, k) at out[i * 16 + k], `extent` of them along i.
inline void read_operand(Descriptor from, unsigned extent, bool transposed, unsigned short* out, Place place) {
  const unsigned rows = transposed ? 16 : extent, chunks = transposed ? extent / 8 : 2;
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      const unsigned at = from.address(row, chunk, transposed);
      if (at + 16 > shared_bytes()) {
        char rule[160];
        __builtin_snprintf(rule, sizeof rule, "wgmma: an operand's row at byte %u of %llu bytes of shared memory", at,
                           shared_bytes());
        misuse(rule, place);
      }
      unsigned short elements[8];
      __builtin_memcpy(elements, shared_memory() + at, 16);
      for (unsigned i = 0; i < 8; ++i) {
        out[transposed ? (chunk * 8 + i) * 16 + row : row * 16 + chunk * 8 + i] = elements[i];
      }
    }
  }
}

struct WgmmaOperands {
  void* d;            // columns / 2 accumulators: float, or int where the elements are bits
  const unsigned* a;  // 4 registers, or null: then A is in shared memory
  Descriptor a_memory, b_memory;
  unsigned columns;
  bool accumulate, a_transposed, b_transposed;
  float (*value)(unsigned short);  // of an element; null where the elements are bits
};

// One product, as one thread waits for it. `seen` belongs to the warpgroup's first thread: what was read, A before B.
struct Product {
  Product* next;
  WgmmaOperands operands;
  unsigned group;  // the number of the group that committed it, from 1; 0 before
  Place place;
  unsigned short* seen;
  unsigned result[128];  // the accumulators' bits
};

constexpr unsigned wgmma_rows = 64, wgmma_depth = 16;

inline void free_product(Product* product) {
  delete[] product->seen;
  delete product;
}
inline void drop_products(Thread& thread) {
  while (Product* product = thread.products) {
    thread.products = product->next;
    free_product(product);
  }
}

// At a thread's end.
inline void need_no_products(const Thread& thread) {
  if (thread.products == nullptr) return;
  const bool committed = thread.products->group != 0;
  misuse(committed ? "a thread ends before it waited for its wgmma" : "a thread ends with a wgmma in no committed group",
         thread.products->place);
}

// What the accumulators hold: the pending result, if one is on its way to them.
inline const void* accumulators(const Thread& thread, const void* d) {
  const void* found = d;
  for (const Product* p = thread.products; p != nullptr; p = p->next) {
    if (p->operands.d == d) found = p->result;
  }
  return found;
}

// The bits of a NaN, and of an unlikely count.
constexpr unsigned unknown = 0x7fc00000u;

// Of floats and of bits, one row and one column: the bits of the sum, and how many are set in both.
inline unsigned sum_of_products(unsigned before, const float* a, const float* b) {
  float start;
  __builtin_memcpy(&start, &before, 4);
  double sum = start;
  for (unsigned k = 0; k < wgmma_depth; ++k) sum += (double)a[k] * b[k];
  const float rounded = (float)sum;
  __builtin_memcpy(&before, &rounded, 4);
  return before;
}
inline unsigned common_bits(const unsigned short* a, const unsigned short* b) {
  unsigned count = 0;
  for (unsigned k = 0; k < wgmma_depth; ++k) count += (unsigned)__builtin_popcount(a[k] & b[k]);
  return count;
}

inline void resolve_wgmma(Thread* threads, unsigned) {
  const WgmmaOperands& all = deposited<WgmmaOperands>(threads, 0);
  const Place place = threads[0].place;
  unsigned short* seen = new unsigned short[(wgmma_rows + 256) * wgmma_depth];
  unsigned short *a = seen, *b = seen + wgmma_rows * wgmma_depth;
  for (unsigned i = 0; i < 128; ++i) {
    const WgmmaOperands& mine = deposited<WgmmaOperands>(threads, i);
    const bool same = mine.b_memory.bits == all.b_memory.bits && mine.a_memory.bits == all.a_memory.bits &&
                      mine.accumulate == all.accumulate;
    if (!same) misuse("wgmma: the threads of a warpgroup give different descriptors or a different scale of d", place);
    if (all.a == nullptr) continue;
    for (unsigned element = 0; element < 8; ++element) {
      const unsigned row = i / 32 * 16 + i % 32 / 4 + element / 2 % 2 * 8, k = i % 4 * 2 + element % 2 + element / 4 * 8;
      a[row * wgmma_depth + k] = (unsigned short)(mine.a[element / 2] >> 16 * (element % 2));
    }
  }
  if (all.a == nullptr) read_operand(all.a_memory, wgmma_rows, all.a_transposed, a, place);
  read_operand(all.b_memory, all.columns, all.b_transposed, b, place);
  if (all.a == nullptr) watch_operand(all.a_memory, wgmma_rows, all.a_transposed, place);
  watch_operand(all.b_memory, all.columns, all.b_transposed, place);
  float *a_values = new float[(wgmma_rows + 256) * wgmma_depth], *b_values = a_values + wgmma_rows * wgmma_depth;
  for (unsigned i = 0; all.value && i < (wgmma_rows + all.columns) * wgmma_depth; ++i) a_values[i] = all.value(seen[i]);
  for (unsigned i = 0; i < 128; ++i) {
    const WgmmaOperands& mine = deposited<WgmmaOperands>(threads, i);
    Product* product = new Product{nullptr, mine, 0, threads[i].place, i == 0 ? seen : nullptr, {}};
    const unsigned char* c = (const unsigned char*)accumulators(threads[i], mine.d);
    for (unsigned e = 0; e < mine.columns / 2; ++e) {
      const unsigned row = i / 32 * 16 + i % 32 / 4 + e / 2 % 2 * 8, column = e / 4 * 8 + i % 4 * 2 + e % 2;
      unsigned before = 0;
      if (mine.accumulate) __builtin_memcpy(&before, c + 4 * e, 4);
      const unsigned at = row * wgmma_depth, across = column * wgmma_depth;
      product->result[e] = all.value ? sum_of_products(before, a_values + at, b_values + across)
                                     : before + common_bits(a + at, b + across);
    }
    for (unsigned e = 0; e < mine.columns / 2; ++e) __builtin_memcpy((unsigned char*)mine.d + 4 * e, &unknown, 4);
    Product** end = &threads[i].products;
    while (*end != nullptr) end = &(*end)->next;
    *end = product;
  }
  delete[] a_values;
}

inline void wgmma(WgmmaOperands& mine, Place place) {
  Thread& self = *current;
  if (!self.products_fenced) misuse("wgmma: no wgmma_fence since the kernel's start or the last wait", place);
  self.value = reinterpret_cast<unsigned long long>(&mine);
  wait_for_warpgroup(resolve_wgmma, "wgmma", place);
}

// The engine may have read the operands until now.
inline void need_unchanged(const Product& product, Place place) {
  if (product.seen == nullptr) return;
  const WgmmaOperands& operands = product.operands;
  constexpr unsigned most = (wgmma_rows + 256) * wgmma_depth, a_elements = wgmma_rows * wgmma_depth;
  unsigned short* now = new unsigned short[most];
  __builtin_memcpy(now, product.seen, most * sizeof *now);
  if (operands.a == nullptr) read_operand(operands.a_memory, wgmma_rows, operands.a_transposed, now, place);
  read_operand(operands.b_memory, operands.columns, operands.b_transposed, now + a_elements, place);
  const unsigned elements = a_elements + operands.columns * wgmma_depth;
  const bool changed = __builtin_memcmp(now, product.seen, elements * sizeof *now) != 0;
  delete[] now;
  if (changed) misuse("wgmma: an operand in shared memory was overwritten before the product was waited for", product.place);
}

inline void wgmma_fence(Place place) {
  wait_for_warp(~0u, resolve_whole_warp, "wgmma_fence", place);
  current->products_fenced = true;
}
inline void wgmma_commit(Place place) {
  wait_for_warp(~0u, resolve_whole_warp, "wgmma_commit", place);
  Thread& self = *current;
  self.product_groups += 1;
  for (Product* p = self.products; p != nullptr; p = p->next) {
    if (p->group == 0) p->group = self.product_groups;
  }
}
// Until at most `left` of the committed groups are on their way.
inline void wgmma_wait(unsigned left, Place place) {
  wait_for_warp(~0u, resolve_whole_warp, "wgmma_wait", place);
  Thread& self = *current;
  self.products_fenced = false;
  while (self.products != nullptr && self.products->group != 0 && self.products->group + left <= self.product_groups) {
    Product* done = self.products;
    need_unchanged(*done, place);
    self.products = done->next;
    const bool last = accumulators(self, done->operands.d) == done->operands.d;
    if (last) __builtin_memcpy(done->operands.d, done->result, done->operands.columns / 2 * sizeof(float));
    free_product(done);
  }
}

}  // namespace host
}  // namespace tw
