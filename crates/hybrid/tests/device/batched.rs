//! Batches of products whose operands lie anywhere.

use half::f16;
use ndarray::{Array2, s};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Decision, Rates, Reason, last_decision, last_outcome};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::store::{MemorySink, MemorySource};
use tilewright_hybrid::{Class, Columns, Complex64, Device, Error, Operand, Rows, Side, Target};

use super::on_the_gpu::{ROOM, forced};
use super::{matrix, small};

const PRODUCTS: usize = 3;

fn several(rows: usize, columns: usize, seed: usize) -> Vec<Array2<f64>> {
    (0..PRODUCTS).map(|number| matrix(rows, columns, seed + number)).collect()
}

fn uploaded(gpu: &Gpu, all: &[Array2<f64>]) -> Vec<DeviceMat<f64>> {
    all.iter().map(|values| DeviceMat::upload(gpu, values.into()).unwrap()).collect()
}

fn stored(all: &[Array2<f64>]) -> Vec<MemorySource<'_, f64>> {
    all.iter().map(|values| MemorySource::new(values.view())).collect()
}

/// As operands from one of three places.
fn operands<'a>(
    place: usize,
    here: &'a [Array2<f64>],
    there: &'a [DeviceMat<f64>],
    stored: &'a [MemorySource<'a, f64>],
) -> Vec<Operand<'a, f64>> {
    match place {
        0 => here.iter().map(Operand::from).collect(),
        1 => there.iter().map(Operand::from).collect(),
        _ => stored.iter().map(Operand::from).collect(),
    }
}

/// Each factor and the result in memory, on the GPU and stored, on either processor.
#[test]
fn d4_batches_lie_anywhere() {
    let Some(gpu) = crate::gpu("device::batched::d4_batches_lie_anywhere") else { return };
    let (a, b, c) = (several(5, 4, 1), several(4, 3, 2), several(5, 3, 3));
    let [there_a, there_b] = [&a, &b].map(|all| uploaded(&gpu, all));
    let [of_a, of_b, of_c] = [&a, &b, &c].map(|all| stored(all));
    for (choice, side) in [(Choice::Cpu, Side::Cpu), (Choice::Gpu, Side::Gpu)] {
        let device = small(&gpu, ROOM).choosing(choice);
        for (places, beta) in (0..27).flat_map(|places| [(places, 0.0), (places, -2.0)]) {
            let left = operands(places % 3, &a, &there_a, &of_a);
            let right = operands(places / 3 % 3, &b, &there_b, &of_b);
            let multiply = |targets: Vec<Target<'_, f64>>| {
                device.matmul_batched(Precision::Auto, 3.0, left.clone(), right.clone(), beta, targets).unwrap();
            };
            let mut results = c.clone();
            match places / 9 {
                0 => multiply(results.iter_mut().map(Target::from).collect()),
                1 => {
                    let mut there = uploaded(&gpu, &c);
                    multiply(there.iter_mut().map(Target::from).collect());
                    results = there.iter().map(|it| it.download().unwrap()).collect();
                }
                _ => {
                    let sinks = results.iter_mut().map(|result| MemorySink::new(result.view_mut()));
                    multiply(sinks.zip(&of_c).map(|(sink, old)| Target::updating(old, sink)).collect());
                }
            }
            for (i, result) in results.iter().enumerate() {
                assert_eq!(*result, a[i].dot(&b[i]) * 3.0 + &c[i] * beta, "{choice:?} {places} {beta}");
            }
            let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
            assert_eq!((decision.operation, decision.side, decision.reason), ("matmul_batched", side, Reason::Asked));
            let elements = 20 + 12 + 15 + if beta == 0.0 { 0 } else { 15 };
            assert_eq!(decision.bytes, (PRODUCTS * 8 * elements) as u64, "{decision}");
            assert!(outcome.side == side && outcome.why.is_none(), "{outcome:?}");
        }
    }
}

