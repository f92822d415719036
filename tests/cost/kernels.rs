//! Kernels written twice, through typed dimensions and with index arithmetic by hand.

use super::cubin;
use rustix::time::{ClockId, clock_gettime};
use std::borrow::Cow;
use tilewright_driver::{Arch, Error, Source, compile};
use tilewright_headers::{headers_for, layout};

/// A kernel's two texts.
#[derive(Clone, Copy, Debug)]
pub struct Twins {
    /// The kernel's name in both.
    pub name: &'static str,
    /// With declaration blocks.
    pub typed: &'static str,
    /// Without.
    pub by_hand: &'static str,
}

macro_rules! twins {
    ($($name:literal),*) => {
        [$(Twins {
            name: $name,
            typed: include_str!(concat!("../kernels/zero_cost/", $name, ".typed.cu")),
            by_hand: include_str!(concat!("../kernels/zero_cost/", $name, ".by_hand.cu")),
        }),*]
    };
}

/// All of them.
pub const TWINS: [Twins; 6] = twins!["copy", "transpose", "stencil", "gather", "matmul", "reduce"];

/// What a compiled kernel is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Instructions of the cubin.
    pub instructions: usize,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread spills.
    pub spilled: u32,
}

/// The H100 and H200.
const ARCH: Arch = Arch::new(9, 0);

/// The text with its declarations as C++ types.
pub fn expanded(text: &str) -> String {
    layout::expand(text).unwrap_or_else(|error| format!("#error {error}\n"))
}

/// Compiles a text for `sm_90` and counts what the kernel is made of.
pub fn cost(name: &str, text: &str) -> Result<Cost, Error> {
    let compiled = compile(&source(name, text), ARCH)?;
    let kernel = compiled.kernels.iter().find(|kernel| kernel.name == name).cloned().unwrap_or_default();
    let instructions = cubin::instructions(&compiled.image, name).unwrap_or(0);
    Ok(Cost { instructions, registers: kernel.registers, spilled: kernel.spill_store_bytes + kernel.spill_load_bytes })
}

/// Milliseconds of CPU that `layout.cuh` adds to a compilation that includes the prelude: the least of several, in turns, of a
/// kernel that uses nothing of it.
pub fn header_ms() -> Result<f64, Error> {
    const REPEATS: usize = 15;
    let kernel = "extern \"C\" __global__ void none(const __grid_constant__ int x) {}\n";
    let texts = ["prelude", "layout"].map(|header| format!("#include \"tilewright/{header}.cuh\"\n{kernel}"));
    let mut least = [f64::INFINITY; 2];
    compile(&source("none", &texts[0]), ARCH)?; // the first of a process takes longer
    for _ in 0..REPEATS {
        for (text, least) in texts.iter().zip(&mut least) {
            let begin = thread_cpu_ms();
            compile(&source("none", text), ARCH)?;
            *least = least.min(thread_cpu_ms() - begin);
        }
    }
    Ok(least[1] - least[0])
}

/// What this thread has computed so far. NVRTC compiles on the thread that calls it, and a busy machine does not count.
fn thread_cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn source(name: &str, text: &str) -> Source {
    let text = expanded(text);
    let headers = headers_for(&text).into_iter().map(|(name, text)| (name.to_owned(), Cow::Borrowed(text)));
    Source { name: name.to_owned(), text, headers: headers.collect(), ..Source::default() }
}
