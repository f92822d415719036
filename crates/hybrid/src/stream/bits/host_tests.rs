//! Products of stored bits on the CPU, in tiles of any size.

use super::{Becomes, BitProduct, Bits, multiply_on_host};
use crate::Error;
use crate::bits::{BitMatrix, Product, read_npy, write_npy};
use crate::budget::{Budget, Memory};
use crate::store::{Element, MemorySink, NpySink, NpySource, Order, Sink};
use crate::stream::{Cancel, Control};
use ndarray::Array2;

/// Files of both factors, the right one as it is or transposed.
struct Files {
    folder: tempfile::TempDir,
    left: NpySource,
    right: NpySource,
    truth: [BitMatrix; 2],
    transposes: bool,
}

impl Files {
    fn new([rows, columns, depth]: [usize; 3], transposes: bool) -> Files {
        let folder = tempfile::tempdir().unwrap();
        let truth =
            [BitMatrix::random(rows, depth, 0.6, 1), BitMatrix::random(depth, columns, 0.5, 2)].map(Result::unwrap);
        let path = |name: &str| folder.path().join(name);
        write_npy(path("a.npy"), &truth[0]).unwrap();
        let right = if transposes { truth[1].clone() } else { truth[1].transposed().unwrap() };
        write_npy(path("b.npy"), &right).unwrap();
        let [left, right] = ["a.npy", "b.npy"].map(|name| NpySource::open(path(name)).unwrap());
        Files { folder, left, right, truth, transposes }
    }

    fn product(&self) -> BitProduct<'_> {
        let [left, right] = [&self.left, &self.right].map(|file| Bits::of_npy(file).unwrap());
        if self.transposes { BitProduct::of(left, right) } else { BitProduct::of_rows(left, right) }.unwrap()
    }
}

#[test]
fn x5_bits_beyond_host_memory_are_multiplied_in_tiles() {
    for (sizes, transposes) in
        [([70, 500, 130], true), ([70, 500, 130], false), ([1, 129, 300], true), ([40, 1, 64], false)]
    {
        let files = Files::new(sizes, transposes);
        let (product, of) = (files.product(), Product::of(&files.truth[0], &files.truth[1]).unwrap());
        let [rows, columns, _] = sizes;
        for bytes in [1 << 20, 24 << 10, 13 << 10] {
            let host = Budget::new(Memory::Host, bytes);
            let run = |becomes, sink: &dyn Sink| {
                multiply_on_host(&host, &product, becomes, sink, Control::default()).unwrap()
            };
            for (becomes, truth) in [(Becomes::Counts, of.counts()), (Becomes::Distances, of.distances())] {
                let mut made = Array2::from_elem((rows, columns), -1);
                let sink = MemorySink::new(made.view_mut());
                run(becomes, &sink);
                Box::new(sink).commit().unwrap();
                assert_eq!(made, truth.unwrap(), "{sizes:?} {becomes:?} {bytes}");
            }
            let path = files.folder.path().join("c.npy");
            for (becomes, truth) in [
                (Becomes::MoreThan(0), of.paths()),
                (Becomes::MoreThan(20), of.more_than(20)),
                (Becomes::Parities, of.parities()),
            ] {
                let sink = NpySink::create(&path, &[rows, columns.div_ceil(8)], Element::U8, Order::C).unwrap();
                run(becomes, &sink);
                Box::new(sink).commit().unwrap();
                assert_eq!(read_npy(&path).unwrap(), truth.unwrap(), "{sizes:?} {becomes:?} {bytes}");
            }
            assert!(host.peak() <= bytes && host.used() == 0);
        }
    }
}

/// A row and 128 columns are the least; somebody who cancels is heard between tiles; a budget without room says so.
#[test]
fn b7_bits_on_the_host_end_where_they_are_told_to() {
    let files = Files::new([70, 500, 130], true);
    let product = files.product();
    let mut made = BitMatrix::zeros(70, 500).unwrap();
    let sink = made.sink();
    let run = |bytes, control: Control<'_>| {
        multiply_on_host(&Budget::new(Memory::Host, bytes), &product, Becomes::Parities, &sink, control)
    };
    // A row of each kind, the right factor twice.
    let least = 32 + 130 * 16 + 128 * 32 + 16;
    run(least, Control::default()).unwrap();
    assert!(matches!(run(least - 1, Control::default()), Err(Error::Budget { requested, .. }) if requested == least));
    let cancel = Cancel::new();
    let stop = |done, _| {
        if done == 3 {
            cancel.cancel();
        }
    };
    let control = Control { cancel: Some(&cancel), progress: Some(&stop), verify: None };
    let error = run(least, control).unwrap_err();
    assert!(matches!(error, Error::Cancelled { done: 3, steps: 280 }), "{error}");
}