/// One product is a batch too: what is stored is read whole, and nothing is streamed.
#[test]
fn d4_a_batch_of_one_stored_product_runs_where_it_is_asked_for() {
    let test = "device::batched::d4_a_batch_of_one_stored_product_runs_where_it_is_asked_for";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, b) = (matrix(5, 4, 1), matrix(4, 3, 2));
    let (source, mut c) = (MemorySource::new(a.view()), Array2::zeros((5, 3)));
    let device = forced(&gpu);
    device.matmul_batched(Precision::Auto, 2.0, [&source], [&b], 0.0, [&mut c]).unwrap();
    assert_eq!(c, a.dot(&b) * 2.0);
    let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
    assert!(decision.gpu.as_ref().is_some_and(|it| it.tiles.is_none()), "{decision}");
    assert!(outcome.side == Side::Gpu && outcome.why.is_none(), "{outcome:?}");
}

/// Halves, and what is widened, are multiplied one after the other: a GPU needs the memory of one product.
#[test]
fn d2_batches_of_halves_take_the_memory_of_one() {
    let Some(gpu) = crate::gpu("device::batched::d2_batches_of_halves_take_the_memory_of_one") else { return };
    let device = forced(&gpu);
    let halves = [matrix(5, 4, 1), matrix(4, 3, 2)].map(|values| values.mapv(f16::from_f64));
    let singles = [matrix(5, 4, 1), matrix(4, 3, 2)].map(|values| values.mapv(|value| value as f32));
    let bytes = |decision: Result<Decision, Error>| decision.unwrap().gpu.unwrap().device_bytes;
    let of = |count: usize| {
        let (mut c, mut wide) = (vec![Array2::from_elem((5, 3), f16::ZERO); count], vec![Array2::zeros((5, 3)); count]);
        let [a, b] = halves.each_ref().map(|one| vec![Operand::from(one); count]);
        let c: Vec<Target<'_, f16>> = c.iter_mut().map(Target::from).collect();
        let [one, other] = singles.each_ref().map(|one| vec![Operand::from(one); count]);
        let wide: Vec<Target<'_, f32>> = wide.iter_mut().map(Target::from).collect();
        [
            bytes(device.plan_batched(Precision::Auto, [&a, &b], 0.0, &c)),
            bytes(device.plan_batched(Precision::F64, [&one, &other], 0.0, &wide)),
            bytes(device.plan_batched(Precision::Auto, [&one, &other], 0.0, &wide)),
        ]
    };
    let ([halves, widened, singles], [of_half, of_wide, of_single]) = (of(7), of(1));
    assert_eq!([halves, widened, singles], [of_half, of_wide, 7 * of_single]);
}

/// Decisions count what moves, and the memory of one product.
#[test]
fn d1_batches_that_stay_on_the_gpu_bring_nothing() {
    let Some(gpu) = crate::gpu("device::batched::d1_batches_that_stay_on_the_gpu_bring_nothing") else { return };
    let (a, b, c) = (several(5, 4, 1), several(4, 3, 2), several(5, 3, 3));
    let [there_a, there_b, mut there_c] = [&a, &b, &c].map(|all| uploaded(&gpu, all));
    let device = forced(&gpu).falling_back_within(Budget::new(Memory::Host, 0));
    device.matmul_batched(Precision::Auto, 1.0, &there_a, &there_b, 0.0, &mut there_c).unwrap();
    let on_gpu = last_decision().unwrap().gpu.unwrap();
    assert_eq!((on_gpu.cost.bring, on_gpu.cost.back, on_gpu.device_bytes), (0.0, 0.0, 0));
    device.matmul_batched(Precision::Auto, 1.0, &a, &there_b, 0.0, &mut there_c).unwrap();
    let on_gpu = last_decision().unwrap().gpu.unwrap();
    assert!(on_gpu.cost.bring > 0.0 && on_gpu.device_bytes == 8 * 20, "{on_gpu:?}");
    // Some here and some there: they are taken to lie here, in whichever order.
    for here in [[0, 0], [0, 1], [2, 2]] {
        let left =
            (0..PRODUCTS).map(|i| if here.contains(&i) { Operand::from(&a[i]) } else { Operand::from(&there_a[i]) });
        device.matmul_batched(Precision::Auto, 1.0, left, &there_b, 0.0, &mut there_c).unwrap();
        let on_gpu = last_decision().unwrap().gpu.unwrap();
        assert!(on_gpu.cost.bring > 0.0 && on_gpu.device_bytes == 8 * 20, "{here:?} {on_gpu:?}");
    }
    // The CPU fetches one after the other.
    let host = Budget::new(Memory::Host, 8 * (20 + 12 + 15));
    let cpu = forced(&gpu).choosing(Choice::Cpu).falling_back_within(host.clone());
    cpu.matmul_batched(Precision::Auto, 1.0, &there_a, &there_b, 0.0, &mut there_c).unwrap();
    assert_eq!((host.used(), host.peak()), (0, host.limit()));
    let short = cpu.falling_back_within(Budget::new(Memory::Host, 8 * (20 + 12 + 15) - 1));
    let error = short.matmul_batched(Precision::Auto, 1.0, &there_a, &there_b, 0.0, &mut there_c).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error}");
    for (i, there) in there_c.iter().enumerate() {
        assert_eq!(there.download().unwrap(), a[i].dot(&b[i]));
    }
}

