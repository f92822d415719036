//! Reductions along all that is large: bands of them first, and then the rest.

use super::*;
use crate::budget::{Budget, Memory};
use crate::dispatch::Rates;
use crate::stream::expression::evaluate_on_host;
use crate::stream::expression::evaluation::On;
use crate::stream::expression::passes::Under;
use crate::stream::matmul::Traffic;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

const SHAPE: [usize; 2] = [301, 40];

fn numbers() -> Vec<f32> {
    Random(7).of(SHAPE[0] * SHAPE[1], Random::unit)
}

fn tensor(values: &[f32]) -> Tensor<f32, (Y, X)> {
    Tensor::from_vec(SHAPE, values.to_vec()).unwrap()
}

/// Computes an evaluation of a sink of its own, in bands of the budget's, on the CPU; and its bands on a device that is late, and what is left on the CPU.
pub(super) fn in_bands_of<T: Stored + Copy>(
    budget: u64,
    shape: [usize; 2],
    poison: T,
    check: impl Fn(&[T], &str),
    evaluation: impl Fn(&dyn Sink, &mut dyn FnMut(&Evaluation<'_>)),
) {
    for (order, band) in [(None, 0), (Some(ORDERS[0]), 17), (Some(ORDERS[1]), 17), (Some(ORDERS[2]), 1)] {
        let mut result = Array2::from_elem(shape, poison);
        let sink = MemorySink::new(result.view_mut());
        let memory = Budget::new(Memory::Host, budget);
        evaluation(&sink, &mut |of| {
            let plan = of.plan(budget).unwrap();
            assert!(plan.count() > 3, "{plan:?}");
            let Some(order) = order else {
                evaluate_on_host(&memory, of, Control::default()).unwrap();
                assert!(memory.used() == 0 && (1..=budget).contains(&memory.peak()));
                return;
            };
            let (steps, _) = of.planned_steps(On::HOST, budget).unwrap().unwrap();
            // So many bands of one index take long.
            let plan = in_bands(plan, if plan.extent > 2000 { band.max(5) } else { band });
            // Bands of this length are more than the budget has room for.
            let host = Budget::new(Memory::Host, 16 << 20);
            let under = Under { on: On::HOST, plan: &plan, host: &host, control: Control::default() };
            let mut bands = |bands: &Evaluation<'_>, plan: &ExpressionPlan, control: Control<'_>| {
                on_late(&Device::new(order), bands, plan, STAGING, control).map(|()| Traffic::default())
            };
            let mut whole = |rest: &Evaluation<'_>, control: Control<'_>| evaluate_on_host(&host, rest, control);
            steps.run((under, &of.made), &mut bands, &mut whole).unwrap();
        });
        Box::new(sink).commit().unwrap();
        check(result.as_slice().unwrap(), &format!("{order:?}, bands of {band}, in {budget}"));
    }
}

/// Sums, products and means of floats are those of the whole up to rounding; the least and the largest are the same.
#[test]
fn reductions_of_everything() {
    let values = numbers();
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let count = wide.len() as f64;
    let (sum, product) = (wide.iter().sum::<f64>(), wide.iter().map(|x| 1.0 + 1e-3 * x).product::<f64>());
    let mean = sum / count;
    let variance = wide.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
    let (low, high) = wide.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    // Factors are rounded, a product is off by some of that.
    macro_rules! each { ($($name:ident: $expected:expr, $of:expr, |$x:ident| $body:expr);* $(;)?) => { $({
        let expression = fuse(|$x: In<f32, (Y, X)>| $body.store::<()>());
        let check = |got: &[f32], what: &str| {
            assert!((f64::from(got[0]) - $expected).abs() <= 1e-6 * $of, "{} {what}: {got:?} {}", stringify!($name), $expected);
        };
        for budget in [16 << 10, 30 << 10] {
            in_bands_of(budget, [1, 1], f32::NAN, check, |sink, run| run(&Evaluation::new(&expression, (&x,), &[sink]).unwrap()));
        }
    })* } }
    each! {
        sum: sum, count, |x| x.sum::<(Y, X)>();
        product: product, 10.0 * product.abs(), |x| (x * 1e-3 + 1.0).product::<(Y, X)>();
        mean: mean, 1.0, |x| x.mean::<(Y, X)>();
        least: low, 0.0, |x| x.minimum::<(Y, X)>();
        largest: high, 0.0, |x| x.maximum::<(Y, X)>();
        // One after the other: what the second sum needs is known when all of the first is.
        variance: variance, 1.0, |x| { let off = x - x.mean::<(Y, X)>(); (off * off).mean::<(Y, X)>() };
        // What a band begins at is known.
        weighted: wide.iter().enumerate().map(|(i, x)| x * (i / 40) as f64).sum::<f64>(), 300.0 * count,
            |x| (x * coordinate::<Y>().to::<f32>()).sum::<(Y, X)>();
    }
}

#[test]
fn columns_integers_and_what_is_no_number() {
    let mut values = numbers();
    let expected = {
        let sums = fuse(|x: In<f32, (Y, X)>| x.maximum::<Y>().store::<(X,)>());
        sums.call(&tensor(&values)).unwrap().to_vec().unwrap()
    };
    {
        let source = MemorySource::new(matrix(&values, SHAPE));
        let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
        let by_columns = fuse(|x: In<f32, (Y, X)>| x.maximum::<Y>().store::<(X,)>());
        let mut result = Array2::from_elem([1, 40], f32::NAN);
        let sink = MemorySink::new(result.view_mut());
        let of = Evaluation::new(&by_columns, (&x,), &[&sink]).unwrap();
        assert_eq!(of.dimension(), Some("X"), "what can be cut is not folded");
        evaluate_on_host(&Budget::new(Memory::Host, 16 << 10), &of, Control::default()).unwrap();
        drop(of);
        Box::new(sink).commit().unwrap();
        assert_eq!(result.as_slice().unwrap(), expected);
        let place = fuse(|x: In<f32, (Y, X)>| x.maximum::<X>().argmax::<Y>().store::<()>());
        let rows: Vec<f32> = values.chunks_exact(40).map(|row| row.iter().copied().fold(f32::MIN, f32::max)).collect();
        let best = (0..rows.len()).fold(0, |best, i| if rows[i] > rows[best] { i } else { best }) as i64;
        let check = |got: &[i64], what: &str| assert_eq!(got, [best], "{what}");
        in_bands_of(16 << 10, [1, 1], -1, check, |sink, run| run(&Evaluation::new(&place, (&x,), &[sink]).unwrap()));
    }
    let whole: Vec<i32> = values.iter().map(|x| (x * 1e6) as i32).collect();
    let source = MemorySource::new(matrix(&whole, SHAPE));
    let n = Array::<i32, (Y, X)>::new(&source, SHAPE).unwrap();
    let total = fuse(|n: In<i32, (Y, X)>| n.sum::<(Y, X)>().store::<()>());
    let exact: i64 = whole.iter().map(|n| i64::from(*n)).sum();
    let check = |got: &[i64], what: &str| assert_eq!(got, [exact], "{what}");
    in_bands_of(16 << 10, [1, 1], -1i64, check, |sink, run| run(&Evaluation::new(&total, (&n,), &[sink]).unwrap()));
    // NaN in one band is NaN in all.
    values[7000] = f32::NAN;
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    for is_min in [false, true] {
        let least = fuse(|x: In<f32, (Y, X)>| x.minimum::<(Y, X)>().store::<()>());
        let largest = fuse(|x: In<f32, (Y, X)>| x.maximum::<(Y, X)>().store::<()>());
        let of = if is_min { &least } else { &largest };
        let check = |got: &[f32], what: &str| assert!(got[0].is_nan(), "{what}");
        in_bands_of(16 << 10, [1, 1], 0.0f32, check, |sink, run| run(&Evaluation::new(of, (&x,), &[sink]).unwrap()));
    }
}

/// What is left may need the operand once more, in bands too.
#[test]
fn an_operand_divided_by_its_sum() {
    let values: Vec<f32> = numbers().iter().map(|x| x.abs() + 0.5).collect();
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let shares = fuse(|x: In<f32, (Y, X)>| (x / x.sum::<(Y, X)>()).store::<(Y, X)>());
    let expected = shares.call(&tensor(&values)).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| {
        let off = got.iter().zip(&expected).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f32::max);
        assert!(off < 1e-6, "{what}: {off}");
    };
    in_bands_of(24 << 10, SHAPE, f32::NAN, check, |sink, run| run(&Evaluation::new(&shares, (&x,), &[sink]).unwrap()));
    // What fits is one band, as before, and has the bits of the whole.
    let mut result = Array2::from_elem(SHAPE, f32::NAN);
    let sink = MemorySink::new(result.view_mut());
    let of = Evaluation::new(&shares, (&x,), &[&sink]).unwrap();
    assert_eq!(of.plan(1 << 20).unwrap().count(), 1);
    evaluate_on_host(&Budget::new(Memory::Host, 1 << 20), &of, Control::default()).unwrap();
    drop(of);
    Box::new(sink).commit().unwrap();
    Bits::assert_same(result.as_slice().unwrap(), &expected, "one band");
}

/// 64 GB have a sum, whose bands are as long as those of other expressions.
#[test]
fn a_sum_of_64_gb_is_planned_in_bands() {
    let vast = cut::Vast(Extents::new(1 << 20, 1 << 14));
    let x = Array::<f32, (Y, X)>::new(&vast, [1 << 20, 1 << 14]).unwrap();
    let sum = fuse(|x: In<f32, (Y, X)>| x.sum::<(Y, X)>().store::<()>());
    let mut result = Array2::from_elem([1, 1], f32::NAN);
    let sink = MemorySink::new(result.view_mut());
    let of = Evaluation::new(&sum, (&x,), &[&sink]).unwrap();
    let plan = of.plan(8 << 30).unwrap();
    assert_eq!((plan.dimension, plan.count(), plan.bytes_out, plan.bytes_folded), (Some("Y"), 256, 0, 4));
    assert_eq!((plan.bytes_to_gpu(), plan.bytes_to_host()), ((1 << 36) + 4 * 256, 4 * 256 + 4));
    assert_eq!((plan.others.bands, plan.others.to_gpu), (1, 4 * 256), "the sums of bands are summed");
    let time = plan.time(&Rates::h200().gpu.unwrap());
    assert!(time.wall < 1.05 * time.to_gpu, "{time:?}");
    // Beside short bands there is what many of them come to.
    assert!(of.plan(1 << 21).is_ok() && of.plan(1 << 18).is_err() && of.plan(100).is_err());
    // Where a border repeats what is scanned there is no band.
    let refused = fuse(|x: In<f32, (Y, X)>| {
        x.cumsum::<Y>().cumsum::<X>().box_filter::<Y, X>(3, 3, Border::Wrap).maximum::<(Y, X)>().store::<()>()
    });
    let of = Evaluation::new(&refused, (&x,), &[&sink]).unwrap();
    assert!(matches!(of.plan(8 << 30), Err(Error::Uncut { .. } | Error::Budget { .. })), "{:?}", of.plan(8 << 30));
}

/// What stands beside a band is read with it, and reduced with its own.
#[test]
fn stencils_are_reduced_in_bands_with_margins() {
    let mut values = numbers();
    let x_of = |values: &[f32], rows: i64, column: usize, border: Border<f32>| {
        let n = SHAPE[0] as i64;
        let row = match border {
            _ if (0..n).contains(&rows) => rows,
            Border::Constant(value) => return f64::from(value),
            Border::Replicate => rows.clamp(0, n - 1),
            Border::Reflect => {
                if rows < 0 {
                    -1 - rows
                } else {
                    2 * n - 1 - rows
                }
            }
            Border::Reflect101 => {
                if rows < 0 {
                    -rows
                } else {
                    2 * n - 2 - rows
                }
            }
            Border::Wrap => rows.rem_euclid(n),
        };
        f64::from(values[row as usize * SHAPE[1] + column])
    };
    for border in [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Constant(0.25f32), Border::Wrap] {
        let low = |values: &[f32]| -> Vec<f64> {
            let at = |i: usize, k: i64| x_of(values, (i / SHAPE[1]) as i64 + k, i % SHAPE[1], border);
            (0..values.len()).map(|i| (-2..=2).map(|k| at(i, k)).sum::<f64>() / 5.0).collect()
        };
        let (source, expected) = (values.clone(), low(&values));
        let source = MemorySource::new(matrix(&source, SHAPE));
        let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
        let energy = fuse(|x: In<f32, (Y, X)>| {
            let low = x.box_filter::<Y, X>(5, 1, border);
            (low * low).sum::<(Y, X)>().store::<()>()
        });
        let largest = fuse(|x: In<f32, (Y, X)>| x.box_filter::<Y, X>(5, 1, border).maximum::<(Y, X)>().store::<()>());
        let weighted = fuse(|x: In<f32, (Y, X)>| {
            (x.box_filter::<Y, X>(5, 1, border) * coordinate::<Y>().to::<f32>()).mean::<(Y, X)>().store::<()>()
        });
        let count = values.len() as f64;
        let of_energy: f64 = expected.iter().map(|x| x * x).sum();
        let of_largest = expected.iter().copied().fold(f64::MIN, f64::max);
        let of_weighted = expected.iter().enumerate().map(|(i, x)| x * (i / SHAPE[1]) as f64).sum::<f64>() / count;
        for (name, expression, value, scale) in [
            ("energy", &energy, of_energy, of_energy),
            ("largest", &largest, of_largest, 1.0),
            ("weighted", &weighted, of_weighted, 300.0),
        ] {
            let check = |got: &[f32], what: &str| {
                assert!((f64::from(got[0]) - value).abs() <= 1e-6 * scale, "{name} {border:?} {what}: {got:?} {value}");
            };
            in_bands_of(24 << 10, [1, 1], f32::NAN, check, |sink, run| {
                run(&Evaluation::new(expression, (&x,), &[sink]).unwrap());
            });
        }
        values.rotate_left(3);
    }
}

/// More reductions than one launch has results are made in passes; lengths that only one of two operands of a sum tells are no matter.
#[test]
fn many_reductions_and_operands_that_are_not_reduced() {
    let values = numbers();
    let others: Vec<f32> = Random(8).of(SHAPE[0], Random::unit);
    let (source, other) =
        (MemorySource::new(matrix(&values, SHAPE)), MemorySource::new(matrix(&others, [SHAPE[0], 1])));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let y = Array::<f32, (Y,)>::new(&other, [SHAPE[0]]).unwrap();
    let six = fuse(|x: In<f32, (Y, X)>| {
        let sums = x.sum::<(Y, X)>() + x.abs().sum::<(Y, X)>() + (x * x).sum::<(Y, X)>();
        let ends = x.minimum::<(Y, X)>() * 3.0 + x.maximum::<(Y, X)>() + x.abs().minimum::<(Y, X)>();
        (sums + ends).store::<()>()
    });
    let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let sums: f64 = wide.iter().map(|x| x + x.abs() + x * x).sum();
    let ends = |value: &dyn Fn(f64) -> f64| {
        wide.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(value(*x)), high.max(value(*x))))
    };
    let expected = sums + ends(&|x| x).0 * 3.0 + ends(&|x| x).1 + ends(&f64::abs).0;
    let check = |got: &[f32], what: &str| {
        assert!((f64::from(got[0]) / expected - 1.0).abs() < 1e-6, "{what}: {got:?} {expected}");
    };
    in_bands_of(16 << 10, [1, 1], f32::NAN, check, |sink, run| run(&Evaluation::new(&six, (&x,), &[sink]).unwrap()));
    let shifted = fuse(|x: In<f32, (Y, X)>, y: In<f32, (Y,)>| (x / x.abs().sum::<(Y, X)>() + y).store::<(Y, X)>());
    let total: f64 = wide.iter().map(|x| x.abs()).sum();
    let check = |got: &[f32], what: &str| {
        for (i, got) in got.iter().enumerate() {
            let expected = wide[i] / total + f64::from(others[i / SHAPE[1]]);
            assert!((f64::from(*got) - expected).abs() < 1e-6, "{what}: {i}: {got} {expected}");
        }
    };
    in_bands_of(24 << 10, SHAPE, f32::NAN, check, |sink, run| {
        run(&Evaluation::new(&shifted, (&x, &y), &[sink]).unwrap());
    });
}

