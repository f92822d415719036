//! Elementary functions inside of scalar functions: the compositions of the graph, as straight-line code.
//!
//! What `exp` is stands once, in the graph (`functions/`). Here it is printed, into `generated/` of this folder as CUDA C++ and into
//! that of `tilewright-scalar` as Rust, which a test compares: to print `powf` when a first call wants it would take that call 0.1 ms.

use super::text::{Source, Text};
use crate::dtype::{DType, Scalar};
use crate::emit::{binary, fma, literal, unary};
use crate::graph::{Binary, Graph, NodeId, Op, OperandSpec, Unary};
use std::fmt::Write as _;

/// What the arguments are called.
const ARGUMENTS: [&str; 2] = ["x", "y"];
/// Statements of a function that is not inlined.
const LONG: usize = 60;
const OUT_OF_LINE: &str = "static TW_NOINLINE";

/// A function of the graph, of arguments of one type.
#[derive(Clone, Copy)]
pub struct Elementary {
    name: &'static str,
    dtype: DType,
    arguments: usize,
    build: fn(&mut Graph, &[NodeId]) -> NodeId,
    /// What [`device_forms`] printed of it.
    printed: &'static str,
}

impl PartialEq for Elementary {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.dtype) == (other.name, other.dtype)
    }
}

impl std::fmt::Debug for Elementary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.name, self.dtype)
    }
}

macro_rules! elementary {
    ($($name:ident $graph:ident $($arg:ident)*;)*) => {
        /// The texts, each for `f32` and for `f64`.
        pub mod texts {
            use super::{DType, Elementary, Source, Text};
            $(
                #[doc = concat!("`", stringify!($name), "` of `f32` and of `f64`.")]
                #[allow(non_upper_case_globals, reason = "the names of the methods")]
                pub const $name: [&Text; 2] = [
                    &elementary!(@text $name $graph F32 $($arg)*),
                    &elementary!(@text $name $graph F64 $($arg)*),
                ];
            )*
        }
        /// Every elementary function.
        pub const ELEMENTARY: &[[&Text; 2]] = &[$(texts::$name),*];
    };
    (@text $name:ident $graph:ident $dtype:ident $($arg:ident)*) => {
        Text {
            name: stringify!($name),
            source: Source::Elementary(Elementary {
                name: stringify!($name),
                dtype: DType::$dtype,
                arguments: [$(stringify!($arg)),*].len(),
                build: |graph, args| {
                    let mut args = args.iter().copied();
                    $(let $arg = args.next().unwrap_or(crate::graph::NodeId(0));)*
                    graph.$graph($($arg),*)
                },
                printed: include_str!(concat!("generated/", stringify!($name), ".cuh")),
            }),
            callees: &[],
            constants: &[],
        }
    };
}

elementary! {
    exp exp x; exp2 exp2 x; exp10 exp10 x; exp_m1 exp_m1 x;
    ln ln x; log2 log2 x; log10 log10 x; ln_1p ln_1p x;
    powf pow x y; cbrt cbrt x; hypot hypot x y;
    sin sin x; cos cos x; tan tan x; asin asin x; acos acos x; atan atan x; atan2 atan2 x y;
    sinh sinh x; cosh cosh x; tanh tanh x; asinh asinh x; acosh acosh x; atanh atanh x;
    sigmoid sigmoid x; softplus softplus x; erf erf x; erfc erfc x;
}

/// A statement: what is defined, of which type, as what.
struct Statement {
    node: NodeId,
    dtype: DType,
    op: Op,
}

impl Elementary {
    /// The type of its arguments and of its result.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// The statements that make the result, in order, and the result.
    fn statements(&self) -> (Graph, Vec<Statement>, NodeId) {
        let mut graph = Graph::default();
        let spec = OperandSpec { dtype: self.dtype, components: 1, dims: Box::new([]) };
        let args: Vec<NodeId> = (0..self.arguments)
            .map(|_| {
                let number = graph.operand(spec.clone());
                graph.input(number, 0)
            })
            .collect();
        let result = (self.build)(&mut graph, &args);
        let mut needed = vec![false; result.0 as usize + 1];
        needed[result.0 as usize] = true;
        for number in (0..needed.len()).rev() {
            if needed[number] {
                graph.node(NodeId(number as u32)).op.for_each_arg(|a| needed[a.0 as usize] = true);
            }
        }
        let computed = |op: &Op| !matches!(op, Op::Const(_) | Op::Input { .. });
        let statements = (0..needed.len() as u32)
            .map(NodeId)
            .filter(|n| needed[n.0 as usize] && computed(&graph.node(*n).op))
            .map(|node| Statement { node, dtype: graph.node(node).dtype, op: graph.node(node).op.clone() })
            .collect();
        (graph, statements, result)
    }

