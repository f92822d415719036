//! Two kernels of the benchmark's own, and the package's unsafe code: their launches.

use crate::Result;
use tilewright_driver::{Function, KernelCache, LaunchConfig, Source};
use tilewright_ops::Gpu;

/// A kernel that does nothing, with a parameter block that nobody reads: what a launch costs by itself.
#[derive(Debug)]
pub struct Empty {
    gpu: Gpu,
    function: Function,
    block: Vec<u8>,
}

impl Empty {
    /// The kernel with `bytes` of parameters, a multiple of 4.
    pub fn new(gpu: &Gpu, bytes: usize) -> Result<Self> {
        let block = (0..bytes).map(|at| at as u8).collect();
        Ok(Self { gpu: gpu.clone(), function: load(gpu, &Self::source(bytes))?, block })
    }

    /// Its source.
    pub fn source(bytes: usize) -> Source {
        let text = format!(
            "struct Parameters {{ unsigned int words[{}]; }};\n\
             extern \"C\" __global__ void empty(const __grid_constant__ Parameters p) {{}}\n",
            bytes / 4
        );
        Source { name: "empty".to_owned(), text, ..Source::default() }
    }

    /// Queues one launch of one block of 32 threads.
    pub fn launch(&self) -> Result<()> {
        // SAFETY: the kernel reads and writes nothing.
        Ok(unsafe { self.function.launch(self.gpu.stream(), &LaunchConfig::linear(1, 32), &self.block) }?)
    }
}

/// A kernel that keeps the device busy, so that what is queued behind it is there when it begins.
#[derive(Debug)]
pub struct Spin {
    gpu: Gpu,
    function: Function,
}

impl Spin {
    /// Cycles of a microsecond, rounded up to what the fastest devices clock at.
    const CYCLES: f64 = 2000.0;

    /// The kernel.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self { gpu: gpu.clone(), function: load(gpu, &Self::source())? })
    }

    /// Its source.
    pub fn source() -> Source {
        let text = "struct Parameters { long long cycles; };\n\
             extern \"C\" __global__ void spin(const __grid_constant__ Parameters p) {\n\
                 long long begin = clock64();\n\
                 while (clock64() - begin < p.cycles) {}\n\
             }\n";
        Source { name: "spin".to_owned(), text: text.to_owned(), ..Source::default() }
    }

    /// Queues a launch that lasts about this long.
    pub fn launch(&self, us: f64) -> Result<()> {
        let cycles = (us * Self::CYCLES) as i64;
        let config = LaunchConfig::linear(1, 1);
        // SAFETY: the kernel reads its one parameter and no memory.
        Ok(unsafe { self.function.launch(self.gpu.stream(), &config, bytemuck::bytes_of(&cycles)) }?)
    }
}

fn load(gpu: &Gpu, source: &Source) -> Result<Function> {
    let (module, _) = KernelCache::shared().load(gpu.device(), source)?;
    Ok(module.function(&source.name)?)
}
