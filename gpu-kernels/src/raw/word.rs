//! What memory holds: elements, and the words of 1 to 16 bytes that they travel in.

/// A word that shared memory is read and written in.
pub trait Word: Copy + 'static {
    /// The word at an address of shared memory.
    ///
    /// # Safety
    /// The address is a multiple of the size, and lies inside.
    #[cfg(target_arch = "nvptx64")]
    unsafe fn load_shared(address: u32) -> Self;
    /// Writes the word at an address of shared memory.
    ///
    /// # Safety
    /// The address is a multiple of the size, and lies inside.
    #[cfg(target_arch = "nvptx64")]
    unsafe fn store_shared(self, address: u32);
    /// Its bytes, of which the first ones count.
    fn bytes(self) -> [u8; 16];
    /// The word of these bytes.
    fn of_bytes(bytes: [u8; 16]) -> Self;
}

#[cfg(target_arch = "nvptx64")]
macro_rules! shared {
    ($load:literal $store:literal $class:ident) => {
        #[inline(always)]
        unsafe fn load_shared(address: u32) -> Self {
            let word: Self;
            // SAFETY: as the caller promises.
            unsafe {
                core::arch::asm!($load, word = out($class) word, at = in(reg32) address,
                    options(readonly, nostack, preserves_flags));
            }
            word
        }
        #[inline(always)]
        unsafe fn store_shared(self, address: u32) {
            // SAFETY: as the caller promises.
            unsafe {
                core::arch::asm!($store, word = in($class) self, at = in(reg32) address,
                    options(nostack, preserves_flags));
            }
        }
    };
}

macro_rules! words {
    ($($t:ident $class:ident $load:literal $store:literal;)*) => { $(
        impl Word for $t {
            #[cfg(target_arch = "nvptx64")]
            shared!($load $store $class);
            #[inline(always)]
            fn bytes(self) -> [u8; 16] {
                let mut bytes = [0; 16];
                bytes[..size_of::<$t>()].copy_from_slice(&self.to_ne_bytes());
                bytes
            }
            #[inline(always)]
            fn of_bytes(bytes: [u8; 16]) -> Self {
                let mut own = [0; size_of::<$t>()];
                own.copy_from_slice(&bytes[..size_of::<$t>()]);
                $t::from_ne_bytes(own)
            }
        }
    )* };
}
words! {
    u16 reg16 "ld.shared.u16 {word}, [{at}];" "st.shared.u16 [{at}], {word};";
    u32 reg32 "ld.shared.u32 {word}, [{at}];" "st.shared.u32 [{at}], {word};";
    u64 reg64 "ld.shared.u64 {word}, [{at}];" "st.shared.u64 [{at}], {word};";
}