/// A plan is what is decided: a device without a GPU has none of what lies on one.
#[test]
fn m16_a_plan_knows_what_lies_on_another_gpu() {
    let Some(gpu) = crate::gpu("device::batched::m16_a_plan_knows_what_lies_on_another_gpu") else { return };
    let (a, b, mut c) = (matrix(5, 4, 1), matrix(4, 3, 2), Array2::zeros((5, 3)));
    let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
    let device = Device::cpu().choosing(Choice::Auto);
    let operands = [Operand::from(&there), (&b).into()];
    let plan = device.plan_product(Precision::Auto, operands, 0.0, &(&mut c).into()).unwrap();
    device.matmul(Precision::Auto, 1.0, operands[0], operands[1], 0.0, (&mut c).into()).unwrap();
    let decision = last_decision().unwrap();
    assert_eq!((plan.reason, plan.side), (decision.reason, decision.side));
    assert_eq!(plan.reason, Reason::Unsupported("an operand lies on another GPU"));
}

/// Where operands lie is no matter to how the CPU's threads share a product.
#[test]
fn what_the_cpu_computes_is_expected_to_take_as_long_wherever_it_comes_from() {
    let test = "device::batched::what_the_cpu_computes_is_expected_to_take_as_long_wherever_it_comes_from";
    let Some(gpu) = crate::gpu(test) else { return };
    let mut rates = Rates::h200();
    rates.cpu.start = 1e-3;
    let device = Device::with(&gpu).rated(rates);
    for [rows, columns, depth] in [[3, 4, 5], [66, 365, 313], [900, 1, 1000]] {
        let (b, mut c) = (matrix(depth, columns, 2), Array2::zeros((rows, columns)));
        // Column by column, as on the GPU.
        let a = matrix(depth, rows, 1).reversed_axes();
        let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
        let [here, there] = [Operand::from(&a), Operand::from(&there)].map(|a| {
            let plan = device.plan_product(Precision::Auto, [a, (&b).into()], 0.0, &(&mut c).into()).unwrap();
            plan.cpu.compute
        });
        assert_eq!(here, there, "{rows} x {columns} x {depth}");
    }
}

#[test]
fn halves_in_batches_lie_anywhere() {
    let Some(gpu) = crate::gpu("device::batched::halves_in_batches_lie_anywhere") else { return };
    let halves = |all: Vec<Array2<f64>>| Vec::from_iter(all.iter().map(|values| values.mapv(f16::from_f64)));
    let (a, b) = (halves(several(5, 4, 1)), halves(several(4, 3, 2)));
    let there: Vec<_> = a.iter().map(|values| DeviceMat::upload(&gpu, values.into()).unwrap()).collect();
    let expected = several(5, 4, 1).into_iter().zip(several(4, 3, 2)).map(|(a, b)| a.dot(&b).mapv(f16::from_f64));
    let expected: Vec<_> = expected.collect();
    for choice in [Choice::Cpu, Choice::Gpu] {
        let mut results = vec![Array2::from_elem((5, 3), f16::NAN); PRODUCTS];
        let device = small(&gpu, ROOM).choosing(choice);
        device.matmul_batched(Precision::Auto, 1.0, &there, &b, 0.0, &mut results).unwrap();
        assert_eq!(results, expected, "{choice:?}");
    }
}

