//! The commands of the tilewright workspace. `cargo xtask help` lists them.

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use xtask::{
    accuracy, bench, bindgen, build_ptx, bundle, cache, check_aarch64, check_nvptx64, gpu_kernels, instructions, peers,
    plots, test, tidy, toolkit, train, tune,
};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The commands of the tilewright workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fetches NVIDIA's run-time compiler (NVRTC), or other tools, into the user's cache directory.
    Toolkit(toolkit::Options),
    /// Runs everything that can be tested on this machine and names what was skipped.
    Test(test::Options),
    /// Checks the rules of the house that a program can check.
    Tidy,
    /// Runs the host benchmarks and, where there is a GPU, the device benchmark.
    Bench(bench::Options),
    /// Prints the errors of the special functions in units in the last place.
    Accuracy(accuracy::Options),
    /// Writes the Rust side of what host and device hand to each other from the C++ declarations.
    Bindgen(bindgen::Options),
    /// Compiles kernels ahead, into one bundle that programs open.
    BuildPtx(build_ptx::Options),
    /// Gathers stripped test and benchmark executables for a GPU machine without Rust.
    Bundle(bundle::Options),
    /// Builds kernels written in Rust into PTX, and checks what is committed with ptxas and against budgets.
    GpuKernels(gpu_kernels::Options),
    /// Counts the instructions of known calls against a stub of the driver, and compares them with bounds.
    Instructions,
    /// Builds the programs that time other libraries, for a bundle to carry.
    Peers(peers::Options),
    /// Draws the figures of docs/fusion.md and docs/conv.md from the results, and writes their tables.
    Plots,
    /// Fits the model that chooses an operation's configurations, and reports how good it is on shapes that it has not seen.
    Train(train::Options),
    /// Measures configurations on the GPU, for `train`.
    Tune(tune::Options),
    /// Looks at the compiled kernels that programs keep on disk: counts, checks, removes, packs them.
    Cache(cache::Options),
    /// Type-checks the library crates for aarch64 Linux.
    CheckAarch64,
    /// Builds the typed dimensions for NVIDIA GPUs and reads the PTX.
    CheckNvptx64,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        // The message alone: where in this program it arose helps nobody.
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Toolkit(options) => toolkit::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Tidy => tidy::run(),
        Command::Bench(options) => bench::run(&options),
        Command::Accuracy(options) => accuracy::run(&options),
        Command::Bindgen(options) => bindgen::run(&options),
        Command::BuildPtx(options) => build_ptx::run(&options),
        Command::Bundle(options) => bundle::run(&options),
        Command::GpuKernels(options) => gpu_kernels::run(&options),
        Command::Instructions => instructions::run(),
        Command::Peers(options) => peers::run(&options),
        Command::Plots => plots::run(),
        Command::Train(options) => train::run(&options),
        Command::Tune(options) => tune::run(&options),
        Command::Cache(options) => cache::run(&options),
        Command::CheckAarch64 => check_aarch64::run(),
        Command::CheckNvptx64 => check_nvptx64::run(),
    }
}
