//! Where the kernel runs.

use super::args::Choice;
use super::failure::{Failure, one_line};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use tilewright::Device;
use tilewright::driver;
use tilewright::driver::toolkit::{Progress, Stage};

/// The device that was chosen.
pub(crate) struct Place {
    pub(crate) device: Device,
    choice: Choice,
    /// Whether the compiler was fetched in this run: if it is missing still, fetching again will not help.
    fetched: bool,
    /// Why it is not a GPU, if one was wanted.
    pub(crate) note: Option<String>,
}

impl Place {
    pub(crate) fn open(choice: Choice) -> Result<Place, Failure> {
        let place = |device, note| Place { device, choice, fetched: false, note };
        if choice == Choice::Cpu {
            return Ok(place(Device::Cpu, None));
        }
        match Device::gpu(0) {
            Ok(device) => Ok(place(device, None)),
            Err(error) if choice == Choice::Auto => Ok(place(Device::Cpu, Some(reason(&error)))),
            Err(error) => Err(error.into()),
        }
    }

    /// Fetches NVRTC; where that fails and the device is ours to choose, the CPU takes over.
    pub(crate) fn get_compiler(&mut self, missing: driver::Error) -> Result<(), Failure> {
        let outcome = if self.fetched { Err(missing) } else { install() };
        self.fetched = true;
        match outcome {
            Ok(folder) => {
                eprintln!("NVRTC is in {} from now on", folder.display());
                Ok(())
            }
            Err(error) if self.choice == Choice::Auto => {
                eprintln!("crops: {}; going on with the CPU", one_line(&error.to_string()));
                self.device = Device::Cpu;
                self.note = Some("the GPU's compiler is missing".into());
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Few words: the machine without a GPU is an ordinary one.
fn reason(error: &tilewright::Error) -> String {
    match error {
        tilewright::Error::Driver(driver::Error::NoDriver { .. }) => "no CUDA driver here".into(),
        tilewright::Error::Driver(driver::Error::NoDevice) => "no GPU here".into(),
        other => one_line(&other.to_string()),
    }
}

/// Fetches NVRTC under a progress bar.
fn install() -> Result<PathBuf, driver::Error> {
    let (package, bytes) = driver::toolkit::package()?;
    eprintln!("this GPU needs NVRTC, CUDA's run-time compiler: fetching {package} ({} MB)", bytes / 1_000_000);
    let bar = ProgressBar::new(bytes);
    if let Ok(style) = ProgressStyle::with_template("{msg:>8} [{bar:40}] {bytes}/{total_bytes} {bytes_per_sec}") {
        bar.set_style(style.progress_chars("=> "));
    }
    let result = driver::toolkit::install(&mut |progress: Progress| {
        bar.set_message(match progress.stage {
            Stage::Download => "download",
            Stage::Verify => "verify",
            Stage::Unpack => "unpack",
        });
        bar.set_length(progress.total);
        bar.set_position(progress.bytes);
    });
    bar.finish_and_clear();
    result
}
