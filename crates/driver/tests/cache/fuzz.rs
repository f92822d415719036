//! Bundles with anything wrong: never a panic, never another kernel, never more memory than the file can be worth.
//!
//! `TILEWRIGHT_FUZZ_ROUNDS` says how many files are tried, `TILEWRIGHT_FUZZ_SEED` from where on.

use std::{fs, path::Path};

use tilewright_driver::{Arch, Bundle, Compiled, KernelCache, Key, TargetKind};

use super::{bundle_of, compiled, golden::by_hand, only_entry, source};
use crate::allocations;

const ROUNDS: u64 = 4000;
const HEADER: usize = 40;
const TARGET: usize = 12;
const ROW: usize = 72;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// What counts and offsets go wrong at.
    fn number(&mut self, bytes: usize) -> u64 {
        let near = self.below(bytes + 1) as u64;
        let all = [0, 1, near, bytes as u64, u64::MAX, u64::from(u32::MAX), i64::MAX as u64, 256 << 20, self.next()];
        all[self.below(all.len())]
    }
}

/// Kernels of three targets: compressible and not, small and large.
fn kernels() -> Vec<(Key, Compiled)> {
    let kernel = |number: usize| {
        let text = format!("fuzzed {number}");
        let target = [TargetKind::Plain, TargetKind::Portable, TargetKind::ArchSpecific][number % 3];
        let mut image = compiled(&text, 1 + 211 * number * number).image;
        if number.is_multiple_of(2) {
            let mut random = Random(number as u64);
            image.iter_mut().for_each(|byte| *byte = random.next() as u8);
        }
        let arch = Arch::new(8 + number as u32 % 2, 0);
        let source = tilewright_driver::Source { target, ..source(&text) };
        (source.key(arch), Compiled { arch, target, image, ..compiled(&text, 1) })
    };
    (0..12).map(kernel).collect()
}

fn count(content: &[u8], at: usize, bytes: usize) -> usize {
    let mut raw = [0; 8];
    let Some(field) = content.get(at..at + bytes) else { return 0 };
    raw[..bytes].copy_from_slice(field);
    usize::try_from(u64::from_le_bytes(raw)).unwrap_or(0)
}

/// Where rows begin and end, as the header of what is left says.
fn rows(content: &[u8]) -> (usize, usize) {
    let begin = HEADER + TARGET * count(content, 12, 4).min(100);
    (begin, begin + ROW * count(content, 16, 8).min(100))
}

fn set(content: &mut [u8], at: usize, field: &[u8]) {
    if let Some(place) = content.get_mut(at..at + field.len()) {
        place.copy_from_slice(field);
    }
}

/// Does one thing to a file.
fn mutate(content: &mut Vec<u8>, random: &mut Random) {
    let (length, (begin, end)) = (content.len(), rows(content));
    let row = begin + ROW * random.below((end - begin) / ROW);
    match random.below(12) {
        0 => content.truncate(random.below(length + 1)),
        1 => content
            .iter_mut()
            .skip(random.below(length))
            .take(1 + random.below(8))
            .for_each(|byte| *byte ^= random.0 as u8),
        2 => {
            let (from, to) = (random.below(length), random.below(length));
            let piece: Vec<u8> = content[from..].iter().copied().take(random.below(200)).collect();
            content.splice(to..to, piece);
        }
        3 => {
            let from = random.below(length);
            content.drain(from..(from + random.below(200)).min(length));
        }
        4 => {
            let (from, to) = (random.below(length), random.below(length));
            let piece: Vec<u8> = content[from..].iter().copied().take(random.below(200)).collect();
            set(content, to, &piece);
        }
        5 => set(content, 12, &(random.number(length) as u32).to_le_bytes()),
        6 => set(content, [16, 24, 32][random.below(3)], &random.number(length).to_le_bytes()),
        7 => set(content, HEADER + 4 * random.below(9), &(random.number(length) as u32).to_le_bytes()),
        8 => set(content, row + 48, &random.number(length).to_le_bytes()),
        9 => set(content, row + 56 + 4 * random.below(4), &(random.number(length) as u32).to_le_bytes()),
        10 => {
            // A row, or only what it says of its entry, in the place of another.
            let (from, begin, end) = (begin + ROW * random.below((end - begin) / ROW), [0, 48][random.below(2)], ROW);
            let Some(piece) = content.get(from + begin..from + end).map(<[u8]>::to_vec) else { return };
            set(content, row + begin, &piece);
        }
        _ => set(content, row + 64, &[random.below(4) as u8, 0, random.below(3) as u8]),
    }
}

