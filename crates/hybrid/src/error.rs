use std::{io, path::PathBuf, sync::Arc, time::Duration};

/// What can go wrong, with the numbers and the next step. [`Error::class`] says what follows from it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two extents that must agree do not.
    #[error("{operation}: {what} is {got}, expected {expected}")]
    Shape {
        /// The operation.
        operation: &'static str,
        /// Which extent of which operand.
        what: &'static str,
        /// The extent that would be right.
        expected: usize,
        /// The extent given.
        got: usize,
    },
    /// An operation for square matrices was given another.
    #[error("{operation} wants a square matrix, got {rows} x {columns}")]
    NotSquare {
        /// The operation.
        operation: &'static str,
        /// Rows given.
        rows: usize,
        /// Columns given.
        columns: usize,
    },
    /// More elements than an address or a kernel can count.
    #[error("{rows} x {columns} elements of {element_bits} bits are more than the address space holds")]
    TooLarge {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Bits of an element.
        element_bits: usize,
    },
    /// What an operation would write lies where it reads.
    #[error("{operation}: the result overlaps operand {operand}; give it memory of its own")]
    Aliased {
        /// The operation.
        operation: &'static str,
        /// The operand's name.
        operand: &'static str,
    },
    /// The processor that was asked for cannot do the operation.
    #[error("{operation} of {element} is not there on the {place}: {why}")]
    Unsupported {
        /// The operation.
        operation: &'static str,
        /// The element type.
        element: &'static str,
        /// `CPU` or `GPU`.
        place: &'static str,
        /// Why, and what to do.
        why: String,
    },
    /// A relation with a cycle, where an order is needed.
    #[error(
        "{operation} wants a relation without cycles: {left} elements lie on cycles or behind them, the first is {vertex}"
    )]
    Cyclic {
        /// The operation.
        operation: &'static str,
        /// The first element that has no place in an order.
        vertex: usize,
        /// How many have none.
        left: usize,
    },
    /// A matrix without an inverse.
    #[error("the matrix of size {size} is singular: pivot {pivot} is zero")]
    Singular {
        /// The first pivot that is zero, counted from 0.
        pivot: usize,
        /// Rows of the matrix.
        size: usize,
    },
    /// A matrix that Cholesky's factorisation does not exist for.
    #[error("the matrix of size {size} is not positive definite: its leading minor of order {order} is not positive")]
    NotPositiveDefinite {
        /// Order of the first leading minor that is not positive, counted from 1.
        order: usize,
        /// Rows of the matrix.
        size: usize,
    },
    /// A matrix with an element that is NaN or infinite, where an iteration would not end, or such elements would be lost.
    #[error("{operation}: the element at row {row}, column {column} is not finite")]
    NotFinite {
        /// The operation.
        operation: &'static str,
        /// Row of the first such element.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// An iteration that did not end.
    #[error("{operation} did not converge in {iterations} iterations")]
    NotConverged {
        /// The operation.
        operation: &'static str,
        /// Iterations made.
        iterations: usize,
    },
    /// A result that is not the product that it should be.
    #[error(
        "row {row}{} is not that of the product: random vectors find it off by {difference:.3e}, and rounding explains no more than \
         {allowed:.3e}; so are {wrong} of {rows} rows; the result was not used: compute it anew, and suspect the device if it happens again",
        product.map(|product| format!(" of product {product} of the batch")).unwrap_or_default()
    )]
    WrongProduct {
        /// In a batch the number of the first product with a wrong row, counted from 0.
        product: Option<usize>,
        /// The first row that is wrong, of that product.
        row: usize,
        /// What it differs by, times a random vector of ones and minus ones; NaN where one of the two alone is a number.
        difference: f64,
        /// What it may differ by.
        allowed: f64,
        /// How many rows are wrong.
        wrong: usize,
        /// Rows of the result, in a batch of all products.
        rows: usize,
    },
    /// A solution that is not the one that it should be.
    #[error(
        "the solution with a matrix of size {size} is wrong: its residual is {residual:.3e} times norm(a) norm(x) n eps, and rounding explains no more than {allowed}; \
         it was not used: compute it anew, and suspect the device if it happens again"
    )]
    WrongSolution {
        /// The scaled residual; NaN where the solution is no number.
        residual: f64,
        /// What it may be.
        allowed: f64,
        /// Rows of the matrix.
        size: usize,
    },
    /// An integer result that its type does not hold, where the policy says that this is an error.
    #[error("{operation}: the exact value at row {row}, column {column} does not fit {element}")]
    Overflow {
        /// The operation.
        operation: &'static str,
        /// The result's element type.
        element: &'static str,
        /// Row of the first such value.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// Elements of another type than the array's.
    #[error("{operation}: the array's elements are {expected}, not {got}")]
    ElementType {
        /// The operation.
        operation: &'static str,
        /// The array's element type.
        expected: &'static str,
        /// The type given.
        got: &'static str,
    },
    /// A result that was to be committed before all of it was written.
    #[error(
        "{what} is not whole: nothing was written at row {row}, column {column}; write every tile before the commit"
    )]
    Incomplete {
        /// What was written to.
        what: String,
        /// Row of a place without a value.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// A budget lacks what a step needs at least.
    #[error("{what}: {requested} bytes asked for, {available} of the budget of {limit} are free; raise the budget")]
    Budget {
        /// Which budget, and for what.
        what: &'static str,
        /// Bytes asked for.
        requested: u64,
        /// Bytes free in it.
        available: u64,
        /// Bytes of the budget.
        limit: u64,
    },
    /// A file that is not what it says.
    #[error("{path}{}: {why}", chunk.as_ref().map(|chunk| format!(", chunk {chunk}")).unwrap_or_default())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The part of it, where it has parts.
        chunk: Option<String>,
        /// What is wrong.
        why: String,
    },
    /// A file system without room; nothing was changed.
    #[error("{path}: no room for {requested} bytes; free some, or choose another folder")]
    StorageFull {
        /// The file to be.
        path: PathBuf,
        /// Bytes asked for.
        requested: u64,
    },
    /// Any other failure of a file call.
    #[error("{path}: {call}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The call.
        call: &'static str,
        /// The system's answer.
        error: Arc<io::Error>,
    },
    /// The call was cancelled; its result is not there.
    #[error("cancelled after {done} of {steps} steps")]
    Cancelled {
        /// Steps done.
        done: u64,
        /// Steps of the whole.
        steps: u64,
    },
    /// A GPU was asked for and is not there.
    #[error("no GPU: {why}; ask for the CPU, or leave the choice to the cost model")]
    NoGpu {
        /// Why.
        why: String,
    },
    /// The device lost its context in an earlier call: nothing that was made on it is there, and nothing can run on it.
    #[error("GPU {ordinal} is not used: {why}")]
    DevicePoisoned {
        /// The device.
        ordinal: usize,
        /// The failure, and what helps.
        why: String,
    },
    /// The device failed several times of late and is left alone for a while.
    #[error(
        "GPU {ordinal} rests after failures for another {retry_in:?}; use the CPU meanwhile, and see the breaker's events"
    )]
    DeviceResting {
        /// The device.
        ordinal: usize,
        /// When it may be tried again; zero while another operation tries it.
        retry_in: Duration,
    },
    /// An operation that failed on the device needs more host memory than its budget has.
    #[error(
        "{operation} cannot go on, on the CPU: it needs {requested} bytes of host memory, {available} of the budget of {limit} are \
         free; raise it, or work on smaller parts{}",
        cause.as_ref().map(|cause| format!(" (on the GPU: {cause})")).unwrap_or_default()
    )]
    FallbackWouldExceedBudget {
        /// The operation.
        operation: &'static str,
        /// Bytes that it needs on the CPU.
        requested: u64,
        /// Bytes free in the budget.
        available: u64,
        /// Bytes of the budget.
        limit: u64,
        /// How it failed on the device, if it came so far.
        cause: Option<Box<Error>>,
    },
    /// An operation was attempted within an attempt of itself.
    #[error("{operation} was attempted within {operation}; call its implementation there, not the attempt")]
    Nested {
        /// The operation.
        operation: &'static str,
    },
    /// An expression whose results are not computed in bands, and that does not fit as a whole.
    #[error("the expression cannot be cut along `{dimension}`: {why}")]
    Uncut {
        /// The dimension.
        dimension: &'static str,
        /// Why, and what to do.
        why: String,
    },
    /// A fused expression that does not fit its operands, or whose kernel is not there.
    #[error(transparent)]
    Expression(Arc<tilewright_ops::Error>),
    /// A failure of the driver, or of a library of NVIDIA's.
    #[error(transparent)]
    Driver(tilewright_driver::Error),
}

