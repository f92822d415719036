//! Convolutions: the CPU against the reference, the reference against the calculus, and the face.

mod bias;
mod compare;
mod compiles;
mod computed;
mod depthwise;
mod every;
mod expressions;
mod face;
mod fused;
mod gpu;
mod memory;
mod order;
mod problems;
mod read;
mod read_face;
mod read_weights;
mod reference;
pub(crate) mod refused;
mod rows;
mod sanitized;
mod unknown_gpu;
mod weights;

use crate::support::{Random, gpu};
use compare::{Accuracy, Operands, check, compare};
use ndarray::{Array, Array1, Array4, Dimension};
use problems::{SETS, SETS_OF_LARGER, chosen, is_ample, larger, pinned, problems};
use tilewright_dims::dims;
use tilewright_expr::{bf16, f16};
use tilewright_ops::conv::{
    Conv2d, Convolved, GROUP_WIDTHS, Pass, Precision, Problem, conv2d_grad_bias, conv2d_grad_input_into,
    conv2d_grad_weight_into, conv2d_into,
};
use tilewright_ops::{Device, Tensor};

dims! { N, H, W, C, K, R, S }

/// Elements of tests: f32 that are exact.
pub(crate) trait Exactly: Convolved {
    fn of(value: f32) -> Self;
    fn value(self) -> f32;
}
macro_rules! exactly { ($($T:ty: $of:expr, $value:expr;)*) => { $(impl Exactly for $T {
    fn of(value: f32) -> Self { $of(value) }
    fn value(self) -> f32 { $value(self) }
})* } }
exactly! { f16: f16::from_f32, f16::to_f32; bf16: bf16::from_f32, bf16::to_f32; f32: |v| v, |v| v; }

/// The parameters of a problem.
pub(crate) fn params(problem: &Problem) -> Conv2d {
    Conv2d::new().padding(problem.padding).stride(problem.stride).dilation(problem.dilation)
}

/// A dense tensor of these values on the host.
pub(crate) fn tensor<T: Exactly, L: tilewright_dims::Dims>(extents: [usize; 4], values: &[f32]) -> Tensor<T, L> {
    Tensor::from_vec(extents, values.iter().map(|v| T::of(*v)).collect()).expect("as many values")
}

/// A pass by the functions that users call, on the CPU.
pub(crate) fn on_cpu(pass: Pass, operands: &Operands, out: &mut [f32]) {
    match operands.problem.precision {
        Precision::F16 => on_cpu_as::<f16>(pass, operands, out),
        Precision::Bf16 => on_cpu_as::<bf16>(pass, operands, out),
        Precision::F32 => on_cpu_as::<f32>(pass, operands, out),
    }
}

fn on_cpu_as<T: Exactly>(pass: Pass, operands: &Operands, out: &mut [f32]) {
    let (p, params) = (&operands.problem, params(&operands.problem));
    let [(a, a_extents), (b, b_extents)] = operands.of(pass);
    let values = match pass {
        Pass::Forward => {
            let (x, w) = (tensor::<T, (N, H, W, C)>(a_extents, a), tensor::<T, (K, R, S, C)>(b_extents, b));
            let mut y = tensor::<T, (N, H, W, K)>(p.output_extents(), out);
            match &operands.bias {
                Some(bias) => {
                    let bias = Tensor::<f32, (K,)>::from_vec([bias.len()], bias.clone()).unwrap();
                    conv2d_into(&mut y, &x, &w, &params.bias(&bias)).unwrap();
                }
                None => conv2d_into(&mut y, &x, &w, &params).unwrap(),
            }
            y.to_vec().unwrap()
        }
        Pass::GradInput => {
            let (dy, w) = (tensor::<T, (N, H, W, K)>(a_extents, a), tensor::<T, (K, R, S, C)>(b_extents, b));
            let mut dx = tensor::<T, (N, H, W, C)>(p.input_extents(), out);
            conv2d_grad_input_into(&mut dx, &dy, &w, &params).unwrap();
            dx.to_vec().unwrap()
        }
        Pass::GradWeight => {
            let (x, dy) = (tensor::<T, (N, H, W, C)>(a_extents, a), tensor::<T, (N, H, W, K)>(b_extents, b));
            let mut dw = tensor::<f32, (K, R, S, C)>(p.weight_extents(), out);
            conv2d_grad_weight_into(&mut dw, &x, &dy, &params).unwrap();
            return out.copy_from_slice(&dw.to_vec().unwrap());
        }
    };
    out.iter_mut().zip(values).for_each(|(out, value)| *out = value.value());
}

