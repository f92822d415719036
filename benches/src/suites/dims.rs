//! What typed dimensions cost over arithmetic by hand. Needs no GPU; what the machine lacks is left out.

use crate::report::{Report, Row};
use crate::suites::Lacks;
use crate::{Result, machine};
use tilewright_driver::toolkit;
use tilewright_tests::cost::kernels::{TWINS, cost, header_ms};
use tilewright_tests::cost::offsets::Compiled;

const SITES: usize = 1000;
const BY_HAND: &str = "by hand";

/// Measures one case; what it lacks when it cannot.
pub fn run(case: &str, report: &mut Report) -> Result<Option<Lacks>> {
    match case {
        "kernels" | "header" if toolkit::nvrtc().is_err() => Ok(Some("no NVRTC")),
        "kernels" => kernels(report).map(|()| None),
        "header" => {
            here(report.add("dims", case, "cpu_ms", header_ms()?, "ms"));
            Ok(None)
        }
        _ => match Compiled::new() {
            None => Ok(Some("no rustc, or no source")),
            Some(compiled) if case == "offsets" => offsets(&compiled?, report).map(|()| None),
            Some(compiled) => check(&compiled?, report).map(|()| None),
        },
    }
}

/// Instructions and registers of kernels for `sm_90`.
fn kernels(report: &mut Report) -> Result<()> {
    for twins in TWINS {
        let (typed, by_hand) = (cost(twins.name, twins.typed)?, cost(twins.name, twins.by_hand)?);
        for (what, typed, by_hand) in [
            ("instructions", typed.instructions, by_hand.instructions),
            ("registers", typed.registers as usize, by_hand.registers as usize),
        ] {
            let metric = format!("{}_{what}", twins.name);
            here(report.add("dims", "kernels", &metric, typed as f64, "").against(BY_HAND, by_hand as f64));
        }
    }
    Ok(())
}

/// Instructions of offsets on the host.
fn offsets(compiled: &Compiled, report: &mut Report) -> Result<()> {
    let (typed, by_hand) = (compiled.typed()?, compiled.by_hand()?);
    for (name, typed) in typed {
        let by_hand = by_hand.get(&name).map_or(0, Vec::len) as f64;
        let metric = format!("{name}_instructions");
        here(report.add("dims", "offsets", &metric, typed.len() as f64, "").against(BY_HAND, by_hand));
    }
    Ok(())
}

/// Seconds to check many subscripts: the least of three, for the machine may be busy.
fn check(compiled: &Compiled, report: &mut Report) -> Result<()> {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        least = least.min(compiled.check_seconds(SITES)?);
    }
    here(report.add("dims", "check", "s", least, "s"));
    Ok(())
}

/// On a machine with a GPU the report is that of the GPU.
fn here(row: &mut Row) {
    (row.device, row.driver) = (machine::cpu(), None);
}
