//! The same bits on the GPU as on the CPU.

use crate::support::{Random, Same, assert_same, gpu, gpu_alone};
use tilewright_dims::dims;
use tilewright_expr::{In, Rect, bf16, f16};
use tilewright_ops::{Device, Item, Tensor, fuse};

dims! { N, Y, X, C }

/// Random values of a type: any bits, with edges more often than chance would have them.
pub(crate) trait Draw: Item + Same {
    fn draw(r: &mut Random) -> Self;
}
macro_rules! integers { ($($t:ty),*) => { $(impl Draw for $t {
    fn draw(r: &mut Random) -> Self {
        match r.below(8) {
            0 => <$t>::MIN,
            1 => <$t>::MAX,
            2 => r.below(3) as $t,
            3 => (0 as $t).wrapping_sub(1),
            _ => r.bits() as $t,
        }
    }
})* } }
integers!(u8, i8, u16, i16, u32, i32, u64, i64);
impl Draw for bool {
    fn draw(r: &mut Random) -> Self {
        r.below(2) == 1
    }
}
macro_rules! floats { ($($t:ty),*) => { $(impl Draw for $t {
    fn draw(r: &mut Random) -> Self {
        let edges = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 254.5, 255.5, -128.5, 65535.5, 2147483648.0, -2147483648.5,
            9223372036854775808.0, <$t>::NAN, <$t>::INFINITY, <$t>::NEG_INFINITY, <$t>::MIN_POSITIVE, <$t>::MAX];
        match r.below(4) {
            0 => edges[r.below(edges.len() as u64) as usize],
            1 => <$t>::from_bits(r.bits() as _),
            2 => (r.unit() * 600.0 - 300.0) as $t,
            _ => (r.unit() * 4.0 - 2.0) as $t,
        }
    }
})* } }
floats!(f32, f64);
macro_rules! halves { ($($t:ty),*) => { $(impl Draw for $t {
    fn draw(r: &mut Random) -> Self {
        match r.below(3) {
            0 => <$t>::from_bits(r.bits() as u16),
            _ => <$t>::from_f32(f32::draw(r)),
        }
    }
})* } }
halves!(f16, bf16);

/// Runs one expression on both devices and compares.
macro_rules! same_on {
    ($device:expr, $what:expr, $f:expr, $($arg:expr),*) => {{
        let f = $f;
        let on_cpu = f.call($(&$arg),*).unwrap_or_else(|e| panic!("{}: {e}", $what)).to_vec().unwrap();
        let on_gpu = f.call($(&$arg.to($device).unwrap()),*).unwrap_or_else(|e| panic!("{}: {e}", $what));
        assert_same(&$what, &on_gpu.to_vec().unwrap(), &on_cpu);
    }};
}

pub(crate) fn plane<T: Draw>(random: &mut Random, height: usize, width: usize) -> Tensor<T, (Y, X)> {
    Tensor::from_vec([height, width], random.vec(height * width, T::draw)).unwrap()
}

#[test]
fn arithmetic_of_every_type() {
    let Some((device, _lock)) = gpu("gpu::arithmetic_of_every_type") else { return };
    let mut random = Random(11);
    macro_rules! each { ($($t:ident),*) => { $({
        let (a, b) = (plane::<$t>(&mut random, 61, 67), plane::<$t>(&mut random, 61, 67));
        same_on!(&device, concat!(stringify!($t), " +-*"), fuse(|a: In<$t, (Y, X)>, b: In<$t, (Y, X)>| {
            ((a + b) * (a - b) - a).store::<(Y, X)>()
        }), a, b);
        same_on!(&device, concat!(stringify!($t), " /"), fuse(|a: In<$t, (Y, X)>, b: In<$t, (Y, X)>| (a / b).store::<(Y, X)>()), a, b);
        same_on!(&device, concat!(stringify!($t), " min max"), fuse(|a: In<$t, (Y, X)>, b: In<$t, (Y, X)>| {
            (a.min(b).max(-a) + b.abs()).store::<(Y, X)>()
        }), a, b);
        same_on!(&device, concat!(stringify!($t), " select"), fuse(|a: In<$t, (Y, X)>, b: In<$t, (Y, X)>| {
            ((a.lt(b) & a.ne(b)) | !a.ge(b)).select(a, b).store::<(Y, X)>()
        }), a, b);
        same_on!(&device, concat!(stringify!($t), " compare"), fuse(|a: In<$t, (Y, X)>, b: In<$t, (Y, X)>| {
            (a.le(b) ^ a.gt(b) ^ a.eq(b)).store::<(X, Y)>()
        }), a, b);
    })* } }
    each!(u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64);
}

