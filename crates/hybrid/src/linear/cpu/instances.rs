//! All instances of faer's algorithms.

use num_complex::{Complex32, Complex64};

use super::{Backend, Triangle, eigen, factor, product, qr};
use crate::{
    Error,
    matrix::Dense,
    raw::{Elements, ElementsMut},
};

macro_rules! instances {
    ($($type:ty: $general:path;)*) => { $(
        #[allow(private_interfaces, reason = "as in the trait")]
        impl Backend for $type {
            fn multiply(
                c: &mut ElementsMut<'_, Self>,
                added: bool,
                alpha: Self,
                a: (Elements<'_, Self>, bool),
                b: (Elements<'_, Self>, bool),
            ) {
                product::multiply(c, added, alpha, a, b);
            }

            fn lu(matrix: &mut Dense<Self>) -> Result<Vec<usize>, Error> {
                factor::lu_in_place(matrix)
            }

            fn cholesky(matrix: &mut Dense<Self>) -> Result<Result<(), usize>, Error> {
                factor::cholesky_in_place(matrix)
            }

            fn triangular_solve(
                triangle: Triangle,
                matrix: (Elements<'_, Self>, bool),
                right: &mut ElementsMut<'_, Self>,
            ) {
                factor::triangular_solve(triangle, matrix, right);
            }

            fn qr(matrix: &mut Dense<Self>) -> Result<Dense<Self>, Error> {
                qr::qr_in_place(matrix)
            }

            fn apply_q(basis: &Dense<Self>, coefficients: &Dense<Self>, target: &mut Dense<Self>) -> Result<(), Error> {
                factor::apply_q(basis, coefficients, target)
            }

            fn apply_q_adjoint(
                basis: &Dense<Self>,
                coefficients: &Dense<Self>,
                target: &mut Dense<Self>,
            ) -> Result<(), Error> {
                factor::apply_q_adjoint(basis, coefficients, target)
            }

            fn eigen_hermitian(matrix: &Dense<Self>, vectors: Option<&mut Dense<Self>>) -> Result<Vec<Self>, Error> {
                eigen::hermitian(matrix, vectors)
            }

            fn eigen_general(matrix: &Dense<Self>, vectors: Option<&mut Dense<Self>>) -> Result<[Vec<Self>; 2], Error> {
                $general(matrix, vectors)
            }

            fn svd(matrix: &Dense<Self>, vectors: Option<[&mut Dense<Self>; 2]>) -> Result<Vec<Self>, Error> {
                eigen::singular(matrix, vectors)
            }
        }
    )* };
}

instances! {
    f32: eigen::general_real;
    f64: eigen::general_real;
    Complex32: eigen::general_complex;
    Complex64: eigen::general_complex;
}
