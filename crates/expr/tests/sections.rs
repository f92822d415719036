//! Launches of several sections: outputs of other sizes, and results of several parts, in one kernel.

use crate::emitted::{checked, compiler};
use crate::naive::Naive;
use crate::random::{Case, Operand, Rng, sections as random};
use crate::tensor::{Layout, Stored, Tensor, evaluate, poison};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Binding, Place, View, dense};
use tilewright_expr::collective::Shared;
use tilewright_expr::emit::{Address, Combined, MOST_PARAMETER_BYTES, Piece, Room, combine, reciprocals};
use tilewright_expr::graph::Graph;
use tilewright_expr::scatter::Initial;
use tilewright_expr::sections::{Section, Sections};
use tilewright_expr::{DType, Error, Expr, In, concatenate, trace};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule};

dims! { N, Y, X, K }

const SEEDS: u64 = 60;

/// A launch with what it runs on.
pub(crate) struct Prepared<'a> {
    name: String,
    sections: Sections<'a>,
    kernel: Combined,
    inputs: Vec<Stored>,
    outputs: Vec<Stored>,
    expected: Vec<Tensor>,
}

/// The values of every result by the definition: each output with the order of reductions of its section, put together here.
fn defined(case: &Case, sections: &Sections<'_>, views: &[View<'_>]) -> Vec<Tensor> {
    let tensors: Vec<Tensor> = case.operands.iter().map(|o| o.tensor.clone()).collect();
    let binding = Binding::new(&case.graph, views).expect("it is bound");
    let section_of = |result: usize, part: usize| -> &Section<'_> {
        let start = |s: &&Section<'_>| s.targets.iter().find(|t| t.result == result).map(|t| t.start);
        let mut of: Vec<&Section<'_>> = sections.list.iter().filter(|s| start(s).is_some()).collect();
        of.sort_by_key(start);
        of[part]
    };
    let mut results = Vec::new();
    for (number, result) in case.graph.results().iter().enumerate() {
        let mut whole: Option<Tensor> = None;
        for (part, output) in result.outputs.clone().enumerate() {
            let section = section_of(number, part);
            let mine: Vec<View<'_>> = section.operands.iter().map(|i| views[*i]).collect();
            let shared = Binding::new(&section.graph, &mine).and_then(|b| Shared::find(&section.graph, &b));
            let order = shared.expect("sizes are known").zip(section.plan.group.as_ref());
            let order = order.map(|(shared, group)| (shared.dims, group.tree));
            let shape = binding.output(output).expect("a size");
            let tensor = Naive::new(&case.graph, &tensors, order).output(output, &shape);
            whole = Some(match (whole, result.along) {
                (None, None) => tensor,
                (None, Some(dim)) => lifted(tensor, dim, result.dims),
                (Some(before), Some(dim)) => after(&before, &lifted(tensor, dim, result.dims), dim),
                (Some(_), None) => unreachable!("one output"),
            });
        }
        results.push(whole.expect("a part"));
    }
    results
}

/// A part with its missing dimension.
fn lifted(tensor: Tensor, along: u64, dims: &[u64]) -> Tensor {
    if tensor.dims.contains(&along) {
        return tensor;
    }
    let mut shape = tensor.shape.clone();
    shape.insert(dims.iter().position(|d| *d == along).expect("the result has it"), 1);
    Tensor { dims: dims.to_vec(), shape, ..tensor }
}

/// `b` behind `a`.
fn after(a: &Tensor, b: &Tensor, along: u64) -> Tensor {
    let axis = a.dims.iter().position(|d| *d == along).expect("both have it");
    let inner: i64 = a.shape[axis + 1..].iter().product();
    let mut bits = Vec::new();
    for outer in 0..a.shape[..axis].iter().product::<i64>() {
        for t in [a, b] {
            let run = (t.shape[axis] * inner) as usize;
            bits.extend(&t.bits[outer as usize * run..(outer as usize + 1) * run]);
        }
    }
    let mut shape = a.shape.clone();
    shape[axis] += b.shape[axis];
    Tensor { shape, bits, ..a.clone() }
}

