//! Products of bits on whichever processor is expected to be faster.

use super::run::Route;
use super::{Accelerated, Device};
use crate::Error;
use crate::bits::{BitMatrix, Product, check_counts};
use crate::faults::Scale;
use crate::linear::Place;
use crate::store::{MemorySink, Sink};
use crate::stream::bits::{self, Becomes, BitProduct, Bits};
use crate::stream::{Budgets, Control};
use ndarray::Array2;

impl Device {
    /// The product of `left`, m x k, and `right`, k x n, an element being set where its count of pairs is as `becomes` says: paths are
    /// [`Becomes::MoreThan`] 0. Results are exact, and the same on both processors; a GPU gets it in tiles ([`crate::stream::bits`]).
    ///
    /// [`Error::Shape`] if the two do not have the same k, [`Error::Unsupported`] for counts, which are no bits
    /// ([`bit_counts`](Device::bit_counts)). What is no sum is not verified, where that is asked for ([`verifying`](Device::verifying)); counts are.
    pub fn bit_product(&self, left: &BitMatrix, right: &BitMatrix, becomes: Becomes) -> Result<BitMatrix, Error> {
        let on_cpu = |product: Product<'_>| match becomes {
            Becomes::MoreThan(0) => product.paths(),
            Becomes::MoreThan(threshold) => product.more_than(threshold.into()),
            Becomes::Parities => product.parities(),
            Becomes::Counts => {
                let why = "counts are no bits; Device::bit_counts gives them".into();
                Err(Error::Unsupported { operation: "bit_product", element: "bit", place: "CPU and GPU", why })
            }
        };
        let on_gpu = |gpu: &Accelerated, budgets: &Budgets, product: &BitProduct<'_>, control: Control<'_>| {
            bits::product(&gpu.gpu, budgets, product, becomes, Control { verify: None, ..control })
        };
        self.bits(left, right, becomes, on_cpu, on_gpu)
    }

    /// How many of the k pairs are both set. As [`bit_product`](Device::bit_product) otherwise; [`Error::Unsupported`] where k is 2^31 or more.
    pub fn bit_counts(&self, left: &BitMatrix, right: &BitMatrix) -> Result<Array2<i32>, Error> {
        let on_gpu = |gpu: &Accelerated, budgets: &Budgets, product: &BitProduct<'_>, control: Control<'_>| {
            let mut counts = Array2::zeros((left.rows(), right.columns()));
            let sink = MemorySink::new(counts.view_mut());
            bits::multiply(&gpu.gpu, budgets, product, Becomes::Counts, &sink, Control { verify: None, ..control })?;
            Box::new(sink).commit()?;
            control.verify.map_or(Ok(()), |verify| check_counts(left, right, &counts, verify))?;
            Ok(counts)
        };
        self.bits(left, right, Becomes::Counts, |product: Product<'_>| product.counts(), on_gpu)
    }

    fn bits<R>(
        &self,
        left: &BitMatrix,
        right: &BitMatrix,
        becomes: Becomes,
        on_cpu: impl Fn(Product<'_>) -> Result<R, Error>,
        on_gpu: impl Fn(&Accelerated, &Budgets, &BitProduct<'_>, Control<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let here = Product::of(left, right)?;
        let (of_left, of_right) = (left.source(), right.source());
        let of = BitProduct::of(Bits::new(&of_left, left.columns())?, Bits::new(&of_right, right.columns())?)?;
        let on_cpu = |_: Control<'_>| on_cpu(here);
        let on_gpu = |gpu: &Accelerated, budgets: &Budgets, control: Control<'_>| on_gpu(gpu, budgets, &of, control);
        self.run(&of.job(becomes), Banded { device: self, on_cpu, on_gpu }).map(|ran| ran.value)
    }
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
