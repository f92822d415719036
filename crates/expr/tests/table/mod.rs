//! The table of operations: each on each element type with each number of channels, or the reason why there is none; on the host
//! against the naive evaluator, and as kernels on the host model. What takes each element by itself also against a truth on exact
//! integers and `f64`.

mod cells;
mod document;
mod references;
mod truth;

use crate::emitted::check_all;
use crate::naive::Number::Int;
use crate::operations::{X, absent, names, without_row};
use crate::random::{Case, Operand, Rng};
use crate::reference::casts::edges;
use crate::sections;
use crate::tensor::{Layout, Stored, Tensor, evaluate, same_bits};
pub(crate) use cells::cells;
use cells::{line, numbers, operands, rows, together};
use std::thread::ScopedJoinHandle;
use tilewright_dims::Dims;
use tilewright_expr::bind::Place;
use tilewright_expr::graph::Graph;
use tilewright_expr::{DType, In, Outputs, Value, bf16, f16, trace};
use truth::truth;

/// As [`edges`] for operands of one row and one channel: all edges, and two orders of the edges' neighbours and of what happens by
/// chance.
fn pictures(dtype: DType) -> [Tensor; 3] {
    let mut rng = Rng::new(dtype as u64 + 40);
    let first = edges(dtype);
    let mut second = first.clone();
    rng.shuffle(&mut second);
    let mut third = rng.tensor(dtype, &[1], &[first.len() as i64]).bits;
    // Equal operands, and pairs of ends of the range.
    for i in (0..first.len()).step_by(5) {
        second[i] = first[i];
    }
    for i in (0..first.len()).step_by(7) {
        third[i] = second[i];
    }
    [first, second, third].map(|bits| line(dtype, bits))
}

#[test]
fn every_operation_on_every_type_or_why_not() {
    let names = names();
    assert!(names.len() > 200, "{} rows", names.len());
    for dtype in DType::ALL {
        let rows = rows(dtype);
        for row in &rows {
            assert!(
                names.iter().any(|(n, _)| *n == row.name),
                "`{}` of {dtype} is a row that F32, U8, U16 and Bool lack",
                row.name
            );
        }
        for (name, _) in &names {
            let there = rows.iter().filter(|r| r.name == *name).count();
            match (there, absent(name, dtype).as_slice()) {
                (1, []) | (0, [_]) => {}
                (0, []) => panic!("`{name}` of {dtype} is neither there nor has a reason in absent.rs"),
                (there, absent) => panic!("`{name}` of {dtype}: {there} rows, and absent: {absent:?}"),
            }
        }
    }
}

/// A public function of expressions that the table lacks.
#[test]
fn every_method_has_its_row() {
    macro_rules! sources {
        ($($file:literal)*) => { [$(($file, include_str!(concat!("../../src/", $file, ".rs")))),*] };
    }
    let sources = sources!("typed/operators" "typed/numbers" "typed/integers" "typed/floats" "typed/choice" "typed/cast" "typed/functions"
        "typed/reads" "typed/gather" "typed/resize" "typed/warp" "typed/stencils" "typed/morphology" "typed/reductions" "typed/scans"
        "typed/histogram" "typed/scatter" "typed/iteration" "typed/concatenate" "colour/channels" "colour/depth" "colour/matrix" "colour/space"
        "colour/yuv" "colour/frame" "colour/packed" "colour/write");
    let names = names();
    let known = |name: &str| names.iter().any(|(n, _)| n.split(' ').any(|word| word == name));
    let mut count = 0;
    for (file, source) in sources {
        // Methods of the graph, which the typed face calls, stand in blocks of their own.
        let mut of_graph = false;
        for line in source.lines() {
            of_graph = if line.starts_with("impl") { line.starts_with("impl Graph") } else { of_graph };
            let line = line.trim();
            let written = line.strip_prefix("pub fn ").and_then(|l| l.split(['<', '(']).next());
            let listed = listed(line)
                .or_else(|| line.strip_suffix(';').filter(|_| line.contains(": ")).and_then(|l| l.split(':').next()));
            for name in written.into_iter().chain(listed).filter(|n| is_name(n) && !of_graph) {
                count += 1;
                assert!(
                    known(name) || without_row(name).is_some(),
                    "{file}: `{name}` has no row, and no reason in absent.rs"
                );
            }
        }
    }
    assert!(count > 190, "{count} functions found");
}

