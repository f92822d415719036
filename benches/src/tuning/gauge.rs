//! The clock and the power of the GPU meanwhile, as nvidia-smi says them; zeros where there is none.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// Reads them five times a second.
#[derive(Debug)]
pub struct Gauge {
    child: Option<Child>,
    latest: Arc<Mutex<(f32, f32)>>,
}

impl Gauge {
    /// Starts nvidia-smi, if there is one.
    pub fn start() -> Self {
        let latest = Arc::new(Mutex::new((0.0, 0.0)));
        let query = ["--id=0", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits", "--loop-ms=200"];
        let mut command = Command::new("nvidia-smi");
        let child = command.args(query).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.ok();
        if let Some(output) = child.as_mut().and_then(|child| child.stdout.take()) {
            let latest = latest.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let numbers = line.split_once(',');
                    let read = numbers.and_then(|(clock, power)| Some((number(clock)?, number(power)?)));
                    if let Some(read) = read {
                        *latest.lock().unwrap_or_else(PoisonError::into_inner) = read;
                    }
                }
            });
        }
        Self { child, latest }
    }

    /// MHz and watts.
    pub fn read(&self) -> (f32, f32) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn number(text: &str) -> Option<f32> {
    text.trim().parse().ok()
}
