//! Products of bit matrices on one core of the CPU, each path; AND and addition count as two operations an element.
#![allow(missing_docs, reason = "criterion's macros make functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tilewright_hybrid::bits::{BitMatrix, Path, Product, closure::closure};

const SIZE: usize = 8192;

fn one_core() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread")
}

fn random(seed: u64) -> BitMatrix {
    BitMatrix::random(SIZE, SIZE, 0.5, seed).expect("memory for 8 MiB")
}

fn products(criterion: &mut Criterion) {
    let (pool, left, right) = (one_core(), random(1), random(2));
    let mut group = criterion.benchmark_group(format!("bits/{SIZE}"));
    group.sample_size(10).throughput(Throughput::Elements(2 * (SIZE as u64).pow(3)));
    for path in Path::ALL.into_iter().filter(|path| path.is_supported()) {
        let rows = Product::of_rows(&left, &right).and_then(|product| product.on(path)).expect("equal columns");
        let plain = Product::of(&left, &right).and_then(|product| product.on(path)).expect("equal sizes");
        group.bench_function(format!("more_than/{path:?}"), |b| pool.install(|| b.iter(|| rows.more_than(2048))));
        group.bench_function(format!("counts/{path:?}"), |b| pool.install(|| b.iter(|| rows.counts())));
        group.bench_function(format!("parities/{path:?}"), |b| pool.install(|| b.iter(|| plain.parities())));
    }
    group.finish();
}

fn others(criterion: &mut Criterion) {
    let (pool, bits) = (one_core(), random(3));
    let sparse = BitMatrix::random(SIZE, SIZE, 1.0 / 4096.0, 4).expect("memory for 8 MiB");
    let mut group = criterion.benchmark_group(format!("bits/{SIZE}"));
    group.sample_size(10);
    group.bench_function("transposed", |b| pool.install(|| b.iter(|| bits.transposed())));
    group.bench_function("closure", |b| pool.install(|| b.iter(|| closure(&sparse))));
    group.finish();
}

criterion_group!(benches, products, others);
criterion_main!(benches);
