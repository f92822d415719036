//! What a convolution does with its sums before it stores them: scale, bias, residual, activation, cast.

use super::calls::{Call, How, check_all, compile, includes, random_case, sized};
use crate::emitted::compiler;
use crate::random::{Case, Rng};
use crate::tensor::{Layout, Stored, Tensor};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::extend::scalar_fn;
use tilewright_expr::graph::Graph;
use tilewright_expr::{Border, In, Value, bf16, coordinate, f16, trace};
use tilewright_headers::host_model::{Launch, Schedule};

dims! { N, H, W, K }

type Image<T> = In<T, (N, H, W, K)>;

/// Points at once.
const LANES: [u32; 4] = [1, 2, 4, 8];

/// A leaky step with a loop.
#[scalar_fn(cuda = "
    float eased(float x, float slope) {
        float y = x;
        for (int i = 0; i < 2; ++i) y = y < 0.0f ? y * slope : y - slope;
        return y;
    }")]
fn eased(x: f32, slope: f32) -> f32 {
    (0..2).fold(x, |y, _| if y < 0.0 { y * slope } else { y - slope })
}

fn usual() -> Graph {
    trace(|acc: Image<f32>, residual: Image<f16>, bias: In<f32, (K,)>, scale: In<f32, ()>| {
        (acc * scale + bias + residual.to::<f32>()).max(0.0).to::<f16>().store::<(N, H, W, K)>()
    })
    .graph
}

fn sizes(channels: i64) -> Vec<(u64, i64)> {
    sized(<(N, H, W, K)>::IDS, &[2, 3, 5, channels])
}

/// Dense operands in device memory, those without dimensions on the host.
fn plain(_: &mut Rng, _: usize, rank: usize) -> (Layout, Place) {
    (Layout::dense(rank), if rank == 0 { Place::Host } else { Place::Device })
}

