//! Images of the tests that are expressions: what they read, what they are as numbers, and their functions in kernels.

use super::compare::{Operands, rounded};
use super::memory::{Line, lines, to_bytes};
use super::{C, Exactly, H, N, W};
use crate::support::Random;
use tilewright_dims::Dims;
use tilewright_expr::bind::{Axis, Place, View, dense};
use tilewright_expr::emit::{Address, Caller, Inline, Inlined};
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, bf16, f16, trace};
use tilewright_ops::Tensor;
use tilewright_ops::conv::{Pass, Precision, Problem};

/// Bytes in planes and an enlarged picture, turned and cut, are added, scaled for each channel, and what is negative is 0: numbers that f32
/// holds exactly.
macro_rules! mixed {
    ($T:ty, $over:ty, $planes:ty, $h:ty, $w:ty, $channels:ty, $extents:expr) => {{
        let [_, height, width, _]: [usize; 4] = $extents;
        let [low_height, low_width] = super::computed::low([height, width]);
        move |bytes: In<u8, $planes>, low: In<f16, $over>, scale: In<f32, ($channels,)>| {
            let enlarged = low.resize_nearest::<$h, $w>(2 * low_height, 2 * low_width, Centres::Half);
            let turned = enlarged.reverse::<$w>().crop_at::<$h, $w>((1, 2), (height, width)).to::<f32>();
            (((bytes.to::<f32>() - 128.0) * 0.015625 + turned) * scale).max(0.0).to::<$T>().store::<$over>()
        }
    }};
}
pub(super) use mixed;

/// Rows and columns of what is enlarged.
pub(super) fn low(of: [usize; 2]) -> [usize; 2] {
    of.map(|extent| extent.div_ceil(2) + 1)
}

/// What the expression reads.
pub(super) struct Parts {
    pub(super) extents: [usize; 4],
    pub(super) bytes: Vec<u8>,
    pub(super) low: Vec<f32>,
    pub(super) scale: Vec<f32>,
}

impl Parts {
    pub(super) fn random(extents: [usize; 4], seed: u64) -> Parts {
        let (mut r, [n, h, w, c]) = (Random(seed), extents);
        let [low_h, low_w] = low([h, w]);
        Parts {
            extents,
            bytes: r.vec(n * h * w * c, |r| r.below(256) as u8),
            low: r.vec(n * low_h * low_w * c, |r| r.below(33) as f32 / 16.0 - 1.0),
            scale: r.vec(c, |r| r.below(9) as f32 / 4.0 - 1.0),
        }
    }

    /// What the expression is, in a precision.
    pub(super) fn values(&self, precision: Precision) -> Vec<f32> {
        let [images, h, w, channels] = self.extents;
        let [low_h, low_w] = low([h, w]);
        let value = |n: usize, y: usize, x: usize, c: usize| {
            let byte = f32::from(self.bytes[((n * channels + c) * h + y) * w + x]);
            let [at_y, at_x] = [y.div_ceil(2), (2 * low_w - 1 - (x + 2)) / 2];
            let turned = self.low[((n * low_h + at_y) * low_w + at_x) * channels + c];
            rounded(precision, (((byte - 128.0) / 64.0 + turned) * self.scale[c]).max(0.0))
        };
        let places = (0..images).flat_map(|n| (0..h).flat_map(move |y| (0..w).map(move |x| (n, y, x))));
        places
            .flat_map(|(n, y, x)| (0..channels).map(move |c| (n, y, x, c)))
            .map(|(n, y, x, c)| value(n, y, x, c))
            .collect()
    }

    /// The tensors: planes, the small picture, scales.
    #[allow(clippy::type_complexity, reason = "one tensor an operand")]
    pub(super) fn tensors<P: Dims, L: Dims, S: Dims>(&self) -> (Tensor<u8, P>, Tensor<f16, L>, Tensor<f32, S>) {
        let [n, h, w, c] = self.extents;
        let [low_h, low_w] = low([h, w]);
        let low = self.low.iter().map(|v| f16::from_f32(*v)).collect();
        (
            Tensor::from_vec([n, c, h, w], self.bytes.clone()).unwrap(),
            Tensor::from_vec([n, low_h, low_w, c], low).unwrap(),
            Tensor::from_vec([c], self.scale.clone()).unwrap(),
        )
    }

    fn memory(&self) -> Vec<Vec<Line>> {
        let f16s = to_bytes(Precision::F16, &self.low);
        vec![lines(&self.bytes), lines(&f16s), lines(&to_bytes(Precision::F32, &self.scale))]
    }

