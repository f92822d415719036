//! Kernels that copy a tensor in folds, through typed dimensions and by hand: what `cargo xtask check-nvptx64` compares.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_idx_x, _thread_idx_x};
use tilewright_dims::{dims, tensor};

dims! { I, K }
tensor!(A: f32, [K/8: 4, I: 64, K%8]);

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it ends the kernel.
    unsafe { core::arch::nvptx::trap() }
}

/// # Safety
/// Both pointers are good for `A::STORAGE` elements; blocks of 32 threads, a block for each `I`.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn typed(from: *const f32, to: *mut f32) {
    // SAFETY: as the caller promises.
    unsafe {
        let at = A::offset(I(_block_idx_x() as i32) + K(_thread_idx_x() as i32)) as isize;
        *to.offset(at) = *from.offset(at);
    }
}

/// # Safety
/// As for `typed`.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn by_hand(from: *const f32, to: *mut f32) {
    // SAFETY: as the caller promises.
    unsafe {
        let (i, k) = (_block_idx_x() as i32, _thread_idx_x() as i32);
        // The sum in the order of the typed one, from the last axis on: the compiler keeps it.
        let at = ((k >> 3) * 512 + (i * 8 + (k & 7))) as isize;
        *to.offset(at) = *from.offset(at);
    }
}
