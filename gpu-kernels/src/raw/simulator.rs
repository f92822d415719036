//! Blocks of threads on the CPU, for tests: one after the other, each thread of a block a thread of the system.
//!
//! Shared memory begins as all ones, what lies outside is refused, and a barrier that a thread never reaches is an error and no hang.
//! The bodies are the very functions that a GPU runs; what stands in for the GPU is [`Simulated`] alone.

use super::matrix::{Matrix, MatrixMut};
use super::memory::{Row, RowMut};
use crate::block::Block;
use crate::body;
use crate::raw::word::Word;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Threads of a warp.
const LANES: usize = 32;
/// Bytes of stack of a thread.
const STACK: usize = 256 << 10;

/// A place where threads wait for each other.
struct Gate {
    count: usize,
    state: Mutex<GateState>,
    opened: Condvar,
}

#[derive(Default)]
struct GateState {
    waiting: usize,
    generation: usize,
    ended: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gate {
    fn new(count: usize) -> Gate {
        Gate { count, state: Mutex::default(), opened: Condvar::new() }
    }

    fn arrive(&self) {
        let mut state = locked(&self.state);
        state.waiting += 1;
        if state.waiting == self.count && !state.ended {
            state.waiting = 0;
            state.generation += 1;
            return self.opened.notify_all();
        }
        let own = state.generation;
        while state.generation == own {
            assert!(!state.ended, "a thread waits for others, one of which has ended");
            state = self.opened.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn end(&self) {
        locked(&self.state).ended = true;
        self.opened.notify_all();
    }
}

/// What a lane gives to a product.
type Registers = ([u32; 4], [u32; 2]);

struct Warp {
    gate: Gate,
    registers: Mutex<[Registers; LANES]>,
}

struct Shared {
    memory: Vec<AtomicU8>,
    gate: Gate,
    warps: Vec<Warp>,
}

/// Says that a thread has ended, however it did.
struct Ending<'a>(&'a Shared, usize);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.gate.end();
        self.0.warps[self.1 / LANES].gate.end();
    }
}

/// A simulated block, seen by one of its threads.
#[derive(Clone, Copy)]
pub struct Simulated<'a> {
    shared: &'a Shared,
    number: i32,
    blocks: i32,
    threads: i32,
    thread: i32,
}

/// Runs a kernel's body for each thread of each block.
///
/// # Panics
/// With what a thread panics with; when the block has other sizes than the body asks for.
pub fn simulate(blocks: i64, threads: i32, shared_bytes: u32, body: impl Fn(Simulated<'_>) + Sync) {
    let blocks = i32::try_from(blocks).expect("as many blocks as a grid can have");
    let body = &body;
    for number in 0..blocks {
        let memory = (0..shared_bytes).map(|_| AtomicU8::new(0xff)).collect();
        let warp = |_| Warp { gate: Gate::new(LANES), registers: Mutex::new([Registers::default(); LANES]) };
        let warps = (0..threads as usize / LANES).map(warp).collect();
        let shared = &Shared { memory, gate: Gate::new(threads as usize), warps };
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let run = move || {
                    let _ending = Ending(shared, thread as usize);
                    body(Simulated { shared, number, blocks, threads, thread });
                };
                std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).expect("a thread");
            }
        });
    }
}

impl Simulated<'_> {
    fn place(&self, at: i32, bytes: usize) -> &[AtomicU8] {
        let start = usize::try_from(at).expect("a place in shared memory");
        assert!(start.is_multiple_of(bytes), "a word of {bytes} bytes at {start} in shared memory");
        &self.shared.memory[start..start + bytes]
    }
}

impl Block for Simulated<'_> {
    fn number(self) -> i32 {
        self.number
    }

    fn blocks(self) -> i32 {
        self.blocks
    }

    fn thread<const THREADS: i32>(self) -> i32 {
        assert_eq!(self.threads, THREADS, "the threads of a block are those that the kernel is written for");
        self.thread
    }

    fn barrier(self) {
        self.shared.gate.arrive();
    }

    fn load<W: Word>(self, at: i32) -> W {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(self.place(at, size_of::<W>())) {
            *to = from.load(Ordering::Relaxed);
        }
        W::of_bytes(bytes)
    }

    fn store<W: Word>(self, at: i32, word: W) {
        for (to, byte) in self.place(at, size_of::<W>()).iter().zip(word.bytes()) {
            to.store(byte, Ordering::Relaxed);
        }
    }

    fn multiply_add(self, sums: [f32; 4], a: [u32; 4], b: [u32; 2]) -> [f32; 4] {
        let (warp, lane) = (&self.shared.warps[self.thread as usize / LANES], self.thread as usize % LANES);
        locked(&warp.registers)[lane] = (a, b);
        warp.gate.arrive();
        let registers = *locked(&warp.registers);
        // All have read before any writes again.
        warp.gate.arrive();
        std::array::from_fn(|i| {
            let (row, column) = (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
            let products = (0..16).map(|k| element_of_a(&registers, row, k) * element_of_b(&registers, k, column));
            (products.sum::<f64>() + f64::from(sums[i])) as f32
        })
    }
}

