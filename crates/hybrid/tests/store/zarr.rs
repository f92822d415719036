//! Sharded Zarr, against a reader written after the specification.

use std::{fs, os::unix::fs::FileExt, path::Path};

use ndarray::{Array2, s};
use num_complex::Complex;
use tilewright_hybrid::{
    Class, Error,
    budget::{Budget, Memory},
    store::{
        Element, Extents, ReadTyped, Shards, Sink, Source, Stored, Tile, WriteTyped, ZarrSink, ZarrSource, read_staged,
        write_staged,
    },
};

use super::truth::{Random, check_source, fill, matrix, numbers, part};

const SHARDS: Shards = Shards { shard: Extents::new(32, 48), chunk: Extents::new(8, 16) };

fn write<T: Random>(path: &Path, truth: &Array2<T>, shards: Shards) {
    let extents = Extents::new(truth.nrows(), truth.ncols());
    let sink = ZarrSink::create(path, extents, T::ELEMENT, shards).unwrap();
    assert_eq!((sink.extents(), sink.element(), sink.grain()), (extents, T::ELEMENT, shards.shard));
    fill(&sink, &truth.view(), shards.shard);
    Box::new(sink).commit().unwrap();
}

/// The checksum of the specification, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 })
    })
}

fn checked(bytes: &[u8]) -> &[u8] {
    let (content, sum) = bytes.split_at(bytes.len() - 4);
    assert_eq!(crc32c(content).to_le_bytes(), sum);
    content
}

/// Where chunk `index` of a shard is in its file; a chunk of zeros may be left out.
fn place(file: &[u8], shards: Shards, index: usize) -> Option<std::ops::Range<usize>> {
    let chunks = (shards.shard.rows / shards.chunk.rows) * (shards.shard.columns / shards.chunk.columns);
    let table = checked(&file[file.len() - 16 * chunks - 4..]);
    let number = |at: usize| u64::from_le_bytes(table[at..at + 8].try_into().unwrap()) as usize;
    let (offset, bytes) = (number(16 * index), number(16 * index + 8));
    (offset != usize::MAX).then(|| offset..offset + bytes)
}

/// All elements, as bytes, of an array of shards that we wrote.
fn by_hand<T: Random>(path: &Path, extents: Extents, shards: Shards) -> Array2<T> {
    let mut all = Array2::from_elem((extents.rows, extents.columns), T::default());
    for row in 0..extents.rows.div_ceil(shards.shard.rows) {
        for column in 0..extents.columns.div_ceil(shards.shard.columns) {
            let file = fs::read(path.join(format!("c.{row}.{column}"))).unwrap();
            let across = shards.shard.columns / shards.chunk.columns;
            for (index, chunk) in Extents::new(shards.shard.rows, shards.shard.columns).tiles(shards.chunk).enumerate()
            {
                assert_eq!(
                    chunk.rows.start / shards.chunk.rows * across + chunk.columns.start / shards.chunk.columns,
                    index
                );
                let Some(place) = place(&file, shards, index) else { continue };
                let bytes = checked(&file[place]);
                let mut values = vec![T::default(); shards.chunk.rows * shards.chunk.columns];
                T::fill(&mut values, &mut |out| {
                    out.copy_from_slice(bytes);
                    Ok(())
                })
                .unwrap();
                let values = Array2::from_shape_vec((shards.chunk.rows, shards.chunk.columns), values).unwrap();
                let (top, left) =
                    (row * shards.shard.rows + chunk.rows.start, column * shards.shard.columns + chunk.columns.start);
                for ((line, place), value) in values.indexed_iter() {
                    match all.get_mut((top + line, left + place)) {
                        Some(element) => *element = *value,
                        None => assert!(*value == T::default(), "beyond the edge are zeros"),
                    }
                }
            }
        }
    }
    all
}

