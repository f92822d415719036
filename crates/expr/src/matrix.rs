//! Maps of a plane onto a plane: small matrices as elements of tensors.

use crate::dtype::{DType, Element, HostSlice, HostSliceMut};

/// An affine map from the result of a warp to the picture that it reads, rows first: pixel (`y`, `x`) of the result is read at
/// `u = m0 x + m1 y + m2` (along the columns) and `v = m3 x + m4 y + m5` (along the rows).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Affine(pub [f32; 6]);

/// A perspective map from the result of a warp to the picture that it reads, rows first: as [`Affine`], with `u` and `v` divided
/// by `w = m6 x + m7 y + m8`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Perspective(pub [f32; 9]);

impl Affine {
    /// The map of every pixel to itself.
    pub const IDENTITY: Affine = Affine([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);

    /// The map back of `forward`, which leads from the picture to the result: `x' = f0 x + f1 y + f2`, `y' = f3 x + f4 y + f5`.
    /// Inverted in `f64`. `None` if it cannot be turned around, or not within the range of `f32`.
    pub fn inverse_of(forward: [f64; 6]) -> Option<Affine> {
        let [a, b, c, d, e, f] = forward;
        let determinant = a * e - b * d;
        let [a, b, d, e] = [e / determinant, -b / determinant, -d / determinant, a / determinant];
        narrowed([a, b, -(a * c + b * f), d, e, -(d * c + e * f)]).map(Affine)
    }
}

impl Perspective {
    /// The map of every pixel to itself.
    pub const IDENTITY: Perspective = Perspective([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);

    /// The map back of `forward`, which leads from the picture to the result. Inverted in `f64` and scaled so that its largest
    /// element is 1 or -1. `None` if it cannot be turned around.
    pub fn inverse_of(forward: [f64; 9]) -> Option<Perspective> {
        let m = |row: usize, column: usize| forward[row % 3 * 3 + column % 3];
        // Rows and columns of the minor follow cyclically, which gives it its sign.
        let cofactor = |r: usize, c: usize| m(r + 1, c + 1) * m(r + 2, c + 2) - m(r + 1, c + 2) * m(r + 2, c + 1);
        let determinant: f64 = (0..3).map(|c| m(0, c) * cofactor(0, c)).sum();
        let adjugate: [f64; 9] = std::array::from_fn(|i| cofactor(i % 3, i / 3));
        let largest = adjugate.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if determinant == 0.0 || !determinant.is_finite() {
            return None;
        }
        // A map and its multiples are the same map; the sign of `w` stays as it was.
        narrowed(adjugate.map(|v| v / largest * determinant.signum())).map(Perspective)
    }
}

fn narrowed<const N: usize>(values: [f64; N]) -> Option<[f32; N]> {
    let values = values.map(|v| v as f32);
    values.iter().all(|v| v.is_finite()).then_some(values)
}

impl Element for Affine {
    const DTYPE: DType = DType::F32;
    const COMPONENTS: u8 = 6;
    fn slice(values: &[Self]) -> HostSlice<'_> {
        HostSlice::Affine(values)
    }
    fn slice_mut(_: &mut [Self]) -> Option<HostSliceMut<'_>> {
        None
    }
}

impl Element for Perspective {
    const DTYPE: DType = DType::F32;
    const COMPONENTS: u8 = 9;
    fn slice(values: &[Self]) -> HostSlice<'_> {
        HostSlice::Perspective(values)
    }
    fn slice_mut(_: &mut [Self]) -> Option<HostSliceMut<'_>> {
        None
    }
}
