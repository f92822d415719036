//! Errors of tensors and calls.

use crate::tensor::Axes;

/// What can go wrong with a tensor or a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The expression does not fit its operands.
    #[error(transparent)]
    Expr(#[from] tilewright_expr::Error),
    /// The GPU, its driver or its compiler.
    #[error(transparent)]
    Driver(#[from] tilewright_driver::Error),
    /// A convolution that does not fit its operands, or that is not computed.
    #[error(transparent)]
    Conv(#[from] crate::conv::ConvError),
    /// A manifest that cannot be read.
    #[error("the manifest {} cannot be read: {cause}", path.display())]
    ManifestFile {
        /// Its file.
        path: std::path::PathBuf,
        /// Why not.
        cause: std::io::Error,
    },
    /// A plan of a manifest from which no kernel can be made.
    #[error("plan `{name}`: {cause}")]
    Plan {
        /// The plan's name.
        name: String,
        /// Why not.
        cause: Box<Error>,
    },
    /// A tensor's elements do not fit its extents.
    #[error("a tensor over ({dims}) of extents {extents:?} has {expected} elements, got {got}")]
    Length {
        /// The dimensions.
        dims: String,
        /// Their sizes.
        extents: Vec<usize>,
        /// Product of the sizes.
        expected: usize,
        /// Elements given.
        got: usize,
    },
    /// The number of sizes is not the number of dimensions.
    #[error("a tensor over ({dims}) needs {expected} extents, got {got}")]
    Rank {
        /// The dimensions.
        dims: String,
        /// How many there are.
        expected: usize,
        /// Extents given.
        got: usize,
    },
    /// The sizes multiply to more elements than memory can hold.
    #[error("a tensor of extents {extents:?} has more elements than memory can address; use smaller extents")]
    TooLarge {
        /// The sizes.
        extents: Vec<usize>,
    },
    /// A range outside a dimension.
    #[error("{start}..{end} reaches outside dimension `{dim}`, which is {extent} long")]
    Range {
        /// The dimension.
        dim: &'static str,
        /// First index.
        start: usize,
        /// One past the last.
        end: usize,
        /// The size.
        extent: usize,
    },
    /// Luma and chroma of a frame in one allocation that cannot be told apart.
    #[error("dimension `{dim}` of a frame with such chroma must be a multiple of {multiple} long, it is {extent}")]
    Frame {
        /// The dimension.
        dim: &'static str,
        /// What it must be a multiple of.
        multiple: usize,
        /// Its size.
        extent: usize,
    },
    /// Rows of a frame whose half is no whole number of elements.
    #[error(
        "rows of luma (`{dim}`) are {pitch} elements apart; rows of chroma, half as far apart, need an even number"
    )]
    Pitch {
        /// The dimension of the rows.
        dim: &'static str,
        /// Elements from one row to the next.
        pitch: i64,
    },
    /// Operands or results are on different devices.
    #[error("operand {operand} is on {got}, others are on {expected}; move it: `.to(&device)`")]
    Devices {
        /// The operand's number.
        operand: usize,
        /// Where it is.
        got: String,
        /// Where the others are.
        expected: String,
    },
    /// A host operand is too large to travel with a launch.
    #[error(
        "operand {operand} has {bytes} bytes in host memory; up to {limit} travel with the launch. Move it: `.to(&device)`"
    )]
    HostOperand {
        /// The operand's number.
        operand: usize,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A buffer that is too short for the axes that are to be read or written in it.
    #[error("{what}: its axes reach over {expected} bytes, and the buffer has {got}")]
    Reach {
        /// Which operand or result.
        what: String,
        /// Bytes of the axes.
        expected: u64,
        /// Bytes of the buffer.
        got: u64,
    },
    /// A buffer that belongs to another stream than the one that kernels run on.
    #[error("{what}: its buffer belongs to another stream; allocate it on the GPU's: `gpu.stream()`")]
    OtherStream {
        /// Which operand or result.
        what: String,
    },
    /// Memory of another GPU than the one that the kernel runs on.
    #[error("{what} lies on GPU {got}, and the kernel runs on GPU {expected}; copy it there")]
    OtherGpu {
        /// Which operand or result.
        what: String,
        /// The kernel's GPU.
        expected: usize,
        /// Where it lies.
        got: usize,
    },
    /// What is to be written shares its memory with another tensor, whole or in part.
    #[error(
        "{what} of extents {extents:?} shares its memory with {with}; what is written needs memory of its own: let `call` make new \
         tensors, or drop the other one first"
    )]
    Shared {
        /// The result, or the tensor.
        what: String,
        /// Its sizes.
        extents: Vec<usize>,
        /// The operand with its sizes, or another tensor.
        with: String,
    },
    /// A tensor in which coordinates share elements was to be written.
    #[error("along `{dim}`, {extent} long, this view repeats one element; write to the tensor that it is a view of")]
    Repeated {
        /// The dimension.
        dim: &'static str,
        /// Its size.
        extent: usize,
    },
    /// Steps that lead nowhere.
    #[error("every 0th index along `{dim}` is none; steps are 1 at least, and `.reverse::<{dim}>()` goes backwards")]
    Step {
        /// The dimension.
        dim: &'static str,
    },
    /// A size that is neither the one to broadcast to nor 1.
    #[error(
        "`{dim}` is {got} long and cannot be broadcast to {expected}; only 1 can, or `.narrow::<{dim}>(..)` it first"
    )]
    Broadcast {
        /// The dimension.
        dim: &'static str,
        /// Its size.
        got: usize,
        /// The size that is asked for.
        expected: usize,
    },
    /// More axes than there are dimensions to align them with.
    #[error(
        "a tensor of extents {shape:?} has {} axes and cannot be aligned with {extents:?}, {} dimensions; name {} at least",
        .shape.len(), .extents.len(), .shape.len()
    )]
    AlignRank {
        /// The tensor's sizes.
        shape: Vec<usize>,
        /// The sizes that are asked for.
        extents: Vec<usize>,
    },
    /// An axis that does not fit the dimension at its position.
    #[error(
        "axis {position} of {shape:?} meets dimension `{dim}` of {extents:?}: it has to be {expected} long, or 1; \
         `broadcast_shapes` gives the extents that all operands fit"
    )]
    Align {
        /// The tensor's axis, counted from 0.
        position: usize,
        /// The dimension that it meets.
        dim: &'static str,
        /// The tensor's sizes.
        shape: Vec<usize>,
        /// The sizes that are asked for.
        extents: Vec<usize>,
        /// The size of the dimension.
        expected: usize,
    },
    /// Shapes that broadcast to nothing.
    #[error(
        "axis {axis} from the end is {} long in shape {} and {} long in shape {}; they have to be equal, or one of them 1",
        .sizes[0], .shapes[0], .sizes[1], .shapes[1]
    )]
    Shapes {
        /// The axis, the last one being 1.
        axis: usize,
        /// The two shapes, counted from 0.
        shapes: [usize; 2],
        /// Their sizes along it.
        sizes: [usize; 2],
    },
    /// Bytes that are not a value of the element type.
    #[error("device memory holds a byte that is no `{element}` (only 0 and 1 are)")]
    Bits {
        /// The element type.
        element: &'static str,
    },
    /// A declaration block, or a kernel's parameters, that cannot be read.
    #[error("{file}: {error}")]
    Declaration {
        /// What the source is called.
        file: String,
        /// Line, column, and what is wrong.
        error: tilewright_headers::layout::DeclarationError,
    },
    /// No kernel of a source can be the one that is meant.
    #[error("{file}: {reason}")]
    Entry {
        /// What the source is called.
        file: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// A tensor that a kernel may write has two coordinates for one element.
    #[error(
        "kernel `{kernel}`, parameter {index} `{parameter}`: in the layout of `{tensor}` two coordinates share an element; declare it \
         `const`, or make a stride larger"
    )]
    Overlap {
        /// The kernel.
        kernel: String,
        /// The parameter, counted from 0.
        index: usize,
        /// Its name.
        parameter: String,
        /// The declared tensor.
        tensor: String,
    },
    /// What the compiler made is not what was read from the source.
    #[error(
        "the source says `{interface}`, {expected} parameters; the compiled kernel has parameters of {got:?} bytes. Take macros and \
         `#if` out of the kernel's parameters"
    )]
    Misread {
        /// What was read.
        interface: String,
        /// Parameters read.
        expected: usize,
        /// Bytes of each parameter of the compiled kernel.
        got: Vec<usize>,
    },
    /// A user's kernel does not compile.
    #[error("{place}: {first}\n{cause}")]
    Compile {
        /// File and line of the first error.
        place: String,
        /// The first error.
        first: String,
        /// The compiler's log, and where the source was written.
        cause: Box<tilewright_driver::Error>,
    },
    /// Too few arguments, or too many.
    #[error("`{interface}` takes {expected} arguments, got {got}; give them in this order")]
    ArgumentCount {
        /// The kernel with its parameters.
        interface: String,
        /// How many it takes.
        expected: usize,
        /// How many there were.
        got: usize,
    },
    /// An argument that does not fit its parameter.
    #[error("kernel `{kernel}`, parameter {index} `{parameter}`: {misfit}")]
    Argument {
        /// The kernel.
        kernel: String,
        /// The parameter, counted from 0.
        index: usize,
        /// Its name.
        parameter: String,
        /// Why not.
        misfit: Box<crate::interface::Misfit>,
    },
    /// A grid or a block of a size that cannot be launched.
    #[error("kernel `{kernel}`: {what} is {got}, allowed is 1 to {limit}")]
    LaunchSize {
        /// The kernel.
        kernel: String,
        /// Which size.
        what: &'static str,
        /// What it is.
        got: u64,
        /// The most that is allowed.
        limit: u64,
    },
}

impl Error {
    /// A tensor with these axes has clones or views.
    pub(crate) fn shared(axes: &Axes) -> Error {
        Error::Shared { what: "a tensor".into(), extents: axes.extents(), with: OTHER.into() }
    }

    /// Result `output` shares its memory with an operand (its number and sizes), or with a tensor that is none.
    pub(crate) fn shared_output(output: usize, axes: &Axes, operand: Option<(usize, Vec<i64>)>) -> Error {
        let with = operand.map_or_else(|| OTHER.into(), |(i, sizes)| format!("operand {i} of extents {sizes:?}"));
        Error::Shared { what: format!("output {output}"), extents: axes.extents(), with }
    }
}

const OTHER: &str = "another tensor (a clone or a view)";
