//! The rows' snippets as one kernel: one thread a row, each with its own part of the results.

use super::declared::BLOCK;
use super::row::Row;
use super::values;
use crate::runner::{Kernel, everywhere, read, written};
use tilewright_driver::TargetKind;
use tilewright_headers::host_model::{HostModel, KernelSource};
use tilewright_headers::layout::expand;

/// What a snippet writes to: `out(a, b)` takes numbers, dimensions and folds, each in its own units.
const OUT: &str = r#"
struct Params {
  int* x;  // 0, 1, 2, ..
  int* results;
  int* counts;
};

struct Out {
  int* results;
  int* count;
  int room;
  static __device__ int number(int value) { return value; }
  template <class D, class = typename D::Base> static __device__ int number(D d) { return d.value; }
  __device__ void put(int value) {
    if (*count < room) results[*count] = value;
    ++*count;
  }
  template <class... As> __device__ void operator()(As... as) { (put(number(as)), ...); }
};

// How many workers have a share of T, and the most elements of one.
template <class T> __device__ void shares(Out& out, int workers) {
  int active = 0, most = 0;
  for (int worker = 0; worker < workers; ++worker) {
    int loads = 0;
    for (auto at : T::partition(worker, workers)) loads += T::contains(at);
    active += loads > 0;
    most = loads > most ? loads : most;
  }
  out(active, most);
}

// How many dimensions coordinates have: `dims(at).value`.
template <int N> struct Count { static constexpr int value = N; };
template <class... Ds> __device__ Count<sizeof...(Ds)> dims(tw::Coords<Ds...>) { return {}; }
"#;

/// Numbers that `x` points to.
const MEMORY: i32 = 1024;

/// Each snippet's name and the number of values that it yields.
fn source(snippets: &[(String, &str, usize)]) -> String {
    let mut text = format!("#include \"tilewright/fragment.cuh\"\n/*@tilewright\n{BLOCK}@tilewright*/\n{OUT}");
    let (mut calls, mut first) = (String::new(), 0);
    for (number, (name, snippet, room)) in snippets.iter().enumerate() {
        text += &format!("\n__device__ void {name}(Out out, int* x) {{\n{snippet}\n}}\n");
        calls += &format!(
            "    case {number}: {name}(Out{{p.results + {first}, p.counts + {number}, {room}}}, p.x); break;\n"
        );
        first += room;
    }
    let switch = format!("  p.counts[threadIdx.x] = 0;\n  switch (threadIdx.x) {{\n{calls}  }}\n");
    text + &format!("\nextern \"C\" __global__ void cases(const __grid_constant__ Params p) {{\n{switch}}}\n")
}

/// Runs the snippets of these rows wherever kernels run, and compares what they yield.
pub(super) fn check(rows: &[Row]) {
    let snippets: Vec<(&Row, &Vec<i64>, &&str)> =
        rows.iter().filter_map(|row| values(row, |_, _, cuda| cuda)).collect();
    let named: Vec<(String, &str, usize)> = snippets
        .iter()
        .enumerate()
        .map(|(number, (row, expected, snippet))| {
            (format!("case_{}_row_{number}", row.case), **snippet, expected.len())
        })
        .collect();
    let text = expand(&source(&named)).unwrap_or_else(|e| panic!("{e}"));
    let total = snippets.iter().map(|(_, expected, _)| expected.len()).sum();
    let (grid, block) = ([1; 3], [snippets.len() as u32, 1, 1]);
    let kernel =
        Kernel { name: "cases", text: &text, entry: "cases", grid, block, shared_bytes: 0, target: TargetKind::Plain };
    let memory: Vec<i32> = (0..MEMORY).collect();
    everywhere(&kernel, &[read(&memory), written::<i32>(total), written::<i32>(snippets.len())], |outputs, place| {
        let (results, counts) = (outputs.get::<i32>(0), outputs.get::<i32>(1));
        let mut rest = results.as_slice();
        for ((row, expected, _), count) in snippets.iter().zip(counts) {
            let (got, others) = rest.split_at(expected.len());
            rest = others;
            assert_eq!(count as usize, expected.len(), "{place}, case {}: number of values. {}", row.case, row.law);
            assert_eq!(widened(got), **expected, "{place}, case {}: {}", row.case, row.law);
        }
    });
}

fn widened(values: &[i32]) -> Vec<i64> {
    values.iter().copied().map(i64::from).collect()
}

/// What is said about a snippet, or a declaration block, that must not compile; `None` without a compiler.
pub(super) fn said(mistake: &str) -> Option<String> {
    let (block, snippet) = match mistake.contains("/*@tilewright") {
        true => (mistake, ""),
        false => ("", mistake),
    };
    let text =
        source(&[("mistake".to_owned(), snippet, 0)]).replacen("struct Params", &format!("{block}\nstruct Params"), 1);
    let text = match expand(&text) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    HostModel::compiler()?;
    let source = KernelSource { name: "mistake", text: &text };
    Some(HostModel::compile(&[source]).map_or_else(|e| e.to_string(), |_| "it compiles".to_owned()))
}