fn both_ways<T: Random>() {
    let root = tempfile::tempdir().unwrap();
    for (index, (rows, columns)) in [(32, 48), (100, 130), (1, 1), (33, 47), (64, 96)].into_iter().enumerate() {
        let path = root.path().join(format!("{index}.zarr"));
        let truth = matrix::<T>(rows, columns, 4);
        write(&path, &truth, SHARDS);
        assert!(by_hand::<T>(&path, Extents::new(rows, columns), SHARDS) == truth);
        let source = ZarrSource::open(&path).unwrap();
        assert_eq!((source.shard(), source.grain()), (SHARDS.shard, SHARDS.chunk));
        check_source(&source, &truth.view());
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 5, "nothing else is left");
}

#[test]
fn all_elements() {
    both_ways::<half::f16>();
    both_ways::<half::bf16>();
    both_ways::<f32>();
    both_ways::<f64>();
    both_ways::<Complex<f32>>();
    both_ways::<Complex<f64>>();
    both_ways::<i8>();
    both_ways::<i16>();
    both_ways::<i32>();
    both_ways::<i64>();
    both_ways::<u8>();
    both_ways::<u16>();
    both_ways::<u32>();
    both_ways::<u64>();
    both_ways::<bool>();
}

#[test]
fn an_array_of_zeros_is_there_too() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let zeros = Array2::<f32>::zeros((64, 50));
    write(&path, &zeros, SHARDS);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 2 * 2 + 1);
    check_source(&ZarrSource::open(&path).unwrap(), &zeros.view());
    let empty = root.path().join("empty.zarr");
    write(&empty, &Array2::<f32>::zeros((0, 50)), SHARDS);
    check_source(&ZarrSource::open(&empty).unwrap(), &Array2::<f32>::zeros((0, 50)).view());
}

#[test]
fn several_threads() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let shards = Shards { shard: Extents::new(128, 256), chunk: Extents::new(64, 64) };
    let truth = matrix::<f64>(1000, 500, 7);
    let sink = ZarrSink::create(&path, Extents::new(1000, 500), Element::F64, shards).unwrap();
    let whole = sink.extents().whole();
    write_staged(&sink, &whole, f64::bytes(truth.as_slice().unwrap()), 4).unwrap();
    Box::new(sink).commit().unwrap();
    let source = ZarrSource::open(&path).unwrap();
    let tile = Tile { rows: 3..999, columns: 1..500 };
    let mut bytes = vec![0xffu8; 996 * 499 * 8];
    read_staged(&source, &tile, &mut bytes, 4).unwrap();
    assert!(bytes == f64::bytes(&part(&truth.view(), &tile)));
}

#[test]
fn m5_each_flipped_bit_is_noticed_and_its_chunk_named() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let shards = Shards { shard: Extents::new(8, 8), chunk: Extents::new(4, 4) };
    let truth = matrix::<u16>(16, 16, 1);
    write(&path, &truth, shards);
    let source = ZarrSource::open(&path).unwrap();
    let shard = path.join("c.1.0");
    let whole = fs::read(&shard).unwrap();
    let last = place(&whole, shards, 3).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&shard, &flipped).unwrap();
        let error = source.read(&source.extents().whole(), &mut [0u16; 256]).unwrap_err();
        assert!(
            matches!(&error, Error::Corrupt { chunk: Some(_), .. }) && error.class() == Class::Io,
            "{bit}: {error}"
        );
        let text = error.to_string();
        assert!(text.contains("a.zarr, chunk ") && text.contains("shard c.1.0"), "{text}");
        if last.contains(&(bit / 8)) {
            assert!(text.contains("chunk (1, 1) of shard c.1.0: the checksum is invalid"), "{text}");
            // The others can be read.
            source.read(&Tile { rows: 0..16, columns: 8..16 }, &mut [0u16; 128]).unwrap();
            source.read(&Tile { rows: 8..12, columns: 0..8 }, &mut [0u16; 32]).unwrap();
        }
    }
    for length in 0..whole.len() {
        fs::write(&shard, &whole[..length]).unwrap();
        let error = source.read(&source.extents().whole(), &mut [0u16; 256]).unwrap_err();
        assert!(error.to_string().contains("shard c.1.0"), "{length}: {error}");
    }
    // Another chunk's bytes in place of its own have a right checksum; an index that names them has not.
    fs::write(&shard, &whole).unwrap();
    fs::File::options().write(true).open(&shard).unwrap().write_all_at(&[0xff; 8], whole.len() as u64 - 20).unwrap();
    assert!(source.read(&source.extents().whole(), &mut [0u16; 256]).is_err());
    fs::remove_file(&shard).unwrap();
    let mut values = [7u16; 64];
    source.read(&Tile { rows: 8..16, columns: 0..8 }, &mut values).unwrap();
    assert_eq!(values, [0; 64], "a shard that is not there is zeros");
}