/// What is left scans the operand, or has a stencil on it, and is cut; what cannot be cut is refused, not folded again.
#[test]
fn what_is_left_scans_or_has_stencils() {
    let values = numbers();
    let others: Vec<f32> = Random(9).of(31, Random::unit);
    let shape = [values.len(), 1];
    let (line, picture) = (MemorySource::new(matrix(&values, shape)), MemorySource::new(matrix(&values, SHAPE)));
    let small = MemorySource::new(matrix(&others, [31, 1]));
    let x = Array::<f32, (Y,)>::new(&line, [values.len()]).unwrap();
    let w = Array::<f32, (K,)>::new(&small, [31]).unwrap();
    let prefix: Vec<f64> = {
        let add = |sum: &mut f64, x: &f32| {
            *sum += f64::from(*x);
            Some(*sum)
        };
        values.iter().scan(0.0, add).collect()
    };
    let total: f64 = values.iter().map(|x| f64::from(x.abs())).sum();
    let factor: f64 = others.iter().map(|x| f64::from(*x)).sum();
    let most = prefix.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    let near = |expected: Vec<f64>, error: f64| {
        move |got: &[f32], what: &str| {
            for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
                assert!((f64::from(*got) - expected).abs() <= error, "{what}: {i}: {got} {expected}");
            }
        }
    };
    let shares = fuse(|x: In<f32, (Y,)>| (x.cumsum::<Y>() / x.abs().sum::<Y>()).store::<(Y,)>());
    let expected = prefix.iter().map(|sum| sum / total).collect();
    in_bands_of(16 << 10, shape, f32::NAN, near(expected, 3e-6 * most / total), |sink, run| {
        run(&Evaluation::new(&shares, (&x,), &[sink]).unwrap());
    });
    let scaled = fuse(|x: In<f32, (Y,)>, w: In<f32, (K,)>| (x.cumsum::<Y>() * w.sum::<K>()).store::<(Y,)>());
    let expected = prefix.iter().map(|sum| sum * factor).collect();
    in_bands_of(16 << 10, shape, f32::NAN, near(expected, 3e-6 * most * factor.abs().max(1.0)), |sink, run| {
        run(&Evaluation::new(&scaled, (&x, &w), &[sink]).unwrap());
    });
    let y = Array::<f32, (Y, X)>::new(&picture, SHAPE).unwrap();
    let soft = fuse(|x: In<f32, (Y, X)>| {
        (x.box_filter::<Y, X>(3, 3, Border::Reflect) / x.abs().sum::<(Y, X)>()).store::<(Y, X)>()
    });
    let expected: Vec<f64> =
        soft.call(&tensor(&values)).unwrap().to_vec().unwrap().iter().map(|x| f64::from(*x)).collect();
    in_bands_of(24 << 10, SHAPE, f32::NAN, near(expected, 1e-6 * 2.0 / total), |sink, run| {
        run(&Evaluation::new(&soft, (&y,), &[sink]).unwrap());
    });
    let backwards = fuse(|x: In<f32, (Y,)>| (x.reverse::<Y>() * x.sum::<Y>()).store::<(Y,)>());
    let sum = prefix[values.len() - 1];
    let expected = values.iter().rev().map(|x| f64::from(*x) * sum).collect();
    in_bands_of(16 << 10, shape, f32::NAN, near(expected, 1e-6 * most), |sink, run| {
        run(&Evaluation::new(&backwards, (&x,), &[sink]).unwrap());
    });
}

