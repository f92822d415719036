//! A kernel that calls a function at all points, and what it runs on.

use crate::emitted::checked;
use crate::random::{Case, Operand, Rng};
use crate::tensor::{Layout, Stored, Tensor, evaluate, poison};
use tilewright_expr::bind::{Place, View};
use tilewright_expr::emit::{Address, Caller, Inline, Inlined, Piece, reciprocals};
use tilewright_expr::graph::Graph;
use tilewright_expr::{DType, Error};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule};

/// How a function is called.
#[derive(Clone, Debug)]
pub(super) struct How {
    pub(super) given: Option<u16>,
    pub(super) lanes: u32,
    /// Whether it is for these sizes alone: as functions of two points and of eight are here.
    pub(super) sized: bool,
    pub(super) room: usize,
    /// The points' dimensions, outermost first; `None`: as they are stored.
    pub(super) order: Option<Vec<u64>>,
}

impl How {
    pub(super) fn given(operand: u16, lanes: u32) -> How {
        How { given: Some(operand), ..How::read(lanes) }
    }

    pub(super) fn read(lanes: u32) -> How {
        How { given: None, lanes, sized: matches!(lanes, 2 | 8), room: 256, order: None }
    }
}

/// A function with its operands in memory.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) inline: Inline,
    pub(super) text: Inlined,
    pub(super) inputs: Vec<Stored>,
    pub(super) points: Vec<(u64, i64)>,
    pub(super) expected: Tensor,
    given: Option<DType>,
    guarded: bool,
    how: How,
}

/// Tensors of random values for the operands of a graph: their dimensions in the order of `sizes`, layouts and places as `layout`
/// says for a number and a rank.
pub(super) fn random_case(
    graph: Graph,
    seed: u64,
    sizes: &[(u64, i64)],
    mut layout: impl FnMut(&mut Rng, usize, usize) -> (Layout, Place),
) -> Case {
    let mut rng = Rng::new(seed);
    let mut operands = Vec::new();
    for (i, spec) in graph.operands.clone().iter().enumerate() {
        let (dims, shape): (Vec<u64>, Vec<i64>) = sizes.iter().copied().filter(|(d, _)| spec.dims.contains(d)).unzip();
        let (layout, place) = layout(&mut rng, i, shape.len());
        operands.push(Operand { tensor: rng.tensor(spec.dtype, &dims, &shape), layout, place });
    }
    let outputs = graph.outputs.iter().map(|o| Layout::dense(o.dims.len())).collect();
    Case { graph, operands, outputs, known: true }
}

impl Call {
    /// Plans and writes the function of that name, and computes what is expected.
    pub(super) fn new(name: String, case: &Case, how: How, function: &str) -> Result<Call, Error> {
        let inputs = case.operands.iter().map(|o| Stored::new(&o.tensor, &o.layout)).collect();
        let places: Vec<Place> = case.operands.iter().map(|o| o.place).collect();
        Call::of(name, (&case.graph, inputs, &places, case.known), how, function)
    }

    /// As [`Call::new`], of operands that stand somewhere already.
    pub(super) fn of(
        name: String,
        (graph, mut inputs, places, known): (&Graph, Vec<Stored>, &[Place], bool),
        how: How,
        function: &str,
    ) -> Result<Call, Error> {
        let layouts: Vec<Layout> = graph.results().iter().map(|r| Layout::dense(r.dims.len())).collect();
        let (mut expected, failed) = evaluate(graph, &inputs, &layouts, known, how.lanes as usize)?;
        let expected = expected.remove(0);
        let length = |d: &u64| expected.shape[expected.dims.iter().position(|e| e == d).expect("a stored dimension")];
        let order = how.order.clone().unwrap_or(expected.dims.clone());
        let points: Vec<(u64, i64)> = order.iter().map(|d| (*d, length(d))).collect();
        // What is given stands in the order of the points, for the kernel here to find.
        let given = how.given.map(usize::from);
        if let Some(given) = given {
            let tensor = inputs[given].read();
            inputs[given] = Stored::new(&tensor, &in_order(&tensor.dims, &order));
        }
        let read = inputs.iter().zip(places).enumerate().filter(|(i, _)| Some(*i) != given);
        let views: Vec<View<'_>> = read.map(|(_, (s, place))| s.view(*place, known)).collect();
        let named: Vec<_> = points.iter().map(|(d, n)| (*d, graph.dim_name(*d), *n)).collect();
        let caller = Caller { points: &named, given: how.given, lanes: how.lanes, sized: how.sized, room: how.room };
        let inline = Inline::new(graph, &views, &caller)?;
        let text = inline.emit(graph, function)?;
        assert_eq!(text.dtype, expected.dtype);
        let given = given.map(|i| graph.operands[i].dtype);
        Ok(Call { name, inline, text, inputs, points, expected, given, guarded: failed.is_some(), how })
    }

