//! Products of a sweep beside an H200 with 16 cores, 2026-11-24, for which the wrong side had been chosen.

use tilewright_hybrid::Side;
use tilewright_hybrid::dispatch::{At, Choice, Decision, Flops, Job, Processor, ProductExtents, Rates, Unit};

const ALL: [At; 3] = [At::Pageable; 3];
const LEFT_THERE: [At; 3] = [At::Gpu, At::Pageable, At::Pageable];

/// Of that machine, inferred from what these very points took: they are no proof of the model, but keep it from drifting away.
fn rates() -> Rates {
    let mut rates = Rates::h200();
    rates.cpu.flops = Flops { f64: 660e9, f32: 1.3e12, tf32: 1.3e12, half: 650e9 };
    rates.alone = Flops { f64: 44e9, f32: 88e9, tf32: 88e9, half: 44e9 };
    (rates.cpu.memory, rates.cpu.start) = (150e9, 150e-6);
    if let Some(gpu) = &mut rates.gpu {
        (gpu.link.pageable, gpu.link.pageable_back) = (15.5e9, 0.7 * 15.5e9);
    }
    rates
}

fn job(element: (&'static str, usize, Unit), [rows, columns, depth]: [usize; 3], at: [At; 3]) -> Job {
    Job::matmul(element, ProductExtents { rows, columns, depth }, at, false).unwrap()
}

fn decided(element: (&'static str, usize, Unit), extents: [usize; 3], at: [At; 3]) -> Decision {
    Decision::of(&job(element, extents, at), Choice::Auto, &rates(), 100 << 30).unwrap()
}

const F32: (&str, usize, Unit) = ("f32", 4, Unit::F32);
const F64: (&str, usize, Unit) = ("f64", 8, Unit::F64);

/// Threads share these as they did when they were timed: microseconds on the CPU and on the GPU.
#[test]
fn points_that_were_timed_on_both_sides() {
    let points = [
        (F64, [81, 98, 468], LEFT_THERE, 197.0, 67.0),
        (F32, [66, 365, 313], ALL, 191.0, 92.0),
        (F32, [54, 781, 302], LEFT_THERE, 197.0, 141.0),
        (F32, [221, 3531, 149], LEFT_THERE, 284.0, 725.0),
        (F32, [2323, 281, 196], ALL, 259.0, 464.0),
        (F32, [608, 542, 104], LEFT_THERE, 234.0, 390.0),
        (F64, [3583, 135, 53], LEFT_THERE, 499.0, 676.0),
        (F64, [4810, 1939, 187], ALL, 5489.0, 6364.0),
        // By one thread, then as now.
        (F64, [19, 1, 721], LEFT_THERE, 44.0, 26.0),
    ];
    for (element, extents, at, cpu, gpu) in points {
        let decision = decided(element, extents, at);
        let expected = [(decision.cpu.wall, cpu), (decision.gpu.unwrap().cost.wall, gpu)];
        for (expected, took) in expected {
            assert!((0.5..2.0).contains(&(expected * 1e6 / took)), "{extents:?}: {took} us, {decision}");
        }
        let chosen = if decision.side == Side::Gpu { gpu } else { cpu };
        assert!(chosen <= 1.3 * cpu.min(gpu), "{extents:?}: {chosen} us, {decision}");
    }
}

/// Threads share these in another way since, and nobody has timed that on 16 cores: only the GPU's times are compared.
#[test]
fn points_that_were_timed_on_the_gpu() {
    let points = [
        (F64, [87, 247, 4353], ALL, 802.0),
        (F64, [176, 59, 2996], ALL, 361.0),
        (F32, [7, 34, 4751], LEFT_THERE, 93.0),
        (F32, [452, 3, 44], LEFT_THERE, 23.0),
        (F32, [369, 32, 80], LEFT_THERE, 36.0),
        (F32, [10, 29, 639], LEFT_THERE, 40.0),
        (F32, [35, 24, 201], LEFT_THERE, 29.0),
    ];
    for (element, extents, at, gpu) in points {
        let decision = decided(element, extents, at);
        let expected = decision.gpu.unwrap().cost.wall * 1e6;
        assert!((0.75..1.35).contains(&(expected / gpu)), "{extents:?}: {gpu} us, {decision}");
    }
    // Of long sums each thread has some, where one alone takes 4 ms.
    let long = decided(F64, [87, 247, 4353], ALL);
    assert!(long.side == Side::Cpu && long.cpu.compute < 0.5e-3, "{long}");
}

/// Halves go through a GPU as f32, which TF32 multiplies; f32 that is rounded to halves does not.
#[test]
fn streamed_halves_are_multiplied_in_tf32() {
    let seconds = |element, unit| {
        let extents = ProductExtents { rows: 20_000, columns: 20_000, depth: 20_000 };
        let job = Job::matmul((element, 4, unit), extents, ALL, false).unwrap();
        let gpu = Decision::of(&job, Choice::Gpu, &rates(), 1 << 30).unwrap().gpu.unwrap();
        assert!(gpu.tiles.is_some());
        gpu.cost.compute
    };
    let tf32 = seconds("f32", Unit::Tf32);
    assert_eq!([seconds("f16", Unit::Half), seconds("bf16", Unit::Half)], [tf32; 2]);
    assert!(seconds("f32", Unit::Half) < tf32);
}

#[test]
fn a_product_is_as_fast_as_its_shape_lets_it_be() {
    let seconds = |element, extents| decided(element, extents, ALL).cpu.compute;
    let near = |got: f64, expected: f64| (got / expected - 1.0).abs() < 1e-9;
    // One core's below four million operations, then all, after the start.
    assert!(near(seconds(F64, [64; 3]), 2.0 * 64.0 * 64.0 * 66.5 / 44e9));
    assert!(near(seconds(F64, [512; 3]), 150e-6 + 2.0 * 512.0 * 512.0 * 514.5 / 660e9));
    // Parts of 256 products, for more threads there is nothing.
    assert!(near(seconds(F64, [128, 128, 600]), 150e-6 + 2.0 * 128.0 * 128.0 * 602.5 / 88e9));
    // Two rows take as long as a vector of them; two columns as long as one core reads.
    assert_eq!(seconds(F32, [2, 100, 500]), seconds(F32, [16, 100, 500]));
    assert!(near(seconds(F32, [100, 2, 500]), 4.0 * (100.0 * 500.0 + 2.0 * 500.0 + 100.0 * 2.0) / 40e9));
    // So does a row, along which there are lanes.
    assert!(near(seconds(F32, [1, 100, 500]), 4.0 * (100.0 * 500.0 + 500.0 + 100.0) / 40e9));
    // What lies on the GPU is waited for, and threads sleep meanwhile.
    let asleep = Rates { cpu: Processor { start: 0.0, ..rates().cpu }, ..rates() };
    let of = |at| Decision::of(&job(F64, [512; 3], at), Choice::Auto, &asleep, 100 << 30).unwrap().cpu.compute;
    assert!(near(of(LEFT_THERE) - of(ALL), 100e-6));
    // Integers are not faer's, and their rate is what was measured.
    let integer = decided(("i8", 1, Unit::Integer), [64; 3], ALL).cpu.compute;
    assert!(near(integer, 2.0 * 64f64.powi(3) / 650e9), "{integer}");
    // No size panics: these have no elements.
    assert!(seconds(F64, [usize::MAX, 0, 0]).is_finite() && seconds(F64, [0, 0, usize::MAX]).is_finite());
}
