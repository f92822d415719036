// What all products of bits have in common: the dimensions, matrices whose sizes a launch knows, and what a kernel is given.

// Rows of the left matrix and of the result; rows of the right matrix, which is transposed, and columns of the result; words of 32 bits
// along what is summed up.
struct I : tw::Dim<I> { using Dim::Dim; };
struct J : tw::Dim<J> { using Dim::Dim; };
struct W : tw::Dim<W> { using Dim::Dim; };

// A row in global memory.
template <class T, class C> struct Row {
  T* first;
  TW_DEVICE T* at(C column) const { return first + column.value; }
};
// Rows along R, `pitch` elements from each to the next.
template <class T, class R, class C> struct Matrix {
  T* first;
  long long pitch;
  TW_DEVICE Row<T, C> row(R row) const { return {first + pitch * row.value}; }
};

struct Params {
  tw::TensorMap left_map, right_map;  // for kernels with bulk copies
  const unsigned* left;               // rows x words
  const unsigned* right;              // columns x words
  const int* left_ones;               // how many bits of each row are set, for distances
  const int* right_ones;
  void* result;
  long long pitch;                    // elements from a row of the result to the next
  int rows, columns, words, threshold;

  TW_DEVICE Matrix<const unsigned, I, W> a() const { return {left, words}; }
  TW_DEVICE Matrix<const unsigned, J, W> b() const { return {right, words}; }
  template <class T> TW_DEVICE Matrix<T, I, J> to() const { return {(T*)result, pitch}; }
};
