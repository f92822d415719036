//! NVRTC's wheels.

use std::path::PathBuf;

use super::{
    newest_served,
    wheel::{Progress, Wheel},
};
use crate::Error;

/// Below tilewright's cache folder.
pub(super) const FOLDER: &str = "toolkit";
const LIBRARIES: [&str; 2] = ["libnvrtc.so.", "libnvrtc-builtins.so."];

/// The files that this version of tilewright was tested with, newest first, each with the CUDA major version that it needs from
/// the driver.
const WHEELS: [(i32, Wheel); 4] = [
    (
        13,
        Wheel {
            host: "x86_64",
            package: "nvidia-cuda-nvrtc",
            version: "13.0.88",
            bytes: 90_215_200,
            sha256: "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
        },
    ),
    (
        13,
        Wheel {
            host: "aarch64",
            package: "nvidia-cuda-nvrtc",
            version: "13.0.88",
            bytes: 43_015_449,
            sha256: "d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b",
        },
    ),
    (
        12,
        Wheel {
            host: "x86_64",
            package: "nvidia-cuda-nvrtc-cu12",
            version: "12.9.86",
            bytes: 89_568_129,
            sha256: "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4",
        },
    ),
    (
        12,
        Wheel {
            host: "aarch64",
            package: "nvidia-cuda-nvrtc-cu12",
            version: "12.9.86",
            bytes: 44_528_905,
            sha256: "096d4de6bda726415dfaf3198d4f5c522b8e70139c97feef5cd2ca6d4cd9cead",
        },
    ),
];

fn wheel() -> Result<&'static Wheel, Error> {
    let (host, newest) = (std::env::consts::ARCH, newest_served());
    let fits = |(major, wheel): &&(i32, Wheel)| wheel.host == host && *major <= newest;
    WHEELS.iter().find(fits).map(|(_, wheel)| wheel).ok_or(Error::NoWheel { package: "NVRTC", host })
}

/// The pip requirement that [`install`] would fetch for this machine's driver, and its size in bytes.
pub fn package() -> Result<(String, u64), Error> {
    wheel().map(|wheel| (format!("{}=={}", wheel.package, wheel.version), wheel.bytes))
}

/// Fetches NVRTC with `python3 -m pip download`, so that pip's mirror settings hold, compares it with the hash pinned here,
/// and unpacks its libraries to `<cache>/tilewright/toolkit/<version>`, which is returned. Nothing is fetched when that folder
/// is there already.
///
/// No pip is [`Error::NoPip`]; a failed download, a wrong hash or a full disk leave nothing behind.
pub fn install(progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, Error> {
    wheel()?.install(FOLDER, &LIBRARIES, progress)
}
