//! What can go wrong between a closure and a result.

use crate::dtype::{DType, Rect};

/// An expression that cannot be planned, bound or evaluated. Every message names the dimension and the sizes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two operands that share a dimension disagree about its size.
    #[error(
        "dimension `{dim}` is {a} long in {of_a} and {b} long in {of_b}; operands that share a dimension must agree"
    )]
    Extent {
        /// The dimension.
        dim: &'static str,
        /// Where the first size comes from.
        of_a: String,
        /// The first size.
        a: i64,
        /// Where the second size comes from.
        of_b: String,
        /// The second size.
        b: i64,
    },
    /// Nothing gives a stored dimension its size.
    #[error("nothing says how long dimension `{dim}` is; read an operand that has it, or `.repeat::<{dim}>(n)`")]
    Unsized {
        /// The dimension.
        dim: &'static str,
    },
    /// A crop whose boxes differ in size is stored without a resize.
    #[error(
        "dimension `{dim}` has a different size in each box ({first} in box 0, {other} in box {index}); \
         resize the crop to one size before storing it: `.resize::<Y, X>(height, width)`"
    )]
    Ragged {
        /// The dimension.
        dim: &'static str,
        /// Size in the first box.
        first: i64,
        /// A different size.
        other: i64,
        /// The box that has it.
        index: usize,
    },
    /// The size of a crop is needed on the host, but its boxes are in device memory.
    #[error(
        "the size of `{dim}` depends on boxes in device memory; resize the crop to a fixed size, or keep the boxes on the host"
    )]
    SizeOnDevice {
        /// The dimension.
        dim: &'static str,
    },
    /// A scalar function has no twin for the host.
    #[error(
        "scalar function `{function}` has a CUDA C++ text alone, so it does not run on the CPU; give it a Rust body too, or evaluate on a GPU"
    )]
    NoTwin {
        /// The function.
        function: &'static str,
    },
    /// The text of a scalar function is no CUDA C++ function.
    #[error(
        "the text of scalar function `{function}` has no function to call: its last one is the entry, and every `{{` needs its `}}`"
    )]
    NoEntry {
        /// The function.
        function: &'static str,
    },
    /// A box reaches outside what it crops.
    #[error("box {index} ({rect}) reaches outside the {width}x{height} picture (0..{width}, 0..{height})")]
    BoxOutside {
        /// Its place in the list.
        index: usize,
        /// The box.
        rect: Rect,
        /// Columns of the picture.
        width: i64,
        /// Rows of the picture.
        height: i64,
    },
    /// A box within boxes starts outside of them; how far it reaches is the kernel's to check.
    #[error("box {index} ({rect}) starts before the first row or column of what it crops")]
    BoxStart {
        /// Its place in the list.
        index: usize,
        /// The box.
        rect: Rect,
    },
    /// A box has no pixels.
    #[error("box {index} ({rect}) is empty; a box needs at least one column and one row")]
    BoxEmpty {
        /// Its place in the list.
        index: usize,
        /// The box.
        rect: Rect,
    },
    /// The wrong number of operands or outputs was bound.
    #[error("the expression has {expected} {what}, got {got}")]
    Count {
        /// "operands" or "outputs".
        what: &'static str,
        /// How many it has.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// A view does not have the dimensions of the operand or output that it is bound to.
    #[error("{operand} has dimensions ({got}), the expression {expected}")]
    Dims {
        /// The operand or output.
        operand: String,
        /// The view's dimensions.
        got: String,
        /// What the expression does with which dimensions.
        expected: String,
    },
    /// An operand's elements are of another type than the expression's.
    #[error("{operand} holds {got}, the expression reads {expected}")]
    Elements {
        /// The operand.
        operand: String,
        /// The expression's type.
        expected: &'static str,
        /// The operand's.
        got: &'static str,
    },
    /// An operand's memory is shorter than its layout.
    #[error("{operand} needs {needed} elements for its extents and strides, its memory has {got}")]
    Memory {
        /// The operand.
        operand: String,
        /// Elements that the layout reaches.
        needed: i64,
        /// Elements that there are.
        got: i64,
    },
    /// An output of the wrong size.
    #[error("output {output} is {got} long in dimension `{dim}`, the expression {expected}")]
    Output {
        /// Which output.
        output: usize,
        /// The dimension.
        dim: &'static str,
        /// The output's size.
        got: i64,
        /// The expression's size.
        expected: i64,
    },
    /// A coordinate of a very long dimension is used as a number.
    #[error("dimension `{dim}` is {extent} long; its coordinates are used as 32-bit numbers, which end at {limit}", limit = i32::MAX)]
    TooLong {
        /// The dimension.
        dim: &'static str,
        /// Its size.
        extent: i64,
    },
    /// A size that makes no sense.
    #[error("dimension `{dim}` cannot be {size} long; a size is from 1 to {limit}", limit = i32::MAX)]
    Size {
        /// The dimension.
        dim: &'static str,
        /// The size.
        size: i64,
    },
    /// A factor that makes no size.
    #[error("dimension `{dim}` cannot be resized by a factor of {factor}; a factor is a finite number above 0")]
    Factor {
        /// The dimension.
        dim: &'static str,
        /// The factor.
        factor: f64,
    },
    /// A window of a size that is not computed.
    #[error("a window of {size} along `{dim}` is not computed: {expected}")]
    Window {
        /// The dimension.
        dim: &'static str,
        /// The size.
        size: usize,
        /// Which sizes are.
        expected: &'static str,
    },
    /// An anchor that is no pixel of its window.
    #[error("anchor {anchor} lies outside of a window of {size} along `{dim}`; it is one of its indices, from 0")]
    Anchor {
        /// The dimension.
        dim: &'static str,
        /// The anchor.
        anchor: usize,
        /// The window's size.
        size: usize,
    },
    /// A Gaussian without a width.
    #[error(
        "a Gaussian along `{dim}` cannot have the deviation {sigma}; it is a finite number, 0 for one that follows from the size"
    )]
    Sigma {
        /// The dimension.
        dim: &'static str,
        /// The deviation.
        sigma: f64,
    },
    /// Orders of derivatives that a window does not have.
    #[error(
        "no derivative of orders ({y}, {x}) has a window of {size}: one of the orders is above 0, both are below the size, \
         which is odd and at most 31 (1 stands for 3 without smoothing); Scharr's is (0, 1) or (1, 0)"
    )]
    Derivative {
        /// Order along rows.
        y: usize,
        /// Order along columns.
        x: usize,
        /// The window's size.
        size: usize,
    },
    /// A mask without pixels.
    #[error("a mask of {height} x {width} has no pixel that counts; give it at least one")]
    EmptyMask {
        /// Its rows.
        height: usize,
        /// Its columns.
        width: usize,
    },
    /// A literal index that the dimension does not have.
    #[error("the expression reads index {index}, but `{dim}` is {extent} long")]
    Order {
        /// The dimension.
        dim: &'static str,
        /// The index.
        index: i64,
        /// The size.
        extent: i64,
    },
    /// More channels than are written out one by one.
    #[error(
        "up to {limit} channels are combined one by one, {channels} of `{dim}` are wanted; a reduction goes over longer dimensions"
    )]
    Channels {
        /// The dimension.
        dim: &'static str,
        /// How many channels are wanted.
        channels: usize,
        /// The most there can be.
        limit: usize,
    },
    /// A frame's values and a YUV specification are of different depths.
    #[error("the frame has {frame} values, the YUV specification is for {spec}; set its `depth` to that of the frame")]
    Depth {
        /// The frame's depth.
        frame: crate::colour::Depth,
        /// The specification's.
        spec: crate::colour::Depth,
    },
    /// An expression was used outside the closure or arena that made it.
    #[error(
        "an expression was used after the trace that made it had ended; build it inside the closure given to `fuse`"
    )]
    Stale,
    /// A tensor of an eager expression was dropped before evaluation.
    #[error("a tensor that the expression reads was dropped before the expression was evaluated")]
    Dropped,
    /// A box made on the device lies outside what it crops (found after the fact, the pixels read were clamped).
    #[error(
        "a box computed or stored on the device (index {index}) reaches outside what it crops; its pixels were clamped to the picture"
    )]
    Guard {
        /// Index of the first box found.
        index: u32,
    },
    /// A coordinate that the kernel computed lies outside of the dimension that it reads along (found after the fact, the
    /// read was clamped).
    #[error(
        "a coordinate computed on the device ({coordinate}) lies outside of the dimension that is read there; it was clamped. \
         Read through a border to give such coordinates a meaning: `.at_border`"
    )]
    Coordinate {
        /// The first such coordinate found, limited to 31 bits.
        coordinate: i32,
    },
    /// An empty dimension of one output is a loop around another that is not empty.
    #[error(
        "dimension `{dim}` is 0 long, so that output {output}, which lacks it and is not empty, would not be computed; \
         plan it as a section of its own"
    )]
    EmptyLoop {
        /// The empty dimension.
        dim: &'static str,
        /// The output that lacks it.
        output: usize,
    },
    /// Parts of one result of different sizes.
    #[error(
        "part {part} of a concatenation is {other} long in dimension `{dim}`, the first part {first}; \
         parts agree in every dimension but the one that they follow each other along"
    )]
    Parts {
        /// The dimension.
        dim: &'static str,
        /// Its size in the first part.
        first: i64,
        /// Another part.
        part: usize,
        /// Its size there.
        other: i64,
    },
    /// A result of no parts, or of too many.
    #[error("a concatenation along `{dim}` has from 1 to {limit} parts, this one has {parts}")]
    PartCount {
        /// The dimension.
        dim: &'static str,
        /// How many there are.
        parts: usize,
        /// Most parts.
        limit: usize,
    },
    /// More sections of a launch than its parameter block has room for.
    #[error(
        "the {sections} sections of the launch take {bytes} bytes of parameters, the most is {limit}; make fewer parts at once"
    )]
    Parameters {
        /// How many sections there are.
        sections: usize,
        /// Their bytes.
        bytes: usize,
        /// The largest parameter block.
        limit: usize,
    },
    /// A step of an iteration varies along a dimension that its start lacks.
    #[error(
        "a step of an iteration varies along `{dim}`, which its start lacks; repeat the start along it: `.repeat::<{dim}>(n)`"
    )]
    Step {
        /// The dimension.
        dim: &'static str,
    },
    /// A step of an iteration reads what it gets at other coordinates.
    #[error(
        "a step of an iteration reads the value it is given at other coordinates, or reduces it; a step sees its own point alone"
    )]
    Carried,
    /// An expression with more loops inside one another and side by side than a kernel can have.
    #[error(
        "the expression needs more than {limit} loops within one thread; store what some of its reductions make, and go on from there"
    )]
    Crowded {
        /// Most loops.
        limit: usize,
    },
    /// A thread would compute too much.
    #[error(
        "a point of the result needs more than {limit} operations, because windows on windows are computed again for each pixel; store the result of an inner one, and go on from there"
    )]
    Long {
        /// Most operations.
        limit: usize,
    },
    /// Values of a type cannot meet as a scatter wants them to.
    #[error(
        "values of `{dtype}` that meet in a scatter cannot be combined by `{collision}`: `Sum` takes integers, since a sum of floats \
         depends on the order in which they meet, `Min` and `Max` numbers, `And`, `Or` and `Xor` integers and `bool`; \
         scale floats to `i64` first, or sum them along a dimension with `.sum`"
    )]
    Collision {
        /// The collision.
        collision: &'static str,
        /// The type of the values.
        dtype: DType,
    },
    /// Two values of a scatter that said that no two meet were stored in one place; found on the host alone.
    #[error(
        "two values of a `Unique` scatter meet in element {place} of output {output}; no two may: let them meet by \
         `Min`, `Max`, `Sum` or bits, or make the coordinates distinct"
    )]
    Met {
        /// The output.
        output: usize,
        /// The element of its memory.
        place: usize,
    },
    /// A manifest that is not in order.
    #[error("{file}:{line}:{column}: {message}")]
    Manifest {
        /// What the manifest is called.
        file: String,
        /// The line, from 1 on.
        line: usize,
        /// The character in it, from 1 on.
        column: usize,
        /// What was found there, and what would be legal.
        message: String,
    },
    /// What cannot stand inside of a kernel that is written by hand.
    #[error(transparent)]
    Inline(#[from] crate::emit::Refusal),
    /// A kernel whose threads share something, or go through loops of their own, has no configuration to choose.
    #[error(
        "only a pointwise kernel has a configuration: one launch of one section, without reductions, scans, stages in shared memory and \
         scattered results; leave it out, and the plan chooses"
    )]
    NotPointwise,
    /// A configuration that is not legal for a kernel.
    #[error(
        "the {what} is {got}; here it can be {least} to {most}, numbers of lanes, words, threads and rows being powers of two"
    )]
    Configuration {
        /// What is outside.
        what: &'static str,
        /// Its number.
        got: i64,
        /// The least that it may be.
        least: i64,
        /// The most that it may be.
        most: i64,
    },
    /// A kernel that reduces nothing has no configuration of what reduces, and of rows that are gone through again, or scanned, the plan's own
    /// is the only one.
    #[error(
        "threads share no rows here that they go along once: that is one launch of one section with reductions of more than 16 values, whose \
         results nothing reads but what is stored for each row; leave the configuration out, and the plan chooses"
    )]
    NotShared,
    /// Strides of an output reach the same element twice.
    #[error(
        "output {output}: two points are stored in the same place (dimension `{dim}` has stride {stride}); an output needs distinct places"
    )]
    Overlap {
        /// Which output.
        output: usize,
        /// The dimension.
        dim: &'static str,
        /// Its stride.
        stride: i64,
    },
}
