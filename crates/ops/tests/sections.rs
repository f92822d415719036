//! One launch, several iteration spaces: frames of video, results of several parts, a ring of planes.

use crate::support::{Random, assert_same};
use tilewright_dims::dims;
use tilewright_expr::colour::{Depth, Standard, YuvSpec};
use tilewright_expr::{Expr, In, PlaneOrder, concatenate};
use tilewright_ops::{LaunchKind, Tensor, fuse, record};

dims! { N, Y, X, H, W, U, C }

fn floats(seed: u64, n: usize) -> Vec<f32> {
    Random(seed).vec(n, |r| r.unit() as f32 * 255.0)
}

/// The planes of a frame in one launch are those that a launch each makes.
#[test]
fn a_written_frame_is_one_launch() {
    let (eight, ten) = (YuvSpec::limited(Standard::Bt709, Depth::Bits8), YuvSpec::full(Standard::Bt601, Depth::Bits10));
    let rgb = Tensor::<f32, (Y, X, C)>::from_vec([11, 17, 3], floats(1, 11 * 17 * 3)).unwrap();
    macro_rules! frame {
        ($spec:expr, $format:ident, ($t:ty, $k:ty), $($part:tt),*) => {{
            let planes = fuse(|p: In<f32, (Y, X, C)>| {
                let planes = p.to_yuv::<C, (Y, X)>($spec).$format::<$k>();
                (planes.0.store::<(Y, X)>(), $(planes.$part.store::<$k>()),*)
            });
            let mut made = None;
            let launches = record(|| made = Some(planes.call(&rgb).unwrap()));
            assert_eq!(launches.iter().map(|l| l.kind).collect::<Vec<_>>(), [LaunchKind::Host], stringify!($format));
            let made = made.unwrap();
            let luma = fuse(|p: In<f32, (Y, X, C)>| {
                p.to_yuv::<C, (Y, X)>($spec).$format::<$k>().0.store::<(Y, X)>()
            });
            assert_same::<$t>("luma", &made.0.to_vec().unwrap(), &luma.call(&rgb).unwrap().to_vec().unwrap());
            $({
                let alone = fuse(|p: In<f32, (Y, X, C)>| {
                    p.to_yuv::<C, (Y, X)>($spec).$format::<$k>().$part.store::<$k>()
                });
                let expected = alone.call(&rgb).unwrap().to_vec().unwrap();
                assert_same::<$t>(stringify!($format), &made.$part.to_vec().unwrap(), &expected);
            })*
            let page = planes.explain(&rgb).unwrap().to_string();
            assert!(page.contains("one kernel in 2 sections") && page.contains("section 1    result 1"), "{page}");
            let source = planes.cuda_source(&rgb).unwrap();
            assert_eq!(source.matches("__global__").count(), 1, "{source}");
        }};
    }
    frame!(eight, nv12, (u8, (H, W, U)), 1);
    frame!(eight, nv21, (u8, (Y, W, U)), 1);
    frame!(ten, p010, (u16, (H, W, U)), 1);
    frame!(eight, i420, (u8, (H, W)), 1, 2);
}

/// Parts of other lengths, each with parameters of its own, and one plane that lacks the dimension.
#[test]
fn parts_of_one_result() {
    let (a, b) = (floats(2, 3 * 5 * 7), floats(3, 4 * 5 * 7));
    let first = Tensor::<f32, (N, Y, X)>::from_vec([3, 5, 7], a.clone()).unwrap();
    let second = Tensor::<f32, (Y, X, N)>::from_vec([5, 7, 4], b.clone()).unwrap();
    let gains = Tensor::<f32, (N,)>::from_vec([3], vec![2.0, 3.0, 4.0]).unwrap();
    let plane = Tensor::<f32, (Y, X)>::from_vec([5, 7], floats(4, 35)).unwrap();
    let f = fuse(|a: In<f32, (N, Y, X)>, g: In<f32, (N,)>, b: In<f32, (Y, X, N)>, plane: In<f32, (Y, X)>| {
        concatenate::<N, _>((a * g, plane.sqrt(), -b)).store::<(N, Y, X)>()
    });
    let mut result = None;
    // Gains over N are those of the first part alone, as long as it is.
    let launches = record(|| result = Some(f.call(&first, &gains, &second, &plane).unwrap()));
    assert_eq!(launches.len(), 1);
    let mut expected: Vec<f32> = a.iter().enumerate().map(|(i, v)| v * (2 + i / 35) as f32).collect();
    expected.extend(floats(4, 35).iter().map(|v| v.sqrt()));
    expected.extend((0..4).flat_map(|n| (0..35).map(move |i| (n, i))).map(|(n, i)| -b[i * 4 + n]));
    let result = result.unwrap();
    assert_eq!(result.extents(), [8, 5, 7]);
    assert_same("parts", &result.to_vec().unwrap(), &expected);
}

