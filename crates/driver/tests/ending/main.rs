//! A process that ends while kernels are compiled in the background: it ends soon, and well. A program of its own, because in
//! other tests the main thread is the harness's.
#![allow(clippy::print_stdout, reason = "it speaks as a test harness does")]

use std::{
    env,
    fs::OpenOptions,
    io::Write,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use tilewright_driver::{Arch, KernelCache, Source, compile, toolkit};

const NAME: &str = "ending";
const DELAY: &str = "TILEWRIGHT_ENDING_DELAY_MS";
const H200: Arch = Arch::new(9, 0);
const KERNELS: usize = 50;

/// One that takes some tens of milliseconds.
fn kernel(number: usize) -> Source {
    let body: String = (0..80).map(|i| format!("x[{i}] = x[{}] * {number}.5f + x[{}];\n", i + 1, 2 * i)).collect();
    let text = format!("extern \"C\" __global__ void k{number}(float* x) {{\n{body}}}\n");
    Source { name: NAME.into(), text, ..Source::default() }
}

fn main() {
    if let Ok(delay) = env::var(DELAY) {
        return child(delay.parse().expect("milliseconds"));
    }
    if env::args().any(|argument| argument == "--list") {
        return println!("{NAME}: test");
    }
    if env::args().skip(1).any(|argument| !argument.starts_with('-') && !NAME.contains(&argument)) {
        return;
    }
    if toolkit::nvrtc().is_err() {
        return skip();
    }
    let begin = Instant::now();
    compile(&kernel(0), H200).expect("it compiles");
    let once = begin.elapsed();
    // While the library is loaded, in the first compilation, and later.
    for delay in [0, 5, 10, 20, 40, 80] {
        let begin = Instant::now();
        let program = env::current_exe().expect("this executable");
        let output = Command::new(program).env(DELAY, delay.to_string()).output().expect("it runs");
        assert!(output.status.success(), "after {delay} ms: {output:?}");
        // Half of all, and what a process takes to start and to load the compiler on a busy machine.
        let most = once * KERNELS as u32 / 2 + Duration::from_millis(delay + 500);
        assert!(begin.elapsed() < most, "it waits for more than what is being compiled: {:?}", begin.elapsed());
    }
    println!("test {NAME} ... ok");
}

fn child(delay: u64) {
    let cache = KernelCache::in_memory();
    (0..KERNELS).for_each(|number| drop(cache.prefetch(kernel(number), H200)));
    thread::sleep(Duration::from_millis(delay));
}

fn skip() {
    eprintln!("SKIP {NAME}: no NVRTC");
    let Some(path) = env::var_os("TILEWRIGHT_SKIPS") else { return };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(format!("SKIP {NAME}: no NVRTC\n").as_bytes());
    }
}
