//! The start of a bundle: what it is, which targets it has, and where each kernel lies.
//!
//! ```text
//! magic (8), format (4), number of targets (4), number of kernels (8), bytes of the dictionary (8), bytes of the whole file (8)
//! for each target: form (4), major (4), minor (4)
//! for each kernel, by rising keys: key (32), start of its image's BLAKE3 (16), offset (8), stored bytes (4), whole bytes (4),
//!     target (2), codec (1), zeros (5)
//! the dictionary
//! BLAKE3 of all that
//! ```
//!
//! Numbers are little-endian, and nothing is aligned.

use std::ops::Range;

use super::codec::Codec;
use crate::{Arch, Key, Target, TargetKind, cache::entry};

pub(super) const MAGIC: [u8; 8] = *b"TWBNDL\r\n";

/// Raised when this page changes.
pub(super) const FORMAT: u32 = 2;

const HEADER: usize = 40;
const TARGET: usize = 12;
const ROW: usize = 72;
const HASH: usize = 32;

/// What the header and the table of targets say; rows are read where they lie.
pub(super) struct Index {
    pub(super) targets: Vec<Target>,
    /// All of the bundle, its index among it.
    pub(super) bytes: u64,
    rows: Range<usize>,
    dictionary: Range<usize>,
}

/// One kernel of a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) key: Key,
    pub(super) digest: [u8; 16],
    pub(super) offset: u64,
    pub(super) stored: u32,
    pub(super) whole: u32,
    pub(super) target: u16,
    pub(super) codec: Codec,
}

/// The start of an image's hash: what differs under one key is told by it.
pub(super) fn digest(image: &[u8]) -> [u8; 16] {
    let hash = *blake3::hash(image).as_bytes();
    std::array::from_fn(|at| hash[at])
}

impl Index {
    /// Reads and checks the index of a bundle; what is wrong, if something is. Afterwards every row is sound.
    pub(super) fn read(content: &[u8]) -> Result<Self, String> {
        let [targets, kernels, dictionary, bytes] = header(content)?;
        if (content.len() as u64) < bytes {
            return Err(format!("it is cut off, {} of {bytes} bytes are there; copy it again", content.len()));
        }
        // Before anything is allocated: no more than there is room for.
        let rows = HEADER as u64 + TARGET as u64 * targets;
        let behind = kernels.checked_mul(ROW as u64).and_then(|bytes| bytes.checked_add(rows)).ok_or(FORGED)?;
        let end = behind.checked_add(dictionary).ok_or(FORGED)?;
        if end.saturating_add(HASH as u64) > bytes {
            return Err(FORGED.into());
        }
        let (rows, behind, end) = (rows as usize, behind as usize, end as usize);
        if *blake3::hash(&content[..end]).as_bytes() != content[end..end + HASH] {
            return Err("its index is damaged; copy it again, or build it anew".into());
        }
        let targets = content[HEADER..rows].as_chunks().0.iter().map(decode_target).collect::<Option<Vec<_>>>();
        let index = Self { targets: targets.ok_or(FORGED)?, bytes, rows: rows..behind, dictionary: behind..end };
        index.check_rows(content)?;
        Ok(index)
    }

    fn check_rows(&self, content: &[u8]) -> Result<(), &'static str> {
        let mut last: Option<Key> = None;
        for raw in self.rows(content) {
            let row = Row::decode(raw).filter(|row| self.fits(row)).ok_or(FORGED)?;
            if last.is_some_and(|last| last >= row.key) {
                return Err("its index does not rise, so some kernel is there twice; build it anew");
            }
            last = Some(row.key);
        }
        Ok(())
    }

    /// What entries are packed by; nothing of a content that has become too short.
    pub(super) fn dictionary<'a>(&self, content: &'a [u8]) -> &'a [u8] {
        content.get(self.dictionary.clone()).unwrap_or_default()
    }

    /// All rows; none of a content that has become too short.
    pub(super) fn rows<'a>(&self, content: &'a [u8]) -> &'a [[u8; ROW]] {
        content.get(self.rows.clone()).unwrap_or_default().as_chunks().0
    }

    /// The row of this key, if it is (still) sound.
    pub(super) fn row(&self, content: &[u8], key: &Key) -> Option<Row> {
        let rows = self.rows(content);
        let at = rows.binary_search_by(|row| row[..key.0.len()].cmp(&key.0)).ok()?;
        Row::decode(&rows[at]).filter(|row| self.fits(row))
    }

    /// Whether it lies between the index and the end, and holds what can be a kernel.
    pub(super) fn fits(&self, row: &Row) -> bool {
        let (stored, whole) = (u64::from(row.stored), u64::from(row.whole));
        whole <= entry::LIMIT
            && row.codec.can_give(stored, whole)
            && usize::from(row.target) < self.targets.len()
            && row.offset >= (self.dictionary.end + HASH) as u64
            && row.offset.checked_add(stored).is_some_and(|behind| behind <= self.bytes)
    }
}

