//! Streamed expressions through the public face: files in and out on the CPU, the same bits on a GPU, and budgets on a stub of one.

use crate::{ledger::Stubs, skip};
use ndarray::{Array2, ArrayView2};
use tilewright_dims::dims;
use tilewright_expr::{Border, In, coordinate, f16};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::store::{
    DeviceSink, DeviceSource, Element, Extents, MemorySink, MemorySource, NpySink, NpySource, Order, PinnedSink,
    PinnedSource, ReadTyped, Sink, Source, WriteTyped,
};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, Traffic, evaluate};
use tilewright_hybrid::{Class, Error};
use tilewright_ops::{Device, Tensor, fuse};

mod beyond;
mod elsewhere;
mod places;
mod scattered;
mod steps;

use beyond::beyond_bands;
use elsewhere::elsewhere;
use places::{mixed_places, parts_there, places_on_the_cpu};
use scattered::{scattered, scattered_there};
use steps::in_steps;

dims! { Y, X, C, K }

fn budgets(device: u64, pinned: u64) -> Budgets {
    Budgets { device: Budget::new(Memory::Device, device), pinned: Budget::new(Memory::Pinned, pinned) }
}

fn bytes(n: usize) -> Vec<u8> {
    (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 23) as u8).collect()
}

fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let mixed = |i: u32| i.wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(40_503)) >> 8;
    (0..n as u32).map(|i| mixed(i) as f32 / 4_194_304.0 - 2.0).collect()
}

/// Pictures in a file become others in a file, in bands that are a small part of them.
fn from_file_to_file(device: &Device, budgets: &Budgets) {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["pictures.npy", "blurred.npy"].map(|name| folder.path().join(name));
    let shape = [301, 40, 3];
    let values = bytes(shape.iter().product());
    let sink = NpySink::create(&from, &shape, Element::U8, Order::C).unwrap();
    sink.write(&sink.extents().whole(), &values).unwrap();
    Box::new(sink).commit().unwrap();

    let blurred = fuse(|picture: In<u8, (Y, X, C)>, gain: In<f32, ()>| {
        let low = picture.gaussian_blur::<Y, X>((5, 5), (1.0, 1.0), Border::Reflect101);
        let shade = coordinate::<Y>().to::<f32>() / 512.0;
        ((picture.to::<f32>() - low) * gain + shade).to::<f16>().store::<(Y, X, C)>()
    });
    let source = NpySource::open(&from).unwrap();
    let sink = NpySink::create(&to, &shape, Element::F16, Order::C).unwrap();
    let picture = Array::<u8, (Y, X, C)>::new(&source, shape).unwrap();
    let evaluation = Evaluation::new(&blurred, (&picture, 1.25f32), &[&sink]).unwrap();
    assert_eq!(evaluation.dimension(), Some("Y"));
    let plan = evaluation.plan(budgets.pinned.limit().min(budgets.device.limit())).unwrap();
    assert!(plan.count() > 3, "{plan:?}");
    evaluate(device, budgets, &evaluation, Control::default()).unwrap();
    drop(evaluation);
    Box::new(sink).commit().unwrap();

    let whole = Tensor::<u8, (Y, X, C)>::from_vec(shape, values).unwrap();
    let expected = blurred.call(&whole, 1.25f32).unwrap().to_vec().unwrap();
    let result = NpySource::open(&to).unwrap();
    assert_eq!(result.shape(), shape);
    let mut got = vec![f16::NAN; expected.len()];
    result.read(&result.extents().whole(), &mut got).unwrap();
    let same = got.iter().zip(&expected).position(|(a, b)| a.to_bits() != b.to_bits());
    assert_eq!(same, None, "the first element that differs");
}

