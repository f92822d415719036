//! Views with any strides, against ndarray's: what is read through them, computed with them, and written into them.

use crate::gpu::Draw;
use crate::support::{Random, assert_same, gpu};
use ndarray::{ArrayD, ArrayViewD, Axis, Slice};
use tilewright_dims::dims;
use tilewright_expr::{In, Number, Rect, bf16, f16};
use tilewright_ops::{Device, Item, Tensor, fuse};

dims! { N, Y, X, C }

type Image<T> = Tensor<T, (Y, X, C)>;

/// The same random view of a tensor and of an array.
fn random_view<'a, T: Item>(
    r: &mut Random,
    mut t: Image<T>,
    mut a: ArrayViewD<'a, T>,
) -> (Image<T>, ArrayViewD<'a, T>) {
    for _ in 0..r.below(5) {
        let (at, d) = (r.below(3), r.below(3) as usize);
        let n = a.shape()[d];
        let start = r.below(n as u64 + 1) as usize;
        let len = r.below((n - start) as u64 + 1).max(u64::from(start < n)) as usize;
        let step = 1 + r.below(4) as usize;
        macro_rules! along {
            ($D:ty) => {
                match at {
                    0 => t.narrow::<$D>(start, len).unwrap(),
                    1 => t.reverse::<$D>(),
                    _ => t.step_by::<$D>(step).unwrap(),
                }
            };
        }
        t = match d {
            0 => along!(Y),
            1 => along!(X),
            _ => along!(C),
        };
        let slice = match at {
            0 => Slice::new(start as isize, Some((start + len) as isize), 1),
            1 => Slice::new(0, None, -1),
            _ => Slice::new(0, None, step as isize),
        };
        a.slice_axis_inplace(Axis(d), slice);
    }
    (t, a)
}

fn image<T: Draw>(r: &mut Random) -> ArrayD<T> {
    let shape = [1 + r.below(40) as usize, 1 + r.below(70) as usize, 1 + r.below(5) as usize];
    ArrayD::from_shape_vec(shape.to_vec(), r.vec(shape.iter().product(), T::draw)).unwrap()
}

fn elements<T: Item>(a: &ArrayViewD<'_, T>) -> Vec<T> {
    a.iter().copied().collect()
}

#[test]
fn elements_are_those_of_ndarray() {
    let mut r = Random(31);
    for round in 0..300 {
        let all = image::<i32>(&mut r);
        let (t, a) = random_view(&mut r, Tensor::from_array(&all).unwrap(), all.view());
        let what = format!("{round}");
        assert_eq!(t.extents(), a.shape(), "{what}");
        assert_same(&what, &t.to_vec().unwrap(), &elements(&a));
        assert_eq!(t.to_array().unwrap(), a, "{what}");
        let p = a.view().permuted_axes(vec![2, 0, 1]);
        assert_same(&what, &t.permute::<(C, Y, X)>().to_vec().unwrap(), &elements(&p));
        let [y, x, c] = [a.shape()[0], a.shape()[1], a.shape()[2]];
        let wide = a.view().insert_axis(Axis(0));
        let wide = wide.broadcast(vec![3, y, x, c]).unwrap();
        let b = t.broadcast::<(N, Y, X, C), 4>([3, y, x, c]).unwrap();
        assert_same(&what, &b.to_vec().unwrap(), &elements(&wide));
        assert_same(
            &what,
            &b.narrow::<N>(1, 1).unwrap().reverse::<X>().to_vec().unwrap(),
            &t.reverse::<X>().to_vec().unwrap(),
        );
    }
}

