//! The acceptance cases by number, each with what it is about, and that each has tests. The name of a test begins with the numbers of the cases that it is
//! for, as `g2_g3_products_..`.
//! Where a case wants figures of a GPU, those are the benchmark's (suite `hybrid`), and its tests are of what plans expect and of results.

use std::collections::BTreeSet;
use std::process::Command;

/// D: dispatch. B: breaker. G: products larger than a GPU. F: factors. X: bits. M: memory, files, the life of it all.
const CASES: [(&str, &str); 65] = [
    ("d1", "what is small stays on the CPU, and the record says why"),
    ("d2", "what is large goes to the GPU; expected times, places and rates are listed"),
    ("d3", "element by element: where the operands are"),
    ("d4", "a matrix with a vector: where the matrix is"),
    ("d5", "thin products by their bytes and operations"),
    ("d6", "identities and diagonals move nothing"),
    ("d7", "a profile is this machine's, measured late and with numbers that are no zeros"),
    ("d8", "what is forced and cannot be is a typed error, and the GPU stays in use"),
    ("d9", "rows, columns, lengths and bytes never wrap"),
    ("d10", "work divided between processors does not depend on how"),
    ("b1", "mistakes of users and numbers do not move the breaker"),
    ("b2", "a lack of memory: smaller, then on the CPU"),
    ("b3", "a fault that sticks: all objects say so, the CPU goes on from host data"),
    ("b4", "three failures open it, a probe closes it; events, and nothing printed"),
    ("b5", "three policies"),
    ("b6", "no fallback beyond the host's budget"),
    ("b7", "a result is whole or not there"),
    ("b8", "it trips while other threads are inside"),
    ("b9", "no operation calls itself"),
    ("b10", "page-locked memory goes back through its owner"),
    ("g1", "six times the memory that may be used, within both budgets"),
    ("g2", "rectangles, primes, nothing"),
    ("g3", "all pairs of layouts, views, scales"),
    ("g4", "alpha and beta; what is multiplied by 0 is not read"),
    ("g5", "a result that is an operand"),
    ("g6", "copies run beside products; a trace is kept"),
    ("g7", "one stage at a time is as slow as the model says"),
    ("g8", "bytes that were copied are those of the model"),
    ("g9", "rates by the size of tiles are a roofline"),
    ("g10", "page-locked, ordinary, NPY, Zarr"),
    ("g11", "the same bits by the same plan"),
    ("g12", "NaN and infinity go through"),
    ("g13", "integers are exact, overflow as asked"),
    ("g14", "less precision only where it is asked for"),
    ("g15", "f64 that is emulated only where it is asked for, with a bound of what it is off by"),
    ("f1", "pivots over the whole panel, for matrices that need them"),
    ("f2", "singular matrices are the same error everywhere"),
    ("f3", "transposed and scaled views as copies"),
    ("f4", "types and sizes, and what is not square"),
    ("f5", "solutions with many columns, residuals, refinement"),
    ("f6", "Cholesky: the right triangle, and what is not definite"),
    ("f7", "budgets from a third of the matrix to three times"),
    ("x1", "counts at every edge, with ones behind the last column"),
    ("x2", "four algebras and their laws"),
    ("x3", "all paths agree"),
    ("x4", "sums beyond an i32"),
    ("x5", "larger than the GPU, bits in and bits out"),
    ("x6", "relations: chains, closures, reductions"),
    ("x7", "tensor cores beside population counts"),
    ("m1", "little page-locked memory, or none"),
    ("m2", "limits of control groups"),
    ("m3", "a full disk"),
    ("m4", "killed at any point while it saves"),
    ("m5", "files that are cut or flipped"),
    ("m6", "two processes in a folder"),
    ("m7", "what is read is never changed"),
    ("m8", "hints and their return codes"),
    ("m9", "cancelled within a tile, with nothing left behind"),
    ("m10", "panics of callbacks and workers"),
    ("m11", "memory outlives the copies that use it"),
    ("m12", "no GPU, no driver, no library"),
    ("m13", "forks, and eight threads"),
    ("m14", "nothing grows over two hundred operations"),
    ("m15", "progress and what remains"),
    ("m16", "plans touch nothing, and are what happens"),
];

/// Tests beside the code that they are for, of cases that no test in this folder has alone.
const BESIDE_CODE: [&str; 2] =
    [include_str!("../src/stream/matmul_tests.rs"), include_str!("../src/stream/factor/tests/faults.rs")];

/// All tests of this executable, and those.
fn names() -> Vec<String> {
    let output = Command::new(std::env::current_exe().unwrap()).arg("--list").output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let here = list.lines().filter_map(|line| line.strip_suffix(": test")?.rsplit("::").next().map(str::to_owned));
    let beside = BESIDE_CODE.iter().flat_map(|text| text.split("#[test]\nfn ").skip(1));
    let beside = beside.filter_map(|text| text.split('(').next().map(str::to_owned));
    here.chain(beside).collect()
}

/// What looks like the number of a case in front of a name; types of elements are none.
fn numbers(name: &str) -> impl Iterator<Item = &str> {
    let is_number = |part: &&str| {
        let (letter, digits) = part.split_at(part.len().min(1));
        "dbgfxm".contains(letter) && !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    name.split('_').take_while(is_number).filter(|part| !["f16", "f32", "f64"].contains(part))
}

#[test]
fn every_case_has_tests_and_no_test_is_for_a_case_that_there_is_not() {
    let names = names();
    let tested: BTreeSet<&str> = names.iter().flat_map(|name| numbers(name)).collect();
    let known: BTreeSet<&str> = CASES.iter().map(|(number, _)| *number).collect();
    let without: Vec<_> = CASES.iter().filter(|(number, _)| !tested.contains(number)).collect();
    assert!(without.is_empty(), "cases without a test: {without:?}");
    let unknown: Vec<_> = tested.difference(&known).collect();
    assert!(unknown.is_empty() && known.len() == CASES.len(), "numbers of no case: {unknown:?}");
}

#[test]
fn numbers_stand_in_front_of_names() {
    let of = |name| numbers(name).collect::<Vec<_>>();
    assert_eq!(of("g2_g3_products_of_g4"), ["g2", "g3"]);
    assert_eq!(of("f64_sums"), Vec::<&str>::new());
    assert_eq!([of("m17_new"), of("m_1"), of("")], [vec!["m17"], vec![], vec![]]);
}
