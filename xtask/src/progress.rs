//! What is seen while a command works.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Shows that something is going on while `work` runs.
pub fn waiting<T>(message: impl Into<String>, work: impl FnOnce() -> T) -> T {
    let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_message(message.into());
    bar.enable_steady_tick(Duration::from_millis(100));
    let done = work();
    bar.finish_and_clear();
    done
}

/// A bar that counts to `length`, with a message before it.
pub fn counting(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:<16} [{bar:40}] {pos} of {len}");
    ProgressBar::new(length as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
