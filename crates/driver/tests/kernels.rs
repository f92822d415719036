//! Kernels in Rust: launchers with a driver that computes, what they refuse, and whether the PTX takes what they give.

use tilewright_driver::kernels::dims::{C, I, J, K, N, X, Y};
use tilewright_driver::kernels::{Misfit, Over, Parameter, Signature};
use tilewright_driver::{Device, DeviceBuffer, Error, Kernels, Stream};
use tilewright_gpu_kernels::image_for;

use crate::{child, skip, stub};

#[test]
fn launchers() {
    let folder = tempfile::tempdir().unwrap();
    let Some(driver) = stub::computing(folder.path()) else { return skip("kernels::launchers", "no C compiler") };
    child::check(&child::command("kernels").env("TILEWRIGHT_LIBCUDA", driver).output().unwrap());
}

pub(crate) fn child_kernels() {
    let device = Device::new(0).unwrap();
    let (kernels, stream) = (Kernels::load(device).unwrap(), device.stream().unwrap());
    rows(&kernels, &stream);
    products(&kernels, &stream);
    refused(&kernels, &stream);
}

fn rows(kernels: &Kernels, stream: &Stream) {
    let x: Vec<f32> = (0..5000).map(|i| i as f32).collect();
    let (x, mut y) = (stream.upload(&x).unwrap(), stream.upload(&vec![1.0_f32; 5000]).unwrap());
    kernels.saxpy.launch(stream, 2.0, &x, &mut y).unwrap();
    assert!(y.to_vec().unwrap().iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32 + 1.0));
    // Memory of another stream.
    let other = stream.device().stream().unwrap();
    kernels.saxpy.launch(&other, -2.0, &x, &mut y).unwrap();
    assert!(y.to_vec().unwrap().iter().all(|y| *y == 1.0));

    // Nothing to do is not launched: the driver refuses a grid of no blocks.
    let (none, mut nothing) = (stream.alloc(0).unwrap(), stream.alloc(0).unwrap());
    kernels.saxpy.launch(stream, 2.0, &none, &mut nothing).unwrap();
    // The sum of nothing is 0, by a launch.
    assert_eq!(kernels.sum_f32.total(stream, &none).unwrap().to_vec().unwrap(), [0.0]);
    let ones = stream.upload(&vec![1.0_f32; 100_000]).unwrap();
    assert_eq!(kernels.sum_f32.total(stream, &ones).unwrap().to_vec().unwrap(), [100_000.0]);
}

fn products(kernels: &Kernels, stream: &Stream) {
    let a: Vec<f32> = (0..6).map(|i| i as f32).collect();
    let (a, b) = (stream.upload(&a).unwrap(), stream.upload(&[1.0_f32, 10.0, 100.0]).unwrap());
    let mut c = stream.upload(&[f32::NAN; 2]).unwrap();
    for sizes in [I(2) + J(1) + K(3), K(3) + J(1) + I(2)] {
        kernels.product.launch(stream, sizes, &a, &b, &mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), [210.0, 543.0]);
    }
    let nothing = stream.alloc(0).unwrap();
    kernels.product.launch(stream, I(2) + J(1) + K(0), &nothing, &nothing, &mut c).unwrap();
    assert_eq!(c.to_vec().unwrap(), [0.0; 2], "a sum over nothing is written");
}