/// Six operations with a row, a column and a number, and a table that is read anywhere; two results.
fn in_memory(device: &Device, budgets: &Budgets, compare: bool) -> Traffic {
    let [rows, columns, entries] = [333, 129, 7];
    let (a, b, y, x) = (numbers(rows * columns, 1), numbers(rows * columns, 2), numbers(rows, 3), numbers(columns, 4));
    let table = numbers(entries * columns, 5);
    let which: Vec<i32> = (0..rows as i32).map(|i| i * 5 % entries as i32).collect();
    let six = fuse(
        |a: In<f32, (Y, X)>,
         b: In<f32, (Y, X)>,
         y: In<f32, (Y,)>,
         x: In<f32, (X,)>,
         table: In<f32, (K, X)>,
         which: In<i32, (Y,)>,
         s: In<f32, ()>| {
            let six = ((a * s + y).max(b) - x).abs().sqrt();
            ((six + table.at::<K, _>(which)).store::<(Y, X)>(), six.sum::<X>().store::<(Y,)>())
        },
    );
    fn view<T>(values: &[T], [rows, columns]: [usize; 2]) -> MemorySource<'_, T>
    where
        T: tilewright_hybrid::store::Stored,
    {
        MemorySource::new(ArrayView2::from_shape((rows, columns), values).unwrap())
    }
    let (sa, sb, sy, sx) =
        (view(&a, [rows, columns]), view(&b, [rows, columns]), view(&y, [rows, 1]), view(&x, [1, columns]));
    let (st, sw) = (view(&table, [entries, columns]), view(&which, [1, rows]));
    let (mut first, mut second) =
        (Array2::from_elem((rows, columns), f32::NAN), Array2::from_elem((1, rows), f32::NAN));
    let traffic = {
        let (one, two) = (MemorySink::new(first.view_mut()), MemorySink::new(second.view_mut()));
        let (aa, ab) = (
            Array::<f32, (Y, X)>::new(&sa, [rows, columns]).unwrap(),
            Array::<f32, (Y, X)>::new(&sb, [rows, columns]).unwrap(),
        );
        let (ay, ax) =
            (Array::<f32, (Y,)>::new(&sy, [rows]).unwrap(), Array::<f32, (X,)>::new(&sx, [columns]).unwrap());
        let at = Array::<f32, (K, X)>::new(&st, [entries, columns]).unwrap();
        let aw = Array::<i32, (Y,)>::new(&sw, [rows]).unwrap();
        let evaluation = Evaluation::new(&six, (&aa, &ab, &ay, &ax, &at, &aw, 0.75f32), &[&one, &two]).unwrap();
        let traffic = evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        Box::new(one).commit().unwrap();
        Box::new(two).commit().unwrap();
        traffic
    };
    let tensor = |values: &[f32]| Tensor::<f32, (Y, X)>::from_vec([rows, columns], values.to_vec()).unwrap();
    let (ty, tx) =
        (Tensor::<f32, (Y,)>::from_vec([rows], y).unwrap(), Tensor::<f32, (X,)>::from_vec([columns], x).unwrap());
    let tt = Tensor::<f32, (K, X)>::from_vec([entries, columns], table).unwrap();
    let tw = Tensor::<i32, (Y,)>::from_vec([rows], which).unwrap();
    let (one, two) = six.call(&tensor(&a), &tensor(&b), &ty, &tx, &tt, &tw, 0.75f32).unwrap();
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    if compare {
        assert_eq!(bits(first.as_slice().unwrap()), bits(&one.to_vec().unwrap()));
        assert_eq!(bits(second.as_slice().unwrap()), bits(&two.to_vec().unwrap()));
    }
    traffic
}

#[test]
fn m5_files_and_memory_on_the_cpu() {
    from_file_to_file(&Device::Cpu, &budgets(48 << 10, 48 << 10));
    let budgets = budgets(0, 64 << 10);
    in_memory(&Device::Cpu, &budgets, true);
    assert!(budgets.pinned.peak() > 0 && budgets.pinned.used() == 0);
    beyond_bands(&Device::Cpu, &self::budgets(32 << 10, 32 << 10));
    in_steps(&Device::Cpu, &self::budgets(32 << 10, 32 << 10));
    elsewhere(&Device::Cpu, &self::budgets(12 << 10, 12 << 10));
    scattered(&Device::Cpu, [&self::budgets(12 << 10, 12 << 10), &self::budgets(24 << 10, 24 << 10)]);
}

