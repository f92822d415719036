//! Bytes of `bool` that are neither 0 nor 1, as somebody else may leave them in device memory: all but 0 are true.

use crate::emitted::{compile, compiler};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::emit::{Field, emit};
use tilewright_expr::plan::Plan;
use tilewright_expr::{In, trace};
use tilewright_headers::host_model::{Launch, Schedule};

dims! { X }

#[test]
fn every_byte_but_0_is_true() {
    if !compiler("truth::every_byte_but_0_is_true") {
        return;
    }
    let graph = trace(|a: In<bool, (X,)>| a.select(7u8, 3u8).store::<(X,)>()).graph;
    let bytes: [u8; 256] = std::array::from_fn(|i| i as u8);
    // Vectors, words, and single elements.
    for (start, alignment) in [(0usize, 16), (4, 4), (1, 1)] {
        let axes = dense(<(X,)>::IDS, &[240]);
        let view = |alignment| View { axes: &axes, place: Place::Device, alignment, boxes: None };
        let plan = Plan::new(&graph, &[view(alignment)], &[view(16)]).expect("it fits");
        let kernel = emit(&graph, &plan).expect("it can be written");
        let (input, mut output) = (bytemuck::cast::<[u8; 256], [u128; 16]>(bytes), [0u128; 16]);
        let mut block = vec![0u8; kernel.params.bytes()];
        kernel.params.pack(&plan, &mut block);
        let addresses =
            [(Field::Input(0), input.as_ptr() as u64 + start as u64), (Field::Output(0), output.as_mut_ptr() as u64)];
        for (field, address) in addresses {
            let at = kernel.params.offset(field).expect("the kernel has it");
            block[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        }
        let (model, wide) = compile(&[&kernel]);
        assert!(wide > 0, "{start}: the result is written in vectors");
        let (grid, [x, y]) = (plan.grid(), plan.block);
        let launch = Launch { grid, block: [x, y, 1], shared_bytes: kernel.shared_bytes, schedule: Schedule::ALL[0] };
        // SAFETY: both addresses are those of arrays that live until the call returns, and 240 elements from `start` on are inside.
        unsafe { model.run(0, kernel.entry, launch, &block) }.expect("it runs");
        let output: [u8; 256] = bytemuck::cast(std::hint::black_box(output));
        for (i, chosen) in output.iter().take(240).enumerate() {
            assert_eq!(*chosen, if i + start == 0 { 3 } else { 7 }, "{start}: byte {}", i + start);
        }
    }
}
