//! Scatters, histograms and stores under a condition: what a tensor holds before, what is launched, and on the GPU the CPU's bits.

use crate::support::{Random, Same, assert_same, gpu, skip};
use tilewright_dims::{Dims, dims};
use tilewright_driver::{Arch, Source, TargetKind, compile, toolkit};
use tilewright_expr::{In, Initial, Out, bf16, coordinate, f16, meet};
use tilewright_headers::headers_for;
use tilewright_ops::{Device, Fused, Item, LaunchKind, Tensor, fuse, record};

dims! { N, Y, X, C, Bin, Cell }

fn tensor<T: Item, const R: usize, L: Dims>(
    shape: [usize; R],
    seed: u64,
    f: impl Fn(&mut Random) -> T,
) -> Tensor<T, L> {
    Tensor::from_vec(shape, Random(seed).vec(shape.iter().product(), f)).unwrap()
}

/// Pixels, more of them dark than bright.
fn picture(shape: [usize; 4], seed: u64) -> Tensor<u8, (N, Y, X, C)> {
    tensor(shape, seed, |r| (r.below(256) * r.below(256) / 255) as u8)
}

type Scattering<T> = Fused<(In<T, (N, X)>, In<i32, (X,)>), Out<T, (N, Cell)>>;

/// Values of a type that meet in one way, in `cells` places.
macro_rules! scatter {
    ($t:ty, $way:ident, $cells:expr) => {
        fuse(|x: In<$t, (N, X)>, at: In<i32, (X,)>| {
            let first = Initial::Held(<$t>::default());
            x.scatter::<X, Cell, _, _>(at, $cells, meet::$way, first).store::<(N, Cell)>()
        })
    };
}

/// A value of any type.
trait Any: Item + Default + tilewright_expr::Value {
    fn any(r: &mut Random) -> Self {
        Self::from_bits64(r.bits())
    }
}
impl<T: Item + Default + tilewright_expr::Value> Any for T {}

fn random<T: Any>(shape: [usize; 2]) -> Tensor<T, (N, X)> {
    tensor(shape, 5, T::any)
}

/// Coordinates, some outside of the cells.
fn places(cells: usize) -> Tensor<i32, (X,)> {
    tensor([3001], 6, |r| r.below(cells as u64 + 8) as i32 - 4)
}

#[test]
fn a_histogram_counts_every_pixel() {
    let f = fuse(|x: In<u8, (N, Y, X, C)>| x.histogram::<(Y, X), Bin>(256).store::<(N, C, Bin)>());
    let x = picture([2, 33, 47, 3], 1);
    let counts = f.call(&x).unwrap().to_vec().unwrap();
    let mut expected = vec![0i64; 2 * 3 * 256];
    for (i, v) in x.to_vec().unwrap().into_iter().enumerate() {
        expected[(i / (33 * 47 * 3) * 3 + i % 3) * 256 + usize::from(v)] += 1;
    }
    assert_eq!(counts, expected);
    let launches = record(|| drop(f.call(&x).unwrap()));
    assert_eq!(launches.iter().map(|l| l.kind).collect::<Vec<_>>(), [LaunchKind::Host]);
}

