//! Bytes at the same places of many lines: instead of reading each by itself, whole vectors are read and their bytes put in order.

use std::arch::x86_64::{__m128i, _mm_or_si128, _mm_setzero_si128, _mm_shuffle_epi8};

/// Bytes of a vector.
const BYTES: usize = 16;
/// Most vectors that are read for one of results.
const MOST: usize = 4;
/// What a shuffle makes 0.
const ABSENT: u8 = 0x80;

/// For each vector of results, where what is read for it begins, and for each vector read, which of its bytes go where.
pub(super) struct Shuffles {
    starts: Vec<i64>,
    orders: Vec<[u8; BYTES]>,
    /// Vectors read for each one of results.
    reads: usize,
    /// Where the bytes are that fill no vector.
    rest: Vec<i64>,
}

impl Shuffles {
    /// For bytes at `index * stride`, the stride not being negative; nothing where those of a vector are too far apart, or where
    /// whole vectors would go beyond the `room` bytes that there are.
    #[inline(always)]
    pub(super) fn new((index, stride): (&[i32], i64), room: i64) -> Option<Shuffles> {
        let (groups, rest) = index.as_chunks::<BYTES>();
        let ends = |group: &[i32; BYTES]| {
            let (low, high) = group.iter().fold((i32::MAX, i32::MIN), |(low, high), i| (low.min(*i), high.max(*i)));
            (i64::from(low) * stride, (i64::from(high) - i64::from(low)) * stride)
        };
        let (far, wide) =
            groups.iter().map(ends).fold((0, 0), |(far, wide), (start, width)| (start.max(far), width.max(wide)));
        let reads = wide as usize / BYTES + 1;
        if groups.is_empty() || reads > MOST || far + (reads * BYTES) as i64 > room {
            return None;
        }
        let (mut starts, mut orders) = (Vec::with_capacity(groups.len()), vec![[ABSENT; BYTES]; groups.len() * reads]);
        for (group, orders) in groups.iter().zip(orders.chunks_exact_mut(reads)) {
            let (start, _) = ends(group);
            for (to, index) in group.iter().enumerate() {
                let at = (i64::from(*index) * stride - start) as usize;
                orders[at / BYTES][to] = (at % BYTES) as u8;
            }
            starts.push(start);
        }
        Some(Shuffles { starts, orders, reads, rest: rest.iter().map(|i| i64::from(*i) * stride).collect() })
    }

    /// Reads a line for each base, `pitch` bytes apart.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn lines(&self, from: &[u8], bases: &[i64], out: &mut [u8], pitch: usize) {
        match self.reads {
            1 => self.each_line::<1>(from, bases, out, pitch),
            2 => self.each_line::<2>(from, bases, out, pitch),
            3 => self.each_line::<3>(from, bases, out, pitch),
            _ => self.each_line::<MOST>(from, bases, out, pitch),
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn each_line<const READS: usize>(&self, from: &[u8], bases: &[i64], out: &mut [u8], pitch: usize) {
        let (orders, _) = self.orders.as_chunks::<READS>();
        for (base, out) in bases.iter().zip(out.chunks_mut(pitch)) {
            let (vectors, rest) = out.split_at_mut(self.starts.len() * BYTES);
            for ((out, start), orders) in vectors.as_chunks_mut::<BYTES>().0.iter_mut().zip(&self.starts).zip(orders) {
                let (read, _) = from[(base + start) as usize..][..READS * BYTES].as_chunks::<BYTES>();
                let mut bytes = _mm_setzero_si128();
                for (read, order) in read.iter().zip(orders) {
                    let [read, order]: [__m128i; 2] = [bytemuck::cast(*read), bytemuck::cast(*order)];
                    bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(read, order));
                }
                *out = bytemuck::cast(bytes);
            }
            for (out, at) in rest.iter_mut().zip(&self.rest) {
                *out = from[(base + at) as usize];
            }
        }
    }
}
