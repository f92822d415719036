//! What the texts of convolutions' kernels have in common, and how a kernel is launched.

use super::meeting::Meeting;
use super::problem::{Pass, Precision, Problem};
use crate::KernelSource;
use std::fmt::Write as _;
use tilewright_driver::TargetKind;
use tilewright_headers::tensor_map::{Element, Swizzle, TensorMap, TensorMapError};

/// A kernel as it is compiled and launched, but for addresses.
#[derive(Clone, Debug)]
pub struct KernelText {
    /// The kernel's name.
    pub entry: &'static str,
    /// Its source.
    pub text: String,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// What it is compiled for: exactly one architecture where warpgroups lend one another registers.
    pub target: TargetKind,
    /// What the copy engine has to know of the tensor that is read; nothing where it reads none.
    pub read: Option<TensorMap>,
    /// What it has to know of the other tensor: the one that is written, or, for the weights' gradient, the result's gradient; nothing
    /// where it does not touch it.
    pub other: Option<TensorMap>,
}

impl KernelText {
    /// What is compiled, under the name of an operation.
    pub(crate) fn source<'a>(&'a self, name: &'a str) -> KernelSource<'a> {
        let source = KernelSource::new(&self.text).name(name);
        if self.target == TargetKind::ArchSpecific { source.arch_specific() } else { source }
    }
}

/// A type's name in CUDA C++.
pub(crate) fn cuda(precision: Precision) -> &'static str {
    match precision {
        Precision::F16 => "tw::f16",
        Precision::Bf16 => "tw::bf16",
        Precision::F32 => "float",
    }
}

/// The type as which tensor cores multiply it.
pub(crate) fn multiplied(precision: Precision) -> &'static str {
    if precision == Precision::F32 { "tw::tf32" } else { cuda(precision) }
}

/// The bits of the exponent, of the upper half of an f32.
pub(crate) fn exponent(precision: Precision) -> u16 {
    if precision == Precision::F16 { 0x7c00 } else { 0x7f80 }
}

/// Elements of one access to global memory, at most 16 bytes: those that lie at multiples of their size in every pixel.
pub(crate) fn vector(problem: &Problem) -> usize {
    neighbours(problem.channels(), problem.precision)
}

/// Bytes of one of these accesses.
pub(crate) fn access_bytes(problem: &Problem) -> usize {
    vector(problem) * problem.precision.bytes()
}

/// As [`vector`], of so many channels.
pub(crate) fn neighbours(channels: usize, precision: Precision) -> usize {
    1 << channels.trailing_zeros().min((16 / precision.bytes()).trailing_zeros())
}

/// Cells of 16 bytes in which the copy engine exchanges the cells of pixels of so many bytes; 1 for none.
pub(crate) fn span(pixel_bytes: usize) -> usize {
    if matches!(pixel_bytes, 32 | 64 | 128) { pixel_bytes / 16 } else { 1 }
}

/// Boxes of one row of so many columns and images of a problem's tensor of those rows and columns.
pub(crate) fn row_map(
    problem: &Problem,
    [height, width]: [usize; 2],
    [images, columns, channels]: [usize; 3],
    span: usize,
) -> Result<TensorMap, TensorMapError> {
    let element = match problem.precision {
        Precision::F16 => Element::F16,
        Precision::Bf16 => Element::Bf16,
        Precision::F32 => Element::F32,
    };
    let extents = [problem.channels(), width, height, problem.images].map(|extent| extent as u64);
    let bytes = problem.precision.bytes() as u64;
    let strides = [bytes * extents[0], bytes * extents[0] * extents[1], bytes * extents[0] * extents[1] * extents[2]];
    let swizzle = match span {
        2 => Swizzle::Bytes32,
        4 => Swizzle::Bytes64,
        8 => Swizzle::Bytes128,
        _ => Swizzle::None,
    };
    TensorMap::new(element, &extents, &strides, &[channels, columns, 1, images].map(|side| side as u32), swizzle)
}

/// Constants of a namespace.
pub(crate) fn constants(text: &mut String, of: &[(&str, isize)]) {
    of.iter().for_each(|(name, value)| writeln!(text, "constexpr int {name} = {value};").expect("text grows"));
}

/// The beginning of a text: the namespace `shape` of a problem whose results stand in memory as `written`, with these flags.
pub(crate) fn shape_namespace(problem: &Problem, pass: Pass, written: Precision, flags: &[(&str, bool)]) -> String {
    let (held, written) = (cuda(problem.precision), cuda(written));
    let element = multiplied(problem.precision);
    let mut text = String::from("#include \"tilewright/half.cuh\"\n");
    let _ = writeln!(
        text,
        "namespace shape {{\nusing Element = {element};\nusing Held = {held};\nusing Written = {written};"
    );
    let _ = writeln!(text, "constexpr bool transposed = {};", pass == Pass::GradInput);
    flags.iter().for_each(|(name, is)| writeln!(text, "constexpr bool {name} = {is};").expect("text grows"));
    let _ = writeln!(text, "constexpr unsigned exponent = {:#x};", exponent(problem.precision));
    shape(&mut text, problem, pass);
    text.push_str("}\n");
    text
}

/// The constants of the namespace `shape`: sizes, and how what is read meets what is written.
pub(crate) fn shape(text: &mut String, problem: &Problem, pass: Pass) {
    let [rows, columns] = [0, 1].map(|axis| Meeting::of(problem, axis, pass));
    let across = columns.across();
    let sizes = [
        ("group", problem.group_width),
        ("channels", problem.channels()),
        ("vector", vector(problem)),
        ("images", problem.images),
        ("height", rows.read),
        ("width", columns.read),
        ("out_height", rows.written),
        ("out_width", columns.written),
        ("taps_y", rows.taps),
        ("taps_x", columns.taps),
        ("up_y", rows.up),
        ("down_y", rows.down),
        ("shift_y", rows.shift),
        ("phases", rows.phases),
        ("pitch", rows.pitch),
        ("phase_pitch", rows.phase_pitch),
        ("up_x", across.up),
        ("down_x", across.down),
        ("spread_x", across.spread),
        ("shift_x", across.shift),
        ("stride_y", problem.stride[0]),
        ("stride_x", problem.stride[1]),
        ("dilation_y", problem.dilation[0]),
        ("dilation_x", problem.dilation[1]),
        ("padding_y", problem.padding[0][0]),
        ("padding_x", problem.padding[1][0]),
    ];
    constants(text, &sizes.map(|(name, size)| (name, size as isize)));
    let live = rows.live_phase.map_or(-1, |phase| phase as isize);
    constants(text, &[("origin_y", rows.origin), ("origin_x", across.origin), ("live_phase", live)]);
}
