//! All parts in one kernel with tilewright's own operations: one launch, and the bits of the same steps one by one.

use crate::Random;
use tilewright::extend::Apply;
use tilewright::prelude::*;
use tilewright::record;
use tilewright_foreign::bits::PackedBits;
use tilewright_foreign::noise::below;
use tilewright_foreign::peaks::Peaks;
use tilewright_foreign::raw10::Raw10;
use tilewright_foreign::{B, MASK, N, SENSOR, X, Y, spots};

/// A frame, boxes in it, and a gain for each.
pub(crate) struct Operands {
    pub frame: Tensor<u8, (Y, B)>,
    pub boxes: Tensor<Rect, (N,)>,
    pub gain: Tensor<f32, (N,)>,
}

/// The rows of the frame, and the bytes of a row.
pub(crate) const FRAME: [usize; 2] = [31, SENSOR.div_ceil(4) * 5];

impl Operands {
    pub(crate) fn new() -> Result<Operands, tilewright::Error> {
        let boxes = vec![Rect::new(0, 0, 38, 31), Rect::new(3, 5, 20, 9), Rect::new(30, 2, 7, 29)];
        Ok(Operands {
            frame: Tensor::from_vec(FRAME, Random(5).bytes(FRAME[0] * FRAME[1]))?,
            boxes: Tensor::from_vec([3], boxes)?,
            gain: Tensor::from_vec([3], vec![1.0, 0.9, 1.25])?,
        })
    }
}

#[test]
fn one_launch_gives_the_bits_of_the_steps() -> Result<(), tilewright::Error> {
    let Operands { frame, boxes, gain } = Operands::new()?;
    let fused = fuse(spots);
    let mut masks = None;
    let launches = record(|| masks = Some(fused.call(&frame, &boxes, &gain)));
    assert_eq!(launches.len(), 1);
    let masks = masks.expect("the call returned")?.to_vec()?;

    let picture = frame.expr().read(Raw10 { width: SENSOR }).store::<(Y, X)>().eval()?;
    let small = picture.expr().crop::<Y, X, _>(boxes.expr()).resize::<Y, X>(MASK.0, MASK.1);
    let small = small.store::<(N, Y, X)>().eval()?;
    // The first tensor opens an eager expression.
    let product = small.expr() * gain.expr();
    let place = coordinate::<X>() + coordinate::<Y>() * 64;
    let dither = below::of(place.to::<u32>(), 7).to::<f32>();
    let bright = (product + dither).store::<(N, Y, X)>().eval()?;
    let peaks = bright.expr().apply(Peaks).store::<(N, Y, X)>().eval()?;
    let mask = peaks.expr().gt(500.0).store::<(N, Y, X)>().eval()?;
    let steps = mask.expr().write(PackedBits { width: MASK.1 }).eval()?.to_vec()?;
    assert_eq!(masks, steps);
    let set: u32 = masks.iter().map(|byte| byte.count_ones()).sum();
    assert!((20..400).contains(&set), "{set} spots");
    Ok(())
}

#[test]
fn one_kernel_holds_every_part() -> Result<(), tilewright::Error> {
    let Operands { frame, boxes, gain } = Operands::new()?;
    let fused = fuse(spots);
    let source = fused.cuda_source(&frame, &boxes, &gain)?;
    assert_eq!(source.matches("__global__").count(), 1, "{source}");
    for part in ["if (hash_ < end_) {", "own_below_", "fmaf(", "tw::shl("] {
        assert!(source.contains(part), "{part}: {source}");
    }
    let graph = fused.explain(&frame, &boxes, &gain)?.tree;
    for name in ["packed bits", "peaks", "below", "resize", "crop", "raw10"] {
        assert!(graph.contains(name), "{name}: {graph}");
    }
    Ok(())
}
