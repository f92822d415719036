//! The same product again, and by other tiles.

use ndarray::Array2;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Tiles, last_outcome};
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::stream::{Budgets, MatmulPlan};
use tilewright_hybrid::{Device, Multiplicand, Operand};

/// No sum of products of these is exact in floats.
fn uneven(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 31 + j * 17 + seed * 7) as f64).sin())
}

fn multiplied<T: Multiplicand>(gpu: &Gpu, [a, b]: [&Array2<T>; 2], room: u64) -> (Array2<T>, MatmulPlan) {
    let budgets = Budgets { device: Budget::new(Memory::Device, room), pinned: Budget::new(Memory::Pinned, 1 << 20) };
    let device = Device::with(gpu).rated(Rates::h200()).within(budgets).choosing(Choice::Gpu);
    let mut c = Array2::from_elem((a.nrows(), b.ncols()), a[[0, 0]]);
    let (one, zero) = (T::ONE.widened(), T::ZERO.widened());
    device.matmul(Precision::Auto, one, Operand::from(a), b.into(), zero, (&mut c).into()).unwrap();
    let Some(Tiles::Product(plan)) = last_outcome().unwrap().tiles else { panic!("in tiles") };
    (c, plan)
}

/// By the same tiles bits are the same, by others within what sums in another order may differ by: each of both is off by n epsilon |a| |b| at most.
fn of_type<T: Multiplicand>(gpu: &Gpu, number: fn(f64) -> T, back: fn(T) -> f64, epsilon: f64) {
    let (a, b) = (uneven(150, 400, 1).mapv(number), uneven(400, 130, 2).mapv(number));
    let whole = ((150 * 400 + 400 * 130 + 150 * 130) * size_of::<T>()) as u64;
    let rooms = [whole / 2, whole / 3, whole / 5];
    let by_rooms = rooms.map(|room| {
        let (once, plan) = multiplied(gpu, [&a, &b], room);
        let (again, same) = multiplied(gpu, [&a, &b], room);
        assert_eq!(plan, same);
        assert!(once == again, "{} in {room} bytes: other bits, by {plan:?}", T::NAME);
        (once.mapv(back), plan)
    });
    assert!(by_rooms[0].1 != by_rooms[1].1 && by_rooms[1].1 != by_rooms[2].1, "tiles are others");
    let bound = a.mapv(|x| back(x).abs()).dot(&b.mapv(|x| back(x).abs())) * (2.0 * 400.0 * epsilon);
    for (other, plan) in &by_rooms[1..] {
        let off = (other - &by_rooms[0].0).mapv(f64::abs);
        assert!(off.iter().zip(&bound).all(|(off, bound)| off <= bound), "{} by {plan:?}", T::NAME);
    }
}

#[test]
fn g11_streamed_again_bits_are_the_same_and_by_other_tiles_within_the_bound() {
    let test = "device::repeated::g11_streamed_again_bits_are_the_same_and_by_other_tiles_within_the_bound";
    let Some(gpu) = crate::gpu(test) else { return };
    of_type::<f64>(&gpu, |x| x, |x| x, f64::EPSILON);
    of_type::<f32>(&gpu, |x| x as f32, f64::from, f64::from(f32::EPSILON));
}