/// Into shards that neither bands nor slots end with: the bits that are computed in memory.
#[cfg(feature = "zarr")]
fn into_shards(device: &Device, budgets: &Budgets) {
    use tilewright_hybrid::store::{Shards, ZarrSink, ZarrSource};
    let (folder, [rows, columns]) = (tempfile::tempdir().unwrap(), [301, 70]);
    let values = numbers(rows * columns, 1);
    let source = MemorySource::from_slice(&values, Extents::new(rows, columns)).unwrap();
    let x = Array::<f32, (Y, X)>::new(&source, [rows, columns]).unwrap();
    let softer = fuse(|x: In<f32, (Y, X)>| {
        (
            x.gaussian_blur::<Y, X>((5, 5), (1.0, 1.0), Border::Reflect101).store::<(Y, X)>(),
            x.sum::<X>().store::<(Y,)>(),
        )
    });
    let tensor = Tensor::<f32, (Y, X)>::from_vec([rows, columns], values.clone()).unwrap();
    let (first, second) = softer.call(&tensor).unwrap();
    let expected = [first.to_vec().unwrap(), second.to_vec().unwrap()];
    let shards = [([64, 32], [4, 4]), ([10, 70], [1, 7]), ([301, 8], [43, 1])];
    for (number, (shard, chunk)) in shards.into_iter().enumerate() {
        let paths = ["softer", "sums"].map(|name| folder.path().join(format!("{name} {number}")));
        let of = |path, extents: [usize; 2], shards: [[usize; 2]; 2]| {
            let [extents, shard, chunk] = [extents, shards[0], shards[1]].map(|[m, n]| Extents::new(m, n));
            ZarrSink::create(path, extents, Element::F32, Shards { shard, chunk }).unwrap()
        };
        let sinks = [of(&paths[0], [rows, columns], [shard, chunk]), of(&paths[1], [rows, 1], [[50, 1], [10, 1]])];
        let evaluation = Evaluation::new(&softer, (&x,), &[&sinks[0], &sinks[1]]).unwrap();
        let host = Budget::new(Memory::Host, 4 * (64 * 32 + 301 * 8 + 2 * 50));
        sinks.iter().for_each(|sink| sink.gather_within(&host).unwrap());
        evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        assert!(!paths[0].exists() && host.peak() <= host.limit());
        for ((sink, path), expected) in sinks.into_iter().zip(&paths).zip(&expected) {
            Box::new(sink).commit().unwrap();
            let stored = ZarrSource::open(path).unwrap();
            let mut got = vec![f32::NAN; expected.len()];
            stored.read(&stored.extents().whole(), &mut got).unwrap();
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&got), bits(expected), "{shard:?}");
        }
        assert!(host.used() == 0 && budgets.pinned.used() == 0 && budgets.device.used() == 0);
    }
}

#[cfg(feature = "zarr")]
#[test]
fn into_shards_on_the_cpu() {
    for bytes in [32 << 10, 1 << 20] {
        let budgets = budgets(0, bytes);
        into_shards(&Device::Cpu, &budgets);
        assert!((1..=bytes).contains(&budgets.pinned.peak()));
    }
}

#[test]
fn too_little_memory_is_refused_before_anything_is_read() {
    let values = numbers(64, 1);
    let source = MemorySource::from_slice(&values, Extents::new(8, 8)).unwrap();
    let mut result = Array2::from_elem((8, 8), f32::NAN);
    let sink = MemorySink::new(result.view_mut());
    let x = Array::<f32, (Y, X)>::new(&source, [8, 8]).unwrap();
    let double = fuse(|x: In<f32, (Y, X)>| (x * 2.0).store::<(Y, X)>());
    let evaluation = Evaluation::new(&double, (&x,), &[&sink]).unwrap();
    let error = evaluate(&Device::Cpu, &budgets(0, 100), &evaluation, Control::default()).unwrap_err();
    assert!(matches!(error, Error::Budget { available: 100, .. }) && error.class() == Class::Resource, "{error}");
}

/// A GPU, if there is one.
fn device(test: &str) -> Option<Device> {
    let Ok(device) = Device::gpu(0) else {
        skip(test, "no GPU");
        return None;
    };
    let computes = device.as_gpu().is_some_and(|gpu| crate::runs_kernels(gpu.device(), test));
    computes.then_some(device)
}

#[test]
fn the_same_bits_on_a_gpu() {
    let Some(device) = device("evaluate::the_same_bits_on_a_gpu") else { return };
    for (device_bytes, pinned) in [(48 << 10, 64 << 10), (96 << 10, 1 << 20), (96 << 10, 8 << 10), (96 << 10, 0)] {
        from_file_to_file(&device, &budgets(device_bytes, pinned.max(48 << 10)));
        in_memory(&device, &budgets(device_bytes, pinned), true);
    }
    // All at once.
    in_memory(&device, &budgets(1 << 30, 64 << 20), true);
    page_locked(&device, &budgets(96 << 10, 64 << 10));
    beyond_bands(&device, &budgets(24 << 10, 64 << 10));
    in_steps(&device, &budgets(32 << 10, 64 << 10));
    elsewhere(&device, &budgets(12 << 10, 64 << 10));
    scattered(&device, [&budgets(12 << 10, 64 << 10), &budgets(24 << 10, 64 << 10)]);
    scattered_there(&device, &device, &budgets(8 << 10, 64 << 10));
    scattered_there(&Device::Cpu, &device, &budgets(0, 8 << 10));
    mixed_places(&device, true);
    places_on_the_cpu(&device);
    parts_there(&device, &device, &budgets(16 << 10, 64 << 10), true);
    parts_there(&Device::Cpu, &device, &budgets(0, 24 << 10), true);
    #[cfg(feature = "zarr")]
    into_shards(&device, &budgets(96 << 10, 64 << 10));
}