#[test]
fn m5_descriptions_that_are_none() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    write(&path, &matrix::<u16>(16, 16, 1), SHARDS);
    let text = fs::read_to_string(path.join("zarr.json")).unwrap();
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        fs::write(path.join("zarr.json"), text.replace(from, to)).unwrap();
        ZarrSource::open(&path).map(|source| format!("{source:?}"))
    };
    for (from, to) in [
        ("\"zarr_format\": 3", "\"zarr_format\": 4"),
        ("uint16", "uint17"),
        ("\"node_type\": \"array\"", "\"node_type\": \"group\""),
        ("[16, 16]", "[16, -16]"),
        ("[32, 48]", "[32, 0]"),
        ("[32, 48]", "[32]"),
        ("crc32c", "crc33"),
        ("sharding_indexed", "sharding"),
        ("{", ""),
    ] {
        let error = with(from, to).unwrap_err();
        assert!(matches!(&error, Error::Corrupt { .. }) && error.to_string().contains("a.zarr"), "{to}: {error}");
    }
    let error = with("[16, 16]", "[16, 99999999999999]").unwrap();
    assert!(error.contains("99999999999999"), "zeros, but for the first shard");
    assert!(matches!(
        with("[16, 16]", "[18446744073709551615, 99]"),
        Err(Error::TooLarge { .. } | Error::Corrupt { .. })
    ));
    for length in 0..text.len() - 2 {
        fs::write(path.join("zarr.json"), &text[..length]).unwrap();
        assert!(ZarrSource::open(&path).is_err(), "{length}");
    }
    fs::remove_file(path.join("zarr.json")).unwrap();
    assert!(ZarrSource::open(&path).is_err() && ZarrSource::open(root.path().join("absent")).is_err());
}

#[test]
fn what_does_not_fit_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let create = |shard, chunk| ZarrSink::create(&path, Extents::new(100, 100), Element::F32, Shards { shard, chunk });
    for (shard, chunk) in [((32, 48), (9, 16)), ((32, 48), (8, 0)), ((0, 48), (8, 8)), ((32, 40), (8, 16))] {
        let error = create(Extents::new(shard.0, shard.1), Extents::new(chunk.0, chunk.1)).unwrap_err();
        assert!(matches!(&error, Error::Shape { operation: "create", .. }), "{error}");
    }
    assert!(create(Extents::new(1 << 40, 1 << 40), Extents::new(1, 1)).is_err());
    let sink = create(SHARDS.shard, SHARDS.chunk).unwrap();
    for tile in [Tile { rows: 96..101, columns: 96..100 }, Tile { rows: 0..32, columns: 60..101 }] {
        let error = sink.write(&tile, &vec![0f32; tile.rows.len() * tile.columns.len()]).unwrap_err();
        assert!(matches!(error, Error::Shape { operation: "write", expected: 100, got: 101, .. }), "{error}");
    }
    sink.write(&Tile { rows: 96..100, columns: 96..100 }, &[1f32; 16]).unwrap();
    sink.write(&Tile { rows: 3..4, columns: 1..99 }, &[1f32; 98]).unwrap();
    let error = Box::new(sink).commit().unwrap_err();
    assert!(matches!(error, Error::Incomplete { row: 0, column: 0, .. }));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    // Nothing that is there is replaced.
    fs::create_dir(&path).unwrap();
    let error = create(SHARDS.shard, SHARDS.chunk).unwrap_err();
    assert!(error.to_string().contains("it exists"), "{error}");
    fs::remove_dir(&path).unwrap();
    let sink = create(SHARDS.shard, SHARDS.chunk).unwrap();
    fill(&sink, &Array2::<f32>::zeros((100, 100)).view(), SHARDS.shard);
    fs::write(&path, "mine").unwrap();
    assert_eq!(Box::new(sink).commit().unwrap_err().class(), Class::Io);
    assert_eq!((fs::read(&path).unwrap(), fs::read_dir(root.path()).unwrap().count()), (b"mine".to_vec(), 1));
}

