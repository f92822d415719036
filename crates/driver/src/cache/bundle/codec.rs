//! How entries are stored.

use zstd::{
    bulk::{Compressor, Decompressor},
    dict::{DecoderDictionary, EncoderDictionary},
};

/// No entry is packed if it grows more than this, so that nothing more is allocated for what a few bytes claim to be.
const MOST_GROWTH: u64 = 4096;
/// One more takes twice the time and gives 1 % less.
const LEVEL: i32 = 17;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// As they are.
    Stored,
    /// A frame of zstd, by the bundle's dictionary, without a checksum: what is unpacked has one of its own.
    Zstd,
}

impl Codec {
    pub(super) fn of(number: u8) -> Option<Self> {
        [Self::Stored, Self::Zstd].into_iter().find(|codec| codec.number() == number)
    }

    pub(super) fn number(self) -> u8 {
        self as u8
    }

    /// Whether so many bytes can come of so few: nothing is allocated for what cannot be.
    pub(super) fn can_give(self, stored: u64, whole: u64) -> bool {
        match self {
            Self::Stored => stored == whole,
            Self::Zstd => whole <= stored.saturating_mul(MOST_GROWTH),
        }
    }
}

/// Unpacks what was packed by one dictionary.
pub(super) struct Unpacker(DecoderDictionary<'static>);

impl Unpacker {
    /// `None` for what is no dictionary; none at all, of no bytes, is one.
    pub(super) fn new(dictionary: &[u8]) -> Option<Self> {
        DecoderDictionary::try_copy(dictionary).ok().map(Self)
    }

    /// The content as it is before it was packed, if it has exactly so many bytes.
    pub(super) fn unpack(&self, codec: Codec, stored: &[u8], whole: usize) -> Option<Vec<u8>> {
        match codec {
            Codec::Stored => Some(stored.to_vec()).filter(|content| content.len() == whole),
            Codec::Zstd => {
                let mut content = Vec::with_capacity(whole);
                let mut decompressor = Decompressor::with_prepared_dictionary(&self.0).ok()?;
                decompressor.decompress_to_buffer(stored, &mut content).ok()?;
                Some(content).filter(|content| content.len() == whole)
            }
        }
    }
}

/// Packs by one dictionary, or by none: of no bytes zstd would make one whose tables are meant for gigabytes.
pub(super) struct Packer(Option<EncoderDictionary<'static>>);

impl Packer {
    /// `None` for what is no dictionary.
    pub(super) fn new(dictionary: &[u8]) -> Option<Self> {
        if dictionary.is_empty() {
            return Some(Self(None));
        }
        EncoderDictionary::try_copy(dictionary, LEVEL).ok().map(|dictionary| Self(Some(dictionary)))
    }

    /// One for each thread: some megabytes of tables.
    pub(super) fn worker(&self) -> Worker<'_> {
        Worker(match &self.0 {
            None => Compressor::new(LEVEL).ok(),
            Some(dictionary) => Compressor::with_prepared_dictionary(dictionary).ok(),
        })
    }
}

/// Packs one entry after another; as they are if there is no memory for its tables.
pub(super) struct Worker<'a>(Option<Compressor<'a>>);

impl Worker<'_> {
    /// The content, packed if that makes it smaller.
    pub(super) fn pack(&mut self, content: &[u8]) -> (Codec, Vec<u8>) {
        let packed = self.0.as_mut().and_then(|packer| packer.compress(content).ok());
        let pays = |packed: &Vec<u8>| {
            packed.len() < content.len() && Codec::Zstd.can_give(packed.len() as u64, content.len() as u64)
        };
        match packed.filter(pays) {
            Some(packed) => (Codec::Zstd, packed),
            None => (Codec::Stored, content.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(bytes: usize) -> Vec<u8> {
        (0..bytes as u32).map(|i| (i.wrapping_mul(0x9e37_79b9) ^ (i.wrapping_mul(0x85eb_ca6b) >> 13)) as u8).collect()
    }

    #[test]
    fn what_is_packed_comes_back() {
        for dictionary in [vec![], noise(5000), b"kernel, ".repeat(20)] {
            let (packer, unpacker) = (Packer::new(&dictionary).unwrap(), Unpacker::new(&dictionary).unwrap());
            let texts = [vec![], vec![7], noise(300), vec![0; 10_000], b"kernel ".repeat(50), noise(70_000)];
            for content in texts {
                let (codec, stored) = packer.worker().pack(&content);
                assert!(stored.len() <= content.len() && codec.can_give(stored.len() as u64, content.len() as u64));
                assert_eq!(unpacker.unpack(codec, &stored, content.len()).as_ref(), Some(&content));
                assert_eq!(Codec::of(codec.number()), Some(codec));
                for wrong in [content.len() + 1, content.len().wrapping_sub(1), 2 * content.len() + 1] {
                    let none = wrong > 1 << 40 || unpacker.unpack(codec, &stored, wrong).is_none();
                    assert!(none, "{wrong} of {}", content.len());
                }
                let longer = [stored.as_slice(), &[0]].concat();
                assert_eq!(unpacker.unpack(codec, &longer, content.len()), None, "something lies behind");
            }
        }
    }

    #[test]
    fn what_is_packed() {
        let packer = Packer::new(&[]).unwrap();
        let mut packer = packer.worker();
        assert_eq!(packer.pack(&[0; 10_000]).0, Codec::Zstd);
        assert_eq!(packer.pack(&vec![0; 10_000_000]).0, Codec::Stored, "nobody would believe the few bytes");
        assert_eq!(packer.pack(blake3::hash(b"").as_bytes()).0, Codec::Stored);
        assert_eq!(Codec::of(2), None);
    }
}
