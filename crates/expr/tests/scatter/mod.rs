//! Scatters, histograms and stores under a condition: the definition, the host evaluator and kernels on the host model give the
//! same bits, into memory that holds something else before.

mod histograms;
mod meetings;
mod random;
mod refused;
mod under;

use crate::emitted::{checked, compiler};
use crate::naive::Naive;
use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate, poison};
use tilewright_expr::Error;
use tilewright_expr::bind::{Binding, Place, View};
use tilewright_expr::collective::{Shared, Tree};
use tilewright_expr::emit::{Address, Combined, MOST_PARAMETER_BYTES, Piece, Room, combine};
use tilewright_expr::graph::Graph;
use tilewright_expr::sections::Sections;
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule};

/// A graph with its operands and the layouts of its results.
pub(crate) struct Case {
    name: String,
    graph: Graph,
    operands: Vec<Tensor>,
    layouts: Vec<Layout>,
    outputs: Vec<Layout>,
}

impl Case {
    /// The graph on these operands, under layouts that `seed` says.
    pub(crate) fn new(name: impl Into<String>, graph: Graph, operands: Vec<Tensor>, seed: u64) -> Case {
        let name = name.into();
        assert!(graph.check().is_ok(), "{name}: {:?}", graph.check());
        let mut rng = Rng::new(seed);
        let mut layout =
            |rank: usize| if seed.is_multiple_of(2) { Layout::dense(rank) } else { Layout::random(&mut rng, rank) };
        let layouts = operands.iter().map(|t| layout(t.dims.len())).collect();
        let outputs = graph.results().iter().map(|r| layout(r.dims.len())).collect();
        Case { name, graph, operands, layouts, outputs }
    }
}

/// One launch.
struct Part<'a> {
    sections: Sections<'a>,
    kernel: Combined,
}

impl<'a> Part<'a> {
    fn new(sections: Sections<'a>) -> Part<'a> {
        let kernel = combine(&sections, Room::Small, MOST_PARAMETER_BYTES).unwrap_or_else(|e| panic!("{e}"));
        Part { sections, kernel }
    }

    fn run(&self, model: &HostModel, source: usize, inputs: &[Stored], outputs: &mut [Stored]) {
        let mut block = vec![0u8; self.kernel.bytes];
        self.kernel.pack(&self.sections, &mut block);
        let sending = self.kernel.sending(&self.sections);
        let mut data = vec![0u128; sending.buffer_bytes.div_ceil(16) + 1];
        let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut data);
        let put = |pieces: &[Piece], to: &mut [u8]| {
            pieces.iter().for_each(|p| to[p.at..p.at + p.bytes].copy_from_slice(&inputs[p.operand].packed()));
        };
        put(&sending.block, &mut block);
        put(&sending.buffer, buffer);
        let (mut error, mut workspaces) = (0u32, Vec::new());
        for (address, at) in self.kernel.addresses(&self.sections) {
            let address = match address {
                Address::Operand(i) => inputs[i].pointer() as u64,
                Address::Result(i, offset) => outputs[i].pointer_mut() as u64 + offset,
                Address::Error => &raw mut error as u64,
                Address::Far(offset) => buffer.as_ptr() as u64 + offset,
                Address::Workspace(_, bytes) => {
                    workspaces.push(vec![0u64; bytes.div_ceil(8)]);
                    workspaces.last_mut().expect("one").as_mut_ptr() as u64
                }
            };
            block[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        }
        let [x, y] = self.sections.block();
        let (grid, shared_bytes) = (self.sections.grid(), self.kernel.shared_bytes);
        let launch = Launch { grid, block: [x, y, 1], shared_bytes, schedule: Schedule::ALL[source % 3] };
        // SAFETY: the addresses are those of buffers that live until the call returns, as large as the plans have checked them
        // to be for these extents and strides.
        let result = unsafe { model.run(source, self.kernel.entry, launch, &block) };
        result.unwrap_or_else(|e| panic!("{e}\n{}", self.kernel.source));
        assert_eq!(*std::hint::black_box(&error), 0);
    }
}

/// A case on the way to the host model: its launches, in order.
struct Prepared<'a> {
    case: &'a Case,
    parts: Vec<Part<'a>>,
    inputs: Vec<Stored>,
    outputs: Vec<Stored>,
    expected: Vec<Tensor>,
}

impl Prepared<'_> {
    /// Sections whose blocks have places of their own.
    fn private(&self) -> usize {
        let sections = self.parts.iter().flat_map(|p| &p.sections.list);
        sections.filter(|s| s.plan.private.is_some()).count()
    }

    /// The order of the reductions that threads share in the section of a result.
    fn order(&self, result: usize, views: &[View<'_>]) -> Option<(Vec<(u64, i64)>, Tree)> {
        let sections = &self.parts.last()?.sections.list;
        let section = sections.iter().find(|s| s.targets.iter().any(|t| t.result == result))?;
        let mine: Vec<View<'_>> = section.operands.iter().map(|i| views[*i]).collect();
        let shared = Binding::new(&section.graph, &mine).and_then(|b| Shared::find(&section.graph, &b));
        shared.expect("sizes are known").zip(section.plan.group.as_ref()).map(|(s, group)| (s.dims, group.tree))
    }

    fn sources(&self) -> String {
        self.parts.iter().map(|p| p.kernel.source.clone()).collect()
    }
}