#[test]
fn tiles_are_written_again() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.zarr");
    let truth = matrix::<i32>(40, 60, 2);
    let sink = ZarrSink::create(&path, Extents::new(40, 60), Element::I32, SHARDS).unwrap();
    fill(&sink, &matrix::<i32>(40, 60, 3).view(), SHARDS.shard);
    let rows = Tile { rows: 32..40, columns: 0..60 };
    sink.write(&rows, &part(&truth.view(), &rows)).unwrap();
    let rows = Tile { rows: 0..32, columns: 0..60 };
    sink.write(&rows, &part(&truth.view(), &rows)).unwrap();
    assert!(!path.exists());
    Box::new(sink).commit().unwrap();
    let source = ZarrSource::open(&path).unwrap();
    check_source(&source, &truth.view());
    assert_eq!(truth.slice(s![.., 0..1]).len(), 40);
}

/// In which order tiles come.
fn orders(tiles: &[Tile]) -> [(&'static str, Vec<Tile>); 4] {
    let mut next = numbers(5);
    let (mut across, mut shuffled, mut backwards) = (tiles.to_vec(), tiles.to_vec(), tiles.to_vec());
    across.sort_by_key(|tile| (tile.columns.start, tile.rows.start));
    shuffled.sort_by_cached_key(|_| next());
    backwards.reverse();
    [("row by row", tiles.to_vec()), ("column by column", across), ("backwards", backwards), ("in none", shuffled)]
}

const SHARD_BYTES: u64 = 32 * 48 * 4;

#[test]
fn tiles_of_any_size_come_in_any_order() {
    let root = tempfile::tempdir().unwrap();
    let (extents, truth) = (Extents::new(100, 130), matrix::<f32>(100, 130, 4));
    for size in [(3, 130), (100, 9), (33, 49), (32, 48)] {
        let tiles: Vec<Tile> = extents.tiles(Extents::new(size.0, size.1)).collect();
        for (order, tiles) in orders(&tiles) {
            // Room for all, for two shards, and for one.
            for shards in [20, 2, 1] {
                let what = format!("{size:?} {order} {shards}");
                let path = root.path().join("a.zarr");
                let host = Budget::new(Memory::Host, shards * SHARD_BYTES);
                let sink = ZarrSink::create(&path, extents, Element::F32, SHARDS).unwrap();
                sink.gather_within(&host).unwrap();
                tiles.iter().for_each(|tile| sink.write(tile, &part(&truth.view(), tile)).unwrap());
                Box::new(sink).commit().unwrap();
                check_source(&ZarrSource::open(&path).unwrap(), &truth.view());
                assert!(host.used() == 0 && host.peak() <= host.limit(), "{what}");
                // A band of shards, of three columns of them.
                let most = if order == "row by row" && size.1 == 130 { 3 } else { 20 };
                assert!(host.peak() <= most * SHARD_BYTES, "{what}: {}", host.peak());
                assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "{what}");
                fs::remove_dir_all(&path).unwrap();
            }
        }
    }
}