#[test]
fn the_cpu_is_right() {
    for (i, problem) in chosen().iter().chain(&pinned()).chain(&problems(71, 72)).enumerate() {
        let operands = Operands::random(problem, 1000 + i as u64);
        for pass in Pass::ALL {
            check("CPU", (pass, &operands), Accuracy::FMA, on_cpu);
        }
    }
}

#[test]
fn problems_cover_what_is_promised() {
    let all = problems(71, 72);
    for taps in 1..=7 {
        assert!(all.iter().any(|p| p.kernel[0] == taps) && all.iter().any(|p| p.kernel[1] == taps), "{taps} taps");
    }
    for padding in 0..=7 {
        assert!(all.iter().any(|p| p.padding.as_flattened().contains(&padding)), "padding {padding}");
    }
    for step in 1..=2 {
        assert!(all.iter().any(|p| p.stride[0] == step && p.dilation[1] == step), "steps {step}");
    }
    assert!([1, 6].iter().all(|n| all.iter().any(|p| p.images == *n)), "images");
    assert!(all.iter().any(|p| p.groups >= 12) && all.iter().any(|p| p.groups == 1), "groups");
    assert!(
        [[49, 33], [20, 19], [6, 5], [1, 1]].iter().all(|s| all.iter().any(|p| [p.height, p.width] == *s)),
        "sizes"
    );
}

/// What each set has, whatever its seed.
#[test]
fn every_set_covers_what_it_can() {
    let sets = SETS.map(|(seed, count)| problems(seed, count)).into_iter();
    for set in sets.chain(SETS_OF_LARGER.map(|(seed, count)| larger(seed, count))) {
        let has = |width, precision| set.iter().any(|p| p.group_width == width && p.precision == precision);
        let pairs =
            GROUP_WIDTHS.into_iter().flat_map(|w| [Precision::F16, Precision::Bf16, Precision::F32].map(|p| (w, p)));
        assert!(pairs.take(set.len()).all(|(width, precision)| set.len() < 12 || has(width, precision)), "{set:?}");
        for width in [8, 16] {
            assert!(set.iter().any(|p| p.group_width == width && is_ample(p)), "width {width}: {set:?}");
        }
    }
}

/// What comes together in problems that chance does not choose.
#[test]
fn odd_pictures_meet_wide_groups_large_kernels_and_much_padding() {
    let all = pinned();
    let some = |what: &str, is: &dyn Fn(&Problem) -> bool| assert!(all.iter().any(is), "{what}");
    for width in [8, 16] {
        for picture in [[49, 33], [20, 19], [6, 5]] {
            let is = |p: &Problem| p.group_width == width && [p.height, p.width] == picture && p.kernel[0] >= 3;
            some(&format!("groups of {width} in {picture:?}"), &is);
        }
        some("16 groups", &|p| p.group_width == width && p.groups == 16);
        some("6 images", &|p| p.group_width == width && p.images == 6);
        some("a padding of 7", &|p| p.group_width == width && p.padding.as_flattened().contains(&7));
    }
    for (taps, picture) in [3, 5, 7].into_iter().flat_map(|taps| [[49, 33], [20, 19]].map(|it| (taps, it))) {
        let is = |p: &Problem| p.kernel == [taps; 2] && [p.height, p.width] == picture;
        some(&format!("{taps}x{taps} in {picture:?}"), &is);
    }
    for precision in [Precision::F16, Precision::Bf16, Precision::F32] {
        some(&format!("{precision:?}"), &|p| p.precision == precision && p.group_width == 16);
    }
}

#[test]
fn the_bias_gradient_is_right() {
    for (i, problem) in problems(72, 12).iter().enumerate() {
        bias_gradients(problem, i as u64, &Device::Cpu);
    }
}

/// There it has the same bits.
#[test]
fn the_bias_gradient_on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::the_bias_gradient_on_a_gpu") else { return };
    for (i, problem) in problems(72, 12).iter().chain(&larger(83, 24)).enumerate() {
        let both = [&Device::Cpu, &device].map(|device| bias_gradients(problem, i as u64, device));
        assert_eq!(both[0], both[1], "{problem:?}");
    }
}

fn bias_gradients(problem: &Problem, seed: u64, device: &Device) -> Vec<f32> {
    let operands = Operands::random(problem, seed);
    let got = match problem.precision {
        Precision::F16 => grad_bias::<f16>(&operands, device),
        Precision::Bf16 => grad_bias::<bf16>(&operands, device),
        Precision::F32 => grad_bias::<f32>(&operands, device),
    };
    let exact = reference::grad_bias(problem, &compare::array(problem.output_extents(), &operands.dy));
    compare(&format!("bias of {problem:?}"), Precision::F32, Accuracy::FMA, &got, &exact);
    got
}

