//! Where operations run, by rates that are given. Numbers are those of the acceptance cases for dispatch.

mod counts;
mod products;
mod vectors;

use std::fs;
use tilewright_hybrid::dispatch::{
    At, Bound, Choice, Decision, GpuIdentity, Identity, Job, Operand, ProductExtents, Profile, Rates,
};
use tilewright_hybrid::dispatch::{Reason, Tiles, Tiling, Unit, Verb, decide, last_decision};
use tilewright_hybrid::stream::Pass;
use tilewright_hybrid::{Class, Columns, Error, Rows, Shape, Side};

const GIB: u64 = 1 << 30;

fn matmul([rows, columns, depth]: [usize; 3], at: At) -> Job {
    Job::matmul(("f64", 8, Unit::F64), ProductExtents { rows, columns, depth }, [at; 3], false).unwrap()
}

fn decided(job: &Job) -> Decision {
    Decision::of(job, Choice::Auto, &Rates::h200(), 8 * GIB).unwrap()
}

#[test]
fn d1_small_products_stay_on_the_cpu() {
    let decision = decided(&matmul([64; 3], At::Pageable));
    assert_eq!((decision.side, decision.reason), (Side::Cpu, Reason::Cost));
    let text = decision.to_string();
    assert!(text.starts_with("cpu.matmul.f64 reason=cost(cpu=13."), "{text}");
    assert!(text.contains("gpu="), "{text}");
}

#[test]
fn d2_large_products_go_to_the_gpu_and_say_what_binds_them() {
    let pinned = decided(&matmul([8192; 3], At::Pinned));
    assert_eq!((pinned.side, pinned.bound()), (Side::Gpu, Bound::Bring));
    // Two factors at 55 GB/s, 1.1e12 operations at 60e12, one result back; three copies of 10 us, a call of 13 and a kernel's 11 besides.
    let expected =
        2.0 * 8192.0f64.powi(2) * 8.0 / 55e9 + 2.0 * 8192.0f64.powi(3) / 60e12 + 8192.0f64.powi(2) * 8.0 / 55e9;
    let wall = pinned.cost().wall;
    assert!((wall / (expected + 54e-6) - 1.0).abs() < 1e-5, "{wall} {expected}");
    // The record says where operands lie, and by which rates it was decided.
    let operand = Operand { bytes: 8 << 26, at: At::Pinned };
    assert_eq!((pinned.read, pinned.written), ([Some(operand), Some(operand), None], operand));
    assert_eq!(pinned.rates, Rates::h200());
    let measured = Rates { measured_in: Some(0.0312), ..Rates::h200() };
    let job = Job { written: Operand { at: At::Disk, ..operand }, ..matmul([8192; 3], At::Pinned) };
    let measured = Decision::of(&job, Choice::Auto, &measured, 8 * GIB).unwrap().explain().to_string();
    let lines: Vec<&str> = measured.lines().collect();
    assert!(lines[0].starts_with("gpu.matmul.f64 reason=cost("), "{measured}");
    assert_eq!(
        lines[1..],
        [
            "reads 0.537 GB pinned, 0.537 GB pinned; writes 0.537 GB on a disk",
            "cpu: 0.96 TFLOP/s in f64, 1.92 in f32; 200 GB/s of memory",
            "gpu: 60 TFLOP/s in f64, 50 in f32; 4250 GB/s of memory",
            "link: 55 GB/s to the GPU, 55 back, 51 both at once; pageable 3.7 and 2.59",
            "rates measured in 31.20 ms",
        ],
        "{measured}"
    );
    assert!(pinned.explain().to_string().ends_with("rates not measured"));
    // From pageable memory copies take longer, and far longer where no threads help.
    for (size, least, most) in [(8192, 1.3, 2.0), (480, 5.0, 15.0)] {
        let [pinned, pageable] = [At::Pinned, At::Pageable].map(|at| decided(&matmul([size; 3], at)).gpu.unwrap());
        let slower = pageable.cost.bring / pinned.cost.bring;
        assert!(least < slower && slower < most, "{size}: {slower}");
    }
}