fn call(name: &str, case: &Case, how: How) -> Call {
    Call::new(name.into(), case, how, "f").unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// What varies along fewer dimensions, coordinates, reads of other operands elsewhere, results of every width.
fn graphs() -> Vec<(&'static str, Graph)> {
    let images = trace(|acc: Image<f32>, gain: In<f32, (N, K)>, row: In<bf16, (H, W)>, low: In<i32, (W,)>| {
        let x = coordinate::<W>().min(low).to::<f32>();
        acc.mul_add(gain, row.to::<f32>() / x).to::<bf16>().store::<(N, H, W, K)>()
    });
    let neighbours = trace(|acc: Image<f32>, other: Image<u8>, order: In<i32, (K,)>| {
        let beside = other.at_border::<W, _>(coordinate::<W>() - 1, Border::Reflect101).to::<f32>();
        let moved =
            other.reverse::<K>().at::<H, _>(1).to::<f32>() + other.at_border::<K, _>(order, Border::Wrap).to::<f32>();
        (acc + beside * moved).to::<u8>().store::<(N, H, W, K)>()
    });
    let own = trace(|acc: Image<f32>, slope: In<f32, (K,)>| {
        (eased::of(acc, slope) + eased::of(slope, 0.5)).gelu().store::<(N, H, W, K)>()
    });
    let widths = trace(|acc: Image<f64>, x: Image<i64>, y: In<bool, (H, W, K)>| {
        y.select(acc.to::<i64>(), x).store::<(N, H, W, K)>()
    });
    let quantised = trace(|acc: Image<f32>, levels: In<f32, (H,)>, x: Image<f16>| {
        let level = levels.at_border::<H, _>((acc * 2.0).to::<i32>(), Border::Replicate);
        (level + x.to::<f32>()).store::<(N, H, W, K)>()
    });
    let halves = trace(|acc: Image<f16>, x: Image<f16>| (acc * x).lt(x).store::<(N, H, W, K)>());
    let alone = trace(|acc: Image<f32>| acc.store::<(N, H, W, K)>());
    let unused = trace(|_acc: Image<f32>, x: In<u16, (W, K)>| x.repeat::<N>(2).repeat::<H>(3).store::<(N, H, W, K)>());
    vec![
        ("usual", usual()),
        ("images", images.graph),
        ("neighbours", neighbours.graph),
        ("own", own.graph),
        ("widths", widths.graph),
        ("quantised", quantised.graph),
        ("halves", halves.graph),
        ("alone", alone.graph),
        ("unused", unused.graph),
    ]
}

/// Odd channels, operands in any memory, all numbers of points at once.
#[test]
fn any_operands_in_any_memory() {
    let mut calls = Vec::new();
    for (i, (name, graph)) in graphs().into_iter().enumerate() {
        for (j, lanes) in LANES.into_iter().enumerate() {
            for (k, channels) in [16, 13, 1].into_iter().enumerate() {
                let seed = (i * 16 + j * 4 + k) as u64;
                let case = random_case(graph.clone(), seed, &sizes(channels), |rng, operand, rank| {
                    if seed.is_multiple_of(3) {
                        plain(rng, operand, rank)
                    } else {
                        (Layout::random(rng, rank), Place::Device)
                    }
                });
                calls.push(call(&format!("{name}, {channels} channels, seed {seed}"), &case, How::given(0, lanes)));
            }
        }
    }
    if compiler("inline::epilogues::any_operands_in_any_memory") {
        let wide = check_all(&calls);
        assert!(wide > 40, "{wide} wide accesses");
    }
}

/// Empty images have points nowhere; a single point needs no coordinate.
#[test]
fn no_points_and_one() {
    let one = trace(|acc: In<f32, ()>, bias: In<f32, ()>| (acc + bias).store::<()>()).graph;
    let device = |_: &mut Rng, _: usize, rank: usize| (Layout::dense(rank), Place::Device);
    let mut calls = vec![call("one", &random_case(one.clone(), 1, &[], plain), How::given(0, 1))];
    calls.push(call("one, all on the device", &random_case(one, 1, &[], device), How::given(0, 1)));
    for empty in 0..4 {
        let mut sizes = sizes(3);
        sizes[empty].1 = 0;
        calls.push(call("none", &random_case(usual(), 2, &sizes, plain), How::given(0, 4)));
    }
    if compiler("inline::epilogues::no_points_and_one") {
        check_all(&calls);
    }
}

/// What stands side by side is loaded as one, what does not vary along the innermost dimension once, what is given never.
#[test]
fn loads_are_wide() {
    let text = |lanes, layout: fn(usize) -> Layout| {
        let case = random_case(usual(), 3, &sizes(16), |_, operand, rank| {
            (layout(operand), plain(&mut Rng::new(0), 0, rank).1)
        });
        let call = call("usual", &case, How::given(0, lanes));
        let source = &call.text.source;
        let at = source.find(&format!("struct f_Ahead{lanes} {{")).expect("a structure");
        assert!(!source.contains("in0"), "{source}");
        source[at..].to_string()
    };
    let dense = |operand: usize| Layout::dense([4, 4, 1, 0][operand]);
    let several = text(8, dense);
    let count = |text: &str, what: &str| text.matches(what).count();
    assert_eq!((count(&several, "*(const uint4*)"), count(&several, "p.sent +")), (3, 1), "{several}");
    assert_eq!(count(&text(4, dense), "*(const uint2*)"), 1);
    assert_eq!(count(&text(2, dense), "*(const unsigned*)"), 1);
    assert_eq!(count(&text(1, dense), "*(const u"), 0);
    // One row after the other begins elsewhere.
    let padded = |operand: usize| {
        let mut layout = Layout::dense([4, 4, 1, 0][operand]);
        if operand == 1 {
            layout.pad[3] = 2;
        }
        layout
    };
    let several = text(8, padded);
    assert_eq!((count(&several, "*(const uint4*)"), count(&several, "*(const unsigned*)")), (2, 4), "{several}");
}

/// What varies along rows can be asked for ahead, up to 16 bytes of it, unless its place is loaded; what is there already is taken over.
#[test]
fn loads_ahead() {
    let ahead = |graph: Graph, lanes| {
        let case = random_case(graph, 3, &sizes(16), plain);
        let source = call("ahead", &case, How::given(0, lanes)).text.source;
        let of = |from: &str, to: &str| {
            let from = source.find(from).unwrap_or_else(|| panic!("{from} in {source}"));
            source[from..from + source[from..].find(to).expect("an end")].to_string()
        };
        let members = of(&format!("struct f_Ahead{lanes} {{"), "}").matches(';').count();
        let function = of(&format!("f_Ahead{lanes}& ahead) {{"), "\n}");
        let rest = of(&format!("const f_Ahead{lanes}& ahead, "), "\n}");
        (
            members,
            function.matches(" = *(const").count(),
            rest.matches(" = *(const").count(),
            rest.matches("ahead.").count(),
        )
    };
    // A residual of 16 bytes; the bias of as many points is two vectors that are the same in every row.
    assert_eq!(ahead(usual(), 8), (1, 1, 2, 1));
    assert_eq!(ahead(usual(), 2), (1, 1, 1, 1));
    // Four halves are two words: two residuals have room, not three.
    let three = trace(|acc: Image<f32>, a: Image<f16>, b: Image<f16>, c: Image<f16>| {
        (acc + a.to::<f32>() * b.to::<f32>() + c.to::<f32>()).store::<(N, H, W, K)>()
    });
    assert_eq!(ahead(three.graph, 4), (2, 2, 1, 2));
    // What decides where another operand is read may come ahead, the other one not.
    let gathered = trace(|acc: Image<f32>, at: In<i32, (N, W)>, table: In<f32, (H, K)>| {
        (acc + table.at::<H, _>(at.min(2).max(0))).store::<(N, H, W, K)>()
    });
    let (members, first, _, taken) = ahead(gathered.graph, 2);
    assert_eq!((members, first, taken), (1, 0, 1));
    // Nor what the sum decides.
    let looked_up = trace(|acc: Image<f32>, table: In<f32, (H,)>| {
        table.at_border::<H, _>(acc.to::<i32>(), Border::Replicate).store::<(N, H, W, K)>()
    });
    assert_eq!(ahead(looked_up.graph, 2).0, 0);
}

/// Operands on the host travel in the function's parameters, as far as there is room.
#[test]
fn operands_on_the_host() {
    let host = |_: &mut Rng, operand: usize, rank: usize| {
        (Layout::dense(rank), if operand < 2 { Place::Device } else { Place::Host })
    };
    let mut calls = Vec::new();
    for room in [0, 256] {
        let case = random_case(usual(), 5, &sizes(24), host);
        calls.push(call("bias on the host", &case, How { room, ..How::given(0, 4) }));
    }
    let divided = trace(|acc: Image<f32>, d: In<f32, ()>, e: In<f32, ()>| (acc / d / e).store::<(N, H, W, K)>()).graph;
    calls.push(call("divisors", &random_case(divided, 6, &sizes(9), host), How::given(0, 8)));
    let sent: Vec<_> = calls.iter().map(|c| c.text.sending(&c.inline, 0)).collect();
    assert_eq!(sent.iter().map(|s| s.buffer.len()).collect::<Vec<_>>(), [1, 0, 0]);
    assert_eq!(sent[2].reciprocals.len(), 1, "that of `e`; `d` is in device memory");
    if compiler("inline::epilogues::operands_on_the_host") {
        check_all(&calls);
    }
}

/// An operand whose elements are one along some dimensions: strides of 0.
#[test]
fn strides_of_zero() {
    let mut calls = Vec::new();
    for lanes in LANES {
        let graph = trace(|acc: Image<f32>, x: Image<f16>| (acc - x.to::<f32>()).store::<(N, H, W, K)>()).graph;
        for repeated in [0, 3] {
            let dims = <(N, H, W, K)>::IDS;
            let mut shape: Vec<i64> = sizes(8).into_iter().map(|(_, n)| n).collect();
            let acc = Stored::new(&Rng::new(8).tensor(f32::DTYPE, dims, &shape), &Layout::dense(4));
            let n = std::mem::replace(&mut shape[repeated], 1);
            let mut x = Stored::new(&Rng::new(9).tensor(f16::DTYPE, dims, &shape), &Layout::dense(4));
            (x.axes[repeated].extent, x.axes[repeated].stride) = (n, 0);
            let operands = (&graph, vec![acc, x], &[Place::Device; 2][..], true);
            let call = Call::of(format!("axis {repeated}"), operands, How::given(0, lanes), "f");
            calls.push(call.unwrap_or_else(|e| panic!("{e}")));
        }
    }
    if compiler("inline::epilogues::strides_of_zero") {
        check_all(&calls);
    }
}

/// The order of the kernel's points is the kernel's.
#[test]
fn points_in_another_order() {
    let [n, h, w, k] = <(N, H, W, K)>::IDS else { panic!("four") };
    let how = |lanes| How { order: Some(vec![*k, *n, *h, *w]), ..How::given(0, lanes) };
    let case = random_case(usual(), 7, &sizes(3), plain);
    let calls = LANES.map(|lanes| call("planes", &case, how(lanes)));
    if compiler("inline::epilogues::points_in_another_order") {
        check_all(&calls);
    }
}

/// A kernel that reads its input through one function, and hands three times its values to another.
const BETWEEN: &str = "struct Params {
  input_Params input;
  epilogue_Params epilogue;
  tw::f16* made;
  int n[4];
};
extern \"C\" __global__ void kernel(const __grid_constant__ Params p) {
  for (int i = threadIdx.x; i < p.n[0] * p.n[1] * p.n[2] * p.n[3]; i += blockDim.x) {
    const int k = i % p.n[3], w = i / p.n[3] % p.n[2], h = i / p.n[3] / p.n[2] % p.n[1], n = i / p.n[3] / p.n[2] / p.n[1];
    const float sum = input(p.input, n, h, w, k) * 3.0f;
    p.made[i] = epilogue(p.epilogue, n, h, w, k, sum);
  }
}
";