/// What is held counts on; what is a value starts anew.
#[test]
fn what_a_tensor_holds() {
    let devices = [Some(Device::Cpu), gpu("scatter::what_a_tensor_holds").map(|(device, _)| device)];
    for device in devices.into_iter().flatten() {
        let (x, at) = (tensor::<i64, 1, (X,)>([5], 2, |_| 10).to(&device).unwrap(), [0, 2, 2, 9, -1]);
        let at = Tensor::<i32, (X,)>::from_vec([5], at.to_vec()).unwrap().to(&device).unwrap();
        let run = |initial: Initial<i64>| {
            let f = fuse(move |x: In<i64, (X,)>, at: In<i32, (X,)>| {
                x.scatter::<X, Cell, _, _>(at, 4, meet::Sum, initial).store::<(Cell,)>()
            });
            let mut sums = f.call(&x, &at).unwrap();
            let first = sums.to_vec().unwrap();
            f.call_into(&mut sums, &x, &at).unwrap();
            (first, sums.to_vec().unwrap())
        };
        assert_eq!(run(Initial::Filled(1)), (vec![11, 1, 21, 1], vec![11, 1, 21, 1]));
        assert_eq!(run(Initial::Held(1)), (vec![11, 1, 21, 1], vec![21, 1, 41, 1]));

        let f = fuse(|x: In<i64, (X,)>, on: In<bool, (X,)>| x.store_where::<(X,), _>(on, 7));
        let on =
            Tensor::<bool, (X,)>::from_vec([5], vec![true, false, true, false, false]).unwrap().to(&device).unwrap();
        let mut places = f.call(&x, &on).unwrap();
        assert_eq!(places.to_vec().unwrap(), [10, 7, 10, 7, 7]);
        places = Tensor::from_vec([5], vec![1, 2, 3, 4, 5]).unwrap().to(&device).unwrap();
        f.call_into(&mut places, &x, &on).unwrap();
        assert_eq!(places.to_vec().unwrap(), [10, 2, 10, 4, 5]);
    }
}

/// An empty operand scatters nothing, and the result is what it is before.
#[test]
fn nothing_to_scatter() {
    let devices = [Some(Device::Cpu), gpu("scatter::nothing_to_scatter").map(|(device, _)| device)];
    for device in devices.into_iter().flatten() {
        let f = fuse(|x: In<u8, (X,)>| x.histogram::<X, Bin>(3).store::<(Bin,)>());
        let none = Tensor::<u8, (X,)>::from_vec([0], vec![]).unwrap().to(&device).unwrap();
        assert_eq!(f.call(&none).unwrap().to_vec().unwrap(), [0, 0, 0]);
    }
}

/// Every kernel is legal CUDA C++.
#[test]
fn kernels_compile() {
    if toolkit::nvrtc().is_err() {
        return skip("scatter::kernels_compile", "no NVRTC");
    }
    let check = |name: &str, text: String| {
        let headers = headers_for(&text).into_iter().map(|(name, text)| (name.to_string(), text.into())).collect();
        let source = Source { name: name.into(), text, headers, options: Vec::new(), target: TargetKind::Plain };
        compile(&source, Arch::new(9, 0)).unwrap_or_else(|e| panic!("{name}: {e}"));
    };
    macro_rules! sources {
        ($cells:expr; $($t:ident $way:ident),*) => { $({
            let text = scatter!($t, $way, $cells).cuda_source(&random::<$t>([2, 3001]), &places($cells)).unwrap();
            check(concat!(stringify!($way), " of ", stringify!($t)), text);
        })* };
    }
    macro_rules! all_to {
        ($cells:expr) => {
            sources!($cells; u8 Sum, i8 Min, u16 Max, i16 And, bool Or, bool Xor, f16 Min, bf16 Max, f32 Min, f64 Max);
            sources!($cells; u32 Sum, i32 Sum, u64 Sum, i64 Sum, u32 Min, i32 Min, u64 Min, i64 Min, u32 And, i32 Or);
            sources!($cells; u64 Xor, i64 And, i64 Or, u32 Max, i64 Max, u8 Unique, f64 Unique);
        };
    }
    all_to!(9);
    all_to!(100_000);
    let f = fuse(|x: In<u8, (N, Y, X, C)>| x.histogram::<(Y, X), Bin>(256).store::<(N, C, Bin)>());
    check("a histogram", f.cuda_source(&picture([2, 60, 90, 3], 3)).unwrap());
    let f = fuse(|x: In<u8, (N, Y, X, C)>| x.store_where::<(N, Y, X, C), _>(x.gt(9), 1));
    check("a store under a condition", f.cuda_source(&picture([2, 60, 90, 3], 3)).unwrap());
}