/// Planes made in a loop, each by an expression of its own.
#[test]
fn planes_of_a_loop() {
    let x = floats(5, 6 * 9);
    let picture = Tensor::<f32, (Y, X)>::from_vec([6, 9], x.clone()).unwrap();
    for count in [1, 2, 40] {
        let f = fuse(move |p: In<f32, (Y, X)>| {
            let plane = |i: usize| match i % 3 {
                0 => p + i as f32,
                1 => p * i as f32,
                _ => p.reverse::<X>() - i as f32,
            };
            let planes: Vec<Expr<f32, _>> = (0..count).map(plane).collect();
            concatenate::<N, _>(planes).store::<(Y, X, N)>()
        });
        let mut expected = vec![0.0; 6 * 9 * count];
        for (at, value) in expected.iter_mut().enumerate() {
            let (i, y, column) = (at % count, at / count / 9, at / count % 9);
            *value = match i % 3 {
                0 => x[y * 9 + column] + i as f32,
                1 => x[y * 9 + column] * i as f32,
                _ => x[y * 9 + 8 - column] - i as f32,
            };
        }
        assert_same("planes", &f.call(&picture).unwrap().to_vec().unwrap(), &expected);
    }
}

/// The last pictures, newest or oldest first: the new plane is computed, the others come from what the last call made.
#[test]
fn a_ring_of_planes() {
    const PLANES: usize = 4;
    for order in [PlaneOrder::NewestFirst, PlaneOrder::OldestFirst] {
        let push = fuse(move |new: In<f32, (Y, X)>, ring: In<f32, (N, Y, X)>| {
            let made = new * 0.5 + 1.0;
            match order {
                PlaneOrder::NewestFirst => concatenate::<N, _>((
                    made.repeat::<N>(1),
                    ring.rotate_planes::<N, _>(0, PlaneOrder::OldestFirst).slice::<N>(0, PLANES - 1),
                )),
                PlaneOrder::OldestFirst => concatenate::<N, _>((
                    ring.rotate_planes::<N, _>(1, PlaneOrder::OldestFirst).slice::<N>(0, PLANES - 1),
                    made.repeat::<N>(1),
                )),
            }
            .store::<(N, Y, X)>()
        });
        let mut ring = Tensor::<f32, (N, Y, X)>::from_vec([PLANES, 3, 5], vec![0.0; PLANES * 15]).unwrap();
        let mut model: Vec<Vec<f32>> = vec![vec![0.0; 15]; PLANES];
        for push_number in 0..11 {
            let pixels = floats(100 + push_number, 15);
            let new = Tensor::<f32, (Y, X)>::from_vec([3, 5], pixels.clone()).unwrap();
            let launches = record(|| ring = push.call(&new, &ring).unwrap());
            assert_eq!(launches.len(), 1);
            let made = pixels.iter().map(|v| v * 0.5 + 1.0).collect();
            match order {
                PlaneOrder::NewestFirst => {
                    model.pop();
                    model.insert(0, made);
                }
                PlaneOrder::OldestFirst => {
                    model.remove(0);
                    model.push(made);
                }
            }
            assert_same("the ring", &ring.to_vec().unwrap(), &model.concat());
        }
    }
}

/// The ring itself stays where it is, a plane of it is replaced, and what comes out is in order: the new plane is computed once.
#[test]
fn a_ring_that_is_read_in_order_of_age() {
    const PLANES: i32 = 5;
    let ordered = fuse(|new: In<f32, (Y, X)>, ring: In<f32, (N, Y, X)>, newest: In<i32, ()>| {
        let others = ring.rotate_planes::<N, _>(newest, PlaneOrder::NewestFirst).slice::<N>(1, PLANES as usize - 1);
        concatenate::<N, _>((new.sqrt(), others)).store::<(N, Y, X)>()
    });
    let mut planes = vec![0.0f32; PLANES as usize * 15];
    let mut model: Vec<Vec<f32>> = vec![vec![0.0; 15]; PLANES as usize];
    for push in 0..13 {
        let pixels = floats(200 + push as u64, 15);
        let new = Tensor::<f32, (Y, X)>::from_vec([3, 5], pixels.clone()).unwrap();
        let ring = Tensor::<f32, (N, Y, X)>::from_vec([PLANES as usize, 3, 5], planes.clone()).unwrap();
        let got = ordered.call(&new, &ring, push).unwrap();
        let made: Vec<f32> = pixels.iter().map(|v| v.sqrt()).collect();
        let place = (push % PLANES) as usize * 15;
        planes[place..place + 15].copy_from_slice(&made);
        model.pop();
        model.insert(0, made);
        assert_same("by age", &got.to_vec().unwrap(), &model.concat());
    }
}

#[test]
fn parts_that_do_not_fit() {
    let f = fuse(|a: In<f32, (N, X)>, b: In<f32, (N, X)>| concatenate::<N, _>((a, -b)).store::<(N, X)>());
    let tensor = |n: usize, x: usize| Tensor::<f32, (N, X)>::from_vec([n, x], vec![1.0; n * x]).unwrap();
    assert_eq!(f.call(&tensor(2, 3), &tensor(5, 3)).unwrap().extents(), [7, 3]);
    assert_eq!(f.call(&tensor(0, 3), &tensor(5, 3)).unwrap().to_vec().unwrap(), [-1.0; 15]);
    assert_eq!(
        f.call(&tensor(2, 3), &tensor(2, 4)).unwrap_err().to_string(),
        "part 1 of a concatenation is 4 long in dimension `X`, the first part 3; parts agree in every dimension but the one \
         that they follow each other along"
    );
    let many = fuse(|a: In<f32, (X,)>| concatenate::<N, _>(vec![a; 65]).store::<(N, X)>());
    let x = Tensor::<f32, (X,)>::from_vec([3], vec![1.0; 3]).unwrap();
    assert_eq!(
        many.call(&x).unwrap_err().to_string(),
        "a concatenation along `N` has from 1 to 64 parts, this one has 65"
    );
}
