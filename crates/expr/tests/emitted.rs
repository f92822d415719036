//! Emitted kernels run on the host model and give the bits of the host evaluator and of the naive one.

use crate::naive::Naive;
use crate::random::{Case, Operand, Rng, case};
use crate::reference::casts::edges;
use crate::reference::paths::all;
use crate::tensor::{Layout, Stored, Tensor, evaluate, poison};
use std::collections::HashMap;
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Binding, Place, View, dense};
use tilewright_expr::collective::{Group, Shared};
use tilewright_expr::emit::{Field, Kernel, Piece, Pieces, emit, reciprocals};
use tilewright_expr::graph::{Graph, OperandSpec, Output};
use tilewright_expr::plan::Plan;
use tilewright_expr::sections::Sections;
use tilewright_expr::{Affine, Border, DType, Error, Filter, In, Rect, bf16, f16, trace};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule};

dims! { N, Y, X, C }

/// Random graphs; of at least 500 the kernels are compiled and run. One that fails is named: `EXPR_SEED=n` runs it alone.
const SEEDS: u64 = 850;
/// Bytes of a long kernel.
const LONG: usize = 9_000;

/// Wide accesses of the text go through this: one that is not aligned reads and writes rubbish instead, which the comparison
/// sees.
const ALIGNED: &str = "template <class T> struct Wide {};
template <class T, class P> T& operator%(Wide<T>, P* place) {
  static unsigned char rubbish[16];
  if ((unsigned long long)place % sizeof(T) == 0) return *(T*)place;
  __builtin_memset(rubbish, 0xee, 16);
  return *(T*)rubbish;
}
template <class T, class Params> T checked_sent(const Params& p, int at) {
  return Wide<const T>() % (const T*)((p.far ? p.far : p.sent) + at);
}
template <bool streaming, class T, class V> void checked_store(T* place, V value) { Wide<T>() % place = value; }
";

/// The text with every wide access checked, and how many there are.
pub(crate) fn checked(source: &str) -> (String, usize) {
    let mut text = source.replacen("prelude.cuh\"\n", &format!("prelude.cuh\"\n{ALIGNED}"), 1);
    let mut count = 0;
    for kind in ["uint4", "uint2", "unsigned"] {
        let load = format!("*(const {kind}*)");
        count += text.matches(&load).count() + text.matches(&format!("store<true>(({kind}*)")).count();
        text = text.replace(&load, &format!("Wide<const {kind}>() % "));
        text = text.replace(&format!("*({kind}*)("), &format!("Wide<{kind}>() % ({kind}*)("));
    }
    count += text.matches("sent<u").count();
    (text.replace("tw::arch::store<", "checked_store<").replace("tw::arch::sent<", "checked_sent<"), count)
}

/// A kernel with what it runs on.
#[derive(Clone)]
pub(crate) struct Prepared {
    name: String,
    pub(crate) plan: Plan,
    pub(crate) kernel: Kernel,
    inputs: Vec<Stored>,
    outputs: Vec<Stored>,
    expected: Vec<Tensor>,
    guarded: bool,
}

fn place(case: &Case, i: usize) -> Place {
    case.operands[i].place
}

