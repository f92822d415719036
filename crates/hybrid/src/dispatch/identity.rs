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
    /// The fastest that its link can be and how many lanes are in use, where the system says so: `32.0 GT/s PCIe x16`.
    pub link: Option<String>,
}

impl GpuIdentity {
    /// The link of a device at an address of the PCI bus. A link that rests is slower than what it can be, so its present speed says nothing.
    pub(crate) fn link_at(address: &str) -> Option<String> {
        let of = |name| std::fs::read_to_string(format!("/sys/bus/pci/devices/{address}/{name}")).ok();
        let (speed, lanes) = (of("max_link_speed")?, of("current_link_width")?);
        Some(format!("{} x{}", speed.trim(), lanes.trim()))
    }
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
