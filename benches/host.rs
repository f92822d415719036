//! Host benchmarks: fused evaluation on the CPU, and what the host does before a kernel runs. They need no GPU.

use criterion::{BenchmarkId, Criterion, Throughput};
use std::borrow::Cow;
use std::hint::black_box;
use std::time::Duration;
use tilewright_benches::Result;
use tilewright_benches::cases::{Batch, CROP, FRAME, Line, Random, chain, colours, crops};
use tilewright_benches::convolutions::{Convolution, convolutions};
use tilewright_dims::dims;
use tilewright_driver::{Arch, Bundle, CacheFolder, Compiled, KernelCache, Key, Source, TargetKind};
use tilewright_expr::f16;
use tilewright_headers::headers_for;
use tilewright_ops::conv::{Conv2d, conv2d_grad_input_into, conv2d_grad_weight_into, conv2d_into};
use tilewright_ops::{Device, Evaluate, Tensor};

/// The host evaluator: twenty operations, and the main job.
fn evaluate(criterion: &mut Criterion) -> Result<()> {
    let mut group = criterion.benchmark_group("evaluate");
    for exponent in [16, 20, 24] {
        let len = 1 << exponent;
        let (x, mut y) = (Random::new(1).line(len)?, Line::from_vec([len], vec![f32::NAN; len])?);
        let chain = chain();
        group.throughput(Throughput::Elements(len as u64));
        group.bench_function(BenchmarkId::new("chain20", len), |bench| {
            bench.iter(|| chain.call_into(&mut y, black_box(&x)).expect("the chain fits its operands"));
        });
    }
    let (picture, [mul, sub, div], (height, width)) = (Random::new(2).picture(FRAME)?, colours()?, CROP);
    for count in [1, 10, 50] {
        let boxes = Random::new(3).boxes(count, FRAME)?;
        let mut batch = Batch::from_vec([count, 3, height, width], vec![f32::NAN; count * 3 * height * width])?;
        let crops = crops();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("crops", count), |bench| {
            bench.iter(|| {
                let done = crops.call_into(&mut batch, &picture, black_box(&boxes), &mul, &sub, &div);
                done.expect("the crops fit their operands");
            });
        });
    }
    group.finish();
    Ok(())
}

/// What a new pipeline costs on the host before a compiler sees it.
fn build(criterion: &mut Criterion) -> Result<()> {
    let mut group = criterion.benchmark_group("build");
    group.bench_function("trace crops", |bench| bench.iter(crops));
    group.bench_function("trace chain20", |bench| bench.iter(chain));
    let (picture, boxes, [mul, sub, div]) =
        (Random::new(2).picture(FRAME)?, Random::new(3).boxes(50, FRAME)?, colours()?);
    let crops = crops();
    group.bench_function("plan and emit crops", |bench| {
        bench.iter(|| {
            crops.cuda_source(&picture, black_box(&boxes), &mul, &sub, &div).expect("the crops fit their operands")
        });
    });
    let (chain, x) = (chain(), Random::new(1).line(1 << 20)?);
    group.bench_function("plan and emit chain20", |bench| {
        bench.iter(|| chain.cuda_source(black_box(&x)).expect("the chain fits its operand"));
    });
    group.finish();
    Ok(())
}

/// A call that has almost nothing to compute: its key, the look-up, the dispatch.
fn call(criterion: &mut Criterion) -> Result<()> {
    let mut group = criterion.benchmark_group("call");
    let (x, mut y) = (Random::new(1).line(1)?, Line::from_vec([1], vec![f32::NAN])?);
    let chain = chain();
    group.bench_function("call_into one element", |bench| {
        bench.iter(|| chain.call_into(&mut y, black_box(&x)).expect("the chain fits its operands"));
    });
    group.bench_function("call one element", |bench| {
        bench.iter(|| chain.call(black_box(&x)).expect("the chain fits its operand"));
    });
    group.bench_function("eager one element", |bench| {
        bench.iter(|| {
            let y = (black_box(&x).expr() * 2.5 + &x).store::<(tilewright_benches::cases::X,)>().eval();
            y.expect("the expression fits its operands")
        });
    });
    group.finish();
    Ok(())
}

