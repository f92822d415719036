//! Values that a thread keeps in registers.

/// `N` values, made one after the other. The plain loop is what a compiler unrolls for certain, so that none of them goes to local memory;
/// `array::from_fn`, and iterators over arrays by value, it may call.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see above")]
pub(crate) fn each<T: Copy + Default, const N: usize>(make: impl Fn(usize) -> T) -> [T; N] {
    let mut values = [T::default(); N];
    for i in 0..N {
        values[i] = make(i);
    }
    values
}
