//! Fused expressions and products of bits through the face: decided by cost, recorded, and under the breaker.

use super::on_the_gpu::{budgets, eager, forced, shrinking};
use super::small;
use ndarray::Array2;
use tilewright_dims::dims;
use tilewright_driver::DeviceBuffer;
use tilewright_expr::{Border, In};
use tilewright_hybrid::bits::closure::{closure, reduction};
use tilewright_hybrid::bits::{BitMatrix, Product};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{At, Choice, Decision, Rates, Reason, Tiles, Trace, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Policy, Settings, Why};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::store::{
    DeviceSink, DeviceSource, Element, Extents, MemorySink, MemorySource, NpySink, NpySource, Order, Sink, WriteTyped,
};
use tilewright_hybrid::stream::bits::{Becomes, BitProduct, Bits};
use tilewright_hybrid::stream::{Array, Control, Evaluation, Traffic, Verify};
use tilewright_hybrid::{Class, Device, Error, Side};
use tilewright_ops::fuse;

dims! { Y, X }

const SIZES: [usize; 2] = [301, 40];

/// Calls with an expression that reads two rows around each: what became of it, and its results.
fn sharpened<R>(run: impl Fn(&Evaluation<'_>) -> R) -> (R, Array2<f32>) {
    let sharper = fuse(|picture: In<f32, (Y, X)>, gain: In<f32, ()>| {
        let low = picture.gaussian_blur::<Y, X>((5, 5), (1.0, 1.0), Border::Reflect101);
        ((picture - low) * gain).store::<(Y, X)>()
    });
    let picture = Array2::from_shape_fn(SIZES, |(i, j)| ((i * 7 + j * 3) % 11) as f32);
    let mut result = Array2::from_elem(SIZES, f32::NAN);
    let (from, to) = (MemorySource::new(picture.view()), MemorySink::new(result.view_mut()));
    let picture = Array::<f32, (Y, X)>::new(&from, SIZES).unwrap();
    let ran = run(&Evaluation::new(&sharper, (&picture, 2.5f32), &[&to]).unwrap());
    drop(to);
    (ran, result)
}

fn on_the_cpu() -> Array2<f32> {
    let (ran, result) = sharpened(|it| Device::cpu().evaluate(it, Control::default()));
    ran.unwrap();
    assert!(result.iter().all(|x| x.is_finite()) && result.iter().any(|x| *x != 0.0));
    result
}

#[test]
fn d1_an_expression_leaves_its_decision_and_is_in_the_trace() {
    let device = Device::cpu().choosing(Choice::Auto).rated(Rates::of_cores(2));
    let trace = Trace::begin();
    let (ran, _) = sharpened(|it| device.evaluate(it, Control::default()));
    ran.unwrap();
    let decision = last_decision().unwrap();
    assert_eq!((decision.operation, decision.element, decision.reason), ("evaluate", "f32", Reason::NoGpu));
    // The number is an operand too.
    assert_eq!(decision.bytes, 2 * 4 * 301 * 40 + 4);
    assert_eq!(last_outcome().unwrap().side, Side::Cpu);
    assert!(trace.json().contains("cpu.evaluate.f32"));
    let (refused, _) = sharpened(|it| device.clone().choosing(Choice::Gpu).evaluate(it, Control::default()));
    assert!(matches!(refused, Err(Error::NoGpu { .. })), "{refused:?}");
}

#[test]
fn d3_an_expression_goes_where_its_bytes_are_sooner() {
    let (job, _) = sharpened(|it| it.job());
    let decided = |rates: &Rates, budget| Decision::of(&job, Choice::Auto, rates, budget).unwrap();
    // What lies in host memory is not worth two copies, unless that memory is slow.
    assert_eq!(decided(&Rates::h200(), 1 << 30).side, Side::Cpu);
    let mut slow = Rates::h200();
    slow.cpu.memory = 5e6;
    let plan = decided(&slow, 1 << 30);
    assert_eq!((plan.side, plan.reason), (Side::Gpu, Reason::Cost), "{plan}");
    let bands = decided(&slow, 40 << 10).gpu.unwrap().tiles;
    assert!(
        matches!(bands, Some(Tiles::Expression(plan)) if plan.count() > 3 && plan.dimension == Some("Y")),
        "{bands:?}"
    );
    assert!(decided(&slow, 40 << 10).to_string().contains("bands of"));
    assert_eq!(decided(&slow, 100).reason, Reason::TooLarge);
}

#[test]
fn an_expression_stays_within_the_budget_of_host_memory_and_reads_files() {
    let whole = on_the_cpu();
    for (bytes, fits) in [(40 << 10, true), (100, false)] {
        let host = Budget::new(Memory::Host, bytes);
        let device = Device::cpu().falling_back_within(host.clone());
        let (ran, result) = sharpened(|it| device.evaluate(it, Control::default()));
        assert_eq!(ran.as_ref().err().map(Error::class), (!fits).then_some(Class::Resource));
        assert!(!fits || result == whole);
        assert!(host.used() == 0 && host.peak() <= bytes);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ones.npy");
    let ones = NpySink::create(&path, &[50, 20], Element::F32, Order::C).unwrap();
    ones.write(&ones.extents().whole(), &[1.0f32; 1000]).unwrap();
    Box::new(ones).commit().unwrap();
    let file = NpySource::open(&path).unwrap();
    let doubled = fuse(|x: In<f32, (Y, X)>| (x + x).store::<(Y, X)>());
    let mut result = Array2::from_elem([50, 20], f32::NAN);
    let to = MemorySink::new(result.view_mut());
    let array = Array::<f32, (Y, X)>::new(&file, [50, 20]).unwrap();
    Device::cpu().evaluate(&Evaluation::new(&doubled, (&array,), &[&to]).unwrap(), Control::default()).unwrap();
    Box::new(to).commit().unwrap();
    assert!(result.iter().all(|x| *x == 2.0));
    assert_eq!(last_decision().unwrap().disk, Some(Rates::DISK));
}

/// A sum of two matrices of a GPU, into a third there.
fn added(gpu: &Gpu, device: &Device) -> Result<Traffic, Error> {
    let [a, b] = [1, 2].map(|seed| Array2::from_shape_fn(SIZES, |(i, j)| ((i * 7 + j * 3 + seed) % 11) as f32));
    let [on_a, on_b] = [&a, &b].map(|values| DeviceMat::upload(gpu, values.into()).unwrap());
    let mut on_c = DeviceMat::<f32>::upload(gpu, (&Array2::from_elem(SIZES, f32::NAN)).into()).unwrap();
    let sum = fuse(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| (a + b).store::<(X, Y)>());
    let ran = {
        // Columns stand first: matrices of a GPU lie column by column.
        let (of_a, of_b, sink) = (on_a.source().unwrap(), on_b.source().unwrap(), on_c.sink().unwrap());
        let [columns, rows] = [SIZES[1], SIZES[0]];
        let a = Array::<f32, (X, Y)>::new(&of_a, [columns, rows]).unwrap();
        let b = Array::<f32, (X, Y)>::new(&of_b, [columns, rows]).unwrap();
        let ran = device.evaluate(&Evaluation::new(&sum, (&a, &b), &[&sink]).unwrap(), Control::default());
        ran.and_then(|traffic| Box::new(sink).commit().map(|()| traffic))
    };
    let computes =
        last_outcome().is_some_and(|it| it.side == Side::Cpu) || gpu.stream().device().name() != crate::stub::NAME;
    assert!(ran.is_err() || !computes || on_c.download().unwrap() == &a + &b);
    ran
}

/// What lies on the GPU is computed with there, and comes to the host in bands where the CPU is asked for it.
#[test]
fn d3_what_lies_on_the_gpu_is_evaluated_there() {
    let test = "device::evaluated::d3_what_lies_on_the_gpu_is_evaluated_there";
    let Some(gpu) = crate::gpu(test) else { return };
    let bytes = 4 * 301 * 40;
    let on_gpu = small(&gpu, 1 << 30);
    assert_eq!(added(&gpu, &on_gpu).unwrap(), Traffic::default());
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.bytes), (Side::Gpu, 3 * bytes), "{decision}");
    let there = decision.gpu.unwrap();
    assert!(there.tiles.is_none() && there.device_bytes == 0 && there.cost.bring == 0.0 && there.cost.back == 0.0);
    // The CPU would have to fetch both, and to send the third.
    assert!(decision.cpu.bring > 0.0 && decision.cpu.back > 0.0);
    let host = Budget::new(Memory::Host, 40 << 10);
    added(&gpu, &on_gpu.choosing(Choice::Cpu).falling_back_within(host.clone())).unwrap();
    assert!((1..=40 << 10).contains(&host.peak()) && host.used() == 0, "{host:?}");
    let short = Device::cpu().falling_back_within(Budget::new(Memory::Host, 100));
    assert!(matches!(added(&gpu, &short), Err(Error::Budget { .. })));
}

