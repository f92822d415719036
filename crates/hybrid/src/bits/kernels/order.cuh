// The order in which blocks take tiles of the result: strips of some rows of tiles, down each column of a strip before the next one, so
// that the blocks that work at one time read few rows of either operand, which the L2 cache then holds.
struct Tile {
  int row, column;
};

template <int tile_rows, int tile_columns, int strip> struct Order {
  int rows, columns;  // of tiles

  TW_DEVICE explicit Order(const Params& p)
      : rows((p.rows + tile_rows - 1) / tile_rows), columns((p.columns + tile_columns - 1) / tile_columns) {}
  TW_DEVICE int tiles() const { return rows * columns; }
  TW_DEVICE Tile operator[](int number) const {
    const int first = number / (strip * columns) * strip, within = number % (strip * columns);
    const int height = rows - first < strip ? rows - first : strip;
    return {first + within % height, within / height};
  }
};