pub(super) const FORGED: &str = "its index makes no sense, so it is damaged or forged; build it anew";
const FOREIGN: &str = "it is no bundle; name a file that `cargo xtask build-ptx` or `cargo xtask cache pack` wrote";

/// The numbers of targets, kernels, bytes of the dictionary and bytes of all.
fn header(content: &[u8]) -> Result<[u64; 4], String> {
    let (magic, rest) = content.split_first_chunk().ok_or(FOREIGN)?;
    if *magic != MAGIC {
        return Err(FOREIGN.into());
    }
    let short = || format!("it is cut off, {} bytes are there; copy it again", content.len());
    let (format, rest) = rest.split_first_chunk().ok_or_else(short)?;
    match u32::from_le_bytes(*format) {
        FORMAT => {}
        newer @ FORMAT.. => {
            return Err(format!(
                "it is written by a newer tilewright: format {newer}, this one reads {FORMAT}; build it with this version, or update"
            ));
        }
        older => return Err(format!("it has format {older}, this one reads {FORMAT}; build it anew")),
    }
    let (targets, rest) = rest.split_first_chunk().ok_or_else(short)?;
    let (kernels, rest) = rest.split_first_chunk().ok_or_else(short)?;
    let (dictionary, rest) = rest.split_first_chunk().ok_or_else(short)?;
    let bytes = rest.first_chunk().ok_or_else(short)?;
    let [kernels, dictionary, bytes] = [kernels, dictionary, bytes].map(|number| u64::from_le_bytes(*number));
    Ok([u32::from_le_bytes(*targets).into(), kernels, dictionary, bytes])
}

const FORMS: [TargetKind; 3] = [TargetKind::Plain, TargetKind::ArchSpecific, TargetKind::Portable];

fn decode_target(raw: &[u8; TARGET]) -> Option<Target> {
    let [form, major, minor] = *raw.as_chunks().0 else { return None };
    let kind = FORMS.get(usize::try_from(u32::from_le_bytes(form)).ok()?)?;
    Some(Target::new(*kind, Arch::new(u32::from_le_bytes(major), u32::from_le_bytes(minor))))
}

fn encode_target(target: &Target) -> impl Iterator<Item = u8> {
    let form = FORMS.iter().position(|form| *form == target.kind).unwrap_or_default() as u32;
    [form, target.arch.major, target.arch.minor].into_iter().flat_map(u32::to_le_bytes)
}

impl Row {
    pub(super) fn decode(raw: &[u8; ROW]) -> Option<Self> {
        let (key, rest) = raw.split_first_chunk()?;
        let (digest, rest) = rest.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let (stored, rest) = rest.split_first_chunk()?;
        let (whole, rest) = rest.split_first_chunk()?;
        let (target, rest) = rest.split_first_chunk()?;
        let [codec, 0, 0, 0, 0, 0] = *rest else { return None };
        Some(Self {
            key: Key(*key),
            digest: *digest,
            offset: u64::from_le_bytes(*offset),
            stored: u32::from_le_bytes(*stored),
            whole: u32::from_le_bytes(*whole),
            target: u16::from_le_bytes(*target),
            codec: Codec::of(codec)?,
        })
    }

    fn encode(&self) -> Vec<u8> {
        let mut raw = [self.key.0.as_slice(), &self.digest, &self.offset.to_le_bytes()].concat();
        raw.extend(self.stored.to_le_bytes());
        raw.extend(self.whole.to_le_bytes());
        raw.extend(self.target.to_le_bytes());
        raw.extend([self.codec.number(), 0, 0, 0, 0, 0]);
        raw
    }
}

/// The index of these kernels, which lie one behind the other after it, and the size of the file. Their offsets are set.
pub(super) fn encode(targets: &[Target], rows: &mut [Row], dictionary: &[u8]) -> (Vec<u8>, u64) {
    let mut offset = (HEADER + TARGET * targets.len() + ROW * rows.len() + dictionary.len() + HASH) as u64;
    for row in rows.iter_mut() {
        row.offset = offset;
        offset += u64::from(row.stored);
    }
    let mut index = Vec::from(MAGIC);
    index.extend(FORMAT.to_le_bytes());
    index.extend((targets.len() as u32).to_le_bytes());
    index.extend((rows.len() as u64).to_le_bytes());
    index.extend((dictionary.len() as u64).to_le_bytes());
    index.extend(offset.to_le_bytes());
    index.extend(targets.iter().flat_map(encode_target));
    index.extend(rows.iter().flat_map(Row::encode));
    index.extend(dictionary);
    let hash = blake3::hash(&index);
    index.extend(hash.as_bytes());
    (index, offset)
}