/// On the CPU alone, where something is stored; and what does not go together.
#[test]
fn batches_of_what_is_stored_and_what_is_refused() {
    let (device, a, b) = (Device::cpu(), several(5, 4, 1), several(4, 3, 2));
    let of_a = stored(&a);
    let mut results = vec![Array2::from_elem((5, 3), f64::NAN); PRODUCTS];
    device.matmul_batched(Precision::Auto, 1.0, &of_a, &b, 0.0, &mut results).unwrap();
    assert!((0..PRODUCTS).all(|i| results[i] == a[i].dot(&b[i])));
    // One operand for all, and diagonals.
    let values = [1.0, -2.0, 3.0, 4.0, 5.0];
    let scaling = vec![Operand::diagonal(&values); PRODUCTS];
    let mut scaled = vec![Array2::from_elem((5, 4), f64::NAN); PRODUCTS];
    device.matmul_batched(Precision::Auto, 1.0, scaling, [&of_a[0]; PRODUCTS], 0.0, &mut scaled).unwrap();
    let expected = Array2::from_shape_fn((5, 4), |(i, j)| values[i] * a[0][[i, j]]);
    assert!(scaled.iter().all(|scaled| *scaled == expected));
    let mut refused = |b: &[Array2<f64>], what: &str| {
        let before = results.clone();
        let error = device.matmul_batched(Precision::Auto, 1.0, &of_a, b, 0.0, &mut results).unwrap_err();
        assert!(error.class() == Class::User && error.to_string().contains(what), "{error}");
        assert_eq!(results, before, "{what}");
    };
    refused(&b[..2], "matrices of b");
    refused(&[b[0].clone(), b[1].clone(), matrix(4, 2, 1)], "columns of b");
    refused(&[b[0].clone(), b[1].clone(), matrix(5, 3, 1)], "rows of b");
    let none: [&Array2<f64>; 0] = [];
    device.matmul_batched(Precision::Auto, 1.0, none, none, 0.0, &mut Vec::<Array2<f64>>::new()).unwrap();
}

/// Matrices, their rows and columns, one below another.
const SIZES: [usize; 3] = [4, 5, 3];

fn below(vectors: usize, beta: f64) -> ([Array2<f64>; 3], Array2<f64>) {
    let [count, rows, columns] = SIZES;
    let all @ [a, x, y] =
        &[matrix(count * rows, columns, 1), matrix(vectors * columns, 1, 2), matrix(count * rows, 1, 3)];
    let mut expected = y * beta;
    for i in 0..count {
        let (rows, vector) = (i * rows..(i + 1) * rows, i % vectors * columns..(i % vectors + 1) * columns);
        let product = a.slice(s![rows.clone(), ..]).dot(&x.slice(s![vector, ..]));
        expected.slice_mut(s![rows, ..]).scaled_add(3.0, &product);
    }
    (all.clone(), expected)
}