    /// The name in CUDA C++, the definition, and how many characters a call adds to its caller.
    pub(super) fn text(&self) -> (String, String, usize) {
        let place = if self.dtype == DType::F64 { 2 } else { 1 };
        let text = self.printed.split("\n\n").nth(place).unwrap_or_default().trim_end();
        let weight = if text.starts_with(OUT_OF_LINE) { 0 } else { text.len() + 1 };
        (self.symbol(), format!("{text}\n"), weight)
    }

    fn symbol(&self) -> String {
        format!("own_{}", self.name)
    }

    /// A function in CUDA C++.
    fn cuda(&self) -> String {
        let (graph, statements, result) = self.statements();
        let (dtype, symbol) = (self.dtype.cuda(), self.symbol());
        let arguments: Vec<String> = ARGUMENTS[..self.arguments].iter().map(|a| format!("const {dtype} {a}")).collect();
        let qualifiers = if statements.len() > LONG { OUT_OF_LINE } else { "static TW_DEVICE" };
        let mut text = format!("{qualifiers} {dtype} {symbol}({}) {{\n", arguments.join(", "));
        let of = |n: &NodeId| name(&graph, *n, literal);
        for Statement { node, dtype, op } in &statements {
            let value = match op {
                Op::Unary(op, a) => unary(*op, &of(a), *dtype),
                Op::Binary(op, a, b) => binary(*op, &of(a), &of(b), graph.node(*a).dtype),
                Op::Fma(a, b, c) => fma(&of(a), &of(b), &of(c), *dtype),
                Op::Select(c, a, b) => format!("{} ? {} : {}", of(c), of(a), of(b)),
                Op::Cast(a) => format!("tw::cast<{}>({})", dtype.cuda(), of(a)),
                Op::Bits(a) => format!("tw::bits<{}>({})", dtype.cuda(), of(a)),
                other => format!("{other:?}"),
            };
            let _ = writeln!(text, "  const {} v{} = {value};", dtype.cuda(), node.0);
        }
        let _ = writeln!(text, "  return {};\n}}", of(&result));
        text
    }

    /// A Rust function of the same statements.
    fn rust(&self) -> String {
        let (graph, statements, result) = self.statements();
        let arguments: Vec<String> =
            ARGUMENTS[..self.arguments].iter().map(|a| format!("{a}: {}", self.dtype)).collect();
        let mut text =
            format!("#[inline(always)]\npub(crate) fn {}({}) -> {} {{\n", self.dtype, arguments.join(", "), self.dtype);
        let of = |n: &NodeId| name(&graph, *n, rust_literal);
        for Statement { node, dtype, op } in &statements {
            let from = |a: &NodeId| graph.node(*a).dtype;
            let value = match op {
                Op::Unary(op, a) => rust_unary(*op, &of(a), *dtype),
                Op::Binary(op, a, b) => rust_binary(*op, &of(a), &of(b), from(a)),
                Op::Fma(a, b, c) => format!("{}.mul_add({}, {})", receiver(&of(a)), of(b), of(c)),
                Op::Select(c, a, b) => format!("if {} {{ {} }} else {{ {} }}", of(c), of(a), of(b)),
                Op::Cast(a) => format!("CastTo::<{dtype}>::cast_to({})", of(a)),
                Op::Bits(a) => rust_bits(&of(a), from(a), *dtype),
                other => format!("{other:?}"),
            };
            let _ = writeln!(text, "    let v{} = {value};", node.0);
        }
        let _ = writeln!(text, "    {}\n}}", of(&result));
        text
    }
}

fn name(graph: &Graph, node: NodeId, literal: fn(Scalar) -> String) -> String {
    match &graph.node(node).op {
        Op::Const(s) => literal(*s),
        Op::Input { operand, .. } => ARGUMENTS[usize::from(*operand)].into(),
        _ => format!("v{}", node.0),
    }
}