/// Plans, emits, and computes what is expected. `None` where a thread would need more loops than it can have, or a box is outside.
pub(crate) fn prepare<'a>(name: String, case: &'a Case, round: usize) -> Option<Prepared<'a>> {
    let inputs: Vec<Stored> = case.operands.iter().map(|o| Stored::new(&o.tensor, &o.layout)).collect();
    let (expected, failed) =
        evaluate(&case.graph, &inputs, &case.outputs, case.known, round).unwrap_or_else(|e| panic!("{name}: {e}"));
    if failed.is_some() {
        return None;
    }
    // Places of a scattered result hold their initial value before: here always zeros.
    let first = |i: usize, t: &Tensor| match case.graph.partial(i).map(|p| p.initial) {
        Some(Initial::Filled(value)) if value.bits == 0 => 0,
        _ => poison(t.dtype, round),
    };
    let stored = |(i, (layout, t)): (usize, (&Layout, &Tensor))| {
        Stored::poisoned(t.dtype, &t.dims, &t.shape, layout, first(i, t))
    };
    let outputs: Vec<Stored> = case.outputs.iter().zip(&expected).enumerate().map(stored).collect();
    let view = |(s, o): (_, &crate::random::Operand)| Stored::view(s, o.place, case.known);
    let views: Vec<View<'_>> = inputs.iter().zip(&case.operands).map(view).collect();
    let out_views: Vec<View<'_>> = outputs.iter().map(|s| s.view(Place::Device, false)).collect();
    let sections = Sections::new(&case.graph, &views, &out_views).unwrap_or_else(|e| panic!("{name}: {e}"));
    for (i, (a, b)) in defined(case, &sections, &views).iter().zip(&expected).enumerate() {
        assert!(a.same(b), "{name}, result {i}: the definition against HostKernel: {}", a.difference(b));
    }
    let room = if round % 4 == 3 { Room::Large } else { Room::Small };
    let kernel = match combine(&sections, room, MOST_PARAMETER_BYTES) {
        Err(Error::Crowded { .. }) => return None,
        other => other.unwrap_or_else(|e| panic!("{name}: {e}")),
    };
    Some(Prepared { name, sections, kernel, inputs, outputs, expected })
}

impl Prepared<'_> {
    /// Runs the kernel and compares.
    fn check(&self, model: &HostModel, source: usize) {
        let (mut outputs, mut error) = (self.outputs.clone(), 0u32);
        let mut block = vec![0u8; self.kernel.bytes];
        self.kernel.pack(&self.sections, &mut block);
        let sending = self.kernel.sending(&self.sections);
        let mut data = vec![0u128; sending.buffer_bytes.div_ceil(16) + 1];
        let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut data);
        let put = |pieces: &[Piece], to: &mut [u8]| {
            for p in pieces {
                let packed = self.inputs[p.operand].packed();
                assert_eq!(packed.len(), p.bytes);
                to[p.at..p.at + p.bytes].copy_from_slice(&packed);
            }
        };
        put(&sending.block, &mut block);
        put(&sending.buffer, buffer);
        for (_, p) in &sending.reciprocals {
            reciprocals(&self.inputs[p.operand].packed(), &mut block[p.at..p.at + p.bytes]);
        }
        let mut workspaces: Vec<Vec<u64>> = Vec::new();
        for (address, at) in self.kernel.addresses(&self.sections) {
            let address = match address {
                Address::Operand(i) => self.inputs[i].pointer() as u64,
                Address::Result(i, offset) => (outputs[i].pointer_mut() as u64).wrapping_add(offset),
                Address::Error => &raw mut error as u64,
                Address::Far(offset) => buffer.as_ptr() as u64 + offset,
                Address::Workspace(number, bytes) => {
                    assert_eq!(number, workspaces.len());
                    workspaces.push(vec![0; bytes.div_ceil(8)]);
                    workspaces[number].as_mut_ptr() as u64
                }
            };
            block[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        }
        let [x, y] = self.sections.block();
        let schedule = Schedule::ALL[source % 3];
        let (grid, shared_bytes) = (self.sections.grid(), self.kernel.shared_bytes);
        let launch = Launch { grid, block: [x, y, 1], shared_bytes, schedule };
        // SAFETY: the addresses are those of buffers that live until the call returns, as large as the plans have checked them
        // to be for these extents and strides.
        let result = unsafe { model.run(source, self.kernel.entry, launch, &block) };
        let text = &self.kernel.source;
        result.unwrap_or_else(|e| panic!("{}: {e}\n{text}", self.name));
        for (o, (expected, stored)) in self.expected.iter().zip(&outputs).enumerate() {
            stored.assert_gaps_untouched();
            let got = stored.read();
            let same = got.same(expected);
            assert!(same, "{}, result {o}: kernel against HostKernel: {}\n{text}", self.name, got.difference(expected));
        }
        assert_eq!(*std::hint::black_box(&error), 0, "{}", self.name);
    }
}

