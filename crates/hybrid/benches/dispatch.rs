//! How long a decision takes: of a small product, of one that is streamed, of a factorisation, with its record, and while somebody records. And
//! a small product with all that is about it, on the CPU.
#![allow(missing_docs, reason = "criterion's macros make functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use std::hint::black_box;
use tilewright_hybrid::dispatch::{At, Choice, Decision, Job, ProductExtents, Rates, Trace, Unit, Verb, decide};
use tilewright_hybrid::linear::Precision;
use tilewright_hybrid::{Columns, Device, Rows, Shape};

const BUDGET: u64 = 8 << 30;

fn product(side: usize) -> Job {
    let extents = ProductExtents { rows: side, columns: side, depth: side };
    Job::matmul(("f64", 8, Unit::F64), extents, [At::Pageable; 3], false).expect("it can be counted")
}

fn system(side: usize) -> Job {
    Job::verb::<f64>(Verb::Solve, Shape::new(Rows(side), Columns(side)), Columns(1)).expect("it can be counted")
}

fn decisions(criterion: &mut Criterion) {
    let rates = Rates::h200();
    let mut group = criterion.benchmark_group("dispatch");
    for (name, side, job) in
        [("matmul", 1024, product as fn(usize) -> Job), ("matmul, streamed", 32_768, product), ("solve", 8192, system)]
    {
        group.bench_function(format!("{name}/{side}"), |b| {
            b.iter(|| Decision::of(&job(black_box(side)), Choice::Auto, &rates, BUDGET));
        });
    }
    group.bench_function("matmul, with its record/1024", |b| {
        b.iter(|| decide(&product(black_box(1024)), Choice::Auto, &rates, BUDGET));
    });
    let device = Device::cpu().choosing(Choice::Auto).rated(rates);
    let shape = |side| Shape::new(Rows(side), Columns(side));
    group.bench_function("plan_matmul/1024", |b| {
        b.iter(|| device.plan_matmul::<f64>(Precision::Auto, [shape(black_box(1024)); 2], false));
    });
    let factor = Array2::<f64>::ones((16, 16));
    let mut result = factor.clone();
    group.bench_function("matmul, and what it computes/16", |b| {
        let multiply = |c: &mut Array2<f64>| {
            device.matmul(Precision::Auto, 1.0, (&factor).into(), (&factor).into(), 0.0, c.into())
        };
        b.iter(|| multiply(black_box(&mut result)));
    });
    let trace = Trace::begin();
    group.bench_function("matmul, traced/1024", |b| {
        b.iter(|| decide(&product(black_box(1024)), Choice::Auto, &rates, BUDGET));
    });
    drop(trace);
    group.finish();
}

criterion_group!(benches, decisions);
criterion_main!(benches);