    /// The function's parameters, with `far` for operands that find no room.
    pub(super) fn pack(&self, block: &mut [u8], error: *const u32, far: &mut Vec<u128>) {
        self.text.pack(&self.inline, block);
        let sending = self.text.sending(&self.inline, 0);
        far.resize(sending.buffer_bytes.div_ceil(16) + 1, 0);
        let put = |pieces: &[Piece], to: &mut [u8]| {
            for p in pieces {
                let packed = self.inputs[p.operand].packed();
                assert_eq!(packed.len(), p.bytes);
                to[p.at..p.at + p.bytes].copy_from_slice(&packed);
            }
        };
        put(&sending.block, block);
        put(&sending.buffer, bytemuck::cast_slice_mut(far));
        for (_, p) in &sending.reciprocals {
            reciprocals(&self.inputs[p.operand].packed(), &mut block[p.at..p.at + p.bytes]);
        }
        for (address, at) in self.text.addresses(&self.inline, 0) {
            let address = match address {
                Address::Operand(i) => self.inputs[i].pointer() as u64,
                Address::Error => error as u64,
                Address::Far(start) => far.as_ptr() as u64 + start,
                Address::Result(..) | Address::Workspace(..) => panic!("a function has none"),
            };
            block[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        }
    }

    /// The kernel: a thread has as many points as the function at once, and what a row leaves over one by one.
    pub(super) fn kernel(&self, function: &str) -> String {
        let (lanes, rank) = (self.how.lanes, self.points.len());
        let (made, given) = (self.text.dtype.cuda(), self.given.map_or("void", DType::cuda));
        let row: String = (0..rank.saturating_sub(1))
            .rev()
            .map(|i| format!("    const int c{i} = (int)(row % p.n[{i}]);\n    row /= p.n[{i}];\n"))
            .collect();
        let inner = if rank == 0 { "1".to_string() } else { format!("p.n[{}]", rank - 1) };
        let chunks = format!("(({inner} + {}) / {lanes})", lanes - 1);
        let one = format!("{function}(p.f{}{})", self.coordinates("x + k"), self.passed("p.given[at + k]"));
        format!(
            "{}{}struct Params {{
  {function}_Params f;
  const {given}* given;
  {made}* made;
  long long chunks;
  int n[{}];
}};
extern \"C\" __global__ void kernel(const __grid_constant__ Params p) {{
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < p.chunks; i += blockDim.x * gridDim.x) {{
    long long row = i / {chunks};
    const int x = (int)(i % {chunks}) * {lanes};
    const long long at = row * {inner} + x;
{row}{}    for (int k = 0; k < {lanes} && x + k < {inner}; ++k) p.made[at + k] = {one};
  }}
}}
",
            includes(&self.text),
            self.text.source,
            rank.max(1),
            if lanes > 1 { self.several(function, &inner) } else { String::new() },
        )
    }

    /// The call for several points at once. What is given and what is made are one array where their types are one.
    fn several(&self, function: &str, inner: &str) -> String {
        let (lanes, made) = (self.how.lanes, self.text.dtype.cuda());
        let each = |text: &str| format!("      for (int k = 0; k < {lanes}; ++k) {text};\n");
        let (mut before, mut array) = (String::new(), "made");
        if let Some(given) = self.given.map(DType::cuda) {
            before = format!("      {given} given[{lanes}];\n{}", each("given[k] = p.given[at + k]"));
            array = if given == made { "given" } else { array };
        }
        if array == "made" {
            before.push_str(&format!("      {made} made[{lanes}];\n"));
        }
        let call = format!("{function}(p.f{}{}, {array})", self.coordinates("x"), self.passed("given"));
        let after = each(&format!("p.made[at + k] = {array}[k]"));
        format!("    if (x + {lanes} <= {inner}) {{\n{before}      {call};\n{after}      continue;\n    }}\n")
    }

    fn coordinates(&self, inner: &str) -> String {
        let rank = self.points.len();
        let outer = (0..rank.saturating_sub(1)).map(|i| format!(", c{i}"));
        outer.chain((rank > 0).then(|| format!(", {inner}"))).collect()
    }

    fn passed(&self, text: &str) -> String {
        if self.given.is_some() { format!(", {text}") } else { String::new() }
    }

    /// Runs the kernel and compares.
    pub(super) fn check(&self, model: &HostModel, source: usize) {
        let (mut far, mut error) = (Vec::new(), 0u32);
        let mut block = vec![0u8; self.text.bytes()];
        self.pack(&mut block, &raw mut error, &mut far);
        let order: Vec<u64> = self.points.iter().map(|(d, _)| *d).collect();
        let (dtype, dims, shape) = (self.expected.dtype, &self.expected.dims, &self.expected.shape);
        let mut made = Stored::poisoned(dtype, dims, shape, &in_order(dims, &order), poison(dtype, source));
        let given = self.how.given.map_or(0, |i| self.inputs[usize::from(i)].pointer() as u64);
        block.extend(given.to_ne_bytes());
        block.extend((made.pointer_mut() as u64).to_ne_bytes());
        let lanes = i64::from(self.how.lanes);
        let (inner, outer) = self.points.split_last().map_or((1, &self.points[..]), |(last, rest)| (last.1, rest));
        let chunks = outer.iter().map(|(_, n)| n).product::<i64>() * ((inner + lanes - 1) / lanes);
        block.extend(chunks.to_ne_bytes());
        self.points.iter().for_each(|(_, n)| block.extend((*n as i32).to_ne_bytes()));
        block.resize((self.text.bytes() + 24 + 4 * self.points.len().max(1)).next_multiple_of(16), 0);
        let launch =
            Launch { grid: [2, 1, 1], block: [32, 1, 1], shared_bytes: 0, schedule: Schedule::ALL[source % 3] };
        // SAFETY: the addresses are those of buffers that live until the call returns, as large as the plan has checked them
        // to be for these extents and strides.
        let result = unsafe { model.run(source, "kernel", launch, &block) };
        result.unwrap_or_else(|e| panic!("{}: {e}", self.name));
        made.assert_gaps_untouched();
        let (got, text) = (made.read(), &self.text.source);
        assert!(
            got.same(&self.expected),
            "{}, {:?}: function against HostKernel: {}\n{text}",
            self.name,
            self.how,
            got.difference(&self.expected)
        );
        let found = *std::hint::black_box(&error);
        assert_eq!(found != 0, self.guarded, "{}: the error word is {found}", self.name);
    }
}