/// Half `number` of a register, as the bf16 that it holds.
fn half(register: u32, number: usize) -> f64 {
    f64::from(f32::from_bits(register >> (16 * number) << 16))
}

/// Where the elements of the factors are: PTX, figures of mma.m16n8k16.
fn element_of_a(registers: &[Registers; LANES], row: usize, k: usize) -> f64 {
    let (lane, register) = (row % 8 * 4 + k % 8 / 2, row / 8 + k / 8 * 2);
    half(registers[lane].0[register], k % 2)
}

fn element_of_b(registers: &[Registers; LANES], k: usize, column: usize) -> f64 {
    half(registers[column * 4 + k % 8 / 2].1[k / 8], k % 2)
}

/// The type of a parameter in a simulation's signature.
macro_rules! parameter {
    (value $t:ty) => {
        $t
    };
    (read $t:ty [$($over:ident),*]) => {
        &[$t]
    };
    (write $t:ty [$($over:ident),*]) => {
        &mut [$t]
    };
}

/// What the body gets for a parameter.
macro_rules! operand {
    ($given:ident value $t:ty) => {
        $given
    };
    ($given:ident read $t:ty [$d:ident]) => {{
        assert_eq!($given.len() as i64, $d, "elements of {}", stringify!($given));
        // SAFETY: so many elements are borrowed, and all access them atomically.
        unsafe { Row::<$t, crate::dims::$d>::new($given.as_ptr(), $d) }
    }};
    ($given:ident write $t:ty [$d:ident]) => {{
        assert_eq!($given.len() as i64, $d, "elements of {}", stringify!($given));
        // SAFETY: so many elements are borrowed, by nobody else, and all access them atomically.
        unsafe { RowMut::<$t, crate::dims::$d>::new($given.as_mut_ptr(), $d) }
    }};
    ($given:ident read $t:ty [$r:ident, $c:ident]) => {{
        assert_eq!($given.len() as i64, $r * $c, "elements of {}", stringify!($given));
        // SAFETY: so many elements are borrowed, and all access them atomically.
        unsafe { Matrix::<$t, crate::dims::$r, crate::dims::$c>::new($given.as_ptr(), $r as i32, $c as i32) }
    }};
    ($given:ident write $t:ty [$r:ident, $c:ident]) => {{
        assert_eq!($given.len() as i64, $r * $c, "elements of {}", stringify!($given));
        // SAFETY: so many elements are borrowed, by nobody else, and all access them atomically.
        unsafe { MatrixMut::<$t, crate::dims::$r, crate::dims::$c>::new($given.as_mut_ptr(), $r as i32, $c as i32) }
    }};
}

macro_rules! simulations {
    ($(
        $(#[$meta:meta])*
        kernel $name:ident [$($dim:ident $(of $length:ident)?),*] ($($parameter:ident: $kind:ident $t:ident $([$($over:ident),*])?),*)
            threads $threads:expr, shared $shared:expr, rows $rows:literal, blocks $blocks:expr, body $body:expr;
    )*) => { $(
        $(#[$meta])*
        ///
        /// Sizes in the order of the dimensions, then the parameters.
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "a size is named after its dimension")]
        pub fn $name($($dim: i64,)* $($parameter: parameter!($kind $t $([$($over),*])?)),*) {
            $(let $parameter = operand!($parameter $kind $t $([$($over),*])?);)*
            simulate(($blocks)($($dim),*), $threads, $shared, |block| ($body)(block, $($parameter),*));
        }
    )* };
}

/// The kernels, each run by [`simulate`] with its own numbers of blocks and threads.
pub mod simulated {
    use super::*;
    crate::kernels!(simulations);
}
