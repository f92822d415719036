//! Features: finite for all that is legal, right where they can be counted by hand, and refused otherwise.

use proptest::prelude::*;
use tilewright_perf::features::{Features, GENERAL};
use tilewright_perf::{DeviceFacts, Error, Unit, Work};

fn amount() -> impl Strategy<Value = f32> {
    prop_oneof![Just(0.0f32), 0.0f32..1e4, (0.0f32..55.0).prop_map(f32::exp2)]
}

fn count() -> impl Strategy<Value = f32> {
    prop_oneof![Just(1.0f32), (0.0f32..30.0).prop_map(|x| x.exp2().floor()), (0.0f32..59.0).prop_map(f32::exp2)]
}

fn device() -> impl Strategy<Value = DeviceFacts> {
    let scale = || (-8.0f64..8.0).prop_map(f64::exp2);
    (scale(), scale(), scale(), scale(), 1u32..300).prop_map(|(memory, l2, clock, floor, multiprocessors)| {
        let h200 = DeviceFacts::h200();
        DeviceFacts {
            memory_bandwidth: h200.memory_bandwidth * memory,
            l2_bandwidth: h200.l2_bandwidth * l2,
            clock_mhz: h200.clock_mhz * clock,
            launch_floor_us: h200.launch_floor_us * floor,
            multiprocessors: multiprocessors.into(),
            ..h200
        }
    })
}

fn work() -> impl Strategy<Value = Work> {
    let amounts = [(); 5].map(|()| amount());
    let unit = prop_oneof![Just(Unit::F32), Just(Unit::F64), Just(Unit::TensorF16), Just(Unit::Tensor8)];
    (amounts, unit, count(), count(), 1u32..=1024, 1u32..=255, 0u32..=232_448, any::<u32>()).prop_map(
        |(amounts, unit, blocks, steps, threads, registers, shared_bytes, bytes_in_flight)| {
            let [bytes_read, bytes_written, bytes_moved, flops, flops_done] = amounts;
            let registers = registers.min(65_536 / threads);
            Work {
                bytes_read,
                bytes_written,
                bytes_moved,
                flops,
                flops_done,
                unit,
                blocks,
                threads,
                registers,
                shared_bytes,
                bytes_in_flight,
                steps,
                ..Work::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn all_are_finite(work in work(), device in device(), useful in count(), flag in -1e18f32..1e18) {
        let features = Features::new(&["n"], &["flag"]).unwrap();
        let work = work.dimension(useful, useful * 1.5).flag(flag);
        let mut row = vec![f32::NAN; features.count()];
        device.check().unwrap();
        let roofline = features.fill(&work, &device, &mut row).unwrap();
        prop_assert!(roofline.is_finite() && roofline >= device.launch_floor_us as f32);
        for (name, value) in features.names().iter().zip(&row) {
            prop_assert!(value.is_finite(), "{name} is {value} for {work:?}");
        }
    }
}

fn filled(work: &Work) -> impl Fn(&str) -> f32 {
    let features = Features::new(&[], &[]).unwrap();
    let mut row = vec![0.0; features.count()];
    features.fill(work, &DeviceFacts::h200(), &mut row).unwrap();
    move |name| row[GENERAL.iter().position(|(general, _)| *general == name).unwrap()]
}

#[test]
fn a_copy_by_hand() {
    // 430 MB at 4.3 TB/s: 100 us. 1,056 blocks fill 132 multiprocessors with 8 each.
    let work = Work {
        bytes_read: 215e6,
        bytes_written: 215e6,
        bytes_moved: 430e6,
        blocks: 1500.0,
        threads: 256,
        bytes_in_flight: 4096,
        ..Work::default()
    };
    let of = filled(&work);
    let near = |name, expected: f32| assert!((of(name) - expected).abs() < 1e-4, "{name}: {}, {expected}", of(name));
    near("log_memory_us", 100.0f32.log2());
    near("log_roofline_us", 100.0f32.log2());
    near("memory_share", 1.0);
    near("launch_share", 0.024);
    near("fit_blocks", 8.0);
    near("occupancy", 1.0);
    near("waves", 2.0);
    near("log_waves", (1500.0f32 / 1056.0).log2());
    near("wave_use", 1500.0 / 2112.0);
    near("last_wave", 444.0 / 1056.0);
    near("balance", 1500.0 / 132.0 / 12.0);
    near("log_in_flight", 15.0);
    near("log_block_bytes", (430e6f32 / 1500.0).log2());
}

#[test]
fn names_are_distinct_and_as_many_as_values() {
    let features = Features::new(&["m", "n"], &["stages", "split"]).unwrap();
    let mut names = features.names();
    assert_eq!(names.len(), features.count());
    assert_eq!(names[GENERAL.len()..], ["log_m", "use_m", "log_n", "use_n", "stages", "split"]);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), features.count());
}

#[test]
fn what_no_kernel_can_be_is_refused_with_the_limit() {
    let features = Features::new(&[], &[]).unwrap();
    let mut row = vec![0.0; features.count()];
    let base = Work::default();
    let cases = [
        (Work { threads: 1025, ..base }, 1025.0, 1024.0),
        (Work { threads: 0, ..base }, 0.0, 1024.0),
        (Work { registers: 256, ..base }, 256.0, 255.0),
        (Work { threads: 1024, registers: 65, ..base }, 66_560.0, 65_536.0),
        (Work { shared_bytes: 232_449, ..base }, 232_449.0, 232_448.0),
        (Work { blocks: 0.0, ..base }, 0.0, 1.0),
        (Work { steps: 0.5, ..base }, 0.5, 1.0),
    ];
    for (work, value, most) in cases {
        let error = features.fill(&work, &DeviceFacts::h200(), &mut row).unwrap_err();
        assert!(matches!(error, Error::Work { found, limit, .. } if (found, limit) == (value, most)), "{error}");
    }
    for work in
        [Work { flops: f32::NAN, ..base }, Work { bytes_read: -1.0, ..base }, Work { blocks: f32::INFINITY, ..base }]
    {
        assert!(matches!(features.fill(&work, &DeviceFacts::h200(), &mut row), Err(Error::Work { .. })));
    }
    let error = features.fill(&base.dimension(1.0, 1.0), &DeviceFacts::h200(), &mut row).unwrap_err();
    assert!(matches!(error, Error::Shape { found: 1, expected: 0, .. }), "{error}");
    let one = Features::new(&["n"], &[]).unwrap();
    let mut row = vec![0.0; one.count()];
    let error = one.fill(&base.dimension(8.0, 7.0), &DeviceFacts::h200(), &mut row).unwrap_err();
    assert!(matches!(error, Error::Work { found: 7.0, limit: 8.0, .. }), "{error}");
    assert!(matches!(Features::new(&["n"; 9], &[]), Err(Error::Shape { found: 9, expected: 8, .. })));
}
