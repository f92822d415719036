//! What a stream keeps of the memory that its buffers give back, on a driver that has memory and nothing else.

use crate::{child, skip, stub};
use tilewright_driver::blas::Layout;
use tilewright_driver::{Device, DeviceBuffer, Error, PinnedRows};

#[test]
fn memory_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some([driver, _]) = stub::working(folder.path()) else {
        return skip("memory::memory_is_used_again", "no C compiler");
    };
    child::check(&child::command("memory").env("TILEWRIGHT_LIBCUDA", driver).output().unwrap());
}

pub(crate) fn child_memory() {
    let device = Device::new(0).unwrap();
    again(&device);
    bounds(&device);
    threads(&device);
    captures(&device);
    rows(&device);
    matrices(&device);
    locked(&device);
}

fn free(device: &Device) -> usize {
    device.memory_info().unwrap().0
}

/// On the same stream, for sizes of one class, and for nobody while it is held.
fn again(device: &Device) {
    let [a, b] = [device.stream().unwrap(), device.stream().unwrap()];
    let first = a.upload(&[7u8; 1000]).unwrap();
    let address = first.device_ptr();
    assert_ne!(a.alloc::<u8>(1000).unwrap().device_ptr(), address, "it is held");
    drop(first);
    assert_ne!(b.alloc::<u8>(1000).unwrap().device_ptr(), address, "another stream is in no order with the first");
    assert_ne!(a.alloc::<u8>(3000).unwrap().device_ptr(), address, "it is too small");
    let mut held: Vec<DeviceBuffer<u8>> = (0..3).map(|_| a.alloc(1010).unwrap()).collect();
    let at = held.iter().position(|buffer| buffer.device_ptr() == address).expect("the same block");
    assert_eq!((held[at].len(), held[at].allocated_bytes()), (1010, 1024));
    if cfg!(debug_assertions) {
        assert_eq!(held.swap_remove(at).to_vec().unwrap(), [0xA5; 1010], "what was there is gone");
    }
}

/// What is kept ends at 64 MiB, and with the stream.
fn bounds(device: &Device) {
    let (stream, before) = (device.stream().unwrap(), free(device));
    for bytes in [1, 16, 512, 513, 640, 641, 1000, 65_535, (1 << 20) - 15, 1 << 20] {
        let buffers: Vec<DeviceBuffer<u8>> = (0..100).map(|_| stream.alloc(bytes).unwrap()).collect();
        let taken = before - free(device);
        assert!(taken >= 100 * bytes && taken <= (64 << 20) + 100 * (bytes + bytes / 4 + 512), "{bytes}: {taken}");
        drop(buffers);
        assert!(before - free(device) <= 64 << 20, "{bytes}");
    }
    stream.trim().unwrap();
    assert_eq!(free(device), before);
    drop(stream.alloc::<u8>((16 << 20) + 1).unwrap());
    assert_eq!(free(device), before, "large blocks are not kept");
    drop(stream.alloc::<u8>(16 << 20).unwrap());
    assert_ne!(free(device), before);
    drop(stream);
    assert_eq!(free(device), before);
}

/// What each thread takes and gives back is counted, whatever the others do.
fn threads(device: &Device) {
    let before = free(device);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let stream = device.stream().unwrap();
                // Too large to be kept.
                (0..5000).for_each(|_| drop(stream.alloc::<u8>((16 << 20) + 1).unwrap()));
            });
        }
    });
    assert_eq!(free(device), before);
}

/// What is captured may run later: it gets no memory that others get after it.
fn captures(device: &Device) {
    let stream = device.stream().unwrap();
    drop(stream.alloc::<u8>(100).unwrap());
    let refused = stream.capture(|| stream.alloc::<u8>(100).unwrap_err()).unwrap().1;
    assert!(matches!(refused, Error::Capturing { .. }), "{refused}");
    stream.alloc::<u8>(100).unwrap();
}

/// Page-locked memory of as many bytes is found again, until it is given to the system.
fn locked(device: &Device) {
    let address = |len| {
        let scratch = device.pinned_scratch::<u16>(len).unwrap();
        (scratch.as_ptr().addr(), scratch[0])
    };
    let (first, value) = address(1 << 20);
    assert_eq!(value, 0);
    let other = device.pinned::<u16>(1 << 20).unwrap();
    assert_ne!(other.as_ptr().addr(), first, "not for those who want zeros");
    assert_ne!(address((1 << 20) + 1).0, first, "of another size");
    let held = device.pinned_scratch::<u16>(1 << 20).unwrap();
    assert_eq!(held.as_ptr().addr(), first);
    if cfg!(debug_assertions) {
        assert_eq!(held[7], 0xA5A5, "what was there is gone");
    }
    assert_ne!(address(1 << 20).0, first, "it is held");
    drop(held);
    device.stream().unwrap().trim().unwrap();
    assert_eq!(address(1 << 20).1, 0, "another one, zeroed");
}