/// Elements of a matrix of [`SIZES`].
fn values() -> Vec<f32> {
    (0..301 * 40).map(|i| (i % 17) as f32).collect()
}

/// The matrix on the GPU and in host memory.
fn sources<'a>(there: &'a DeviceBuffer<f32>, values: &'a [f32]) -> (DeviceSource<'a>, MemorySource<'a, f32>) {
    let extents = Extents::new(301, 40);
    (DeviceSource::new(there, extents).unwrap(), MemorySource::from_slice(values, extents).unwrap())
}

/// One operand on the GPU, the other one not: bands of the other one are brought.
#[test]
fn d3_what_lies_on_the_gpu_is_no_part_of_a_band() {
    let test = "device::evaluated::d3_what_lies_on_the_gpu_is_no_part_of_a_band";
    let Some(gpu) = crate::gpu(test) else { return };
    let values = values();
    let there = gpu.stream().upload(&values).unwrap();
    let (on_gpu, here) = sources(&there, &values);
    let (a, b) = (Array::<f32, (Y, X)>::new(&on_gpu, SIZES).unwrap(), Array::<f32, (Y, X)>::new(&here, SIZES).unwrap());
    let sum = fuse(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| (a + b).store::<(Y, X)>());
    let mut result = Array2::from_elem(SIZES, f32::NAN);
    let sink = MemorySink::new(result.view_mut());
    let evaluation = Evaluation::new(&sum, (&a, &b), &[&sink]).unwrap();
    let bytes = 4 * 301 * 40;
    let plan = evaluation.plan(20 << 10).unwrap();
    assert_eq!((plan.bytes_in, plan.bytes_out, plan.bytes_there), (160, 160, bytes));
    assert!(plan.count() > 3 && plan.bytes_to_gpu() == bytes);
    let job = evaluation.job();
    assert_eq!(job.read.map(|it| it.map(|it| it.at)), [Some(At::Gpu), Some(At::Pageable), None]);
    let decided = Decision::of(&job, Choice::Gpu, &Rates::h200(), 20 << 10).unwrap();
    assert!(matches!(decided.gpu.unwrap().tiles, Some(Tiles::Expression(of)) if of == plan), "{decided}");
    let device = small(&gpu, 20 << 10);
    let traffic = device.choosing(Choice::Gpu).evaluate(&evaluation, Control::default()).unwrap();
    assert_eq!((traffic.to_gpu, traffic.to_host), (bytes as u64, bytes as u64));
    let error = Device::cpu().choosing(Choice::Gpu).evaluate(&evaluation, Control::default()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. } | Error::NoGpu { .. }), "{error}");
}