/// The result on the host, which is that of the definition; and the kernels.
fn prepare(case: &Case, round: usize) -> Prepared<'_> {
    prepare_if(case, round).unwrap_or_else(|| panic!("{}: a box or a coordinate is outside", case.name))
}

/// As [`prepare`]; `None` where a box or a coordinate that is read at lies outside, or a thread would need more loops than it can
/// have.
fn prepare_if(case: &Case, round: usize) -> Option<Prepared<'_>> {
    let prepared = launches(case, round)?;
    let views: Vec<View<'_>> = prepared.inputs.iter().map(|s| s.view(Place::Device, true)).collect();
    for (number, got) in prepared.expected.iter().enumerate() {
        let mut naive = Naive::new(&case.graph, &case.operands, prepared.order(number, &views));
        naive.held = u64::from_ne_bytes([poison(got.dtype, round); 8]);
        let defined = naive.output(number, &got.shape);
        let difference = || defined.difference(got);
        assert!(
            defined.same(got),
            "{}, result {number}: the definition against HostKernel: {}",
            case.name,
            difference()
        );
    }
    Some(prepared)
}

/// The result on the host, and the kernels.
fn launches(case: &Case, round: usize) -> Option<Prepared<'_>> {
    let name = &case.name;
    let inputs: Vec<Stored> = case.operands.iter().zip(&case.layouts).map(|(t, l)| Stored::new(t, l)).collect();
    let (expected, failed) = match evaluate(&case.graph, &inputs, &case.outputs, true, round) {
        Err(Error::Crowded { .. }) => return None,
        other => other.unwrap_or_else(|e| panic!("{name}: {e}")),
    };
    if failed.is_some() {
        return None;
    }
    let poisoned =
        |(layout, t): (&Layout, &Tensor)| Stored::poisoned(t.dtype, &t.dims, &t.shape, layout, poison(t.dtype, round));
    let outputs: Vec<Stored> = case.outputs.iter().zip(&expected).map(poisoned).collect();
    let views: Vec<View<'_>> = inputs.iter().map(|s| s.view(Place::Device, true)).collect();
    let out_views: Vec<View<'_>> = outputs.iter().map(|s| s.view(Place::Device, false)).collect();
    let fills = Sections::fills(&case.graph, &views, &out_views).unwrap_or_else(|e| panic!("{name}: {e}"));
    let main = Sections::new(&case.graph, &views, &out_views).unwrap_or_else(|e| panic!("{name}: {e}"));
    let parts = fills.into_iter().chain([main]).filter(|s| s.blocks() > 0).map(Part::new).collect();
    Some(Prepared { case, parts, inputs, outputs, expected })
}

/// Compiles the kernels together, runs each case and compares.
fn check(test: &str, prepared: &[Prepared<'_>]) {
    if !compiler(test) {
        return;
    }
    let texts: Vec<String> =
        prepared.iter().flat_map(|p| &p.parts).map(|part| checked(&part.kernel.source).0).collect();
    let sources: Vec<KernelSource<'_>> = texts.iter().map(|text| KernelSource { name: "case", text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|e| panic!("{e}"));
    let mut source = 0;
    for p in prepared {
        let mut outputs = p.outputs.clone();
        for part in &p.parts {
            part.run(&model, source, &p.inputs, &mut outputs);
            source += 1;
        }
        for (o, (expected, stored)) in p.expected.iter().zip(&outputs).enumerate() {
            stored.assert_gaps_untouched();
            let got = stored.read();
            let (name, text) = (&p.case.name, p.sources());
            assert!(
                got.same(expected),
                "{name}, result {o}: kernel against HostKernel: {}\n{text}",
                got.difference(expected)
            );
        }
    }
}

/// As [`check`], of cases.
pub(crate) fn check_cases(test: &str, cases: &[Case]) {
    let prepared: Vec<Prepared<'_>> = cases.iter().enumerate().map(|(i, case)| prepare(case, i)).collect();
    check(test, &prepared);
}

/// A tensor of coordinates, some outside of `0..n`.
fn coordinates(rng: &mut Rng, dims: &[u64], shape: &[i64], n: i64) -> Tensor {
    let count: i64 = shape.iter().product();
    let special = [-1, i32::MIN as i64, n, i32::MAX as i64];
    let one = |rng: &mut Rng| if rng.chance(0.1) { rng.pick(&special) } else { rng.range(0, n) };
    let bits = (0..count).map(|_| u64::from(one(rng) as i32 as u32)).collect();
    Tensor { dtype: tilewright_expr::DType::I32, components: 1, dims: dims.to_vec(), shape: shape.to_vec(), bits }
}
