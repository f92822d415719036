//! The emitted kernel, run without a GPU: the same bits as the evaluator's.

use crate::fused::{FRAME, Operands};
use tilewright::Fused;
use tilewright::expr::bind::{Place, View, dense};
use tilewright::expr::emit::{Field, emit};
use tilewright::expr::plan::Plan;
use tilewright::expr::trace;
use tilewright::prelude::*;
use tilewright_foreign::{B, M, MASK, N, Y, spots};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};

#[test]
fn the_kernel_runs_on_the_host_model() -> Result<(), Box<dyn std::error::Error>> {
    if HostModel::compiler().is_none() {
        skip("foreign::the_kernel_runs_on_the_host_model", "no C++ compiler on this machine");
        return Ok(());
    }
    let Operands { frame, boxes, gain } = Operands::new()?;
    let fused: Fused<_, _> = fuse(spots);
    let expected = fused.call(&frame, &boxes, &gain)?.to_vec()?;

    let graph = trace(spots).graph;
    let sizes = |sizes: &[usize]| sizes.iter().map(|n| *n as i64).collect::<Vec<_>>();
    let axes = [
        dense(<(Y, B)>::IDS, &sizes(&FRAME)),
        dense(<(N,)>::IDS, &[3]),
        dense(<(N,)>::IDS, &[3]),
        dense(<(N, Y, M)>::IDS, &sizes(&[3, MASK.0, MASK.1.div_ceil(8)])),
    ];
    let views: Vec<View<'_>> =
        axes.iter().map(|axes| View { axes, place: Place::Device, alignment: 1, boxes: None }).collect();
    let plan = Plan::new(&graph, &views[..3], &views[3..])?;
    let kernel = emit(&graph, &plan)?;

    let (frame, boxes, gain) = (frame.to_vec()?, boxes.to_vec()?, gain.to_vec()?);
    let (mut masks, mut error) = (vec![0xa5u8; expected.len()], 0u32);
    let inputs = [frame.as_ptr() as u64, boxes.as_ptr() as u64, gain.as_ptr() as u64];
    let mut block = vec![0u8; kernel.params.bytes()];
    kernel.params.pack(&plan, &mut block);
    for (field, at) in &kernel.params.fields {
        let address = match field {
            Field::Input(i) => inputs[usize::from(*i)],
            Field::Output(_) => masks.as_mut_ptr() as u64,
            Field::Error => &raw mut error as u64,
            _ => continue,
        };
        block[*at as usize..][..8].copy_from_slice(&address.to_ne_bytes());
    }
    let model = HostModel::compile(&[KernelSource { name: "spots", text: &kernel.source }])?;
    let [x, y] = plan.block;
    let (grid, shared_bytes) = (plan.grid(), kernel.shared_bytes);
    let launch = Launch { grid, block: [x, y, 1], shared_bytes, schedule: Schedule::Backward };
    // SAFETY: the addresses are those of vectors that live until the call returns, of the sizes that the plan was made for.
    unsafe { model.run(0, kernel.entry, launch, &block)? };
    assert_eq!(*std::hint::black_box(&error), 0, "no box lies outside");
    assert_eq!(masks, expected);
    Ok(())
}