#[test]
fn d3_a_sum_of_what_lies_in_host_memory_is_not_worth_a_copy() {
    let operand = |at| Operand { bytes: 8 << 28, at };
    let job = |at| {
        Job::elementwise(
            "add",
            ("f64", Unit::F64),
            (1 << 28, 1.0),
            [Some(operand(at)), Some(operand(at)), None],
            operand(at),
        )
    };
    assert_eq!(decided(&job(At::Pinned)).side, Side::Cpu);
    let there = decided(&job(At::Gpu));
    assert_eq!((there.side, there.bound()), (Side::Gpu, Bound::Compute));
    assert_eq!(there.gpu.unwrap().device_bytes, 0);
}

#[test]
fn d4_a_vector_is_multiplied_where_the_matrix_is() {
    let of = |columns, at| decided(&matmul([16_384, columns, 16_384], at)).side;
    assert_eq!((of(1, At::Pinned), of(1, At::Gpu)), (Side::Cpu, Side::Gpu));
    // With enough right-hand sides copies pay: the CPU multiplies by so many while the GPU gets what the CPU's cores have read before.
    let enough = (8.0 * (1.0 / 55e9 - 1.0 / 85e9) * 960e9 / 2.0) as usize;
    assert_eq!((of(enough * 4 / 5, At::Pinned), of(enough * 5 / 4, At::Pinned)), (Side::Cpu, Side::Gpu));
}

#[test]
fn d5_extents_count_and_not_the_square_of_the_longest() {
    let skinny = matmul([65_536, 16, 16], At::Pinned);
    assert_eq!(skinny.flops, 2.0 * 65_536.0 * 256.0);
    assert_eq!(decided(&skinny).side, Side::Cpu);
    let complex =
        Job::matmul(("c64", 8, Unit::F32), ProductExtents { rows: 3, columns: 5, depth: 7 }, [At::Gpu; 3], true);
    let complex = complex.unwrap();
    assert_eq!((complex.flops, complex.bytes()), (8.0 * 105.0, 8 * (21 + 35 + 15 + 15)));
}

#[test]
fn d7_a_profile_is_kept_for_its_own_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/profile.json");
    let identity = Identity::of_cpu();
    let mut measured = 0;
    let mut kept = |identity: &Identity, rates: Rates| {
        Profile::kept_or_measured(&path, identity, || {
            measured += 1;
            rates
        })
        .rates
    };
    let own = Rates { measured_in: Some(0.0125), ..Rates::of_cores(3) };
    let other = Rates::h200();
    assert_eq!((kept(&identity, own), kept(&identity, other)), (own, own), "measured once");
    let foreign = Identity { cores: identity.cores + 1, ..identity.clone() };
    assert_eq!(kept(&foreign, other), other, "another machine's");
    assert_eq!(kept(&identity, own), own);
    let whole = fs::read(&path).unwrap();
    // Cut short, changed, with a rate that cannot be, of an earlier form, no text at all, far too long.
    let text = String::from_utf8(whole.clone()).unwrap();
    let negative = text.replace("\"memory\": 60000000000.0", "\"memory\": -1.0");
    let earlier = text.replace("\"schema\": 10", "\"schema\": 9");
    assert!(negative != text && earlier != text);
    let odd: [Vec<u8>; 5] =
        [whole[..whole.len() / 2].to_vec(), negative.into(), earlier.into(), vec![0xff; 99], vec![b' '; 1 << 20]];
    for bytes in odd {
        fs::write(&path, &bytes).unwrap();
        assert_eq!(Profile::read(&path, &identity).unwrap_err().class(), Class::Io);
        assert_eq!(kept(&identity, own), own);
        assert_eq!(fs::read(&path).unwrap(), whole, "written anew");
    }
    assert_eq!(measured, 8);
}