/// Plans, emits, and computes what is expected. `None` where there are several sections, or a thread would need more loops than it
/// can have.
pub(crate) fn prepare(name: String, case: &Case, round: usize) -> Option<Prepared> {
    let inputs: Vec<Stored> = case.operands.iter().map(|o| Stored::new(&o.tensor, &o.layout)).collect();
    let (expected, failed) =
        evaluate(&case.graph, &inputs, &case.outputs, case.known, round).unwrap_or_else(|e| panic!("{name}: {e}"));
    let tensors: Vec<Tensor> = case.operands.iter().map(|o| o.tensor.clone()).collect();
    let shapes: Vec<Vec<i64>> = expected.iter().map(|t| t.shape.clone()).collect();
    let host_views: Vec<View<'_>> = inputs.iter().map(|s| s.view(Place::Device, case.known)).collect();
    let shared = Binding::new(&case.graph, &host_views)
        .and_then(|binding| Shared::find(&case.graph, &binding))
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let outputs: Vec<Stored> = case
        .outputs
        .iter()
        .zip(&expected)
        .map(|(layout, t)| Stored::poisoned(t.dtype, &t.dims, &t.shape, layout, poison(t.dtype, round)))
        .collect();
    let views: Vec<View<'_>> = inputs.iter().enumerate().map(|(i, s)| s.view(place(case, i), case.known)).collect();
    let out_views: Vec<View<'_>> = outputs.iter().map(|s| s.view(Place::Device, false)).collect();
    if Sections::new(&case.graph, &views, &out_views).is_ok_and(|s| s.list.len() > 1) {
        return None;
    }
    let plan = Plan::new(&case.graph, &views, &out_views).unwrap_or_else(|e| panic!("{name}: {e}"));
    let order = shared.zip(plan.group.as_ref()).map(|(shared, group)| (shared.dims, group.tree));
    let mut naive = Naive::new(&case.graph, &tensors, order);
    for (i, (a, b)) in naive.outputs(&shapes).iter().zip(&expected).enumerate() {
        assert!(a.same(b), "{name}, output {i}: the definition against HostKernel: {}", a.difference(b));
    }
    // Both look at both sides of a selection, and no random graph has a loop that is empty where a box may be outside: what
    // one of them checks, the other does.
    let guarded = failed.is_some();
    assert_eq!(naive.failed, guarded, "{name}: a box or a coordinate outside, by the definition and by HostKernel");
    let kernel = match emit(&case.graph, &plan) {
        Err(Error::Crowded { .. }) => return None,
        other => other.unwrap_or_else(|e| panic!("{name}: {e}")),
    };
    Some(Prepared { name, plan, kernel, inputs, outputs, expected, guarded })
}

impl Prepared {
    /// What a call sends. `far`: in the buffer even if there were room for it in the block.
    fn pieces(&self, far: bool) -> Pieces {
        let mut pieces = self.kernel.params.sent.pieces(&self.plan);
        if far {
            let fixed = self.plan.inputs.iter().filter(|s| s.place == Place::Host).count() - self.movable();
            pieces.buffer.extend(pieces.block.drain(fixed..));
            let start = pieces.buffer.first().map_or(0, |p| p.at);
            pieces.buffer.iter_mut().for_each(|p| p.at -= start);
            pieces.buffer_bytes = pieces.buffer.iter().map(|p| p.at + p.bytes).max().unwrap_or(0);
        }
        pieces
    }

    /// Operands that may travel in a buffer.
    fn movable(&self) -> usize {
        self.kernel.params.fields.iter().filter(|(f, _)| matches!(f, Field::Offset(_))).count()
    }

    /// The ways in which host operands can travel: beside the fields, in a buffer.
    fn ways(&self) -> Vec<bool> {
        let crowded = self.pieces(false).buffer_bytes > 0;
        [false, true].into_iter().filter(|far| !(crowded && !far || *far && self.movable() == 0)).collect()
    }

