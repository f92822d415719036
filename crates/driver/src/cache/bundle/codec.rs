//! How entries are stored.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// No input of DEFLATE grows more than this: 258 bytes for two bits.
const MOST_GROWTH: u64 = 1032;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// As they are.
    Stored,
    /// DEFLATE, without a header: what is unpacked has a checksum of its own.
    Deflate,
}

impl Codec {
    pub(super) fn of(number: u8) -> Option<Self> {
        [Self::Stored, Self::Deflate].into_iter().find(|codec| codec.number() == number)
    }

    pub(super) fn number(self) -> u8 {
        self as u8
    }

    /// Whether so many bytes can come of so few: nothing is allocated for what cannot be.
    pub(super) fn can_give(self, stored: u64, whole: u64) -> bool {
        match self {
            Self::Stored => stored == whole,
            Self::Deflate => whole <= stored.saturating_mul(MOST_GROWTH),
        }
    }

    /// The content as it is before it was packed, if it has exactly so many bytes.
    pub(super) fn unpack(self, stored: &[u8], whole: usize) -> Option<Vec<u8>> {
        match self {
            Self::Stored => Some(stored.to_vec()).filter(|content| content.len() == whole),
            Self::Deflate => {
                // One byte more than there should be, so that it shows if there is more.
                let (mut content, mut inflate) = (Vec::with_capacity(whole + 1), Decompress::new(false));
                let ended = inflate.decompress_vec(stored, &mut content, FlushDecompress::Finish).ok()?;
                let all = inflate.total_in() == stored.len() as u64;
                (ended == Status::StreamEnd && all && content.len() == whole).then_some(content)
            }
        }
    }
}

/// The content, packed if that makes it smaller.
pub(super) fn pack(content: Vec<u8>) -> (Codec, Vec<u8>) {
    // What does not fit into less is stored as it is.
    let mut packed = Vec::with_capacity(content.len());
    let ended = Compress::new(Compression::best(), false).compress_vec(&content, &mut packed, FlushCompress::Finish);
    match ended {
        Ok(Status::StreamEnd) if packed.len() < content.len() => (Codec::Deflate, packed),
        _ => (Codec::Stored, content),
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
        let texts = [vec![], vec![7], noise(300), vec![0; 100_000], b"kernel ".repeat(50), noise(70_000)];
        for content in texts {
            let (codec, stored) = pack(content.clone());
            assert!(stored.len() <= content.len() && codec.can_give(stored.len() as u64, content.len() as u64));
            assert_eq!(codec.unpack(&stored, content.len()).as_ref(), Some(&content));
            assert_eq!(Codec::of(codec.number()), Some(codec));
            for wrong in [content.len() + 1, content.len().wrapping_sub(1), 2 * content.len() + 1] {
                assert!(wrong > 1 << 40 || codec.unpack(&stored, wrong).is_none(), "{wrong} of {}", content.len());
            }
            let longer = [stored.as_slice(), &[0]].concat();
            assert_eq!(codec.unpack(&longer, content.len()), None, "something lies behind");
        }
        assert_eq!(pack(vec![0; 100_000]).0, Codec::Deflate);
        assert_eq!(pack(blake3::hash(b"").as_bytes().to_vec()).0, Codec::Stored);
        assert_eq!(Codec::of(2), None);
    }
}
