//! `cargo xtask toolkit`: fetches NVRTC.

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use tilewright_driver::toolkit::{self, Progress, Stage};

/// Installs NVRTC into the user's cache directory, with a progress bar.
pub fn run() -> Result<()> {
    let folder = with_bar(toolkit::install).context("NVRTC cannot be installed")?;
    println!("NVRTC is in {}", folder.display());
    Ok(())
}

/// Shows a progress bar while `install` runs.
pub fn with_bar<T, E>(install: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<T, E>) -> Result<T, E> {
    let style = ProgressStyle::with_template(
        "{msg:<9} [{bar:40}] {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}",
    );
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut current = None;
    let done = install(&mut |progress| {
        if current.replace(progress.stage) != Some(progress.stage) {
            bar.reset();
            bar.set_message(name(progress.stage));
        }
        bar.set_length(progress.total);
        bar.set_position(progress.bytes);
    });
    bar.finish_and_clear();
    done
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Download => "fetching",
        Stage::Verify => "comparing",
        Stage::Unpack => "unpacking",
    }
}