    /// Runs the kernel; the results and the error word.
    fn run(&self, model: &HostModel, source: usize, far: bool, schedule: Schedule) -> (Vec<Stored>, u32) {
        let (params, mut outputs, mut error) = (&self.kernel.params, self.outputs.clone(), 0u32);
        let pieces = self.pieces(far && self.pieces(false).buffer_bytes == 0);
        let mut data = vec![0u128; pieces.buffer_bytes.div_ceil(16) + 1];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut data);
        let mut block = vec![0u8; params.bytes()];
        let mut workspace = vec![0u64; self.kernel.workspace_bytes(&self.plan).div_ceil(8)];
        params.pack(&self.plan, &mut block);
        let sent = params.sent_offset();
        let packed = |p: &Piece| {
            let packed = self.inputs[p.operand].packed();
            assert_eq!(packed.len(), p.bytes);
            packed
        };
        for p in &pieces.block {
            block[sent + p.at..sent + p.at + p.bytes].copy_from_slice(&packed(p));
        }
        for p in &pieces.reciprocals {
            reciprocals(&packed(p), &mut block[sent + p.at..sent + p.at + p.bytes]);
        }
        for p in &pieces.buffer {
            bytes[p.at..p.at + p.bytes].copy_from_slice(&packed(p));
        }
        for (field, at) in params.fields.iter() {
            let (place, at) = (&mut block, *at as usize);
            let address = match *field {
                Field::Input(i) => self.inputs[usize::from(i)].pointer() as u64,
                Field::Output(i) => outputs[usize::from(i)].pointer_mut() as u64,
                Field::Error => &raw mut error as u64,
                Field::Workspace => workspace.as_mut_ptr() as u64,
                Field::Far if far => bytes.as_ptr() as u64,
                Field::Far => 0,
                Field::Offset(i) => {
                    let offset = pieces.offset(usize::from(i)).unwrap_or(usize::MAX) as u32;
                    place[at..at + 4].copy_from_slice(&offset.to_ne_bytes());
                    continue;
                }
                _ => continue,
            };
            assert_eq!(params.offset(*field), Some(at));
            place[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        }
        let [x, y] = self.plan.block;
        let shared_bytes = self.kernel.shared_bytes;
        // Blocks of the host model need not run at the same time, so that none may wait for another.
        let together = self.plan.group.as_ref().is_some_and(Group::together);
        let grid = if together { [1; 3] } else { self.plan.grid() };
        let launch = Launch { grid, block: [x, y, 1], shared_bytes, schedule };
        // SAFETY: the addresses are those of buffers that live until the call returns, as large as the plan has checked them
        // to be for these extents and strides.
        let result = unsafe { model.run(source, self.kernel.entry, launch, &block) };
        result.unwrap_or_else(|e| panic!("{}: {e}", self.name));
        (outputs, *std::hint::black_box(&error))
    }

    /// The same run by the kernel of another plan of the graph.
    pub(crate) fn planned(&self, name: String, graph: &Graph, plan: Plan) -> Prepared {
        let kernel = emit(graph, &plan).unwrap_or_else(|e| panic!("{name}: {e}"));
        Prepared { name, plan, kernel, ..self.clone() }
    }

    /// Runs the kernel in every way and compares.
    pub(crate) fn check(&self, model: &HostModel, source: usize) {
        for (i, far) in self.ways().into_iter().enumerate() {
            let schedule = Schedule::ALL[(source + i) % 3];
            let (outputs, error) = self.run(model, source, far, schedule);
            for (o, (expected, stored)) in self.expected.iter().zip(&outputs).enumerate() {
                stored.assert_gaps_untouched();
                let got = stored.read();
                let text = &self.kernel.source;
                assert!(
                    got.same(expected),
                    "{}, far {far}, output {o}: kernel against HostKernel: {}\n{text}",
                    self.name,
                    got.difference(expected)
                );
            }
            let found = error != 0;
            assert_eq!(found, self.guarded, "{}, far {far}: the error word is {error}", self.name);
        }
    }
}

/// Compiles kernels together, with every wide access checked.
pub(crate) fn compile(kernels: &[&Kernel]) -> (HostModel, usize) {
    let texts: Vec<(String, usize)> = kernels.iter().map(|k| checked(&k.source)).collect();
    let sources: Vec<KernelSource<'_>> = texts.iter().map(|(text, _)| KernelSource { name: "case", text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|e| panic!("{e}"));
    (model, texts.iter().map(|(_, n)| n).sum())
}

pub(crate) fn compiler(test: &str) -> bool {
    let there = HostModel::compiler().is_some();
    if !there {
        crate::skip(test, "no C++ compiler on this machine");
    }
    there
}

/// Compiles kernels together and runs each in every way.
pub(crate) fn check_kernels(test: &str, prepared: &[Prepared]) {
    if compiler(test) {
        let (model, _) = compile(&prepared.iter().map(|p| &p.kernel).collect::<Vec<_>>());
        prepared.iter().enumerate().for_each(|(i, p)| p.check(&model, i));
    }
}