/// The kernel of the main job from the disk: its key, and its entry read and checked, of the size that such a cubin has.
fn cache(criterion: &mut Criterion) -> Result<()> {
    const H200: Arch = Arch::new(9, 0);
    let (picture, boxes, [mul, sub, div]) =
        (Random::new(2).picture(FRAME)?, Random::new(3).boxes(50, FRAME)?, colours()?);
    let text = crops().cuda_source(&picture, &boxes, &mul, &sub, &div)?;
    let headers = headers_for(&text).into_iter().map(|(name, text)| (name.to_owned(), Cow::Borrowed(text)));
    let source = Source { headers: headers.collect(), text, ..Source::default() };
    let image = (0..20_000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let (name, target, log) = ("crops".to_owned(), TargetKind::Plain, "ptxas info: ".repeat(40));
    let kernel = Compiled { name, arch: H200, target, compiler: (13, 0), kernels: vec![], log, image };

    let root = tempfile::tempdir()?;
    KernelCache::open(root.path()).put(&source, kernel.clone());
    let (folder, key) = (CacheFolder::open(root.path())?, source.key(H200));
    let file = root.path().join("kernels.twb");
    let others = (0..999u32).map(|number| Key(std::array::from_fn(|at| number.rotate_left(8 * at as u32) as u8)));
    Bundle::write(&file, others.chain([key]).map(|key| (key, kernel.clone())))?;
    let bundle = Bundle::open(&file)?;

    let mut group = criterion.benchmark_group("cache");
    let bytes: usize = source.headers.iter().map(|(_, text)| text.len()).sum();
    group.bench_function(format!("key of {} and {bytes} bytes", source.text.len()), |bench| {
        bench.iter(|| black_box(&source).key(H200));
    });
    group
        .bench_function("hit in the folder", |bench| bench.iter(|| folder.find(black_box(&key)).expect("it is there")));
    group
        .bench_function("open a bundle of 1000", |bench| bench.iter(|| Bundle::open(black_box(&file)).expect("whole")));
    group.bench_function("look up in a bundle of 1000", |bench| bench.iter(|| bundle.entry(black_box(&key))));
    group.bench_function("hit in a bundle", |bench| bench.iter(|| bundle.get(black_box(&key)).expect("it is there")));
    group.finish();
    Ok(())
}

/// Passes of a convolution on all cores, in f16: layers of the list, cut to a few images. Elements are operations.
fn convolve(criterion: &mut Criterion) -> Result<()> {
    dims! { N, H, W, C, K, R, S }
    let mut group = criterion.benchmark_group("conv2d");
    let listed = convolutions()?.into_iter().filter(|c| c.sets.iter().any(|set| set == "table"));
    for Convolution { case, problem, padding, .. } in listed {
        let [_, height, width, channels] = problem.input_extents();
        let pixels = [4, height, width, channels];
        let values = |seed, extents: [usize; 4]| {
            Random::new(seed).floats(extents.iter().product()).into_iter().map(f16::from_f32).collect::<Vec<_>>()
        };
        let x = Tensor::<f16, (N, H, W, C)>::from_vec(pixels, values(1, pixels))?;
        let w = Tensor::<f16, (K, R, S, C)>::from_vec(problem.weight_extents(), values(2, problem.weight_extents()))?;
        let mut y = Tensor::from_vec(pixels, values(3, pixels))?;
        let mut dx = Tensor::from_vec(pixels, values(4, pixels))?;
        let mut dw = Tensor::<f32, (K, R, S, C)>::zeros(problem.weight_extents(), &Device::Cpu)?;
        let params = Conv2d::new().padding(padding);
        group.throughput(Throughput::Elements((problem.flops() * 4.0 / problem.images as f64) as u64));
        group.bench_function(BenchmarkId::new("forward", &case), |bench| {
            bench.iter(|| conv2d_into(&mut y, black_box(&x), &w, &params).expect("sizes fit"));
        });
        group.bench_function(BenchmarkId::new("grad_input", &case), |bench| {
            bench.iter(|| conv2d_grad_input_into(&mut dx, black_box(&y), &w, &params).expect("sizes fit"));
        });
        group.bench_function(BenchmarkId::new("grad_weight", &case), |bench| {
            bench.iter(|| conv2d_grad_weight_into(&mut dw, black_box(&x), &y, &params).expect("sizes fit"));
        });
    }
    group.finish();
    Ok(())
}

fn main() -> Result<()> {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20)
        .configure_from_args();
    evaluate(&mut criterion)?;
    build(&mut criterion)?;
    call(&mut criterion)?;
    cache(&mut criterion)?;
    convolve(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