/// What every pass copies is counted, and the record has the bands of the first one.
#[test]
fn d3_passes_of_an_expression_are_one_record() {
    let test = "device::evaluated::d3_passes_of_an_expression_are_one_record";
    let Some(gpu) = crate::gpu(test) else { return };
    let values = values();
    let there = gpu.stream().upload(&values).unwrap();
    let (on_gpu, here) = sources(&there, &values);
    let (on_gpu, here) =
        (Array::<f32, (Y, X)>::new(&on_gpu, SIZES).unwrap(), Array::<f32, (Y, X)>::new(&here, SIZES).unwrap());
    let shares = fuse(|x: In<f32, (Y, X)>| (x / x.sum::<(Y, X)>()).store::<(Y, X)>());
    let mut result = Array2::from_elem(SIZES, f32::NAN);
    let sink = MemorySink::new(result.view_mut());
    let bytes = 4 * 301 * 40;
    let device = small(&gpu, 24 << 10);
    let evaluation = Evaluation::new(&shares, (&here,), &[&sink]).unwrap();
    let traffic = device.clone().choosing(Choice::Gpu).evaluate(&evaluation, Control::default()).unwrap();
    assert!(traffic.to_gpu >= 2 * bytes && traffic.to_host > bytes, "{traffic:?}");
    let outcome = last_outcome().unwrap();
    assert_eq!(outcome.traffic, traffic);
    assert!(matches!(outcome.tiles, Some(Tiles::Expression(plan)) if plan.bytes_folded > 0), "{outcome:?}");
    let evaluation = Evaluation::new(&shares, (&on_gpu,), &[&sink]).unwrap();
    let host = Budget::new(Memory::Host, 24 << 10);
    let on_cpu = device.choosing(Choice::Cpu).falling_back_within(host);
    let traffic = on_cpu.evaluate(&evaluation, Control::default()).unwrap();
    assert_eq!((traffic.to_gpu, traffic.to_host), (0, 2 * bytes));
    assert_eq!(last_outcome().unwrap().traffic, traffic);
}

