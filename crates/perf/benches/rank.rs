//! The time to choose: features and predictions of 400 candidates by three seeds, on one core.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tilewright_perf::dataset::named;
use tilewright_perf::synthetic::Synthetic;
use tilewright_perf::training::{Examples, Operation, Plan, train};
use tilewright_perf::{DeviceFacts, Work};

const CANDIDATES: usize = 400;

fn rank(criterion: &mut Criterion) {
    let device = DeviceFacts::h200();
    let rows = Synthetic.rows(100, 40, 3);
    let examples = Examples::of(&Synthetic, &rows, std::slice::from_ref(&device)).expect("rows are legal");
    let model = train(&Synthetic, &examples, &Plan::default(), "2026-11-22").expect("rows suffice");
    let problem = named([("m", 1000), ("n", 3000), ("k", 2048)]);
    let legal = Synthetic.configurations(&problem, &device);
    let work = |configuration| Synthetic.work(&problem, configuration, &device).expect("legal");
    let works: Vec<Work> = legal.iter().cycle().take(CANDIDATES).map(work).collect();
    eprintln!("{:?} trees, {} features", model.trees(), model.features().count());
    criterion.bench_function("rank 400 candidates", |bencher| {
        bencher.iter(|| model.rank(black_box(&device), works.len(), |index| works[index]).expect("legal"));
    });
    let mut row = vec![0.0; model.features().count()];
    criterion.bench_function("features of 400 candidates", |bencher| {
        bencher.iter(|| {
            works
                .iter()
                .map(|work| model.features().fill(black_box(work), &device, &mut row).expect("legal"))
                .sum::<f32>()
        });
    });
}

criterion_group!(benches, rank);
criterion_main!(benches);
