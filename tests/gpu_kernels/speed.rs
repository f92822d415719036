//! How long kernels in Rust take beside their twins, on a GPU. With `TILEWRIGHT_SPEED` set, a kernel that takes 5 % more than its twin fails;
//! without it the figures are printed.

use super::{on_gpu, twin};
use bytemuck::{Pod, bytes_of};
use std::borrow::Cow;
use tilewright_driver::kernels::dims::{I, J, K, X, Y};
use tilewright_driver::{DeviceBuffer, Error, Function, KernelCache, LaunchConfig, Source, Stream};
use tilewright_gpu_kernels::body::{fill, product, product_bf16, saxpy, sum, transpose};
use tilewright_headers::headers_for;

/// Launches of one measurement, and measurements, of which the best one counts.
const LAUNCHES: usize = 20;
const ROUNDS: usize = 10;
const ALLOWED: f32 = 1.05;

/// A twin, compiled for the stream's device.
fn compiled(stream: &Stream, text: &str, entry: &str) -> Function {
    let headers = headers_for(text).into_iter().map(|(name, text)| (name.to_owned(), Cow::Borrowed(text))).collect();
    let source = Source { name: entry.into(), text: text.into(), headers, ..Source::default() };
    let (module, _) = KernelCache::in_memory().load(&stream.device(), &source).unwrap_or_else(|e| panic!("{e}"));
    module.function(entry).unwrap()
}

/// The best time of one launch, in microseconds.
fn time(stream: &Stream, launch: &mut dyn FnMut() -> Result<(), Error>) -> f32 {
    let round = |_| {
        let start = stream.record().unwrap();
        (0..LAUNCHES).for_each(|_| launch().unwrap());
        let end = stream.record().unwrap();
        end.synchronize().unwrap();
        end.elapsed_ms_since(&start).unwrap() * 1000.0 / LAUNCHES as f32
    };
    (0..ROUNDS).map(round).fold(f32::INFINITY, f32::min)
}

/// A parameter block: sizes, then the rest as bytes, each at a multiple of its size.
fn block(sizes: &[usize], rest: &[&[u8]]) -> Vec<u8> {
    let mut bytes: Vec<u8> = sizes.iter().flat_map(|size| (*size as i64).to_ne_bytes()).collect();
    for part in rest {
        bytes.resize(bytes.len().next_multiple_of(part.len()), 0);
        bytes.extend_from_slice(part);
    }
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn address<T: Pod>(buffer: &DeviceBuffer<T>) -> [u8; 8] {
    buffer.device_ptr().to_ne_bytes()
}

struct Twin<'a> {
    text: String,
    entry: &'a str,
    blocks: i64,
    threads: i32,
    shared_bytes: u32,
}

/// Times both, says so, and holds the one against the other if that is wanted.
fn compare(stream: &Stream, twin: &Twin<'_>, parameters: &[u8], rust: &mut dyn FnMut() -> Result<(), Error>) {
    let function = compiled(stream, &twin.text, twin.entry);
    let shared_bytes = twin.shared_bytes.next_multiple_of(128);
    let config = LaunchConfig { shared_bytes, ..LaunchConfig::linear(twin.blocks as u32, twin.threads as u32) };
    // SAFETY: the block holds the addresses of buffers that live until the measurement has ended, as long as the sizes say.
    let mut launch = || unsafe { function.launch(stream, &config, parameters) };
    // Once each before, so that neither pays for what happens once.
    launch().unwrap();
    rust().unwrap();
    let (twin_us, rust_us) = (time(stream, &mut launch), time(stream, rust));
    eprintln!("{}: {rust_us:.2} us in Rust, {twin_us:.2} us in CUDA C++, {:.3}", twin.entry, rust_us / twin_us);
    if std::env::var_os("TILEWRIGHT_SPEED").is_some() {
        assert!(rust_us <= twin_us * ALLOWED, "{}: {rust_us} us, its twin takes {twin_us}", twin.entry);
    }
}

#[test]
fn rust_beside_cuda() {
    let Some((kernels, stream)) = on_gpu("speed") else { return };
    rows(&kernels, &stream);
    matrices(&kernels, &stream);
}

fn rows(kernels: &tilewright_driver::Kernels, stream: &Stream) {
    const N: usize = 1 << 26;
    let (x, mut y) = (stream.alloc_zeroed::<f32>(N).unwrap(), stream.alloc_zeroed::<f32>(N).unwrap());
    let twin = |text, entry, blocks, shared_bytes| Twin { text, entry, blocks, threads: 256, shared_bytes };

    let parameters = block(&[N], &[bytes_of(&1.0_f32), &address(&y)]);
    let fill = twin(twin!("fill"), "fill_f32", fill::blocks::<4>(N as i64), 0);
    compare(stream, &fill, &parameters, &mut || kernels.fill_f32.launch(stream, 1.0, &mut y));

    let parameters = block(&[N], &[bytes_of(&0.5_f32), &address(&x), &address(&y)]);
    let saxpy = twin(twin!("saxpy"), "saxpy", saxpy::blocks(N as i64), 0);
    compare(stream, &saxpy, &parameters, &mut || kernels.saxpy.launch(stream, 0.5, &x, &mut y));

    let shares = sum::partials(N as i64);
    let mut sums = stream.alloc::<f32>(shares as usize).unwrap();
    let parameters = block(&[N, shares as usize], &[&address(&x), &address(&sums)]);
    let sum = twin(twin!("sum"), "sum_f32", shares, sum::shared_bytes(4));
    compare(stream, &sum, &parameters, &mut || kernels.sum_f32.launch(stream, &x, &mut sums));
}

fn matrices(kernels: &tilewright_driver::Kernels, stream: &Stream) {
    const N: usize = 4096;
    let (a, b) = (stream.alloc_zeroed::<f32>(N * N).unwrap(), stream.alloc_zeroed::<f32>(N * N).unwrap());
    let mut c = stream.alloc_zeroed::<f32>(N * N).unwrap();
    let (n, side) = (N as i64, N as i32);

    let parameters = block(&[N, N], &[&address(&a), &address(&c)]);
    let turn = Twin {
        text: twin!("transpose"),
        entry: "transpose_f32",
        blocks: transpose::blocks(n, n),
        threads: transpose::THREADS,
        shared_bytes: transpose::shared_bytes(4),
    };
    compare(stream, &turn, &parameters, &mut || kernels.transpose_f32.launch(stream, Y(side) + X(side), &a, &mut c));

    let sizes = I(side) + J(side) + K(side);
    let parameters = block(&[N; 3], &[&address(&a), &address(&b), &address(&c)]);
    let twin = Twin {
        text: twin!("product"),
        entry: "product",
        blocks: product::blocks(n, n, n),
        threads: product::THREADS,
        shared_bytes: product::SHARED_BYTES,
    };
    compare(stream, &twin, &parameters, &mut || kernels.product.launch(stream, sizes, &a, &b, &mut c));

    let (a, b) = (stream.alloc_zeroed::<u16>(N * N).unwrap(), stream.alloc_zeroed::<u16>(N * N).unwrap());
    let parameters = block(&[N; 3], &[&address(&a), &address(&b), &address(&c)]);
    let twin = Twin {
        text: twin!("product_bf16"),
        entry: "product_bf16",
        blocks: product_bf16::blocks(n, n, n),
        threads: product_bf16::THREADS,
        shared_bytes: product_bf16::SHARED_BYTES,
    };
    compare(stream, &twin, &parameters, &mut || kernels.product_bf16.launch(stream, sizes, &a, &b, &mut c));
}
