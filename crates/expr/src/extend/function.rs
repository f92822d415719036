//! Scalar functions that are given as text for the device and as Rust for the host.

use crate::dtype::{DType, Value};
use crate::eval::{Arg, bits_at, each};
use crate::graph::{Graph, NodeId};
use crate::typed::{self, Expr, Union3};
use std::fmt;
use std::hash::{Hash, Hasher};
use tilewright_dims::{Merge, Set, Union};

/// A scalar function of one to three arguments that expressions cannot say, or that is better said in CUDA C++.
///
/// Both twins have to give the same bits for the same arguments, and nothing but these may decide. The kernel is compiled
/// without contraction, so `x * y + z` rounds twice in the text as it does in Rust; a fused one is `fmaf(x, y, z)` and
/// [`f32::mul_add`]. The text may use the device headers (`tw::cast<int>(x)`, `tw::minimum(x, y)`); it names no library of
/// CUDA's, whose functions have other bits on the host.
///
/// ```
/// use tilewright_expr::extend::ScalarFunction;
/// use tilewright_expr::{Expr, In, World, trace};
/// # use tilewright_dims::dims;
/// # dims! { Y, X }
/// /// Morton order: the bits of two coordinates in turn.
/// struct Interleave;
///
/// impl ScalarFunction for Interleave {
///     type Args = (u32, u32);
///     type Output = u32;
///     const NAME: &'static str = "interleave";
///     const CUDA: &'static str = "
///         unsigned bits = 0;
///         for (int i = 0; i < 16; ++i) bits |= (x >> i & 1) << 2 * i | (y >> i & 1) << (2 * i + 1);
///         return bits;";
///     fn host((x, y): (u32, u32)) -> u32 {
///         (0..16).fold(0, |bits, i| bits | (x >> i & 1) << (2 * i) | (y >> i & 1) << (2 * i + 1))
///     }
/// }
///
/// let t = trace(|x: In<u32, (X,)>, y: In<u32, (Y,)>| Interleave::of((x + 1, y)).store::<(Y, X)>());
/// # assert!(t.graph.check().is_ok());
/// ```
pub trait ScalarFunction: 'static {
    /// What it takes: a scalar, or a tuple of two or three.
    type Args: Arguments;
    /// What it gives.
    type Output: Value;
    /// What kernels and explanations call it.
    const NAME: &'static str;
    /// The body of a device function, in CUDA C++. Its arguments are `x`, `y`, `z`, of the C++ types of [`DType::cuda`]; a half's
    /// bits are `x.bits`, its value `(float)x`.
    const CUDA: &'static str;
    /// The same in Rust.
    fn host(args: Self::Args) -> Self::Output;

    /// The function of an expression, or of a tuple of expressions and literals, at every point.
    fn of<E: Operands<Self::Args>>(args: E) -> Expr<Self::Output, E::Set>
    where
        Self: Sized,
    {
        typed::grown(|g| {
            let nodes = args.nodes(g);
            g.call(Function(Of::<Self>::DEFINITION), &nodes)
        })
    }
}

/// What a [`ScalarFunction`] takes: a scalar, or a tuple of two or three.
pub trait Arguments: Sealed + Copy {}

/// What stands for the arguments `A`: an expression, or a tuple of expressions and literals.
#[diagnostic::on_unimplemented(
    message = "these are no arguments of `{A}`",
    label = "expected an expression of `{A}`, or a tuple of expressions and literals",
    note = "convert an expression with `.to::<..>()`"
)]
pub trait Operands<A> {
    /// Their dimensions.
    type Set: Set;
    /// Their nodes in the trace.
    fn nodes(self, graph: &mut Graph) -> Vec<NodeId>;
}

impl<T: Value, S: Set> Operands<T> for Expr<T, S> {
    type Set = S;
    fn nodes(self, graph: &mut Graph) -> Vec<NodeId> {
        vec![typed::Arg::node(self, graph)]
    }
}

impl<A, B, P: typed::Arg<A>, Q: typed::Arg<B>> Operands<(A, B)> for (P, Q)
where
    P::Set: Merge<Q::Set>,
{
    type Set = Union<P::Set, Q::Set>;
    fn nodes(self, graph: &mut Graph) -> Vec<NodeId> {
        vec![self.0.node(graph), self.1.node(graph)]
    }
}

