use super::super::{Element, Extents};
use crate::Error;

/// How an array is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shards {
    /// Rows and columns of a shard, which is one file: best as large as a tile.
    pub shard: Extents,
    /// Rows and columns of a chunk, which is what is read at least; they divide those of a shard.
    pub chunk: Extents,
}

impl Shards {
    /// That chunks divide shards, and that there is something in them.
    pub(super) fn check(&self) -> Result<(), Error> {
        let divides = |what, shard: usize, chunk: usize| match chunk > 0 && shard > 0 && shard.is_multiple_of(chunk) {
            true => Ok(()),
            false => Err(Error::Shape {
                operation: "create",
                what,
                expected: shard.next_multiple_of(chunk.max(1)).max(1),
                got: shard,
            }),
        };
        divides("rows of a shard, a multiple of a chunk's", self.shard.rows, self.chunk.rows)?;
        divides("columns of a shard, a multiple of a chunk's", self.shard.columns, self.chunk.columns)
    }

    /// The text that describes an array. Source: the Zarr core specification, version 3, and its codec `sharding_indexed`.
    pub(super) fn metadata(&self, extents: Extents, element: Element) -> String {
        let pair = |extents: Extents| format!("[{}, {}]", extents.rows, extents.columns);
        let (shape, shard, chunk) = (pair(extents), pair(self.shard), pair(self.chunk));
        let (name, zero) = (data_type(element), zero(element));
        let bytes = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
        format!(
            r#"{{
  "zarr_format": 3,
  "node_type": "array",
  "shape": {shape},
  "data_type": "{name}",
  "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {shard}}}}},
  "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "."}}}},
  "fill_value": {zero},
  "codecs": [{{
    "name": "sharding_indexed",
    "configuration": {{
      "chunk_shape": {chunk},
      "codecs": [{bytes}, {{"name": "crc32c"}}],
      "index_codecs": [{bytes}, {{"name": "crc32c"}}],
      "index_location": "end"
    }}
  }}]
}}
"#
        )
    }
}

/// What Zarr calls an element.
pub(super) fn data_type(element: Element) -> &'static str {
    match element {
        Element::F16 => "float16",
        Element::Bf16 => "bfloat16",
        Element::F32 => "float32",
        Element::F64 => "float64",
        Element::C64 => "complex64",
        Element::C128 => "complex128",
        Element::I8 => "int8",
        Element::I16 => "int16",
        Element::I32 => "int32",
        Element::I64 => "int64",
        Element::U8 => "uint8",
        Element::U16 => "uint16",
        Element::U32 => "uint32",
        Element::U64 => "uint64",
        Element::Bool => "bool",
    }
}

fn zero(element: Element) -> &'static str {
    match element {
        Element::Bool => "false",
        Element::C64 | Element::C128 => "[0.0, 0.0]",
        Element::F16 | Element::Bf16 | Element::F32 | Element::F64 => "0.0",
        _ => "0",
    }
}
