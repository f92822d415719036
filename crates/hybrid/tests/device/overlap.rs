//! Copies and products at the same time: timed where there is a GPU. On stubs, which take no time, the same products are small, and right.

use super::matrix;
use std::time::Instant;
use tilewright_driver::PinnedBuffer;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{
    Accelerator, Choice, Flops, Link, Processor, ProductExtents, Rates, Tiles, Trace, Unit, last_decision,
};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::store::{Extents, PinnedSink, PinnedSource, Sink};
use tilewright_hybrid::stream::{self, Budgets, Control, Factor, MatmulPlan, MatmulTime, Product, STAGES};
use tilewright_hybrid::{Columns, Device, MatRef, Rows, Shape, Target};

/// Whole numbers, other than zeros, again and again: sums of their products are exact, and a GPU takes its full power for them.
fn locked(gpu: &Gpu, size: usize) -> PinnedBuffer<f64> {
    let block = matrix(size.min(512), size, 1).into_raw_vec_and_offset().0;
    let mut buffer = gpu.stream().device().pinned(size * size).unwrap();
    buffer.chunks_mut(block.len()).for_each(|part| part.copy_from_slice(&block[..part.len()]));
    buffer
}

/// Some rows of `a b` as they should be.
fn is_product(size: usize, [a, b, c]: [&[f64]; 3]) {
    for i in [0, size / 3, size - 1] {
        let mut row = vec![0.0; size];
        for (k, factor) in a[i * size..][..size].iter().enumerate() {
            row.iter_mut().zip(&b[k * size..][..size]).for_each(|(sum, b)| *sum += factor * b);
        }
        assert_eq!(c[i * size..][..size], row, "row {i} of {size}");
    }
}

/// What a plan takes by the rates of its own products, with all operands there, and of the link.
fn expected(gpu: &Gpu, link: Link, plan: &MatmulPlan) -> MatmulTime {
    let ([rows, columns], depth) = (plan.tile, plan.panel);
    let values = matrix(depth, rows.max(columns), 1).into_raw_vec_and_offset().0;
    let part = |rows: usize, columns: usize| {
        let part = MatRef::column_major(&values[..rows * columns], Rows(rows), Columns(columns)).unwrap();
        DeviceMat::upload(gpu, part).unwrap()
    };
    // What lies row by row is, column by column, the transposed matrix.
    let (b, a) = (part(columns, depth), part(depth, rows));
    let mut c = DeviceMat::uninitialised(gpu, Shape::new(Rows(columns), Columns(rows))).unwrap();
    let mut product = |beta| gpu.matmul(Precision::Auto, 1.0, b.view(), a.view(), beta, &mut c).unwrap();
    product(0.0);
    // As many as the plan has: clocks follow power and warmth.
    let count = plan.counts().into_iter().product::<usize>().max(1);
    let begin = gpu.stream().record().unwrap();
    (0..count).for_each(|_| product(1.0));
    let end = gpu.stream().record().unwrap();
    end.synchronize().unwrap();
    let seconds = f64::from(end.elapsed_ms_since(&begin).unwrap()).max(1e-6) / 1e3;
    let rate = count as f64 * 2.0 * rows as f64 * columns as f64 * depth as f64 / seconds;
    let flops = Flops { f64: rate, f32: rate, tf32: rate, half: rate };
    let processor = Processor { flops, memory: f64::INFINITY, call: 0.0, start: 0.0 };
    let ProductExtents { rows, columns, depth } = plan.extents;
    let all = 2.0 * rows as f64 * columns as f64 * depth as f64;
    plan.time(&Accelerator { processor, link }, Unit::F64, all, false)
}

fn is_stub() -> bool {
    std::env::var_os(crate::linear::GPU_ALONE).is_some()
}

/// A trace of it, for a browser, goes where results go.
fn keep(trace: &Trace, name: &str) {
    if let Some(folder) = std::env::var_os("TILEWRIGHT_OUT") {
        trace.write(&std::path::Path::new(&folder).join(name)).unwrap();
    }
}

