//! Scalar functions as graphs hold them.

use super::arguments::{Arguments, Operands, Types as _};
use super::results::{Points, Results, Types as _};
use super::text::Text;
use crate::dtype::{DType, Scalar};
use crate::error::Error;
use crate::eval::{Arg, Work, fill, wide};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// A function of scalars that runs on both devices. [`scalar_fn`](super::scalar_fn) makes one of a Rust function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar function",
    label = "called inside a `#[scalar_fn]`",
    note = "mark it `#[scalar_fn]`, or give it a text of its own with `#[scalar_fn(cuda = \"..\")]`"
)]
pub trait ScalarFunction: 'static {
    /// What it takes: a tuple of one to six scalars.
    type Args: Arguments;
    /// What it gives: a scalar, or a tuple of two to four.
    type Output: Results;
    /// Its text for the device.
    const TEXT: &'static Text;
    /// Whether there is a twin in Rust. Without it the function runs on the device alone.
    const ON_HOST: bool = true;
    /// The same in Rust, if there is one.
    fn host(args: Self::Args) -> Self::Output;
}

/// The function `F` of a tuple of expressions and literals, at every point.
pub fn call<F: ScalarFunction, E: Operands<F::Args>>(args: E) -> <F::Output as Results>::Exprs<E::Set> {
    F::Output::exprs(Function { of: Of::<F>::DEFINITION, number: 0 }, |g| args.nodes(g))
}

/// The twin on the host, for a block: the number of the result, results, arguments, how many.
type Run = fn(usize, &mut [u64], &[Arg<'_>], usize);

/// Where the definition of `F` stands.
struct Of<F>(F);

impl<F: ScalarFunction> Of<F> {
    const DEFINITION: &'static Definition = &Definition {
        text: F::TEXT,
        arguments: <F::Args as super::arguments::Types>::DTYPES,
        results: <F::Output as super::results::Types>::DTYPES,
        run: if F::ON_HOST { Some(Self::run) } else { None },
    };

    fn run(number: usize, out: &mut [u64], args: &[Arg<'_>], n: usize) {
        let types = <F::Args as super::arguments::Types>::DTYPES;
        let same = args.iter().zip(types).map(|(arg, dtype)| match arg {
            Arg::Block(_) => Vec::new(),
            Arg::Uniform(bits) => {
                let mut block = vec![0; n.div_ceil(8 / dtype.size())];
                fill(&mut block, Scalar { dtype: *dtype, bits: *bits }, n);
                block
            }
        });
        let same: Vec<Vec<u64>> = same.collect();
        let block = |(arg, same)| match arg {
            &Arg::Block(block) => block,
            Arg::Uniform(_) => same,
        };
        let blocks: Vec<&[u64]> = args.iter().zip(same.iter().map(Vec::as_slice)).map(block).collect();
        wide(Block::<F> { number, out, blocks: F::Args::blocks(&blocks, n), n });
    }
}

/// One result of a function for a block of arguments.
struct Block<'a, F: ScalarFunction> {
    number: usize,
    out: &'a mut [u64],
    blocks: <F::Args as super::arguments::Types>::Blocks<'a>,
    n: usize,
}

impl<F: ScalarFunction> Work for Block<'_, F> {
    #[inline(always)]
    fn run(self) {
        F::Output::write(self.number, self.out, self.n, &Values::<F>(self.blocks));
    }
}

struct Values<'a, F: ScalarFunction>(<F::Args as super::arguments::Types>::Blocks<'a>);

impl<F: ScalarFunction> Points<F::Output> for Values<'_, F> {
    #[inline(always)]
    fn at(&self, i: usize) -> F::Output {
        F::host(F::Args::at(self.0, i))
    }
}

struct Definition {
    text: &'static Text,
    arguments: &'static [DType],
    results: &'static [DType],
    run: Option<Run>,
}

/// One result of a [`ScalarFunction`] as graphs hold it. Two of one text and of the same types are one.
#[derive(Clone, Copy)]
pub struct Function {
    of: &'static Definition,
    number: u8,
}

impl Function {
    /// What kernels and explanations call it.
    pub fn name(self) -> &'static str {
        self.of.text.name
    }

    /// Its text.
    pub fn text(self) -> &'static Text {
        self.of.text
    }

    /// The types of its arguments.
    pub fn arguments(self) -> &'static [DType] {
        self.of.arguments
    }

    /// The type of its result.
    pub fn result(self) -> DType {
        self.of.results[usize::from(self.number)]
    }

    /// Which of its results this is, if there are several.
    pub fn number(self) -> Option<u8> {
        (self.of.results.len() > 1).then_some(self.number)
    }

    /// The types of its results.
    pub(crate) fn results(self) -> &'static [DType] {
        self.of.results
    }

    /// A function that is known by its text alone; it has no twin. Each is kept once, as long as the program runs.
    pub(crate) fn foreign(text: &'static Text, arguments: &[DType], results: &[DType]) -> Function {
        static KNOWN: Mutex<Vec<&'static Definition>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let is =
            |d: &&'static Definition| std::ptr::eq(d.text, text) && d.arguments == arguments && d.results == results;
        if let Some(of) = known.iter().find(|d| is(d)) {
            return Function { of, number: 0 };
        }
        let [arguments, results] = [arguments, results].map(|types| &*types.to_vec().leak());
        let of: &'static Definition = Box::leak(Box::new(Definition { text, arguments, results, run: None }));
        known.push(of);
        Function { of, number: 0 }
    }

    /// The same function, of which result `number` is meant.
    pub(crate) fn giving(self, number: u8) -> Function {
        Function { number, ..self }
    }

    /// The bits of the result for arguments of these bits, on the host.
    pub fn bits(self, args: &[u64]) -> u64 {
        let args: Vec<Arg<'_>> = args.iter().map(|bits| Arg::Uniform(*bits)).collect();
        let mut out = [0];
        self.run(&mut out, &args, 1);
        out[0]
    }

    /// Demands a twin on the host.
    pub(crate) fn check_host(self) -> Result<(), Error> {
        self.of.run.map(|_| ()).ok_or(Error::NoTwin { function: self.name() })
    }

    /// The results of `n` points, on the host.
    pub(crate) fn run(self, out: &mut [u64], args: &[Arg<'_>], n: usize) {
        if let Some(run) = self.of.run {
            run(usize::from(self.number), out, args, n);
        }
    }

    fn key(&self) -> (&Text, &[DType], &[DType], u8) {
        (self.of.text, self.of.arguments, self.of.results, self.number)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.of, other.of) && self.number == other.number || self.key() == other.key()
    }
}
impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name(), self.of.arguments, self.of.results, self.number).hash(state);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