/// Another GPU, another driver, another slot: each is another machine.
#[test]
fn d7_uuid_driver_and_link_each_force_new_measurements() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.json");
    let gpu = GpuIdentity {
        name: "NVIDIA H200".into(),
        uuid: "7a1c".into(),
        driver: "580.65.06".into(),
        link: Some("32.0 GT/s PCIe x16".into()),
    };
    let changed = [
        GpuIdentity { uuid: "7a1d".into(), ..gpu.clone() },
        GpuIdentity { driver: "580.95.05".into(), ..gpu.clone() },
        GpuIdentity { link: Some("32.0 GT/s PCIe x8".into()), ..gpu.clone() },
        GpuIdentity { link: None, ..gpu.clone() },
        GpuIdentity { name: "NVIDIA H100".into(), ..gpu.clone() },
    ];
    let of = |gpu: &GpuIdentity| Identity { gpu: Some(gpu.clone()), ..Identity::of_cpu() };
    let kept = |identity: &Identity, cores: usize| {
        let rates = Rates { gpu: Rates::h200().gpu, ..Rates::of_cores(cores) };
        Profile::kept_or_measured(&path, identity, || rates).rates == rates
    };
    for other in changed {
        assert!(kept(&of(&gpu), 1) && !kept(&of(&gpu), 2), "its own is kept");
        assert!(kept(&of(&other), 2), "measured anew: {other:?}");
        assert!(!kept(&of(&other), 1), "and kept");
        // And so where the file is damaged.
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        assert!(kept(&of(&other), 3));
        fs::remove_file(&path).unwrap();
    }
    assert!(kept(&Identity::of_cpu(), 1) && kept(&of(&gpu), 2), "without a GPU");
}

/// A GPU that could not be measured is measured by the next process.
#[test]
fn d7_rates_without_those_of_a_gpu_that_is_there_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.json");
    let gpu = GpuIdentity { name: "NVIDIA H200".into(), uuid: "7a1c".into(), driver: "580.65.06".into(), link: None };
    let identity = Identity { gpu: Some(gpu), ..Identity::of_cpu() };
    let kept = |rates: Rates| Profile::kept_or_measured(&path, &identity, || rates).rates;
    let (without, with) = (Rates::of_cores(4), Rates::h200());
    assert_eq!((kept(without), path.exists()), (without, false));
    // Nor is such a file believed.
    Profile::new(identity.clone(), without).write(&path).unwrap();
    let error = Profile::read(&path, &identity).unwrap_err();
    assert!(error.to_string().ends_with("no rates of its GPU, NVIDIA H200"), "{error}");
    assert_eq!((kept(with), kept(without)), (with, with));
}

#[test]
fn d7_a_profile_that_cannot_be_kept_is_no_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().join("profile.json");
    let rates = Rates::of_cores(2);
    assert_eq!(Profile::kept_or_measured(&path, &Identity::of_cpu(), || rates).rates, rates);
}

#[test]
fn d8_what_is_forced_and_cannot_be_is_an_error_with_the_reason() {
    let mut job = matmul([4096; 3], At::Pinned);
    let no_gpu = Decision::of(&job, Choice::Gpu, &Rates::of_cores(4), GIB).unwrap_err();
    assert!(matches!(no_gpu, Error::NoGpu { .. }) && no_gpu.class() == Class::User, "{no_gpu}");
    job.not_on_gpu = Some("integers of 64 bits");
    let refused = Decision::of(&job, Choice::Gpu, &Rates::h200(), GIB).unwrap_err();
    assert_eq!(refused.to_string(), "matmul of f64 is not there on the GPU: integers of 64 bits");
    let auto = Decision::of(&job, Choice::Auto, &Rates::h200(), GIB).unwrap();
    assert_eq!((auto.side, auto.reason, auto.gpu), (Side::Cpu, Reason::Unsupported("integers of 64 bits"), None));
    let asked = Decision::of(&matmul([4096; 3], At::Pinned), Choice::Cpu, &Rates::h200(), GIB).unwrap();
    assert_eq!((asked.side, asked.reason), (Side::Cpu, Reason::Asked));
}