/// Matrices, vectors and results in memory, on the GPU and stored, on either processor; a plan is what is decided.
#[test]
fn d4_m16_vectors_in_batches_lie_anywhere() {
    let Some(gpu) = crate::gpu("device::batched::d4_m16_vectors_in_batches_lie_anywhere") else { return };
    for (choice, side) in [(Choice::Cpu, Side::Cpu), (Choice::Gpu, Side::Gpu)] {
        let device = small(&gpu, ROOM).choosing(choice);
        for (places, beta, vectors) in (0..27).flat_map(|at| [(at, 0.0, 4), (at, -2.0, 4), (at, -2.0, 1)]) {
            let ([a, x, y], expected) = below(vectors, beta);
            let [there_a, there_x] = [&a, &x].map(|values| DeviceMat::upload(&gpu, values.into()).unwrap());
            let [of_a, of_x, of_y] = [&a, &x, &y].map(|values| MemorySource::new(values.view()));
            let left = [Operand::from(&a), Operand::from(&there_a), Operand::from(&of_a)][places % 3];
            let right = [Operand::from(&x), Operand::from(&there_x), Operand::from(&of_x)][places / 3 % 3];
            let multiply = |target: Target<'_, f64>| {
                let planned = device.plan_matvec_batched(Precision::Auto, [left, right], beta, &target).unwrap();
                device.matvec_batched(Precision::Auto, 3.0, left, right, beta, target).unwrap();
                assert_eq!(last_decision().unwrap(), planned);
            };
            let mut result = y.clone();
            match places / 9 {
                0 => multiply((&mut result).into()),
                1 => {
                    let mut there = DeviceMat::upload(&gpu, (&y).into()).unwrap();
                    multiply((&mut there).into());
                    result = there.download().unwrap();
                }
                _ => multiply(Target::updating(&of_y, MemorySink::new(result.view_mut()))),
            }
            assert_eq!(result, expected, "{choice:?} {places} {beta} {vectors}");
            let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
            assert_eq!((decision.operation, decision.side, decision.reason), ("matvec_batched", side, Reason::Asked));
            assert!(outcome.side == side && outcome.why.is_none(), "{outcome:?}");
        }
    }
}

/// Transposed, conjugated and scaled, parts of more, and vectors that lie in a row; halves too.
#[test]
fn d4_views_in_batches_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::batched::d4_views_in_batches_on_the_gpu") else { return };
    let [count, rows, columns] = SIZES;
    let ([a, x, y], expected) = below(count, -2.0);
    let framed = Array2::from_shape_fn((count * rows + 3, columns + 2), |(i, j)| {
        if i < 2 || j < 1 { f64::NAN } else { a.get((i - 2, j - 1)).copied().unwrap_or(f64::NAN) }
    });
    let upload = |values: &Array2<f64>| DeviceMat::upload(&gpu, values.into()).unwrap();
    let [plain, turned, frame] = [&a, &a.t().to_owned(), &framed].map(upload);
    let part = frame.view().part(Rows(2)..Rows(2 + count * rows), Columns(1)..Columns(1 + columns)).unwrap();
    let [of_x, in_a_row] = [&x, &x.t().to_owned()].map(upload);
    for choice in [Choice::Cpu, Choice::Gpu] {
        let device = small(&gpu, ROOM).choosing(choice);
        for (a, by) in [(plain.view(), 3.0), (turned.view().t(), 3.0), (part, 3.0), (part.scaled(-1.5), -2.0)] {
            for x in [of_x.view(), in_a_row.view().t()] {
                let mut there = upload(&y);
                device.matvec_batched(Precision::Auto, by, a.into(), x.into(), -2.0, (&mut there).into()).unwrap();
                assert_eq!(there.download().unwrap(), expected, "{choice:?} {by}");
                // Nothing of either is read where nothing of it enters.
                device.matvec_batched(Precision::Auto, 0.0, a.into(), x.into(), 2.0, (&mut there).into()).unwrap();
                assert_eq!(there.download().unwrap(), &expected * 2.0, "{choice:?}");
            }
        }
        let half = |values: &Array2<f64>| values.mapv(f16::from_f64);
        let [half_a, half_x] =
            [&half(&a.t().to_owned()), &half(&x)].map(|it| DeviceMat::upload(&gpu, it.into()).unwrap());
        let mut there = DeviceMat::upload(&gpu, (&half(&y)).into()).unwrap();
        let operands = (half_a.view().t().into(), (&half_x).into());
        device.matvec_batched(Precision::Auto, 3.0, operands.0, operands.1, -2.0, (&mut there).into()).unwrap();
        assert_eq!(there.download().unwrap(), half(&expected), "{choice:?}");
        device.matvec_batched(Precision::Auto, 0.0, operands.0, operands.1, 0.0, (&mut there).into()).unwrap();
        assert_eq!(there.download().unwrap(), half(&(&y * 0.0)), "{choice:?}");
    }
    let complex = |values: &Array2<f64>| values.mapv(|value| Complex64::new(value, -value));
    let [there_a, there_x] = [&complex(&a), &complex(&x)].map(|it| DeviceMat::upload(&gpu, it.into()).unwrap());
    let mut result = complex(&(&y * 0.0));
    let view = there_a.view().conj();
    let (one, zero) = (Complex64::new(1.0, 0.0), Complex64::default());
    forced(&gpu)
        .matvec_batched(Precision::Auto, one, view.into(), (&there_x).into(), zero, (&mut result).into())
        .unwrap();
    // (1 + i) (1 - i) is 2.
    let sums = (expected + &y * 2.0).mapv(|sum| Complex64::new(sum / 3.0 * 2.0, 0.0));
    assert_eq!(result, sums);
}