/// Products take what is stored on a GPU through host memory, as any source, and put it back.
#[test]
fn products_of_what_is_stored_on_a_gpu() {
    let Some(gpu) = crate::gpu("device::evaluated::products_of_what_is_stored_on_a_gpu") else { return };
    let values = Array2::from_shape_fn((24, 24), |(i, j)| ((i * 7 + j * 3) % 11) as f64 - 5.0);
    let a = gpu.stream().upload(values.as_slice().unwrap()).unwrap();
    for choice in [Choice::Cpu, Choice::Gpu] {
        let mut c = gpu.stream().upload(&[f64::NAN; 576]).unwrap();
        let source = DeviceSource::new(&a, Extents::new(24, 24)).unwrap();
        let sink = DeviceSink::new(&mut c, Extents::new(24, 24)).unwrap();
        let device = small(&gpu, 8 << 10).choosing(choice);
        device.matmul::<f64>(Precision::Auto, 1.0, (&source).into(), (&source).into(), 0.0, sink.into()).unwrap();
        let product: Vec<f64> = values.dot(&values).iter().copied().collect();
        assert_eq!(c.to_vec().unwrap(), product, "{choice:?}");
    }
}

fn bits(rows: usize, columns: usize, seed: u64) -> BitMatrix {
    BitMatrix::random(rows, columns, 0.3, seed).unwrap()
}

#[test]
fn products_of_bits_leave_their_decisions() {
    let device = Device::cpu().choosing(Choice::Auto);
    let (a, b) = (bits(70, 200, 1), bits(200, 90, 2));
    let truth = Product::of(&a, &b).unwrap();
    let counts = truth.counts().unwrap();
    assert_eq!(device.bit_counts(&a, &b).unwrap(), counts);
    let decision = last_decision().unwrap();
    assert_eq!((decision.operation, decision.element, decision.side), ("bit_counts", "bit", Side::Cpu));
    assert_eq!(decision.bytes, 70 * 25 + 200 * 12 + 4 * 70 * 90);
    for (becomes, expected) in [
        (Becomes::MoreThan(0), BitMatrix::from_fn(70, 90, |i, j| counts[[i, j]] > 0)),
        (Becomes::MoreThan(17), BitMatrix::from_fn(70, 90, |i, j| counts[[i, j]] > 17)),
        (Becomes::Parities, BitMatrix::from_fn(70, 90, |i, j| counts[[i, j]] % 2 == 1)),
    ] {
        assert_eq!(device.bit_product(&a, &b, becomes).unwrap(), expected.unwrap(), "{becomes:?}");
        assert_eq!(last_outcome().unwrap().side, Side::Cpu);
    }
    assert_eq!(device.bit_product(&a, &b, Becomes::Counts).unwrap_err().class(), Class::User);
    assert!(matches!(device.bit_product(&a, &a, Becomes::Parities), Err(Error::Shape { .. })));
    assert_eq!(device.bit_counts(&bits(3, 0, 1), &bits(0, 4, 1)).unwrap(), Array2::<i32>::zeros((3, 4)));
}