/// Dimensions with their sizes.
pub(super) fn sized(dims: &[u64], sizes: &[i64]) -> Vec<(u64, i64)> {
    dims.iter().copied().zip(sizes.iter().copied()).collect()
}

/// The headers that a function stands behind.
pub(super) fn includes(text: &Inlined) -> String {
    text.headers.iter().map(|name| format!("#include \"tilewright/{name}.cuh\"\n")).collect()
}

/// Dense memory whose axes are in this order.
fn in_order(dims: &[u64], order: &[u64]) -> Layout {
    let place = |d: &u64| dims.iter().position(|own| own == d).expect("the same dimensions");
    Layout { order: order.iter().map(place).collect(), ..Layout::dense(dims.len()) }
}

/// Compiles kernels together, with every wide access checked. Says how many of those there are.
pub(super) fn compile(texts: &[String]) -> (HostModel, usize) {
    let texts: Vec<(String, usize)> = texts.iter().map(|text| checked(text)).collect();
    let sources: Vec<KernelSource<'_>> = texts.iter().map(|(text, _)| KernelSource { name: "case", text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|e| panic!("{e}"));
    (model, texts.iter().map(|(_, n)| n).sum())
}

/// Compiles the kernels of all calls and runs each. Says how many wide accesses they have.
pub(super) fn check_all(calls: &[Call]) -> usize {
    let (model, wide) = compile(&calls.iter().map(|c| c.kernel("f")).collect::<Vec<_>>());
    calls.iter().enumerate().for_each(|(i, call)| call.check(&model, i));
    wide
}
