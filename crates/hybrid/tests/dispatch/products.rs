//! Products that were timed beside an H200 with 16 cores.

use tilewright_hybrid::Side;
use tilewright_hybrid::dispatch::{
    Accelerator, At, Choice, Decision, Flops, Job, Link, Processor, ProductExtents, Rates, Tiling, Unit,
};

const ALL: [At; 3] = [At::Pageable; 3];
const LEFT_THERE: [At; 3] = [At::Gpu, At::Pageable, At::Pageable];

/// Of such a machine, 2026-11-24, roughly.
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

/// Of the host of the points below, 2026-11-29. Its rates from and to ordinary memory are inferred from what copies took, so that points are no proof of the model, but keep it from drifting away.
fn host() -> Rates {
    let mut rates = rates();
    rates.cpu.flops = Flops { f64: 508e9, f32: 949e9, tf32: 949e9, half: 475e9 };
    rates.alone = Flops { f64: 58e9, f32: 139e9, tf32: 139e9, half: 70e9 };
    rates.cpu = Processor { memory: 426e9, call: 2e-6, start: 16.7e-6, ..rates.cpu };
    if let Some(Accelerator { processor, link, .. }) = &mut rates.gpu {
        processor.flops = Flops { f64: 51.4e12, f32: 40.8e12, ..processor.flops };
        (processor.memory, processor.call) = (2.2e12, 13.5e-6);
        let (to_gpu, to_host, pageable, pageable_back) = (46.7e9, 51.7e9, 15e9, 11.5e9);
        *link = Link { to_gpu, to_host, pageable, pageable_back, call_to_gpu: 7.8e-6, call_to_host: 11.9e-6, ..*link };
    }
    rates
}

/// Products of 1577 that were timed on both sides there, of those that take nearly as long on either: microseconds on the CPU and on the GPU.
#[test]
fn points_that_were_timed_on_both_sides() {
    const ALL_THERE: [At; 3] = [At::Gpu; 3];
    const LOCKED: [At; 3] = [At::Pinned; 3];
    const LEFT_LOCKED: [At; 3] = [At::Pinned, At::Pageable, At::Pageable];
    let points = [
        (F32, [3, 4073, 10], ALL, 43.6, 74.5),
        (F32, [312, 500, 1172], ALL, 426.0, 354.7),
        (F32, [18, 1914, 1914], ALL, 309.6, 668.4),
        (F32, [3123, 9, 4286], ALL, 838.0, 2059.1),
        (F32, [12, 685, 17], ALL_THERE, 44.7, 20.4),
        (F32, [10, 3, 1070], ALL_THERE, 36.1, 20.5),
        (F64, [4, 32, 66], ALL_THERE, 37.3, 20.6),
        (F64, [3, 24, 1058], ALL_THERE, 48.0, 24.2),
        (F64, [100, 1, 282], LEFT_THERE, 26.6, 36.2),
        (F64, [22, 2, 1173], LEFT_THERE, 29.1, 44.6),
        (F64, [887, 37, 333], LEFT_THERE, 146.3, 72.5),
        (F64, [28, 2806, 1822], LEFT_THERE, 786.6, 1828.9),
        (F32, [1, 3454, 2], LOCKED, 24.4, 39.1),
        (F32, [20, 447, 668], LOCKED, 41.7, 81.1),
        (F64, [146, 2, 3261], LOCKED, 61.0, 139.3),
        (F64, [2801, 4170, 1], LOCKED, 1130.9, 1857.0),
        (F32, [4, 4608, 1], LEFT_LOCKED, 28.4, 55.4),
        (F64, [115, 99, 347], LEFT_LOCKED, 41.3, 101.1),
        (F32, [366, 2385, 97], LEFT_LOCKED, 192.9, 394.9),
        (F64, [3434, 58, 2519], LEFT_LOCKED, 2782.7, 1633.8),
    ];
    for (element, extents, at, cpu, gpu) in points {
        let mut job = Job { tiling: Tiling::AsNeeded, ..job(element, extents, at) };
        if at == LOCKED {
            // What was timed lies row by row, and its factors do not.
            let [rows, columns, depth] = extents;
            job.product = Some((ProductExtents { rows: columns, columns: rows, depth }, element.1));
            job.turned = [true; 2];
        }
        let decision = Decision::of(&job, Choice::Auto, &host(), 100 << 30).unwrap();
        let expected = [(decision.cpu.wall, cpu), (decision.gpu.as_ref().unwrap().cost.wall, gpu)];
        for (expected, took) in expected {
            assert!((0.7..1.43).contains(&(expected * 1e6 / took)), "{extents:?}: {took} us, {decision}");
        }
        assert_eq!(decision.side, if gpu < cpu { Side::Gpu } else { Side::Cpu }, "{extents:?}: {decision}");
    }
}

