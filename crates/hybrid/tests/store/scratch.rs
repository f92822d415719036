//! Scratches: what was written is read, and what was not is zero.

use ndarray::{Array2, s};
use proptest::prelude::*;
use tilewright_hybrid::store::{Element, Extents, FileScratch, MemoryScratch, Scratch, Tile};
use tilewright_hybrid::{Class, Error};

/// Tiles of numbers into a scratch and into an array.
fn written(scratch: &dyn Scratch, tiles: &[Tile]) -> Array2<u32> {
    let Extents { rows, columns } = scratch.extents();
    let mut expected = Array2::zeros((rows, columns));
    for (number, tile) in tiles.iter().enumerate() {
        let values: Vec<u32> =
            (0..tile.rows.len() * tile.columns.len()).map(|at| (1000 * number + at) as u32 + 1).collect();
        scratch.write_tile(tile, &values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>()).unwrap();
        let part = (tile.rows.len(), tile.columns.len());
        expected
            .slice_mut(s![tile.rows.clone(), tile.columns.clone()])
            .assign(&Array2::from_shape_vec(part, values).unwrap());
    }
    expected
}

fn read(scratch: &dyn Scratch, tile: &Tile) -> Vec<u32> {
    let mut bytes = vec![0xaa; 4 * tile.rows.len() * tile.columns.len()];
    scratch.read_tile(tile, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
}

fn tiles() -> impl Strategy<Value = (usize, usize, Vec<Tile>)> {
    (1usize..12, 1usize..12).prop_flat_map(|(rows, columns)| {
        let range = |limit: usize| (0..=limit, 0..=limit).prop_map(|(one, other)| one.min(other)..one.max(other));
        let tile = (range(rows), range(columns)).prop_map(|(rows, columns)| Tile { rows, columns });
        (Just(rows), Just(columns), prop::collection::vec(tile, 1..6))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn what_was_written_is_read((rows, columns, tiles) in tiles()) {
        let (folder, extents) = (tempfile::tempdir().unwrap(), Extents::new(rows, columns));
        let file = FileScratch::new(folder.path(), extents, Element::U32).unwrap();
        let memory = MemoryScratch::new(extents, Element::U32).unwrap();
        for scratch in [&file as &dyn Scratch, &memory] {
            let expected = written(scratch, &tiles);
            for tile in tiles.iter().chain([&extents.whole()]) {
                let part = expected.slice(s![tile.rows.clone(), tile.columns.clone()]);
                prop_assert!(read(scratch, tile).iter().eq(part.iter()));
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (folder, extents) = (tempfile::tempdir().unwrap(), Extents::new(3, 5));
    let file = FileScratch::new(folder.path(), extents, Element::F64).unwrap();
    let memory = MemoryScratch::new(extents, Element::F64).unwrap();
    for scratch in [&file as &dyn Scratch, &memory] {
        let beyond = Tile { rows: 2..4, columns: 0..1 };
        assert!(matches!(scratch.write_tile(&beyond, &[0; 16]), Err(Error::Shape { .. })));
        assert!(matches!(scratch.read_tile(&beyond, &mut [0; 16]), Err(Error::Shape { .. })));
        assert!(matches!(scratch.write_tile(&extents.whole(), &[0; 16]), Err(Error::Shape { .. })));
    }
    let endless = Extents::new(usize::MAX, 2);
    assert!(matches!(MemoryScratch::new(endless, Element::F64), Err(Error::TooLarge { .. })));
    assert!(matches!(FileScratch::new(folder.path(), endless, Element::F64), Err(Error::TooLarge { .. })));
    let nowhere = folder.path().join("not there");
    let Err(error) = FileScratch::new(&nowhere, extents, Element::F64) else { panic!("a file in no folder") };
    assert_eq!(error.class(), Class::Io, "{error}");
}
