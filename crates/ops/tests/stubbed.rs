//! Calls against a stub of the driver, with memory but without kernels: what a known call allocates, on the host and on the device,
//! and what a program does whose kernels are built ahead.

use crate::allocations;
use crate::support::{Random, skip};
use std::path::PathBuf;
use std::process::Command;
use tilewright_dims::{Dims, dims};
use tilewright_driver::argument::Given;
use tilewright_driver::{CacheFolder, IntoArgument, toolkit};
use tilewright_expr::{Expr, In, Out, f16};
use tilewright_ops::conv::{
    Config, Conv2d, conv2d, conv2d_grad_bias_workspace, conv2d_grad_input_into, conv2d_grad_input_with,
    conv2d_grad_input_with_into, conv2d_grad_input_with_workspace, conv2d_grad_weight_into, conv2d_into, conv2d_with,
    conv2d_with_into, conv2d_with_workspace, conv2d_workspace, read,
};
use tilewright_ops::{Device, Evaluate, Fused, Known, Tensor, fuse, record};

mod choices;
mod memory;

dims! { Y, X, N, H, W, C, K, R, S }

const CHILD: &str = "TILEWRIGHT_STUBBED";

type Line = Tensor<f32, (X,)>;
type Of = Expr<f32, <(X,) as Dims>::Set>;

#[test]
fn against_a_stub() {
    let folder = tempfile::tempdir().unwrap();
    let Some([driver, compiler]) = crate::stub::working(folder.path()) else {
        return skip("stubbed::against_a_stub", "no C compiler");
    };
    let cache = folder.path().join("kernels");
    run("all", [("TILEWRIGHT_CACHE", &cache), ("TILEWRIGHT_LIBCUDA", &driver), ("TILEWRIGHT_CUDA", &compiler)]);
}

/// What one process compiled another finds in a bundle, with an empty cache of its own: it does not even look for a compiler.
#[test]
fn with_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let Some([driver, compiler]) = crate::stub::working(folder.path()) else {
        return skip("stubbed::with_a_bundle", "no C compiler");
    };
    let [cache, other, bundle] = ["kernels", "other", "kernels.twb"].map(|name| folder.path().join(name));
    run("compiles", [("TILEWRIGHT_CACHE", &cache), ("TILEWRIGHT_LIBCUDA", &driver), ("TILEWRIGHT_CUDA", &compiler)]);
    let packed = CacheFolder::open_existing(&cache).unwrap().pack(&bundle, &mut |_| {}).unwrap();
    assert!(packed.written.entries >= 2 && packed.left_out == 0, "{packed:?}");
    run("finds", [("TILEWRIGHT_CACHE", &other), ("TILEWRIGHT_LIBCUDA", &driver), ("TILEWRIGHT_BUNDLES", &bundle)]);
}

/// Configurations of pointwise kernels that a model chooses by classes of sizes.
#[test]
fn with_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let Some([driver, compiler]) = crate::stub::working(folder.path()) else {
        return skip("stubbed::with_a_model", "no C compiler");
    };
    let cache = folder.path().join("kernels");
    run("chooses", [("TILEWRIGHT_CACHE", &cache), ("TILEWRIGHT_LIBCUDA", &driver), ("TILEWRIGHT_CUDA", &compiler)]);
}

/// Kernels that were built without a model serve where a model chooses others: at once, until these are compiled, and for good where nothing
/// compiles.
#[test]
fn with_a_model_and_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let Some([driver, compiler]) = crate::stub::working(folder.path()) else {
        return skip("stubbed::with_a_model_and_a_bundle", "no C compiler");
    };
    let [cache, other, third, bundle] =
        ["kernels", "other", "third", "kernels.twb"].map(|name| folder.path().join(name));
    run("compiles", [("TILEWRIGHT_CACHE", &cache), ("TILEWRIGHT_LIBCUDA", &driver), ("TILEWRIGHT_CUDA", &compiler)]);
    CacheFolder::open_existing(&cache).unwrap().pack(&bundle, &mut |_| {}).unwrap();
    let known = [("TILEWRIGHT_LIBCUDA", &driver), ("TILEWRIGHT_BUNDLES", &bundle)];
    run("stands in", [known[0], known[1], ("TILEWRIGHT_CACHE", &other)]);
    run("gives way", [known[0], known[1], ("TILEWRIGHT_CACHE", &third), ("TILEWRIGHT_CUDA", &compiler)]);
}