/// What a macro's list makes a function of: `name(argument: Type) => ..`, `name: Bound -> ..`, `name by ..`, `name u8, Bits8, ..`.
fn listed(line: &str) -> Option<&str> {
    let at = line.find(['(', ':', ' '])?;
    let (name, rest) = line.split_at(at);
    let fits = rest.starts_with('(') && rest.contains(" => ")
        || rest.starts_with('(') && rest.contains(") = |g")
        || rest.starts_with(": ") && rest.contains(" = |g")
        || rest.starts_with(" by ")
        || rest.starts_with(" u8, ")
        || rest.starts_with(" u16, ");
    fits.then_some(name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !["use", "let", "type"].contains(&name)
}

/// Every cell on the host is what the definition says. Two cells of each row also run as kernels on the host model: which types and
/// which numbers of channels goes round from row to row, so that all of them meet many operations.
/// `EXPR_CELL=text` runs those alone whose name has the text, all of them on both.
#[test]
fn every_cell() {
    let mut cells = cells();
    assert!(cells.len() > 10_000, "{} cells", cells.len());
    if let Ok(wanted) = std::env::var("EXPR_CELL") {
        cells.retain(|c| c.name.contains(&wanted));
        cells.iter_mut().for_each(|c| c.runs = true);
    }
    // Threads of our own: one of rayon's would begin another cell while it waits for the evaluator's threads.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = &|first: usize| {
        let mine = cells.iter().enumerate().skip(first).step_by(threads);
        mine.filter_map(|(i, cell)| sections::prepare(cell.name.clone(), &cell.case, i).filter(|_| cell.runs)).collect()
    };
    let prepared: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first))).collect();
        let done =
            |thread: ScopedJoinHandle<'_, Vec<_>>| thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e));
        running.into_iter().flat_map(done).collect()
    });
    // None is left out because a box was outside, or because its loops were too many.
    assert_eq!(prepared.len(), cells.iter().filter(|c| c.runs).count());
    sections::check_all("table::every_cell", &prepared);
}

#[test]
fn values_are_the_truth() {
    for dtype in DType::ALL {
        let inputs = operands(pictures(dtype));
        let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &Layout::dense(t.dims.len()))).collect();
        let (names, graph) = together(dtype, truth::knows);
        let layouts = vec![Layout::dense(3); names.len()];
        let (results, _) = evaluate(&graph, &stored, &layouts, true, 1).unwrap_or_else(|e| panic!("{e}"));
        for (name, result) in names.iter().zip(&results) {
            for (i, got) in result.bits.iter().enumerate() {
                let args = numbers(dtype, &inputs, i);
                let expected = truth(name, dtype, args);
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
    }
}

/// Every operation on single elements of every type, at the edges: one kernel a type.
#[test]
fn kernels_agree() {
    let cases = DType::ALL.into_iter().map(|dtype| {
        let (names, graph) = together(dtype, truth::knows);
        // With a step in memory, a thread computes one point: a short text.
        let layout = Layout { step: 2, ..Layout::dense(3) };
        let operand = |(i, tensor): (usize, Tensor)| {
            let layout = if i < 3 { layout.clone() } else { Layout::dense(tensor.dims.len()) };
            Operand { tensor, layout, place: if i < 3 { Place::Device } else { Place::Host } }
        };
        let operands = operands(pictures(dtype)).into_iter().enumerate().map(operand).collect();
        (
            format!("the table of {dtype}"),
            Case { graph, operands, outputs: vec![layout.clone(); names.len()], known: true },
        )
    });
    check_all("table::kernels_agree", cases);
}

/// Edges along `X` alone.
fn line_of(dtype: DType) -> Tensor {
    let bits = edges(dtype);
    Tensor { dtype, components: 1, dims: <(X,)>::IDS.into(), shape: vec![bits.len() as i64], bits }
}

/// As many results as there are.
struct All(Vec<Box<dyn Outputs>>);
impl Outputs for All {
    fn declare(&self, graph: &mut Graph, trace: u64) {
        self.0.iter().for_each(|o| o.declare(graph, trace));
    }

    fn are_in(&self, graph: &Graph, trace: u64, next: &mut usize) -> bool {
        self.0.iter().all(|o| o.are_in(graph, trace, next))
    }
}

/// Literals on either side are what constants are.
#[test]
fn literals_on_either_side() {
    macro_rules! same {
        ($t:ty, $literal:expr; $($op:tt)*) => { $({
            let literal: $t = $literal;
            let constant = || tilewright_expr::constant(literal);
            let t = trace(|a: In<$t, (X,)>| All(vec![
                Box::new((a $op literal).store::<(X,)>()),
                Box::new((a $op constant()).store::<(X,)>()),
                Box::new((literal $op a).store::<(X,)>()),
                Box::new((constant() $op a).store::<(X,)>()),
            ]));
            let tensor = line_of(<$t as Value>::DTYPE);
            let stored = [Stored::new(&tensor, &Layout::dense(1))];
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