impl<A, B, C, P: typed::Arg<A>, Q: typed::Arg<B>, R: typed::Arg<C>> Operands<(A, B, C)> for (P, Q, R)
where
    P::Set: Merge<Q::Set>,
    Union<P::Set, Q::Set>: Merge<R::Set>,
{
    type Set = Union3<P::Set, Q::Set, R::Set>;
    fn nodes(self, graph: &mut Graph) -> Vec<NodeId> {
        vec![self.0.node(graph), self.1.node(graph), self.2.node(graph)]
    }
}

/// The twin on the host, for a block: results, arguments, how many.
type Run = fn(&mut [u64], &[Arg<'_>], usize);

mod sealed {
    use super::DType;

    /// Arguments made of bits.
    pub trait Sealed {
        /// Their types.
        const DTYPES: &'static [DType];
        /// The arguments whose bits `bits` says: of number `.0`, which has `.1` bytes.
        fn of_bits(bits: impl Fn(usize, usize) -> u64) -> Self;
    }
}
use sealed::Sealed;

macro_rules! arguments {
    ($A:ident) => { arguments!(@impl ($A), $A, [$A 0]); };
    ($($A:ident $i:tt),*) => { arguments!(@impl ($($A),*), ($($A,)*), [$($A $i),*]); };
    (@impl ($($P:ident),*), $Self:ty, [$($A:ident $i:tt),*]) => {
        impl<$($P: Value),*> Sealed for $Self {
            const DTYPES: &'static [DType] = &[$($A::DTYPE),*];
            #[inline(always)]
            #[allow(unused_parens, reason = "one argument is no tuple")]
            fn of_bits(bits: impl Fn(usize, usize) -> u64) -> Self {
                ($($A::from_bits64(bits($i, $A::DTYPE.size()))),*)
            }
        }
        impl<$($P: Value),*> Arguments for $Self {}
    };
}
arguments!(A);
arguments!(A 0, B 1);
arguments!(A 0, B 1, C 2);

/// Where the definition of `F` stands.
struct Of<F>(F);

impl<F: ScalarFunction> Of<F> {
    const DEFINITION: &'static Definition = &Definition {
        name: F::NAME,
        cuda: F::CUDA,
        arguments: <F::Args as Sealed>::DTYPES,
        result: F::Output::DTYPE,
        run: |out, args, n| {
            each(out, n, |i| F::host(<F::Args as Sealed>::of_bits(|a, bytes| bits_at(&args[a], bytes, i))));
        },
    };
}

struct Definition {
    name: &'static str,
    cuda: &'static str,
    arguments: &'static [DType],
    result: DType,
    run: Run,
}

/// A [`ScalarFunction`] as graphs hold it. Two of one name, text and types are one.
#[derive(Clone, Copy)]
pub struct Function(&'static Definition);

impl Function {
    /// What kernels and explanations call it.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The body of the device function.
    pub fn cuda(self) -> &'static str {
        self.0.cuda
    }

    /// The types of its arguments.
    pub fn arguments(self) -> &'static [DType] {
        self.0.arguments
    }

    /// The type of its result.
    pub fn result(self) -> DType {
        self.0.result
    }

    /// The device function's name: functions of one name with different texts can be called in one kernel.
    pub fn symbol(self) -> String {
        // FNV-1a: the same in every process, so that a kernel keeps its key.
        let types = self.0.arguments.iter().chain([&self.0.result]).flat_map(|t| t.name().bytes().chain([0]));
        let hash = types
            .chain(self.0.cuda.bytes())
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let name: String = self.0.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        format!("own_{name}_{hash:016x}")
    }

    /// The bits of the result for arguments of these bits, on the host.
    pub fn bits(self, args: &[u64]) -> u64 {
        let args: Vec<Arg<'_>> = args.iter().map(|bits| Arg::Uniform(*bits)).collect();
        let mut out = [0];
        self.run(&mut out, &args, 1);
        out[0]
    }

    /// The results of `n` points, on the host.
    pub(crate) fn run(self, out: &mut [u64], args: &[Arg<'_>], n: usize) {
        (self.0.run)(out, args, n);
    }

    fn key(&self) -> (&str, &str, &[DType], DType) {
        (self.0.name, self.0.cuda, self.0.arguments, self.0.result)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}
