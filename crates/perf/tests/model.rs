//! Models: files that come back the same, everything odd about a file an error, rankings, devices that no model knows.

use proptest::prelude::*;
use std::sync::LazyLock;
use tilewright_perf::dataset::{Named, named};
use tilewright_perf::device::Rates;
use tilewright_perf::synthetic::Synthetic;
use tilewright_perf::training::{Examples, Operation, Plan, train};
use tilewright_perf::{DeviceFacts, Error, Model, Models, Source, Work};

const HEADER: usize = 52;

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let rows = Synthetic.rows(40, 30, 11);
    let examples = Examples::of(&Synthetic, &rows, &[DeviceFacts::h200()]).unwrap();
    train(&Synthetic, &examples, &Plan::default(), "2026-11-22").unwrap()
});
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| MODEL.to_bytes().unwrap());

fn problem() -> Named {
    named([("m", 1000), ("n", 4096), ("k", 4096)])
}

fn works(device: &DeviceFacts) -> Vec<Work> {
    let legal = Synthetic.configurations(&problem(), device);
    legal.iter().map(|it| Synthetic.work(&problem(), it, device).unwrap()).collect()
}

/// A file with this body and a hash that is right.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut bytes = BYTES[..12].to_vec();
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(blake3::hash(body).as_bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn a_file_comes_back_the_same() {
    let back = Model::load(&BYTES).unwrap();
    assert_eq!(back, *MODEL);
    assert_eq!((back.op(), back.trained(), back.rows(), back.problems()), ("synthetic", "2026-11-22", 1200, 40));
    assert_eq!(sealed(&BYTES[HEADER..]), *BYTES);
    let device = DeviceFacts::h200();
    let works = works(&device);
    let rank = |model: &Model| model.rank(&device, works.len(), |index| works[index]).unwrap();
    assert_eq!(rank(&back), rank(&MODEL));
}

#[test]
fn files_cut_short_or_with_a_tail_are_refused() {
    for length in (0..HEADER + 20).chain((HEADER..BYTES.len()).step_by(97)) {
        assert!(matches!(Model::load(&BYTES[..length]), Err(Error::Model { .. })), "{length}");
    }
    let mut longer = BYTES.clone();
    longer.push(0);
    assert!(matches!(Model::load(&longer), Err(Error::Model { what: "length of the body", .. })));
    let mut body = BYTES[HEADER..].to_vec();
    body.push(0);
    assert!(matches!(Model::load(&sealed(&body)), Err(Error::Model { what: "rest behind the model", .. })));
    assert!(matches!(Model::load(&vec![0; (1 << 20) + 1]), Err(Error::Model { what: "size", .. })));
}

#[test]
fn foreign_and_future_files_are_refused_with_the_numbers() {
    let changed = |at: usize| {
        let mut bytes = BYTES.clone();
        bytes[at] ^= 3;
        Model::load(&bytes).unwrap_err()
    };
    assert!(matches!(changed(0), Error::Model { what: "magic", .. }));
    let future = changed(8).to_string();
    assert!(future.contains("schema is 2, expected 1"), "{future}");
    assert!(matches!(changed(HEADER + 100), Error::Model { what: "hash of the body", .. }));
}

#[test]
fn a_model_of_other_features_is_refused() {
    let at = BYTES.windows(8).position(|window| window == b"log_reus").unwrap();
    let mut body = BYTES[HEADER..].to_vec();
    body[at - HEADER] = b'L';
    let error = Model::load(&sealed(&body)).unwrap_err().to_string();
    assert!(error.contains("list of features is Log_reuse, expected log_reuse"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Model::load(&bytes).is_err());
        prop_assert!(Model::load(&sealed(&bytes)).is_err());
    }

    /// Behind a hash that is right: either it is refused, or it can be asked.
    #[test]
    fn no_change_makes_a_model_that_cannot_be_asked(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut body = BYTES[HEADER..].to_vec();
        for (at, byte) in changes {
            *at.get_mut(&mut body) = byte;
        }
        if let Ok(model) = Model::load(&sealed(&body)) {
            let works = works(&DeviceFacts::h200());
            model.rank(&DeviceFacts::h200(), 3, |index| works[index]).ok();
        }
    }
}

#[test]
fn a_ranking_is_sorted_whole_and_the_same_for_any_number_of_candidates() {
    let device = DeviceFacts::h200();
    let works = works(&device);
    let all = MODEL.rank(&device, 1000, |index| works[index % works.len()]).unwrap();
    assert!(all.all().windows(2).all(|pair| pair[0].microseconds <= pair[1].microseconds));
    let mut indices: Vec<u32> = all.all().iter().map(|it| it.index).collect();
    indices.sort_unstable();
    assert_eq!(indices, (0..1000).collect::<Vec<u32>>());
    assert!(all.all().iter().any(|it| it.spread > 0.0) && all.all().iter().all(|it| it.spread < 0.5));
    for candidate in all.all() {
        let alone = MODEL.rank(&device, 1, |_| works[candidate.index as usize % works.len()]).unwrap();
        assert_eq!(alone.best().microseconds, candidate.microseconds);
    }
    assert_eq!((all.top(3).len(), all.top(3)[0]), (3, all.best()));
    assert_eq!(all.top(5000).len(), 1000);
    assert_eq!(*all.source(), Source::Measured { architecture: 90 });
}

#[test]
fn what_cannot_be_ranked_is_refused() {
    let device = DeviceFacts::h200();
    let nothing = MODEL.rank(&device, 0, |_| Work::default());
    assert!(matches!(nothing, Err(Error::TooFew { found: 0, .. })));
    assert!(matches!(MODEL.rank(&device, 1, |_| Work::default()), Err(Error::Shape { .. })));
    let broken = DeviceFacts { clock_mhz: f64::NAN, ..device };
    assert!(matches!(MODEL.rank(&broken, 1, |_| Work::default()), Err(Error::Device { what: "clock", .. })));
}

#[test]
fn an_unknown_device_gets_the_nearest_architecture_scaled_and_is_told() {
    let small = DeviceFacts {
        name: "another".to_owned(),
        architecture: 86,
        multiprocessors: 66.0,
        memory_bandwidth: DeviceFacts::h200().memory_bandwidth / 4.0,
        l2_bandwidth: DeviceFacts::h200().l2_bandwidth / 4.0,
        rates: Rates::of_architecture(86),
        ..DeviceFacts::h200()
    };
    let mut models = Models::load(&[&BYTES]).unwrap();
    models.add(MODEL.clone());
    let model = models.nearest("synthetic", 86).unwrap();
    let works = works(&small);
    let rank = |device: &DeviceFacts| model.rank(device, works.len(), |index| works[index]).unwrap();
    let (scaled, known) = (rank(&small), rank(&DeviceFacts::h200()));
    assert_eq!(*scaled.source(), Source::Scaled { architecture: 86, trained_on: 90 });
    assert_eq!(scaled.source().to_string(), "sm_86 was never measured: scaled from sm_90");
    let times = scaled.best().microseconds / known.best().microseconds;
    assert!((2.0..16.0).contains(&times), "{times}");
    let missing = models.nearest("conv2d", 90).unwrap_err();
    assert!(matches!(missing, Error::NoModel { known: 2, .. }), "{missing}");
}

#[test]
fn a_gpu_of_the_same_chip_that_was_not_measured_is_asked_about_as_the_one_that_was() {
    let device = DeviceFacts::h200();
    let works = works(&device);
    let times = |device: &DeviceFacts| {
        let ranking = MODEL.rank(device, works.len(), |index| works[index]).unwrap();
        ranking.all().iter().map(|it| (it.index, it.microseconds)).collect::<Vec<_>>()
    };
    let slower = DeviceFacts { name: "another".to_owned(), memory_bandwidth: 1e12, ..device.clone() };
    assert_eq!(times(&slower), times(&device));
    let (smaller, itself) =
        (DeviceFacts { multiprocessors: 66.0, ..slower.clone() }, DeviceFacts { name: device.name.clone(), ..slower });
    assert_ne!(times(&smaller), times(&device));
    assert_ne!(times(&itself), times(&device));
}

#[test]
fn models_that_are_part_of_the_crate_are_found_by_their_operation() {
    let all = Models::shipped().unwrap();
    assert!(!all.is_empty());
    for model in all.iter() {
        let own = Models::shipped_of(model.op()).unwrap();
        assert!(own.iter().any(|it| it == model) && own.iter().all(|it| it.op() == model.op()), "{}", model.op());
    }
    assert!(Models::shipped_of("no operation").unwrap().is_empty());
}
