//! Expressions as images of convolutions: on the host model and the CPU against the reference, on a GPU against both.

use super::compare::{Operands, POISON, compare};
use super::compiles::resources;
use super::computed::{Parts, Source, read_by, read_extents};
use super::fused::{self, Beside};
use super::problems::{chosen, problems};
use super::rows::{AMPERE, HOPPER, NONE, accuracy, random_with, run};
use crate::support::Random;
use tilewright_driver::{Arch, toolkit};
use tilewright_headers::host_model::{HostModel, KernelSource, Schedule, skip};
use tilewright_ops::conv::{
    Conv2d, Fusing, Multiprocessor, Pass, Precision, Problem, RowConfig, WeightConfig, row_kernel_with,
    weight_kernels_with,
};

/// Number `i` of images for a pass, and the operands with it: every second one may be infinite.
fn image(problem: &Problem, pass: Pass, i: usize) -> (Source, Operands) {
    let (seed, extents) = (i as u64, read_extents(problem, pass));
    let (source, mut operands) = if i.is_multiple_of(2) {
        (Source::Mixed(Parts::random(extents, seed)), Operands::random(problem, seed))
    } else {
        let mut operands = Operands::not_finite(problem, seed);
        (Source::Planes { extents, values: read_by(pass, &mut operands).clone() }, operands)
    };
    *read_by(pass, &mut operands) = source.stand_in(problem.precision);
    (source, operands)
}

