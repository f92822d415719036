//! Expressions behind convolutions: on the CPU against one call after the other, on the host model against the reference, on a GPU
//! against the CPU.

use super::compare::{Accuracy, Operands, POISON, array, compare};
use super::gpu::at_once;
use super::memory::{Line, lines, to_bytes};
use super::problems::{chosen, problems};
use super::reference::Exact;
use super::rows::{AMPERE, HOPPER, NONE, accuracy, random_with, run};
use super::{C, Exactly, H, K, N, R, S, W, params, tensor};
use crate::support::{Random, gpu};
use ndarray::Array4;
use tilewright_dims::{Dim, Dims, Present, Without};
use tilewright_driver::{Arch, Source, TargetKind, compile, toolkit};
use tilewright_expr::bind::{Axis, Place, View, dense};
use tilewright_expr::emit::{Address, Caller, Inline, Inlined};
use tilewright_expr::{In, Out, bf16, f16, trace};
use tilewright_headers::headers_for;
use tilewright_headers::host_model::{HostModel, KernelSource, Schedule, skip};
use tilewright_ops::conv::{
    Fusing, Multiprocessor, Pass, Precision, Problem, conv2d, conv2d_grad_input, conv2d_grad_input_with,
    conv2d_grad_input_with_into, conv2d_with, conv2d_with_into,
};
use tilewright_ops::{Device, Fused, Tensor, fuse};

pub(super) type Places = (N, H, W, K);
pub(super) type Sum = In<f32, Places>;
/// An epilogue of the tests: a residual, whose rows may lie anywhere, and a scale for each channel.
type Epilogue<T> = Fused<(Sum, In<f16, Places>, In<f32, (K,)>), Out<T, Places>>;
/// The same behind an input's gradient.
pub(super) type Pixels = (N, H, W, C);
type GradEpilogue<T> = Fused<(In<f32, Pixels>, In<f16, Pixels>, In<f32, (C,)>), Out<T, Pixels>>;

macro_rules! epilogue {
    ($T:ty) => {
        epilogue!($T, Places, K)
    };
    ($T:ty, $places:ty, $channels:ty) => {
        |sum: In<f32, $places>, residual: In<f16, $places>, scale: In<f32, ($channels,)>| {
            ((sum * 2.0 + residual.to::<f32>()) * scale).to::<$T>().store::<$places>()
        }
    };
}

/// The sizes of what a pass writes.
pub(super) fn written_extents(problem: &Problem, pass: Pass) -> [usize; 4] {
    if pass == Pass::GradInput { problem.input_extents() } else { problem.output_extents() }
}

/// What the epilogue takes for a problem.
pub(super) struct Beside {
    residual: Vec<f32>,
    scale: Vec<f32>,
}

impl Beside {
    pub(super) fn random(problem: &Problem, pass: Pass, seed: u64) -> Beside {
        let mut r = Random(seed);
        let mut values = |len: usize| r.vec(len, |r| f16::from_f64(r.unit() * 2.0 - 1.0).to_f32());
        Beside { residual: values(written_extents(problem, pass).iter().product()), scale: values(problem.channels()) }
    }

