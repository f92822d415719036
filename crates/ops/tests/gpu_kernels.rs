//! Scalar functions of one source, compiled three ways: for the CPU, for kernels in Rust, and as CUDA C++. All give the same bits.

#[path = "../../../gpu-kernels/src/body/functions.rs"]
mod functions;

use crate::support::{Random, assert_same, gpu, gpu_alone, skip};
use tilewright_dims::dims;
use tilewright_driver::Kernels;
use tilewright_driver::kernels::dims as kernel;
use tilewright_expr::In;
use tilewright_expr::extend::scalar_fn;
use tilewright_gpu_kernels::simulated;
use tilewright_ops::{Tensor, fuse};

dims! { N, C }

/// Samples and channels: one, a tile, one more and one less.
const SIZES: [(usize, usize); 4] = [(1, 1), (32, 128), (33, 127), (70, 130)];

struct Operands {
    x: Vec<f32>,
    scale: Vec<f32>,
    shift: Vec<f32>,
}

impl Operands {
    /// Numbers from `low` to `high` and, among them, some at which something happens.
    fn new(n: usize, c: usize, low: f32, high: f32) -> Operands {
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, -3.0, 6.0, 1e30];
        let mut random = Random((n * 1000 + c) as u64);
        let mut unit = || (random.bits() >> 40) as f32 / (1u32 << 24) as f32;
        let x = (0..n * c).map(|i| if i % 7 == 3 { special[i % 9] } else { low + (high - low) * unit() }).collect();
        let scale = (0..c).map(|_| 0.5 + unit()).collect();
        let shift = (0..c).map(|_| 0.25 * unit()).collect();
        Operands { x, scale, shift }
    }
}

macro_rules! three_ways {
    ($name:literal, $function:ident, $simulated:ident, $low:literal, $high:literal) => {
        for (n, c) in SIZES {
            let Operands { x, scale, shift } = Operands::new(n, c, $low, $high);
            let rust: Vec<f32> = x
                .iter()
                .enumerate()
                .map(|(i, x)| functions::$function(x.mul_add(scale[i % c], shift[i % c])))
                .collect();

            let mut y = vec![-7.0_f32; n * c];
            simulated::$simulated(n as i64, c as i64, &x, &scale, &shift, &mut y);
            assert_same(concat!($name, ", simulated"), &y, &rust);

            let fused = fuse(|x: In<f32, (N, C)>, scale: In<f32, (C,)>, shift: In<f32, (C,)>| {
                functions::$function::of(x * scale + shift).store::<(N, C)>()
            });
            let x = Tensor::<f32, (N, C)>::from_vec([n, c], x).unwrap();
            let scale = Tensor::<f32, (C,)>::from_vec([c], scale).unwrap();
            let shift = Tensor::<f32, (C,)>::from_vec([c], shift).unwrap();
            let on_cpu = fused.call(&x, &scale, &shift).unwrap().to_vec().unwrap();
            assert_same(concat!($name, ", evaluated"), &on_cpu, &rust);

            let Some((device, _lock)) = gpu(concat!("gpu_kernels::", $name)) else { continue };
            let operands = [x.to(&device).unwrap()];
            let rows = [scale.to(&device).unwrap(), shift.to(&device).unwrap()];
            let twin = fused.call(&operands[0], &rows[0], &rows[1]).unwrap().to_vec().unwrap();
            assert_same(concat!($name, ", CUDA C++ on a GPU"), &twin, &rust);

            let stream = device.as_gpu().unwrap().stream().clone();
            let kernels = match Kernels::load(stream.device()) {
                Ok(kernels) => kernels,
                Err(error) => {
                    skip(concat!("gpu_kernels::", $name), &error.to_string());
                    continue;
                }
            };
            let [x, scale, shift] =
                [x.to_vec(), scale.to_vec(), shift.to_vec()].map(|values| stream.upload(&values.unwrap()).unwrap());
            let mut y = stream.upload(&vec![-7.0_f32; n * c]).unwrap();
            let sizes = kernel::N(n as i32) + kernel::C(c as i32);
            kernels.$simulated.launch(&stream, sizes, &x, &scale, &shift, &mut y).unwrap();
            assert_same(concat!($name, ", Rust on a GPU"), &y.to_vec().unwrap(), &rust);
        }
    };
}

#[test]
fn gelu_three_ways() {
    three_ways!("gelu_three_ways", gelu, map_gelu, -5.0, 5.0);
}