/// Makes the index whole again, as a forger would.
fn seal(content: &mut [u8]) {
    let end = rows(content).1.saturating_add(count(content, 24, 8));
    if end.saturating_add(32) <= content.len() {
        let hash = *blake3::hash(&content[..end]).as_bytes();
        set(content, end, &hash);
    }
}

/// Opens what has become of a file and asks it everything.
fn ask(path: &Path, content: &[u8], kernels: &[(Key, Compiled)], good: &Bundle) -> Option<usize> {
    fs::write(path, content).unwrap();
    let mut found = None;
    let largest = allocations::largest_during(|| {
        let Ok(bundle) = Bundle::open(path) else { return };
        let _ = (bundle.check(), bundle.targets().len(), good.conflicts(&bundle).len(), format!("{bundle:?}"));
        let asked = kernels.iter().map(|(key, _)| *key).chain(bundle.keys());
        let hits = asked.filter_map(|key| Some((key, bundle.get(&key)?)));
        let right = |(key, got): &(Key, Compiled)| kernels.iter().any(|(known, kernel)| known == key && kernel == got);
        found = Some(hits.inspect(|hit| assert!(right(hit), "another kernel")).count());
    });
    // A byte is believed to be 4096 at most, and 100 KB are for what is always there.
    assert!(largest <= content.len() * 4096 + 100_000, "{largest} bytes for a file of {}", content.len());
    found
}

#[test]
fn entries_that_are_whole_in_themselves() {
    let root = tempfile::tempdir().unwrap();
    let (text, kernel) = (source("text"), Compiled { arch: Arch::new(9, 0), ..compiled("text", 300) });
    KernelCache::open(root.path()).put(&text, kernel.clone());
    let entry = fs::read(only_entry(root.path())).unwrap();
    let (key, path) = (text.key(kernel.arch), root.path().join("kernels.twb"));
    let kernels = [(key, kernel.clone())];
    let (mut random, mut hits) = (Random(7), 0);
    for _ in 0..2000 {
        let mut body = entry[..entry.len() - 32].to_vec();
        // Behind the echo of the key: lengths, metadata, image.
        for _ in 0..1 + random.below(3) {
            let (at, number) = (44 + random.below(body.len() - 52), random.number(body.len()).to_le_bytes());
            set(&mut body, [44, 48, at][random.below(3)], &number[..1 << random.below(4)]);
        }
        let forged = [body.as_slice(), blake3::hash(&body).as_bytes()].concat();
        fs::write(&path, by_hand(&key, [0, 9, 0], &forged, &kernel.image)).unwrap();
        let largest = allocations::largest_during(|| {
            let bundle = Bundle::open(&path).unwrap();
            // A forger who gets everything right gets what they want. Nothing worse than that comes of it.
            let found = bundle.get(&key);
            assert!(bundle.check().is_err() || found.as_ref().is_some_and(|found| found.image == kernels[0].1.image));
            hits += usize::from(found.is_some());
        });
        assert!(largest < 50_000, "{largest}");
    }
    assert!((10..1990).contains(&hits), "{hits}");
}

#[test]
fn anything_goes() {
    let read = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (rounds, seed): (u64, u64) = (read("TILEWRIGHT_FUZZ_ROUNDS", ROUNDS), read("TILEWRIGHT_FUZZ_SEED", 1));
    let root = tempfile::tempdir().unwrap();
    let (path, kernels) = (root.path().join("kernels.twb"), kernels());
    Bundle::write(&path, kernels.clone()).unwrap();
    let (good, original) = (fs::read(&path).unwrap(), bundle_of(kernels.clone()));
    assert_ne!(count(&good, 24, 8), 0, "a dictionary");
    assert_eq!(ask(&path, &good, &kernels, &original), Some(24));
    let (mut opened, mut some) = (0, 0);
    for round in seed..seed + rounds {
        let mut random = Random(round);
        let mut content = good.clone();
        for _ in 0..1 + random.below(4) {
            mutate(&mut content, &mut random);
        }
        if random.below(8) > 0 {
            seal(&mut content);
        }
        let asked = std::panic::catch_unwind(|| ask(&path, &content, &kernels, &original));
        let Ok(found) = asked else { panic!("with TILEWRIGHT_FUZZ_SEED={round}") };
        opened += u64::from(found.is_some());
        some += u64::from(found.is_some_and(|found| (1..24).contains(&found)));
    }
    // Much is refused at once; the rest must be there too, or this tries nothing.
    assert!(
        opened > rounds / 20 && some > rounds / 50,
        "{opened} opened, {some} with a part of the kernels, of {rounds}"
    );
}
