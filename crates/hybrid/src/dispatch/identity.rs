//! Whose rates they are.

use crate::cores::cores;
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
    /// The driver's own version, as `580.65.06`; where the system does not say it, the CUDA version that it serves, as `CUDA 13.0`.
    pub driver: String,
    /// The fastest that its link can be and how many lanes are in use, where the system says so: `32.0 GT/s PCIe x16`.
    pub link: Option<String>,
}

impl GpuIdentity {
    /// What the kernel says of its NVIDIA driver, or that it serves this version of CUDA.
    pub(crate) fn driver_serving((major, minor): (i32, i32)) -> String {
        let of = |path| std::fs::read_to_string(path).ok().and_then(|text| version_in(&text));
        let own = of("/sys/module/nvidia/version").or_else(|| of("/proc/driver/nvidia/version"));
        own.unwrap_or_else(|| format!("CUDA {major}.{minor}"))
    }

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
        let cores = cores();
        Identity { cpu: cpu_name(), cores, gpu: None }
    }
}

/// The first word that is made of numbers between points.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    text.split_whitespace().find(is_version).map(str::to_owned)
}

fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn d7_a_driver_has_its_own_version() {
        let proprietary = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n\
                           GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)";
        let open =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U22)";
        let expected = [(proprietary, "535.183.01"), (open, "580.65.06"), ("580.95.05\n", "580.95.05")];
        expected.iter().for_each(|(text, version)| assert_eq!(version_in(text).as_deref(), Some(*version)));
        assert_eq!(version_in("no numbers. here x86_64 1.x"), None);
    }
}
