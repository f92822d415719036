//! What a launch costs by itself, by the size of its parameter block.

use crate::Result;
use crate::kernels::Empty;
use crate::report::Report;
use crate::session::Session;

/// Measures an empty kernel; the case is the number of bytes of its parameters.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let empty = Empty::new(&session.gpu, case.parse()?)?;
    let mut call = |_| empty.launch();
    report.add("empty", case, "device_us", session.clock.device_us(&mut call)?, "us");
    report.add("empty", case, "device_us_graph", session.clock.graph_us(&mut call)?, "us");
    report.add("empty", case, "host_us", session.clock.host_us(&mut call)?, "us");
    Ok(())
}
