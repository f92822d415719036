//! Views: sizes that are not mixed up, and indices that do not wrap.

use ndarray::{Array2, s};
use tilewright_hybrid::linear::{Overflow, Place, matmul_integer};
use tilewright_hybrid::{
    Class, ColumnStride, Columns, Complex64, Error, Leading, Length, MatMut, MatRef, RowStride, Rows, Shape,
};

fn at<T: tilewright_hybrid::Element>(a: MatRef<'_, T>, i: usize, j: usize) -> T {
    a.at(Rows(i), Columns(j)).expect("inside")
}

#[test]
fn layouts_say_where_an_element_is() {
    let values: Vec<f64> = (0..24).map(f64::from).collect();
    assert_eq!(at(MatRef::row_major(&values, Rows(4), Columns(6)).unwrap(), 2, 1), 13.0);
    assert_eq!(at(MatRef::column_major(&values, Rows(4), Columns(6)).unwrap(), 2, 1), 6.0);
    let leading = MatRef::row_major_leading(&values, Rows(4), Columns(3), Leading(7)).unwrap();
    assert_eq!(at(leading, 3, 2), 23.0);
    let leading = MatRef::column_major_leading(&values, Rows(3), Columns(4), Leading(7)).unwrap();
    assert_eq!(at(leading, 2, 3), 23.0);
    let reversed =
        MatRef::strided(&values, Length(23), Shape::new(Rows(4), Columns(6)), RowStride(-6), ColumnStride(-1));
    assert_eq!(at(reversed.unwrap(), 1, 2), 15.0);
    let array = Array2::from_shape_vec((4, 6), values.clone()).unwrap();
    let view = array.slice(s![..;-1, 1..;2]);
    assert_eq!(at(MatRef::from(&view).t(), 2, 1), array[[2, 5]]);
}

#[test]
fn conjugates_and_scales_follow_the_elements() {
    let values = [Complex64::new(1.0, 2.0), Complex64::new(3.0, -4.0)];
    let scale = Complex64::new(0.0, 1.0);
    let a = MatRef::row_major(&values, Rows(1), Columns(2)).unwrap();
    assert_eq!(at(a.scaled(scale).conj(), 0, 1), (values[1] * scale).conj());
    assert_eq!(at(a.conj().scaled(scale), 0, 1), values[1].conj() * scale);
    assert_eq!(at(a.h().h().scaled(scale).scaled(scale), 0, 0), -values[0]);
}

#[test]
fn what_reaches_beyond_a_slice_is_refused() {
    let mut values = [0.0; 10];
    let shape = |rows, columns| Shape::new(Rows(rows), Columns(columns));
    let refused =
        |result: Result<MatRef<'_, f64>, Error>| assert!(matches!(result, Err(Error::Shape { .. })), "{result:?}");
    refused(MatRef::row_major(&values, Rows(3), Columns(3)));
    refused(MatRef::row_major_leading(&values, Rows(3), Columns(3), Leading(4)));
    refused(MatRef::row_major_leading(&values, Rows(2), Columns(3), Leading(2)));
    refused(MatRef::strided(&values, Length(1), shape(2, 5), RowStride(5), ColumnStride(1)));
    refused(MatRef::strided(&values, Length(4), shape(2, 5), RowStride(-5), ColumnStride(1)));
    refused(MatRef::strided(&values, Length(0), shape(3, 3), RowStride(isize::MAX), ColumnStride(isize::MAX)));
    let overlapping = MatMut::strided(&mut values, Length(0), shape(3, 3), RowStride(1), ColumnStride(2));
    assert!(matches!(overlapping, Err(Error::Aliased { .. })));
    assert!(MatMut::strided(&mut values, Length(9), shape(3, 3), RowStride(-1), ColumnStride(-3)).is_ok());
    let a = MatRef::row_major(&values, Rows(2), Columns(5)).unwrap();
    refused(a.part(Rows(0)..Rows(3), Columns(0)..Columns(1)));
    assert!(a.part(Rows(2)..Rows(2), Columns(5)..Columns(5)).unwrap().shape().is_empty());
}

/// D9: more elements than 32 bits count, in memory that is never touched beyond a few pages.
#[test]
fn d9_46341_squared_elements_have_addresses() {
    let side = 46_341;
    let mut values = vec![0_i8; side * side];
    assert!(values.len() > i32::MAX as usize);
    *values.last_mut().unwrap() = 7;
    values[side * (side - 1)] = 3;
    let a = MatRef::row_major(&values, Rows(side), Columns(side)).unwrap();
    let corner = a.part(Rows(side - 1)..Rows(side), Columns(0)..Columns(side)).unwrap();
    let mut c = Array2::<i32>::zeros((1, 1));
    matmul_integer(&Place::Cpu, Overflow::Error, corner, corner.t(), (&mut c).into()).unwrap();
    assert_eq!(c[[0, 0]], 58);
    assert_eq!(at(a.t(), side - 1, side - 1), 7);
}

/// D9: 3,000,000 x 800.
#[test]
fn d9_products_with_2_4_billion_elements_do_not_wrap() {
    let (rows, columns) = (3_000_000, 800);
    let mut values = vec![0_i8; rows * columns];
    *values.last_mut().unwrap() = 5;
    let a = MatRef::row_major(&values, Rows(rows), Columns(columns)).unwrap();
    let last = a.part(Rows(rows - 1)..Rows(rows), Columns(0)..Columns(columns)).unwrap();
    let ones = vec![1_i8; columns];
    let mut c = Array2::<i32>::zeros((1, 1));
    matmul_integer(&Place::Cpu, Overflow::Error, last, MatRef::column(&ones), (&mut c).into()).unwrap();
    assert_eq!(c[[0, 0]], 5);
}

#[test]
fn sizes_beyond_memory_are_errors() {
    let most = usize::MAX;
    let shape = Shape::new(Rows(most), Columns(most));
    assert!(matches!(shape.length::<f64>(), Err(Error::TooLarge { rows, .. }) if rows == most));
    let error = MatRef::row_major(&[1.0_f32], Rows(1 << 40), Columns(1 << 40)).unwrap_err();
    assert_eq!(error.class(), Class::User);
    let one = [1.0_f64];
    let broadcast = Shape::new(Rows(1 << 31), Columns(1 << 31));
    let a = MatRef::strided(&one, Length(0), broadcast, RowStride(0), ColumnStride(0)).unwrap();
    let error = tilewright_hybrid::linear::determinant(&Place::Cpu, a).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}
