//! How threads share a product, and what one core takes for a part of it.

/// The threads' parts of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// One does it.
    Alone,
    /// Each has a part: so many parts of the rows, of the columns and of the sums, which are added in the end.
    Parts([usize; 3]),
    /// As faer divides it, whose threads share what is rearranged of the factors.
    Shared,
}

/// What a product is of whose result lies column by column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Bytes of an element.
    pub(crate) bytes: usize,
    /// Real operations that one of an element is.
    pub(crate) real: f64,
    /// Whether the left and the right factor lie row by row.
    pub(crate) turned: [bool; 2],
}

/// What one core does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Core {
    /// Operations of products in a second, a multiplication and an addition being two.
    pub(crate) flops: f64,
}

/// Bytes in a second in which a core passes over a result, the left factor and the right one. Fitted to 380 products beside an H200, f32 and f64,
/// one core of an Intel Xeon with 2 MiB of cache, 2026-11-29: half of them are within 15 % of this.
const RESULT: f64 = 30e9;
const LEFT: f64 = 45e9;
const RIGHT: f64 = 62e9;
/// The same of what a left factor takes more that lies row by row.
const TURNED: f64 = 35e9;
/// Bytes of a run for which a core waits as long as it takes to read so many.
const RUN: f64 = 1e3;
/// The same of a matrix that is multiplied by a vector: where a core's own cache holds it, and where not.
const NEAR: f64 = 45e9;
const FAR: f64 = 22e9;
/// Bytes of a core's own cache.
const CACHE: f64 = 1e6;
/// Seconds of a row of such a matrix that lies row by row, and of a column of another.
const ROW: f64 = 7e-9;
const COLUMN: f64 = 3.5e-9;
/// Seconds of a tile of three vectors by eight columns, whatever its sums.
const TILE: f64 = 45e-9;
/// Bytes of a vector: rows are computed in whole ones.
const VECTOR: f64 = 64.0;

/// Products of which faer's threads share what each would rearrange: seconds of one core, and extents, from which on that is faster (300 products of f32 and f64 on 16 cores, 2026-11-29).
const MUCH: f64 = 20e-3;
const LONG: usize = 128;
/// Seconds of one core from which on several are faster.
const WORTH: f64 = 60e-6;
/// Seconds that a part takes at least, or threads would wait for one another.
const LEAST: f64 = 4e-6;
/// Bytes of results of parts at most.
const MOST: f64 = 64e6;
/// By how much a division has to be faster than that into fewer parts.
const FASTER: f64 = 0.9;
/// Bytes in a second in which all cores together pass over what their caches do not hold: over factors along which sums lie, over such as are a step apart from one product of a sum to the next,
/// and over results; and bytes that caches hold. Products whose parts read and write 5 to 80 MB took so long, 2026-11-29.
const LINES: f64 = 250e9;
const STEPS: f64 = 85e9;
const WRITTEN: f64 = 100e9;
const NEARBY: f64 = 4e6;
/// Bytes in a second in which results of parts are added, and seconds until that begins.
const ADDED: f64 = 12e9;
const SUM: f64 = 10e-6;

impl Core {
    /// Of a core by whose means products are divided, whatever is measured: the same product has the same sums on machines with as many threads.
    fn nominal(kind: Kind) -> Core {
        let is_double = kind.bytes >= if kind.real > 1.0 { 16 } else { 8 };
        Core { flops: if is_double { 56e9 } else { 120e9 } }
    }

    /// One that takes so many seconds for a product of matrices.
    pub(crate) fn that_takes(seconds: f64, extents: [usize; 3], kind: Kind) -> Core {
        let passes = Core { flops: f64::INFINITY }.seconds(extents, kind);
        let computes = Core { flops: 1.0 }.seconds(extents, kind) - passes;
        Core { flops: computes / (seconds - passes).max(seconds / 2.0) }
    }

    /// Seconds of a product of rows by columns, with as many products each as its depth.
    pub(crate) fn seconds(self, extents: [usize; 3], kind: Kind) -> f64 {
        self.seconds_of_part(extents, extents, kind)
    }

    /// Seconds of so much of a product: what is a part of a factor's columns, or rows, lies in short runs.
    fn seconds_of_part(self, all: [usize; 3], part: [usize; 3], kind: Kind) -> f64 {
        let [m, n, k] = part.map(|extent| extent as f64);
        let bytes = kind.bytes as f64;
        // The extent along which a factor lies.
        let along = [if kind.turned[0] { 2 } else { 0 }, if kind.turned[1] { 1 } else { 2 }];
        let [left, right] = along.map(|along| match part[along] < all[along] {
            true => 1.0 + RUN / (bytes * part[along] as f64),
            false => 1.0,
        });
        if m == 1.0 || n == 1.0 {
            let (read, slower, turned) =
                if n == 1.0 { (m * k, left, kind.turned[0]) } else { (k * n, right, kind.turned[1]) };
            let lines = if turned && k > 1.0 { read / k * ROW } else { k * COLUMN };
            return slower * read * bytes / if read * bytes > CACHE { FAR } else { NEAR } + lines;
        }
        let lanes = VECTOR / bytes;
        let computed = (m / lanes).ceil() * lanes * n * k;
        let turned = if kind.turned[0] { m * k / TURNED } else { 0.0 };
        let passes = m * n / RESULT + left * m * k / LEFT + right * k * n / RIGHT + turned;
        let tiles = (m / (3.0 * lanes)).ceil() * (n / 8.0).ceil();
        2.0 * kind.real * computed / self.flops + bytes * passes + tiles * TILE
    }
}

