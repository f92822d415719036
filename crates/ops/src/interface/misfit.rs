//! Why an argument does not fit.

/// Why an argument does not fit its parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// Elements or a value of another type.
    #[error("the kernel takes `{expected}`, got `{got}`; give {needed}")]
    Element {
        /// The type in the kernel.
        expected: String,
        /// The Rust type given.
        got: String,
        /// The Rust type that fits.
        needed: String,
    },
    /// A value where memory is wanted.
    #[error("the kernel takes memory, got a value of type `{got}`; give `&tensor` or `&mut tensor`")]
    NotMemory {
        /// The Rust type given.
        got: String,
    },
    /// Memory where a value is wanted.
    #[error("the kernel takes a value of type `{expected}`, got memory; give the number or the struct itself")]
    NotValue {
        /// The type in the kernel.
        expected: String,
    },
    /// The dimensions are not those that are declared.
    #[error("it is declared over ({expected}), got a tensor over ({got}); rename its dimensions, or declare those")]
    Dimensions {
        /// The declared dimensions.
        expected: String,
        /// Those given.
        got: String,
    },
    /// Another size along a dimension.
    #[error("`{dim}` is declared {expected} long, got {got}; give a tensor of that size, or change the declaration")]
    Extent {
        /// The dimension.
        dim: String,
        /// The declared size.
        expected: i64,
        /// The size given.
        got: i64,
    },
    /// The elements lie elsewhere in memory.
    #[error(
        "axis `{axis}` is declared with {expected} elements from one step to the next, got {got}; \
         give a tensor stored like that, or declare the axis with `=> {got}`"
    )]
    Stride {
        /// The axis as it is declared.
        axis: String,
        /// The declared stride.
        expected: i64,
        /// What the tensor has for such a step.
        got: i64,
    },
    /// Several coordinates share an element, which no tensor of named axes does.
    #[error(
        "`{dim}` is declared in units of {fold} alone, so no plain tensor is stored like that; give a `DeviceBuffer`"
    )]
    Coarse {
        /// The dimension.
        dim: String,
        /// The finest fold.
        fold: i32,
    },
    /// A view with gaps for a parameter that is a bare address.
    #[error("the kernel takes an address, and this view has gaps; copy it first, or declare its layout with `tensor!`")]
    Gaps,
    /// Too little memory.
    #[error("the layout spans {expected} bytes, the memory has {got}; allocate {expected} bytes at least")]
    Length {
        /// Bytes from the first element to the end of the last.
        expected: u64,
        /// Bytes given.
        got: u64,
    },
    /// No memory at all.
    #[error("the memory has no elements; launch nothing, or give it at least one")]
    Empty,
    /// An address that the element type does not allow.
    #[error(
        "the address {address:#x} is no multiple of {alignment}, which `{element}` needs; begin the view elsewhere"
    )]
    Alignment {
        /// The address.
        address: u64,
        /// Bytes.
        alignment: usize,
        /// The type in the kernel.
        element: String,
    },
    /// Memory to read where the kernel may write.
    #[error("the kernel may write it: give `&mut`, or declare it `const`")]
    ReadOnly,
    /// Memory to write that another tensor has too.
    #[error(
        "its memory is shared with another tensor (a clone or a view); what a kernel writes needs memory of its own"
    )]
    Shared,
    /// Memory of the host, or of another GPU.
    #[error("it is on {got}, the kernel on {expected}; move it: `.to(&device)`")]
    Place {
        /// Where it is.
        got: String,
        /// Where the kernel is.
        expected: String,
    },
    /// A struct of another size.
    #[error(
        "`{element}` has {expected} bytes in the compiled kernel, `{got_type}` has {got}; give both the same fields (`repr(C)`)"
    )]
    Bytes {
        /// The type in the kernel.
        element: String,
        /// Its size.
        expected: usize,
        /// The Rust type given.
        got_type: String,
        /// Its size.
        got: usize,
    },
}
