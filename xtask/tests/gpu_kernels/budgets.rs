//! Budgets: what is within them, what is not, and what stands in the file.

use tilewright_driver::{Arch, KernelResources};
use xtask::gpu_kernels::budgets::Budgets;
use xtask::gpu_kernels::ptxas::{Usage, serving};

const UPDATE: &str = "cargo xtask gpu-kernels --update-budgets";

fn usage(rows: &[(&str, Arch, u32, u32)]) -> Usage {
    let row = |(name, target, registers, spilled): &(&str, Arch, u32, u32)| {
        let used = KernelResources {
            name: (*name).to_owned(),
            registers: *registers,
            spill_store_bytes: spilled / 2,
            spill_load_bytes: spilled - spilled / 2,
            ..KernelResources::default()
        };
        (((*name).to_owned(), *target), used)
    };
    rows.iter().map(row).collect()
}

const SM_80: Arch = Arch::new(8, 0);
const SM_100: Arch = Arch::new(10, 0);

fn read(text: &str) -> anyhow::Result<Budgets> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budgets.toml");
    std::fs::write(&file, text).unwrap();
    Budgets::read(&file)
}

#[test]
fn what_is_written_is_read_and_holds() {
    let used = usage(&[("saxpy", SM_80, 16, 0), ("saxpy", SM_100, 18, 0), ("matmul", SM_80, 128, 24)]);
    let text = Budgets::of(&used).text();
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let expected = [
        "[matmul]",
        "sm_80 = { registers = 128, spill_bytes = 24 }",
        "[saxpy]",
        "sm_80 = { registers = 16, spill_bytes = 0 }",
        "sm_100 = { registers = 18, spill_bytes = 0 }",
    ];
    assert_eq!(rows, expected);
    let budgets = read(&text).unwrap();
    assert_eq!(budgets, Budgets::of(&used));
    assert!(budgets.faults(&used, UPDATE).is_empty());
    // Less is within the budget.
    let less = usage(&[("saxpy", SM_80, 10, 0), ("saxpy", SM_100, 18, 0), ("matmul", SM_80, 128, 0)]);
    assert!(budgets.faults(&less, UPDATE).is_empty());
}

#[test]
fn too_much_names_kernel_target_numbers_and_command() {
    let budgets = Budgets::of(&usage(&[("saxpy", SM_80, 16, 0)]));
    let faults = budgets.faults(&usage(&[("saxpy", SM_80, 17, 8)]), UPDATE);
    let expected = [
        format!("`saxpy` for sm_80: 17 registers, its budget is 16; if that is meant, `{UPDATE}` writes it"),
        format!("`saxpy` for sm_80: 8 bytes spilled, its budget is 0; if that is meant, `{UPDATE}` writes it"),
    ];
    assert_eq!(faults, expected);
}

#[test]
fn rows_that_are_missing_or_left_over() {
    let budgets = Budgets::of(&usage(&[("saxpy", SM_80, 16, 0), ("gone", SM_80, 9, 0)]));
    let faults = budgets.faults(&usage(&[("saxpy", SM_80, 16, 0), ("saxpy", SM_100, 20, 4)]), UPDATE);
    let expected = [
        format!("`saxpy` has no budget for sm_100 (it uses 20 registers and spills 4 bytes); `{UPDATE}` writes it"),
        format!("there is a budget for `gone` on sm_80, but no such kernel; `{UPDATE}` removes it"),
    ];
    assert_eq!(faults, expected);
}

#[test]
fn files_that_are_not_there_or_not_right() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Budgets::read(&folder.path().join("none.toml")).unwrap(), Budgets::default());
    for (text, part) in [
        ("[saxpy]\nsm_80 = { registers = 16 }\n", "missing field `spill_bytes`"),
        ("[saxpy]\nsm_80 = { registers = 16, spill_bytes = 0, threads = 4 }\n", "unknown field `threads`"),
        ("[saxpy]\nsm_80 = { registers = -1, spill_bytes = 0 }\n", "line 2"),
        ("[saxpy\n", "line 1"),
    ] {
        let error = format!("{:#}", read(text).unwrap_err());
        assert!(error.contains("budgets.toml cannot be read") && error.contains(part), "{error}");
    }
}

#[test]
fn each_target_is_served_by_the_highest_that_it_can_run() {
    let (sm_90, sm_89) = (Arch::new(9, 0), Arch::new(8, 9));
    let pairs = serving(&[SM_80, sm_90]);
    assert!(pairs.contains(&(sm_89, SM_80)) && pairs.contains(&(sm_90, sm_90)) && pairs.contains(&(SM_100, sm_90)));
    assert_eq!(pairs.len(), 5);
    // Nothing serves what is older.
    assert_eq!(serving(&[sm_90]), [(sm_90, sm_90), (SM_100, sm_90)]);
    assert!(serving(&[]).is_empty());
}
