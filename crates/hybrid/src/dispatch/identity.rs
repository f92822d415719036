//! Whose rates they are.

use serde::{Deserialize, Serialize};

/// What rates depend on: measured on one machine, they say nothing about another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The CPU's name, as the system says it.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// The GPU, if there is one.
    pub gpu: Option<GpuIdentity>,
}

/// One GPU of one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuIdentity {
    /// Its name.
    pub name: String,
    /// Its unique number, as the driver says it.
    pub uuid: String,
    /// The CUDA version that the driver serves (major, minor).
    pub driver: (i32, i32),
    /// Generation of the link and lanes of it, where the system says them; 0 where it does not.
    pub link: (u32, u32),
}

impl Identity {
    /// This machine without its GPU.
    pub fn of_cpu() -> Identity {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Identity { cpu: cpu_name(), cores, gpu: None }
    }
}

fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
