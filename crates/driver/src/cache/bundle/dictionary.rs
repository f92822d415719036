//! What the kernels of a bundle have in common, once for all of them: half of each, or more.

use super::codec::Packer;

/// Of a catalogue of 51 MB: 112 KB make it 3 % larger, 512 KB 2 % smaller.
const MOST_BYTES: usize = 256 << 10;
/// A dictionary has at most this part of what it is for.
const SHARE: usize = 32;
/// Below this one is not worth its place.
const LEAST_BYTES: usize = 2 << 10;
/// More are not looked at: every n-th kernel serves as well.
const MOST_SAMPLED: usize = 64 << 20;
/// What no kernel should take. One that would is in the dictionary as it is, and those like it refer to it: the variants of a long
/// function differ in little.
const LONG: usize = 12 << 10;
/// How many of the longest kernels are looked at for that, and how many find a place.
const LONGEST: usize = 48;
const MOST_LONG: usize = 6;

/// A dictionary for these entries; of no bytes where there is little to share. The same entries give the same one.
pub(super) fn of(entries: &[&[u8]]) -> Vec<u8> {
    let total: usize = entries.iter().map(|entry| entry.len()).sum();
    let bytes = MOST_BYTES.min(total / SHARE);
    if bytes < LEAST_BYTES {
        return Vec::new();
    }
    let samples: Vec<_> = entries.iter().step_by(total.div_ceil(MOST_SAMPLED)).collect();
    // It refuses what is too little or has nothing in common.
    let mut dictionary = zstd::dict::from_samples(&samples, bytes).unwrap_or_default();
    if !dictionary.is_empty() {
        let mut longest = entries.to_vec();
        longest.sort_by_key(|entry| std::cmp::Reverse(entry.len()));
        longest.truncate(LONGEST);
        for _ in 0..MOST_LONG {
            let Some(long) = longest_packed(&dictionary, &longest) else { break };
            if dictionary.len() + long.len() > total / SHARE {
                break;
            }
            dictionary.extend(long);
        }
    }
    dictionary
}

/// The one that takes most with this dictionary, if that is too much.
fn longest_packed<'a>(dictionary: &[u8], entries: &[&'a [u8]]) -> Option<&'a [u8]> {
    let packer = Packer::new(dictionary)?;
    let mut worker = packer.worker();
    let packed = entries.iter().map(|entry| (worker.pack(entry).1.len(), *entry));
    packed.max_by_key(|(bytes, _)| *bytes).filter(|(bytes, _)| *bytes > LONG).map(|(_, entry)| entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::bundle::codec::Unpacker;

    /// Entries of which a part is that of all, a part the group's, and the rest their own.
    fn entries(count: usize, own: usize) -> Vec<Vec<u8>> {
        let noise = |seed: u64, bytes: usize| {
            let mut reader = blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof();
            let mut noise = vec![0; bytes];
            reader.fill(&mut noise);
            noise
        };
        (0..count as u64)
            .map(|it| [noise(1, 3000), noise(1000 + it % 5, 2000), noise(10_000 + it, own)].concat())
            .collect()
    }

    #[test]
    fn what_all_have_is_stored_once() {
        let entries = entries(300, 500);
        let entries: Vec<_> = entries.iter().map(Vec::as_slice).collect();
        let dictionary = of(&entries);
        assert!((LEAST_BYTES..=300 * 5500 / SHARE).contains(&dictionary.len()), "{}", dictionary.len());
        assert_eq!(of(&entries), dictionary, "the same again");
        let (packer, unpacker) = (Packer::new(&dictionary).unwrap(), Unpacker::new(&dictionary).unwrap());
        for entry in entries {
            let (codec, stored) = packer.worker().pack(entry);
            assert!(stored.len() < 1200, "{}", stored.len());
            assert_eq!(unpacker.unpack(codec, &stored, entry.len()).as_deref(), Some(entry));
        }
    }

    #[test]
    fn long_ones_refer_to_one_of_them() {
        let mut entries = entries(2000, 300);
        let long: Vec<u8> = entries.iter().skip(40).take(60).flat_map(|entry| &entry[5000..]).copied().collect();
        for variant in 0..3 {
            entries.push([&long[..], &[variant]].concat());
        }
        let slices: Vec<_> = entries.iter().map(Vec::as_slice).collect();
        let packer = Packer::new(&of(&slices)).unwrap();
        let bytes: Vec<_> = slices[2000..].iter().map(|entry| packer.worker().pack(entry).1.len()).collect();
        assert!(bytes.iter().all(|bytes| *bytes < 200), "{bytes:?} of {}", long.len());
    }

    #[test]
    fn few_or_nothing_in_common() {
        assert!(of(&[]).is_empty());
        assert!(of(&[&[7; 1000]]).is_empty());
        let noise: Vec<_> = (0..3).map(|it| vec![it; 100_000]).collect();
        let noise: Vec<_> = noise.iter().map(Vec::as_slice).collect();
        assert!(Packer::new(&of(&noise)).is_some());
    }
}