    /// What is to come out, with what its error is judged by.
    pub(super) fn of(&self, (problem, pass): (&Problem, Pass), sums: Exact) -> Exact {
        let residual = array(written_extents(problem, pass), &self.residual);
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

pub(super) fn scale<D: Dim>(values: &[f32]) -> Tensor<f32, (D,)>
where
    (D,): Dims,
{
    Tensor::from_vec([values.len()], values.to_vec()).unwrap()
}

fn wide<U: Exactly, L: Dims>(made: &Tensor<U, L>) -> Vec<f32> {
    made.to_vec().unwrap().into_iter().map(Exactly::value).collect()
}

/// A poisoned tensor, and one that runs backwards in memory.
pub(super) fn poisoned<U: Exactly, L: Dims>(extents: [usize; 4], device: &Device) -> [Tensor<U, L>; 2]
where
    L::Set: Without<W, Was: Present<W>>,
{
    let values = vec![POISON; extents.iter().product()];
    let [one, other] = [0; 2].map(|_| tensor::<U, L>(extents, &values).to(device).unwrap());
    [one, other.reverse::<W>()]
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
    wide(&epilogue.call(&sums.unwrap(), &residual(p, &beside.residual), &scale(&beside.scale)).unwrap())
}

/// A new result, one in a tensor that is there, and one with gaps.
fn together<T: Exactly, U: Exactly>(
    device: &Device,
    epilogue: &Epilogue<U>,
    operands: &Operands,
    beside: &Beside,
) -> [Vec<f32>; 3] {
    let p = &operands.problem;
    let x = tensor::<T, (N, H, W, C)>(p.input_extents(), &operands.x).to(device).unwrap();
    let w = tensor::<T, (K, R, S, C)>(p.weight_extents(), &operands.w).to(device).unwrap();
    let residual = residual(p, &beside.residual).to(device).unwrap();
    let scale_of = |values: &[f32]| scale(values).to(device).unwrap();
    let beside = (&residual, &scale_of(&beside.scale));
    let [mut there, mut gaps] = poisoned::<U, Places>(p.output_extents(), device);
    let made = match &operands.bias {
        Some(bias) => {
            let bias = scale_of(bias);
            let params = params(p).bias(&bias);
            conv2d_with_into(&mut there, &x, &w, &params, epilogue, beside).unwrap();
            conv2d_with_into(&mut gaps, &x, &w, &params, epilogue, beside).unwrap();
            conv2d_with(&x, &w, &params, epilogue, beside)
        }
        None => {
            conv2d_with_into(&mut there, &x, &w, &params(p), epilogue, beside).unwrap();
            conv2d_with_into(&mut gaps, &x, &w, &params(p), epilogue, beside).unwrap();
            conv2d_with(&x, &w, &params(p), epilogue, beside)
        }
    };
    [wide(&made.unwrap()), wide(&there), wide(&gaps)]
}

/// As [`together`], of the input's gradient.
fn gradient<T: Exactly, U: Exactly>(
    device: &Device,
    epilogue: &GradEpilogue<U>,
    operands: &Operands,
    beside: &Beside,
) -> [Vec<f32>; 3] {
    let p = &operands.problem;
    let dy = tensor::<T, Places>(p.output_extents(), &operands.dy).to(device).unwrap();
    let w = tensor::<T, (K, R, S, C)>(p.weight_extents(), &operands.w).to(device).unwrap();
    let residual = tensor::<f16, Pixels>(p.input_extents(), &beside.residual).to(device).unwrap();
    let beside = (&residual, &scale(&beside.scale).to(device).unwrap());
    let (input, params) = ([p.height, p.width], params(p));
    let [mut there, mut gaps] = poisoned::<U, Pixels>(p.input_extents(), device);
    conv2d_grad_input_with_into(&mut there, &dy, &w, input, &params, epilogue, beside).unwrap();
    conv2d_grad_input_with_into(&mut gaps, &dy, &w, input, &params, epilogue, beside).unwrap();
    let made = conv2d_grad_input_with(&dy, &w, input, &params, epilogue, beside).unwrap();
    [wide(&made), wide(&there), wide(&gaps)]
}

/// Calls a function of the element type with that of a problem.
macro_rules! of_its_type {
    ($problem:expr, $function:ident($($argument:expr),*)) => {
        match $problem.precision {
            Precision::F16 => $function::<f16, _>($($argument),*),
            Precision::Bf16 => $function::<bf16, _>($($argument),*),
            Precision::F32 => $function::<f32, _>($($argument),*),
        }
    };
}

#[test]
fn on_the_cpu_it_is_one_call_after_the_other() {
    let (halves, floats, cpu) = (fuse(epilogue!(f16)), fuse(epilogue!(f32)), &Device::Cpu);
    for (i, problem) in chosen().iter().chain(&problems(61, 12)).enumerate() {
        let operands = Operands::random(problem, i as u64);
        let beside = Beside::random(problem, Pass::Forward, i as u64);
        let expected = [0; 3].map(|_| one_after_the_other(&halves, &operands, &beside));
        assert_eq!(of_its_type!(problem, together(cpu, &halves, &operands, &beside)), expected, "{problem:?}");
        let expected = [0; 3].map(|_| one_after_the_other(&floats, &operands, &beside));
        assert_eq!(of_its_type!(problem, together(cpu, &floats, &operands, &beside)), expected, "{problem:?}");
    }
}

#[test]
fn gradients_on_the_cpu() {
    let epilogue = fuse(epilogue!(f16, Pixels, C));
    for (i, problem) in chosen().iter().chain(&problems(66, 12)).enumerate() {
        let operands = Operands::random(problem, i as u64);
        let beside = Beside::random(problem, Pass::GradInput, i as u64);
        let dy = tensor::<f32, Places>(problem.output_extents(), &operands.dy);
        let w = tensor::<f32, (K, R, S, C)>(problem.weight_extents(), &operands.w);
        let sums = conv2d_grad_input(&dy, &w, [problem.height, problem.width], &params(problem)).unwrap();
        let residual = tensor::<f16, Pixels>(problem.input_extents(), &beside.residual);
        let expected = wide(&epilogue.call(&sums, &residual, &scale(&beside.scale)).unwrap());
        let got = of_its_type!(problem, gradient(&Device::Cpu, &epilogue, &operands, &beside));
        assert_eq!(got, [0; 3].map(|_| expected.clone()), "{problem:?}");
        let exact = beside.of((problem, Pass::GradInput), operands.exact(Pass::GradInput));
        compare(&format!("CPU, {problem:?}"), Precision::F16, Accuracy::FMA, &got[0], &exact);
    }
}

/// Whether the residual lies in planes, beside results of this type, or as they do.
fn planar(written: Precision) -> bool {
    written == Precision::F16
}

/// The epilogue as a function for a problem's kernel.
pub(super) fn function(problem: &Problem, pass: Pass, written: Precision) -> (Inline, Inlined) {
    let graph = match written {
        Precision::F16 => trace(epilogue!(f16)).graph,
        Precision::Bf16 => trace(epilogue!(bf16)).graph,
        Precision::F32 => trace(epilogue!(f32)).graph,
    };
    let extents = written_extents(problem, pass).map(|e| e as i64);
    let [n, h, w, k] = extents;
    let residual: Vec<Axis> = match planar(written) {
        true => dense(<(N, K, H, W)>::IDS, &[n, k, h, w]),
        false => dense(<Places>::IDS, &extents),
    };
    let channels = dense(<(K,)>::IDS, &[k]);
    let view = |axes| View { axes, place: Place::Device, alignment: 16, boxes: None };
    let points: Vec<_> = (0..4).map(|i| (<Places>::IDS[i], <Places>::NAMES[i], extents[i])).collect();
    let lanes = if k % 2 == 0 { 2 } else { 1 };
    let caller = Caller { points: &points, given: Some(0), lanes, sized: true, room: 0 };
    let inline = Inline::new(&graph, &[view(&residual), view(&channels)], &caller).unwrap();
    let inlined = inline.emit(&graph, "epilogue").unwrap();
    (inline, inlined)
}

/// The epilogue's parameters, and the memory that they name.
pub(super) fn parameters(
    extents: [usize; 4],
    written: Precision,
    (inline, inlined): &(Inline, Inlined),
    beside: &Beside,
) -> (Vec<u8>, [Vec<Line>; 2]) {
    let [n, h, w, k] = extents;
    let mut planes = vec![0.0; beside.residual.len()];
    for (i, value) in beside.residual.iter().enumerate() {
        let (pixel, channel) = (i / k, i % k);
        planes[(pixel / (h * w) * k + channel) * h * w + pixel % (h * w)] = *value;
    }
    assert_eq!(planes.len(), n * h * w * k);
    let residual = if planar(written) { &planes } else { &beside.residual };
    let memory = [lines(&to_bytes(Precision::F16, residual)), lines(&to_bytes(Precision::F32, &beside.scale))];
    let mut block = vec![0; inlined.bytes()];
    inlined.pack(inline, &mut block);
    for (address, at) in inlined.addresses(inline, 0) {
        let Address::Operand(i) = address else { panic!("{address:?}") };
        block[at..at + 8].copy_from_slice(&(memory[i - 1].as_ptr() as u64).to_ne_bytes());
    }
    (block, memory)
}

fn behind(written: Precision, epilogue: &Inlined) -> Fusing<'_> {
    Fusing { epilogue: Some(epilogue), ..Fusing::nothing(written) }
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
            let pass = [Pass::Forward, Pass::GradInput][i / 4 % 2];
            let function = function(problem, pass, written);
            let made = random_with(&mut r, (problem, pass), sm, behind(written, &function.1));
            ((problem, pass), written, function, made)
        })
        .collect();
    let sources: Vec<KernelSource<'_>> =
        cases.iter().map(|(.., (_, kernel))| KernelSource { name: "conv2d", text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for (number, ((problem, pass), written, function, (config, kernel))) in cases.iter().enumerate() {
        let seed = number as u64;
        let (pass, extents) = (*pass, written_extents(problem, *pass));
        let beside = Beside::random(problem, pass, seed);
        let (block, memory) = parameters(extents, *written, function, &beside);
        for (schedule, operands) in [
            (Schedule::Forward, Operands::random(problem, seed)),
            (Schedule::Shuffled(seed), Operands::not_finite(problem, seed)),
        ] {
            let mut out = vec![POISON; extents.iter().product()];
            run((&model, number), kernel, schedule, &operands, pass, (*written, [&block, NONE[1]]), &mut out);
            let exact = beside.of((problem, pass), operands.exact(pass));
            let what = format!("{pass:?}, {config:?}, {schedule:?}, {problem:?} as {written:?}");
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
        let pass = [Pass::Forward, Pass::GradInput][i % 2];
        let (_, inlined) = function(problem, pass, written);
        for (sm, arch) in [(HOPPER, Arch::new(9, 0)), (AMPERE, Arch::new(8, 0))] {
            let (config, kernel) = random_with(&mut r, (problem, pass), sm, behind(written, &inlined));
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
    let problems = [chosen(), problems(65, 12)].concat();
    at_once(problems.len(), |i| both_types(&device, &problems[i], i as u64));
}

/// Both types of results of both passes, on a GPU.
pub(super) fn both_types(device: &Device, problem: &Problem, seed: u64) {
    let (halves, floats) = (fuse(epilogue!(f16)), fuse(epilogue!(f32)));
    let (grad_halves, grad_floats) = (fuse(epilogue!(f16, Pixels, C)), fuse(epilogue!(f32, Pixels, C)));
    let operands = Operands::random(problem, seed);
    let accuracy = accuracy(problem.precision);
    let right = |pass: Pass, beside: &Beside, written, made: [Vec<f32>; 3]| {
        let exact = beside.of((problem, pass), operands.exact(pass));
        for made in made {
            compare(&format!("GPU, {pass:?}, {problem:?} as {written:?}"), written, accuracy, &made, &exact);
        }
    };
    let beside = Beside::random(problem, Pass::Forward, seed);
    let made = of_its_type!(problem, together(device, &halves, &operands, &beside));
    right(Pass::Forward, &beside, Precision::F16, made);
    let made = of_its_type!(problem, together(device, &floats, &operands, &beside));
    right(Pass::Forward, &beside, Precision::F32, made);
    let beside = Beside::random(problem, Pass::GradInput, seed);
    let made = of_its_type!(problem, gradient(device, &grad_halves, &operands, &beside));
    right(Pass::GradInput, &beside, Precision::F16, made);
    let made = of_its_type!(problem, gradient(device, &grad_floats, &operands, &beside));
    right(Pass::GradInput, &beside, Precision::F32, made);
}