#[test]
fn what_is_refused() {
    let x = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.0; 6]).unwrap();
    let text = |e: tilewright_ops::Error| e.to_string();
    assert!(text(x.step_by::<X>(0).unwrap_err()).contains("steps are 1 at least, and `.reverse::<X>()`"));
    let error = text(x.broadcast::<(N, Y, X), 3>([2, 2, 4]).unwrap_err());
    assert!(error.contains("`X` is 3 long and cannot be broadcast to 4"), "{error}");
    let error = text(x.broadcast::<(N, Y, X), 3>([usize::MAX, 2, 3]).unwrap_err());
    assert!(error.contains("more elements than memory"), "{error}");
    let mut many = x.broadcast::<(N, Y, X), 3>([4, 2, 3]).unwrap();
    drop(x);
    let error = text(many.write(&[0.0; 24]).unwrap_err());
    assert!(error.contains("along `N`, 4 long, this view repeats one element"), "{error}");
}

#[test]
fn writing_into_views() {
    let mut r = Random(32);
    for device in [Some(Device::Cpu), gpu("views::writing_into_views, on a GPU").map(|(device, _lock)| device)] {
        let Some(device) = device else { continue };
        for _ in 0..40 {
            let all = image::<i64>(&mut r);
            let t: Image<i64> = Tensor::from_array(&all).unwrap().to(&device).unwrap();
            let [y, x, c] = t.extents()[..] else { panic!("three axes") };
            // Every second row, backwards, and the columns' second half.
            let (rows, columns) = (y.div_ceil(2), x - x / 2);
            let mut part = t.step_by::<Y>(2).unwrap().reverse::<Y>().narrow::<X>(x / 2, columns).unwrap();
            let values = r.vec(rows * columns * c, i64::draw);
            assert!(part.write(&values).unwrap_err().to_string().contains("shares its memory with another tensor"));
            assert!(part.write(&values[1..]).unwrap_err().to_string().contains("elements, got"));
            drop(t);
            part.write(&values).unwrap();
            assert_same("written", &part.to_vec().unwrap(), &values);
            let backwards: Vec<i64> = values.chunks(columns * c).rev().flatten().copied().collect();
            assert_same("rows", &part.reverse::<Y>().to_vec().unwrap(), &backwards);
        }
    }
}

/// Computes with views and with dense copies of them, on `device`.
fn same_as_copies<T: Draw + Number>(r: &mut Random, device: &Device) {
    let pointwise = fuse(|a: In<T, (Y, X, C)>, b: In<T, (X, C)>| (a * b + a).store::<(Y, X, C)>());
    let moved = fuse(|a: In<T, (Y, X, C)>| a.reverse::<X>().rename::<Y, N>().store::<(C, X, N)>());
    let reduced = fuse(|a: In<T, (Y, X, C)>| a.maximum::<(Y, X)>().store::<(C,)>());
    for round in 0..12 {
        let all = image::<T>(r);
        let whole: Image<T> = Tensor::from_array(&all).unwrap();
        let seed = r.bits();
        let (on_host, a) = random_view(&mut Random(seed), whole.clone(), all.view());
        if a.is_empty() {
            continue;
        }
        let copy: Image<T> = Tensor::from_array(&a).unwrap();
        // The view of memory that is on the device, not a copy of the view.
        let view = random_view(&mut Random(seed), whole.to(device).unwrap(), all.view()).0;
        let (b, b_copy) = (last_row(&view), last_row(&copy));
        let what = format!("{} {round}", std::any::type_name::<T>());
        let expected = pointwise.call(&copy, &b_copy).unwrap().to_vec().unwrap();
        assert_same(&what, &pointwise.call(&view, &b).unwrap().to_vec().unwrap(), &expected);
        let expected = moved.call(&copy).unwrap().to_vec().unwrap();
        assert_same(&what, &moved.call(&view).unwrap().to_vec().unwrap(), &expected);
        let expected = reduced.call(&copy).unwrap().to_vec().unwrap();
        assert_same(&what, &reduced.call(&view).unwrap().to_vec().unwrap(), &expected);
        assert_same(&what, &on_host.to(device).unwrap().to_vec().unwrap(), &copy.to_vec().unwrap());
    }
}