/// Compiles the kernels together and runs each.
pub(crate) fn check_all(test: &str, prepared: &[Prepared<'_>]) {
    if !compiler(test) {
        return;
    }
    let texts: Vec<String> = prepared.iter().map(|p| checked(&p.kernel.source).0).collect();
    let sources: Vec<KernelSource<'_>> = texts.iter().map(|text| KernelSource { name: "case", text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|e| panic!("{e}"));
    prepared.iter().enumerate().for_each(|(i, p)| p.check(&model, i));
}

#[test]
fn random_sections() {
    let one = std::env::var("EXPR_SEED").ok().and_then(|s| s.parse::<u64>().ok());
    let cases: Vec<(u64, Case)> = one.map_or(0..SEEDS, |n| n..n + 1).map(|seed| (seed, random(seed))).collect();
    let prepared: Vec<Prepared<'_>> =
        cases.iter().filter_map(|(seed, case)| prepare(format!("EXPR_SEED={seed}"), case, *seed as usize)).collect();
    if one.is_none() {
        // What the generator is there for does occur.
        let count = |f: &dyn Fn(&Prepared<'_>) -> bool| prepared.iter().filter(|p| f(p)).count();
        let several = count(&|p| p.sections.list.len() > 2);
        let groups = count(&|p| p.sections.list.len() > 1 && p.sections.list.iter().any(|s| s.plan.group.is_some()));
        let beside = count(&|p| p.sections.list.iter().any(|s| s.targets.len() > 1));
        let sent = count(&|p| !p.kernel.sending(&p.sections).block.is_empty());
        let far = count(&|p| p.kernel.sending(&p.sections).buffer_bytes > 0);
        let shaped = count(&|p| p.sections.list.len() > 1 && p.kernel.source.contains("threadIdx.x / "));
        assert!(several > 20 && groups > 5 && sent > 10 && shaped > 10, "{several} {groups} {sent} {shaped}");
        assert!(far > 0, "{far} launches with a buffer of host operands");
        assert!(beside > 2, "{beside} sections of several outputs");
    }
    check_all("sections::random_sections", &prepared);
}

/// Reductions that several blocks share, beside each other and beside plain loops: each section has a workspace and barriers.
#[test]
fn shared_reductions_beside_plain_loops() {
    let graph = trace(|p: In<f32, (Y, X)>, q: In<f32, (K,)>, r: In<f32, (N, K)>| {
        let (squares, most) = ((q * q).sum::<K>(), r.maximum::<K>());
        ((p * 2.0).store::<(Y, X)>(), squares.store::<()>(), most.store::<(N,)>(), p.sum::<Y>().store::<(X,)>())
    })
    .graph;
    let shapes: [(&[u64], &[i64]); 3] =
        [(<(Y, X)>::IDS, &[70, 9]), (<(K,)>::IDS, &[20_000]), (<(N, K)>::IDS, &[3, 9_000])];
    let mut rng = Rng::new(5);
    let operand = |(dims, shape): (&[u64], &[i64])| Operand {
        tensor: rng.tensor(DType::F32, dims, shape),
        layout: Layout::dense(dims.len()),
        place: Place::Device,
    };
    let operands = shapes.into_iter().map(operand).collect();
    let outputs = graph.outputs.iter().map(|o| Layout::dense(o.dims.len())).collect();
    let case = Case { graph, operands, outputs, known: true };
    let prepared = prepare("reductions".into(), &case, 0).expect("few loops");
    let cut = |s: &&Section<'_>| s.plan.group.as_ref().is_some_and(|g| g.segments() > 1);
    assert_eq!(prepared.sections.list.iter().filter(cut).count(), 2);
    assert!(prepared.sections.list.iter().any(|s| s.plan.group.as_ref().is_some_and(|g| g.tall)));
    check_all("sections::shared_reductions_beside_plain_loops", &[prepared]);
}

/// The sections of planes that are made in a loop, for so many rows and columns.
fn planes(graph: &Graph, [y, x]: [i64; 2], n: i64) -> (Vec<u64>, String, i64) {
    let (picture, result) = (dense(<(Y, X)>::IDS, &[y, x]), dense(<(N, Y, X)>::IDS, &[n, y, x]));
    let view = |axes| View { axes, place: Place::Device, alignment: 16, boxes: None };
    let sections = Sections::new(graph, &[view(&picture[..])], &[view(&result[..])]).unwrap_or_else(|e| panic!("{e}"));
    let source = combine(&sections, Room::Small, MOST_PARAMETER_BYTES).unwrap_or_else(|e| panic!("{e}")).source;
    (sections.key(), source, sections.blocks())
}

#[test]
fn one_kernel_for_every_size_of_planes() {
    let graph = trace(|p: In<f32, (Y, X)>| {
        let planes: Vec<Expr<f32, _>> = (0..5).map(|i| p * (i as f32 + 0.5)).collect();
        concatenate::<N, _>(planes).store::<(N, Y, X)>()
    })
    .graph;
    let [small, large] = [[20, 640], [200, 1280]].map(|size| planes(&graph, size, 5));
    assert_eq!((&small.0, &small.1), (&large.0, &large.1));
    assert!(large.2 > small.2);
    let other = planes(&graph, [21, 641], 5);
    assert!(other.0 != small.0 && other.1 != small.1, "rows that are not aligned are another kernel");
}

/// More planes than the usual parameter block has room for, and more than any has.
#[test]
fn sixty_four_planes() {
    let graph = trace(|p: In<f32, (Y, X)>| {
        let planes: Vec<Expr<f32, _>> = (0..64).map(|i| p + i as f32).collect();
        concatenate::<N, _>(planes).store::<(N, Y, X)>()
    })
    .graph;
    let mut rng = Rng::new(6);
    let tensor = rng.tensor(DType::F32, <(Y, X)>::IDS, &[3, 33]);
    let operands = vec![Operand { tensor, layout: Layout::dense(2), place: Place::Device }];
    let case = Case { graph, operands, outputs: vec![Layout::dense(3)], known: true };
    let prepared = prepare("planes".into(), &case, 1).expect("no loops");
    assert_eq!((prepared.sections.list.len(), prepared.kernel.source.matches("__global__").count()), (64, 1));
    check_all("sections::sixty_four_planes", &[prepared]);
}