/// What an error says about its cause. Only `Resource` and `Device` are held against a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The call was wrong: sizes, types, overlapping operands. It is as wrong on every processor.
    User,
    /// The numbers have no answer: a singular matrix, an iteration without end. They have none on any processor. Or they are not the answer: a
    /// product, or a solution, that its check refused.
    Numeric,
    /// Memory or a budget is short: a smaller try may do.
    Resource,
    /// The device failed, and later calls on it may fail for the same cause.
    Device,
    /// A file or a disk.
    Io,
    /// Somebody asked for it.
    Cancelled,
}

impl Error {
    /// Whether the device's context is damaged for good, so that every later call on it fails too, whatever it is.
    pub fn is_sticky(&self) -> bool {
        matches!(self, Self::Driver(error) if error.is_sticky()) || matches!(self, Self::DevicePoisoned { .. })
    }

    /// What kind of failure this is.
    pub fn class(&self) -> Class {
        match self {
            Self::Shape { .. }
            | Self::NotSquare { .. }
            | Self::TooLarge { .. }
            | Self::Aliased { .. }
            | Self::ElementType { .. }
            | Self::Incomplete { .. }
            | Self::Nested { .. }
            | Self::Unsupported { .. }
            | Self::Uncut { .. }
            | Self::NoGpu { .. }
            | Self::Cyclic { .. } => Class::User,
            Self::Singular { .. }
            | Self::NotPositiveDefinite { .. }
            | Self::NotConverged { .. }
            | Self::NotFinite { .. }
            | Self::WrongProduct { .. }
            | Self::WrongSolution { .. }
            | Self::Overflow { .. } => Class::Numeric,
            Self::Budget { .. } | Self::FallbackWouldExceedBudget { .. } => Class::Resource,
            Self::Corrupt { .. } | Self::StorageFull { .. } | Self::Io { .. } => Class::Io,
            Self::Cancelled { .. } => Class::Cancelled,
            Self::DevicePoisoned { .. } | Self::DeviceResting { .. } => Class::Device,
            Self::Expression(_) => Class::User,
            Self::Driver(error) => class_of_driver(error),
        }
    }
}