fn refused(kernels: &Kernels, stream: &Stream) {
    let of = |len: usize| -> DeviceBuffer<f32> { stream.upload(&vec![0.0; len]).unwrap() };
    let says = |error: Error, parts: &[&str]| {
        let text = error.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    let error = kernels.saxpy.launch(stream, 1.0, &of(7), &mut of(8)).unwrap_err();
    assert!(
        matches!(&error, Error::Operand { parameter: "x", misfit, .. } if matches!(**misfit, Misfit::Length { expected: 8, got: 7, .. }))
    );
    says(error, &["`saxpy`, parameter `x`: over [I: 8] it has 8 elements, got 7", "other sizes"]);

    let error = kernels.product.launch(stream, I(2) + J(1) + K(3), &of(6), &of(4), &mut of(2)).unwrap_err();
    says(error, &["`product`, parameter `b`: over [K: 3, J: 1] it has 3 elements, got 4"]);
    let error = kernels.product.launch(stream, I(2) + J(1) + K(3), &of(6), &of(3), &mut of(1)).unwrap_err();
    says(error, &["parameter `c`: over [I: 2, J: 1] it has 2 elements, got 1"]);
    let error = kernels.product.launch(stream, I(-2) + J(1) + K(3), &of(6), &of(3), &mut of(2)).unwrap_err();
    says(error, &["`product`: `I` is -2, it must lie in 0..=2147483647"]);
    // Two sizes below 0 make a length above it, and two large ones one that no 64 bits hold.
    let error = kernels.transpose_f32.launch(stream, Y(-2) + X(-3), &of(6), &mut of(6)).unwrap_err();
    says(error, &["`Y` is -2"]);
    let error = kernels.transpose_f32.launch(stream, Y(i32::MAX) + X(i32::MAX), &of(6), &mut of(6)).unwrap_err();
    says(error, &["parameter `from`: over [Y: 2147483647, X: 2147483647] it has 4611686014132420609 elements, got 6"]);
    // A row so long that places in a tile do not fit 32 bits.
    let sizes = Y(1) + X(1 << 26);
    let (long, mut turned) = (stream.alloc(1 << 26).unwrap(), stream.alloc(1 << 26).unwrap());
    let error = kernels.transpose_u8.launch(stream, sizes, &long, &mut turned).unwrap_err();
    says(error, &["`from`: over [Y: 1, X: 67108864] a tile of 32 rows spans 2147483648", "at most 67108863 elements"]);
    let error = kernels.map_gelu.launch(stream, N(2) + C(3), &of(6), &of(3), &of(2), &mut of(6)).unwrap_err();
    says(error, &["`map_gelu`, parameter `shift`: over [C: 3] it has 3 elements, got 2"]);
}

/// The types of an entry's parameters.
fn entry(ptx: &str, kernel: &str) -> Vec<String> {
    let from = ptx.find(&format!(".visible .entry {kernel}(")).unwrap_or_else(|| panic!("no entry {kernel}"));
    let (list, _) = ptx[from..].split_once('(').unwrap().1.split_once(')').unwrap();
    list.split(',').map(|parameter| parameter.split_whitespace().nth(1).unwrap().to_owned()).collect()
}

fn expected(parameter: &Parameter) -> &'static str {
    match (parameter.over, (parameter.element)().name) {
        (Over::Value, "u8") => ".u8",
        (Over::Value, "u32") => ".u32",
        (Over::Value, "f32") => ".f32",
        (Over::Value, "f64") => ".f64",
        (Over::Value, other) => panic!("what is {other} in PTX?"),
        _ => ".u64",
    }
}

/// The committed texts have the entries that the launchers expect, and no way to a panic.
#[test]
fn ptx_takes_what_launchers_give() {
    for (major, minor) in [(8, 0), (9, 0)] {
        let image = image_for(major, minor).unwrap();
        assert_eq!(image.arch, (major, minor));
        assert!(image.ptx.contains(&format!(".target sm_{major}{minor}")));
        for signature in Kernels::SIGNATURES {
            let sizes = signature.dims.iter().map(|_| ".u64");
            let types: Vec<&str> = sizes.chain(signature.parameters.iter().map(expected)).collect();
            assert_eq!(entry(image.ptx, signature.kernel), types, "{signature}, sm_{major}{minor}");
        }
        assert_eq!(image.ptx.matches(".visible .entry").count(), Kernels::SIGNATURES.len());
        // Ways to a panic, memory for what should be in registers, paths; what rounds more than once.
        for word in ["trap", "call", ".func", ".local", ".file", ".approx", ".ftz", "div.full"] {
            assert!(!image.ptx.contains(word), "`{word}` stands in the PTX for sm_{major}{minor}");
        }
    }
    assert!(image_for(7, 5).is_none());
    assert_eq!([image_for(8, 9), image_for(12, 0)].map(|image| image.unwrap().arch), [(8, 0), (9, 0)]);
}

#[test]
fn signatures_show_as_calls() {
    let shown = |kernel: &str| {
        let signature: Option<&Signature> = Kernels::SIGNATURES.iter().find(|s| s.kernel == kernel);
        signature.unwrap().to_string()
    };
    assert_eq!(shown("saxpy"), "saxpy(a: f32, x: &[f32] over [I], y: &mut [f32] over [I])");
    assert_eq!(shown("transpose_u16"), "transpose_u16(from: &[u16] over [Y, X], to: &mut [u16] over [X, Y])");
}
