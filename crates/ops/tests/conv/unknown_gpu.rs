//! GPUs that were not measured: the model of the nearest architecture chooses, with their own sizes and bandwidths.

use tilewright_ops::conv::{
    Conv2d, Multiprocessor, Pass, Precision, Problem, RowOperation, WeightOperation, row_kernel, weight_kernels,
};
use tilewright_perf::dataset::Named;
use tilewright_perf::device::Rates;
use tilewright_perf::training::Operation;
use tilewright_perf::{DeviceFacts, Models, Source};

/// Candidates of which a model chooses.
const RANKED: usize = 32;

/// By its data sheet: 936 GB/s, of which a copy reaches nine tenths.
fn rtx_3090() -> DeviceFacts {
    DeviceFacts {
        name: "NVIDIA GeForce RTX 3090".into(),
        architecture: 86,
        multiprocessors: 82.0,
        memory_bandwidth: 0.9 * 936e9,
        l2_bandwidth: 6.5e12 * 82.0 / 132.0,
        l2_bytes: 6.0 * f64::from(1 << 20),
        rates: Rates::of_architecture(86),
        shared_bytes: 102_400.0,
        shared_bytes_per_block: 101_376.0,
        threads: 1536.0,
        blocks: 16.0,
        ..DeviceFacts::h200()
    }
}

/// The one with 40 GB: 1555 GB/s.
fn a100() -> DeviceFacts {
    DeviceFacts {
        name: "NVIDIA A100-SXM4-40GB".into(),
        architecture: 80,
        multiprocessors: 108.0,
        memory_bandwidth: 0.9 * 1555e9,
        l2_bandwidth: 6.5e12 * 108.0 / 132.0,
        l2_bytes: 40.0 * f64::from(1 << 20),
        rates: Rates::of_architecture(80),
        shared_bytes: 167_936.0,
        shared_bytes_per_block: 166_912.0,
        ..DeviceFacts::h200()
    }
}

fn layers() -> [Problem; 4] {
    let layer = |x: [usize; 4], taps: usize, group, precision, stride: usize| {
        let params = Conv2d::new().padding(taps / 2).stride(stride);
        Problem::of_forward(x, [x[3], taps, taps, group], precision, &params).unwrap()
    };
    [
        layer([32, 56, 56, 64], 3, 8, Precision::F16, 1),
        layer([64, 14, 14, 96], 5, 16, Precision::Bf16, 1),
        layer([16, 28, 28, 72], 7, 1, Precision::F16, 1),
        layer([32, 28, 28, 32], 3, 8, Precision::F32, 2),
    ]
}

/// What the model of the library says of candidates, and that it says it as of a GPU that was not measured.
fn best_of(operation: &dyn Operation, device: &DeviceFacts, problem: &Named, candidates: &[Named]) -> usize {
    let models = Models::shipped().unwrap();
    let model = models.nearest(operation.name(), device.architecture).unwrap();
    let works: Vec<_> = candidates.iter().map(|it| operation.work(problem, it, device).unwrap()).collect();
    let ranking = model.rank(device, works.len(), |index| works[index]).unwrap();
    assert_eq!(*ranking.source(), Source::Scaled { architecture: device.architecture, trained_on: 90 });
    ranking.best().index as usize
}

#[test]
fn a_model_chooses_there_too() {
    let models = Models::shipped().unwrap();
    for device in [rtx_3090(), a100()] {
        device.check().unwrap();
        let sm = Multiprocessor::from(&device);
        assert!(!sm.bulk_copies);
        let mut by_model = [0; 2];
        for problem in layers() {
            for pass in [Pass::Forward, Pass::GradInput] {
                let all: Vec<_> = RowOperation::estimates(&problem, pass, sm, &device)
                    .into_iter()
                    .take(RANKED)
                    .map(|it| it.1)
                    .collect();
                let named: Vec<_> = all.iter().map(RowOperation::configuration).collect();
                let best = best_of(&RowOperation, &device, &RowOperation::problem(&problem, pass), &named);
                let chosen = RowOperation::chosen(&models, &problem, pass, sm, &device);
                assert_eq!(chosen, all[best], "{}, {pass:?} of {problem:?}", device.name);
                assert!(row_kernel(&problem, pass, chosen, sm, false).is_ok());
                by_model[0] += usize::from(best > 0);
            }
            let all: Vec<_> =
                WeightOperation::estimates(&problem, sm, &device).into_iter().take(RANKED).map(|it| it.1).collect();
            let named: Vec<_> = all.iter().map(WeightOperation::configuration).collect();
            let best = best_of(&WeightOperation, &device, &RowOperation::problem(&problem, Pass::GradWeight), &named);
            let chosen = WeightOperation::chosen(&models, &problem, sm, &device);
            assert_eq!(chosen, all[best], "{}, weights of {problem:?}", device.name);
            assert!(weight_kernels(&problem, chosen, sm).is_ok());
            by_model[1] += usize::from(best > 0);
        }
        assert!(by_model.iter().all(|times| *times > 0), "{}: the estimate chose, {by_model:?}", device.name);
    }
}

/// Cross-validation never asks about the input's gradient of a layer whose forward pass it has learned from.
#[test]
fn both_passes_of_a_layer_are_one_shape() {
    let [problem, other] = [64, 72].map(|channels| {
        Problem::of_forward([2, 9, 9, channels], [channels, 3, 3, 8], Precision::F16, &Conv2d::new()).unwrap()
    });
    let shape = |problem, pass| RowOperation.shape(&RowOperation::problem(problem, pass));
    assert_eq!(shape(&problem, Pass::Forward), shape(&problem, Pass::GradInput));
    assert_ne!(shape(&problem, Pass::Forward), shape(&other, Pass::Forward));
}