fn run<const N: usize>(what: &str, variables: [(&str, &PathBuf); N]) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "stubbed::child", "--nocapture"])
        .env(CHILD, what)
        .env("TILEWRIGHT_CUDA", "/nowhere")
        .env_remove("TILEWRIGHT_BUNDLES");
    let output = child.envs(variables).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{}:\n{text}", output.status);
}

#[test]
fn child() {
    let Ok(what) = std::env::var(CHILD) else { return };
    let device = Device::gpu(0).unwrap();
    match what.as_str() {
        "chooses" => return choices::chooses(&device),
        "stands in" | "gives way" => return choices::stands_in(&device, what == "gives way"),
        _ => {}
    }
    if what != "all" {
        let (x, y) = (line(&device, 1024), line(&device, 1024));
        drop(shifted().call(&x, &y).unwrap());
        drop((x.expr().exp() + &y).store::<(X,)>().eval().unwrap());
        return assert_eq!(toolkit::attempted(), what == "compiles");
    }
    host_allocations(&device);
    convolutions(&device);
    refined(&device);
    crate::conv::refused::configurations(&device);
    images(&device);
    expressions_in_turns(&device);
    memory::is_given_back(&device);
    memory::is_made_room_for(&device);
    memory::of_workspaces(&device);
    threads(&device);
    prefetch(&device);
    more_parameters(&device);
}

fn line(device: &Device, len: usize) -> Line {
    Tensor::from_vec([len], Random(len as u64).vec(len, |r| r.unit() as f32)).unwrap().to(device).unwrap()
}

fn address(tensor: &Line) -> u64 {
    match { tensor }.argument().given {
        Given::Memory(memory) => memory.address,
        Given::Value(_) => 0,
    }
}

fn shifted() -> Fused<(Of, Of), Out<f32, (X,)>> {
    fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| (x * 2.5 + y).store::<(X,)>())
}

/// A known call allocates nothing, and one owner for each new result.
fn host_allocations(device: &Device) {
    let (x, y, mut z) = (line(device, 1024), line(device, 1024), line(device, 1024));
    let axpy = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| (x * 2.5 + y).store::<(X,)>());
    let mut ways: [(&str, usize, &mut dyn FnMut()); 3] = [
        ("call_into", 0, &mut || axpy.call_into(&mut z, &x, &y).unwrap()),
        ("call", 1, &mut || drop(axpy.call(&x, &y).unwrap())),
        ("eager", 1, &mut || drop((x.expr() * 2.5 + &y).store::<(X,)>().eval().unwrap())),
    ];
    for (name, expected, way) in &mut ways {
        is_known(name, *expected, 1, way);
    }
}

type Sums = (N, H, W, K);

fn ones<L: Dims>(device: &Device) -> Tensor<f16, L> {
    Tensor::from_vec([2, 9, 16, 16], vec![f16::ONE; 4608]).unwrap().to(device).unwrap()
}

/// That a way is a known call once it was taken: so many allocations, and at most so many launches.
fn is_known(name: &str, expected: usize, most: usize, mut way: impl FnMut()) {
    (0..3).for_each(|_| way());
    assert_eq!(allocations::during(|| (0..100).for_each(|_| way())), 100 * expected, "{name}");
    let launches = record(way);
    assert!(launches.iter().all(|l| l.known == Known::Call), "{name}: {launches:?}");
    assert!((1..=most).contains(&launches.len()), "{name}: {launches:?}");
}

