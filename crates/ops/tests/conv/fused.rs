//! Expressions behind convolutions: on the CPU against one call after the other, on the host model against the reference, on a GPU
//! against the CPU.

use super::compare::{Operands, POISON, array, compare};
use super::problems::{chosen, problems};
use super::reference::Exact;
use super::rows::{AMPERE, HOPPER, Line, accuracy, lines, random_with, run, to_bytes};
use super::{C, Exactly, H, K, N, R, S, W, params, tensor};
use crate::support::{Random, gpu};
use ndarray::Array4;
use tilewright_dims::Dims;
use tilewright_driver::{Arch, Source, TargetKind, compile, toolkit};
use tilewright_expr::bind::{Axis, Place, View, dense};
use tilewright_expr::emit::{Address, Caller, Inline, Inlined};
use tilewright_expr::{In, Out, bf16, f16, trace};
use tilewright_headers::headers_for;
use tilewright_headers::host_model::{HostModel, KernelSource, Schedule, skip};
use tilewright_ops::conv::{Conv2d, Multiprocessor, Pass, Precision, Problem, conv2d, conv2d_with};
use tilewright_ops::{Device, Error, Fused, Tensor, fuse};

type Places = (N, H, W, K);
type Sum = In<f32, Places>;
/// An epilogue of the tests: a residual, whose rows may lie anywhere, and a scale for each channel.
type Epilogue<T> = Fused<(Sum, In<f16, Places>, In<f32, (K,)>), Out<T, Places>>;

macro_rules! epilogue {
    ($T:ty) => {
        |sum: Sum, residual: In<f16, Places>, scale: In<f32, (K,)>| {
            ((sum * 2.0 + residual.to::<f32>()) * scale).to::<$T>().store::<Places>()
        }
    };
}

/// What the epilogue takes for a problem.
struct Beside {
    residual: Vec<f32>,
    scale: Vec<f32>,
}

impl Beside {
    fn random(problem: &Problem, seed: u64) -> Beside {
        let mut r = Random(seed);
        let mut values = |len: usize| r.vec(len, |r| f16::from_f64(r.unit() * 2.0 - 1.0).to_f32());
        Beside { residual: values(problem.output_extents().iter().product()), scale: values(problem.channels()) }
    }

    /// What is to come out, with what its error is judged by.
    fn of(&self, problem: &Problem, sums: Exact) -> Exact {
        let residual = array(problem.output_extents(), &self.residual);
        let scale = |k: usize| f64::from(self.scale[k]);
        let values = |sums: &Array4<f64>, of: fn(f64, f64, f64) -> f64| {
            Array4::from_shape_fn(sums.raw_dim(), |at| of(sums[at], residual[at], scale(at.3)))
        };
        Exact {
            values: values(&sums.values, |sum, residual, scale| (sum * 2.0 + residual) * scale),
            magnitudes: values(&sums.magnitudes, |sum, residual, scale| (sum * 2.0 + residual.abs()) * scale.abs()),
            terms: sums.terms.mapv(|terms| terms + 3),
        }
    }
}

/// Planes in memory, pixels by name.
fn residual(problem: &Problem, values: &[f32]) -> Tensor<f16, Places> {
    let in_order = tensor::<f16, Places>(problem.output_extents(), values);
    let [n, h, w, k] = problem.output_extents();
    let mut planes = Tensor::<f16, (N, K, H, W)>::from_vec([n, k, h, w], vec![f16::ZERO; n * h * w * k]).unwrap();
    fuse(|x: In<f16, Places>| x.store::<(N, K, H, W)>()).call_into(&mut planes, &in_order).unwrap();
    planes.permute::<Places>()
}

fn scale(values: &[f32]) -> Tensor<f32, (K,)> {
    Tensor::from_vec([values.len()], values.to_vec()).unwrap()
}