/// From page-locked memory and to it, the same bits as from ordinary memory, in bands of rows and in bands of columns.
fn page_locked(device: &Device, budgets: &Budgets) {
    let Some(gpu) = device.as_gpu() else { return };
    let [rows, columns] = [301, 129];
    let values = numbers(rows * columns, 1);
    let mut there = gpu.device().pinned::<f32>(values.len()).unwrap();
    there.copy_from_slice(&values);
    let extents = Extents::new(rows, columns);
    let (ordinary, locked) =
        (MemorySource::from_slice(&values, extents).unwrap(), PinnedSource::new(&there, extents).unwrap());
    let six = fuse(|x: In<f32, (Y, X)>| (((x * 0.5 + 1.0).abs().sqrt() - 0.25).max(0.5) / 3.0).store::<(Y, X)>());
    let sums = fuse(|x: In<f32, (Y, X)>| (x.sum::<Y>().store::<(X,)>(), (x * 2.0).store::<(Y, X)>()));
    let backwards = fuse(|x: In<f32, (Y, X)>| (x.reverse::<Y>() - coordinate::<Y>().to::<f32>()).store::<(Y, X)>());
    let most = fuse(|x: In<f32, (Y, X)>| x.cummax::<Y>().store::<(Y, X)>());
    let tensor = Tensor::<f32, (Y, X)>::from_vec([rows, columns], values.clone()).unwrap();
    let mut found: Vec<Vec<u32>> = Vec::new();
    for source in [&ordinary as &dyn Source, &locked] {
        let x = Array::<f32, (Y, X)>::new(source, [rows, columns]).unwrap();
        let nan = |length| {
            let mut buffer = gpu.device().pinned::<f32>(length).unwrap();
            buffer.fill(f32::NAN);
            buffer
        };
        let [mut one, mut two, mut three] = [nan(values.len()), nan(columns), nan(values.len())];
        let mut four = nan(values.len());
        let one_sink = PinnedSink::new(&mut one, extents).unwrap();
        let evaluation = Evaluation::new(&six, (&x,), &[&one_sink]).unwrap();
        assert_eq!(evaluation.dimension(), Some("Y"));
        evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        Box::new(one_sink).commit().unwrap();
        let (two_sink, three_sink) = (
            PinnedSink::new(&mut two, Extents::new(1, columns)).unwrap(),
            PinnedSink::new(&mut three, extents).unwrap(),
        );
        let evaluation = Evaluation::new(&sums, (&x,), &[&two_sink, &three_sink]).unwrap();
        assert_eq!(evaluation.dimension(), Some("X"));
        evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        Box::new(two_sink).commit().unwrap();
        Box::new(three_sink).commit().unwrap();
        // Columns could be cut as they are; rows, read elsewhere, need no thread.
        let four_sink = PinnedSink::new(&mut four, extents).unwrap();
        let evaluation = Evaluation::new(&backwards, (&x,), &[&four_sink]).unwrap();
        evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        Box::new(four_sink).commit().unwrap();
        // So are rows of a scan, which are brought twice for that.
        let mut five = nan(values.len());
        let five_sink = PinnedSink::new(&mut five, extents).unwrap();
        let evaluation = Evaluation::new(&most, (&x,), &[&five_sink]).unwrap();
        evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        Box::new(five_sink).commit().unwrap();
        assert_eq!(five[..], most.call(&tensor).unwrap().to_vec().unwrap());
        found.push([one, two, three, four].iter().flat_map(|buffer| buffer.iter().map(|x| x.to_bits())).collect());
    }
    assert_eq!(found[0], found[1]);
    let expected: Vec<u32> = six.call(&tensor).unwrap().to_vec().unwrap().iter().map(|x| x.to_bits()).collect();
    assert_eq!(found[0][..expected.len()], expected);
    let expected: Vec<u32> = backwards.call(&tensor).unwrap().to_vec().unwrap().iter().map(|x| x.to_bits()).collect();
    assert_eq!(found[0][found[0].len() - expected.len()..], expected);
}