/// Threads share these in another way since, and nobody has timed that on 16 cores: only the GPU's times are compared.
#[test]
fn points_that_were_timed_on_the_gpu() {
    let points = [
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
    assert!(long.cpu.compute < 0.7e-3, "{long}");
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
    // One core's operations, its passes over the result and both factors, and tiles of 24 by 8.
    let passes = 64.0 * 64.0 * 8.0 * (1.0 / 30e9 + 1.0 / 45e9 + 1.0 / 62e9);
    assert!(near(seconds(F64, [64; 3]), 2.0 * 64f64.powi(3) / 44e9 + passes + 24.0 * 45e-9));
    // All cores', after the start: of little in parts, of much as they share it.
    let all = |size: f64| 150e-6 + 2.0 * size.powi(3) / 660e9;
    assert!((1.0..1.3).contains(&(seconds(F64, [512; 3]) / all(512.0))), "{}", seconds(F64, [512; 3]));
    assert!(near(seconds(F64, [4096; 3]), all(4096.0)));
    // Long sums: a sixteenth, the reading of factors that no cache holds, and four times what is added two by two.
    let long = seconds(F64, [16, 16, 80_000]) - 150e-6;
    let part = 2.0 * 16.0 * 16.0 * 5000.0 / (660e9 / 16.0);
    assert!((part + 40e-6..4.0 * part).contains(&long), "{long}");
    // Two rows take as long as a vector of them, less what is read.
    assert!(seconds(F32, [2, 100, 500]) > 0.7 * seconds(F32, [16, 100, 500]));
    // Vectors take as long as the matrix is read, line by line.
    assert!(near(seconds(F32, [100, 1, 500]), 4.0 * 100.0 * 500.0 / 45e9 + 500.0 * 3.5e-9));
    assert!(seconds(F32, [4000, 1, 1000]) < 150e-6 + 0.2 * 4.0 * 4000.0 * 1000.0 / 22e9 + 40e-6);
    // What lies on the GPU is waited for, and threads sleep meanwhile: the longer, the more of them.
    let asleep = Rates { cpu: Processor { start: 0.0, ..rates().cpu }, ..rates() };
    let of = |at, depth| Decision::of(&job(F64, [512, 512, depth], at), Choice::Auto, &asleep, 100 << 30).unwrap().cpu;
    let slept = [600, 6000].map(|depth| of(LEFT_THERE, depth).compute - of(ALL, depth).compute);
    assert!(slept[0] > 40e-6 && slept[1] > slept[0] && slept[1] < 100e-6, "{slept:?}");
    // Integers are not faer's, and their rate is what was measured.
    let integer = decided(("i8", 1, Unit::Integer), [64; 3], ALL).cpu.compute;
    assert!(near(integer, 2.0 * 64f64.powi(3) / 650e9), "{integer}");
    // No size panics: these have no elements.
    assert!(seconds(F64, [usize::MAX, 0, 0]).is_finite() && seconds(F64, [0, 0, usize::MAX]).is_finite());
}
