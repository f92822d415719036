//! Chunks within shards, found and decoded one by one and whole.
//!
//! When the library decodes a part of a shard it looks at no checksum of a chunk, and it adds up the offsets of an index as they
//! stand; so the index is read here.

use std::{collections::HashMap, num::NonZeroU64};

use zarrs::{
    array::{
        Array, ArrayError, ArrayMetadata, ArrayShardedExt, ArrayToBytesCodecTraits, CodecChain, CodecOptions,
        FillValue, data_type,
    },
    metadata::ConfigurationSerialize,
    metadata_ext::codec::sharding::{ShardingCodecConfiguration, ShardingIndexLocation},
    storage::{ReadableStorageTraits, byte_range::ByteRange},
};

use super::{
    indices::{Index, Indices},
    storage::ReadFiles,
};

/// How chunks within shards are found and decoded.
pub(super) struct Inner {
    pub(super) shape: Vec<NonZeroU64>,
    codecs: CodecChain,
    index: CodecChain,
    /// Chunks of a shard down and across, and two numbers for each.
    index_shape: Vec<NonZeroU64>,
    index_range: ByteRange,
    indices: Indices,
}

/// Indices of shards, for as long as a tile is read; `None` for a shard that is not there.
pub(super) type OfTile = HashMap<[usize; 2], Option<Index>>;

/// What stands for a chunk that is not stored, as it is all fill value.
pub(super) const ABSENT: [u64; 2] = [u64::MAX; 2];

impl Inner {
    /// `None` for an array without shards, or with codecs around them: there what is decoded is all of what is a file.
    pub(super) fn of(array: &Array<ReadFiles>) -> Option<Self> {
        let ArrayMetadata::V3(metadata) = array.metadata() else { return None };
        let configuration = metadata.codecs.first().filter(|_| array.is_exclusively_sharded())?.configuration()?;
        let configuration = ShardingCodecConfiguration::try_from_configuration(configuration.clone()).ok()?;
        let ShardingCodecConfiguration::V1(configuration) = configuration else { return None };
        let shard = array.chunk_shape(&[0, 0]).ok()?;
        let counts = shard.iter().zip(&configuration.chunk_shape).map(|(shard, chunk)| shard.get() / chunk.get());
        let index_shape: Vec<_> = counts.chain([2]).map(NonZeroU64::new).collect::<Option<_>>()?;
        let index = CodecChain::from_metadata(&configuration.index_codecs).ok()?;
        let encoded =
            index.encoded_representation(&index_shape, &data_type::uint64(), &FillValue::from(u64::MAX)).ok()?;
        let bytes = encoded.size()?;
        let index_range = match configuration.index_location {
            ShardingIndexLocation::Start => ByteRange::FromStart(0, Some(bytes)),
            ShardingIndexLocation::End => ByteRange::Suffix(bytes),
        };
        let codecs = CodecChain::from_metadata(&configuration.codecs).ok()?;
        let chunks = index_shape[..2].iter().fold(1, |all: usize, count| all.saturating_mul(count.get() as usize));
        let indices = Indices::of(chunks);
        Some(Self { shape: configuration.chunk_shape, codecs, index, index_shape, index_range, indices })
    }

    /// The content of a chunk of a shard, if it is stored.
    pub(super) fn decode(
        &self,
        array: &Array<ReadFiles>,
        indices: &mut OfTile,
        shard: [usize; 2],
        place: usize,
    ) -> Result<Option<Vec<u8>>, ArrayError> {
        if let std::collections::hash_map::Entry::Vacant(entry) = indices.entry(shard) {
            entry.insert(self.read_index(array, shard)?);
        }
        let index = indices.get(&shard).and_then(Option::as_ref);
        let Some([offset, bytes]) = index.and_then(|index| index.get(place)).filter(|place| **place != ABSENT) else {
            return Ok(None);
        };
        let key = array.chunk_key(&shard.map(|index| index as u64));
        let content = array.storage().get_partial(&key, ByteRange::FromStart(*offset, Some(*bytes)))?;
        let Some(content) = content else { return Ok(None) };
        let (element, fill, options) = (array.data_type(), array.fill_value(), CodecOptions::default());
        let decoded = self.codecs.decode(Vec::from(content).into(), &self.shape, element, fill, &options)?;
        Ok(Some(decoded.into_fixed()?.into_owned()))
    }

    /// Offsets and lengths of a shard's chunks in its file, if that is there: for hints, as they were read for the first one. Who reads chunks reads them anew,
    /// so that what became of the file is noticed.
    pub(super) fn remembered_index(
        &self,
        array: &Array<ReadFiles>,
        shard: [usize; 2],
    ) -> Result<Option<Index>, ArrayError> {
        self.indices.get(shard, || self.read_index(array, shard))
    }

    fn read_index(&self, array: &Array<ReadFiles>, shard: [usize; 2]) -> Result<Option<Index>, ArrayError> {
        let key = array.chunk_key(&shard.map(|index| index as u64));
        let Some(bytes) = array.storage().get_partial(&key, self.index_range)? else { return Ok(None) };
        let (element, fill, options) = (data_type::uint64(), FillValue::from(u64::MAX), CodecOptions::default());
        let decoded = self.index.decode(Vec::from(bytes).into(), &self.index_shape, &element, &fill, &options)?;
        let decoded = decoded.into_fixed()?;
        let (places, _) = decoded.as_chunks::<16>();
        Ok(Some(places.iter().map(|place| bytemuck::pod_read_unaligned(place)).collect()))
    }
}