/// Counts are sums, and are checked; what becomes of them is not, and is not refused.
#[test]
fn products_of_bits_are_verified_where_they_are_counts() {
    let test = "device::evaluated::products_of_bits_are_verified_where_they_are_counts";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, b) = (bits(70, 200, 1), bits(200, 90, 2));
    let truth = Product::of(&a, &b).unwrap().counts().unwrap();
    let device = forced(&gpu).verifying(Verify::default());
    let counts = device.bit_counts(&a, &b);
    match gpu.stream().device().name() == crate::stub::NAME {
        // Its kernels compute nothing.
        true => assert!(
            matches!(counts, Err(Error::WrongProduct { product: None, allowed: 0.0, rows: 70, .. })),
            "{counts:?}"
        ),
        false => assert_eq!(counts.unwrap(), truth),
    }
    for becomes in [Becomes::MoreThan(0), Becomes::MoreThan(17), Becomes::Parities] {
        device.bit_product(&a, &b, becomes).unwrap();
        assert_eq!(last_outcome().unwrap().side, Side::Gpu);
    }
    assert_eq!(Device::cpu().verifying(Verify::default()).bit_counts(&a, &b).unwrap(), truth);
}

#[test]
fn large_products_of_bits_go_to_the_gpu() {
    let decided = |side: usize, budget| {
        let (a, b) = (BitMatrix::zeros(side, side).unwrap(), BitMatrix::zeros(side, side).unwrap());
        let (left, right) = (a.source(), b.source());
        let of = BitProduct::of(Bits::new(&left, side).unwrap(), Bits::new(&right, side).unwrap()).unwrap();
        Decision::of(&of.job(Becomes::Parities), Choice::Auto, &Rates::h200(), budget).unwrap()
    };
    assert_eq!(decided(64, 1 << 30).side, Side::Cpu);
    let large = decided(32_768, 1 << 30);
    assert_eq!((large.side, large.reason), (Side::Gpu, Reason::Cost), "{large}");
    assert!(matches!(large.gpu.unwrap().tiles, Some(Tiles::Bits(plan)) if plan.counts() == [8, 1]), "{large}");
    assert_eq!(decided(32_768, 1 << 16).reason, Reason::TooLarge);
}

/// Closures and reductions are decided about as one product of a CPU and as many squares of a GPU as the longest paths may take.
#[test]
fn x6_m16_closures_leave_their_decisions() {
    let device = Device::cpu().choosing(Choice::Auto);
    let order = BitMatrix::from_fn(129, 129, |from, to| from < to && (from * 7 + to * 3) % 11 < 2).unwrap();
    assert_eq!(device.bit_closure(&order).unwrap(), closure(&order).unwrap());
    let decision = last_decision().unwrap();
    assert_eq!((decision.operation, decision.element, decision.side), ("bit_closure", "bit", Side::Cpu));
    assert_eq!((decision.bytes, &decision), (2 * 129 * 17, &device.plan_bit_closure(&order).unwrap()));
    assert_eq!(device.bit_reduction(&order).unwrap(), reduction(&order).unwrap());
    let decision = last_decision().unwrap();
    assert_eq!((decision.operation, &decision), ("bit_reduction", &device.plan_bit_reduction(&order).unwrap()));
    // On the CPU a reduction is a closure, which is the work of a product, and a product.
    let [closure, reduction] = [device.plan_bit_closure(&order), device.plan_bit_reduction(&order)].map(Result::unwrap);
    let times = reduction.cpu.compute / closure.cpu.compute;
    assert!((times - 2.0).abs() < 1e-9, "{times}");
    let ring = BitMatrix::from_fn(5, 5, |from, to| (from + 1) % 5 == to).unwrap();
    assert!(matches!(device.bit_reduction(&ring), Err(Error::Cyclic { operation: "bit_reduction", .. })));
    let aside = BitMatrix::zeros(2, 3).unwrap();
    assert!(matches!(device.bit_closure(&aside), Err(Error::NotSquare { operation: "bit_closure", .. })));
    let error = device.choosing(Choice::Gpu).bit_closure(&order).unwrap_err();
    assert!(matches!(error, Error::NoGpu { .. }), "{error}");
}

