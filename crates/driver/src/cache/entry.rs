//! The file of one kernel: magic, schema, key, lengths, metadata, image, and BLAKE3 over everything before it.

use crate::{Compiled, Key, source::SCHEMA};

/// No kernel is this large; a larger file is damaged.
pub(super) const LIMIT: u64 = 256 << 20;

const MAGIC: [u8; 8] = *b"TWKERNEL";

pub(super) fn file_name(key: &Key) -> String {
    format!("{key}.kernel")
}

/// `None` if the metadata cannot be written as JSON, which no kernel's is.
pub(super) fn encode(key: &Key, compiled: &Compiled) -> Option<Vec<u8>> {
    let metadata = serde_json::to_vec(compiled).ok()?;
    let mut file = Vec::with_capacity(metadata.len() + compiled.image.len() + 128);
    file.extend(MAGIC);
    file.extend(SCHEMA.to_le_bytes());
    file.extend(key.0);
    file.extend(u32::try_from(metadata.len()).ok()?.to_le_bytes());
    file.extend(u64::try_from(compiled.image.len()).ok()?.to_le_bytes());
    file.extend(metadata);
    file.extend(&compiled.image);
    let hash = blake3::hash(&file);
    file.extend(hash.as_bytes());
    Some(file)
}

/// The kernel, if every byte of the file is as it was written and the key is the one asked for.
pub(super) fn decode(key: &Key, file: &[u8]) -> Option<Compiled> {
    let (body, hash) = file.split_last_chunk::<32>()?;
    let (magic, rest) = body.split_first_chunk()?;
    let (schema, rest) = rest.split_first_chunk()?;
    let (echo, rest) = rest.split_first_chunk()?;
    if *magic != MAGIC || u32::from_le_bytes(*schema) != SCHEMA || *echo != key.0 || blake3::hash(body) != *hash {
        return None;
    }
    let (metadata_bytes, rest) = rest.split_first_chunk()?;
    let (image_bytes, rest) = rest.split_first_chunk()?;
    let (metadata, image) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*metadata_bytes)).ok()?)?;
    if u64::from_le_bytes(*image_bytes) != image.len() as u64 || image.is_empty() {
        return None;
    }
    let compiled: Compiled = serde_json::from_slice(metadata).ok()?;
    Some(Compiled { image: image.to_vec(), ..compiled })
}
