//! Products of stored bits on the CPU: in tiles of the result that host memory holds with what is read for them, each of all pairs.

use super::operands::{BitSink, Stored};
use super::{Becomes, BitProduct};
use crate::Error;
use crate::bits::gpu::row_bytes;
use crate::bits::{BitMatrix, Product};
use crate::budget::Budget;
use crate::dispatch::ProductExtents;
use crate::store::{Sink, Tile};
use crate::stream::Control;
use bytemuck::cast_slice;

/// What columns of a tile are a multiple of, where they are not all.
const GRANULE: usize = 128;

/// A product of bits to a sink, which is not committed. [`Error::Budget`] where the budget does not hold a row and 128 columns with their pairs.
pub(crate) fn multiply_on_host(
    host: &Budget,
    product: &BitProduct<'_>,
    becomes: Becomes,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<(), Error> {
    let stored = Stored::of(product, becomes, sink)?;
    sink.gather_within(host)?;
    let extents = product.extents();
    let ProductExtents { rows, columns, .. } = extents;
    let to_bits = match stored {
        Stored::Bits(packing) => Some(BitSink::new(sink, packing.bits)?),
        Stored::Counts => None,
    };
    let ([down, across], _host) = host.planned(host.available(), |available| {
        let tile = tile_within(product, becomes, available);
        Ok((tile, bytes_of(product, becomes, tile)))
    })?;
    let (mut done, all) = (0, (rows.div_ceil(down) * columns.div_ceil(across)) as u64);
    for left in (0..columns).step_by(across) {
        let columns = left..columns.min(left + across);
        control.check(done, all)?;
        let right = product.right.tile(&product.right_of(columns.clone()))?;
        for top in (0..rows).step_by(down) {
            control.check(done, all)?;
            let tile = Tile { rows: top..rows.min(top + down), columns: columns.clone() };
            let left = product.left.rows(tile.rows.clone())?;
            let of = if product.transposes() { Product::of(&left, &right)? } else { Product::of_rows(&left, &right)? };
            let numbers = match becomes {
                Becomes::Counts => of.counts()?,
                Becomes::Distances => of.distances()?,
                _ => {
                    let made = bits(of, becomes)?;
                    to_bits.as_ref().map_or(Ok(()), |to| to.write(&tile, made))?;
                    done += 1;
                    control.tell(done, all);
                    continue;
                }
            };
            sink.write_tile(&tile, cast_slice(numbers.as_slice().unwrap_or_default()))?;
            done += 1;
            control.tell(done, all);
        }
    }
    Ok(())
}

fn bits(product: Product<'_>, becomes: Becomes) -> Result<BitMatrix, Error> {
    match becomes {
        Becomes::MoreThan(threshold) if threshold > 0 => product.more_than(threshold.into()),
        Becomes::Parities => product.parities(),
        _ => product.paths(),
    }
}

/// Bytes of host memory of a tile of so many rows and columns: its factors, the right one as it is stored and transposed, and results as they are made and as they are stored.
fn bytes_of(product: &BitProduct<'_>, becomes: Becomes, [down, across]: [usize; 2]) -> u64 {
    let depth = product.extents().depth;
    let matrix = |rows: usize, bits: usize| row_bytes(bits).saturating_mul(rows as u64);
    let right = matrix(depth, across).saturating_add(matrix(across, depth));
    let results = match becomes.is_number() {
        true => 8u64.saturating_mul(down as u64).saturating_mul(across as u64),
        false => matrix(down, across),
    };
    matrix(down, depth).saturating_add(right).saturating_add(results)
}

/// The largest tile that so many bytes hold, or the smallest that there is: the longer side is halved first, since the left factor is read once for each band of columns.
fn tile_within(product: &BitProduct<'_>, becomes: Becomes, available: u64) -> [usize; 2] {
    let ProductExtents { rows, columns, .. } = product.extents();
    let mut tile = [rows.max(1), columns.max(1)];
    while bytes_of(product, becomes, tile) > available {
        let [down, across] = tile;
        let narrower = across.div_ceil(2).next_multiple_of(GRANULE);
        tile = match (down > 1, narrower < across) {
            (false, false) => break,
            (_, true) if across >= down || down == 1 => [down, narrower],
            (true, _) => [down.div_ceil(2), across],
            (false, true) => [down, narrower],
        };
    }
    tile
}
