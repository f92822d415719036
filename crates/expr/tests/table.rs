//! The table of operations: each on each element type, or the reason why there is none. The typed face against a truth on exact
//! integers and `f64`, the definition, the host evaluator, and emitted kernels on the host model.

mod truth;

use crate::emitted::check_all;
use crate::naive::Number::Int;
use crate::random::{Case, Operand, Rng};
use crate::reference::casts::edges;
use crate::tensor::{Layout, Stored, Tensor, evaluate, same_bits};
use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::graph::Graph;
use tilewright_expr::{Bitwise, DType, Element, Float, In, Integer, Number, Outputs, Value, bf16, f16, trace};
use truth::truth;

dims! { X }

const FLOATS: &[DType] = &[F16, BF16, F32, F64];
const WITH_BOOL: &[DType] = &[Bool, U8, I8, U16, I16, U32, I32, U64, I64];

/// What there is not: operations, types, why.
const ABSENT: &[(&[&str], &[DType], &str)] = &[
    (
        &[
            "+",
            "-",
            "*",
            "/",
            "%",
            "neg",
            "abs",
            "abs_diff",
            "signum",
            "sign_bit",
            "square",
            "cube",
            "pow 0",
            "pow 1",
            "pow 7",
            "rem_euclid",
            "div_euclid",
        ],
        &[Bool],
        "a condition is no number: `&`, `|`, `^`, or a cast first",
    ),
    (&["&", "|", "^", "!"], FLOATS, "the bits of a float mean nothing alone: `sign_bit`, `copysign`, `abs`"),
    (&["<<", ">>"], &[Bool], "one bit cannot be shifted"),
    (&["<<", ">>"], FLOATS, "multiply by a power of two"),
    (
        &["saturating_add", "saturating_sub", "saturating_mul", "count_ones", "leading_zeros", "trailing_zeros"],
        &[Bool],
        "a condition is no number",
    ),
    (&["saturating_add", "saturating_sub", "saturating_mul"], FLOATS, "floats end in infinity"),
    (&["count_ones", "leading_zeros", "trailing_zeros"], FLOATS, "the bits of a float mean nothing alone"),
    (
        &[
            "sqrt",
            "exp",
            "mul_add",
            "recip",
            "rsqrt",
            "powi 0",
            "powi 6",
            "powi -3",
            "copysign",
            "lerp",
            "a * b + c",
            "c - a * b",
            "p.fract",
            "p.abs_diff",
            "p.lerp",
        ],
        WITH_BOOL,
        "results have fractions, or are rounded: a cast to a float first",
    ),
    (&["floor", "ceil", "trunc", "round", "fract", "round_half_away"], WITH_BOOL, "integers have no fraction"),
    (&["is_nan", "is_infinite", "is_finite"], WITH_BOOL, "integers are finite numbers"),
];

/// Every function of an element's value in the typed face has a line here (held by `every_method_has_its_line`).
const OPERATIONS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "neg",
    "&",
    "|",
    "^",
    "!",
    "<<",
    ">>",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "min",
    "max",
    "clamp",
    "select",
    "select literals",
    "abs",
    "abs_diff",
    "signum",
    "sign_bit",
    "square",
    "cube",
    "pow 0",
    "pow 1",
    "pow 7",
    "rem_euclid",
    "div_euclid",
    "saturating_add",
    "saturating_sub",
    "saturating_mul",
    "count_ones",
    "leading_zeros",
    "trailing_zeros",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "round",
    "exp",
    "mul_add",
    "recip",
    "rsqrt",
    "powi 0",
    "powi 6",
    "powi -3",
    "copysign",
    "is_nan",
    "is_infinite",
    "is_finite",
    "fract",
    "round_half_away",
    "lerp",
    "a * b + c",
    "c - a * b",
    "p.fract",
    "p.abs_diff",
    "p.lerp",
    "to bool",
    "to u8",
    "to i8",
    "to u16",
    "to i16",
    "to u32",
    "to i32",
    "to u64",
    "to i64",
    "to f16",
    "to bf16",
    "to f32",
    "to f64",
    "trunc_to u8",
    "trunc_to i8",
    "trunc_to u16",
    "trunc_to i16",
    "trunc_to u32",
    "trunc_to i32",
    "trunc_to u64",
    "trunc_to i64",
    "wrapping_to u8",
    "wrapping_to i8",
    "wrapping_to u16",
    "wrapping_to i16",
    "wrapping_to u32",
    "wrapping_to i32",
    "wrapping_to u64",
    "wrapping_to i64",
];