#[test]
fn tiles_of_any_size_by_several_threads() {
    let root = tempfile::tempdir().unwrap();
    let (extents, truth) = (Extents::new(100, 130), matrix::<f32>(100, 130, 4));
    for shards in [20, 1] {
        let path = root.path().join(format!("{shards}.zarr"));
        let host = Budget::new(Memory::Host, shards * SHARD_BYTES);
        let sink = ZarrSink::create(&path, extents, Element::F32, SHARDS).unwrap();
        sink.gather_within(&host).unwrap();
        let tiles: Vec<Tile> = extents.tiles(Extents::new(9, 31)).collect();
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (sink, truth) = (&sink, truth.view());
                let own = tiles.iter().skip(worker).step_by(4);
                scope.spawn(move || own.for_each(|tile| sink.write(tile, &part(&truth, tile)).unwrap()));
            }
        });
        Box::new(sink).commit().unwrap();
        check_source(&ZarrSource::open(&path).unwrap(), &truth.view());
        assert!(host.used() == 0 && host.peak() <= host.limit());
    }
}

/// What was written last stands, whatever became of the shards meanwhile.
#[test]
fn parts_of_shards_are_written_again() {
    let root = tempfile::tempdir().unwrap();
    let (extents, old, truth) = (Extents::new(100, 130), matrix::<f32>(100, 130, 4), matrix::<f32>(100, 130, 5));
    let tiles: Vec<Tile> = extents.tiles(Extents::new(33, 17)).collect();
    for (number, shards) in [20, 1].into_iter().enumerate() {
        for begun in [0, 5, tiles.len()] {
            let path = root.path().join(format!("{number} {begun}.zarr"));
            let sink = ZarrSink::create(&path, extents, Element::F32, SHARDS).unwrap();
            let first = Budget::new(Memory::Host, shards * SHARD_BYTES);
            sink.gather_within(&first).unwrap();
            tiles[..begun].iter().for_each(|tile| sink.write(tile, &part(&old.view(), tile)).unwrap());
            // A second attempt, in other tiles, within the same budget, of which the first one has nothing any more, or within another one.
            let host = if number == 0 { first } else { Budget::new(Memory::Host, 2 * SHARD_BYTES) };
            sink.gather_within(&host).unwrap();
            assert_eq!(host.used(), SHARD_BYTES);
            for tile in extents.tiles(Extents::new(40, 130)) {
                sink.write(&tile, &part(&truth.view(), &tile)).unwrap();
            }
            let mut all = vec![0f32; 13_000];
            f32::fill(&mut all, &mut |bytes| sink.written().unwrap().read_back(&extents.whole(), bytes)).unwrap();
            assert!(all == part(&truth.view(), &extents.whole()), "read back");
            let last = Tile { rows: 50..51, columns: 40..60 };
            sink.write(&last, &[7f32; 20]).unwrap();
            Box::new(sink).commit().unwrap();
            let mut expected = truth.clone();
            expected.slice_mut(s![50..51, 40..60]).fill(7.0);
            check_source(&ZarrSource::open(&path).unwrap(), &expected.view());
            assert_eq!(host.used(), 0);
        }
    }
}

#[test]
fn no_room_for_a_shard_is_refused_before_anything_is_written() {
    let root = tempfile::tempdir().unwrap();
    let sink = ZarrSink::create(root.path().join("a.zarr"), Extents::new(100, 130), Element::F32, SHARDS).unwrap();
    let error = sink.gather_within(&Budget::new(Memory::Host, SHARD_BYTES - 1)).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: SHARD_BYTES, .. }), "{error}");
    assert_eq!(error.class(), Class::Resource);
    drop(sink);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}