#[test]
fn random_graphs() {
    let one = std::env::var("EXPR_SEED").ok().and_then(|s| s.parse::<u64>().ok());
    let seeds = one.map_or(0..SEEDS, |n| n..n + 1);
    // The host evaluator meets the definition, with or without a compiler.
    let mut prepared: Vec<Prepared> =
        seeds.filter_map(|seed| prepare(format!("EXPR_SEED={seed}"), &case(seed), seed as usize)).collect();
    assert!(prepared.len() as u64 > SEEDS * 3 / 4 || one.is_some(), "{} kernels of one section", prepared.len());
    if !compiler("emitted::random_graphs") {
        return;
    }
    // A long text takes the compiler a second: some of those are enough, with guards and without.
    let mut long = [0; 2];
    prepared.retain(|p| {
        let kept = &mut long[usize::from(p.kernel.guards)];
        *kept += usize::from(p.kernel.source.len() > LONG);
        p.kernel.source.len() <= LONG || *kept <= 16 || one.is_some()
    });
    let (model, wide) = compile(&prepared.iter().map(|p| &p.kernel).collect::<Vec<_>>());
    prepared.iter().enumerate().for_each(|(i, p)| p.check(&model, i));
    if one.is_some() {
        return;
    }
    // What the generator is there for does occur.
    assert!(prepared.len() >= 500, "{} kernels", prepared.len());
    let count = |f: &dyn Fn(&Prepared) -> bool| prepared.iter().filter(|p| f(p)).count();
    assert!(wide > 400, "{wide} wide accesses");
    assert!(count(&|p| !p.plan.registers.is_empty()) > 40, "register dimensions");
    assert!(count(&|p| !p.plan.full_lanes()) > 40, "rows that end within a thread's points");
    let (guards, clamped) = (count(&|p| p.kernel.guards), count(&|p| p.guarded));
    assert!(guards > 20 && clamped >= 5, "{guards} kernels with guards, {clamped} boxes outside");
    assert!(
        count(&|p| p.kernel.params.bytes() > p.kernel.params.head_bytes) > 100,
        "operands that travel with the launch"
    );
    assert!(count(&|p| p.ways().len() > 1) > 100, "operands that may travel in a buffer");
    assert!(count(&|p| p.outputs.len() > 1) > 100, "several outputs");
    let taken_over = count(&|p| p.kernel.source.contains(" else if ("));
    assert!(taken_over > 3, "{taken_over} kernels with values taken over from the row before");
}

/// Places and weights are computed once for all channels of a pixel.
#[test]
fn channels_share_their_places() {
    let t = trace(|p: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, maps: In<Affine, (N,)>| {
        let small = p.crop::<Y, X, _>(boxes).resize_with::<Y, X>(20, 30, Filter::Cubic);
        small.warp_affine::<Y, X, _>(maps, 32, 64, Filter::Linear, Border::Reflect101).store::<(N, C, Y, X)>()
    });
    let places = |channels: i64| {
        let axes = [
            dense(<(Y, X, C)>::IDS, &[100, 200, channels]),
            dense(<(N,)>::IDS, &[5]),
            dense(<(N,)>::IDS, &[5]),
            dense(<(N, C, Y, X)>::IDS, &[5, channels, 32, 64]),
        ];
        let views: Vec<View<'_>> =
            axes.iter().map(|a| View { axes: a, place: Place::Device, alignment: 16, boxes: None }).collect();
        let plan = Plan::new(&t.graph, &views[..3], &views[3..]).unwrap_or_else(|e| panic!("{e}"));
        let text = emit(&t.graph, &Plan { lanes: 1, ..plan }).unwrap_or_else(|e| panic!("{e}")).source;
        assert!(text.contains("tw::guard("));
        ["tw::floor(", "tw::div("].map(|what| text.matches(what).count())
    };
    let one = places(1);
    assert!(one[0] > 0 && one[1] > 0, "{one:?}");
    assert_eq!((places(2), places(4)), (one, one));
}

/// Parameters name the type of an operand of which nothing is read: each kernel stands alone.
#[test]
fn operands_that_nothing_reads() {
    let plan = |graph: &Graph, dims: &[u64]| {
        let axes: Vec<_> = (0..3).map(|_| dense(dims, &[64])).collect();
        let views: Vec<View<'_>> =
            axes.iter().map(|a| View { axes: a, place: Place::Device, alignment: 16, boxes: None }).collect();
        let plan = Plan::new(graph, &views[..2], &views[2..]).unwrap_or_else(|e| panic!("{e}"));
        emit(graph, &plan).unwrap_or_else(|e| panic!("{e}"))
    };
    let kernels = [
        plan(&trace(|_: In<f16, (X,)>, y: In<f32, (X,)>| (y * 2.0).store::<(X,)>()).graph, <(X,)>::IDS),
        plan(&trace(|_: In<bf16, (X,)>, y: In<f32, (X,)>| (y * 2.0).store::<(X,)>()).graph, <(X,)>::IDS),
    ];
    for kernel in &kernels {
        assert!(kernel.source.contains("f16* in0"), "{}", kernel.source);
        if compiler("emitted::operands_that_nothing_reads") {
            compile(&[kernel]);
        }
    }
}