fn grad_bias<T: Exactly>(operands: &Operands, device: &Device) -> Vec<f32> {
    let dy = tensor::<T, (N, H, W, K)>(operands.problem.output_extents(), &operands.dy).to(device).unwrap();
    conv2d_grad_bias(&dy, &Conv2d::new()).unwrap().to_vec().unwrap()
}

/// The reference's gradients are those of its forward pass: of a bilinear function central differences are exact, but for rounding.
#[test]
fn gradients_by_finite_differences() {
    let mut r = Random(73);
    let small = problems(73, 40).into_iter().filter(|p| p.flops() < 4e4);
    for (i, problem) in small.enumerate().take(10) {
        let operands = Operands::random(&problem, i as u64);
        let of = |values: &[f32], extents| compare::array(extents, values);
        let (x, w) = (of(&operands.x, problem.input_extents()), of(&operands.w, problem.weight_extents()));
        let (dy, bias) = (of(&operands.dy, problem.output_extents()), Array1::zeros(problem.channels()));
        let loss = |x: &Array4<f64>, w: &Array4<f64>, bias: &Array1<f64>| {
            (reference::forward(&problem, x, w, Some(bias)).values * &dy).sum()
        };
        let [dx, dw] = [Pass::GradInput, Pass::GradWeight].map(|pass| operands.exact(pass).values);
        let db = reference::grad_bias(&problem, &dy).values;
        for _ in 0..4 {
            let slopes = [
                ("input", slope(&mut r, &x, |x| loss(x, &w, &bias)), &dx),
                ("weight", slope(&mut r, &w, |w| loss(&x, w, &bias)), &dw),
                ("bias", slope(&mut r, &bias, |bias| loss(&x, &w, bias)), &db),
            ];
            for (name, (at, slope), gradient) in slopes {
                let gradient = gradient.as_slice().unwrap()[at];
                assert!((slope - gradient).abs() < 1e-9, "{problem:?}: {name} at {at}: {slope}, {gradient}");
            }
        }
    }
}

/// A place in an array, and by how much a loss changes around it.
fn slope<D: Dimension>(r: &mut Random, of: &Array<f64, D>, loss: impl Fn(&Array<f64, D>) -> f64) -> (usize, f64) {
    let at = r.below(of.len() as u64) as usize;
    let moved = |by: f64| {
        let mut moved = of.clone();
        moved.as_slice_mut().expect("dense")[at] += by;
        loss(&moved)
    };
    (at, moved(0.5) - moved(-0.5))
}

/// `<conv(x), dy> = <x, grad_input(dy)> = <w, grad_weight(x, dy)>`: of the reference, and of the CPU in f32 as far as its sums go.
#[test]
fn passes_are_adjoint() {
    for (i, problem) in problems(74, 36).iter().filter(|p| p.precision == Precision::F32).enumerate() {
        let operands = Operands { bias: None, ..Operands::random(problem, i as u64) };
        let dot = |values: &[f32], with: &[f32]| -> f64 {
            values.iter().zip(with).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let against = [&operands.dy, &operands.x, &operands.w];
        let of_reference = [0, 1, 2].map(|i| {
            let values = operands.exact(Pass::ALL[i]).values;
            values.iter().zip(against[i]).map(|(a, b)| a * f64::from(*b)).sum::<f64>()
        });
        let of_cpu = [0, 1, 2].map(|i| {
            let mut out = vec![compare::POISON; against[i].len()];
            on_cpu(Pass::ALL[i], &operands, &mut out);
            dot(&out, against[i])
        });
        let magnitude: f64 = operands.exact(Pass::Forward).magnitudes.sum();
        for i in 1..3 {
            assert!((of_reference[0] - of_reference[i]).abs() <= 1e-12 * magnitude, "{problem:?}: {of_reference:?}");
            assert!((of_cpu[0] - of_cpu[i]).abs() <= 1e-4 * magnitude, "{problem:?}: {of_cpu:?}");
        }
    }
}

/// Infinities and NaN go where the definition takes them, and no further: padding is no 0 that is multiplied.
#[test]
fn values_that_are_not_finite() {
    for (i, problem) in chosen().iter().chain(&pinned()).chain(&problems(75, 24)).enumerate() {
        let operands = Operands::not_finite(problem, i as u64);
        for pass in Pass::ALL {
            check("CPU, not finite", (pass, &operands), Accuracy::FMA, on_cpu);
        }
    }
}
