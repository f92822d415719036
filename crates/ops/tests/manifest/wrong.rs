//! What is wrong with a manifest's file, with line and column; and files with random mistakes.

use super::plans;
use crate::support::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tilewright_ops::{Error, Manifest};

const GOOD: &str = "\
schema = 1

[[plan]]
name = 'twice'
dims = ['X = 0x1']
operands = ['f32 (X 100) device 16']
results = ['(X 100) device 16']
graph = '''
%0 = f32 input 0
%1 = f32 const 2.0
%2 = f32 mul %0 %1
store %2 (X)
'''
";

#[track_caller]
fn refused(text: &str, place: (usize, usize), says: &str) {
    let error = Manifest::parse(text, "kernels.toml").err().unwrap_or_else(|| panic!("this was read: {text}"));
    assert_eq!(
        error.to_string().split(": ").next(),
        Some(&format!("kernels.toml:{}:{}", place.0, place.1)[..]),
        "{error}"
    );
    assert!(error.to_string().contains(says), "{error}");
    let Error::Expr(tilewright_expr::Error::Manifest { file, line, column, .. }) = error else { panic!("{error}") };
    assert_eq!((&file[..], line, column), ("kernels.toml", place.0, place.1));
}

#[test]
fn places() {
    assert_eq!(Manifest::parse(GOOD, "kernels.toml").unwrap().plans().len(), 1);
    assert!(Manifest::parse("schema = 1", "kernels.toml").unwrap().plans().is_empty());
    let rows: [(&str, &str, (usize, usize), &str); 20] = [
        ("mul", "mull", (11, 10), "`mull` is no operation"),
        ("%0 %1", "%0 %7", (11, 17), "no node %7"),
        ("f32 mul", "g32 mul", (11, 6), "`g32` is no type of a value; did you mean"),
        ("'f32 (X 100)", "'f32 (X 100, é)", (6, 26), "'é' has no meaning here"),
        ("store %2 (X)", "store %2 ()", (12, 7), "lacks dimension `X`"),
        ("store %2 (X)\n", "", (12, 1), "the plan stores nothing"),
        ("f32 (X 100)", "f32 (Y 100)", (6, 19), "no dimension `Y`; there is X"),
        ("f32 (X 100)", "f32 (X -100)", (6, 21), "`-100`"),
        ("['f32 (X 100) device 16']", "[\"f32 (X\\t100) devise 16\"]", (6, 13), "`devise`"),
        (
            "graph = '''",
            "graf = '''",
            (8, 1),
            "a plan has no `graf`; it has name, dims, operands, results, configuration, graph",
        ),
        ("graph = '''", "configuration = '4'\ngraph = '''", (8, 18), "`4` is no lanes, words and threads"),
        ("graph = '''", "configuration = '4 1 -1'\ngraph = '''", (8, 18), "`4 1 -1` is no lanes"),
        ("name = 'twice'\n", "", (3, 1), "this plan has no `name`"),
        ("name = 'twice'", "name = 2", (4, 8), "`name` holds text, not integer"),
        ("dims = ['X = 0x1']", "dims = 'X'", (5, 8), "a list of texts, not string"),
        ("[[plan]]", "[plan]", (3, 1), "`[[plan]]`"),
        ("[[plan]]", "[[plans]]", (3, 3), "a manifest has no `plans`"),
        ("schema = 1", "schema = 2", (1, 10), "written by a newer tilewright (schema 2, this one reads 1)"),
        ("schema = 1", "schema = 0", (1, 10), "`schema` is 1"),
        ("schema = 1\n", "# none\n", (1, 1), "begins with `schema = 1`"),
    ];
    for (from, to, place, says) in rows {
        assert!(GOOD.contains(from), "{from}");
        refused(&GOOD.replacen(from, to, 1), place, says);
    }
    refused("schema = 1\n[[plan]\n", (2, 8), "");
    refused(&GOOD[..GOOD.len() - 20], (11, 17), "multi-line literal string");
    refused("schema = 1\n[[kernel]]\ntext = ''\ntarget = 'sm_90'\n", (4, 11), "plain, arch_specific, portable");
    let function = "schema = 1\n[[function]]\nid = 'f'\nname = 'f'\nform = 'written'\ncallees = ['g']\ntext = ''\n";
    refused(function, (6, 13), "no function `g` stands above");
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernels.toml");
    let error = Manifest::read(&path).unwrap_err();
    assert!(matches!(error, Error::ManifestFile { .. }) && error.to_string().contains("kernels.toml"), "{error}");
    std::fs::write(&path, b"schema = 1\n# \xff\n").unwrap();
    let error = Manifest::read(&path).unwrap_err().to_string();
    assert!(error.contains("kernels.toml:2:3: byte 0xff is not UTF-8"), "{error}");
    std::fs::write(&path, GOOD).unwrap();
    assert_eq!(Manifest::read(&path).unwrap().plans().len(), 1);
}

/// Bytes that are changed, cut off, repeated: never a panic, and never a place outside of the text.
#[test]
fn mutated_files() {
    let cases = std::env::var("OPS_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let all: Vec<String> =
        plans().iter().map(|plan| plan.manifest().to_string()).filter(|t| t.len() < 30_000).collect();
    let mut refused = 0u64;
    for seed in 0..cases {
        let mut random = Random(seed);
        let mut bytes = all[random.below(all.len() as u64) as usize].clone().into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            let other = at + random.below((bytes.len() - at) as u64) as usize;
            match random.below(5) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = random.below(256) as u8,
                2 => drop(bytes.drain(at..other.min(at + 40))),
                3 => {
                    let piece = bytes[at..other.min(at + 400)].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => bytes[at] = b"'\"[]{}=\n%0#\\"[random.below(12) as usize],
            }
            if bytes.is_empty() {
                bytes.push(b'#');
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let result = catch_unwind(AssertUnwindSafe(|| Manifest::parse(&text, "m").map(|m| drop(m.sources()))));
        match result.unwrap_or_else(|_| panic!("seed {seed}:\n{text}")) {
            Ok(()) => {}
            Err(Error::Expr(tilewright_expr::Error::Manifest { line, column, .. })) => {
                refused += 1;
                let length = text.split('\n').nth(line - 1).map(|line| line.chars().count());
                assert!(length.is_some_and(|n| column <= n + 1), "seed {seed}: {line}:{column}");
            }
            Err(other) => panic!("seed {seed}: {other}"),
        }
    }
    assert!(refused > cases / 2, "{refused} of {cases}");
}