fn right(name: &str, problems: &[Problem], sm: Multiprocessor) {
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let mut r = Random(101);
    let cases: Vec<_> = problems
        .iter()
        .enumerate()
        .map(|(i, problem)| {
            let pass = [Pass::Forward, Pass::GradInput][i / 2 % 2];
            let (source, operands) = image(problem, pass, i);
            let function = source.function(problem.precision);
            // A third of them has an expression behind it, too.
            let written = if i % 3 == 0 { [Precision::F16, Precision::F32][i / 3 % 2] } else { problem.precision };
            let behind = (i % 3 == 0).then(|| fused::function(problem, pass, written));
            let fusing = Fusing { image: Some(&function.inlined), epilogue: behind.as_ref().map(|it| &it.1), written };
            let (config, kernel) = random_with(&mut r, (problem, pass), sm, fusing);
            // Where the ring has as many places as warps evaluate, each has a step of its own: half of the cases, where that is legal.
            let eight = RowConfig { step: 1, slots: 8, ..config };
            let of_eight =
                || row_kernel_with(problem, pass, eight, sm, true, fusing).ok().map(|kernel| (eight, kernel));
            let made = (i % 2 == 1).then(of_eight).flatten().unwrap_or((config, kernel));
            ((problem, pass, written), operands, function, behind, made)
        })
        .collect();
    let sources: Vec<KernelSource<'_>> =
        cases.iter().map(|(.., (_, kernel))| KernelSource { name: "conv2d", text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for (number, ((problem, pass, written), operands, function, behind, (config, kernel))) in cases.iter().enumerate() {
        assert!(kernel.read.is_none(), "the copy engine has nothing to read");
        let (seed, pass) = (number as u64, *pass);
        let beside = Beside::random(problem, pass, seed);
        let extents = fused::written_extents(problem, pass);
        let behind = behind.as_ref().map(|behind| fused::parameters(extents, *written, behind, &beside));
        let exact = match &behind {
            Some(_) => beside.of((problem, pass), operands.exact(pass)),
            None => operands.exact(pass),
        };
        // What stands where the image would is not to be read.
        let mut without = operands.clone();
        read_by(pass, &mut without).fill(f32::NAN);
        for schedule in [Schedule::Forward, Schedule::Backward, Schedule::Shuffled(seed)] {
            let parameters = function.parameters();
            let expressions = [behind.as_ref().map_or(NONE[0], |it| &it.0), &parameters];
            let mut out = vec![POISON; extents.iter().product()];
            run((&model, number), kernel, schedule, &without, pass, (*written, expressions), &mut out);
            let what = format!("{pass:?}, {config:?}, {schedule:?}, {problem:?} as {written:?}");
            compare(&what, *written, accuracy(problem.precision), &out, &exact);
        }
    }
}

#[test]
fn beside_the_copy_engine() {
    right("read::beside_the_copy_engine", &[chosen(), problems(111, 12)].concat(), HOPPER);
}

#[test]
fn by_threads_alone() {
    right("read::by_threads_alone", &problems(112, 12), AMPERE);
}

/// Through NVRTC, to machine code: a layer of a real network, whose expression takes no more registers than its products, and small ones,
/// with expressions on both sides.
#[test]
fn kernels_compile_and_do_not_spill() {
    if toolkit::nvrtc().is_err() {
        return skip("conv::read::kernels_compile_and_do_not_spill", "no NVRTC");
    }
    let extents = [128, 56, 56, 128];
    let layer = Problem::of_forward(extents, [128, 3, 3, 8], Precision::F16, &Conv2d::new().padding(1)).unwrap();
    let config = RowConfig {
        strips: 4,
        warp_strips: 1,
        images: 1,
        items: 2,
        columns: 56,
        rows: 14,
        tiles: 2,
        step: 1,
        slots: 4,
        whole_rows: true,
    };
    let parts = || Parts { extents, ..Parts::random([1, 56, 56, 128], 1) };
    for pass in [Pass::Forward, Pass::GradInput] {
        let function = Source::Mixed(parts()).function(Precision::F16);
        let fusing = Fusing { image: Some(&function.inlined), ..Fusing::nothing(Precision::F16) };
        let uses = resources(&row_kernel_with(&layer, pass, config, HOPPER, false, fusing).unwrap(), Arch::new(9, 0));
        assert!(uses.registers <= 80 && uses.spill_store_bytes + uses.spill_load_bytes == 0, "{pass:?}: {uses:?}");
    }
    let config = WeightConfig { strips: 4, images: 1, items: 4, columns: 56, rows: 14, tiles: 2, slots: 4 };
    let function = Source::Mixed(parts()).function(Precision::F16);
    for expressions in [[Some(&function.inlined), None], [Some(&function.inlined); 2]] {
        let (kernel, _) = weight_kernels_with(&layer, config, HOPPER, expressions).unwrap();
        let uses = resources(&kernel, Arch::new(9, 0));
        assert!(uses.registers <= 128 && uses.spill_store_bytes + uses.spill_load_bytes == 0, "{uses:?}");
    }
    let mut r = Random(103);
    for (i, problem) in chosen().iter().enumerate().take(6) {
        let pass = [Pass::Forward, Pass::GradInput][i % 2];
        let (sm, arch) = [(HOPPER, Arch::new(9, 0)), (AMPERE, Arch::new(8, 0))][i / 2 % 2];
        let function = image(problem, pass, i).0.function(problem.precision);
        let behind = fused::function(problem, pass, problem.precision);
        let fusing = Fusing { image: Some(&function.inlined), epilogue: Some(&behind.1), written: problem.precision };
        let (config, kernel) = random_with(&mut r, (problem, pass), sm, fusing);
        let uses = resources(&kernel, arch);
        // The compiler keeps a register's worth in memory, now and then, though there are more.
        assert!(uses.spill_store_bytes <= 4, "{arch:?}, {pass:?}, {config:?}, {problem:?}: {uses:?}");
    }
}

/// Warps that take steps in turn come round no sooner than the ring.
#[test]
fn a_ring_has_a_place_for_each_warp_that_evaluates() {
    let problem = chosen()[0];
    let function = Source::Mixed(Parts::random(problem.input_extents(), 1)).function(problem.precision);
    let fusing = Fusing { image: Some(&function.inlined), ..Fusing::nothing(problem.precision) };
    let (config, _) = random_with(&mut Random(107), (&problem, Pass::Forward), AMPERE, fusing);
    let of = |slots| row_kernel_with(&problem, Pass::Forward, RowConfig { slots, ..config }, AMPERE, false, fusing);
    assert!(of(4).is_ok());
    let error = of(3).unwrap_err().to_string();
    assert!(error.contains("`slots` is 3, allowed are 4 to 16 where"), "{error}");
    let config = WeightConfig { strips: 1, images: 1, items: 1, columns: 8, rows: 1, tiles: 1, slots: 3 };
    let of = |config| weight_kernels_with(&problem, config, AMPERE, [None, Some(&function.inlined)]).map(drop);
    assert!(of(WeightConfig { slots: 4, ..config }).is_ok());
    assert!(of(config).unwrap_err().to_string().contains("`slots` is 3, allowed are 4"));
}