/// What becomes of a lost context's objects is the same, whoever uses them.
impl From<tilewright_driver::Error> for Error {
    fn from(error: tilewright_driver::Error) -> Self {
        match error {
            tilewright_driver::Error::ContextLost { ordinal, cause } => {
                Self::DevicePoisoned { ordinal, why: lost(&cause) }
            }
            error => Self::Driver(error),
        }
    }
}

/// Why a device is not used, and what helps.
pub(crate) fn lost(cause: &dyn std::fmt::Display) -> String {
    format!(
        "{cause}; start the process anew, or go on with the CPU (`faults::renew` says whether the driver makes another context)"
    )
}

/// A failure of the driver is one, whoever called it.
impl From<tilewright_ops::Error> for Error {
    fn from(error: tilewright_ops::Error) -> Self {
        match error {
            tilewright_ops::Error::Driver(error) => error.into(),
            error => Self::Expression(Arc::new(error)),
        }
    }
}

impl From<tilewright_expr::Error> for Error {
    fn from(error: tilewright_expr::Error) -> Self {
        tilewright_ops::Error::from(error).into()
    }
}

fn class_of_driver(error: &tilewright_driver::Error) -> Class {
    use tilewright_driver::Error as Driver;
    const INVALID_VALUE: u32 = 1;
    const OUT_OF_MEMORY: u32 = 2;
    match error {
        Driver::OutOfMemory { .. } | Driver::OutOfPinnedMemory { .. } => Class::Resource,
        Driver::Library { name: "ALLOC_FAILED", .. } => Class::Resource,
        Driver::Driver { code: OUT_OF_MEMORY, .. } => Class::Resource,
        Driver::Driver { code: INVALID_VALUE, .. } => Class::User,
        Driver::Launch { cause, .. } => class_of_driver(cause),
        Driver::File { .. } | Driver::Download { .. } | Driver::Hash { .. } => Class::Io,
        Driver::TooLarge { .. }
        | Driver::Length { .. }
        | Driver::OtherDevice { .. }
        | Driver::Forked { .. }
        | Driver::ContextInUse { .. }
        | Driver::Capturing { .. }
        | Driver::NoKernel { .. }
        | Driver::ParameterBytes { .. }
        | Driver::ParameterCount { .. }
        | Driver::Operand { .. }
        | Driver::KernelSize { .. }
        | Driver::TensorMap(_)
        | Driver::TensorMapReach { .. }
        | Driver::Compile { .. }
        | Driver::Matrix { .. }
        | Driver::NoLibrary { .. }
        | Driver::OldLibrary { .. }
        | Driver::NoNvrtc { .. }
        | Driver::UnknownArch { .. }
        | Driver::NulByte { .. } => Class::User,
        _ => Class::Device,
    }
}