/// One call after the other: sums of elements that f32 holds are the same in f32.
fn one_after_the_other<U: Exactly>(epilogue: &Epilogue<U>, operands: &Operands, beside: &Beside) -> Vec<f32> {
    let p = &operands.problem;
    let x = tensor::<f32, (N, H, W, C)>(p.input_extents(), &operands.x);
    let w = tensor::<f32, (K, R, S, C)>(p.weight_extents(), &operands.w);
    let sums = match &operands.bias {
        Some(bias) => conv2d(&x, &w, &params(p).bias(&scale(bias))),
        None => conv2d(&x, &w, &params(p)),
    };
    let made = epilogue.call(&sums.unwrap(), &residual(p, &beside.residual), &scale(&beside.scale)).unwrap();
    made.to_vec().unwrap().into_iter().map(Exactly::value).collect()
}

fn together<T: Exactly, U: Exactly>(
    device: &Device,
    epilogue: &Epilogue<U>,
    operands: &Operands,
    beside: &Beside,
) -> Vec<f32> {
    let p = &operands.problem;
    let x = tensor::<T, (N, H, W, C)>(p.input_extents(), &operands.x).to(device).unwrap();
    let w = tensor::<T, (K, R, S, C)>(p.weight_extents(), &operands.w).to(device).unwrap();
    let residual = residual(p, &beside.residual).to(device).unwrap();
    let scale_of = |values: &[f32]| scale(values).to(device).unwrap();
    let beside = (&residual, &scale_of(&beside.scale));
    let made = match &operands.bias {
        Some(bias) => conv2d_with(&x, &w, &params(p).bias(&scale_of(bias)), epilogue, beside),
        None => conv2d_with(&x, &w, &params(p), epilogue, beside),
    };
    made.unwrap().to_vec().unwrap().into_iter().map(Exactly::value).collect()
}

#[test]
fn on_the_cpu_it_is_one_call_after_the_other() {
    let (halves, wide) = (fuse(epilogue!(f16)), fuse(epilogue!(f32)));
    for (i, problem) in chosen().iter().chain(&problems(61, 12)).enumerate() {
        let (operands, beside) = (Operands::random(problem, i as u64), Beside::random(problem, i as u64));
        let expected =
            [one_after_the_other(&halves, &operands, &beside), one_after_the_other(&wide, &operands, &beside)];
        let cpu = &Device::Cpu;
        let got = match problem.precision {
            Precision::F16 => [
                together::<f16, _>(cpu, &halves, &operands, &beside),
                together::<f16, _>(cpu, &wide, &operands, &beside),
            ],
            Precision::Bf16 => [
                together::<bf16, _>(cpu, &halves, &operands, &beside),
                together::<bf16, _>(cpu, &wide, &operands, &beside),
            ],
            Precision::F32 => [
                together::<f32, _>(cpu, &halves, &operands, &beside),
                together::<f32, _>(cpu, &wide, &operands, &beside),
            ],
        };
        assert_eq!(got, expected, "{problem:?}");
    }
}

/// The epilogue as a function for a problem's kernel.
fn function(problem: &Problem, written: Precision) -> (Inline, Inlined) {
    let graph = match written {
        Precision::F16 => trace(epilogue!(f16)).graph,
        Precision::Bf16 => trace(epilogue!(bf16)).graph,
        Precision::F32 => trace(epilogue!(f32)).graph,
    };
    let extents = problem.output_extents().map(|e| e as i64);
    let [n, h, w, k] = extents;
    let planes: Vec<Axis> = dense(<(N, K, H, W)>::IDS, &[n, k, h, w]);
    let channels = dense(<(K,)>::IDS, &[k]);
    let view = |axes| View { axes, place: Place::Device, alignment: 16, boxes: None };
    let points: Vec<_> = (0..4).map(|i| (<Places>::IDS[i], <Places>::NAMES[i], extents[i])).collect();
    let lanes = if k % 2 == 0 { 2 } else { 1 };
    let caller = Caller { points: &points, given: Some(0), lanes, room: 0 };
    let inline = Inline::new(&graph, &[view(&planes), view(&channels)], &caller).unwrap();
    let inlined = inline.emit(&graph, "epilogue").unwrap();
    (inline, inlined)
}