#[test]
fn digamma_three_ways() {
    three_ways!("digamma_three_ways", digamma, map_digamma, -1.0, 20.0);
}

/// The functions are what they say: beside sums in f64 that are written another way.
#[test]
fn functions_are_near_the_truth() {
    let erf = |z: f64| {
        let (mut term, mut sum) = (z, z);
        for n in 1..200 {
            term *= -z * z / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    };
    for step in -300..=300 {
        let x = step as f32 / 100.0;
        let exact = 0.5 * f64::from(x) * (1.0 + erf(f64::from(x) * std::f64::consts::FRAC_1_SQRT_2));
        assert!((f64::from(functions::gelu(x)) - exact).abs() < 1e-6, "gelu({x})");
    }
    // By the series over the poles, whose tail an integral gives.
    for step in 1..400 {
        let x = f64::from(step) / 16.0;
        let terms = 20_000;
        let head: f64 = (0..terms).map(|k| 1.0 / f64::from(k + 1) - 1.0 / (f64::from(k) + x)).sum();
        let tail = ((f64::from(terms) + x - 0.5) / (f64::from(terms) + 0.5)).ln();
        let exact = head + tail - 0.577_215_664_901_532_9;
        let got = f64::from(functions::digamma(x as f32));
        assert!((got - exact).abs() < 2e-6 * exact.abs().max(1.0), "digamma({x}): {got}, expected {exact}");
    }
    assert!(functions::digamma(0.0).is_nan() && functions::digamma(-2.5).is_nan());
}

/// How long the maps take beside the fused kernels of the same functions. With `TILEWRIGHT_SPEED` set, 5 % more is a failure; without it
/// the figures are printed.
#[test]
fn speed() {
    let Some((device, _lock)) = gpu_alone("gpu_kernels::speed") else { return };
    let stream = device.as_gpu().unwrap().stream().clone();
    let kernels = match Kernels::load(stream.device()) {
        Ok(kernels) => kernels,
        Err(error) => return skip("gpu_kernels::speed", &error.to_string()),
    };
    macro_rules! beside {
        ($function:ident, $launcher:ident) => {{
            const SIDES: (usize, usize) = (1 << 16, 1 << 10);
            let (n, c) = SIDES;
            let Operands { x, scale, shift } = Operands::new(n, c, 0.5, 9.5);
            let fused = fuse(|x: In<f32, (N, C)>, scale: In<f32, (C,)>, shift: In<f32, (C,)>| {
                functions::$function::of(x * scale + shift).store::<(N, C)>()
            });
            let tensor =
                |values: &Vec<f32>| Tensor::<f32, (C,)>::from_vec([c], values.clone()).unwrap().to(&device).unwrap();
            let (scales, shifts) = (tensor(&scale), tensor(&shift));
            let xs = Tensor::<f32, (N, C)>::from_vec([n, c], x.clone()).unwrap().to(&device).unwrap();
            let mut ys = Tensor::<f32, (N, C)>::zeros([n, c], &device).unwrap();
            let [x, scale, shift] = [x, scale, shift].map(|values| stream.upload(&values).unwrap());
            let mut y = stream.alloc_zeroed::<f32>(n * c).unwrap();
            let sizes = kernel::N(n as i32) + kernel::C(c as i32);
            let time = |launch: &mut dyn FnMut()| {
                launch();
                let round = |_| {
                    let start = stream.record().unwrap();
                    (0..20).for_each(|_| launch());
                    let end = stream.record().unwrap();
                    end.synchronize().unwrap();
                    end.elapsed_ms_since(&start).unwrap() * 1000.0 / 20.0
                };
                (0..10).map(round).fold(f32::INFINITY, f32::min)
            };
            let twin = time(&mut || fused.call_into(&mut ys, &xs, &scales, &shifts).unwrap());
            let rust = time(&mut || kernels.$launcher.launch(&stream, sizes, &x, &scale, &shift, &mut y).unwrap());
            let name = stringify!($launcher);
            eprintln!("{name}: {rust:.2} us in Rust, {twin:.2} us in CUDA C++, {:.3}", rust / twin);
            assert!(
                std::env::var_os("TILEWRIGHT_SPEED").is_none() || rust <= 1.05 * twin,
                "{name}: {rust} us, {twin} us"
            );
        }};
    }
    beside!(gelu, map_gelu);
    beside!(digamma, map_digamma);
}
