use super::gpu::Gpu;

/// The processor that an operation runs on.
#[derive(Clone, Debug)]
pub enum Place {
    /// All cores of this machine, with faer.
    Cpu,
    /// A GPU, with cuBLAS and cuSOLVER; operands in host memory are copied there, and results back.
    Gpu(Gpu),
}

impl Place {
    /// The GPU, if it is one.
    pub(crate) fn gpu(&self) -> Option<&Gpu> {
        match self {
            Place::Cpu => None,
            Place::Gpu(gpu) => Some(gpu),
        }
    }
}
