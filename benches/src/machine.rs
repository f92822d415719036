//! Where and when something was measured.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use tilewright_ops::Gpu;

/// The processor's name.
pub fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The driver's version, and the CUDA version that it serves.
pub fn driver(gpu: &Gpu) -> String {
    let (major, minor) = gpu.device().driver_version();
    let kernel_module = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    match kernel_module.lines().next().and_then(|line| line.split_whitespace().find(is_version)) {
        Some(version) => format!("{version}, CUDA {major}.{minor}"),
        None => format!("CUDA {major}.{minor}"),
    }
}

/// What was built: `TILEWRIGHT_COMMIT`, else what git says.
pub fn commit() -> String {
    let given = std::env::var("TILEWRIGHT_COMMIT").ok();
    let asked = || {
        let output = Command::new("git").args(["describe", "--always", "--dirty", "--exclude=*"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let commit = given.or_else(asked).unwrap_or_default();
    if commit.trim().is_empty() { "unknown".to_owned() } else { commit.trim().to_owned() }
}

/// Today in UTC, as 2026-11-20.
pub fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date_of((seconds / 86_400) as i64)
}

/// The date `days` after 1970-01-01, by counting in eras of 400 years that begin in March.
pub fn date_of(days: i64) -> String {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// A name as a file's: lower case, with hyphens for everything that is neither letter nor digit.
pub fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let plain: String = name.replace("(R)", "").replace("(TM)", "").chars().map(plain).collect();
    plain.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