/// However small it is, and each factor comes from a disk as often as there are tiles beside it.
#[test]
fn what_is_stored_is_streamed_at_the_rate_of_where_it_lies() {
    let of = |at: [At; 3], tiling, budget| {
        let extents = ProductExtents { rows: 4096, columns: 4096, depth: 4096 };
        let job = Job { tiling, ..Job::matmul(("f64", 8, Unit::F64), extents, at, false).unwrap() };
        Decision::of(&job, Choice::Gpu, &Rates::h200(), budget).unwrap().gpu.unwrap()
    };
    let bytes = 8.0 * 4096.0f64.powi(2);
    assert!(of([At::Pinned; 3], Tiling::AsNeeded, GIB).tiles.is_none());
    let locked = of([At::Pinned; 3], Tiling::ByRows, GIB);
    let stored = of([At::Disk, At::Pinned, At::Disk], Tiling::Always, GIB);
    assert!(locked.tiles.is_some() && stored.tiles.is_some());
    assert_eq!((stored.cost.bring, stored.cost.back), (bytes / 1e9, bytes / 1e9), "a disk reads and writes 1 GB/s");
    let job =
        Job::matmul(("f64", 8, Unit::F64), ProductExtents { rows: 9, columns: 9, depth: 9 }, [At::Disk; 3], false);
    let plan = |rates: &Rates| Decision::of(job.as_ref().unwrap(), Choice::Cpu, rates, GIB).unwrap().to_string();
    assert!(plan(&Rates::h200()).ends_with("disk=1.00 GB/s unmeasured"), "{}", plan(&Rates::h200()));
    assert!(plan(&Rates { disk: 2.5e9, ..Rates::h200() }).ends_with("disk=2.50 GB/s"));
    assert!(locked.cost.bring < 2.1 * bytes / 51e9 && stored.cost.call > locked.cost.call, "{locked:?}");
    // What is in memory goes there whole, if it is so little that a stream would hardly have begun.
    let at_hand = |side: usize, budget| {
        let extents = ProductExtents { rows: side, columns: side, depth: side };
        let job = Job::matmul(("f64", 8, Unit::F64), extents, [At::Pinned; 3], false).unwrap();
        let job = Job { tiling: Tiling::ByRows, is_at_hand: true, ..job };
        Decision::of(&job, Choice::Gpu, &Rates::h200(), budget).unwrap().gpu.unwrap()
    };
    assert!(at_hand(256, GIB).tiles.is_none() && at_hand(256, 1 << 20).tiles.is_some());
    assert_eq!(at_hand(4096, GIB), locked);
    let few = of([At::Disk, At::Pinned, At::Pinned], Tiling::Always, 128 << 20);
    let Some(Tiles::Product(plan)) = few.tiles else { panic!("{few:?}") };
    assert!(plan.counts()[1] > 1);
    assert_eq!(few.cost.bring, plan.counts()[1] as f64 * bytes / 1e9);
}

/// What streams take to begin is counted; the CPU takes what is page-locked where it is.
#[test]
fn small_products_of_what_is_stored_are_the_cpus() {
    let locked = [At::Pinned; 3];
    let mixed = [At::Pinned, At::Pageable, At::Pageable];
    for (bytes, unit, places, [rows, columns, depth]) in [
        (4, Unit::F32, locked, [2610, 50, 186]),
        (8, Unit::F64, locked, [14, 4601, 30]),
        (8, Unit::F64, locked, [173, 252, 3607]),
        (4, Unit::F32, locked, [1467, 5, 480]),
        (8, Unit::F64, mixed, [176, 59, 2996]),
        (8, Unit::F64, mixed, [4, 1031, 4608]),
        (4, Unit::F32, mixed, [4869, 52, 154]),
    ] {
        let extents = ProductExtents { rows, columns, depth };
        let job = Job::matmul(("", bytes, unit), extents, places, false).unwrap();
        let stored = decided(&Job { tiling: Tiling::Always, ..job.clone() });
        assert_eq!(stored.side, Side::Cpu, "{stored}");
        // All at once begins sooner.
        if places == locked {
            let [of_cpu, of_gpu] = [stored.cpu.wall, stored.gpu.unwrap().cost.wall];
            let here = decided(&job);
            assert!(of_cpu == here.cpu.wall && of_gpu > here.gpu.unwrap().cost.wall + 2e-4, "{stored}, {here}");
        }
    }
}

