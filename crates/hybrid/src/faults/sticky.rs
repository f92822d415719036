use tilewright_driver::Error as Driver;

use crate::Error;

/// Answers after which every later call in the same process fails too: a context that is gone, and exceptions of a kernel.
const STICKY: [u32; 13] = [
    4,   // DEINITIALIZED
    214, // ECC_UNCORRECTABLE
    700, // ILLEGAL_ADDRESS
    702, // LAUNCH_TIMEOUT
    709, // CONTEXT_IS_DESTROYED
    710, // ASSERT
    714, // HARDWARE_STACK_ERROR
    715, // ILLEGAL_INSTRUCTION
    716, // MISALIGNED_ADDRESS
    717, // INVALID_ADDRESS_SPACE
    718, // INVALID_PC
    719, // LAUNCH_FAILED
    721, // CONTAINED
];

impl Error {
    /// Whether the device's context is damaged for good, so that every later call on it fails too, whatever it is.
    ///
    /// Source: descriptions of `CUresult` in the CUDA driver API.
    pub fn is_sticky(&self) -> bool {
        matches!(self, Self::Driver(error) if is_sticky(error))
    }
}

fn is_sticky(error: &Driver) -> bool {
    match error {
        Driver::Driver { code, .. } => STICKY.contains(code),
        Driver::Launch { cause, .. } => is_sticky(cause),
        _ => false,
    }
}