/// As [`host_allocations`], of convolutions with and without an expression behind them.
fn convolutions(device: &Device) {
    let on = |len: usize| Tensor::<f32, (K,)>::from_vec([len], vec![1.0; len]).unwrap().to(device).unwrap();
    let [x, mut dx, mut dx_with, before] = [0; 4].map(|_| ones::<(N, H, W, C)>(device));
    let [dy, mut y, mut y_with, others] = [0; 4].map(|_| ones::<Sums>(device));
    let w = Tensor::<f16, (K, R, S, C)>::from_vec([16, 3, 3, 8], vec![f16::ONE; 1152]).unwrap().to(device).unwrap();
    let (bias, scale) = (on(16), on(16));
    let params = Conv2d::new().padding(1).bias(&bias);
    let scaled = fuse(|sum: In<f32, Sums>, other: In<f16, Sums>, scale: In<f32, (K,)>, by: In<f32, ()>| {
        ((sum + other.to::<f32>()) * scale * by).to::<f16>().store::<Sums>()
    });
    let relu = fuse(|dx: In<f32, (N, H, W, C)>, before: In<f16, (N, H, W, C)>| {
        before.to::<f32>().gt(0.0).select(dx, 0.0).to::<f16>().store::<(N, H, W, C)>()
    });
    let beside = |by: f32| (&others, &scale, by);
    let mut ways: [(&str, usize, &mut dyn FnMut()); 7] = [
        ("conv2d", 1, &mut || drop(conv2d(&x, &w, &params).unwrap())),
        ("conv2d_into", 0, &mut || conv2d_into(&mut y, &x, &w, &params).unwrap()),
        ("conv2d_with", 1, &mut || drop(conv2d_with(&x, &w, &params, &scaled, beside(2.0)).unwrap())),
        ("conv2d_with_into", 0, &mut || {
            conv2d_with_into(&mut y_with, &x, &w, &params, &scaled, beside(3.0)).unwrap();
        }),
        ("conv2d_grad_input_into", 0, &mut || conv2d_grad_input_into(&mut dx, &dy, &w, &params).unwrap()),
        ("conv2d_grad_input_with", 1, &mut || {
            drop(conv2d_grad_input_with(&dy, &w, [9, 16], &params, &relu, (&before,)).unwrap());
        }),
        ("conv2d_grad_input_with_into", 0, &mut || {
            conv2d_grad_input_with_into(&mut dx_with, &dy, &w, [9, 16], &params, &relu, (&before,)).unwrap();
        }),
    ];
    for (name, expected, way) in &mut ways {
        is_known(name, *expected, 1, way);
    }
    // A small sum has no parts; few long ones do, 8 bytes each behind the counters.
    assert_eq!(conv2d_grad_bias_workspace(&dy, &params).unwrap(), 0);
    let long = Tensor::<f16, Sums>::from_vec([64, 64, 64, 4], vec![f16::ONE; 1 << 20]).unwrap().to(device).unwrap();
    let parts = conv2d_grad_bias_workspace(&long, &params).unwrap();
    assert!(parts > 4096 && parts.is_multiple_of(8), "{parts}");
    // What is read as it lies, and what goes through the kernel.
    assert_eq!(conv2d_with_workspace(&x, &w, &params, &scaled, beside(1.0)).unwrap(), 0);
    assert_eq!(conv2d_with_workspace(&x.reverse::<H>(), &w, &params, &scaled, beside(1.0)).unwrap(), 2 * x.len());
    assert_eq!(conv2d_grad_input_with_workspace(&dy, &w, [9, 16], &params, &relu, (&before,)).unwrap(), 0);
}

/// What a refined choice times is on another stream than the user's, which gets what an explicit configuration puts there and nothing else; and operands
/// keep their values.
fn refined(device: &Device) {
    let gpu = device.as_gpu().unwrap();
    // Where the stub keeps how much was put on a stream, and behind it where that of all streams is.
    let counters = gpu.stream().handle().cast::<std::ffi::c_long>();
    // SAFETY: a stream of the stub is three numbers of this size, the last of them the address of one, which live as long as the stream does.
    let queued = || unsafe { (*counters.add(1), **counters.add(2).cast::<*const std::ffi::c_long>()) };
    let ([x, mut dx], [dy, mut y]) = ([0; 2].map(|_| ones(device)), [0; 2].map(|_| ones::<Sums>(device)));
    let x: Tensor<f16, (N, H, W, C)> = x;
    let w = Tensor::<f16, (K, R, S, C)>::from_vec([16, 3, 3, 8], vec![f16::ONE; 1152]).unwrap().to(device).unwrap();
    let mut dw = Tensor::<f32, (K, R, S, C)>::from_vec([16, 3, 3, 8], vec![1.0; 1152]).unwrap().to(device).unwrap();
    let mut calls: [&mut dyn FnMut(Config); 3] = [
        &mut |config| conv2d_into(&mut y, &x, &w, &Conv2d::new().padding(1).config(config)).unwrap(),
        &mut |config| conv2d_grad_input_into(&mut dx, &dy, &w, &Conv2d::new().padding(1).config(config)).unwrap(),
        &mut |config| conv2d_grad_weight_into(&mut dw, &x, &dy, &Conv2d::new().padding(1).config(config)).unwrap(),
    ];
    for call in &mut calls {
        let mut puts = |config| {
            let before = queued();
            call(config);
            let after = queued();
            (after.0 - before.0, after.1 - before.1)
        };
        puts(Config::auto());
        let (own, all) = puts(Config::auto());
        assert_eq!(own, all);
        let (refined, with_timing) = puts(Config::refined());
        // Three kernels take a first turn and fifteen more alone, and as many turns of two calls at least, each between two events and behind what is written twice.
        assert!(
            with_timing >= refined + 3 * 16 * (5 + 6),
            "{with_timing} things were queued, {refined} of them by the call"
        );
        assert!((own..=own + 2).contains(&refined), "{refined} instead of {own}");
        assert_eq!(puts(Config::refined()), (refined, refined), "remembered");
    }
    for values in [x.to_vec().unwrap(), y.to_vec().unwrap(), dx.to_vec().unwrap(), dy.to_vec().unwrap()] {
        assert!(values.iter().all(|value| *value == f16::ONE));
    }
}

