//! Layouts known at run time: against their typed twins, against a slow truth, and what they refuse.

use proptest::prelude::*;
use std::collections::HashSet;
use tilewright_dims::{Point, Term, dims, layout, via};
use tilewright_headers::host_model::Schedule;
use tilewright_headers::layout::{Axis, Layout, LayoutError};

dims! { I, J, K, N, H, W, C }

fn parsed(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refusal(text: &str) -> String {
    text.parse::<Layout>().map_or_else(|e| e.to_string(), |l| panic!("{text} is taken: {l:?}"))
}

/// One declaration as a type and as text: the same axes, sizes and offsets.
macro_rules! twins {
    ([$($axes:tt)*] $($maps:tt)*) => {{
        type Typed = via!([layout!($($axes)*)] $($maps)*);
        let (typed, text) = (Layout::of::<Typed>().unwrap(), parsed(stringify!([$($axes)*] $($maps)*)));
        assert_eq!(typed, text);
        assert_eq!(text.len(), i64::from(<Typed as tilewright_dims::Layout>::LEN));
        assert_eq!(text.storage(), i64::from(<Typed as tilewright_dims::Layout>::STORAGE));
        assert_eq!(text.overlaps(), <Typed as tilewright_dims::Layout>::OVERLAPS);
        for (i, j, k) in (0..14 * 14 * 60).map(|n| (n % 14 - 3, n / 14 % 14 - 3, n / 196 - 20)) {
            let expected = <Typed as tilewright_dims::Layout>::offset((I(i) + J(j) + K(k)).parts());
            let coords = [("I", i64::from(i)), ("K", i64::from(k)), ("J", i64::from(j))];
            assert_eq!(text.offset(&coords).unwrap(), i64::from(expected), "{coords:?} in {text:?}");
            let inside = <Typed as tilewright_dims::Layout>::outside((I(i) + J(j) + K(k)).parts()).is_none();
            assert_eq!(text.checked_offset(&coords).is_ok(), inside);
        }
        for index in 0..<Typed as tilewright_dims::Layout>::LEN {
            let typed = <Typed as tilewright_dims::Layout>::coords(index);
            let twin = text.coords(i64::from(index));
            let value = |dim: &str| twin.iter().find(|(d, _)| *d == dim).map_or(0, |(_, v)| *v);
            let typed = [typed.value::<I>(), typed.value::<J>(), typed.value::<K>()].map(i64::from);
            assert_eq!(typed, ["I", "J", "K"].map(value));
        }
    }};
}

#[test]
fn the_typed_twin_agrees() {
    twins!([I: 10, J: 10]);
    twins!([K/8: 4, I: 4, K%8]);
    twins!([K/4: 4, J: 2]);
    twins!([I: 4, J: 8 => 6, K: 4]);
    twins!([K/32: 2, I: 3, K/8%4, J: 2, K%8]);
    twins!([I: 8 => 64, J: 32]);
    twins!([I/4: 3, K/8: 5 => 40, I%4 => 9, K/4%2, K%4]);
    twins!([K: 1]);
    twins!([K/16: 4, I/16: 2, H: 32] via checkerboard(8: I%16, K/8%2 -> H));
    twins!([K/16: 2, I/16: 2, H: 32, K%8] via checkerboard(8: I%16, K/8%2 -> H));
    twins!([H: 32, J: 3] via checkerboard(4: K%16, I%2 -> H));
    twins!([I: 16 => 20, K: 20] via index(J -> [K/8: 2, I: 4]));
    twins!([K/16: 4, I/16: 8, H: 32] via index(J -> [K/8: 2, I: 16]) via checkerboard(8: I%16, K/8%2 -> H));
}

#[test]
fn values_of_the_acceptance_cases() {
    let padded = parsed("[N: 7, H: 16 => 1496, W: 33 => 44, C: 42]");
    assert_eq!((padded.len(), padded.storage()), (155_232, 1 + 6 * 16 * 1496 + 15 * 1496 + 32 * 44 + 41));
    let folded = parsed("K/8: 4, I: 4, K%8");
    assert_eq!(folded.offset(&[("I", 2), ("K", 7), ("K", 6), ("Z", 9)]), Ok(53));
    assert_eq!((folded.extent("K"), folded.extent("J")), (Some(32), None));
    assert_eq!(parsed("M/16: 4").extent("M"), Some(64));
    // `X2` and `C2D` are names like any other.
    assert_eq!(parsed("X2: 3, C2D/2: 2, C2D%2").dims(), ["X2", "C2D"]);
}

#[test]
fn refusals_name_dimension_sizes_and_the_next_step() {
    for (text, parts) in [
        ("I: 0, K: 8", &["axis I: 0", "size is 0", "at least 1"][..]),
        ("K/0: 4", &["fold is 0"]),
        ("B: 1, B/0%0", &["axis B/0%0"]),
        ("K/8: 4, K/8: 2", &["`K/8`", "`K%8`"]),
        ("K/8: 4, I: 4, K%4", &["`K/8`", "units of 8", "`K%4` ends at 4", "8 steps"]),
        ("K/8: 4, K/3%2, K%3", &["`K/3%2` ends at 6", "fold 6"]),
        ("K/8: 4, K: 8", &["`K: 8` is finer", "`K%8`"]),
        ("I: 2147483647, J: 2147483647, K: 2147483647", &["2^63"]),
        ("I: 2, J: 2147483647 => 9223372036854775807", &["2^63"]),
        ("K/8 4", &["column 5", "`:` or `%`", "`4`"]),
        ("K: 8,, I: 2", &["column 6", "name of a dimension"]),
        ("[K: 8", &["column 6", "`]`", "the end"]),
        ("K: 8] ", &["column 5", "found `]`"]),
        ("K: 99999999999", &["column 4", "too large"]),
        ("K: -8", &["column 4", "a size", "`-`"]),
        ("8: K", &["column 1"]),
        ("K: 8 => ", &["column 9", "a stride"]),
    ] {
        let said = refusal(text);
        assert!(parts.iter().all(|part| said.contains(part)), "{text}: {said}");
    }
    for (text, parts) in [
        ("[H: 16] via checkerboard(8: I%16, K%2 -> H)", &["gives 32 values along `H`", "`H: 32`"][..]),
        ("[H: 32, I/8: 4] via checkerboard(8: I%16, K%2 -> H)", &["`I/8` counts I in units of 8", "`I%16` ends at 16"]),
        (
            "[H: 32, I/32: 4] via checkerboard(8: I%16, K%2 -> H)",
            &["`I/32` counts I in units of 32", "`I%16` ends at 16"],
        ),
        ("[H: 32, K%4] via checkerboard(8: I%16, K/8%2 -> H)", &["`K/8` counts K in units of 8", "`K%4` ends at 4"]),
        ("[H: 32, K: 8] via checkerboard(8: I%16, K/8%2 -> H)", &["`K: 8` is finer", "`K%8`"]),
        ("[H: 32, I: 16] via checkerboard(8: I%16, K/8%2 -> H)", &["two axes are `I`"]),
        ("[H: 32] via checkerboard(7: I%16, K%2 -> H)", &["7 ranks", "even"]),
        ("[H: 32] via checkerboard(8: I/2%16, K%2 -> H)", &["column 29", "`I%16`"]),
        ("[H: 32] via checkerboard(8: I%16, K%3 -> H)", &["column 35", "`K/8%2`"]),
        ("[H: 32] via swirl(8)", &["column 13", "no map `swirl`", "`index(..)`"]),
        ("[I: 4] via index(J -> [I: 0])", &["size is 0"]),
        ("[I: 4] via index(J -> I: 4)", &["column 23", "`[`"]),
    ] {
        let said = refusal(text);
        assert!(parts.iter().all(|part| said.contains(part)), "{text}: {said}");
    }
    let folded = parsed("K/8: 4, I: 4, K%8");
    assert!(folded.slice("K", 12, 1).unwrap_err().to_string().contains("multiple of 8"));
    assert!(
        folded.slice("K", 8, 4).is_err() && folded.slice("I", i64::MAX, 1).is_err() && folded.slice("Z", 0, 1).is_err()
    );
    assert!(folded.slice("K", 0, i32::MAX).is_err() && parsed("I: 2, K%8").slice("K", 0, 4).is_err());
    let odd = parsed("I: 4 => 30, K: 12").vectors(4).unwrap_err().to_string();
    assert!(odd.contains("`I: 4`") && odd.contains("stride is 30"), "{odd}");
    assert!(folded.vectors(3).is_err() && folded.vectors(0).is_err() && parsed("I: 4 => 8").vectors(8).is_err());
    let outside = folded.checked_offset(&[("K", 32)]).unwrap_err();
    assert_eq!(outside.to_string(), "K(32) lies outside 0..32");
    assert_eq!(
        folded.offset(&[("J", 1)]).unwrap_err(),
        LayoutError::NoneShared { has: "K, I".into(), got: "J".into() }
    );
    let large = parsed("I: 65536, J: 32768").cuda().unwrap_err().to_string();
    assert!(large.contains("2147483648") && large.contains("2147483647"), "{large}");
    let negative = Axis { dim: "K".into(), fold: 1, size: 4, stride: -1, wraps: false };
    assert!(matches!(Layout::new(vec![negative]), Err(LayoutError::Number { what: "stride", got: -1, .. })));
}

/// Slices and vectors are the same memory: random parts against the whole.
#[test]
fn parts_of_a_layout() {
    let folded = parsed("[K/8: 4, I: 4 => 16, K%8]");
    let (offset, part) = folded.slice("K", 16, 2).unwrap();
    for at in part.points() {
        let whole: Vec<_> = at.iter().copied().chain([("K", 16)]).collect();
        assert_eq!(offset + part.offset(&at).unwrap(), folded.offset(&whole).unwrap());
    }
    let fours = folded.vectors(4).unwrap();
    for at in folded.points() {
        assert_eq!(fours.offset(&at).unwrap(), folded.offset(&at).unwrap() / 4);
    }
    let shares: Vec<_> = (0..7).flat_map(|worker| folded.partition(worker, 7)).collect();
    assert_eq!((shares.len(), shares.iter().collect::<HashSet<_>>().len()), (128, 128));
}

#[test]
fn pictures() {
    let swizzled = parsed("K/2: 2, I: 2, K%2");
    let expected = "[K/2: 2 => 4, I: 2 => 2, K%2 => 1], 8 elements in 8\n K: 0 1 2 3\nI 0 0 1 4 5\nI 1 2 3 6 7\n";
    assert_eq!(swizzled.show(), expected);
    let svg = swizzled.svg();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert_eq!((svg.matches("<rect").count(), svg.matches("<text").count()), (9, 8 + 6));
    assert!(parsed("N: 3, I: 200, K: 2").show().ends_with("(a part of it)\n"));
    assert_eq!(parsed("").show(), "[], 1 elements in 1\n");
    let board = parsed("[H: 8] via checkerboard(4: I%4, K%2 -> H)").show();
    assert_eq!(
        board,
        "[H: 8 => 1] via checkerboard(4: I%4, K%2 -> H), 8 elements in 8\n I: 0 1 2 3\nK 0 0 2 5 7\nK 1 1 3 4 6\n"
    );
}

/// A layout that keeps the rules: each dimension cut into factors, the axes shuffled, some strides padded.
fn any_layout() -> impl Strategy<Value = Layout> {
    let factors = prop::collection::vec(1..5i32, 1..4);
    (prop::collection::vec(factors, 1..4), any::<u64>(), prop::collection::vec(0..3i64, 12)).prop_map(
        |(dims, seed, padding)| {
            let mut axes = Vec::new();
            for (d, sizes) in dims.iter().enumerate() {
                // Outermost factor first; folds are products of the finer factors.
                let mut fold: i32 = sizes.iter().product();
                for (n, size) in sizes.iter().enumerate() {
                    fold /= size;
                    let dim = ["I", "J", "K"][d].to_string();
                    axes.push(Axis { dim, fold, size: *size, stride: 0, wraps: n > 0 });
                }
            }
            // Two axes of size 1 may be the same fold: keep one.
            let mut kept: Vec<Axis> = Vec::new();
            for a in axes {
                if !kept.iter().any(|b| b.dim == a.dim && b.fold == a.fold) {
                    kept.push(a);
                }
            }
            let mut random = seed;
            for i in (1..kept.len()).rev() {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                kept.swap(i, (random >> 33) as usize % (i + 1));
            }
            let mut next = 1;
            for (a, padding) in kept.iter_mut().rev().zip(padding) {
                a.stride = next + padding;
                next = a.stride * i64::from(a.size);
            }
            Layout::new(kept).unwrap_or_else(|e| panic!("{e}"))
        },
    )
}

const DECLARED: &str = r#"#include "tilewright/layout.cuh"
/*@tilewright
dims! { I, K, }
folds! { K8 = K / 8, K32 = K8 / 4 }
@tilewright*/ struct Before { int x; };
/*@tilewright tensor!(A: const f32, [K/8: 4, I: 4, K%8]); tensor!(B: "float", [K: 32 => 2]) @tilewright*/
struct Params { const float* x; float* y; };
extern "C" __global__ void copy(const __grid_constant__ Params p) {
  const A a{p.x};
  const B b{p.y};
  const K k((int)threadIdx.x);
  if (!(k < A::extent<K>()) || k >= K32(1) || K8(k) == K8(4) || K8(2) != K(16)) return;
  float sum = 0.0f;
  for (I i(0); i < A::extent<I>(); ++i.value) sum += *a.at(k).at(i);
  *b.at(K8(0)).at(K32(0)).at(k) = sum;
}
"#;

#[test]
fn a_declaration_block_becomes_types() {
    let text = tilewright_headers::layout::expand(DECLARED).unwrap_or_else(|e| panic!("{e}"));
    assert!(text.contains("using K32 = tw::Fold<K, 32>;\n#line 5\n struct Before"), "{text}");
    assert!(text.contains("\n#line 6\n\nstruct Params"), "{text}");
    assert_eq!(tilewright_headers::layout::expand("int x;"), Ok("int x;".to_owned()));
    let Some(model) = crate::fixture::compile("declared", &[&text]) else { return };
    let x = crate::fixture::random(128, 3);
    let mut y = [f32::NAN; 63];
    let block = (x.as_ptr(), y.as_mut_ptr());
    crate::fixture::run(&model, "copy", crate::fixture::launch(1, 32, 0, Schedule::Backward), block)
        .unwrap_or_else(|e| panic!("{e}"));
    for k in 0..32 {
        let sum = (0..4).fold(0.0f32, |sum, i| sum + x[k / 8 * 32 + i * 8 + k % 8]);
        assert_eq!(y[2 * k], sum, "K({k})");
    }
    assert!(y.iter().skip(1).step_by(2).all(|gap| gap.is_nan()));
}

#[test]
fn wrong_declarations_have_a_place() {
    // A § stands where the error is.
    for (block, parts) in [
        ("dims! { I, §I }", &["`I` is declared twice"][..]),
        ("dims! { I §K }", &["expected `}`", "`K`"]),
        ("dims! { I }\n tensor!(A: f32, §[J: 4])", &["no dimension `J`", "declared are I"]),
        ("dims! { I }\ntensor!(A: §f31, [I: 4])", &["`f31`", "quotation marks"]),
        ("dims! { I }\ntensor!(A: \"§\", [I: 4])", &["expected a type"]),
        ("dims! { I }\ntensor!(A: f32, §[I/4: 2, I%2])", &["`I%2` ends at 2"]),
        ("dims! { I }\ntensor!(A: f32, §I: 2)", &["expected `[`"]),
        ("dims! { I }\ntensor!(A: f32, [I: 4, §4])", &["the name of a dimension", "`4`"]),
        ("dims! { I }\ntensor!(A: f32, §[I: 2147483647, I: 2])", &["two axes are `I`"]),
        ("folds! { K8 = §K / 8 }", &["no dimension `K`", "none is declared yet"]),
        ("dims! { é, K } folds! { K0 = K / §0 }", &["a fold by 0"]),
        ("§layout! { K }", &["found `layout!`"]),
        ("dims §{ K }", &["expected `!`"]),
    ] {
        let marked = format!("// a kernel\n{OPEN_BLOCK} {block} @tilewright*/\n");
        let before = marked.split('§').next().unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let error = tilewright_headers::layout::expand(&marked.replace('§', "")).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{block}: {error}");
        assert!(parts.iter().all(|part| error.message.contains(part)), "{block}: {error}");
    }
    let open = tilewright_headers::layout::expand("x\n /*@tilewright dims! { I }").unwrap_err();
    assert_eq!((open.line, open.column), (2, 15));
}

const OPEN_BLOCK: &str = "/*@tilewright";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn laws(layout in any_layout(), at in prop::collection::vec(-40i64..70, 6)) {
        // Each coordinate once, each with an element of its own inside the storage.
        let offsets: HashSet<i64> =
            (0..layout.len()).map(|i| layout.checked_offset(&layout.coords(i)).unwrap()).collect();
        prop_assert_eq!(offsets.len() as i64, layout.len());
        prop_assert!(offsets.iter().all(|o| (0..layout.storage()).contains(o)));
        prop_assert_eq!(offsets.iter().max().copied(), Some(layout.storage() - 1));
        prop_assert!(!layout.overlaps());
        // Repeated subscripts are their sum, in any order.
        let split = [("I", at[0]), ("J", at[1]), ("K", at[2]), ("K", at[3]), ("I", at[4]), ("J", at[5])];
        let sum = [("K", at[2] + at[3]), ("J", at[1] + at[5]), ("I", at[0] + at[4])];
        prop_assert_eq!(layout.offset(&split), layout.offset(&sum));
        // What is written reads back.
        let written: Vec<String> = layout.axes().iter().map(|a| format!("{a} => {}", a.stride)).collect();
        prop_assert_eq!(written.join(", ").parse::<Layout>(), Ok(layout));
    }

    /// Whatever the text, an answer and no panic; what is refused says where or what.
    #[test]
    fn any_text(text in "[A-Za-z0-9_/%:,=>\\[\\] \\-é]{0,40}") {
        if let Err(error) = text.parse::<Layout>() {
            prop_assert!(!error.to_string().is_empty());
            if let LayoutError::Syntax { column, .. } = error {
                prop_assert!((1..=text.chars().count() + 1).contains(&column));
            }
        }
    }

    /// Blocks of rubbish: an answer or a place, and no panic.
    #[test]
    fn any_block(block in "((dims|folds|tensor|x)!? ?[{(]? ?([A-C]( ?[:=,/%] ?(f32|\"|[0-9]{1,3}|[A-C]))*,? ?){0,4}[\\])}]{0,2};?\n?){0,3}") {
        let source = format!("a\n{OPEN_BLOCK} {block} @tilewright*/");
        if let Err(error) = tilewright_headers::layout::expand(&source) {
            prop_assert!((2..=2 + block.matches('\n').count()).contains(&error.line), "{}", error);
        }
    }

    #[test]
    fn any_text_that_is_nearly_one(text in "([A-C](/[0-9]{1,2})?[:%] ?[0-9]{1,10}( ?=> ?[0-9]{1,19})?,? ?){0,4}") {
        if let Ok(layout) = text.parse::<Layout>() {
            prop_assert!(layout.len() > 0 && layout.storage() > 0);
            let _ = (layout.overlaps(), layout.offset(&[("A", i64::MIN), ("B", i64::MAX)]));
        }
    }
}
