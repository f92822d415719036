//! Products of stored bits on a GPU.

use super::operands::Stored;
use super::run::run;
use super::{Becomes, BitPlan, BitProduct};
use crate::Error;
use crate::bits::BitMatrix;
use crate::dispatch::{self, ProductExtents, Tiles};
use crate::linear::Gpu;
use crate::store::{Extents, Sink};
use crate::stream::gpu::GpuEngine;
use crate::stream::staging::{Load, Staging};
use crate::stream::{Budgets, Control, Traffic};

/// Rows of zeros that are written at a time.
const ZEROS: usize = 1024;

/// A product of bits on a GPU, in tiles that fit into the budgets, to a sink: of bits as [`super::Bits`] has them, of i32 for
/// [`Becomes::Counts`] and [`Becomes::Distances`]. Zeros stand behind the last bit of a row, and the sink is told how many are bits ([`Sink::holds_bits`]). The sink is not committed: whoever does it makes the whole result visible
/// at once, and after an error there is none.
///
/// What it takes is said by [`BitPlan`]. Results are exact, and do not depend on the plan.
///
/// Errors: [`Error::Shape`], [`Error::ElementType`]; [`Error::Unsupported`] for numbers of more pairs than i32 holds; [`Error::Budget`] without room
/// for the smallest tiles, which are of the whole depth; [`Error::Cancelled`]; those of sources, of the
/// sink and of the driver.
pub fn multiply(
    gpu: &Gpu,
    budgets: &Budgets,
    product: &BitProduct<'_>,
    becomes: Becomes,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let (stored, ProductExtents { rows, columns, depth }) = (Stored::of(product, becomes, sink)?, product.extents());
    if rows == 0 || columns == 0 || depth == 0 {
        stored.say(sink)?;
        return zeros(sink).map(|()| Traffic::default());
    }
    let plan = BitPlan::new(product, becomes, budgets.device.available())?;
    let _device = budgets.device.try_acquire(u64::try_from(plan.device_bytes()).unwrap_or(u64::MAX))?;
    let load = Load { granule: 4 * plan.longest_row(), most: plan.most_at_once(), ..Load::default() };
    let load = load.reading(product.left.source).reading(product.right.source);
    let load = Load { bytes: [load.stored, sink.extents().byte_count(sink.element())? as u128], ..load };
    let (staging, _pinned) = Staging::new::<u32>(&budgets.pinned, load);
    let engine = GpuEngine::new(gpu)?.locking_within(&budgets.pinned)?;
    let traffic = run(&engine, (&plan, staging), (product, becomes), sink, control)?;
    dispatch::streamed(Tiles::Bits(plan), traffic);
    Ok(traffic)
}

/// As [`multiply`], of bits in memory. [`Error::Unsupported`] for numbers, which are no bits.
pub fn product(
    gpu: &Gpu,
    budgets: &Budgets,
    product: &BitProduct<'_>,
    becomes: Becomes,
    control: Control<'_>,
) -> Result<BitMatrix, Error> {
    if becomes.is_number() {
        let why = "numbers are i32; give stream::bits::multiply a sink for them".into();
        return Err(Error::Unsupported { operation: "stream::bits::product", element: "i32", place: "GPU", why });
    }
    let ProductExtents { rows, columns, .. } = product.extents();
    let mut result = BitMatrix::zeros(rows, columns)?;
    let sink = result.sink();
    multiply(gpu, budgets, product, becomes, &sink, control)?;
    Box::new(sink).commit()?;
    Ok(result)
}

/// What products without pairs are.
fn zeros(sink: &dyn Sink) -> Result<(), Error> {
    let extents = sink.extents();
    let band = Extents::new(ZEROS.min(extents.rows), extents.columns);
    let bytes = vec![0; band.byte_count(sink.element())?];
    for tile in extents.tiles(band) {
        sink.write_tile(&tile, &bytes[..tile.extents().byte_count(sink.element())?])?;
    }
    Ok(())
}