/// As [`convolutions`], of images that are expressions, with and without one behind.
fn images(device: &Device) {
    let ([x, mut dx], [dy, mut y, mut y_with]) = ([0; 2].map(|_| ones(device)), [0; 3].map(|_| ones::<Sums>(device)));
    let x: Tensor<f16, (N, H, W, C)> = x;
    let planes = x.permute::<(N, C, H, W)>();
    let mean = Tensor::<f32, (C,)>::from_vec([16], vec![1.0; 16]).unwrap().to(device).unwrap();
    let w = Tensor::<f16, (K, R, S, C)>::from_vec([16, 3, 3, 8], vec![f16::ONE; 1152]).unwrap().to(device).unwrap();
    let mut dw = Tensor::<f32, (K, R, S, C)>::from_vec([16, 3, 3, 8], vec![1.0; 1152]).unwrap().to(device).unwrap();
    let params = Conv2d::new().padding(1);
    let normalise = fuse(|x: In<f16, (N, C, H, W)>, mean: In<f32, (C,)>, by: In<f32, ()>| {
        ((x.to::<f32>() - mean) * by).max(0.0).to::<f16>().store::<(N, H, W, C)>()
    });
    let relu = fuse(|dy: In<f16, Sums>, y: In<f16, Sums>| y.to::<f32>().gt(0.0).select(dy, f16::ZERO).store::<Sums>());
    let doubled = fuse(|sum: In<f32, Sums>| (sum * 2.0).to::<f16>().store::<Sums>());
    let image = |by: f32| read(&normalise, (&planes, &mean, by));
    let behind = dy.clone();
    let gradient = || read(&relu, (&dy, &behind));
    let mut ways: [(&str, usize, &mut dyn FnMut()); 5] = [
        ("conv2d", 1, &mut || drop(conv2d(&image(2.0), &w, &params).unwrap())),
        ("conv2d_into", 0, &mut || conv2d_into(&mut y, &image(3.0), &w, &params).unwrap()),
        ("conv2d_with_into", 0, &mut || {
            conv2d_with_into(&mut y_with, &image(3.0), &w, &params, &doubled, ()).unwrap();
        }),
        ("conv2d_grad_input_into", 0, &mut || conv2d_grad_input_into(&mut dx, &gradient(), &w, &params).unwrap()),
        ("conv2d_grad_weight_into", 0, &mut || {
            conv2d_grad_weight_into(&mut dw, &image(2.0), &gradient(), &params).unwrap();
        }),
    ];
    for (name, expected, way) in &mut ways {
        // Parts of a gradient of weights, where a model takes some, are added up by a launch of their own.
        is_known(name, *expected, if *name == "conv2d_grad_weight_into" { 2 } else { 1 }, way);
    }
    assert_eq!(conv2d_workspace(&image(1.0), &w, &params).unwrap(), 0);
    // What no point computes by itself is a launch of its own, and a tensor.
    let shares = fuse(|x: In<f16, (N, H, W, C)>| {
        let x = x.to::<f32>();
        (x / x.sum::<(H, W)>()).to::<f16>().store::<(N, H, W, C)>()
    });
    assert_eq!(conv2d_workspace(&read(&shares, (&x,)), &w, &params).unwrap(), 2 * x.len());
    assert_eq!(record(|| conv2d_into(&mut y, &read(&shares, (&x,)), &w, &params).unwrap()).len(), 2);
}