/// Operations with their results.
type Made = Vec<(&'static str, Box<dyn Outputs>)>;
type Over<T> = In<T, (X,)>;

/// As many results as there are.
struct All(Vec<Box<dyn Outputs>>);
impl Outputs for All {
    fn declare(&self, graph: &mut Graph, trace: u64) {
        self.0.iter().for_each(|o| o.declare(graph, trace));
    }
}

macro_rules! put {
    ($made:ident: $($name:expr => $result:expr;)*) => {
        $($made.push(($name, Box::new($result.store::<(X,)>())));)*
    };
}

fn every<T: Value + Element + tilewright_expr::Arg<T, Set = ()> + tilewright_expr::Choice<Elem = T, Set = ()>>(
    made: &mut Made,
    [a, b, c]: [Over<T>; 3],
) {
    let (zero, other) = (T::default(), T::from_bits64(3));
    put! { made:
        "lt" => a.lt(b); "le" => a.le(b); "gt" => a.gt(b); "ge" => a.ge(b); "eq" => a.eq(b); "ne" => a.ne(b);
        "min" => a.min(b); "max" => a.max(b); "clamp" => a.clamp(b, c);
        "select" => a.lt(b).select(b, c); "select literals" => a.lt(b).select(zero, other);
    }
    macro_rules! casts {
        ($($t:ty)*) => { put! { made: $(concat!("to ", stringify!($t)) => a.to::<$t>();)* } };
    }
    casts!(bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64);
    macro_rules! whole {
        ($($t:ty)*) => { put! { made:
            $(concat!("trunc_to ", stringify!($t)) => a.trunc_to::<$t>();)*
            $(concat!("wrapping_to ", stringify!($t)) => a.wrapping_to::<$t>();)*
        } };
    }
    whole!(u8 i8 u16 i16 u32 i32 u64 i64);
}

fn bitwise<T: Bitwise>(made: &mut Made, [a, b, _]: [Over<T>; 3]) {
    put! { made: "&" => (a & b); "|" => (a | b); "^" => (a ^ b); "!" => (!a); }
}

fn numbers<T: Number>(made: &mut Made, [a, b, _]: [Over<T>; 3]) {
    put! { made:
        "+" => (a + b); "-" => (a - b); "*" => (a * b); "/" => (a / b); "%" => (a % b); "neg" => (-a); "abs" => a.abs();
        "abs_diff" => a.abs_diff(b); "signum" => a.signum(); "sign_bit" => a.sign_bit(); "square" => a.square();
        "cube" => a.cube(); "pow 0" => a.pow(0); "pow 1" => a.pow(1); "pow 7" => a.pow(7);
        "rem_euclid" => a.rem_euclid(b); "div_euclid" => a.div_euclid(b);
    }
}

fn integers<T: Integer>(made: &mut Made, [a, b, _]: [Over<T>; 3]) {
    put! { made:
        "<<" => (a << b); ">>" => (a >> b); "saturating_add" => a.saturating_add(b); "saturating_sub" => a.saturating_sub(b);
        "saturating_mul" => a.saturating_mul(b); "count_ones" => a.count_ones(); "leading_zeros" => a.leading_zeros();
        "trailing_zeros" => a.trailing_zeros();
    }
}

fn floats<T: Float>(made: &mut Made, [a, b, c]: [Over<T>; 3]) {
    put! { made:
        "sqrt" => a.sqrt(); "floor" => a.floor(); "ceil" => a.ceil(); "trunc" => a.trunc(); "round" => a.round();
        "exp" => a.exp(); "mul_add" => a.mul_add(b, c); "recip" => a.recip(); "rsqrt" => a.rsqrt();
        "powi 0" => a.powi(0); "powi 6" => a.powi(6); "powi -3" => a.powi(-3); "copysign" => a.copysign(b);
        "is_nan" => a.is_nan(); "is_infinite" => a.is_infinite(); "is_finite" => a.is_finite(); "fract" => a.fract();
        "round_half_away" => a.round_half_away(); "lerp" => a.lerp(b, c);
        "a * b + c" => (a * b + c); "c - a * b" => (c - a * b);
        // Of a product, which must not be contracted with what the function does.
        "p.fract" => (a * b).fract(); "p.abs_diff" => (a * b).abs_diff(c); "p.lerp" => c.lerp(a * b, c);
    }
}

/// What one type has: names in the order of the graph's outputs.
fn made(dtype: DType) -> (Vec<&'static str>, Graph) {
    let mut names = Vec::new();
    macro_rules! of {
        ($t:ty: $($group:ident)*) => {
            trace(|a: Over<$t>, b: Over<$t>, c: Over<$t>| {
                let mut made = Made::new();
                $($group(&mut made, [a, b, c]);)*
                let results;
                (names, results) = made.into_iter().unzip();
                All(results)
            })
            .graph
        };
    }
    let graph = match dtype {
        Bool => of!(bool: every bitwise),
        U8 => of!(u8: every bitwise numbers integers),
        I8 => of!(i8: every bitwise numbers integers),
        U16 => of!(u16: every bitwise numbers integers),
        I16 => of!(i16: every bitwise numbers integers),
        U32 => of!(u32: every bitwise numbers integers),
        I32 => of!(i32: every bitwise numbers integers),
        U64 => of!(u64: every bitwise numbers integers),
        I64 => of!(i64: every bitwise numbers integers),
        F16 => of!(f16: every numbers floats),
        BF16 => of!(bf16: every numbers floats),
        F32 => of!(f32: every numbers floats),
        F64 => of!(f64: every numbers floats),
    };
    (names, graph)
}

/// Three operands: all edges, and two orders of the edges' neighbours and of what happens by chance.
fn operands(dtype: DType) -> [Tensor; 3] {
    let mut rng = Rng::new(dtype as u64 + 40);
    let first = edges(dtype);
    let shape = [first.len() as i64];
    let mut second = first.clone();
    rng.shuffle(&mut second);
    let mut third = rng.tensor(dtype, <(X,)>::IDS, &shape).bits;
    // Equal operands, and pairs of ends of the range.
    for i in (0..first.len()).step_by(5) {
        second[i] = first[i];
    }
    for i in (0..first.len()).step_by(7) {
        third[i] = second[i];
    }
    [first, second, third].map(|bits| Tensor {
        dtype,
        components: 1,
        dims: <(X,)>::IDS.into(),
        shape: shape.into(),
        bits,
    })
}

#[test]
fn every_operation_on_every_type_or_why_not() {
    for dtype in DType::ALL {
        let (names, _) = made(dtype);
        for name in &names {
            assert!(OPERATIONS.contains(name), "`{name}` has no line in OPERATIONS");
        }
        for operation in OPERATIONS {
            let there = names.iter().filter(|n| *n == operation).count();
            let absent: Vec<&str> = ABSENT
                .iter()
                .filter(|(operations, types, _)| operations.contains(operation) && types.contains(&dtype))
                .map(|(_, _, why)| *why)
                .collect();
            match (there, absent.as_slice()) {
                (1, []) | (0, [_]) => {}
                (0, []) => panic!("`{operation}` of {dtype} is neither there nor in ABSENT"),
                (there, absent) => panic!("`{operation}` of {dtype}: {there} results, and absent: {absent:?}"),
            }
        }
    }
}

/// A public function of expressions that the table lacks.
#[test]
fn every_method_has_its_line() {
    const SOURCES: [&str; 6] = [
        include_str!("../src/typed/operators.rs"),
        include_str!("../src/typed/numbers.rs"),
        include_str!("../src/typed/integers.rs"),
        include_str!("../src/typed/floats.rs"),
        include_str!("../src/typed/choice.rs"),
        include_str!("../src/typed/cast.rs"),
    ];
    let known = |name: &str| OPERATIONS.iter().any(|o| o.split(' ').next() == Some(name));
    let mut count = 0;
    for line in SOURCES.iter().flat_map(|s| s.lines()) {
        let line = line.trim();
        let written = line.strip_prefix("pub fn ").and_then(|l| l.split(['<', '(']).next());
        let listed = line.strip_suffix(';').map(|l| l.split(':').next().unwrap_or(l));
        let listed = listed.filter(|l| l.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !l.is_empty());
        for name in written.into_iter().chain(listed).filter(|n| !n.starts_with('$') && *n != "use") {
            count += 1;
            assert!(known(name), "`{name}` has no line in OPERATIONS");
        }
    }
    assert!(count > 40, "{count} functions found");
}

#[test]
fn values_are_the_truth() {
    for dtype in DType::ALL {
        let (names, graph) = made(dtype);
        let inputs = operands(dtype);
        let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &Layout::dense(1))).collect();
        let layouts = vec![Layout::dense(1); names.len()];
        let (results, _) = evaluate(&graph, &stored, &layouts, true, 1).unwrap_or_else(|e| panic!("{e}"));
        let mut compared = 0;
        for (name, result) in names.iter().zip(&results) {
            for (i, got) in result.bits.iter().enumerate() {
                let args = [0, 1, 2].map(|k| crate::naive::Number::of(dtype, inputs[k].bits[i]));
                let Some(expected) = truth(name, dtype, args) else { continue };
                compared += 1;
                if let Int(_) = expected {
                    assert!(!result.dtype.is_float(), "`{name}` of {dtype} gives {}", result.dtype);
                }
                let expected = expected.bits(result.dtype);
                assert!(
                    same_bits(result.dtype, *got, expected),
                    "`{name}` of {dtype} {args:?}: {got:#x}, expected {expected:#x}"
                );
            }
        }
        assert!(compared > (names.len() - 2) * inputs[0].bits.len(), "{dtype}: {compared} values compared");
    }
}