#[test]
fn casts_between_all_types() {
    let Some((device, _lock)) = gpu("gpu::casts_between_all_types") else { return };
    let mut random = Random(12);
    macro_rules! to { ($a:ident, $from:expr; $($b:ident),*) => { $(
        same_on!(&device, concat!(stringify!($a), " to ", stringify!($b)),
            fuse(|a: In<$a, (Y, X)>| a.to::<$b>().store::<(Y, X)>()), $from);
    )* } }
    macro_rules! from { ($($a:ident),*) => { $({
        let a = plane::<$a>(&mut random, 59, 31);
        to!($a, a; bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64);
    })* } }
    from!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64);
}

#[test]
fn functions_of_floats() {
    let Some((device, _lock)) = gpu("gpu::functions_of_floats") else { return };
    let mut random = Random(13);
    macro_rules! each { ($($t:ident),*) => { $({
        let a = plane::<$t>(&mut random, 127, 129);
        same_on!(&device, concat!(stringify!($t), " sqrt"), fuse(|a: In<$t, (Y, X)>| a.sqrt().store::<(Y, X)>()), a);
        same_on!(&device, concat!(stringify!($t), " exp"), fuse(|a: In<$t, (Y, X)>| a.exp().store::<(Y, X)>()), a);
        same_on!(&device, concat!(stringify!($t), " rounding"), fuse(|a: In<$t, (Y, X)>| {
            (a.floor() + a.ceil() * <$t>::from(3u8) - a.trunc() / <$t>::from(2u8) + a.round()).store::<(Y, X)>()
        }), a);
    })* } }
    each!(f16, bf16, f32, f64);
}

#[test]
fn divisions_that_share_a_divisor() {
    let Some((device, _lock)) = gpu("gpu::divisions_that_share_a_divisor") else { return };
    let mut random = Random(14);
    let a = plane::<f32>(&mut random, 256, 1024);
    let f = fuse(|a: In<f32, (Y, X)>, d: In<f32, (Y,)>| (a / d / 3.0f32).store::<(Y, X)>());
    let d = Tensor::<f32, (Y,)>::from_vec([256], random.vec(256, f32::draw)).unwrap();
    same_on!(&device, "x / d", f.clone(), a, d);
    let calm = Tensor::<f32, (Y, X)>::from_vec([256, 1024], random.vec(256 * 1024, |r| (r.unit() * 8.0 - 4.0) as f32))
        .unwrap();
    let divisor = Tensor::<f32, (Y,)>::from_vec([256], random.vec(256, |r| (r.unit() + 0.1) as f32)).unwrap();
    same_on!(&device, "calm x / d", f, calm, divisor);
}

#[test]
fn layouts_views_and_odd_sizes() {
    let Some((device, _lock)) = gpu("gpu::layouts_views_and_odd_sizes") else { return };
    let mut random = Random(15);
    for (height, width) in [(1, 1), (1, 7), (3, 5), (17, 31), (64, 128), (33, 1027)] {
        for channels in [1, 2, 3, 4, 5, 8, 9] {
            let data = random.vec(height * width * channels, |r| r.bits() as u8);
            let packed = Tensor::<u8, (Y, X, C)>::from_vec([height, width, channels], data).unwrap();
            let what = format!("{height}x{width}x{channels}");
            same_on!(
                &device,
                what,
                fuse(|x: In<u8, (Y, X, C)>| (x.to::<f32>() * 0.5 + 1.0).store::<(C, Y, X)>()),
                packed
            );
            same_on!(&device, what, fuse(|x: In<u8, (Y, X, C)>| (x + 1u8).reverse::<C>().store::<(Y, X, C)>()), packed);
            same_on!(&device, what, fuse(|x: In<u8, (Y, X, C)>| x.to::<i16>().store::<(X, C, Y)>()), packed);
            if width > 3 {
                // Unaligned: the same kernel must not assume more than it knows.
                let view = packed.narrow::<X>(1, width - 2).unwrap();
                let f = fuse(|x: In<u8, (Y, X, C)>| (x.to::<f32>() - 3.0).store::<(Y, X, C)>());
                let expected = f.call(&view).unwrap().to_vec().unwrap();
                let on_gpu = f.call(&packed.to(&device).unwrap().narrow::<X>(1, width - 2).unwrap()).unwrap();
                assert_same(&what, &on_gpu.to_vec().unwrap(), &expected);
            }
        }
    }
}