/// Both have parameters, statements and functions of the same names.
#[test]
fn two_functions_in_one_source() {
    let read = trace(|x: Image<u8>, mean: In<f32, (K,)>| eased::of(x.to::<f32>() - mean, 0.25).store::<(N, H, W, K)>());
    let last =
        trace(|acc: Image<f32>, bias: In<f32, (K,)>| eased::of(acc + bias, 0.25).to::<f16>().store::<(N, H, W, K)>());
    let case = random_case(read.graph, 11, &sizes(5), plain);
    let input = Call::new("input".into(), &case, How::read(4), "input").unwrap_or_else(|e| panic!("{e}"));
    let mut case = random_case(last.graph, 12, &sizes(5), plain);
    let three = |bits: &u64| (f32::from_bits64(*bits) * 3.0).to_bits64();
    case.operands[0].tensor =
        Tensor { bits: input.expected.bits.iter().map(three).collect(), ..input.expected.clone() };
    let epilogue = Call::new("epilogue".into(), &case, How::given(0, 4), "epilogue").unwrap_or_else(|e| panic!("{e}"));
    if !compiler("inline::epilogues::two_functions_in_one_source") {
        return;
    }
    let sources = [&input.text.source, &epilogue.text.source].map(String::as_str).concat();
    let (model, _) = compile(&[format!("{}{sources}{BETWEEN}", includes(&epilogue.text))]);
    let (error, mut far) = (0u32, [Vec::new(), Vec::new()]);
    let (first, second) = (input.text.bytes(), epilogue.text.bytes());
    let mut block = vec![0u8; (first + second + 8 + 16).next_multiple_of(16)];
    input.pack(&mut block[..first], &raw const error, &mut far[0]);
    epilogue.pack(&mut block[first..first + second], &raw const error, &mut far[1]);
    let (dims, shape) = (&epilogue.expected.dims, &epilogue.expected.shape);
    let mut made = Stored::poisoned(f16::DTYPE, dims, shape, &Layout::dense(4), 0xa5);
    let at = first + second;
    block[at..at + 8].copy_from_slice(&(made.pointer_mut() as u64).to_ne_bytes());
    for (i, n) in shape.iter().enumerate() {
        block[at + 8 + 4 * i..][..4].copy_from_slice(&(*n as i32).to_ne_bytes());
    }
    let launch = Launch { grid: [1; 3], block: [32, 1, 1], shared_bytes: 0, schedule: Schedule::Forward };
    // SAFETY: the addresses are those of buffers that live until the call returns, of these extents.
    unsafe { model.run(0, "kernel", launch, &block) }.unwrap_or_else(|e| panic!("{e}"));
    let got = made.read();
    assert!(got.same(&epilogue.expected), "{}", got.difference(&epilogue.expected));
}