#[test]
fn kernels_agree() {
    // With a step in memory, a thread computes one point: a short text.
    let layout = Layout { step: 2, ..Layout::dense(1) };
    let cases = DType::ALL.into_iter().map(|dtype| {
        let (names, graph) = made(dtype);
        let operand = |tensor| Operand { tensor, layout: layout.clone(), place: Place::Device };
        let operands = operands(dtype).map(operand).into();
        (
            format!("the table of {dtype}"),
            Case { graph, operands, outputs: vec![layout.clone(); names.len()], known: true },
        )
    });
    check_all("table::kernels_agree", cases);
}

/// Literals on either side are what constants are.
#[test]
fn literals_on_either_side() {
    macro_rules! same {
        ($t:ty, $literal:expr; $($op:tt)*) => { $({
            let literal: $t = $literal;
            let constant = || tilewright_expr::constant(literal);
            let t = trace(|a: Over<$t>| All(vec![
                Box::new((a $op literal).store::<(X,)>()),
                Box::new((a $op constant()).store::<(X,)>()),
                Box::new((literal $op a).store::<(X,)>()),
                Box::new((constant() $op a).store::<(X,)>()),
            ]));
            let tensor = &operands(<$t as Value>::DTYPE)[0];
            let stored = [Stored::new(tensor, &Layout::dense(1))];
            let (r, _) = evaluate(&t.graph, &stored, &vec![Layout::dense(1); 4], true, 0).unwrap_or_else(|e| panic!("{e}"));
            assert!(r[0].same(&r[1]), "{} {}", stringify!($t), r[0].difference(&r[1]));
            assert!(r[2].same(&r[3]), "{} {}", stringify!($t), r[2].difference(&r[3]));
        })* };
    }
    macro_rules! whole { ($($t:ty)*) => { $(same!($t, 5; + - * / % & | ^ << >>);)* }; }
    whole!(u8 i8 u16 i16 u32 i32 u64 i64);
    same!(bool, true; & | ^);
    same!(f16, f16::from_f32(2.75); + - * / %);
    same!(bf16, bf16::from_f32(2.75); + - * / %);
    same!(f32, 2.75; + - * / %);
    same!(f64, 2.75; + - * / %);
}