#[test]
fn unaligned_lines_of_every_type() {
    let Some((device, _lock)) = gpu("gpu::unaligned_lines_of_every_type") else { return };
    let mut random = Random(16);
    macro_rules! each { ($($t:ident),*) => { $(
        for start in 0..5 {
            let line = Tensor::<$t, (X,)>::from_vec([4099], random.vec(4099, $t::draw)).unwrap();
            let f = fuse(|x: In<$t, (X,)>| (x + x).store::<(X,)>());
            let expected = f.call(&line.narrow::<X>(start, 4090).unwrap()).unwrap().to_vec().unwrap();
            let mut out = Tensor::<$t, (X,)>::zeros([4090], &device).unwrap();
            f.call_into(&mut out, &line.to(&device).unwrap().narrow::<X>(start, 4090).unwrap()).unwrap();
            assert_same(stringify!($t), &out.to_vec().unwrap(), &expected);
        }
    )* } }
    each!(u8, i16, f16, bf16, u32, f32, i64, f64);
}

fn boxes(random: &mut Random, n: usize, height: u64, width: u64) -> Vec<Rect> {
    random.vec(n, |r| {
        let (w, h) = (1 + r.below(width), 1 + r.below(height));
        Rect::new(r.below(width - w + 1) as i32, r.below(height - h + 1) as i32, w as i32, h as i32)
    })
}

#[test]
fn crops_by_value_through_a_buffer_and_from_the_device() {
    let Some((device, _lock)) = gpu("gpu::crops_by_value_through_a_buffer_and_from_the_device") else { return };
    let mut random = Random(17);
    let picture =
        Tensor::<u8, (Y, X, C)>::from_vec([97, 131, 3], random.vec(97 * 131 * 3, |r| r.bits() as u8)).unwrap();
    let f = fuse(
        |pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: In<f32, (C,)>, sub: In<f32, (C,)>, div: In<f32, (C,)>| {
            let pixel = pic.crop::<Y, X, _>(boxes).resize::<Y, X>(24, 20).reverse::<C>();
            ((pixel * mul - sub) / div).store::<(N, C, Y, X)>()
        },
    );
    let constant = |v: [f32; 3]| Tensor::<f32, (C,)>::from_vec([3], v.to_vec()).unwrap();
    let (mul, sub, div) = (constant([0.003, 0.004, 0.005]), constant([0.4, 0.5, 0.0]), constant([0.2, 0.3, 1.7]));
    let on_device = picture.to(&device).unwrap();
    // Models may choose another configuration for many boxes than for few.
    let few = Tensor::<Rect, (N,)>::from_vec([3], boxes(&mut random, 3, 97, 131)).unwrap();
    let plan = f.plan(&on_device, &few, &mul, &sub, &div).unwrap();
    let f = f.configured(plan.pointwise().unwrap().unwrap().division().untold);
    let mut built = None;
    for n in [1, 3, 150, 5000] {
        let list = boxes(&mut random, n, 97, 131);
        let list = Tensor::<Rect, (N,)>::from_vec([n], list).unwrap();
        let expected = f.call(&picture, &list, &mul, &sub, &div).unwrap().to_vec().unwrap();
        let by_value = f.call(&on_device, &list, &mul, &sub, &div).unwrap();
        assert_same("boxes on the host", &by_value.to_vec().unwrap(), &expected);
        let kernel = f.last_built().unwrap();
        assert!(built.get_or_insert(kernel.clone()).source == kernel.source, "{n} crops compiled again");
    }
    let list = Tensor::<Rect, (N,)>::from_vec([150], boxes(&mut random, 150, 97, 131)).unwrap();
    let expected = f.call(&picture, &list, &mul, &sub, &div).unwrap().to_vec().unwrap();
    let from_device = f.call(&on_device, &list.to(&device).unwrap(), &mul, &sub, &div).unwrap();
    assert_same("boxes on the device", &from_device.to_vec().unwrap(), &expected);
}