impl Word for u8 {
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn load_shared(address: u32) -> Self {
        let word: u16;
        // SAFETY: as the caller promises.
        unsafe {
            core::arch::asm!("ld.shared.u8 {word}, [{at}];", word = out(reg16) word, at = in(reg32) address,
                options(readonly, nostack, preserves_flags));
        }
        word as u8
    }
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn store_shared(self, address: u32) {
        // SAFETY: as the caller promises.
        unsafe {
            core::arch::asm!("st.shared.u8 [{at}], {word};", word = in(reg16) u16::from(self), at = in(reg32) address,
                options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn bytes(self) -> [u8; 16] {
        u16::from(self).bytes()
    }
    #[inline(always)]
    fn of_bytes(bytes: [u8; 16]) -> Self {
        bytes[0]
    }
}

impl Word for [u32; 4] {
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn load_shared(address: u32) -> Self {
        let (a, b, c, d): (u32, u32, u32, u32);
        // SAFETY: as the caller promises.
        unsafe {
            core::arch::asm!("ld.shared.v4.u32 {{{a}, {b}, {c}, {d}}}, [{at}];", a = out(reg32) a, b = out(reg32) b,
                c = out(reg32) c, d = out(reg32) d, at = in(reg32) address, options(readonly, nostack, preserves_flags));
        }
        [a, b, c, d]
    }
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn store_shared(self, address: u32) {
        let [a, b, c, d] = self;
        // SAFETY: as the caller promises.
        unsafe {
            core::arch::asm!("st.shared.v4.u32 [{at}], {{{a}, {b}, {c}, {d}}};", a = in(reg32) a, b = in(reg32) b,
                c = in(reg32) c, d = in(reg32) d, at = in(reg32) address, options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes.as_chunks_mut().0.iter_mut().zip(self).for_each(|(to, word)| *to = word.to_ne_bytes());
        bytes
    }
    #[inline(always)]
    fn of_bytes(bytes: [u8; 16]) -> Self {
        let mut words = [0; 4];
        words.iter_mut().zip(bytes.as_chunks().0).for_each(|(to, bytes)| *to = u32::from_ne_bytes(*bytes));
        words
    }
}

/// What tensors hold.
pub trait Element: Copy + Default + Send + Sync + 'static {
    /// The word of its size.
    type Word: Word;
    /// It as a word.
    fn word(self) -> Self::Word;
    /// The element of a word.
    fn of_word(word: Self::Word) -> Self;
    /// The element at an address that other threads may write.
    ///
    /// # Safety
    /// The address is aligned, and good for reading.
    unsafe fn read(from: *const Self) -> Self;
    /// Writes the element at an address that other threads may read.
    ///
    /// # Safety
    /// The address is aligned, and good for writing.
    unsafe fn write(to: *mut Self, value: Self);
}

/// Elements that travel together, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(16))]
pub struct Vector<T, const N: usize>(pub [T; N]);

impl<T: Copy + Default, const N: usize> Default for Vector<T, N> {
    #[inline(always)]
    fn default() -> Self {
        Vector([T::default(); N])
    }
}

/// On a GPU a plain access, which asks nothing of the order of threads. On the CPU, where a race of plain accesses means nothing at all,
/// an atomic one.
macro_rules! accesses {
    ($part:ty, $atomic:ident, $parts:literal) => {
        #[cfg(target_arch = "nvptx64")]
        #[inline(always)]
        unsafe fn read(from: *const Self) -> Self {
            // SAFETY: as the caller promises.
            unsafe { *from }
        }
        #[cfg(target_arch = "nvptx64")]
        #[inline(always)]
        unsafe fn write(to: *mut Self, value: Self) {
            // SAFETY: as the caller promises.
            unsafe { *to = value }
        }
        #[allow(
            unnecessary_transmutes,
            clippy::useless_transmute,
            reason = "of an integer it is, of a vector it is not"
        )]
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe fn read(from: *const Self) -> Self {
            use core::sync::atomic::{Ordering, $atomic};
            let parts: [$part; $parts] = core::array::from_fn(|i| {
                // SAFETY: part `i` of an element that the caller promises, in memory that all access atomically.
                unsafe { (*from.cast::<$atomic>().add(i)).load(Ordering::Relaxed) }
            });
            // SAFETY: the parts are the element's bytes, and any bytes are an element.
            unsafe { core::mem::transmute::<[$part; $parts], Self>(parts) }
        }
        #[allow(
            unnecessary_transmutes,
            clippy::useless_transmute,
            reason = "of an integer it is, of a vector it is not"
        )]
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe fn write(to: *mut Self, value: Self) {
            use core::sync::atomic::{Ordering, $atomic};
            // SAFETY: an element is its bytes, without gaps.
            let parts = unsafe { core::mem::transmute::<Self, [$part; $parts]>(value) };
            for (i, part) in parts.into_iter().enumerate() {
                // SAFETY: part `i` of an element that the caller promises, in memory that all access atomically.
                unsafe { (*to.cast::<$atomic>().add(i)).store(part, Ordering::Relaxed) };
            }
        }
    };
}

macro_rules! elements {
    ($($t:ty, $word:ty, $part:ty, $atomic:ident, $parts:literal;)*) => { $(
        #[allow(unnecessary_transmutes, clippy::useless_transmute, reason = "of an integer it is, of a vector it is not")]
        impl Element for $t {
            type Word = $word;
            #[inline(always)]
            fn word(self) -> $word {
                // SAFETY: both are bytes without gaps, as many.
                unsafe { core::mem::transmute::<$t, $word>(self) }
            }
            #[inline(always)]
            fn of_word(word: $word) -> Self {
                // SAFETY: both are bytes without gaps, as many, and any bytes are an element.
                unsafe { core::mem::transmute::<$word, $t>(word) }
            }
            accesses!($part, $atomic, $parts);
        }
    )* };
}
elements! {
    u8, u8, u8, AtomicU8, 1;
    u16, u16, u16, AtomicU16, 1;
    u32, u32, u32, AtomicU32, 1;
    u64, u64, u64, AtomicU64, 1;
    f32, u32, u32, AtomicU32, 1;
    f64, u64, u64, AtomicU64, 1;
    Vector<u8, 16>, [u32; 4], u32, AtomicU32, 4;
    Vector<u16, 8>, [u32; 4], u32, AtomicU32, 4;
    Vector<u32, 4>, [u32; 4], u32, AtomicU32, 4;
    Vector<u64, 2>, [u32; 4], u32, AtomicU32, 4;
    Vector<f32, 4>, [u32; 4], u32, AtomicU32, 4;
    Vector<f64, 2>, [u32; 4], u32, AtomicU32, 4;
}

impl Element for [u16; 2] {
    type Word = u32;
    #[inline(always)]
    fn word(self) -> u32 {
        u32::from(self[0]) | u32::from(self[1]) << 16
    }
    #[inline(always)]
    fn of_word(word: u32) -> Self {
        [word as u16, (word >> 16) as u16]
    }
    accesses!(u16, AtomicU16, 2);
}