/// Runs these on the host model, if there is a compiler.
pub(crate) fn check_all(test: &str, cases: impl Iterator<Item = (String, Case)>) {
    let prepared: Vec<Prepared> = cases.enumerate().filter_map(|(i, (name, case))| prepare(name, &case, i)).collect();
    if compiler(test) {
        let (model, _) = compile(&prepared.iter().map(|p| &p.kernel).collect::<Vec<_>>());
        prepared.iter().enumerate().for_each(|(i, p)| p.check(&model, i));
    }
}

/// Every operation on every type, casts to all types included, at the values where something happens.
#[test]
fn every_operation() {
    let cases = DType::ALL.into_iter().map(|dtype| {
        let mut rng = Rng::new(dtype as u64);
        let bits = edges(dtype);
        let shape = [bits.len() as i64];
        let first = Tensor { dtype, components: 1, dims: <(X,)>::IDS.to_vec(), shape: shape.to_vec(), bits };
        // With a step in memory, a thread computes one point: a short text.
        let layout = Layout { step: 2, ..Layout::dense(1) };
        let mut graph = Graph::default();
        let spec = OperandSpec { dtype, components: 1, dims: <(X,)>::IDS.into() };
        let operands = [(); 3].map(|()| {
            let number = graph.operand(spec.clone());
            graph.input(number, 0)
        });
        let nodes = all(&mut graph, operands);
        graph.outputs = nodes.iter().map(|n| Output { node: *n, dims: <(X,)>::IDS.into() }).collect();
        let tensors = [first, rng.tensor(dtype, <(X,)>::IDS, &shape), rng.tensor(dtype, <(X,)>::IDS, &shape)];
        let operand = |tensor| Operand { tensor, layout: layout.clone(), place: Place::Device };
        let operands = tensors.into_iter().map(operand).collect();
        let case = Case { outputs: vec![layout.clone(); graph.outputs.len()], graph, operands, known: true };
        (dtype.to_string(), case)
    });
    check_all("emitted::every_operation", cases);
}

/// The main pipeline: crop, resize, BGR, multiply, subtract, divide, planar.
fn pipeline() -> Graph {
    trace(
        |pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: In<f32, (C,)>, sub: In<f32, (C,)>, div: In<f32, (C,)>| {
            let pixel = pic.crop::<Y, X, _>(boxes).resize::<Y, X>(9, 6).reverse::<C>();
            ((pixel * mul - sub) / div).store::<(N, C, Y, X)>()
        },
    )
    .graph
}

#[test]
fn more_boxes_than_fit_into_the_parameter_block() {
    let mut rng = Rng::new(1);
    let graph = pipeline();
    let mut prepared = Vec::new();
    for (i, n) in [1, 5, 150, 300].into_iter().enumerate() {
        let boxes: Vec<Rect> = (0..n).map(|_| rng.inside(31, 53)).collect();
        let channel = |rng: &mut Rng| rng.tensor(DType::F32, <(C,)>::IDS, &[3]);
        let tensors = [
            rng.tensor(DType::U8, <(Y, X, C)>::IDS, &[31, 53, 3]),
            Tensor::boxes(<(N,)>::IDS, &[n], &boxes),
            channel(&mut rng),
            channel(&mut rng),
            channel(&mut rng),
        ];
        let operands = tensors.into_iter().enumerate().map(|(i, tensor)| Operand {
            layout: Layout::dense(tensor.dims.len()),
            place: if i == 0 { Place::Device } else { Place::Host },
            tensor,
        });
        let case =
            Case { graph: graph.clone(), operands: operands.collect(), outputs: vec![Layout::dense(4)], known: true };
        prepared.extend(prepare(format!("{n} boxes"), &case, i));
    }
    let ways: Vec<Vec<bool>> = prepared.iter().map(Prepared::ways).collect();
    assert_eq!(ways, [vec![false, true], vec![false, true], vec![false, true], vec![true]]);
    assert!(prepared.iter().all(|p| !p.kernel.guards), "boxes that were checked need no guard");
    if !compiler("emitted::more_boxes_than_fit_into_the_parameter_block") {
        return;
    }
    // One text for all of them, compiled once.
    let (model, _) = compile(&[&prepared[0].kernel]);
    prepared.iter().for_each(|p| p.check(&model, 0));
}

