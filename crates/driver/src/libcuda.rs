//! The driver library: found, checked and initialised once per process.

use std::{env, ffi::OsString, sync::OnceLock};

use crate::{
    Error,
    raw::{Driver, Unusable},
};

const OLDEST: i32 = 12_000;
const NO_DEVICE: u32 = 100;

/// The driver's functions that tilewright calls; each has been there since CUDA 12.0. A library that lacks one is refused.
pub fn required_symbols() -> impl Iterator<Item = &'static str> {
    Driver::symbols()
}

/// The newest CUDA version that the driver serves, (major, minor). Asks for no GPU.
pub fn driver_version() -> Result<(i32, i32), Error> {
    opened()?.version().map(pair)
}

fn pair(version: i32) -> (i32, i32) {
    (version / 1000, version % 1000 / 10)
}

/// The library, its symbols complete, not yet initialised.
fn opened() -> Result<&'static Driver, Error> {
    static DRIVER: OnceLock<Result<Driver, Error>> = OnceLock::new();
    DRIVER.get_or_init(search).as_ref().map_err(Clone::clone)
}

fn search() -> Result<Driver, Error> {
    let names = match env::var_os("TILEWRIGHT_LIBCUDA") {
        Some(path) => vec![path],
        None => ["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"].map(OsString::from).to_vec(),
    };
    let mut tried = Vec::new();
    for name in names {
        let library = name.to_string_lossy().into_owned();
        match Driver::open(&name) {
            Ok(driver) => {
                let version = driver.version()?;
                if version < OLDEST {
                    return Err(Error::DriverTooOld { symbol: None, library, version: Some(pair(version)) });
                }
                return Ok(driver);
            }
            Err(Unusable::NotOpened(reason)) if reason.contains(&library) => tried.push(reason),
            Err(Unusable::NotOpened(reason)) => tried.push(format!("{library}: {reason}")),
            Err(Unusable::Lacks { symbol, version }) => {
                return Err(Error::DriverTooOld { symbol: Some(symbol), library, version: version.map(pair) });
            }
        }
    }
    Err(Error::NoDriver { tried })
}

/// The driver, initialised.
pub(crate) fn driver() -> Result<&'static Driver, Error> {
    static INITIALISED: OnceLock<Result<(), Error>> = OnceLock::new();
    let driver = opened()?;
    INITIALISED.get_or_init(|| driver.initialise()).clone().map_err(no_device)?;
    Ok(driver)
}

pub(crate) fn no_device(error: Error) -> Error {
    if error.is_code(&[NO_DEVICE]) { Error::NoDevice } else { error }
}