#[test]
fn on_the_gpu() {
    let Some((device, _lock)) = gpu("scatter::on_the_gpu") else { return };
    fn same<T: Any + Same>(device: &Device, (what, cells): (&str, usize), f: Scattering<T>) {
        let (x, at) = (random([3, 3001]), places(cells));
        let (mut cpu, there) = (f.call(&x, &at).unwrap(), (x.to(device).unwrap(), at.to(device).unwrap()));
        let mut on_gpu = f.call(&there.0, &there.1).unwrap();
        assert_same(what, &on_gpu.to_vec().unwrap(), &cpu.to_vec().unwrap());
        f.call_into(&mut cpu, &x, &at).unwrap();
        f.call_into(&mut on_gpu, &there.0, &there.1).unwrap();
        assert_same(what, &on_gpu.to_vec().unwrap(), &cpu.to_vec().unwrap());
    }
    macro_rules! all_of {
        ($($t:ident)*; $ways:tt) => { $(all_of!(@ $t $ways);)* };
        (@ $t:ident ($($way:ident)*)) => { $(
            let what = concat!(stringify!($way), " of ", stringify!($t));
            same(&device, (what, 9), scatter!($t, $way, 9));
            same(&device, (what, 5000), scatter!($t, $way, 5000));
        )* };
    }
    all_of!(u8 i8 u16 i16 u32 i32 u64 i64; (Sum Min Max And Or Xor));
    all_of!(f16 bf16 f32 f64; (Min Max));
    all_of!(bool; (And Or Xor));
}

/// Histograms of planes and of interleaved channels, large and small, and computed values; two launches each, none of which
/// allocates.
#[test]
fn histograms_on_the_gpu() {
    let Some((device, _lock)) = gpu("scatter::histograms_on_the_gpu") else { return };
    let batch = fuse(|x: In<u8, (N, Y, X, C)>| x.histogram::<(Y, X), Bin>(256).store::<(N, C, Bin)>());
    let all = fuse(|x: In<u8, (N, Y, X, C)>| x.histogram::<(N, Y, X, C), Bin>(256).store::<(Bin,)>());
    let many = fuse(|x: In<u8, (N, Y, X, C)>| {
        (x.to::<i32>() * 211 + coordinate::<X>()).histogram::<(Y, X), Bin>(60_000).store::<(N, C, Bin)>()
    });
    for shape in [[1, 1, 1, 1], [3, 37, 41, 3], [2, 480, 640, 3], [1, 2160, 3840, 1], [5, 64, 64, 4]] {
        let x = picture(shape, 4);
        let there = x.to(&device).unwrap();
        for (what, f) in [("batch", &batch), ("bins in global memory", &many)] {
            let mut counts = f.call(&there).unwrap();
            let expected = f.call(&x).unwrap().to_vec().unwrap();
            assert_same(what, &counts.to_vec().unwrap(), &expected);
            let launches = record(|| f.call_into(&mut counts, &there).unwrap());
            assert_same(what, &counts.to_vec().unwrap(), &expected);
            let kinds: Vec<LaunchKind> = launches.iter().map(|l| l.kind).collect();
            assert_eq!(kinds, [LaunchKind::Fill, LaunchKind::Fused]);
            let again = record(|| f.call_into(&mut counts, &there).unwrap());
            assert!(again.iter().all(|l| l.device_bytes == 0), "{again:?}");
        }
        assert_same("all", &all.call(&there).unwrap().to_vec().unwrap(), &all.call(&x).unwrap().to_vec().unwrap());
    }
}

/// Stores under a condition, of channels, are one launch.
#[test]
fn under_a_condition_on_the_gpu() {
    let Some((device, _lock)) = gpu("scatter::under_a_condition_on_the_gpu") else { return };
    let f = fuse(|x: In<u8, (N, Y, X, C)>| (x / 2).store_where::<(N, C, Y, X), _>(x.gt(60), 3));
    let x = picture([2, 61, 97, 3], 7);
    let there = x.to(&device).unwrap();
    let (mut cpu, mut on_gpu) = (f.call(&x).unwrap(), f.call(&there).unwrap());
    assert_same("new", &on_gpu.to_vec().unwrap(), &cpu.to_vec().unwrap());
    let other = picture([2, 61, 97, 3], 8);
    f.call_into(&mut cpu, &other).unwrap();
    let other = other.to(&device).unwrap();
    let launches = record(|| f.call_into(&mut on_gpu, &other).unwrap());
    assert_same("there", &on_gpu.to_vec().unwrap(), &cpu.to_vec().unwrap());
    assert_eq!(launches.len(), 1);
}
