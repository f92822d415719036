//! Expressions as images, by the functions that users call: on the CPU bit for bit as with tensors, on a GPU against the reference.

use super::compare::{Accuracy, Operands, POISON, compare};
use super::computed::{Parts, mixed};
use super::fused::{Pixels, Places, Sum, poisoned, scale};
use super::gpu::at_once;
use super::problems::{chosen, problems};
use super::rows::accuracy;
use super::{C, Exactly, H, K, N, R, S, W, params, tensor};
use crate::support::gpu;
use tilewright_expr::{Centres, In, Value, bf16, f16};
use tilewright_ops::conv::{
    Conv2d, Pass, Precision, Problem, conv2d, conv2d_grad_input, conv2d_grad_input_into, conv2d_grad_input_with,
    conv2d_grad_input_workspace, conv2d_grad_weight, conv2d_grad_weight_into, conv2d_grad_weight_workspace,
    conv2d_into, conv2d_with, conv2d_with_into, conv2d_workspace, read,
};
use tilewright_ops::{Device, Error, Tensor, fuse, record};

type Weights<T> = Tensor<T, (K, R, S, C)>;

/// All results of a problem whose images are expressions: those of each pass, and of a forward pass with an expression behind it, which
/// doubles. On the CPU also those of tensors, which have the same bits there.
pub(super) struct Made {
    computed: Vec<(Pass, Vec<f32>)>,
    stored: Vec<(Pass, Vec<f32>)>,
    doubled: [Vec<f32>; 2],
}

fn numbers<T: Exactly, L: tilewright_dims::Dims>(tensor: &Tensor<T, L>) -> Vec<f32> {
    tensor.to_vec().unwrap().into_iter().map(Exactly::value).collect()
}

fn made<T: Exactly + Value>(device: &Device, problem: &Problem, [x, dy]: [&Parts; 2], operands: &Operands) -> Made {
    let (params, input, kernel) = (params(problem), [problem.height, problem.width], {
        let [_, kernel @ ..] = problem.weight_extents();
        kernel
    });
    let w = tensor::<T, (K, R, S, C)>(problem.weight_extents(), &operands.w).to(device).unwrap();
    let stored_x = tensor::<T, Pixels>(problem.input_extents(), &operands.x).to(device).unwrap();
    let stored_dy = tensor::<T, Places>(problem.output_extents(), &operands.dy).to(device).unwrap();

    let of_x = fuse(mixed!(T, Pixels, (N, C, H, W), H, W, C, x.extents));
    let (bytes, low, scales) = x.tensors::<(N, C, H, W), Pixels, (C,)>();
    let (bytes, low, scales) = (bytes.to(device).unwrap(), low.to(device).unwrap(), scales.to(device).unwrap());
    let image = read(&of_x, (&bytes, &low, &scales));
    let of_dy = fuse(mixed!(T, Places, (N, K, H, W), H, W, K, dy.extents));
    let (bytes, low, scales) = dy.tensors::<(N, K, H, W), Places, (K,)>();
    let (bytes, low, scales) = (bytes.to(device).unwrap(), low.to(device).unwrap(), scales.to(device).unwrap());
    let gradient = read(&of_dy, (&bytes, &low, &scales));

    let [mut y, mut with_gaps] = poisoned::<T, Places>(problem.output_extents(), device);
    conv2d_into(&mut y, &image, &w, &params).unwrap();
    conv2d_into(&mut with_gaps, &image, &w, &params).unwrap();
    let mut dx = tensor::<T, Pixels>(problem.input_extents(), &vec![POISON; operands.x.len()]).to(device).unwrap();
    conv2d_grad_input_into(&mut dx, &gradient, &w, &params).unwrap();
    let mut dw: Weights<f32> =
        tensor::<f32, _>(problem.weight_extents(), &vec![POISON; operands.w.len()]).to(device).unwrap();
    conv2d_grad_weight_into(&mut dw, &image, &gradient, &params).unwrap();
    let dw_of_x: Weights<f32> = conv2d_grad_weight(&image, &stored_dy, kernel, &params).unwrap();
    let dw_of_dy: Weights<f32> = conv2d_grad_weight(&stored_x, &gradient, kernel, &params).unwrap();
    let computed = vec![
        (Pass::Forward, numbers(&conv2d(&image, &w, &params).unwrap())),
        (Pass::Forward, numbers(&y)),
        (Pass::Forward, numbers(&with_gaps)),
        (Pass::GradInput, numbers(&conv2d_grad_input(&gradient, &w, input, &params).unwrap())),
        (Pass::GradInput, numbers(&dx)),
        (Pass::GradWeight, numbers(&dw)),
        (Pass::GradWeight, numbers(&dw_of_x)),
        (Pass::GradWeight, numbers(&dw_of_dy)),
    ];
    let of_tensors = || {
        let dw: Weights<f32> = conv2d_grad_weight(&stored_x, &stored_dy, kernel, &params).unwrap();
        vec![
            (Pass::Forward, numbers(&conv2d(&stored_x, &w, &params).unwrap())),
            (Pass::GradInput, numbers(&conv2d_grad_input(&stored_dy, &w, input, &params).unwrap())),
            (Pass::GradWeight, numbers(&dw)),
        ]
    };
    let stored = if device.as_gpu().is_none() { of_tensors() } else { Vec::new() };
    let double = fuse(|sum: Sum| (sum * 2.0).store::<Places>());
    let behind = conv2d_with(&image, &w, &params, &double, ()).unwrap();
    let mut into =
        tensor::<f32, Places>(problem.output_extents(), &vec![POISON; operands.dy.len()]).to(device).unwrap();
    conv2d_with_into(&mut into, &image, &w, &params, &double, ()).unwrap();
    Made { computed, stored, doubled: [numbers(&behind), numbers(&into)] }
}

