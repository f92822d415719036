//! The file of one kernel: magic, schema, key, lengths, metadata, image, and BLAKE3 over everything before it.

use std::{fmt, io};

use crate::{Compiled, Key, source::SCHEMA};

/// No kernel is this large; a larger file is damaged.
pub(super) const LIMIT: u64 = 256 << 20;

const MAGIC: [u8; 8] = *b"TWKERNEL";

const EXTENSION: &str = ".kernel";

pub(super) fn file_name(key: &Key) -> String {
    format!("{key}{EXTENSION}")
}

/// The key whose entry a file of this name is; `None` for files that are not ours.
pub(super) fn key_of(name: &str) -> Option<Key> {
    let digits = name.strip_suffix(EXTENSION).filter(|digits| digits.len() == 64)?;
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    // No upper case, no signs: one key has one name.
    Some(Key(key)).filter(|key| file_name(key) == name)
}

/// Why there is no kernel.
#[derive(Debug)]
pub(super) enum Miss {
    /// There is no entry.
    Absent,
    /// There is one, and this is wrong with it.
    Unusable(String),
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Absent,
            _ => Self::Unusable(error.to_string()),
        }
    }
}

impl From<&str> for Miss {
    fn from(reason: &str) -> Self {
        Self::Unusable(reason.to_owned())
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("it is not there"),
            Self::Unusable(reason) => f.write_str(reason),
        }
    }
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

/// The kernel, if every byte of the file is as it was written and the key is the one asked for; else what is wrong.
pub(super) fn decode(key: &Key, file: &[u8]) -> Result<Compiled, &'static str> {
    let (body, hash) = file.split_last_chunk::<32>().ok_or(CUT)?;
    let (magic, rest) = body.split_first_chunk().ok_or(CUT)?;
    let (schema, rest) = rest.split_first_chunk().ok_or(CUT)?;
    let (echo, rest) = rest.split_first_chunk().ok_or(CUT)?;
    if *magic != MAGIC {
        return Err("it is no kernel");
    }
    if u32::from_le_bytes(*schema) != SCHEMA {
        return Err("it is of another version of tilewright");
    }
    if *echo != key.0 {
        return Err("it holds another kernel");
    }
    if blake3::hash(body) != *hash {
        return Err("it is damaged: its checksum is another");
    }
    let (metadata_bytes, rest) = rest.split_first_chunk().ok_or(CUT)?;
    let (image_bytes, rest) = rest.split_first_chunk().ok_or(CUT)?;
    let metadata_bytes = usize::try_from(u32::from_le_bytes(*metadata_bytes)).map_err(|_| CUT)?;
    let (metadata, image) = rest.split_at_checked(metadata_bytes).ok_or(CUT)?;
    if u64::from_le_bytes(*image_bytes) != image.len() as u64 || image.is_empty() {
        return Err("its lengths do not add up");
    }
    let compiled: Compiled = serde_json::from_slice(metadata).map_err(|_| "its metadata cannot be read")?;
    Ok(Compiled { image: image.to_vec(), ..compiled })
}

pub(super) const CUT: &str = "it is cut off";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_entries() {
        let key = Key(std::array::from_fn(|index| (index * 9) as u8));
        let name = file_name(&key);
        assert_eq!((key_of(&name), name.len()), (Some(key), 71));
        let others = [
            name.to_uppercase(),
            name.replace(EXTENSION, ""),
            name.replace("09", "0G"),
            name.replace("09", "+9"),
            name[1..].to_owned(),
            format!("0{name}"),
            format!("../{name}"),
            format!("é{}", &name[2..]),
            String::new(),
        ];
        for other in others {
            assert_eq!(key_of(&other), None, "{other}");
        }
    }
}
