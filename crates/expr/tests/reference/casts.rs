//! Saturating casts between all types.

use super::{X, check};
use crate::naive::{Number, cast, round_to_half};
use crate::random::Rng;
use crate::tensor::{Tensor, evaluate_every_way};
use ndarray::Array1;
use tilewright_dims::Dims;
use tilewright_expr::{DType, Element, In, Value, bf16, f16, trace};

/// Values at which something happens in some cast: ends of ranges, halves, one step to either side, NaN, infinities.
pub(crate) fn edges(dtype: DType) -> Vec<u64> {
    let mut rng = Rng::new(dtype.size() as u64);
    let mut bits: Vec<u64> = (0..300).map(|_| rng.bits(dtype)).collect();
    let ends = (0..65).map(|k| 2f64.powi(k)).flat_map(|v| [v, -v]);
    let near = ends.flat_map(|v| [v, v - 1.0, v + 1.0, v - 0.5, v + 0.5, v - 1.5, v + 1.5]);
    let all = near.chain([
        0.0,
        -0.0,
        0.5,
        -0.5,
        0.49999997,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-300,
        3.5e38,
        1e300,
    ]);
    for v in all {
        match dtype {
            DType::F16 | DType::BF16 => {
                let b = round_to_half(dtype, v).bits(dtype);
                bits.extend([b, (b + 1) & 0xffff, b.wrapping_sub(1) & 0xffff]);
            }
            DType::F32 => {
                let b = (v as f32).to_bits();
                bits.extend([b, b.wrapping_add(1), b.wrapping_sub(1)].map(u64::from));
            }
            DType::F64 => bits.extend([v.to_bits(), v.to_bits().wrapping_add(1), v.to_bits().wrapping_sub(1)]),
            DType::Bool => bits.extend([0, 1]),
            // As an integer of the type, wherever it falls.
            _ => bits.push((v as i128 as u64) & (u64::MAX >> (64 - 8 * dtype.size()))),
        }
    }
    bits
}

fn pair<T: Value + Element, U: Value + Element>() {
    let (from, to) = (<T as Value>::DTYPE, <U as Value>::DTYPE);
    let bits = edges(from);
    let n = bits.len();
    let a = Tensor { dtype: from, components: 1, dims: <(X,)>::IDS.to_vec(), shape: vec![n as i64], bits };
    let t = trace(|a: In<T, (X,)>| a.to::<U>().store::<(X,)>());
    let expected = a.bits.iter().map(|v| U::from_bits64(cast(Number::of(from, *v), to).bits(to)));
    check(&t.graph, &[&a], &Array1::from_iter(expected).into_dyn());
}

#[test]
fn between_all_types() {
    macro_rules! pairs {
        ([$($t:ty),*] $all:tt) => { $(pairs!(@row $t $all);)* };
        (@row $t:ty [$($u:ty),*]) => { $(pair::<$t, $u>();)* };
    }
    pairs!([bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64]
        [bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64]);
}

/// The rule, spelled out.
#[test]
fn by_hand() {
    let values = [2.5f32, 3.5, -0.5, -1.5, 254.5, 255.5, 300.0, -3.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e20];
    let a = Tensor::of(<(X,)>::IDS, &Array1::from(values.to_vec()).into_dyn());
    let t = trace(|a: In<f32, (X,)>| {
        (
            a.to::<u8>().store::<(X,)>(),
            a.to::<i32>().store::<(X,)>(),
            a.to::<i64>().store::<(X,)>(),
            a.to::<bool>().store::<(X,)>(),
        )
    });
    let results = evaluate_every_way(&t.graph, &[&a]);
    let i64s = [2, 4, 0, -2, 254, 256, 300, -3, 0, i64::MAX, i64::MIN, i64::MAX];
    let i32s = i64s.map(|v| v.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
    super::same(&results[0], &Array1::from(vec![2u8, 4, 0, 0, 254, 255, 255, 0, 0, 255, 0, 255]).into_dyn());
    super::same(&results[1], &Array1::from(i32s.to_vec()).into_dyn());
    super::same(&results[2], &Array1::from(i64s.to_vec()).into_dyn());
    super::same(&results[3], &Array1::from(vec![true; 12]).into_dyn());
    let values = [u64::MAX, 1 << 63, 127, 128, 0];
    let a = Tensor::of(<(X,)>::IDS, &Array1::from(values.to_vec()).into_dyn());
    let t = trace(|a: In<u64, (X,)>| (a.to::<i8>().store::<(X,)>(), a.to::<i64>().store::<(X,)>()));
    let results = evaluate_every_way(&t.graph, &[&a]);
    super::same(&results[0], &Array1::from(vec![127i8, 127, 127, 127, 0]).into_dyn());
    super::same(&results[1], &Array1::from(vec![i64::MAX, i64::MAX, 127, 128, 0]).into_dyn());
}