#[test]
fn d9_sizes_never_wrap() {
    let of = |rows, columns, depth| {
        Job::matmul(("f64", 8, Unit::F64), ProductExtents { rows, columns, depth }, [At::Disk; 3], false)
    };
    assert_eq!(of(46_341, 46_341, 1).unwrap().written.bytes, 46_341 * 46_341 * 8);
    assert_eq!(of(3_000_000, 1, 800).unwrap().read[0].unwrap().bytes, 19_200_000_000);
    let error = of(1 << 31, 1 << 31, 1).unwrap_err();
    assert!(matches!(error, Error::TooLarge { rows, .. } if rows == 1 << 31), "{error}");
    assert!(of(usize::MAX, 2, 2).is_err());
}

#[test]
fn what_does_not_fit_is_streamed_or_stays() {
    let large = decided(&matmul([32_768; 3], At::Pinned));
    let gpu = large.gpu.unwrap();
    let Some(Tiles::Product(plan)) = gpu.tiles else { panic!("26 GB do not fit into 8 GiB") };
    assert_eq!((large.side, plan.counts()[..2].to_vec()), (Side::Gpu, vec![2, 2]));
    assert!(large.to_string().contains("streamed in 2 x 2 tiles of 16384 x 16384"), "{large}");
    assert!(gpu.device_bytes <= 8 * GIB);
    let square = Shape::new(Rows(49_152), Columns(49_152));
    let solve = Job::verb::<f64>(Verb::Solve, square, Columns(16)).unwrap();
    let solved = decided(&solve);
    let Some(Tiles::Solution { factors, solution }) = solved.gpu.unwrap().tiles else { panic!("19 GB do not fit") };
    assert_eq!((solved.side, factors.size, solution.columns), (Side::Gpu, 49_152, 16));
    assert!(solved.to_string().contains("columns, and 1 of 16 that are solved for"), "{solved}");
    let roomy = Decision::of(&solve, Choice::Gpu, &Rates::h200(), 64 * GIB).unwrap();
    assert!(roomy.gpu.unwrap().tiles.is_none(), "{roomy}");
    for (verb, pass) in [(Verb::Lu, Pass::Lu), (Verb::Condition, Pass::Lu), (Verb::Cholesky, Pass::Cholesky)] {
        let factored = decided(&Job::verb::<f64>(verb, square, Columns(0)).unwrap());
        let Some(Tiles::Factors(plan)) = factored.gpu.unwrap().tiles else { panic!("{factored}") };
        assert_eq!((factored.side, plan.pass, plan.size), (Side::Gpu, pass, 49_152));
        assert!(factored.to_string().ends_with("columns"), "{factored}");
        let tall = Shape::new(Rows(49_153), Columns(49_152));
        assert_eq!(decided(&Job::verb::<f64>(verb, tall, Columns(0)).unwrap()).reason, Reason::TooLarge);
    }
    // Element by element nothing can be streamed here: too large for the GPU is for the CPU.
    let operand = Operand { bytes: 9 * GIB, at: At::Pinned };
    let map = Job::elementwise("exp", ("f64", Unit::F64), (9 * GIB / 8, 1e6), [Some(operand), None, None], operand);
    assert_eq!((decided(&map).side, decided(&map).reason), (Side::Cpu, Reason::TooLarge));
    let forced = Decision::of(&map, Choice::Gpu, &Rates::h200(), 8 * GIB).unwrap_err();
    assert_eq!(forced.class(), Class::Resource, "{forced}");
}

#[test]
fn decisions_can_be_read_back_on_their_thread() {
    assert_eq!(last_decision(), None);
    let job = matmul([8192; 3], At::Pinned);
    let planned = decided(&job);
    assert_eq!(last_decision(), None, "a plan is no decision");
    let decision = decide(&job, Choice::Auto, &Rates::h200(), 8 * GIB).unwrap();
    assert_eq!((last_decision(), &planned), (Some(decision.clone()), &decision));
    assert_eq!(std::thread::spawn(last_decision).join().unwrap(), None);
    decide(&job, Choice::Gpu, &Rates::of_cores(1), GIB).unwrap_err();
    assert_eq!(last_decision(), Some(decision));
}
