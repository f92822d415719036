//! Products of bits on whichever processor is expected to be faster.

use super::asked::goes;
use super::bit_operand::{BitOperand, BitTarget};
use super::bits_there::{Asked, Wanted};
use super::operand::Target;
use super::run::Route;
use super::target::Away;
use super::{Accelerated, Device};
use crate::Error;
use crate::bits::gpu::{DeviceBitMatrix, DeviceProduct};
use crate::bits::{BitMatrix, Product, as_array, check_counts};
use crate::dispatch::{self, Decision, Job};
use crate::faults::Scale;
use crate::linear::Place;
use crate::matrix::expect;
use crate::store::{MemorySink, Sink};
use crate::stream::bits::{self, Becomes, BitProduct, Bits};
use crate::stream::{Budgets, Control};
use ndarray::Array2;
use tilewright_driver::DeviceBuffer;

const OPERATION: &str = "bit_product";

/// Matrices of bits lie in host memory, on the GPU or in a file ([`BitOperand`]), and results go to any of these ([`BitTarget`]). What is stored goes through either processor in tiles, within its budgets, and may be
/// larger than memory; beside what lies on the GPU it is read whole. What lies on the GPU is computed with there, what is
/// in host memory comes to it, and nothing of that is in tiles; where the CPU is the faster one, or the GPU has no room, copies come to the host within its budget
/// ([`Device::falling_back_within`]). A matrix on another GPU goes to the CPU; who asks for this one gets [`Error::Unsupported`].
///
/// ```
/// use tilewright_hybrid::{Device, bits::BitMatrix, stream::bits::Becomes};
///
/// let step = BitMatrix::from_fn(200, 200, |from, to| to == from + 1)?; // or a DeviceBitMatrix
/// let mut twice = BitMatrix::zeros(200, 200)?; // likewise
/// Device::auto().bit_product_into(&step, &step, Becomes::MoreThan(0), &mut twice)?;
/// assert_eq!(twice, BitMatrix::from_fn(200, 200, |from, to| to == from + 2)?);
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
impl Device {
    /// The product of `left`, m x k, and `right`, k x n, an element being set where its count of pairs is as `becomes` says: paths are
    /// [`Becomes::MoreThan`] 0. Results are exact, and the same on both processors; of what is in host memory a GPU gets it in tiles ([`crate::stream::bits`]).
    ///
    /// [`Error::Shape`] if the two do not have the same k, [`Error::Unsupported`] for numbers, which are no bits
    /// ([`bit_counts`](Device::bit_counts), [`bit_distances`](Device::bit_distances)). What is no sum is not verified, where that is asked for ([`verifying`](Device::verifying)); counts are.
    pub fn bit_product<'a>(
        &self,
        left: impl Into<BitOperand<'a>>,
        right: impl Into<BitOperand<'a>>,
        becomes: Becomes,
    ) -> Result<BitMatrix, Error> {
        let (left, right) = (left.into(), right.into());
        are_bits(becomes)?;
        fit(OPERATION, [&left, &right])?;
        let mut made = BitMatrix::zeros(left.rows(), right.columns())?;
        self.bit_product_into(left, right, becomes, &mut made).map(|()| made)
    }

    /// The same, where it is wanted: [`Error::Shape`] for a target of another size than m x n, which is left as it was where anything fails.
    pub fn bit_product_into<'a, 'b>(
        &self,
        left: impl Into<BitOperand<'a>>,
        right: impl Into<BitOperand<'a>>,
        becomes: Becomes,
        to: impl Into<BitTarget<'b>>,
    ) -> Result<(), Error> {
        let (operands, mut to) = ([left.into(), right.into()], to.into());
        are_bits(becomes)?;
        let asked = self.asked_of_bits(OPERATION, operands, Wanted::Bits(to.at()))?;
        to.expect(OPERATION, [operands[0].rows(), operands[1].columns()])?;
        let on_cpu = |product: Product<'_>| match becomes {
            Becomes::MoreThan(threshold) if threshold > 0 => product.more_than(threshold.into()),
            Becomes::Parities => product.parities(),
            _ => product.paths(),
        };
        if let Some(sources) = asked.sources(to.is_stored()) {
            let extents = [operands[0].rows(), operands[1].columns()];
            return self.stored_bits(OPERATION, &sources, becomes, &mut to, extents);
        }
        if let (Some([left, right]), false) = (asked.in_host_memory(), asked.result_is_there()) {
            let on_gpu = |gpu: &Accelerated, budgets: &Budgets, product: &BitProduct<'_>, control: Control<'_>| {
                bits::product(&gpu.gpu, budgets, product, becomes, Control { verify: None, ..control })
            };
            return to.put(self.in_tiles_of_bits(OPERATION, [left, right], becomes, on_cpu, on_gpu)?);
        }
        let to = std::cell::RefCell::new(to);
        let here = |[left, right]: [&BitMatrix; 2]| to.borrow_mut().put(on_cpu(Product::of(left, right)?)?);
        let there = |[left, right]: [&DeviceBitMatrix; 2]| {
            let product = DeviceProduct::of(left, right)?;
            let made = match becomes {
                Becomes::MoreThan(threshold) => product.more_than(threshold)?,
                _ => product.parities()?,
            };
            to.borrow_mut().put_there(made, &self.host)
        };
        let not_on_gpu = to.borrow().is_elsewhere(self.ordinal());
        self.with_bits(asked.elsewhere(not_on_gpu), here, there)
    }

    /// How many of the k pairs are both set. As [`bit_product`](Device::bit_product) otherwise; [`Error::Unsupported`] where k is 2^31 or more. Those of what lies on
    /// the GPU, or is stored, are not verified.
    pub fn bit_counts<'a>(
        &self,
        left: impl Into<BitOperand<'a>>,
        right: impl Into<BitOperand<'a>>,
    ) -> Result<Array2<i32>, Error> {
        self.numbers("bit_counts", [left.into(), right.into()], Becomes::Counts)
    }

    /// The same, to where it is wanted: [`Error::Shape`] for a target of another size than m x n, [`Error::ElementType`] for a sink of other numbers than i32. What is stored goes there tile by tile.
    pub fn bit_counts_into<'a, 'b>(
        &self,
        left: impl Into<BitOperand<'a>>,
        right: impl Into<BitOperand<'a>>,
        to: impl Into<Target<'b, i32>>,
    ) -> Result<(), Error> {
        self.numbers_into("bit_counts", [left.into(), right.into()], Becomes::Counts, to.into())
    }

    /// In how many of the k places a row of `left`, m x k, and a column of `right`, k x n, differ: Hamming's distance. As [`bit_counts`](Device::bit_counts)
    /// otherwise; nothing is verified.
    pub fn bit_distances<'a>(
        &self,
        left: impl Into<BitOperand<'a>>,
        right: impl Into<BitOperand<'a>>,
    ) -> Result<Array2<i32>, Error> {
        self.numbers("bit_distances", [left.into(), right.into()], Becomes::Distances)
    }

    /// The same, to where it is wanted, as [`bit_counts_into`](Device::bit_counts_into).
    pub fn bit_distances_into<'a, 'b>(
        &self,
        left: impl Into<BitOperand<'a>>,
        right: impl Into<BitOperand<'a>>,
        to: impl Into<Target<'b, i32>>,
    ) -> Result<(), Error> {
        self.numbers_into("bit_distances", [left.into(), right.into()], Becomes::Distances, to.into())
    }

    fn numbers(
        &self,
        operation: &'static str,
        operands: [BitOperand<'_>; 2],
        becomes: Becomes,
    ) -> Result<Array2<i32>, Error> {
        let is_count = becomes == Becomes::Counts;
        let wanted = if is_count { Wanted::Numbers } else { Wanted::Distances };
        let asked = self.asked_of_bits(operation, operands, wanted)?;
        if let Some(sources) = asked.sources(false) {
            let shape = (operands[0].rows(), operands[1].columns());
            return self.stored_numbers(operation, &sources, becomes, shape);
        }
        let on_cpu = |product: Product<'_>| if is_count { product.counts() } else { product.distances() };
        let Some([left, right]) = asked.in_host_memory() else {
            let there = |product: DeviceProduct<'_, DeviceBitMatrix>| {
                if is_count { product.counts() } else { product.distances() }
            };
            return self.numbers_of_bits(asked, on_cpu, there);
        };
        let on_gpu = |gpu: &Accelerated, budgets: &Budgets, product: &BitProduct<'_>, control: Control<'_>| {
            let mut counts = Array2::zeros((left.rows(), right.columns()));
            let sink = MemorySink::new(counts.view_mut());
            bits::multiply(&gpu.gpu, budgets, product, becomes, &sink, Control { verify: None, ..control })?;
            Box::new(sink).commit()?;
            let verify = control.verify.filter(|_| is_count);
            verify.map_or(Ok(()), |verify| check_counts(left, right, &counts, verify))?;
            Ok(counts)
        };
        self.in_tiles_of_bits(operation, [left, right], becomes, on_cpu, on_gpu)
    }

    fn numbers_into(
        &self,
        operation: &'static str,
        operands: [BitOperand<'_>; 2],
        becomes: Becomes,
        mut to: Target<'_, i32>,
    ) -> Result<(), Error> {
        let asked = self.asked_of_bits(operation, operands, Wanted::Numbers)?;
        let at = goes(operation, &to)?;
        expect(operation, "rows of the result", operands[0].rows(), to.shape().rows.0)?;
        expect(operation, "columns of the result", operands[1].columns(), to.shape().columns.0)?;
        let sources = asked.sources(true);
        match (to.away(), sources) {
            (Ok(Away::Stored(kept)), Some(sources)) => {
                kept.filled(&self.host, |sink| self.stored_product(operation, &sources, becomes, (sink, at)))?;
                kept.commit()
            }
            (Ok(away), _) => away.put(&self.numbers(operation, operands, becomes)?),
            (Err(there), _) => there.take((&self.numbers(operation, operands, becomes)?).into()),
        }
    }

    /// Where a product would run, why, and what that is expected to take: one whose result is a matrix of bits in host memory, or counts. Leaves no record.
    pub fn plan_bit_product<'a>(
        &self,
        left: impl Into<BitOperand<'a>>,
        right: impl Into<BitOperand<'a>>,
        becomes: Becomes,
    ) -> Result<Decision, Error> {
        let (operation, wanted) = match becomes {
            Becomes::Counts => ("bit_counts", Wanted::Numbers),
            Becomes::Distances => ("bit_distances", Wanted::Distances),
            _ => (OPERATION, Wanted::Bits(dispatch::At::Pageable)),
        };
        let asked = self.asked_of_bits(operation, [left.into(), right.into()], wanted)?;
        let Some([left, right]) = asked.sources(true) else { return self.plan(&asked.job) };
        let of = BitProduct::of(left.bits()?, right.bits()?)?;
        self.plan(&Job { operation, ..of.job(becomes) })
    }

    fn asked_of_bits<'a>(
        &self,
        operation: &'static str,
        operands: [BitOperand<'a>; 2],
        wanted: Wanted,
    ) -> Result<Asked<'a, 2>, Error> {
        fit(operation, operands.each_ref())?;
        let depth = operands[0].columns();
        if depth > i32::MAX as usize && !matches!(wanted, Wanted::Bits(_)) {
            let why = format!(
                "a number of k = {depth} pairs may not fit, the limit is {}; Product::counts_i64 of bits holds it",
                i32::MAX
            );
            return Err(Error::Unsupported { operation, element: "i32", place: "CPU and GPU", why });
        }
        Ok(Asked::product(operation, operands, wanted, self.ordinal()))
    }

    /// Numbers of what lies on the GPU, or goes there whole.
    fn numbers_of_bits(
        &self,
        asked: Asked<'_, 2>,
        on_cpu: impl Fn(Product<'_>) -> Result<Array2<i32>, Error>,
        on_gpu: impl Fn(DeviceProduct<'_, DeviceBitMatrix>) -> Result<DeviceBuffer<i32>, Error>,
    ) -> Result<Array2<i32>, Error> {
        let here = |[left, right]: [&BitMatrix; 2]| on_cpu(Product::of(left, right)?);
        let there = |[left, right]: [&DeviceBitMatrix; 2]| {
            let numbers = on_gpu(DeviceProduct::of(left, right)?)?.to_vec()?;
            dispatch::to_host(size_of_val(&numbers[..]));
            as_array(left.rows(), right.columns(), numbers)
        };
        self.with_bits(asked, here, there)
    }

    /// A product of what is in host memory, which a GPU has in tiles.
    fn in_tiles_of_bits<R>(
        &self,
        operation: &'static str,
        [left, right]: [&BitMatrix; 2],
        becomes: Becomes,
        on_cpu: impl Fn(Product<'_>) -> Result<R, Error>,
        on_gpu: impl Fn(&Accelerated, &Budgets, &BitProduct<'_>, Control<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let here = Product::of(left, right)?;
        let (of_left, of_right) = (left.source(), right.source());
        let of = BitProduct::of(Bits::new(&of_left, left.columns())?, Bits::new(&of_right, right.columns())?)?;
        let on_cpu = |_: Control<'_>| on_cpu(here);
        let on_gpu = |gpu: &Accelerated, budgets: &Budgets, control: Control<'_>| on_gpu(gpu, budgets, &of, control);
        let job = Job { operation, ..of.job(becomes) };
        self.run(&job, Banded { device: self, on_cpu, on_gpu }).map(|ran| ran.value)
    }
}

fn are_bits(becomes: Becomes) -> Result<(), Error> {
    if !becomes.is_number() {
        return Ok(());
    }
    let why = "numbers are no bits; Device::bit_counts and bit_distances give them".into();
    Err(Error::Unsupported { operation: OPERATION, element: "bit", place: "CPU and GPU", why })
}

fn fit(operation: &'static str, [left, right]: [&BitOperand<'_>; 2]) -> Result<(), Error> {
    expect(operation, "rows of the right matrix", left.columns(), right.rows())
}

/// What a GPU does in tiles or bands alone.
pub(super) struct Banded<'a, C, G> {
    pub(super) device: &'a Device,
    pub(super) on_cpu: C,
    pub(super) on_gpu: G,
}

impl<R, C, G> Route<R> for Banded<'_, C, G>
where
    C: FnMut(Control<'_>) -> Result<R, Error>,
    G: FnMut(&Accelerated, &Budgets, Control<'_>) -> Result<R, Error>,
{
    fn whole(&mut self, place: &Place, control: Control<'_>) -> Result<R, Error> {
        match (place, &self.device.gpu) {
            (Place::Gpu(_), Some(gpu)) => (self.on_gpu)(gpu, &gpu.budgets, control),
            _ => (self.on_cpu)(control),
        }
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<R, Error> {
        let (budgets, _permit) = gpu.smaller(scale)?;
        (self.on_gpu)(gpu, &budgets, control)
    }
}
