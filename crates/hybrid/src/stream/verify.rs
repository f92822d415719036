//! Whether a product is one, without multiplying: `alpha a (b x) + beta (c x) = result x` for random vectors (Freivalds 1977).

use super::images::{Entry, LANES, image, image_of_each};
use super::matmul::{Factor, Product};
use crate::Error;
use crate::linear::{Arithmetic, Precision, Scalar};
use crate::store::{Element, Extents, Sink, Source, Stored, Tile, Written};
use num_complex::Complex64;

/// How a product is checked.
///
/// A row with a wrong element differs in every vector by that; one with several escapes a vector with a chance of at most a half, and all of
/// them with one of `2^-vectors`. All operands and the result are read once more for each eight vectors, on the host, in bands.
///
/// What a row may differ by follows from the type, from the depth and from the numbers themselves. A row of the result is a sum of `depth`
/// terms, each a row of `b` times a number; adding one loses half a unit in the last place of the sum so far, at most. Losses have little to do
/// with one another, and nothing with the signs of the vectors, so they add up like steps of a random walk: to `sqrt(depth)` times the unit times
/// the norm of the largest sum so far. That norm is taken from the vectors, which meet the same sums, or from the squares of all terms, whichever
/// is larger. `margin` times this is allowed. Where all terms point one way, losses may too: the same number added again and again loses the
/// same each time. How much they do shows in how much larger the largest sum is than its squares; that ratio, up to its most, `sqrt(depth)`, takes the
/// margin's place where it is larger, and then this is the bound that no sum exceeds. Right products take less than a fifth of what is allowed in our
/// tests. Beside it stand what factors lose on their way in, where the precision lets them, what the check loses itself, and what lies below the
/// type's smallest normal number.
///
/// An element that became infinite although the numbers are not is wrong; where the operands have NaN or infinities, the row must have them too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verify {
    /// Random vectors; they come by eights.
    pub vectors: usize,
    /// What they follow from: the same seed, the same vectors.
    pub seed: u64,
    /// What is allowed, in parts of what losses by chance add up to.
    pub margin: f64,
}

impl Default for Verify {
    fn default() -> Self {
        Verify { vectors: LANES, seed: 0x5851_f42d_4c95_7f2d, margin: 16.0 }
    }
}

impl Verify {
    /// That `result` is the product: else [`Error::WrongProduct`]. What the largest difference was in parts of what is allowed. For results that can
    /// be read again when they are there; what a stream checks itself it reads from the sink. Where `b` has one column, products of matrices with
    /// vectors may be a batch, as [`matvec`](super::matvec) has them, and each is checked.
    ///
    /// Errors besides: [`Error::Shape`] and [`Error::ElementType`] as of the product; those of sources.
    pub fn check<T: Scalar + Stored>(
        &self,
        product: &Product<'_, T>,
        precision: Precision,
        result: &dyn Source,
    ) -> Result<f64, Error> {
        let entering = match precision.arithmetic::<T>(OPERATION)? {
            Arithmetic::Own | Arithmetic::Wide => 0.0,
            Arithmetic::Tf32 => TF32,
            Arithmetic::Bf16 => BF16,
            Arithmetic::Emulated { .. } => return Err(refused_of_emulated::<T>()),
        };
        let (into, element) = (result.extents(), result.element());
        let rows_of_each = match product.b.extents()[1] {
            1 => product.batch_into(into, element)?.rows,
            _ => product.extents_into(into, element)?.rows,
        };
        self.check_with(product, rows_of_each, entering, result, &|| Ok(()))
    }

    /// The same of products of so many rows each.
    pub(super) fn check_with<T: Scalar + Stored>(
        &self,
        product: &Product<'_, T>,
        rows_of_each: usize,
        entering: f64,
        result: &dyn Source,
        go_on: &dyn Fn() -> Result<(), Error>,
    ) -> Result<f64, Error> {
        let passes = self.vectors.div_ceil(LANES).max(1) as u64;
        (0..passes).try_fold(0.0, |largest: f64, pass| {
            let rows = Rows::of(product, rows_of_each, result, self.seed.wrapping_add(pass), go_on)?;
            Ok(largest.max(rows.check(Losses::of(product, entering), self.margin)?))
        })
    }
}

/// A row of an emulated product may be off by parts of its factors' largest elements, which its norms do not tell.
pub(super) fn refused_of_emulated<T: Scalar>() -> Error {
    let why = "rows of products of emulated f64 are off by parts of their largest elements, not of their norms; compare with Precision::error_bound";
    Error::Unsupported { operation: OPERATION, element: T::NAME, place: "CPU and GPU", why: why.into() }
}

const OPERATION: &str = "the check of a product";
/// What a factor that is rounded, or cut off, on its way in loses of itself, twice: there are two factors.
pub(super) const TF32: f64 = 2.0 / 1024.0;
pub(super) const BF16: f64 = 2.0 / 128.0;

/// What a row loses, in parts of the norm of what is added up in it.
#[derive(Clone, Copy)]
struct Losses {
    /// By sums, on the device and here, as steps of a random walk; and how often it would have to go one way.
    adding: f64,
    most: f64,
    /// On the way in, and by the sums of rows with vectors.
    besides: f64,
    /// What vanishes below the smallest normal number, at every step of every element; not in parts of anything.
    vanishing: f64,
}