/// Expressions that begin alike, one after the other in any order, find their kernels without building a graph.
fn expressions_in_turns(device: &Device) {
    let (x, y) = (line(device, 640), line(device, 640));
    let way = |number: u64| {
        let e = x.expr() * 2.5;
        let result = match number {
            0 => e.store::<(X,)>().eval(),
            1 => (e + &y).store::<(X,)>().eval(),
            2 => (e + &y).exp().store::<(X,)>().eval(),
            3 => (e - &y).store::<(X,)>().eval(),
            _ => (e + &x).store::<(X,)>().eval(),
        };
        drop(result.unwrap());
    };
    (0..5).for_each(way);
    let mut random = Random(7);
    for _ in 0..1000 {
        let number = random.below(5);
        let mut launches = Vec::new();
        let count = allocations::during(|| way(number));
        assert_eq!(count, 1, "expression {number}");
        launches.extend(record(|| way(number)));
        assert_eq!(launches[0].known, Known::Call, "expression {number}");
    }
}

/// Parameters that outgrow the block of the kernel there is, and shrink again: no call waits for the other kernel.
fn more_parameters(device: &Device) {
    let scale = fuse(|x: In<f32, (Y, X)>, by: In<f32, (Y,)>| (x * by).store::<(Y, X)>());
    let known = |rows: usize| {
        let x = Tensor::<f32, (Y, X)>::from_vec([rows, 8], vec![1.0; rows * 8]).unwrap().to(device).unwrap();
        let by = Tensor::<f32, (Y,)>::from_vec([rows], vec![2.0; rows]).unwrap();
        record(|| drop(scale.call(&x, &by).unwrap()))[0].known
    };
    assert!(matches!(known(64), Known::Nothing(_)));
    let small = scale.last_built().unwrap();
    assert_eq!((known(512), known(512 + 8)), (Known::Kernel, Known::Kernel), "of the same room");
    let begin = std::time::Instant::now();
    // The kernel for 6 KB is built behind these calls, which have the first one's.
    while std::sync::Arc::ptr_eq(&scale.last_built().unwrap(), &small) {
        assert!(begin.elapsed().as_secs() < 60, "the large kernel is not there");
        assert_eq!(known(1536), Known::Kernel);
    }
    let _ = known(1536);
    assert_eq!(known(1536), Known::Call, "planned once more, and kept");
    assert_eq!(known(64), Known::Call, "the small one is still there");
}

/// Threads that allocate, write, drop and read at random find what they wrote.
fn threads(device: &Device) {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let mut random = Random(thread);
                let mut held: Vec<(Line, Vec<f32>)> = Vec::new();
                for _ in 0..500 {
                    let len = 1 + random.below(3000) as usize;
                    let values = random.vec(len, |r| r.unit() as f32);
                    held.push((Tensor::from_vec([len], values.clone()).unwrap().to(device).unwrap(), values));
                    if held.len() > 8 {
                        let (tensor, values) = held.swap_remove(random.below(8) as usize);
                        assert_eq!(tensor.to_vec().unwrap(), values);
                    }
                }
            });
        }
    });
}

/// Kernels that are built ahead are found by the call; two that are asked for at once are one.
fn prefetch(device: &Device) {
    let (x, y) = (line(device, 100), line(device, 100));
    let hypotenuse = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| (x * x + y * y).sqrt().store::<(X,)>());
    let both = [hypotenuse.prefetch(&x, &y), hypotenuse.prefetch(&x, &y)];
    for prefetch in both {
        prefetch.wait();
    }
    let built = hypotenuse.last_built().unwrap();
    let launches = record(|| drop(hypotenuse.call(&x, &y).unwrap()));
    assert_eq!(launches.iter().map(|l| l.known).collect::<Vec<_>>(), [Known::Kernel]);
    assert!(std::sync::Arc::ptr_eq(&built, &hypotenuse.last_built().unwrap()), "nothing is built again");
    // What cannot be planned is done at once, and is the call's error.
    assert!(hypotenuse.prefetch(&x, &line(device, 99)).is_done());
    assert!(hypotenuse.call(&x, &line(device, 99)).is_err());
}