/// Rows of page-locked memory come without gaps, go back between others, and only where they are.
/// Matrices in buffers, whose columns begin anywhere.
fn matrices(device: &Device) {
    let stream = device.stream().unwrap();
    let from = stream.upload(&(0..30).collect::<Vec<u16>>()).unwrap();
    let mut to = stream.upload(&[99u16; 12]).unwrap();
    let [there, here] =
        [Layout { offset: 7, rows: 2, columns: 3, leading: 6 }, Layout { offset: 1, rows: 2, columns: 3, leading: 4 }];
    to.copy_matrix_from(&stream, here, (&from, there)).unwrap();
    assert_eq!(to.to_vec().unwrap(), [99, 7, 8, 99, 99, 13, 14, 99, 99, 19, 20, 99]);
    // Without gaps, one column, none.
    to.copy_matrix_from(&stream, Layout::dense(3, 4), (&from, Layout { offset: 5, ..Layout::dense(3, 4) })).unwrap();
    assert_eq!(to.to_vec().unwrap(), (5..17).collect::<Vec<u16>>());
    let column = Layout { columns: 1, ..here };
    to.copy_matrix_from(&stream, column, (&from, Layout { offset: 28, ..column })).unwrap();
    assert_eq!(to.to_vec().unwrap()[..4], [5, 28, 29, 8]);
    to.copy_matrix_from(&stream, Layout::dense(0, 3), (&from, Layout::dense(0, 3))).unwrap();
    for (here, there) in [
        (Layout { rows: 3, ..here }, there),
        (Layout { columns: 2, ..here }, there),
        (Layout { offset: 3, ..here }, there),
        (here, Layout { offset: 17, ..there }),
        (Layout { leading: 1, ..here }, there),
    ] {
        let error = to.copy_matrix_from(&stream, here, (&from, there)).unwrap_err();
        assert!(matches!(error, Error::Matrix { .. }), "{here:?} {there:?} {error}");
    }
}

fn rows(device: &Device) {
    let stream = device.stream().unwrap();
    let mut host = device.pinned::<u16>(60).unwrap();
    host.iter_mut().enumerate().for_each(|(i, value)| *value = i as u16);
    let mut there = stream.upload(&[9u16; 8]).unwrap();
    // Of ten columns the third to the fifth, of rows 1 and 2.
    let part = PinnedRows { begin: 24, width: 6, pitch: 20, count: 2 };
    there.copy_rows_from_pinned(&stream, 1, host.pinned_bytes(), &part).unwrap();
    assert_eq!(there.to_vec().unwrap(), [9, 12, 13, 14, 22, 23, 24, 9]);
    let other = PinnedRows { begin: 0, width: 4, pitch: 20, count: 2 };
    there.copy_rows_to_pinned(&stream, 3, &mut host.pinned_bytes_mut(), &other).unwrap();
    assert_eq!((&host[..3], &host[10..13]), (&[14, 22, 2][..], &[23, 24, 12][..]));
    let whole = PinnedRows { begin: 0, width: 8, pitch: 8, count: 2 };
    there.copy_rows_from_pinned(&stream, 0, host.pinned_bytes(), &whole).unwrap();
    assert_eq!(there.to_vec().unwrap(), host[..8]);

    let wrong = [
        PinnedRows { begin: 102, ..part },
        PinnedRows { pitch: 5, ..part },
        PinnedRows { count: 3, ..part },
        PinnedRows { count: usize::MAX, ..part },
        PinnedRows { begin: usize::MAX, width: 2, pitch: 2, count: 1 },
    ];
    for rows in wrong {
        let error = there.copy_rows_from_pinned(&stream, 0, host.pinned_bytes(), &rows);
        assert!(matches!(error, Err(Error::Length { .. })), "{rows:?} {error:?}");
        let error = there.copy_rows_to_pinned(&stream, 0, &mut host.pinned_bytes_mut(), &rows);
        assert!(matches!(error, Err(Error::Length { .. })), "{rows:?} {error:?}");
    }
    for at in [3, usize::MAX] {
        assert!(there.copy_rows_from_pinned(&stream, at, host.pinned_bytes(), &part).is_err());
    }
    let mut none = stream.alloc::<u16>(0).unwrap();
    assert!(none.copy_rows_from_pinned(&stream, 0, host.pinned_bytes(), &part).is_err());
    let nothing = PinnedRows { count: 0, ..part };
    none.copy_rows_from_pinned(&stream, 0, host.pinned_bytes(), &nothing).unwrap();
}