/// A divisor that travels with the launch is accompanied by its reciprocal: everything that makes the short division inexact
/// must be found.
#[test]
fn divisors_that_travel_with_the_launch() {
    let graph = trace(|x: In<f32, (X, C)>, d: In<f32, (C,)>, s: In<f32, ()>| (x / d / s).store::<(X, C)>()).graph;
    let all_ones = f32::from_bits(0x3fff_ffff);
    let mut divisors = [0.0, -0.0, f32::INFINITY, f32::NAN, 1e-45, -1e-39, all_ones, -all_ones, 3.0, -7.0].to_vec();
    divisors.extend([2f32.powi(-40), 2f32.powi(40), 1.1 * 2f32.powi(-41), 1.1 * 2f32.powi(41), f32::MAX, 1.0, 0.229]);
    divisors.push(f32::NEG_INFINITY);
    let mut rng = Rng::new(11);
    let tensor = |dims: &[u64], shape: &[i64], bits: Vec<u64>| Tensor {
        dtype: DType::F32,
        components: 1,
        dims: dims.to_vec(),
        shape: shape.to_vec(),
        bits,
    };
    let mut prepared = Vec::new();
    for (i, three) in divisors.chunks_exact(3).enumerate() {
        let mut dividends: Vec<u64> = edges(DType::F32).iter().flat_map(|b| [*b; 3]).collect();
        dividends.extend((0..300).map(|_| u64::from(rng.next() as u32)));
        let rows = dividends.len() as i64 / 3;
        let bits = |values: &[f32]| values.iter().map(|v| u64::from(v.to_bits())).collect();
        let tensors = [
            tensor(<(X, C)>::IDS, &[rows, 3], dividends),
            tensor(<(C,)>::IDS, &[3], bits(three)),
            tensor(&[], &[], bits(&[divisors[(i * 5 + 8) % divisors.len()]])),
        ];
        let operands = tensors.into_iter().enumerate().map(|(i, tensor)| Operand {
            layout: Layout::dense(tensor.dims.len()),
            place: if i == 0 { Place::Device } else { Place::Host },
            tensor,
        });
        let case =
            Case { graph: graph.clone(), operands: operands.collect(), outputs: vec![Layout::dense(2)], known: true };
        prepared.extend(prepare(format!("divisors {three:?}"), &case, i));
    }
    assert!(prepared.iter().all(|p| !p.pieces(false).reciprocals.is_empty()));
    if compiler("emitted::divisors_that_travel_with_the_launch") {
        let (model, _) = compile(&[&prepared[0].kernel]);
        prepared.iter().for_each(|p| p.check(&model, 0));
    }
}