fn all(device: &Device, problem: &Problem, seed: u64) -> (Operands, Made) {
    let [x, dy] = [problem.input_extents(), problem.output_extents()].map(|extents| Parts::random(extents, seed));
    let mut operands = Operands { bias: None, ..Operands::random(problem, seed) };
    operands.x = x.values(problem.precision);
    operands.dy = dy.values(problem.precision);
    let made = match problem.precision {
        Precision::F16 => made::<f16>(device, problem, [&x, &dy], &operands),
        Precision::Bf16 => made::<bf16>(device, problem, [&x, &dy], &operands),
        Precision::F32 => made::<f32>(device, problem, [&x, &dy], &operands),
    };
    (operands, made)
}

pub(super) fn right(device: &Device, problem: &Problem, seed: u64, accuracy: Accuracy) -> Made {
    let (operands, made) = all(device, problem, seed);
    for (pass, got) in &made.computed {
        let precision = if *pass == Pass::GradWeight { Precision::F32 } else { problem.precision };
        compare(&format!("{pass:?}, {problem:?}"), precision, accuracy, got, &operands.exact(*pass));
    }
    let mut exact = operands.exact(Pass::Forward);
    exact.values *= 2.0;
    exact.magnitudes *= 2.0;
    for got in &made.doubled {
        compare(&format!("doubled, {problem:?}"), Precision::F32, accuracy, got, &exact);
    }
    made
}

#[test]
fn on_the_cpu_it_is_what_a_tensor_gives() {
    for (i, problem) in chosen().iter().chain(&problems(121, 12)).enumerate() {
        let made = right(&Device::Cpu, problem, i as u64, Accuracy::FMA);
        for (pass, got) in &made.computed {
            let stored = made.stored.iter().find(|(it, _)| it == pass).map(|(_, numbers)| numbers);
            assert_eq!(Some(got), stored, "{pass:?}, {problem:?}");
        }
    }
}

#[test]
fn on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::read_face::on_a_gpu") else { return };
    let problems = [chosen(), problems(122, 24)].concat();
    at_once(problems.len(), |i| drop(right(&device, &problems[i], i as u64, accuracy(problems[i].precision))));
}

/// What no point computes by itself is a tensor before: shares of a pixel's sum over many channels.
fn shares(device: &Device) {
    let values: Vec<f32> = (0..2 * 3 * 4 * 32).map(|i| (i % 5 + 1) as f32).collect();
    let x = tensor::<f32, Pixels>([2, 3, 4, 32], &values).to(device).unwrap();
    let w = tensor::<f16, (K, R, S, C)>([32, 1, 1, 8], &[1.0; 256]).to(device).unwrap();
    let of_all = fuse(|x: In<f32, Pixels>| (x / x.sum::<C>()).to::<f16>().store::<Pixels>());
    let params = Conv2d::new().padding(1);
    let launches = record(|| {
        let y = conv2d(&read(&of_all, (&x,)), &w, &params).unwrap();
        let expected = conv2d(&of_all.call(&x).unwrap(), &w, &params).unwrap();
        assert_eq!(y.to_vec().unwrap(), expected.to_vec().unwrap());
    });
    assert_eq!(launches.len(), 4, "{launches:?}");
    assert_eq!(conv2d_workspace(&read(&of_all, (&x,)), &w, &params).unwrap(), 2 * x.len());
}

#[test]
fn what_is_no_function_of_a_place() {
    shares(&Device::Cpu);
}

#[test]
fn what_is_no_function_of_a_place_on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::read_face::what_is_no_function_of_a_place_on_a_gpu") else { return };
    shares(&device);
}

