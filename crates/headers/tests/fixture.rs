//! What every test needs: a compiled model or a counted skip, a parameter struct as bytes, numbers to compute with.

use tilewright_headers::host_model::{Error, HostModel, KernelSource, Launch, Schedule, skip};

/// The texts compiled together, or `None`, noted as a skip, on a machine without a C++ compiler.
pub(crate) fn compile(test: &str, texts: &[&str]) -> Option<HostModel> {
    if HostModel::compiler().is_none() {
        skip(test, "no C++ compiler");
        return None;
    }
    let sources: Vec<KernelSource<'_>> = texts.iter().map(|text| KernelSource { name: test, text }).collect();
    Some(HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}")))
}

/// A launch of `grid` x `block` along x.
pub(crate) fn launch(grid: u32, block: u32, shared_bytes: usize, schedule: Schedule) -> Launch {
    Launch { grid: [grid, 1, 1], block: [block, 1, 1], shared_bytes: shared_bytes as u32, schedule }
}

/// Runs a kernel of source 0 whose parameter struct is P: a `repr(C)` struct without padding, its pointers good for the
/// kernel.
pub(crate) fn run<P: Copy>(model: &HostModel, kernel: &str, launch: Launch, params: P) -> Result<(), Error> {
    // SAFETY: P has no padding and lives until the end of this function.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const params).cast::<u8>(), size_of::<P>()) };
    // SAFETY: the tests pass pointers to slices of the sizes that their kernels use.
    unsafe { model.run(0, kernel, launch, bytes) }
}

/// Pseudo-random numbers in 0..1, never all alike.
pub(crate) fn random(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..count).map(step).collect()
}
