//! Kernels of the benchmark's own, and the package's unsafe code: their launches.

use crate::Result;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;
use tilewright_driver::{DeviceBuffer, Function, LaunchConfig, Source};
use tilewright_ops::{Gpu, KernelSource};

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
        Ok(Self { gpu: gpu.clone(), function: load(gpu, &Self::source(bytes), "empty")?, block })
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
        Ok(Self { gpu: gpu.clone(), function: load(gpu, &Self::source(), "spin")? })
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

/// A kernel that reads so much memory that the level-2 cache holds nothing else afterwards, and nothing that still has to be written.
#[derive(Debug)]
pub struct Flush {
    gpu: Gpu,
    function: Function,
    memory: DeviceBuffer<u8>,
}

impl Flush {
    /// More than twice what the cache holds.
    const BYTES: usize = 128 << 20;

    /// The kernel, with the memory that it reads.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let memory = gpu.stream().alloc_zeroed(Self::BYTES)?;
        Ok(Self { gpu: gpu.clone(), function: load(gpu, &Self::source(), "flush")?, memory })
    }

    /// Its source. What it reads is zero, which the compiler does not know.
    pub fn source() -> Source {
        let text = "struct Parameters { uint4* x; long long count; };\n\
             extern \"C\" __global__ void flush(const __grid_constant__ Parameters p) {\n\
                 unsigned int any = 0;\n\
                 for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += gridDim.x * blockDim.x) {\n\
                     const uint4 x = p.x[i];\n\
                     any |= x.x | x.y | x.z | x.w;\n\
                 }\n\
                 if (any != 0) p.x[0].x = any;\n\
             }\n";
        Source { name: "flush".to_owned(), text: text.to_owned(), ..Source::default() }
    }

    /// Queues a launch.
    pub fn launch(&self) -> Result<()> {
        let parameters = [self.memory.device_ptr(), (Self::BYTES / 16) as u64];
        // SAFETY: the kernel reads the buffer, which is aligned for its vectors, and would write into it alone.
        Ok(unsafe {
            let config = LaunchConfig::linear(512, 512);
            self.function.launch(self.gpu.stream(), &config, bytemuck::bytes_of(&parameters))
        }?)
    }
}

/// What one launch of [`Stepwise`] takes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Step {
    x: u64,
    from: u64,
    /// Groups of four elements.
    groups: u32,
    by: f32,
}

/// A kernel for each operation, in place, as a library of single operations has them: what fusion is compared with. A thread
/// takes four elements, 16 bytes.
#[derive(Debug)]
pub struct Stepwise {
    gpu: Gpu,
    convert: Function,
    multiply: Function,
    add: Function,
}

impl Stepwise {
    /// Elements of a thread: lengths are multiples of it.
    const GROUP: usize = 4;
    const THREADS: usize = 256;

    /// The kernels.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let source = Self::source();
        let function = |name| load(gpu, &source, name);
        let (convert, multiply, add) = (function("convert")?, function("multiply")?, function("add")?);
        Ok(Self { gpu: gpu.clone(), convert, multiply, add })
    }

    /// Their source.
    pub fn source() -> Source {
        let kernel = |name: &str, read: &str, value: &str| {
            format!(
                "extern \"C\" __global__ void {name}(const __grid_constant__ Step p) {{\n\
                   const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
                   if (i >= p.groups) return;\n\
                   const auto x = {read}[i];\n\
                   p.x[i] = make_float4({});\n\
                 }}\n",
                ["x", "y", "z", "w"].map(|c| value.replace('$', &format!("x.{c}"))).join(", ")
            )
        };
        let text = "struct Step { float4* x; const uchar4* from; unsigned int groups; float by; };\n".to_owned()
            + &kernel("convert", "p.from", "(float)$")
            + &kernel("multiply", "p.x", "$ * p.by")
            + &kernel("add", "p.x", "$ + p.by");
        Source { name: "stepwise".to_owned(), text, ..Source::default() }
    }

    /// Queues `x = from` for the elements of a range.
    pub fn convert(&self, x: &mut DeviceBuffer<f32>, from: &DeviceBuffer<u8>, range: Range<usize>) -> Result<()> {
        if from.len() < range.end {
            return Err(format!("{} elements to convert, expected {}", from.len(), range.end).into());
        }
        self.launch(&self.convert, x, from.device_ptr() + range.start as u64, range, 0.0)
    }

    /// Queues `x = x * by` for the elements of a range.
    pub fn multiply(&self, x: &mut DeviceBuffer<f32>, range: Range<usize>, by: f32) -> Result<()> {
        self.launch(&self.multiply, x, 0, range, by)
    }

    /// Queues `x = x + by` for the elements of a range.
    pub fn add(&self, x: &mut DeviceBuffer<f32>, range: Range<usize>, by: f32) -> Result<()> {
        self.launch(&self.add, x, 0, range, by)
    }

    fn launch(
        &self,
        function: &Function,
        x: &mut DeviceBuffer<f32>,
        from: u64,
        range: Range<usize>,
        by: f32,
    ) -> Result<()> {
        let is_whole = |at: usize| at.is_multiple_of(Self::GROUP);
        if !is_whole(range.start) || !is_whole(range.end) || range.is_empty() || range.end > x.len() {
            return Err(format!("{range:?} of {} elements; give multiples of {}", x.len(), Self::GROUP).into());
        }
        let groups = range.len() / Self::GROUP;
        let at = x.device_ptr() + (range.start * size_of::<f32>()) as u64;
        let step = Step { x: at, from, groups: groups as u32, by };
        let config = LaunchConfig::linear(groups.div_ceil(Self::THREADS) as u32, Self::THREADS as u32);
        // SAFETY: the range lies in `x`, and `convert` has checked that it lies in `from` too; each thread reads and writes its
        // group alone, and a group is as aligned as the kernel's vectors.
        Ok(unsafe { function.launch(self.gpu.stream(), &config, bytemuck::bytes_of(&step)) }?)
    }
}

/// A kernel of a source, as users load theirs: from what was built ahead too, and recorded where kernels are.
fn load(gpu: &Gpu, source: &Source, entry: &str) -> Result<Function> {
    let kernel = gpu.kernel(KernelSource::new(&source.text).name(&source.name).entry(entry))?;
    Ok(kernel.function().clone())
}
