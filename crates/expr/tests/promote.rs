//! Promotion: the table of PyTorch's types, cell by cell, at run time and in types; the category rule; casts within a kernel.

use crate::random::Rng;
use crate::tensor::evaluate_every_way;
use std::marker::PhantomData;
use tilewright_dims::{Dims, dims};
use tilewright_expr::DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use tilewright_expr::graph::Graph;
use tilewright_expr::{Adopt, DType, Expr, In, Promote, Standing, Value, bf16, constant, f16, result_type, trace};

dims! { Y, X }

/// `torch.promote_types`, in the order of [`DType::ALL`]; `-` where it is an error.
const TABLE: [(&str, &str); 13] = [
    ("bool", "bool u8   i8   -    i16  -    i32  -    i64  f16  bf16 f32  f64"),
    ("u8  ", "u8   u8   i16  -    i16  -    i32  -    i64  f16  bf16 f32  f64"),
    ("i8  ", "i8   i16  i8   -    i16  -    i32  -    i64  f16  bf16 f32  f64"),
    ("u16 ", "-    -    -    u16  -    -    -    -    -    f16  bf16 f32  f64"),
    ("i16 ", "i16  i16  i16  -    i16  -    i32  -    i64  f16  bf16 f32  f64"),
    ("u32 ", "-    -    -    -    -    u32  -    -    -    f16  bf16 f32  f64"),
    ("i32 ", "i32  i32  i32  -    i32  -    i32  -    i64  f16  bf16 f32  f64"),
    ("u64 ", "-    -    -    -    -    -    -    u64  -    f16  bf16 f32  f64"),
    ("i64 ", "i64  i64  i64  -    i64  -    i64  -    i64  f16  bf16 f32  f64"),
    ("f16 ", "f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f32  f64"),
    ("bf16", "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32  bf16 f32  f64"),
    ("f32 ", "f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64"),
    ("f64 ", "f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64"),
];

/// The type that a table's cell names.
fn cell(a: usize, b: usize) -> Option<DType> {
    let name = TABLE[a].1.split_whitespace().nth(b).expect("13 columns");
    DType::ALL.into_iter().find(|t| t.name() == name)
}

/// What the traits say of two types, or `None` where they say nothing.
struct Pair<A, B>(PhantomData<(A, B)>);
trait Absent {
    fn common(&self) -> Option<DType> {
        None
    }
    fn adopted(&self) -> Option<DType> {
        None
    }
}
impl<A, B> Absent for &Pair<A, B> {}
trait Meets {
    fn common(&self) -> Option<DType>;
}
impl<A: Promote<B>, B> Meets for Pair<A, B> {
    fn common(&self) -> Option<DType> {
        Some(<A::Output as Value>::DTYPE)
    }
}
trait Adopts {
    fn adopted(&self) -> Option<DType>;
}
impl<A: Adopt<B>, B> Adopts for Pair<A, B> {
    fn adopted(&self) -> Option<DType> {
        Some(<A::Output as Value>::DTYPE)
    }
}

/// Both tables of the traits, in the order of [`DType::ALL`].
fn types() -> Vec<Vec<[Option<DType>; 2]>> {
    macro_rules! row {
        ($a:ident: $($b:ident)*) => { vec![$({
            let pair = Pair::<$a, $b>(PhantomData);
            #[allow(clippy::needless_borrow, reason = "what has the trait is found before what has not")]
            [(&pair).common(), (&pair).adopted()]
        }),*] };
    }
    macro_rules! rows {
        ($($a:ident)*) => { vec![$(row!($a: bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64)),*] };
    }
    rows!(bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64)
}

#[test]
fn every_cell() {
    let types = types();
    for (a, left) in DType::ALL.into_iter().enumerate() {
        assert_eq!(TABLE[a].0.trim(), left.name());
        for (b, right) in DType::ALL.into_iter().enumerate() {
            let expected = cell(a, b);
            assert_eq!(left.promote(right), expected, "{left} and {right}");
            assert_eq!(types[a][b], [expected, left.adopt(right)], "{left} and {right} as types");
            // Dimensioned operands are promoted, whatever their order.
            assert_eq!(result_type(&[(right, Standing::Dimensioned), (left, Standing::Dimensioned)]), expected);
        }
    }
}

