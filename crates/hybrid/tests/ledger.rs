//! Stubs of the driver, of the compiler and of the libraries, and the ledger by which a test has their calls fail and sees what they gave out.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::{child, skip, stub};

/// The libraries for linear algebra, with textbook algorithms, as CUDA 12 names them.
const LIBRARIES: [(&str, &str); 2] = [
    ("libcublas.so.12", include_str!("stub/cublas.c")),
    ("libcusolver.so.11", concat!(include_str!("stub/cusolver.c"), include_str!("stub/geev.c"))),
];

/// The compiler.
pub(crate) const NVRTC: &str = "libnvrtc.so.12";

/// A driver, a compiler and libraries in a folder of their own.
pub(crate) struct Stubs {
    folder: TempDir,
    driver: PathBuf,
}

impl Stubs {
    /// All of them; nothing without a C compiler.
    pub(crate) fn new() -> Option<Self> {
        Self::without("")
    }

    /// All but one of the libraries, or but the compiler.
    pub(crate) fn without(missing: &str) -> Option<Self> {
        Self::made(missing, "")
    }

    /// All of them, without what newer ones have.
    pub(crate) fn old() -> Option<Self> {
        Self::made("", "#define OLD\n")
    }

    fn made(missing: &str, first: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let [driver, _] = stub::working(folder.path())?;
        let shared = first.to_owned() + stub::LEDGER + include_str!("stub/numbers.c");
        for (name, text) in LIBRARIES.iter().filter(|(name, _)| *name != missing) {
            stub::library(folder.path(), name, &(shared.clone() + text))?;
        }
        if missing == NVRTC {
            std::fs::remove_file(folder.path().join(NVRTC)).unwrap();
        }
        File::create(ledger(folder.path())).and_then(|file| file.set_len(4096)).unwrap();
        Some(Self { folder, driver })
    }

    /// Runs a scenario on all of them, in a process of its own.
    pub(crate) fn check(test: &str, scenario: &str) {
        Self::check_on(Self::new(), test, scenario, |_| ());
    }

    /// The same on those that there are, with a process that `prepare` has the last word on.
    pub(crate) fn check_on(stubs: Option<Self>, test: &str, scenario: &str, prepare: impl FnOnce(&mut Command)) {
        let Some(stubs) = stubs else { return skip(test, "no C compiler") };
        let mut command = child::command(scenario);
        stubs.serve(&mut command);
        prepare(&mut command);
        child::check(&command.output().unwrap());
    }

    /// Has a process that will be started use them.
    pub(crate) fn serve(&self, command: &mut Command) {
        let folder = self.folder.path();
        command.env("TILEWRIGHT_LIBCUDA", &self.driver).env("TILEWRIGHT_CUDA", folder);
        command.env("TILEWRIGHT_CACHE", folder.join("kernels")).env(LEDGER, ledger(folder));
    }
}

/// What names the ledger.
const LEDGER: &str = "STUB_LEDGER";

fn ledger(folder: &Path) -> PathBuf {
    folder.join("ledger")
}

/// The ledger of the stubs that serve this process.
pub(crate) struct Ledger(File);

/// Its numbers, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    Calls,
    FailsAt,
    Code,
    Lost,
    DeviceBytes,
    PinnedBytes,
    Objects,
    Renewals,
    Copied,
    Multiplied,
    OnlyCounts,
    /// How often somebody asked how much memory is free.
    Asked,
    /// Events that were made with a time.
    Timed,
    /// Microseconds between any two events; 0 for what they are.
    Elapsed,
    /// The most bytes that were on the device at once.
    MostDeviceBytes,
    /// The most that were page-locked.
    MostPinnedBytes,
}

impl Ledger {
    pub(crate) fn here() -> Self {
        let path = std::env::var_os(LEDGER).expect("the parent names it");
        Self(OpenOptions::new().read(true).write(true).open(path).unwrap())
    }

    pub(crate) fn get(&self, entry: Entry) -> i64 {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, 8 * entry as u64).unwrap();
        i64::from_ne_bytes(bytes)
    }

    pub(crate) fn set(&self, entry: Entry, value: i64) {
        self.0.write_all_at(&value.to_ne_bytes(), 8 * entry as u64).unwrap();
    }

    /// Has one of the calls that come fail: the first is number 1.
    pub(crate) fn fail(&self, number: i64, code: i64) {
        self.set(Entry::Code, code);
        self.set(Entry::FailsAt, self.get(Entry::Calls) + number);
    }

    /// Has nothing fail, as if the context were whole.
    pub(crate) fn mend(&self) {
        self.set(Entry::FailsAt, 0);
        self.set(Entry::Lost, 0);
    }

    /// Bytes on the device, page-locked bytes, and objects of the driver and of libraries.
    pub(crate) fn in_use(&self) -> [i64; 3] {
        [Entry::DeviceBytes, Entry::PinnedBytes, Entry::Objects].map(|entry| self.get(entry))
    }
}
