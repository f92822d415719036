//! What is wrong with a text is said with its place, what was found, and what would be legal.

use super::read_texts;
use tilewright_expr::manifest::{FunctionText, PlanText};

/// A plan with `lines` behind four nodes: a picture, boxes, a number and a coordinate.
pub(super) fn plan(lines: &str) -> PlanText {
    let graph = "%0 = f32 input 0\n%1 = i32 input 1 2\n%2 = f32 const 0.5\n%3 = i32 index X\n";
    PlanText {
        dims: vec!["Y = 0x2".into(), "X = 0x1".into(), "N = 0x3".into()],
        operands: vec!["f32 (Y 4, X 5) device 16".into(), "Rect (N 2) host 16 boxes 0 0 2 2".into()],
        results: vec!["(Y 4, X 5) device 16".into()],
        graph: format!("{graph}{lines}"),
    }
}

const STORE: &str = "store %0 (Y, X)\n";

#[track_caller]
fn refused(text: &PlanText, says: &[&str]) {
    let error = read_texts(text, &[]).err().unwrap_or_else(|| panic!("this was read: {}", text.graph));
    assert!(says.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn lines_of_the_graph() {
    assert!(read_texts(&plan(STORE), &[]).is_ok());
    let rows: [(&str, &[&str]); 60] = [
        ("%4 = f32 sqroot %0", &["Graph, 81", "`sqroot` is no operation", "sqrt"]),
        ("%4 = f33 sqrt %0", &["`f33` is no type of a value", "f32"]),
        ("%4 = f32 sqrt %9", &["no node %9 stands above"]),
        ("%4 = f32 sqrt %4", &["no node %4 stands above"]),
        ("%4 = f32 sqrt", &["expected a node such as `%3`, found the end of the line"]),
        ("%4 = f32 sqrt %0 %0", &["the line ends before `%0`"]),
        ("%0 = f32 sqrt %0", &["node %0 stands here twice"]),
        ("%4 = i32 sqrt %3", &["an operation on floats, not on i32"]),
        ("%4 = f32 not %0", &["an operation on integers and bool, not on f32"]),
        ("%4 = f32 shl %0 %0", &["an operation on integers and bool, not on f32"]),
        ("%4 = f32 add %0 %3", &["values of one type, not f32 and i32", "cast"]),
        ("%4 = f32 lt %0 %0", &["makes values of bool, the line says f32"]),
        ("%4 = f32 fma %0 %0 %3", &["values of one type"]),
        ("%4 = f32 select %0 %0 %0", &["condition of `select` is of bool, not of f32"]),
        ("%4 = f32 cast %0", &["a cast of f32 to f32 is none"]),
        ("%4 = f64 bits %0", &["keeps the size", "4 bytes", "8"]),
        ("%4 = f32 input 7", &["2 operands", "no operand 7"]),
        ("%4 = f32 input 0 1", &["1 components"]),
        ("%4 = u8 input 0", &["makes values of f32, the line says u8"]),
        ("%4 = u8 const 256", &["`256` is no literal of u8"]),
        ("%4 = f32 const 0x1ffffffff", &["is no literal of f32", "up to 8 digits"]),
        ("%4 = i32 index Z", &["no dimension `Z`", "N, X, Y"]),
        ("%4 = i32 extent Z@0", &["no dimension `Z`"]),
        ("%4 = i32 extent N@0", &["operand 0 has no dimension `N`"]),
        ("%4 = i32 extent Y@5", &["no operand 5"]),
        ("%4 = i32 extent 3", &["that of an operand"]),
        ("%4 = f32 at %0 (X = %0) ()", &["a coordinate is of i32, not of f32"]),
        ("%4 = f32 at %0 (X = %3, X = %3) ()", &["`X` stands here twice"]),
        ("%4 = f32 at %0 () (X 3, X 4)", &["`X` stands here twice"]),
        ("%4 = f32 at %0 () (X -1)", &["a size is from 0 to 2147483647, not -1"]),
        ("%4 = f32 at %0 () (X %0)", &["a size is of i32, not of f32"]),
        ("%4 = f32 at %0 (X %3) ()", &["expected `=`, found `%3`"]),
        ("%4 = f32 call f (%0)", &["no function `f`", "there is none"]),
        ("%4 = f32 iterate %0 %0", &["ends what a `carry` began; %0 is none"]),
        (
            "%4 = f32 carry %0 0 3\n%5 = f32 iterate %4 %0\n%6 = f32 iterate %4 %4",
            &["the steps of %4 end in %5 already"],
        ),
        ("%4 = f32 carry %2 0 3\n%5 = f32 iterate %4 %0", &["varies along `X`", "repeat"]),
        ("%4 = f32 carry %0 0 3\n%5 = f32 at %4 (X = %3) ()\n%6 = f32 iterate %4 %5", &["at other coordinates"]),
        ("%4 = f32 carry %0 0 3\nstore %4 (Y, X)", &["%4 is a value of a step of %4, which no `iterate` ends"]),
        ("%4 = f32 reduce sum %2 X 5", &["goes along `X`, which %2 lacks"]),
        ("%4 = f32 reduce mean %0 X 5", &["`mean` is no reduction", "max, min, product, sum"]),
        ("%4 = f16 cast %0\n%5 = f16 scan sum %4 X", &["takes halves as f32"]),
        ("%4 = i32 guard %1 %0 %1", &["`guard` takes is of i32, not of f32"]),
        ("%4 = i32 guard %1 %1 %1 boxes 0", &["operand 0 holds no boxes"]),
        ("need Y Y@0", &["expected `least`"]),
        ("need Y Y@0 least -1", &["from 0 to 2147483647, not `-1`"]),
        ("inside 0 anywhere", &["operand 0 holds no boxes"]),
        ("inside 1 (Y@0)", &["two sizes"]),
        ("order X X@0 0 99999999999", &["not `99999999999`"]),
        ("padded %0 %2 (X = %3) near", &["no read of that source"]),
        ("made %0 \"f\" (%3)", &["stands above it"]),
        ("store %0 (Y)", &["lacks dimension `X`"]),
        ("store %0 (Y, X, N)", &["has dimension `N`, which the value lacks"]),
        ("store %0 (Y, X, X)", &["stands here twice"]),
        ("scatter %0 (Y, X) (X = %3 5) sum filled 0.0", &["f32", "Sum", "i64"]),
        ("scatter %3 (X) (X = %3 0) sum filled 0", &["from 1 to 2147483647, not `0`"]),
        ("scatter %3 (X) (X = %3 5) sum full 0", &["not `full`"]),
        ("scatter %3 (N) () unique held 0", &["`N`, which the value lacks"]),
        ("join X (Y, X) 0 2", &["from 0 to 0"]),
        ("stor %0 (Y, X)", &["`stor` is nothing that is said of nodes", "store"]),
        ("§", &["'§' has no meaning here"]),
    ];
    for (line, says) in rows {
        refused(&plan(&format!("{line}\n{STORE}")), says);
    }
    refused(&plan(""), &["the plan stores nothing"]);
    refused(&plan(&format!("{STORE}join Y (Y, X) 0 0\n")), &["1 to 64 parts"]);
}

#[test]
fn dimensions_operands_and_results() {
    type Change = fn(&mut PlanText) -> &mut String;
    let [dim, operand, boxes, result]: [Change; 4] =
        [|p| &mut p.dims[1], |p| &mut p.operands[0], |p| &mut p.operands[1], |p| &mut p.results[0]];
    let rows: [(Change, &str, &[&str]); 22] = [
        (dim, "X", &["Dim(1)", "expected `=`"]),
        (dim, "X = 17", &["0x"]),
        (dim, "X = 0x2", &["dimension `Y` has this id"]),
        (dim, "Y = 0x7", &["`Y` stands here twice"]),
        (dim, "X = 0x1 \"a", &["no closing"]),
        (operand, "f33 (Y 4, X 5) device 16", &["Operand(0), 0", "`f33` is no element type"]),
        (operand, "f32 (Y 4, Z 5) device 16", &["no dimension `Z`"]),
        (operand, "f32 (Y 4, X -5) device 16", &["an extent is a number from 0", "`-5`"]),
        (operand, "f32 (Y 4611686018427387904, X 5) device 16", &["too large"]),
        (operand, "f32 (Y 4 by 4611686018427387904, X 5) device 16", &["too large"]),
        (operand, "f32 (Y 4, Y 5) device 16", &["stands here twice"]),
        (operand, "f32 (Y 4, X 5) gpu 16", &["not `gpu`"]),
        (operand, "f32 (Y 4, X 5) device 3", &["a power of two, not 3"]),
        (operand, "f32 (Y 4, X 5) device 16 boxes 0 0 1 1", &["operand of `Rect`"]),
        (operand, "f32 (Y 4, X 5", &["the end of the line"]),
        (boxes, "Rect (N 2) host 16 boxes 0 0 1", &["the first box"]),
        (boxes, "Rect (N 2) host 16 boxes", &["the first box"]),
        (boxes, "Rect (N 0) host 16 boxes 0 0 1 1", &["the first box"]),
        (boxes, "Rect (N 2) host 16 boxes 0 0 1 9999999999", &["not `9999999999`"]),
        (result, "(Y 4, X 5)", &["Result(0)", "`host` or `device`"]),
        (result, "(Y 4, X 5) device", &["an alignment"]),
        (result, "(A 1, B 1, C 1, D 1, E 1, F 1, G 1, H 1, I 1) device 16", &["9 dimensions", "8"]),
    ];
    for (part, text, says) in rows {
        let mut plan = plan(STORE);
        plan.dims.extend(('A'..='I').zip(16..).map(|(name, id)| format!("{name} = 0x{id:x}")));
        *part(&mut plan) = text.into();
        refused(&plan, says);
    }
    // What fits no expression is refused when the call is planned.
    let mut other = plan(STORE);
    other.results[0] = "(Y 4, X 6) device 16".into();
    let error = read_texts(&other, &[]).map(|p| p.sources()).expect("this is read").expect_err("another size");
    assert!(error.contains("`X`"), "{error}");
}

#[test]
fn functions() {
    let good = FunctionText {
        id: "f".into(),
        name: "f".into(),
        signature: Some("(f32) (f32)".into()),
        form: "written".into(),
        text: "$q float $f(const float x) { return $0(x); }".into(),
        callees: vec!["exp f32".into()],
        constants: Vec::new(),
    };
    let call = plan(&format!("%4 = f32 call f (%0)\n{STORE}"));
    assert!(read_texts(&call, std::slice::from_ref(&good)).is_ok());
    type Change = fn(&mut FunctionText);
    let rows: [(Change, &[&str]); 14] = [
        (|f| f.id = "a b".into(), &["Id", "a word"]),
        (|f| f.name = "a\nb".into(), &["Name"]),
        (|f| f.signature = Some("(f33) (f32)".into()), &["Signature, 1", "`f33`"]),
        (|f| f.signature = Some("() (f32)".into()), &["1 to 6 arguments"]),
        (|f| f.signature = Some("(f64) (f32)".into()), &["takes (f64), not (f32)"]),
        (|f| f.signature = Some("(f32) (f64)".into()), &["makes values of f64"]),
        (|f| f.signature = None, &["no function `f` that kernels call"]),
        (|f| f.form = "rust".into(), &["Form", "`written`, `cuda` or `elementary`"]),
        (|f| f.text = "$q float $f() { $1 }".into(), &["Text, 16", "callee, of which there are 1"]),
        (|f| f.text = "$".into(), &["Text, 0"]),
        (|f| f.callees = vec!["exq f32".into()], &["Callee(0)", "no function `exq f32` stands above"]),
        (|f| f.callees = vec!["f".into()], &["no function `f` stands above"]),
        (|f| f.constants = vec!["TABLE".into()], &["Constant(0)", "its declaration"]),
        (|f| (f.form, f.text) = ("cuda".into(), "float x;".into()), &["no function to call"]),
    ];
    for (change, says) in rows {
        let mut function = good.clone();
        change(&mut function);
        let error = read_texts(&call, &[function]).err().unwrap_or_else(|| panic!("this was read: {says:?}"));
        assert!(says.iter().all(|word| error.contains(word)), "{error}");
    }
    let mut other = good.clone();
    other.text.push(' ');
    let error = read_texts(&call, &[good.clone(), other]).err().expect("two texts of one id");
    assert!(error.contains("stands here twice"), "{error}");
    assert!(read_texts(&call, &[good.clone(), good]).is_ok());
}

/// Sizes that would take the host for ever, and loops inside loops.
#[test]
fn what_never_ends() {
    let mut doubled = String::from("%4 = i32 const 1\n");
    (5..90).for_each(|n| doubled.push_str(&format!("%{n} = i32 mul %{} %{}\n", n - 1, n - 1)));
    refused(&plan(&format!("{doubled}%90 = f32 at %0 () (X %89)\n{STORE}")), &["at most 4194304 operations"]);
    let mut nested = String::from("%4 = i32 index X\n");
    for n in (5..600).step_by(2) {
        nested.push_str(&format!("%{n} = i32 at %3 (X = %{}) ()\n%{} = i32 scan sum %{n} X\n", n - 1, n + 1));
    }
    refused(&plan(&format!("{nested}{STORE}")), &["one inside the other"]);
}
