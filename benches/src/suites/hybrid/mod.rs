//! What `tilewright-hybrid` does, a file for each kind of work.

mod bits;

use crate::Result;
use crate::report::Report;
use crate::session::Session;

/// The cases of all kinds.
pub const CASES: [&str; 4] = ["bits/4096", "bits/8192", "bits/16384", "bits/32768"];

/// Measures a case: `bits/` and the number of rows and columns.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    match case.split_once('/') {
        Some(("bits", size)) => bits::run(session, case, size.parse()?, report),
        _ => Err(format!("no case `{case}`").into()),
    }
}
