//! Matrix products, in f32 and of bf16 on tensor cores.

use super::{assert_same, kernel, on_gpu, twin};
use crate::numbers::{BF16, Random};
use crate::runner::{everywhere, read, value, written};
use tilewright_driver::kernels::dims::{I, J, K};
use tilewright_gpu_kernels::body::{product, product_bf16};
use tilewright_gpu_kernels::simulated;

/// Rows, columns, terms: one, whole tiles, one more and one less, a sum over nothing.
const SIZES: [(usize, usize, usize); 6] = [(1, 1, 1), (64, 64, 32), (65, 63, 17), (3, 130, 40), (70, 5, 31), (5, 7, 0)];

/// Each sum from the first term to the last, with fused multiply-adds: the same bits.
#[test]
fn products_add_in_order() {
    let text = twin!("product");
    for (i, j, k) in SIZES {
        let mut random = Random((i * j + k) as u64);
        let (a, b) = (random.many(i * k, Random::unit), random.many(k * j, Random::unit));
        let element = |at: usize| (0..k).fold(0.0_f32, |sum, n| a[at / j * k + n].mul_add(b[n * j + at % j], sum));
        let expected: Vec<f32> = (0..i * j).map(element).collect();

        let mut c = vec![f32::NAN; i * j];
        simulated::product(i as i64, j as i64, k as i64, &a, &b, &mut c);
        assert_same(&c, &expected, &format!("simulated, {i} x {j} x {k}"));

        let blocks = product::blocks(i as i64, j as i64, k as i64);
        let args = [value(i as i64), value(j as i64), value(k as i64), read(&a), read(&b), written::<f32>(i * j)];
        let twin = kernel(&text, "product", blocks, product::THREADS, product::SHARED_BYTES);
        everywhere(&twin, &args, |outputs, place| {
            assert_same(&outputs.get::<f32>(0), &expected, &format!("{place}, {i} x {j} x {k}"));
        });
        if let Some((kernels, stream)) = on_gpu("product") {
            let (a, b) = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
            let mut c = stream.upload(&vec![f32::NAN; i * j]).unwrap();
            let sizes = K(k as i32) + I(i as i32) + J(j as i32);
            kernels.product.launch(&stream, sizes, &a, &b, &mut c).unwrap();
            assert_same(&c.to_vec().unwrap(), &expected, &format!("GPU, {i} x {j} x {k}"));
        }
    }
}

/// Small integers are exact; of other numbers each addition may lose a unit in the last place of the sum of all sizes.
#[test]
fn products_of_bf16() {
    let text = twin!("product_bf16");
    for (i, j, k) in SIZES {
        for draw in [Random::small as fn(&mut Random) -> f32, Random::unit] {
            let mut random = Random((i + j * k) as u64);
            let mut bits = |count| random.many(count, draw).into_iter().map(|v| BF16.bits(v)).collect::<Vec<u16>>();
            let (a, b) = (bits(i * k), bits(j * k));
            let values = |bits: &[u16]| bits.iter().map(|v| BF16.value(*v)).collect::<Vec<f64>>();
            let (left, right) = (values(&a), values(&b));
            let whole = left.iter().chain(&right).all(|v| v.fract() == 0.0);
            let check = |c: &[f32], place: &str| {
                assert_eq!(c.len(), i * j);
                for (at, got) in c.iter().enumerate() {
                    let terms = || (0..k).map(|n| left[at / j * k + n] * right[at % j * k + n]);
                    let (sum, sizes) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                    let allowed = if whole { 0.0 } else { (k + 17) as f64 * sizes * 2f64.powi(-23) };
                    let off = (f64::from(*got) - sum).abs();
                    assert!(off <= allowed, "{place}, {i} x {j} x {k}, {at}: {got}, expected {sum}");
                }
            };

            let mut c = vec![f32::NAN; i * j];
            simulated::product_bf16(i as i64, j as i64, k as i64, &a, &b, &mut c);
            check(&c, "simulated");
            let blocks = product_bf16::blocks(i as i64, j as i64, k as i64);
            let args = [value(i as i64), value(j as i64), value(k as i64), read(&a), read(&b), written::<f32>(i * j)];
            let twin = kernel(&text, "product_bf16", blocks, product_bf16::THREADS, product_bf16::SHARED_BYTES);
            everywhere(&twin, &args, |outputs, place| check(&outputs.get::<f32>(0), place));
            if let Some((kernels, stream)) = on_gpu("product_bf16") {
                let (a, b) = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
                let mut c = stream.upload(&vec![f32::NAN; i * j]).unwrap();
                let sizes = I(i as i32) + J(j as i32) + K(k as i32);
                kernels.product_bf16.launch(&stream, sizes, &a, &b, &mut c).unwrap();
                check(&c.to_vec().unwrap(), "GPU");
            }
        }
    }
}