#[test]
fn x6_closures_go_to_the_gpu_where_that_is_faster() {
    let Some(gpu) = crate::gpu("device::evaluated::x6_closures_go_to_the_gpu_where_that_is_faster") else { return };
    let planned = |size: usize, room: u64| {
        let relation = BitMatrix::zeros(size, size).unwrap();
        let device = Device::with(&gpu).rated(Rates::h200()).within(budgets(Budget::new(Memory::Device, room)));
        [device.plan_bit_closure(&relation).unwrap(), device.plan_bit_reduction(&relation).unwrap()]
    };
    assert!(planned(256, 1 << 30).iter().all(|plan| plan.side == Side::Cpu));
    let [closed, reduced] = planned(16_384, 1 << 30);
    assert_eq!((closed.side, closed.reason), (Side::Gpu, Reason::Cost), "{closed}");
    let [closed, reduced] = [closed.gpu.unwrap(), reduced.gpu.unwrap()];
    // Three of them, and counts of rows.
    assert_eq!((closed.tiles, closed.device_bytes), (None, 3 * 16_384 * 2048 + 4 * 16_384));
    // 14 squares and a product, or two.
    let rounds = reduced.cost.compute / closed.cost.compute;
    assert!((rounds - 16.0 / 15.0).abs() < 1e-9, "{rounds}");
    let [streamed, _] = planned(16_384, 64 << 20);
    let streamed = streamed.gpu.unwrap();
    // Each square comes through the link, both of its factors.
    let all = 15.0 * 2.0 * 16_384.0 * 2048.0;
    let link = Rates::h200().gpu.unwrap().link;
    assert!(matches!(streamed.tiles, Some(Tiles::Bits(_))), "{streamed:?}");
    assert!((all / link.to_gpu..2.0 * all / link.both).contains(&streamed.cost.bring), "{streamed:?}");
}

/// Memory is short on the GPU, however small the parts are: the CPU goes on, or does not, as the policy says.
#[test]
fn b5_what_fails_on_the_gpu_goes_on_as_the_policy_says() {
    let test = "device::evaluated::b5_what_fails_on_the_gpu_goes_on_as_the_policy_says";
    let Some(gpu) = crate::gpu(test) else { return };
    let (whole, a, b) = (on_the_cpu(), bits(40, 50, 1), bits(50, 60, 2));
    let breaker = Breaker::new(0, Settings::default());
    let short = || eager(&gpu, budgets(shrinking(1, 0)), &breaker);
    let (ran, result) = sharpened(|it| short().evaluate(it, Control::default()));
    ran.unwrap();
    assert_eq!(result, whole);
    let failed = || {
        let outcome = last_outcome().unwrap();
        assert_eq!((last_decision().unwrap().side, outcome.side), (Side::Gpu, Side::Cpu));
        assert!(matches!(outcome.why, Some(Why::Failed(_))), "{outcome:?}");
    };
    failed();
    assert_eq!(short().bit_counts(&a, &b).unwrap(), Product::of(&a, &b).unwrap().counts().unwrap());
    failed();
    assert_eq!((breaker.health().fallbacks, breaker.health().recent_failures), (2, 2));
    let relation = bits(90, 90, 3);
    let apart = eager(&gpu, budgets(shrinking(1, 0)), &Breaker::new(0, Settings::default()));
    assert_eq!(apart.bit_closure(&relation).unwrap(), closure(&relation).unwrap());
    failed();
    // A copy with its diagonal, or three in tiles, are made in host memory, which the CPU does without.
    let host = Budget::new(Memory::Host, 90 * 16 - 1);
    let room = budgets(Budget::new(Memory::Device, 1 << 30));
    let tight = eager(&gpu, room, &Breaker::new(0, Settings::default())).falling_back_within(host.clone());
    assert_eq!(tight.bit_closure(&relation).unwrap(), closure(&relation).unwrap());
    assert_eq!((last_outcome().unwrap().side, host.peak()), (Side::Cpu, 0));
    let error = tight.choosing(Choice::Gpu).bit_closure(&relation).unwrap_err();
    assert!(matches!(error, Error::Budget { requested, .. } if requested >= 90 * 16), "{error}");
    breaker.set_policy(Policy::FailFast);
    let error = short().bit_product(&a, &b, Becomes::Parities).unwrap_err();
    assert_eq!(error.class(), Class::Resource, "{error}");
}