/// Plans the pipeline for a picture and a number of crops, without touching memory.
fn plan_of(graph: &Graph, crops: i64, (height, width): (i64, i64), device_boxes: bool) -> Plan {
    let boxes: Vec<Rect> = (0..crops).map(|i| Rect::new((i % 7) as i32, (i % 5) as i32, 20, 10)).collect();
    let picture = dense(<(Y, X, C)>::IDS, &[height, width, 3]);
    let (list, channel) = (dense(<(N,)>::IDS, &[crops]), dense(<(C,)>::IDS, &[3]));
    let result = dense(<(N, C, Y, X)>::IDS, &[crops, 3, 9, 6]);
    let view = |axes, place, boxes| View { axes, place, alignment: 16, boxes };
    let rects = if device_boxes {
        view(&list[..], Place::Device, None)
    } else {
        view(&list[..], Place::Host, Some(&boxes[..]))
    };
    let host = view(&channel[..], Place::Host, None);
    let views = [view(&picture[..], Place::Device, None), rects, host, host, host];
    Plan::new(graph, &views, &[view(&result[..], Place::Device, None)]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn one_kernel_for_every_number_of_crops() {
    let graph = pipeline();
    for device in [false, true] {
        let plans: Vec<Plan> = [1, 150, 100_000].map(|n| plan_of(&graph, n, (2160, 3840), device)).into();
        let sources: Vec<String> =
            plans.iter().map(|p| emit(&graph, p).unwrap_or_else(|e| panic!("{e}")).source).collect();
        assert!(plans.iter().all(|p| p.key() == plans[0].key()));
        assert!(sources.iter().all(|s| *s == sources[0]));
        assert_eq!(
            plans.iter().map(|p| p.grid()[0] as i64).collect::<Vec<_>>(),
            plans.iter().map(|p| p.tiles().iter().product()).collect::<Vec<i64>>()
        );
    }
}

#[test]
fn equal_keys_mean_equal_sources() {
    let graph = pipeline();
    let mut rng = Rng::new(7);
    let mut by_key: HashMap<Vec<u64>, String> = HashMap::new();
    for _ in 0..200 {
        let (height, width, n) = (rng.range(20, 400), rng.range(30, 400), rng.range(1, 500));
        let plan = plan_of(&graph, n, (height, width), rng.chance(0.3));
        let source = emit(&graph, &plan).unwrap_or_else(|e| panic!("{e}")).source;
        assert_eq!(by_key.entry(plan.key()).or_insert_with(|| source.clone()), &source);
    }
    assert!(by_key.len() < 40, "{} kernels for 200 sizes", by_key.len());
    assert!(by_key.len() > 1, "alignment is a part of the key");

    let chain = trace(|x: In<f32, (Y, X)>, m: In<f32, (X,)>, s: In<f32, ()>| ((x * m + s) / m).store::<(Y, X)>()).graph;
    let mut by_key: HashMap<Vec<u64>, String> = HashMap::new();
    for _ in 0..200 {
        let (height, width) = (rng.range(1, 3000), rng.range(1, 3000));
        let (m, r) = (dense(<(X,)>::IDS, &[width]), dense(<(Y, X)>::IDS, &[height, width]));
        let mut x = dense(<(Y, X)>::IDS, &[height, width]);
        x[0].stride += rng.pick(&[0, 0, 1, 2, 4]);
        let alignment = rng.pick(&[4, 8, 16]);
        let view = |axes, place| View { axes, place, alignment, boxes: None };
        let scalar = view(&[], rng.pick(&[Place::Host, Place::Device]));
        let views = [view(&x[..], Place::Device), view(&m[..], Place::Device), scalar];
        let plan = Plan::new(&chain, &views, &[view(&r[..], Place::Device)]).unwrap_or_else(|e| panic!("{e}"));
        let source = emit(&chain, &plan).unwrap_or_else(|e| panic!("{e}")).source;
        assert_eq!(by_key.entry(plan.key()).or_insert_with(|| source.clone()), &source);
    }
    assert!(by_key.len() < 150, "{} kernels for 200 sizes", by_key.len());
}

#[test]
fn an_empty_batch_is_planned_and_has_no_blocks() {
    let graph = pipeline();
    let plan = plan_of(&graph, 0, (100, 100), false);
    assert_eq!(plan.points(), 0);
    assert_eq!(plan.grid()[0], 0);
}

#[test]
fn very_long_loops() {
    let graph = trace(|x: In<u8, (Y, X)>| (x + 1u8).store::<(Y, X)>()).graph;
    let axes = dense(<(Y, X)>::IDS, &[3, 3 << 30]);
    let view = View { axes: &axes, place: Place::Device, alignment: 16, boxes: None };
    let plan = Plan::new(&graph, &[view], &[view]).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        plan.points() == 9 << 30 && emit(&graph, &plan).unwrap_or_else(|e| panic!("{e}")).source.contains("long long")
    );

    let flipped = trace(|x: In<u8, (Y, X)>| x.reverse::<X>().store::<(Y, X)>()).graph;
    let refused = Plan::new(&flipped, &[view], &[view]);
    assert!(matches!(refused, Err(Error::TooLong { dim: "X", .. })), "{refused:?}");
}