impl Division {
    /// How that many threads share the product of these rows, columns and depth.
    pub(crate) fn of(extents: [usize; 3], kind: Kind, threads: usize) -> Division {
        let core = Core::nominal(kind);
        let alone = core.seconds(extents, kind);
        if threads < 2 || alone < WORTH || extents.contains(&0) {
            return Division::Alone;
        }
        if alone >= MUCH && extents.into_iter().all(|extent| extent >= LONG) {
            return Division::Shared;
        }
        let (mut parts, mut least) = ([1; 3], alone);
        for factor in factors(threads) {
            let tried = [0, 1, 2].map(|dimension| {
                let mut parts = parts;
                parts[dimension] *= factor;
                let of_sums = (parts[2] - 1) as f64 * extents[0] as f64 * extents[1] as f64 * kind.bytes as f64;
                let seconds = Self::seconds_of(core, extents, parts, kind);
                (parts, if of_sums > MOST { f64::INFINITY } else { seconds })
            });
            let Some((divided, seconds)) = tried.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            if seconds >= FASTER * least {
                break;
            }
            (parts, least) = (divided, seconds);
        }
        if parts == [1; 3] { Division::Alone } else { Division::Parts(parts) }
    }

    /// Seconds of one part, of what all parts read and write that their cores' caches do not hold, and of what is added.
    pub(crate) fn seconds_of(core: Core, extents: [usize; 3], parts: [usize; 3], kind: Kind) -> f64 {
        let part = [0, 1, 2].map(|dimension| extents[dimension].div_ceil(parts[dimension]));
        let bytes = kind.bytes as f64;
        let added = bytes * part[0] as f64 * part[1] as f64;
        let [[m, n, k], [rows, columns, depth]] = [extents, parts].map(|it| it.map(|it| it as f64));
        let beyond = |passed: f64| (bytes * passed - NEARBY).max(0.0);
        let [far, written] = match m == 1.0 || n == 1.0 {
            true => [0.0; 2],
            false => {
                let left = beyond(m * k * columns) / if kind.turned[0] { LINES } else { STEPS };
                [left + beyond(k * n * rows) / LINES, bytes * m * n / WRITTEN]
            }
        };
        let computed = core.seconds_of_part(extents, part, kind).max(LEAST) + far;
        computed.max(written) + depth.log2().ceil() * (SUM + added / ADDED)
    }
}

/// More threads than these share nothing.
pub(crate) const MOST_THREADS: usize = 1 << 16;

/// The prime factors of a number of threads, the largest first; of one with a prime that no extent is well divided by, those of fewer threads.
fn factors(threads: usize) -> impl Iterator<Item = usize> {
    let threads = threads.min(MOST_THREADS);
    const PRIMES: [usize; 4] = [7, 5, 3, 2];
    let left_of = |threads: usize| {
        PRIMES.iter().fold(threads, |left, prime| {
            let mut left = left;
            while left % prime == 0 {
                left /= prime;
            }
            left
        })
    };
    let mut left = (1..=threads).rev().find(|threads| left_of(*threads) == 1).unwrap_or(1);
    std::iter::from_fn(move || {
        let prime = PRIMES.into_iter().find(|prime| left % prime == 0)?;
        left /= prime;
        Some(prime)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const F64: Kind = Kind { bytes: 8, real: 1.0, turned: [false; 2] };

    #[test]
    fn what_is_divided_and_how() {
        let of = |extents| Division::of(extents, F64, 16);
        let parts = |extents| match of(extents) {
            Division::Parts(parts) => parts,
            other => panic!("{extents:?}: {other:?}"),
        };
        assert_eq!(of([64, 64, 64]), Division::Alone);
        assert_eq!(Division::of([4096; 3], F64, 1), Division::Alone);
        assert_eq!([of([4096; 3]), of([usize::MAX; 3])], [Division::Shared; 2]);
        // Long sums by their parts, wide results by columns, high ones by rows, and what is not much longer one way by several.
        assert_eq!(parts([20, 30, 50_000]), [1, 1, 16]);
        assert_eq!(parts([8, 40_000, 30]), [1, 16, 1]);
        assert_eq!(parts([40_000, 8, 30]), [16, 1, 1]);
        assert_eq!(parts([200, 247, 4353]).into_iter().product::<usize>(), 16);
        // Vectors, by what is read.
        assert_eq!(parts([1, 1198, 1219]), [1, 16, 1]);
        // Of what lies column by column rows would be short runs.
        let kind = |turned| Kind { turned: [turned, false], ..F64 };
        assert_eq!(Division::of([1219, 1, 1198], kind(false), 16), Division::Parts([2, 1, 8]));
        assert_eq!(Division::of([1219, 1, 1198], kind(true), 16), Division::Parts([16, 1, 1]));
        assert_eq!(of([300, 1, 300]), Division::Alone);
        // Complex numbers are worth it sooner.
        assert_eq!(of([90; 3]), Division::Alone);
        assert_ne!(Division::of([90; 3], Kind { bytes: 16, real: 4.0, ..F64 }, 16), Division::Alone);
        // No size panics, and nothing is divided.
        for extents in [[usize::MAX, 0, 0], [0, 0, usize::MAX], [0; 3]] {
            assert_eq!(of(extents), Division::Alone);
        }
        parts([usize::MAX, 2, usize::MAX]);
        // Results of parts take little memory.
        assert_eq!(parts([115, 212_950, 30_497])[2], 1);
    }

    #[test]
    fn all_threads_have_a_part_or_nearly_all() {
        let of = |threads| factors(threads).collect::<Vec<_>>();
        assert_eq!([of(16), of(12), of(1)], [vec![2; 4], vec![3, 2, 2], vec![]]);
        assert_eq!(of(usize::MAX), [2; 16]);
        assert_eq!([of(14), of(96), of(13), of(11)], [vec![7, 2], vec![3, 2, 2, 2, 2, 2], vec![3, 2, 2], vec![5, 2]]);
    }
}
