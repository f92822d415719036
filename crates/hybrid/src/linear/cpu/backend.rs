use crate::{
    Error,
    matrix::Dense,
    raw::{Elements, ElementsMut},
};

/// Which part of a matrix a triangular one is, and whether its diagonal is taken to be 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    /// Below and on the diagonal.
    Lower,
    /// Below the diagonal, with ones on it.
    UnitLower,
    /// Above and on the diagonal.
    Upper,
    /// Above the diagonal, with ones on it.
    UnitUpper,
}

/// What a processor does with one scalar type. Matrices are stored column by column; results do not depend on anything but operands and
/// the number of threads.
#[allow(private_interfaces, reason = "sealed: named by bounds, called and implemented here alone")]
pub trait Backend: Sized {
    /// `c = alpha * conjugate?(a) * conjugate?(b)`, added to what `c` has where `added` is true.
    fn multiply(
        c: &mut ElementsMut<'_, Self>,
        added: bool,
        alpha: Self,
        a: (Elements<'_, Self>, bool),
        b: (Elements<'_, Self>, bool),
    );

    /// Factors in place, with partial pivoting. Row i of the permuted matrix is row `permutation[i]` of the given one.
    fn lu(matrix: &mut Dense<Self>) -> Result<Vec<usize>, Error>;

    /// Factors the lower triangle in place; what is above the diagonal stays. `Ok(Err(order))`: that leading minor is not positive.
    fn cholesky(matrix: &mut Dense<Self>) -> Result<Result<(), usize>, Error>;

    /// Solves with a triangular matrix, conjugated or not, in place.
    fn triangular_solve(triangle: Triangle, matrix: (Elements<'_, Self>, bool), right: &mut ElementsMut<'_, Self>);

    /// Factors in place: R above, Householder vectors below the diagonal; returned are their coefficients, in blocks.
    fn qr(matrix: &mut Dense<Self>) -> Result<Dense<Self>, Error>;

    /// Multiplies by Q from the left, in place.
    fn apply_q(basis: &Dense<Self>, coefficients: &Dense<Self>, target: &mut Dense<Self>) -> Result<(), Error>;

    /// Multiplies by the conjugated and transposed Q from the left, in place.
    fn apply_q_adjoint(basis: &Dense<Self>, coefficients: &Dense<Self>, target: &mut Dense<Self>) -> Result<(), Error>;

    /// Eigenvalues of a Hermitian matrix, of which the lower triangle is read, smallest first.
    fn eigen_hermitian(matrix: &Dense<Self>, vectors: Option<&mut Dense<Self>>) -> Result<Vec<Self>, Error>;

    /// Eigenvalues of a general matrix as real and imaginary parts, and right eigenvectors; of a real type a pair of conjugates has its
    /// real and its imaginary part in two columns.
    fn eigen_general(matrix: &Dense<Self>, vectors: Option<&mut Dense<Self>>) -> Result<[Vec<Self>; 2], Error>;

    /// The singular value decomposition, thin.
    fn svd(matrix: &Dense<Self>, vectors: Option<[&mut Dense<Self>; 2]>) -> Result<Vec<Self>, Error>;
}
