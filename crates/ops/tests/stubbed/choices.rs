//! Configurations of pointwise kernels that models choose.

use super::{X, line, shifted};
use crate::pointwise::model_of;
use tilewright_driver::{Origin, toolkit};
use tilewright_expr::In;
use tilewright_ops::pointwise::{Pointwise, PointwiseProblem, choose_by};
use tilewright_ops::{Device, Known, fuse, record};
use tilewright_perf::{DeviceFacts, Models};

/// Has choices go by a model of a kernel's time.
fn choose_fastest(time: impl Fn(&PointwiseProblem, Pointwise) -> f32) {
    // As many of everything as the stub says that it has.
    let known = DeviceFacts::h200();
    let [memory_bandwidth, l2_bandwidth] = [known.memory_bandwidth, known.l2_bandwidth].map(|it| it * 1e5 / 132.0);
    let facts = DeviceFacts { multiprocessors: 1e5, memory_bandwidth, l2_bandwidth, l2_bytes: 1e5, ..known };
    let mut models = Models::default();
    models.add(model_of(facts, time));
    choose_by(models);
}

pub(super) fn stands_in(device: &Device, compiles: bool) {
    choose_fastest(|_, it| it.threads as f32);
    let (shifted, x, y) = (shifted(), line(device, 1024), line(device, 1024));
    let launch = || {
        let launch = record(|| drop(shifted.call(&x, &y).unwrap())).remove(0);
        (launch.known, launch.block[0])
    };
    assert_eq!(launch(), (Known::Nothing(Origin::Bundle), 256), "the plan's own, which is there");
    let (begin, last) = (std::time::Instant::now(), if compiles { 64 } else { 256 });
    while launch() != (Known::Call, last) {
        assert!(begin.elapsed().as_secs() < 60, "planned anew all the time");
    }
    assert!(toolkit::attempted());
}

/// A call of another class of sizes has another configuration: it does not wait for that kernel, but has the one that is there.
pub(super) fn chooses(device: &Device) {
    let small = |problem: &PointwiseProblem| problem.bytes() < 1 << 20;
    choose_fastest(|problem, it| if small(problem) { it.threads as f32 } else { 1e4 / it.threads as f32 });
    let double = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| (x * 2.0 + y).store::<(X,)>());
    let launch = |len: usize| {
        let (x, y) = (line(device, len), line(device, len));
        let launch = record(|| drop(double.call(&x, &y).unwrap())).remove(0);
        (launch.known, launch.block[0])
    };
    assert!(matches!(launch(4096), (Known::Nothing(_), 64)));
    assert_eq!(launch(4096), (Known::Call, 64));
    assert_eq!(launch(4096 + 1024), (Known::Kernel, 64), "of the same class");
    let begin = std::time::Instant::now();
    assert_eq!(launch(1 << 18), (Known::Kernel, 64), "the kernel that is there");
    while launch(1 << 18).1 == 64 {
        assert!(begin.elapsed().as_secs() < 60, "the kernel of the other class is not there");
    }
    assert_eq!(launch(1 << 18), (Known::Call, 512));
    assert_eq!(launch(4096), (Known::Call, 64), "the small one is still there");
    // Without models calls are planned as ever.
    choose_by(Models::default());
    let (triple, x) = (fuse(|x: In<f32, (X,)>| (x * 3.0).store::<(X,)>()), line(device, 8192));
    assert_eq!(record(|| drop(triple.call(&x).unwrap()))[0].block[0], 256);
}