/// Both ways through a layer whose input is normalised: with expressions on both sides of the input's gradient.
#[test]
fn the_way_back() {
    let x = tensor::<f16, Pixels>([1, 4, 5, 8], &(0..160).map(|i| (i % 9) as f32 - 4.0).collect::<Vec<_>>());
    let dy = tensor::<f16, Places>([1, 4, 5, 8], &(0..160).map(|i| (i % 7) as f32 - 3.0).collect::<Vec<_>>());
    let y = tensor::<f16, Places>([1, 4, 5, 8], &(0..160).map(|i| (i % 3) as f32 - 1.0).collect::<Vec<_>>());
    let w = tensor::<f16, (K, R, S, C)>([8, 3, 3, 8], &(0..576).map(|i| (i % 5) as f32 - 2.0).collect::<Vec<_>>());
    // The derivative of the activation behind the layer, and of the one before.
    let behind =
        fuse(|dy: In<f16, Places>, y: In<f16, Places>| y.to::<f32>().gt(0.0).select(dy, f16::ZERO).store::<Places>());
    let before = fuse(|dx: In<f32, Pixels>, x: In<f16, Pixels>| {
        x.to::<f32>().gt(0.0).select(dx, 0.0).to::<f16>().store::<Pixels>()
    });
    let params = Conv2d::new().padding(1);
    let got = conv2d_grad_input_with(&read(&behind, (&dy, &y)), &w, [4, 5], &params, &before, (&x,)).unwrap();
    let dy = behind.call(&dy, &y).unwrap();
    assert_eq!(
        got.to_vec().unwrap(),
        conv2d_grad_input_with(&dy, &w, [4, 5], &params, &before, (&x,)).unwrap().to_vec().unwrap()
    );
}

#[test]
fn workspaces_and_records() {
    let x = tensor::<f32, Pixels>([1, 2, 2, 8], &[1.0; 32]);
    let dy = tensor::<f16, Places>([1, 2, 2, 8], &[1.0; 32]);
    let w = tensor::<f16, (K, R, S, C)>([8, 1, 1, 8], &[1.0; 64]);
    let (halved, params) = (fuse(|x: In<f32, Pixels>| (x * 0.5).to::<f16>().store::<Pixels>()), Conv2d::new());
    let same = fuse(|dy: In<f16, Places>| dy.store::<Places>());
    // On the CPU it is a tensor of halves, and a call of its own.
    assert_eq!(conv2d_workspace(&read(&halved, (&x,)), &w, &params).unwrap(), 64);
    assert_eq!(conv2d_grad_input_workspace(&read(&same, (&dy,)), &w, [2, 2], &params).unwrap(), 64);
    let both = conv2d_grad_weight_workspace(&read(&halved, (&x,)), &read(&same, (&dy,)), [1, 1, 8], &params).unwrap();
    let stored: Tensor<f16, Pixels> = halved.call(&x).unwrap();
    assert_eq!(both, 128 + conv2d_grad_weight_workspace(&stored, &dy, [1, 1, 8], &params).unwrap());
    assert_eq!(record(|| drop(conv2d(&read(&halved, (&x,)), &w, &params).unwrap())).len(), 2);
    // Nothing is read for no images.
    let none = x.narrow::<N>(0, 0).unwrap();
    assert_eq!(conv2d(&read(&halved, (&none,)), &w, &params).unwrap().extents(), [0, 2, 2, 8]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = tensor::<f32, Pixels>([1, 2, 2, 8], &[1.0; 32]);
    let w = tensor::<f32, (K, R, S, C)>([16, 1, 1, 8], &[1.0; 128]);
    let scaled = fuse(|x: In<f32, Pixels>, scale: In<f32, (C,)>| (x * scale).store::<Pixels>());
    let error = |it: Result<Tensor<f32, Places>, Error>| it.unwrap_err().to_string();
    // Sizes of an expression are those of a tensor.
    let text = error(conv2d(&read(&scaled, (&x, &scale(&[1.0; 8]))), &w, &Conv2d::new()));
    assert!(text.contains("8 long along `C`") && text.contains("16 long along `K`"), "{text}");
    // Its own operands have to fit one another.
    let text = error(conv2d(&read(&scaled, (&x, &scale(&[1.0; 7]))), &w, &Conv2d::new()));
    assert!(text.contains('8') && text.contains('7') && text.contains('C'), "{text}");
    let w = tensor::<f32, (K, R, S, C)>([8, 3, 1, 8], &[1.0; 192]);
    let text = error(conv2d(&read(&scaled, (&x, &scale(&[1.0; 8]))), &w, &Conv2d::new()));
    assert!(text.contains("2 long along `H`") && text.contains("reaches over 3"), "{text}");
    let mut y = tensor::<f32, Places>([1, 2, 2, 8], &[POISON; 32]);
    let clone = y.clone();
    let eight = scale(&[1.0; 8]);
    let image = read(&scaled, (&x, &eight));
    let params = Conv2d::new().padding([1, 0]);
    assert!(matches!(conv2d_into(&mut y, &image, &w, &params).unwrap_err(), Error::Shared { .. }));
    drop(clone);
    conv2d_into(&mut y, &image, &w, &params).unwrap();
}