/// The rules measured in PyTorch, those of complex numbers left out.
#[test]
fn categories() {
    let (tensor, single, literal) = (Standing::Dimensioned, Standing::Single, Standing::Literal);
    for (a, (b, standing), expected) in [
        (I32, (F64, literal), Some(F32)),
        (F16, (F64, literal), Some(F16)),
        (I8, (I64, literal), Some(I8)),
        (F32, (F64, single), Some(F32)),
        (I32, (F64, single), Some(F64)),
        (Bool, (I64, literal), Some(I64)),
        (Bool, (Bool, literal), Some(Bool)),
        (U16, (I64, literal), Some(U16)),
        (U16, (F64, literal), Some(F32)),
        (U32, (I32, single), Some(U32)),
        (Bool, (U16, single), None),
        (F64, (F32, single), Some(F64)),
        (BF16, (F16, single), Some(BF16)),
        (U8, (F16, single), Some(F16)),
        (U8, (I8, single), Some(U8)),
        (U8, (I8, tensor), Some(I16)),
        (U64, (U64, tensor), Some(U64)),
        (I64, (U64, tensor), None),
    ] {
        assert_eq!(result_type(&[(a, tensor), (b, standing)]), expected, "{a} and {b} as {standing:?}");
        assert_eq!(result_type(&[(b, standing), (a, tensor)]), expected, "{b} as {standing:?} and {a}");
    }
    assert_eq!(result_type(&[(I8, single), (F64, literal)]), Some(F32));
    assert_eq!(result_type(&[(Bool, tensor), (I16, single), (F64, literal)]), Some(F32));
    assert_eq!(result_type(&[(I64, literal)]), Some(I64));
    assert_eq!(result_type(&[]), None);
}

fn of<T: Value, S>(_: &Expr<T, S>) -> DType {
    T::DTYPE
}

/// The same rules in the types of expressions.
#[test]
fn expressions() {
    let t = trace(|b: In<bool, (X,)>, i: In<i32, (X,)>, h: In<f16, (X,)>, d: In<f64, ()>, s: In<i8, ()>| {
        assert_eq!(of(&i.promote(2.5).0), F32);
        assert_eq!(of(&i.promote(3).1), I32);
        assert_eq!(of(&b.promote(1).0), I64);
        assert_eq!(of(&b.promote(true).0), Bool);
        assert_eq!(of(&h.promote(2.5).1), F16);
        assert_eq!(of(&h.promote(d).1), F16);
        assert_eq!(of(&d.promote(h).0), F16);
        assert_eq!(of(&i.promote(d).0), F64);
        assert_eq!(of(&i.promote(h).0), F16);
        assert_eq!(of(&s.promote(d).0), F64);
        assert_eq!(of(&s.promote(2.5).0), F32);
        assert_eq!(of(&s.promote(constant(1u8)).0), I16);
        assert_eq!(of(&i.true_div(i)), F32);
        assert_eq!(of(&h.true_div(i)), F16);
        assert_eq!(of(&i.true_div(d)), F64);
        assert_eq!(of(&b.real().exp()), F32);
        let (x, y) = i.promote(d);
        (x * y).store::<(X,)>()
    });
    assert_eq!(t.graph.results().len(), 1);
}

/// What PyTorch computes: casts of the operands, then the operation in the common type.
#[test]
fn mixed_arithmetic() {
    let mut rng = Rng::new(71);
    let (a, b) = (rng.tensor(U8, <(Y, X)>::IDS, &[7, 21]), rng.tensor(I8, <(X,)>::IDS, &[21]));
    let (k, big) = (rng.tensor(I64, &[], &[]), rng.tensor(I64, <(X,)>::IDS, &[21]));
    let t = trace(|a: In<u8, (Y, X)>, b: In<i8, (X,)>, k: In<i64, ()>, big: In<i64, (X,)>| {
        let (x, y) = a.promote(b);
        let (v, w) = b.promote(k);
        let (p, q) = b.promote(300);
        (
            (x + y).store::<(Y, X)>(),
            (v * w + p - q).store::<(X,)>(),
            a.true_div(b).store::<(Y, X)>(),
            big.true_div(0.25).store::<(X,)>(),
        )
    });
    let results = evaluate_every_way(&t.graph, &[&a, &b, &k, &big]);
    let (a, b, big) = (a.array::<u8>(), b.array::<i8>(), big.array::<i64>());
    let k = k.array::<i64>()[[]] as i8;
    let (sum, low) = (results[0].array::<i16>(), results[1].array::<i8>());
    let (ratio, by) = (results[2].array::<f32>(), results[3].array::<f32>());
    for x in 0..21 {
        let v = b[[x]];
        assert_eq!(low[[x]], v.wrapping_mul(k).wrapping_add(v).wrapping_sub(300i32 as i8));
        assert_eq!(by[[x]], big[[x]] as f32 / 0.25);
        for y in 0..7 {
            assert_eq!(sum[[y, x]], i16::from(a[[y, x]]) + i16::from(v));
            let expected = f32::from(a[[y, x]]) / f32::from(v);
            assert!(ratio[[y, x]] == expected || ratio[[y, x]].is_nan() && expected.is_nan());
        }
    }
}

/// Nothing is copied: the casts are in the kernel, and operands that need none have none.
#[test]
fn casts_are_fused() {
    let count = |graph: &Graph| graph.nodes().filter(|n| matches!(n.op, tilewright_expr::graph::Op::Cast(_))).count();
    let mixed = trace(|a: In<u8, (X,)>, b: In<f32, (X,)>| {
        let (a, b) = a.promote(b);
        (a + b).store::<(X,)>()
    });
    let equal = trace(|a: In<f32, (X,)>, b: In<f32, (X,)>| {
        let (a, b) = a.promote(b);
        (a + b).store::<(X,)>()
    });
    assert_eq!((count(&mixed.graph), count(&equal.graph)), (1, 0));
}
