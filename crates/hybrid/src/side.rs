/// Which processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The CPU.
    Cpu,
    /// The GPU.
    Gpu,
}
