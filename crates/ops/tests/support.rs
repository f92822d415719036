//! Random data, skips, comparison of bits.

use std::io::Write as _;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tilewright_ops::Device;

/// A generator of pseudo-random bits (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn vec<T>(&mut self, n: usize, f: impl Fn(&mut Random) -> T) -> Vec<T> {
        (0..n).map(|_| f(self)).collect()
    }
}

/// Notes that a test did not run, and why.
pub(crate) fn skip(test: &str, reason: &str) {
    eprintln!("SKIP {test}: {reason}");
    if let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        let _ = writeln!(file, "SKIP {test}: {reason}");
    }
}

/// Tests that provoke a device error have the GPU to themselves: whoever waits for the GPU next is told of it.
static GPU: RwLock<()> = RwLock::new(());

/// The GPU, shared with other tests, or `None` after noting the skip.
pub(crate) fn gpu(test: &str) -> Option<(Device, RwLockReadGuard<'static, ()>)> {
    let lock = GPU.read().unwrap_or_else(PoisonError::into_inner);
    open(test).map(|device| (device, lock))
}

/// The GPU while no other test uses it.
pub(crate) fn gpu_alone(test: &str) -> Option<(Device, RwLockWriteGuard<'static, ()>)> {
    let lock = GPU.write().unwrap_or_else(PoisonError::into_inner);
    open(test).map(|device| (device, lock))
}

fn open(test: &str) -> Option<Device> {
    match Device::gpu(0) {
        Ok(device) => Some(device),
        Err(_) => {
            skip(test, "no GPU");
            None
        }
    }
}

/// A value that compares by its bits, any NaN being equal to any other.
pub(crate) trait Same: Copy + std::fmt::Debug {
    fn same(self, other: Self) -> bool;
}
macro_rules! exact { ($($t:ty),*) => { $(impl Same for $t { fn same(self, o: Self) -> bool { self == o } })* } }
exact!(bool, u8, i8, u16, i16, u32, i32, u64, i64);
macro_rules! halves { ($($t:ty),*) => { $(impl Same for $t {
    fn same(self, o: Self) -> bool {
        self.to_bits() == o.to_bits() || (self.is_nan() && o.is_nan())
    }
})* } }
halves!(tilewright_expr::f16, tilewright_expr::bf16);
impl Same for f32 {
    fn same(self, o: Self) -> bool {
        self.to_bits() == o.to_bits() || (self.is_nan() && o.is_nan())
    }
}
impl Same for f64 {
    fn same(self, o: Self) -> bool {
        self.to_bits() == o.to_bits() || (self.is_nan() && o.is_nan())
    }
}

/// Panics at the first element that differs.
pub(crate) fn assert_same<T: Same>(what: &str, got: &[T], expected: &[T]) {
    assert_eq!(got.len(), expected.len(), "{what}: lengths");
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!(g.same(*e), "{what}: element {i} of {} is {g:?}, expected {e:?}", got.len());
    }
}