/// A quarter of what the case has in bytes, in a quarter of the memory: as many tiles.
#[test]
fn g6_copies_run_beside_products() {
    let Some(gpu) = crate::gpu("device::overlap::g6_copies_run_beside_products") else { return };
    let (size, bytes) = if is_stub() { (96, 100 << 10) } else { (24_576, 2 << 30) };
    let (a, b, mut c) = (locked(&gpu, size), locked(&gpu, size), locked(&gpu, size));
    let budgets =
        Budgets { device: Budget::new(Memory::Device, bytes), pinned: Budget::new(Memory::Pinned, 256 << 20) };
    let link = if is_stub() { Rates::h200().gpu.unwrap().link } else { Device::with(&gpu).rates().gpu.unwrap().link };
    let device = Device::with(&gpu).rated(Rates::h200()).within(budgets.clone()).choosing(Choice::Gpu);
    let device = device.guarded(Breaker::new(0, Settings::default()));
    let extents = Extents::new(size, size);
    let trace = Trace::begin();
    let mut wall = f64::INFINITY;
    // The first has slots locked.
    for _ in 0..2 {
        c.fill(f64::NAN);
        let (of_a, of_b) = (PinnedSource::new(&a, extents).unwrap(), PinnedSource::new(&b, extents).unwrap());
        let target: Target<'_, f64> = Target::from(PinnedSink::new(&mut c, extents).unwrap());
        let begin = Instant::now();
        device.matmul(Precision::Auto, 1.0, (&of_a).into(), (&of_b).into(), 0.0, target).unwrap();
        wall = wall.min(begin.elapsed().as_secs_f64());
    }
    is_product(size, [&a, &b, &c]);
    assert!(budgets.device.peak() <= bytes && budgets.device.used() == 0);
    let text = trace.json();
    assert!(text.contains("decided: gpu.matmul.f64") && text.contains("\"gpu.matmul.f64\""), "it leaves a trace");
    keep(&trace, "overlap.json");
    let Some(Tiles::Product(plan)) = last_decision().unwrap().gpu.unwrap().tiles else { panic!("in tiles") };
    let MatmulTime { compute, to_gpu, to_host, .. } = expected(&gpu, link, &plan);
    if is_stub() {
        return;
    }
    let (sum, most) = (compute + to_gpu + to_host, compute.max(to_gpu).max(to_host));
    let overlap = (sum - wall) / (sum - most);
    eprintln!("{plan:?}: {wall} s, products {compute}, copies {to_gpu} and {to_host}: overlap {overlap:.3}");
    assert!(overlap >= 0.94 && wall <= 1.10 * most, "overlap {overlap:.3}, {wall} s of {most} s");
}

/// The rate of tiles of any height is that of the products, or that at which the link brings what they are made of.
#[test]
fn g9_rates_by_tile_follow_the_roofline() {
    let Some(gpu) = crate::gpu("device::overlap::g9_rates_by_tile_follow_the_roofline") else { return };
    let (size, panel, heights) =
        if is_stub() { (64, 16, &[8, 16, 32][..]) } else { (16_384, 1024, &[512, 1024, 2048, 4096, 8192][..]) };
    let (a, b, mut c) = (locked(&gpu, size), locked(&gpu, size), locked(&gpu, size));
    let link = if is_stub() { Rates::h200().gpu.unwrap().link } else { Device::with(&gpu).rates().gpu.unwrap().link };
    let (extents, whole) = (ProductExtents { rows: size, columns: size, depth: size }, Extents::new(size, size));
    for &height in heights {
        let plan = MatmulPlan { extents, element_bytes: 8, tile: [height, size], panel, stages: STAGES };
        let (of_a, of_b) = (PinnedSource::new(&a, whole).unwrap(), PinnedSource::new(&b, whole).unwrap());
        let factors = (Factor::plain(&of_a), Factor::plain(&of_b));
        let product = Product { a: factors.0, b: factors.1, c: None, alpha: 1.0, beta: 0.0 };
        let budgets = Budgets {
            device: Budget::new(Memory::Device, plan.device_bytes() as u64),
            pinned: Budget::new(Memory::Pinned, 64 << 20),
        };
        let mut wall = f64::INFINITY;
        for _ in 0..2 {
            c.fill(f64::NAN);
            let sink = PinnedSink::new(&mut c, whole).unwrap();
            let begin = Instant::now();
            stream::matmul_by(&plan, &gpu, &budgets, Precision::Auto, &product, &sink, Control::default()).unwrap();
            wall = wall.min(begin.elapsed().as_secs_f64());
            Box::new(sink).commit().unwrap();
        }
        is_product(size, [&a, &b, &c]);
        let MatmulTime { compute, to_gpu, to_host, .. } = expected(&gpu, link, &plan);
        let roof = compute.max(to_gpu).max(to_host);
        eprintln!("{height} rows: {wall} s, the roof {roof} s ({compute}, {to_gpu}, {to_host})");
        assert!(is_stub() || (wall / roof - 1.0).abs() <= 0.15, "{height} rows: {wall} s, the roof {roof} s");
    }
}
