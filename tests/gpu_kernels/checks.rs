//! The simulated block itself: what it has to report.

use std::panic::catch_unwind;
use tilewright_dims::{TensorType, dims, tensor};
use tilewright_gpu_kernels::{Block, Tile, simulate};

dims! { I }
tensor!(Row: f32, [I: 32]);
type Held<B> = Tile<B, f32, <Row as TensorType>::Layout>;

fn said(body: impl Fn() + std::panic::UnwindSafe) -> bool {
    catch_unwind(body).is_err()
}

#[test]
fn a_barrier_that_a_thread_misses_ends_the_test() {
    assert!(said(|| simulate(1, 32, 0, |block| {
        if block.thread::<32>() != 5 {
            block.barrier();
        }
    })));
}

#[test]
fn places_outside_are_refused() {
    assert!(said(|| simulate(1, 32, 128, |block| Held::new(block, 0).set(I(block.thread::<32>() + 1), 0.0))));
    assert!(said(|| simulate(1, 32, 64, |block| Held::new(block, 0).set(I(block.thread::<32>()), 0.0))));
    assert!(said(|| simulate(1, 64, 128, |block| Held::new(block, 0).set(I(block.thread::<32>()), 0.0))));
}

#[test]
fn shared_memory_begins_as_nan() {
    simulate(2, 32, 128, |block| {
        let tile = Held::new(block, 0);
        assert!(tile.get(I(block.thread::<32>())).is_nan());
        block.barrier();
        tile.set(I(block.thread::<32>()), block.number() as f32);
        block.barrier();
        assert_eq!(tile.get(I(31 - block.thread::<32>())), block.number() as f32);
    });
}
