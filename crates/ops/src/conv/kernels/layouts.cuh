// What the row kernel (rows.cu) goes by: how everything lies in shared memory. tensors.cuh stands before this text.

constexpr int cells = strip_depth / run;                       // of a tap
constexpr int cells_of_row = shape::taps_x * cells;            // of a row of the window
constexpr int pairs = cells_of_row / 2;                        // products of two cells
constexpr int matrices = pairs > 0 ? pairs : 1;
constexpr bool odd = cells_of_row % 2 != 0;                    // one cell is left
constexpr bool tall = odd && plan::step == 2 && up == 1 && down == 1;  // it is paired with that of the next row
constexpr int tiles = plan::tiles, strips = plan::warp_strips;
// What a warp has of them; what a matrix has of a window's row, and a product.
using Tile = tw::Fold<Pixel, 16>;
using Strip = tw::Fold<K, 8>;
using Cell = tw::Fold<Depth, run>;
using Pair = tw::Fold<Depth, 2 * run>;
// What a row of the window adds up is tap after tap, and of each the channels that a strip reads.
template <class Deep> TW_DEVICE S tap_of(Deep depth) { return S(depth.value / (strip_depth / Deep::unit)); }
template <class Deep> TW_DEVICE C channel_of(Deep depth) { return C(depth.value % (strip_depth / Deep::unit) * Deep::unit); }
constexpr int warps_along = (pixels + 16 * tiles - 1) / (16 * tiles), warps = plan::strips / strips * warps_along;
// And those that bring rows, one that sends them; a warpgroup for both where it leaves its registers to those that multiply.
constexpr bool lent = plan::lent > 0;
constexpr int warps_of_block = lent ? warps + 4 : warps + plan::bringing + plan::whole;

// Rows in shared memory.
using Ring = tw::Tensor<Held, tw::Layout<tw::Axis<Slot, 1, plan::slots, plan::step * row_elements, false>,
                                        tw::Axis<Y, 1, plan::step, row_elements, false>,
                                        tw::Axis<C, 1, row_elements, 1, false>>>;
// What the lanes of a warp hand to one another before they store it: cells of strips lie apart, so that banks differ.
using Staged = tw::Tensor<Written, tw::Layout<tw::Axis<K, 8, strips, (16 * tiles + 2) * 8, false>,
                                              tw::Axis<Pixel, 1, 16 * tiles, 8, false>, tw::Axis<K, 1, 8, 1, true>>>;
// What all warps hand to the copy engine where that stores whole rows: those of a step, and more, so that some are written while it reads others. Pixels
// follow one another as in the box that it sends, and those that fill up the last tile lie behind it.
constexpr int most_complete = (plan::step * up + down - 1) / down;   // rows of one step
constexpr int sent_pixels = 16 * tiles * warps_along, sent_row = (sent_pixels + 7) / 8 * 8 * channels, sent_rows = plan::sent;
using Sent = tw::Tensor<Written, tw::Layout<tw::Axis<Slot, 1, sent_rows, sent_row, false>, tw::Axis<K, 1, sent_row, 1, false>>>;
using SentRow = tw::Tensor<Written, tw::Swizzled<tw::Layout<tw::Axis<Pixel, 1, sent_pixels, channels, false>,
                                                         tw::Axis<K, 1, channels, 1, false>>,
                                              run, plan::span>>;
// What a warp stores by itself, so many elements at once: lanes go along cells first.
constexpr int together = shape::vector < 16 / (int)sizeof(Written) ? shape::vector : 16 / (int)sizeof(Written);
using Stored = tw::Tensor<Written, tw::Packed<tw::Run<Pixel, 16 * tiles>, tw::Run<K, strips * 8 / together, together>>>;
// A block's weights, which come through shared memory where rows of them are rows of matrices: once, and as they lie, to where the ring's last places
// are going to be, if two places are left for rows meanwhile.
using Own = tw::Tensor<Held, tw::Packed<tw::Run<K, channels>, tw::Run<R, shape::taps_y>, tw::Run<S, shape::taps_x>, tw::Run<C, shape::group>>>;
using OwnCells = tw::Tensor<char, tw::Packed<tw::Run<K, channels>, tw::Run<R, shape::taps_y>, tw::Run<S, shape::taps_x>, tw::Run<C, cells, run>>>;
constexpr int own_places = (Own::len + plan::step * row_elements - 1) / (plan::step * row_elements), first_own = plan::slots - own_places;
constexpr bool through_ring = sizeof(Held) == 2 && shape::group == strip_depth && channels % strip_depth == 0 && first_own >= 2;
// The window's last rows, where threads have no registers for all of its weights: these rest in shared memory, as lanes hold them.
constexpr int resting_rows = plan::resting > 0 ? plan::resting : 1, held_rows = taps - plan::resting;
using Matrices = tw::Tensor<char, tw::Packed<tw::Run<K, plan::strips, 8>, tw::Run<R, resting_rows>, tw::Run<Depth, matrices, 2 * run>>>;
using Resting = tw::Tensor<tw::Vector<unsigned, 2>, tw::Packed<tw::Run<K, plan::strips, 8>, tw::Run<R, resting_rows>,
                                                               tw::Run<Depth, matrices, 2 * run>, tw::Run<Lane, 32>>>;
using Warps = tw::Tensor<char, tw::Packed<tw::Run<Pixel, warps_along, 16 * tiles>, tw::Run<K, plan::strips / strips, 8 * strips>>>;
