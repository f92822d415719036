//! Models as files.
//!
//! Eight bytes of magic, the schema (u32), the length of what follows the header (u64), its BLAKE3 hash, all little-endian; then the
//! model in postcard's form. Whatever is odd is an error, also behind a hash that is right.

use super::{Body, Model};
use crate::Error;

/// What a file of a model begins with.
const MAGIC: [u8; 8] = *b"TWPERF\r\n";
/// The form of what follows; another form has another number.
const SCHEMA: u32 = 1;
/// Magic, schema, length, hash.
const HEADER: usize = 8 + 4 + 8 + 32;
/// The largest file, in bytes: models are part of the library.
const LARGEST: usize = 1 << 20;

impl Model {
    /// The bytes of its file. Refuses a model of more than 1 MiB.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let body = postcard::to_stdvec(&self.0).map_err(|error| odd("form", error.to_string(), "a model"))?;
        let length = HEADER + body.len();
        if length > LARGEST {
            return Err(odd("size", format!("{length} bytes"), format!("at most {LARGEST}: fit fewer trees")));
        }
        let mut bytes = Vec::with_capacity(length);
        bytes.extend(MAGIC);
        bytes.extend(SCHEMA.to_le_bytes());
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(blake3::hash(&body).as_bytes());
        bytes.extend(body);
        Ok(bytes)
    }

    /// The model of a file's bytes. Refuses files that are no models, of another schema, too long or too short, that were changed, or
    /// that say what cannot be.
    pub fn load(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > LARGEST {
            return Err(odd("size", format!("{} bytes", bytes.len()), format!("at most {LARGEST}")));
        }
        let Some((header, body)) = bytes.split_at_checked(HEADER) else {
            return Err(odd("size", format!("{} bytes", bytes.len()), format!("at least {HEADER}")));
        };
        if header[..8] != MAGIC {
            return Err(odd("magic", format!("{:02x?}", &header[..8]), format!("{MAGIC:02x?}")));
        }
        let schema = header[8..12].iter().rev().fold(0u32, |all, byte| all << 8 | u32::from(*byte));
        if schema != SCHEMA {
            return Err(odd("schema", schema.to_string(), SCHEMA.to_string()));
        }
        let length = header[12..20].iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
        if length != body.len() as u64 {
            return Err(odd("length of the body", format!("{} bytes", body.len()), format!("{length} bytes")));
        }
        let (hash, expected) = (blake3::hash(body), &header[20..]);
        if hash.as_bytes() != expected {
            let hex: String = expected[..8].iter().map(|byte| format!("{byte:02x}")).collect();
            return Err(odd("hash of the body", &hash.to_hex()[..16], hex));
        }
        let (body, rest): (Body, _) =
            postcard::take_from_bytes(body).map_err(|error| odd("body", error.to_string(), "a model"))?;
        if !rest.is_empty() {
            return Err(odd("rest behind the model", format!("{} bytes", rest.len()), "none"));
        }
        body.check()?;
        Ok(Self(body))
    }
}

impl Body {
    /// Refuses what no training writes.
    fn check(&self) -> Result<(), Error> {
        self.features.check()?;
        let names = self.features.names();
        if self.names != names {
            let found = self.names.iter().zip(&names).find(|(found, name)| found != name);
            let (found, expected) = found
                .map_or((self.names.len().to_string(), names.len().to_string()), |(found, name)| {
                    (found.clone(), name.clone())
                });
            return Err(odd("list of features", found, expected));
        }
        if self.trees.columns() != names.len() {
            return Err(odd("number of columns", self.trees.columns().to_string(), names.len().to_string()));
        }
        if self.devices.is_empty() {
            return Err(odd("number of devices", "0", "1 or more"));
        }
        self.devices.iter().try_for_each(|device| device.check())?;
        self.trees.fault().map_or(Ok(()), |fault| Err(odd("forest", fault, "trees as training writes them")))
    }
}

fn odd(what: &'static str, found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::Model { what, found: found.into(), expected: expected.into() }
}