#[test]
fn a_box_on_the_device_that_reaches_outside() {
    let Some((device, _alone)) = gpu_alone("gpu::a_box_on_the_device_that_reaches_outside") else { return };
    let picture = Tensor::<u8, (Y, X)>::from_vec([16, 16], vec![9; 256]).unwrap().to(&device).unwrap();
    let f = fuse(|pic: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| {
        pic.crop::<Y, X, _>(boxes).resize::<Y, X>(4, 4).store::<(N, Y, X)>()
    });
    let on = |list: Vec<Rect>| Tensor::<Rect, (N,)>::from_vec([list.len()], list).unwrap().to(&device).unwrap();
    let good = on(vec![Rect::new(0, 0, 16, 16); 3]);
    let bad = on(vec![Rect::new(0, 0, 4, 4), Rect::new(4, 4, 4, 4), Rect::new(10, 0, 1 << 30, 4)]);
    assert_eq!(f.call(&picture, &good).unwrap().to_vec().unwrap(), vec![9.0; 48]);
    let clamped = f.call(&picture, &bad).unwrap();
    let text = device.synchronize().unwrap_err().to_string();
    assert!(text.contains("index 2"), "{text}");
    assert_eq!(clamped.to_vec().unwrap(), vec![9.0; 48]);
    f.call(&picture, &good).unwrap();
    device.synchronize().unwrap();
}

#[test]
fn many_threads_share_a_handle() {
    let Some((device, _lock)) = gpu("gpu::many_threads_share_a_handle") else { return };
    let f = fuse(|x: In<f32, (Y, X)>, k: In<f32, ()>| (x * k + 1.0).store::<(Y, X)>());
    std::thread::scope(|scope| {
        for t in 0..8u32 {
            let (f, device) = (f.clone(), Device::clone(&device));
            scope.spawn(move || {
                let x = Tensor::<f32, (Y, X)>::from_vec([16, 64], vec![t as f32; 1024]).unwrap().to(&device).unwrap();
                for k in 0..20 {
                    let y = f.call(&x, k as f32).unwrap().to_vec().unwrap();
                    assert!(y.iter().all(|v| *v == (t * k) as f32 + 1.0));
                }
            });
        }
    });
}

#[test]
fn fills_and_scalars() {
    let Some((device, _lock)) = gpu("gpu::fills_and_scalars") else { return };
    let f = fuse(|| tilewright_expr::constant(7i16).repeat::<Y>(31).repeat::<X>(33).store::<(Y, X)>());
    assert_eq!(f.on(&device).call().unwrap().to_vec().unwrap(), vec![7i16; 31 * 33]);
    let g = fuse(|a: In<f64, ()>, b: In<f64, ()>| (a / b).store::<()>());
    let call = |d: &Device| g.on(d).call(1.0, 3.0).unwrap().to_vec().unwrap();
    assert_same("a scalar", &call(&device), &call(&Device::Cpu));
}

#[test]
fn lines_beyond_two_to_the_31() {
    let Some((device, _lock)) = gpu("gpu::lines_beyond_two_to_the_31") else { return };
    let n = (1usize << 31) + 4097;
    let f = fuse(|x: In<u8, (X,)>| (x + 3u8).store::<(X,)>());
    let x = Tensor::<u8, (X,)>::zeros([n], &device).unwrap();
    let y = f.call(&x).unwrap();
    let tail = y.narrow::<X>(n - 4096, 4096).unwrap();
    let copy = fuse(|x: In<u8, (X,)>| x.store::<(X,)>()).call(&tail).unwrap();
    assert_eq!(copy.to_vec().unwrap(), vec![3u8; 4096]);
    let middle = y.narrow::<X>((1 << 30) - 5, 1000).unwrap();
    let copy = fuse(|x: In<u8, (X,)>| x.store::<(X,)>()).call(&middle).unwrap();
    assert_eq!(copy.to_vec().unwrap(), vec![3u8; 1000]);
}
