//! A block of threads of a GPU.

use crate::block::Block;
use crate::raw::word::Word;
use core::arch::nvptx::{_block_idx_x, _grid_dim_x, _syncthreads, _thread_idx_x, trap};
use core::arch::{asm, global_asm};

// Its size is said at the launch.
global_asm!(".extern .shared .align 16 .b8 tilewright_shared[];");

/// The block that runs this.
#[derive(Clone, Copy)]
pub(crate) struct Device;

impl Device {
    #[inline(always)]
    fn shared(at: i32) -> u32 {
        let start: u32;
        // SAFETY: it reads no memory.
        unsafe {
            asm!("mov.u32 {start}, tilewright_shared;", start = out(reg32) start,
                options(pure, nomem, nostack, preserves_flags));
        }
        start.wrapping_add(at as u32)
    }
}

impl Block for Device {
    #[inline(always)]
    fn number(self) -> i32 {
        // SAFETY: it reads a register.
        unsafe { _block_idx_x() as i32 }
    }

    #[inline(always)]
    fn blocks(self) -> i32 {
        // SAFETY: it reads a register.
        unsafe { _grid_dim_x() as i32 }
    }

    #[inline(always)]
    fn thread<const THREADS: i32>(self) -> i32 {
        // That it is below THREADS, which the launch sees to, the compiler would not know.
        // SAFETY: it reads a register.
        unsafe { _thread_idx_x() as i32 & (THREADS - 1) }
    }

    #[inline(always)]
    fn barrier(self) {
        // SAFETY: bodies have all threads of a block reach it.
        unsafe { _syncthreads() }
    }

    #[inline(always)]
    fn load<W: Word>(self, at: i32) -> W {
        // SAFETY: tiles lie inside of what the launch provides, and begin at multiples of 16 bytes.
        unsafe { W::load_shared(Self::shared(at)) }
    }

    #[inline(always)]
    fn store<W: Word>(self, at: i32, word: W) {
        // SAFETY: as above.
        unsafe { word.store_shared(Self::shared(at)) }
    }

    #[inline(always)]
    fn multiply_add(self, sums: [f32; 4], [a0, a1, a2, a3]: [u32; 4], [b0, b1]: [u32; 2]) -> [f32; 4] {
        let [mut d0, mut d1, mut d2, mut d3] = sums;
        // SAFETY: it touches registers alone; bodies have all lanes of a warp reach it.
        unsafe {
            asm!("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{{d0}, {d1}, {d2}, {d3}}}, \
                  {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, {{{d0}, {d1}, {d2}, {d3}}};",
                d0 = inout(reg32) d0, d1 = inout(reg32) d1, d2 = inout(reg32) d2, d3 = inout(reg32) d3,
                a0 = in(reg32) a0, a1 = in(reg32) a1, a2 = in(reg32) a2, a3 = in(reg32) a3,
                b0 = in(reg32) b0, b1 = in(reg32) b1, options(nomem, nostack, preserves_flags));
        }
        [d0, d1, d2, d3]
    }
}

/// Kernels have no way to get here: a check of the PTX sees to that.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it ends the kernel.
    unsafe { trap() }
}