/// Nothing moves that lies there, and what does is counted on both sides.
#[test]
fn d1_d2_vectors_in_batches_stay_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::batched::d1_d2_vectors_in_batches_stay_on_the_gpu") else { return };
    let ([a, x, y], expected) = below(4, -2.0);
    let [there_a, there_x, mut there_y] = [&a, &x, &y].map(|values| DeviceMat::upload(&gpu, values.into()).unwrap());
    let bytes = |values: &Array2<f64>| 8 * values.len() as u64;
    let device = |choice: Choice, host: &Budget| forced(&gpu).choosing(choice).falling_back_within(host.clone());
    let (left, none) = (Operand::from(&there_a), Budget::new(Memory::Host, 0));
    let there = |device: &Device, x: Operand<'_, f64>, y: &mut DeviceMat<f64>| {
        device.matvec_batched(Precision::Auto, 3.0, left, x, -2.0, y.into())
    };
    there(&device(Choice::Gpu, &none), (&there_x).into(), &mut there_y).unwrap();
    assert_eq!(there_y.download().unwrap(), expected);
    let on_gpu = last_decision().unwrap().gpu.unwrap();
    assert_eq!((on_gpu.cost.bring, on_gpu.cost.back, on_gpu.device_bytes), (0.0, 0.0, 0));
    there(&device(Choice::Gpu, &none), (&x).into(), &mut there_y).unwrap();
    assert_eq!(last_decision().unwrap().gpu.unwrap().device_bytes, bytes(&x));
    // A result in memory is whole before it takes its place.
    let (host, mut here) = (Budget::new(Memory::Host, bytes(&y)), y.clone());
    let asked = device(Choice::Gpu, &host);
    asked.matvec_batched(Precision::Auto, 3.0, left, (&there_x).into(), -2.0, (&mut here).into()).unwrap();
    assert_eq!((here, host.used(), host.peak()), (expected.clone(), 0, bytes(&y)));
    // The CPU fetches all of it, and makes the result here.
    for missing in [0, 1] {
        let host = Budget::new(Memory::Host, bytes(&a) + bytes(&x) + bytes(&y) - missing);
        let mut there_y = DeviceMat::upload(&gpu, (&y).into()).unwrap();
        match there(&device(Choice::Cpu, &host), (&there_x).into(), &mut there_y) {
            Ok(()) => assert_eq!((there_y.download().unwrap(), host.peak()), (expected.clone(), host.limit())),
            Err(error) => assert!(missing == 1 && matches!(error, Error::Budget { .. }), "{error}"),
        }
        assert_eq!(host.used(), 0);
    }
    // By itself what lies there is multiplied there, and another GPU's is not this one's.
    there(&small(&gpu, ROOM), (&there_x).into(), &mut there_y).unwrap();
    assert_eq!(last_decision().unwrap().side, Side::Gpu);
    let elsewhere = Device::cpu().choosing(Choice::Auto);
    there(&elsewhere, (&there_x).into(), &mut there_y).unwrap();
    assert_eq!(last_decision().unwrap().reason, Reason::Unsupported("an operand lies on another GPU"));
}
