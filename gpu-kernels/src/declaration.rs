//! What each kernel takes, said once: the entries that a GPU runs and the launchers of the host follow from it.

/// How many tiles of `size` cover `extent`.
#[inline(always)]
pub(crate) fn tiles(extent: i64, size: i64) -> i64 {
    let whole = extent / size;
    if extent % size > 0 { whole + 1 } else { whole }
}

/// Hands the declarations of all kernels to the macro named, which makes of them what its side needs.
///
/// A declaration names the dimensions, the parameters, how many threads a block has, its shared memory, how many blocks there are for
/// sizes in the order of the dimensions, and the body. A parameter is a `value`, or memory to `read` or `write` over some of the
/// dimensions, the last one fast, without gaps. Behind `of` stands the parameter whose length is that dimension's size; where none does, the
/// caller says the sizes. `rows` is the number of rows that a block sees of a matrix.
#[macro_export]
macro_rules! kernels {
    ($side:ident) => {
        $side! {
            /// `out[i] = value`, of bytes.
            kernel fill_u8 [I of out] (value: value u8, out: write u8 [I])
                threads body::fill::THREADS, shared 0, rows 1, blocks body::fill::blocks::<16>, body body::fill::fill::<_, _, 16, 16>;
            /// `out[i] = value`, of 32-bit integers.
            kernel fill_u32 [I of out] (value: value u32, out: write u32 [I])
                threads body::fill::THREADS, shared 0, rows 1, blocks body::fill::blocks::<4>, body body::fill::fill::<_, _, 4, 4>;
            /// `out[i] = value`, of `f32`.
            kernel fill_f32 [I of out] (value: value f32, out: write f32 [I])
                threads body::fill::THREADS, shared 0, rows 1, blocks body::fill::blocks::<4>, body body::fill::fill::<_, _, 4, 4>;
            /// `out[i] = value`, of `f64`.
            kernel fill_f64 [I of out] (value: value f64, out: write f64 [I])
                threads body::fill::THREADS, shared 0, rows 1, blocks body::fill::blocks::<2>, body body::fill::fill::<_, _, 2, 2>;
            /// `y[i] = a * x[i] + y[i]`, rounded once.
            kernel saxpy [I of y] (a: value f32, x: read f32 [I], y: write f32 [I])
                threads body::saxpy::THREADS, shared 0, rows 1, blocks body::saxpy::blocks, body body::saxpy::saxpy;
            /// `to[x, y] = from[y, x]`, of bytes.
            kernel transpose_u8 [Y, X] (from: read u8 [Y, X], to: write u8 [X, Y])
                threads body::transpose::THREADS, shared body::transpose::shared_bytes(1), rows 32, blocks body::transpose::blocks,
                body body::transpose::transpose;
            /// `to[x, y] = from[y, x]`, of 16 bits.
            kernel transpose_u16 [Y, X] (from: read u16 [Y, X], to: write u16 [X, Y])
                threads body::transpose::THREADS, shared body::transpose::shared_bytes(2), rows 32, blocks body::transpose::blocks,
                body body::transpose::transpose;
            /// `to[x, y] = from[y, x]`, of 32 bits.
            kernel transpose_u32 [Y, X] (from: read u32 [Y, X], to: write u32 [X, Y])
                threads body::transpose::THREADS, shared body::transpose::shared_bytes(4), rows 32, blocks body::transpose::blocks,
                body body::transpose::transpose;
            /// `to[x, y] = from[y, x]`, of `f32`.
            kernel transpose_f32 [Y, X] (from: read f32 [Y, X], to: write f32 [X, Y])
                threads body::transpose::THREADS, shared body::transpose::shared_bytes(4), rows 32, blocks body::transpose::blocks,
                body body::transpose::transpose;
            /// `to[x, y] = from[y, x]`, of `f64`.
            kernel transpose_f64 [Y, X] (from: read f64 [Y, X], to: write f64 [X, Y])
                threads body::transpose::THREADS, shared body::transpose::shared_bytes(8), rows 32, blocks body::transpose::blocks,
                body body::transpose::transpose;
            /// `y[n, c] = gelu(x[n, c] * scale[c] + shift[c])`.
            kernel map_gelu [N, C] (x: read f32 [N, C], scale: read f32 [C], shift: read f32 [C], y: write f32 [N, C])
                threads body::map::THREADS, shared 0, rows 32, blocks body::map::blocks, body body::map::gelu;
            /// `y[n, c] = digamma(x[n, c] * scale[c] + shift[c])`.
            kernel map_digamma [N, C] (x: read f32 [N, C], scale: read f32 [C], shift: read f32 [C], y: write f32 [N, C])
                threads body::map::THREADS, shared 0, rows 32, blocks body::map::blocks, body body::map::digamma;
            /// Sums of a row in `J` shares.
            kernel sum_f32 [I of x, J of sums] (x: read f32 [I], sums: write f32 [J])
                threads body::sum::THREADS, shared body::sum::shared_bytes(4), rows 1, blocks body::sum::blocks, body body::sum::sum::<_, _, 4, 4>;
            /// Sums of a row in `J` shares, of `f64`.
            kernel sum_f64 [I of x, J of sums] (x: read f64 [I], sums: write f64 [J])
                threads body::sum::THREADS, shared body::sum::shared_bytes(8), rows 1, blocks body::sum::blocks, body body::sum::sum::<_, _, 2, 2>;
            /// `c[i, j]` is the sum over k of `a[i, k] * b[k, j]`, in order, with fused multiply-adds.
            kernel product [I, J, K] (a: read f32 [I, K], b: read f32 [K, J], c: write f32 [I, J])
                threads body::product::THREADS, shared body::product::SHARED_BYTES, rows 64, blocks body::product::blocks, body body::product::product;
            /// `c[i, j]` is the sum over k of `a[i, k] * b[j, k]`, of bf16, given as their bits, on tensor cores.
            kernel product_bf16 [I, J, K] (a: read u16 [I, K], b: read u16 [J, K], c: write f32 [I, J])
                threads body::product_bf16::THREADS, shared body::product_bf16::SHARED_BYTES, rows 64, blocks body::product_bf16::blocks,
                body body::product_bf16::product_bf16;
        }
    };
}