/// The last row of an image, as a tensor without rows.
fn last_row<T: Draw>(image: &Image<T>) -> Tensor<T, (X, C)> {
    let [y, x, c] = image.extents()[..] else { panic!("three axes") };
    let values = image.narrow::<Y>(y - 1, 1).unwrap().to_vec().unwrap();
    Tensor::from_vec([x, c], values).unwrap().to(&image.device()).unwrap()
}

#[test]
fn kernels_read_views_as_they_read_copies() {
    let mut r = Random(33);
    macro_rules! each { ($($t:ty),*) => { $(same_as_copies::<$t>(&mut r, &Device::Cpu);)* } }
    each!(u8, i16, f16, f32, i64);
}

#[test]
fn kernels_read_views_on_a_gpu() {
    let Some((device, _lock)) = gpu("views::kernels_read_views_on_a_gpu") else { return };
    let mut r = Random(34);
    macro_rules! each { ($($t:ty),*) => { $(same_as_copies::<$t>(&mut r, &device);)* } }
    each!(u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64);
}

fn results_in_views(device: &Device) {
    let mut r = Random(35);
    let f = fuse(|a: In<f32, (Y, X)>| (a + 1.0).store::<(Y, X)>());
    let total = fuse(|a: In<f32, (Y, X)>| a.minimum::<X>().store::<(Y,)>());
    for (y, x) in [(1, 1), (5, 9), (33, 130), (64, 256)] {
        let values = r.vec(y * x, |r| r.unit() as f32);
        let a = Tensor::<f32, (Y, X)>::from_vec([y, x], values.clone()).unwrap().to(device).unwrap();
        let rows = Tensor::<f32, (Y, X)>::zeros([2 * y, x + 3], device).unwrap().step_by::<Y>(2);
        let mut out = rows.and_then(|rows| rows.reverse::<Y>().narrow::<X>(1, x)).unwrap().reverse::<X>();
        f.call_into(&mut out, &a).unwrap();
        assert_same("a result backwards", &out.to_vec().unwrap(), &values.iter().map(|v| v + 1.0).collect::<Vec<_>>());
        let mut low = Tensor::<f32, (Y,)>::zeros([y], device).unwrap().reverse::<Y>();
        total.call_into(&mut low, &a.reverse::<X>()).unwrap();
        let least = values.chunks(x).map(|row| row.iter().copied().fold(f32::MAX, f32::min));
        assert_same("a reduction backwards", &low.to_vec().unwrap(), &least.collect::<Vec<_>>());
    }
}

#[test]
fn results_go_into_views() {
    results_in_views(&Device::Cpu);
}

#[test]
fn results_go_into_views_on_a_gpu() {
    let Some((device, _lock)) = gpu("views::results_go_into_views_on_a_gpu") else { return };
    results_in_views(&device);
}

/// Boxes through a view: only those that it has are looked at.
#[test]
fn boxes_in_views() {
    let f = fuse(|pic: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| {
        pic.crop::<Y, X, _>(boxes).resize::<Y, X>(1, 1).store::<(N, Y, X)>()
    });
    let picture = Tensor::<u8, (Y, X)>::from_vec([4, 4], (0..16).collect()).unwrap();
    let at = |x, y| Rect::new(x, y, 1, 1);
    let list = vec![at(0, 0), at(9, 9), at(1, 0), at(-5, 2), at(2, 3)];
    let boxes = Tensor::<Rect, (N,)>::from_vec([5], list).unwrap();
    let some = boxes.step_by::<N>(2).unwrap();
    assert_eq!(f.call(&picture, &some).unwrap().to_vec().unwrap(), [0.0, 1.0, 14.0]);
    assert_eq!(f.call(&picture, &some.reverse::<N>()).unwrap().to_vec().unwrap(), [14.0, 1.0, 0.0]);
    assert!(f.call(&picture, &boxes).unwrap_err().to_string().contains("box 1"));
}
