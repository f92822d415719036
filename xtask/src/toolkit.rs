//! `cargo xtask toolkit`: fetches NVRTC.

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use tilewright_driver::toolkit::{self, Stage};

/// Installs NVRTC into the user's cache directory, with a progress bar.
pub fn run() -> Result<()> {
    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template(
        "{msg:<9} [{bar:40}] {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}",
    )?);
    let mut current = None;
    let folder = toolkit::install(&mut |progress| {
        if current.replace(progress.stage) != Some(progress.stage) {
            bar.reset();
            bar.set_message(name(progress.stage));
        }
        bar.set_length(progress.total);
        bar.set_position(progress.bytes);
    })
    .context("NVRTC cannot be installed");
    bar.finish_and_clear();
    println!("NVRTC is in {}", folder?.display());
    Ok(())
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Download => "fetching",
        Stage::Verify => "comparing",
        Stage::Unpack => "unpacking",
    }
}