/// A pass brings what it reads: the other operand does not fit.
#[test]
fn sums_of_operands_that_have_no_dimension_in_common_that_is_cut() {
    let values = numbers();
    let (one, other) =
        (MemorySource::new(matrix(&values, SHAPE)), MemorySource::new(matrix(&values[..12000], [300, 40])));
    let x = Array::<f32, (Y, X)>::new(&one, SHAPE).unwrap();
    let z = Array::<f32, (K, X)>::new(&other, [300, 40]).unwrap();
    let both = fuse(|x: In<f32, (Y, X)>, z: In<f32, (K, X)>| (x.sum::<(Y, X)>() + z.sum::<(K, X)>()).store::<()>());
    let sum = |values: &[f32]| values.iter().map(|x| f64::from(*x)).sum::<f64>();
    let expected = sum(&values) + sum(&values[..12000]);
    let check = |got: &[f32], what: &str| {
        assert!((f64::from(got[0]) - expected).abs() < 1e-2, "{what}: {got:?} {expected}");
    };
    in_bands_of(16 << 10, [1, 1], f32::NAN, check, |sink, run| {
        let of = Evaluation::new(&both, (&x, &z), &[sink]).unwrap();
        assert_eq!(of.plan(16 << 10).unwrap().bytes_once, 0);
        run(&of);
    });
}