fn rust_literal(s: Scalar) -> String {
    match s.dtype {
        DType::Bool => (s.bits & 1 == 1).to_string(),
        DType::F32 if s.get::<f32>().is_finite() => format!("{:?}_f32", s.get::<f32>()),
        DType::F64 if s.get::<f64>().is_finite() => format!("{:?}_f64", s.get::<f64>()),
        DType::F32 | DType::F64 => format!("{}::from_bits({:#x})", s.dtype, s.bits),
        other => match s.as_i64() {
            Some(v) if other != DType::U64 => format!("{v}_{other}"),
            _ => format!("{}_{other}", s.bits),
        },
    }
}

/// Bracketed: a minus sign binds less than a method.
fn receiver(text: &str) -> String {
    if text.starts_with('-') { format!("({text})") } else { text.into() }
}

fn rust_unary(op: Unary, a: &str, dtype: DType) -> String {
    let a = receiver(a);
    match op {
        Unary::Neg if dtype.is_float() => format!("-{a}"),
        Unary::Neg => format!("{a}.wrapping_neg()"),
        Unary::Not => format!("!{a}"),
        Unary::Round if dtype.is_float() => format!("Arith::round({a})"),
        // What rounds is a method of several traits, and inherent where there is a standard library.
        Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc => {
            format!("Arith::{}({a})", format!("{op:?}").to_lowercase())
        }
        Unary::CountOnes | Unary::LeadingZeros => {
            format!("Arith::{}({a})", if op == Unary::CountOnes { "count_ones" } else { "leading_zeros" })
        }
        other => format!("{a}.{}()", format!("{other:?}").to_lowercase()),
    }
}

fn rust_binary(op: Binary, a: &str, b: &str, dtype: DType) -> String {
    let infix = |s: &str| format!("{a} {s} {b}");
    let float = dtype.is_float();
    let call = |name: &str| format!("Arith::{name}({a}, {b})");
    match op {
        Binary::Add if float => infix("+"),
        Binary::Sub if float => infix("-"),
        Binary::Mul if float => infix("*"),
        Binary::Div if float => infix("/"),
        Binary::Add | Binary::Sub | Binary::Mul => {
            format!("{}.wrapping_{}({b})", receiver(a), format!("{op:?}").to_lowercase())
        }
        Binary::Min => call("minimum"),
        Binary::Max => call("maximum"),
        Binary::And if !float => infix("&"),
        Binary::Or if !float => infix("|"),
        Binary::Xor if !float => infix("^"),
        Binary::Lt => infix("<"),
        Binary::Le => infix("<="),
        Binary::Gt => infix(">"),
        Binary::Ge => infix(">="),
        Binary::Eq => infix("=="),
        Binary::Ne => infix("!="),
        other => call(&format!("{other:?}").to_lowercase()),
    }
}

fn rust_bits(a: &str, from: DType, to: DType) -> String {
    let a = receiver(a);
    match (from.is_float(), to.is_float()) {
        (true, false) => format!("{a}.to_bits() as {to}"),
        (false, true) => format!("{to}::from_bits({a} as {})", if to == DType::F64 { "u64" } else { "u32" }),
        _ => format!("{a} as {to}"),
    }
}

/// The host's forms of all elementary functions: a file for each, with its name.
pub fn host_forms() -> Vec<(String, String)> {
    forms(&format!("//! {GENERATED}\n\nuse super::*;\n\n"), Elementary::rust)
}

/// The GPU's forms of all elementary functions: a file for each, with its name. For a new function an empty one has to be there.
pub fn device_forms() -> Vec<(String, String)> {
    forms(&format!("// {GENERATED}\n\n"), Elementary::cuda)
}

const GENERATED: &str =
    "Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.";

fn forms(head: &str, print: fn(&Elementary) -> String) -> Vec<(String, String)> {
    let form = |text: &&Text| match &text.source {
        Source::Elementary(function) => Some(print(function)),
        _ => None,
    };
    let file = |texts: &[&Text; 2]| {
        (texts[0].name.to_string(), format!("{head}{}", texts.iter().filter_map(form).collect::<Vec<_>>().join("\n")))
    };
    ELEMENTARY.iter().map(file).collect()
}