/// The epilogue's parameters, and the memory that they name.
fn parameters(problem: &Problem, (inline, inlined): &(Inline, Inlined), beside: &Beside) -> (Vec<u8>, [Vec<Line>; 2]) {
    let [n, h, w, k] = problem.output_extents();
    let mut planes = vec![0.0; beside.residual.len()];
    for (i, value) in beside.residual.iter().enumerate() {
        let (pixel, channel) = (i / k, i % k);
        planes[(pixel / (h * w) * k + channel) * h * w + pixel % (h * w)] = *value;
    }
    assert_eq!(planes.len(), n * h * w * k);
    let memory = [lines(&to_bytes(Precision::F16, &planes)), lines(&to_bytes(Precision::F32, &beside.scale))];
    let mut block = vec![0; inlined.bytes()];
    inlined.pack(inline, &mut block);
    for (address, at) in inlined.addresses(inline, 0) {
        let Address::Operand(i) = address else { panic!("{address:?}") };
        block[at..at + 8].copy_from_slice(&(memory[i - 1].as_ptr() as u64).to_ne_bytes());
    }
    (block, memory)
}

fn right(name: &str, problems: &[Problem], sm: Multiprocessor) {
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let mut r = Random(97);
    let cases: Vec<_> = problems
        .iter()
        .enumerate()
        .map(|(i, problem)| {
            let written = [Precision::F16, Precision::F32, problem.precision, Precision::Bf16][i % 4];
            let function = function(problem, written);
            let made = random_with(&mut r, (problem, Pass::Forward), sm, (written, Some(&function.1)));
            (problem, written, function, made)
        })
        .collect();
    let sources: Vec<KernelSource<'_>> =
        cases.iter().map(|(.., (_, kernel))| KernelSource { name: "conv2d", text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for (number, (problem, written, function, (config, kernel))) in cases.iter().enumerate() {
        let seed = number as u64;
        let beside = Beside::random(problem, seed);
        let (block, memory) = parameters(problem, function, &beside);
        for (schedule, operands) in [
            (Schedule::Forward, Operands::random(problem, seed)),
            (Schedule::Shuffled(seed), Operands::not_finite(problem, seed)),
        ] {
            let mut out = vec![POISON; problem.output_extents().iter().product()];
            run((&model, number), kernel, schedule, &operands, Pass::Forward, (*written, &block), &mut out);
            let exact = beside.of(problem, operands.exact(Pass::Forward));
            let what = format!("{config:?}, {schedule:?}, {problem:?} as {written:?}");
            compare(&what, *written, accuracy(problem.precision), &out, &exact);
        }
        drop(memory);
    }
}

/// Through NVRTC, which takes other things for granted than the host's compiler.
#[test]
fn kernels_compile() {
    if toolkit::nvrtc().is_err() {
        return skip("conv::fused::kernels_compile", "no NVRTC");
    }
    let mut r = Random(99);
    for (i, problem) in chosen().iter().enumerate().take(6) {
        let written = [Precision::F16, Precision::F32, Precision::Bf16][i / 2];
        let (_, inlined) = function(problem, written);
        for (sm, arch) in [(HOPPER, Arch::new(9, 0)), (AMPERE, Arch::new(8, 0))] {
            let (config, kernel) = random_with(&mut r, (problem, Pass::Forward), sm, (written, Some(&inlined)));
            let headers = headers_for(&kernel.text);
            let source = Source {
                name: "fused".into(),
                headers: headers.into_iter().map(|(name, text)| (name.to_string(), text.into())).collect(),
                text: kernel.text,
                options: Vec::new(),
                target: TargetKind::Portable,
            };
            compile(&source, arch).unwrap_or_else(|e| panic!("{arch:?}, {config:?}: {e}"));
        }
    }
}

#[test]
fn by_the_copy_engine() {
    right("fused::by_the_copy_engine", &[chosen(), problems(63, 12)].concat(), HOPPER);
}

#[test]
fn by_threads() {
    right("fused::by_threads", &problems(64, 12), AMPERE);
}

#[test]
fn on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::fused::on_a_gpu") else { return };
    let (halves, wide) = (fuse(epilogue!(f16)), fuse(epilogue!(f32)));
    for (i, problem) in chosen().iter().chain(&problems(65, 12)).enumerate() {
        let (operands, beside) = (Operands::random(problem, i as u64), Beside::random(problem, i as u64));
        let exact = || beside.of(problem, operands.exact(Pass::Forward));
        let (to_halves, to_floats) = match problem.precision {
            Precision::F16 => (
                together::<f16, _>(&device, &halves, &operands, &beside),
                together::<f16, _>(&device, &wide, &operands, &beside),
            ),
            Precision::Bf16 => (
                together::<bf16, _>(&device, &halves, &operands, &beside),
                together::<bf16, _>(&device, &wide, &operands, &beside),
            ),
            Precision::F32 => (
                together::<f32, _>(&device, &halves, &operands, &beside),
                together::<f32, _>(&device, &wide, &operands, &beside),
            ),
        };
        let accuracy = accuracy(problem.precision);
        compare(&format!("GPU, f16, {problem:?}"), Precision::F16, accuracy, &to_halves, &exact());
        compare(&format!("GPU, f32, {problem:?}"), Precision::F32, accuracy, &to_floats, &exact());
    }
}

/// What no kernel makes at once: results of bytes, planes, and sums over channels.
fn any_expression(device: &Device) {
    let problem = chosen()[0];
    let operands = Operands::random(&problem, 1);
    let x = tensor::<f16, (N, H, W, C)>(problem.input_extents(), &operands.x).to(device).unwrap();
    let w = tensor::<f16, (K, R, S, C)>(problem.weight_extents(), &operands.w).to(device).unwrap();
    let sums = fuse(|sum: Sum| sum.store::<Places>());
    let sums = conv2d_with(&x, &w, &params(&problem), &sums, ()).unwrap();

    let bytes = fuse(|sum: Sum, by: In<f32, ()>| (sum * by + 128.0).to::<u8>().store::<Places>());
    let made = conv2d_with(&x, &w, &params(&problem), &bytes, (9.0f32,)).unwrap();
    assert_eq!(made.to_vec().unwrap(), bytes.call(&sums, 9.0f32).unwrap().to_vec().unwrap());

    let planes = fuse(|sum: Sum, by: In<f32, ()>| (sum * by).to::<f16>().store::<(N, K, H, W)>());
    let made = conv2d_with(&x, &w, &params(&problem), &planes, (0.5f32,)).unwrap();
    assert_eq!(made.to_vec().unwrap(), planes.call(&sums, 0.5f32).unwrap().to_vec().unwrap());

    let shares = fuse(|sum: Sum| sum.sum::<K>().store::<(N, H, W)>());
    let made = conv2d_with(&x, &w, &params(&problem), &shares, ()).unwrap();
    assert_eq!(made.to_vec().unwrap(), shares.call(&sums).unwrap().to_vec().unwrap());
}

#[test]
fn any_expression_on_the_cpu() {
    any_expression(&Device::Cpu);
}

#[test]
fn any_expression_on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::fused::any_expression_on_a_gpu") else { return };
    any_expression(&device);
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = Tensor::<f32, (N, H, W, C)>::from_vec([1, 2, 2, 8], vec![1.0; 32]).unwrap();
    let w = Tensor::<f32, (K, R, S, C)>::from_vec([8, 1, 1, 8], vec![1.0; 64]).unwrap();
    let scaled = fuse(|sum: Sum, scale: In<f32, (K,)>| (sum * scale).store::<Places>());
    let error = conv2d_with(&x, &w, &Conv2d::new(), &scaled, (&scale(&[1.0; 7]),)).unwrap_err();
    assert!(matches!(error, Error::Expr(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains('8') && text.contains('7') && text.contains('K'), "{text}");
}
