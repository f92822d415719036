//! Budgets of registers and spills.

use crate::entry;
use tilewright_build_ptx::budgets::Budgets;
use tilewright_build_ptx::build::Row;
use tilewright_build_ptx::catalogue::{Entry, Suite};
use tilewright_driver::{Arch, Compiled, KernelResources, Target, TargetKind};

const TABLE: &str = "operation\ttarget\tregisters\tspill_bytes\nexp\tsm_80\t22\t0\nexp\tsm_90\t24\t8\n";

/// A kernel that was compiled for 9.0 and uses so much.
fn row(operation: &str, registers: u32, spills: u32) -> Row {
    let target = Target::new(TargetKind::Plain, Arch::new(9, 0));
    let entry = Entry { suite: Some(Suite::Functions), operation: operation.into(), variant: "f32".into(), ..entry(1) };
    let used = KernelResources {
        name: "kernel".into(),
        registers,
        spill_store_bytes: spills / 2,
        spill_load_bytes: spills - spills / 2,
        ..KernelResources::default()
    };
    let code = Compiled {
        name: entry.name(),
        arch: target.arch,
        target: target.kind,
        compiler: (13, 0),
        kernels: vec![used],
        log: String::new(),
        image: vec![1],
    };
    Row { key: entry.source.keys().of(target), entry, target, ms: None, code }
}

#[test]
fn tables_read_as_they_are_written() {
    let budgets = Budgets::parse(TABLE, "table").unwrap();
    assert_eq!(budgets.to_string(), TABLE);
    for (text, expected) in [
        ("", ""),
        ("registers\n", "table:1: the columns are not"),
        ("operation\ttarget\tregisters\tspill_bytes\nexp\tsm_90\t1\n", "table:2: a row has four columns"),
        ("operation\ttarget\tregisters\tspill_bytes\nexp\tsm_90\tmany\t0\n", "table:2: `many` is no number"),
        (
            "operation\ttarget\tregisters\tspill_bytes\nexp\tsm_90\t1\t0\nexp\tsm_90\t1\t0\n",
            "table:3: `exp` has two budgets for sm_90",
        ),
    ] {
        match Budgets::parse(text, "table") {
            Ok(budgets) => assert_eq!((expected, budgets), ("", Budgets::default()), "{text}"),
            Err(error) => assert!(!expected.is_empty() && error.to_string().contains(expected), "{error}"),
        }
    }
}

#[test]
fn what_uses_more_than_it_may() {
    let budgets = Budgets::parse(TABLE, "table").unwrap();
    assert_eq!(budgets.excesses(&[row("exp", 24, 8)], true), <[String; 0]>::default());
    assert_eq!(budgets.excesses(&[row("exp", 25, 0)], false), ["exp f32 for sm_90: 25 registers, 24 allowed"]);
    assert_eq!(budgets.excesses(&[row("exp", 20, 9)], false), ["exp f32 for sm_90: 9 bytes spilled, 8 allowed"]);
    // Without a budget: any registers, no spills.
    assert_eq!(budgets.excesses(&[row("ln", 200, 0)], false), <[String; 0]>::default());
    assert_eq!(budgets.excesses(&[row("ln", 20, 4)], false), ["ln f32 for sm_90: 4 bytes spilled, 0 allowed"]);
    assert_eq!(budgets.excesses(&[row("ln", 20, 0)], true), ["ln f32 for sm_90 has no budget"]);
    // Nothing is known of other targets.
    assert_eq!(Budgets::default().excesses(&[row("ln", 20, 4)], true), <[String; 0]>::default());
    // What a manifest names answers to nobody.
    let own = Row { entry: Entry { suite: None, ..row("ln", 20, 4).entry }, ..row("ln", 20, 4) };
    assert_eq!(budgets.excesses(&[own], true), <[String; 0]>::default());
}

#[test]
fn budgets_that_nothing_uses() {
    let budgets = Budgets::parse(TABLE, "table").unwrap();
    // Of targets that were built.
    assert_eq!(budgets.idle(&[row("ln", 1, 0)]), ["exp for sm_90"]);
    assert_eq!(budgets.idle(&[row("exp", 1, 0)]), <[String; 0]>::default());
}

#[test]
fn updates_keep_other_targets() {
    let used = Budgets::of(&[row("exp", 30, 0), row("exp", 28, 2), row("ln", 16, 0)]);
    let updated = Budgets::parse(TABLE, "table").unwrap().updated(used);
    let expected =
        "operation\ttarget\tregisters\tspill_bytes\nexp\tsm_80\t22\t0\nexp\tsm_90\t30\t2\nln\tsm_90\t16\t0\n";
    assert_eq!(updated.to_string(), expected);
}