    fn axes(&self) -> Vec<Vec<Axis>> {
        let [n, h, w, c] = self.extents.map(|e| e as i64);
        let [low_h, low_w] = low([self.extents[1], self.extents[2]]).map(|e| e as i64);
        vec![
            dense(<(N, C, H, W)>::IDS, &[n, c, h, w]),
            dense(<(N, H, W, C)>::IDS, &[n, low_h, low_w, c]),
            dense(<(C,)>::IDS, &[c]),
        ]
    }
}

/// An image of the tests: the mixed one, or planes as they are, of numbers that need not be finite.
pub(super) enum Source {
    Mixed(Parts),
    Planes { extents: [usize; 4], values: Vec<f32> },
}

/// A function, with what it reads.
pub(super) struct Function {
    pub(super) inlined: Inlined,
    inline: Inline,
    memory: Vec<Vec<Line>>,
}

impl Source {
    /// The operand of a pass that it stands for, in place of that of `operands`.
    pub(super) fn stand_in(&self, precision: Precision) -> Vec<f32> {
        match self {
            Source::Mixed(parts) => parts.values(precision),
            Source::Planes { values, .. } => values.clone(),
        }
    }

    /// The function that a kernel calls, over dimensions of an input, whatever they are called.
    pub(super) fn function(&self, precision: Precision) -> Function {
        let (extents, memory, axes) = match self {
            Source::Mixed(parts) => (parts.extents, parts.memory(), parts.axes()),
            Source::Planes { extents, values } => {
                let [n, h, w, c] = *extents;
                let mut planes = vec![0.0; values.len()];
                for (i, value) in values.iter().enumerate() {
                    let (pixel, channel) = (i / c, i % c);
                    planes[(pixel / (h * w) * c + channel) * h * w + pixel % (h * w)] = *value;
                }
                let [n, h, w, c] = [n, h, w, c].map(|e| e as i64);
                (*extents, vec![lines(&to_bytes(precision, &planes))], vec![dense(<(N, C, H, W)>::IDS, &[n, c, h, w])])
            }
        };
        let graph = match precision {
            Precision::F16 => self.graph::<f16>(),
            Precision::Bf16 => self.graph::<bf16>(),
            Precision::F32 => self.graph::<f32>(),
        };
        let points: Vec<_> =
            (0..4).map(|i| (<(N, H, W, C)>::IDS[i], <(N, H, W, C)>::NAMES[i], extents[i] as i64)).collect();
        let lanes = 1 << extents[3].trailing_zeros().min((16 / precision.bytes()).trailing_zeros());
        let caller = Caller { points: &points, given: None, lanes, sized: true, room: 0 };
        let views: Vec<View<'_>> =
            axes.iter().map(|axes| View { axes, place: Place::Device, alignment: 16, boxes: None }).collect();
        let inline = Inline::new(&graph, &views, &caller).unwrap();
        let inlined = inline.emit(&graph, "image").unwrap();
        Function { inlined, inline, memory }
    }

    fn graph<T: Exactly + tilewright_expr::Value>(&self) -> Graph {
        use tilewright_expr::Centres;
        match self {
            Source::Mixed(parts) => trace(mixed!(T, (N, H, W, C), (N, C, H, W), H, W, C, parts.extents)).graph,
            Source::Planes { .. } => trace(|x: In<T, (N, C, H, W)>| x.store::<(N, H, W, C)>()).graph,
        }
    }
}

impl Function {
    /// What it takes of a kernel's parameters.
    pub(super) fn parameters(&self) -> Vec<u8> {
        let mut block = vec![0; self.inlined.bytes()];
        self.inlined.pack(&self.inline, &mut block);
        for (address, at) in self.inlined.addresses(&self.inline, 0) {
            let Address::Operand(i) = address else { panic!("{address:?}") };
            block[at..at + 8].copy_from_slice(&(self.memory[i].as_ptr() as u64).to_ne_bytes());
        }
        block
    }
}

/// The operand of a pass that an image stands for.
pub(super) fn read_by(pass: Pass, operands: &mut Operands) -> &mut Vec<f32> {
    if pass == Pass::GradInput { &mut operands.dy } else { &mut operands.x }
}

/// The sizes of what a pass reads.
pub(super) fn read_extents(problem: &Problem, pass: Pass) -> [usize; 4] {
    if pass == Pass::GradInput { problem.output_extents() } else { problem.input_extents() }
}