/// What has another size is refused, and what was not written is not there.
fn room_of_others(device: &Device) {
    let stream = device.as_gpu().unwrap().stream();
    let mut buffer = stream.upload(&[7.0f32; 12]).unwrap();
    let error = DeviceSource::new(&buffer, Extents::new(3, 5)).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 60, got: 48, .. }), "{error}");
    let tile = tilewright_hybrid::store::Tile { rows: 1..3, columns: 1..3 };
    let sink = DeviceSink::new(&mut buffer, Extents::new(3, 4)).unwrap();
    sink.write(&tile, &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    assert!(matches!(Box::new(sink).commit(), Err(Error::Incomplete { row: 0, column: 0, .. })));
    assert_eq!(buffer.to_vec().unwrap(), [7.0, 7.0, 7.0, 7.0, 7.0, 1.0, 2.0, 7.0, 7.0, 3.0, 4.0, 7.0]);
    let mut part = [0.0f32; 4];
    DeviceSource::new(&buffer, Extents::new(3, 4)).unwrap().read(&tile, &mut part).unwrap();
    assert_eq!(part, [1.0, 2.0, 3.0, 4.0]);
    // A tensor is memory of a GPU too, unless it is a view or shared.
    let mut tensor = Tensor::<f32, (Y, X)>::zeros([3, 4], device).unwrap();
    let sink = DeviceSink::of_room(tensor.device_room().unwrap(), Element::F32, Extents::new(3, 4)).unwrap();
    sink.write(&sink.extents().whole(), &[5.0f32; 12]).unwrap();
    Box::new(sink).commit().unwrap();
    assert_eq!(tensor.to_vec().unwrap(), [5.0; 12]);
    let source = DeviceSource::of_bytes(tensor.device_bytes().unwrap(), Element::F32, Extents::new(3, 4)).unwrap();
    source.read(&tile, &mut part).unwrap();
    assert_eq!(part, [5.0; 4]);
    let shared = tensor.clone();
    assert!(tensor.device_room().is_none() && shared.device_bytes().is_some());
    assert!(Tensor::<f32, (Y, X)>::zeros([3, 4], &Device::Cpu).unwrap().device_bytes().is_none());
    // A result with a margin that stays there is one band where its operand fits; else windows of that stand where bands read it, and results have none.
    let values = numbers(333 * 129, 1);
    let source = MemorySource::from_slice(&values, Extents::new(333, 129)).unwrap();
    let mut buffer = stream.alloc::<f32>(333 * 129).unwrap();
    let sink = DeviceSink::new(&mut buffer, Extents::new(333, 129)).unwrap();
    let x = Array::<f32, (Y, X)>::new(&source, [333, 129]).unwrap();
    let blurred =
        fuse(|x: In<f32, (Y, X)>| x.gaussian_blur::<Y, X>((5, 5), (1.0, 1.0), Border::Reflect101).store::<(Y, X)>());
    let evaluation = Evaluation::new(&blurred, (&x,), &[&sink]).unwrap();
    assert!(evaluation.plan(1 << 20).unwrap().count() == 1 && evaluation.plan(1 << 20).unwrap().is_whole);
    let plan = evaluation.plan(100 << 10).unwrap();
    assert!(
        plan.elsewhere && plan.count() > 3 && plan.bytes_to_host() == 0 && plan.device_bytes() <= 100 << 10,
        "{plan:?}"
    );
    evaluate(device, &budgets(100 << 10, 64 << 10), &evaluation, Control::default()).unwrap();
}

/// What a stub of a driver can tell: that everything is queued, copied and given back, within the budgets.
#[test]
fn budgets_on_a_stub_of_a_gpu() {
    Stubs::check("evaluate::budgets_on_a_stub_of_a_gpu", "evaluate on a stub");
}

pub(crate) fn child_on_a_stub() {
    let device = Device::gpu(0).unwrap();
    // M1: where one slot is not enough, and where there is nothing, slots are ordinary memory.
    mixed_places(&device, false);
    places_on_the_cpu(&device);
    parts_there(&device, &device, &budgets(16 << 10, 64 << 10), false);
    parts_there(&Device::Cpu, &device, &budgets(0, 24 << 10), true);
    room_of_others(&device);
    for (device_bytes, pinned) in
        [(48 << 10, 64 << 10), (96 << 10, 8 << 10), (1 << 30, 64 << 20), (96 << 10, 4 << 10), (96 << 10, 0)]
    {
        let budgets = budgets(device_bytes, pinned);
        let traffic = in_memory(&device, &budgets, false);
        // Two matrices, a row, a column, a table, numbers of its rows, and a number; two results.
        let elements = 2 * 333 * 129 + 129 + 333 + 7 * 129 + 333 + 1;
        assert_eq!((traffic.to_gpu, traffic.to_host), (4 * elements, 4 * (333 * 129 + 333)));
        assert!((1..=device_bytes).contains(&budgets.device.peak()) && budgets.device.used() == 0);
        let least = u64::from(pinned >= 8 << 10);
        assert!((least..=pinned).contains(&budgets.pinned.peak()) && budgets.pinned.used() == 0, "{pinned}");
    }
}