impl Losses {
    fn of<T: Scalar>(product: &Product<'_, T>, entering: f64) -> Losses {
        let [[_, depth], [_, columns]] = [product.a.extents(), product.b.extents()].map(|it| it.map(|it| it as f64));
        // One more for what is added.
        let most = (depth + 1.0).sqrt();
        let smallest = if T::EPSILON == f64::EPSILON { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
        Losses {
            adding: (T::EPSILON + f64::EPSILON) / 2.0 * most,
            most,
            besides: entering + f64::EPSILON / 2.0 * columns.sqrt(),
            vanishing: smallest * (depth + 2.0) * columns,
        }
    }

    fn allow(&self, row: &Should, margin: f64) -> f64 {
        let one_way = (row.peak / row.by_chance).min(self.most);
        row.norm * (self.adding * margin.max(one_way) + margin * self.besides) + margin * self.vanishing
    }
}

/// A row of the product, times random vectors.
#[derive(Clone, Copy)]
struct Should {
    value: [Complex64; LANES],
    /// The largest sum on the way through the depth, and what it would be if terms had any sign.
    peak: f64,
    by_chance: f64,
    /// How large all that was added up was.
    norm: f64,
}

impl Should {
    const ZERO: Should = Should { value: [Complex64::ZERO; LANES], peak: 0.0, by_chance: 0.0, norm: 0.0 };

    fn add(&mut self, by: Complex64, row: &Entry) {
        self.value.iter_mut().zip(lanes(row)).for_each(|(sum, value)| *sum += by * value);
        self.norm += by.norm() * row.peak.max(row.square.sqrt());
    }
}

/// What each row should be and is.
struct Rows {
    of_each: usize,
    should: Vec<Should>,
    is: Vec<Entry>,
}

impl Rows {
    fn of<T: Scalar + Stored>(
        product: &Product<'_, T>,
        of_each: usize,
        result: &dyn Source,
        seed: u64,
        go_on: &dyn Fn() -> Result<(), Error>,
    ) -> Result<Rows, Error> {
        let &Product { a, b, c, alpha, beta } = product;
        let Extents { rows, columns } = result.extents();
        let signs = signs(columns, seed);
        let mut should = vec![Should::ZERO; rows];
        if alpha != T::ZERO {
            let product = image_of_each::<T>(&a, of_each, &image::<T>(&b, &signs, go_on)?, go_on)?;
            for (should, row) in should.iter_mut().zip(&product) {
                (should.peak, should.by_chance) = (row.peak, row.square.sqrt());
                should.add(alpha.wide(), row);
            }
        }
        if let Some(c) = c.filter(|_| beta != T::ZERO) {
            let added = image::<T>(&Factor::plain(c), &signs, go_on)?;
            should.iter_mut().zip(&added).for_each(|(should, row)| should.add(beta.wide(), row));
        }
        Ok(Rows { of_each, should, is: image::<T>(&Factor::plain(result), &signs, go_on)? })
    }

    /// The largest difference in parts of what is allowed.
    fn check(&self, losses: Losses, margin: f64) -> Result<f64, Error> {
        let (mut largest, mut wrong) = (0.0, Vec::new());
        for (row, (should, is)) in self.should.iter().zip(&self.is).enumerate() {
            let (difference, allowed) = (difference(should, is), losses.allow(should, margin));
            // Where squares overflow nothing is known.
            if difference <= allowed && allowed.is_finite() {
                largest = f64::max(largest, difference / allowed.max(f64::MIN_POSITIVE));
            } else {
                wrong.push((row, difference, allowed));
            }
        }
        match wrong.first() {
            None => Ok(largest),
            Some(&(row, difference, allowed)) => {
                let (wrong, rows) = (wrong.len(), self.is.len());
                let product = (self.of_each < rows).then(|| row / self.of_each);
                let row = product.map_or(row, |product| row - product * self.of_each);
                Err(Error::WrongProduct { product, row, difference, allowed, wrong, rows })
            }
        }
    }
}

fn lanes(entry: &Entry) -> impl Iterator<Item = Complex64> {
    entry.re.into_iter().zip(entry.im).map(|(re, im)| Complex64::new(re, im))
}

/// The largest difference of a vector; NaN where one of the two alone is a number.
fn difference(should: &Should, is: &Entry) -> f64 {
    let of_lane =
        |(should, is): (&Complex64, Complex64)| match [*should, is].map(|it| it.re.is_finite() && it.im.is_finite()) {
            [true, true] => (should - is).norm(),
            [false, false] => 0.0,
            _ => f64::NAN,
        };
    // What is no number stays none.
    let largest = |largest: f64, it| if it <= largest { largest } else { it };
    should.value.iter().zip(lanes(is)).map(of_lane).fold(0.0, largest)
}

/// Vectors of ones and minus ones.
pub(super) fn signs(length: usize, seed: u64) -> Vec<Entry> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    (0..length).map(|_| Entry::of_signs(next())).collect()
}

/// What was written to a sink, as a source.
pub(super) struct ReadBack<'a> {
    sink: &'a dyn Sink,
    written: &'a dyn Written,
}

impl<'a> ReadBack<'a> {
    /// [`Error::Unsupported`] for a sink that cannot be read before it is committed.
    pub(super) fn of(sink: &'a dyn Sink) -> Result<Self, Error> {
        let why = || {
            "this sink is not read before it is committed; commit it, and check what it became (Verify::check)".into()
        };
        let unsupported =
            || Error::Unsupported { operation: OPERATION, element: sink.element().name(), place: "CPU", why: why() };
        Ok(ReadBack { sink, written: sink.written().ok_or_else(unsupported)? })
    }
}

impl Source for ReadBack<'_> {
    fn extents(&self) -> Extents {
        self.sink.extents()
    }

    fn element(&self) -> Element {
        self.sink.element()
    }

    fn grain(&self) -> Extents {
        self.sink.grain()
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        self.written.read_back(tile, out)
    }
}
