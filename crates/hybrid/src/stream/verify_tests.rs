//! Products that are checked: right ones, and those of a device that computes one element wrongly.

use super::control::Control;
use super::engine::Form;
use super::late::{Device, Order, Poisoned};
use super::matmul::{Factor, Product, run};
use super::matmul_plan::MatmulPlan;
use super::staging::Staging;
use super::verify::Verify;
use crate::dispatch::ProductExtents;
use crate::linear::{Precision, Scalar};
use crate::store::{
    Element, Extents, MemorySink, MemorySource, NpySink, NpySource, Order as Lines, Sink, Stored, Tile, WriteTyped,
};
use crate::{Class, Complex32, Complex64, Error};
use ndarray::Array2;
use std::path::Path;

const STAGING: Staging = Staging { slots: 3, slots_back: 2, elements: 60, threads: 2, is_locked: true, releases: true };
const VERIFY: Verify = Verify { vectors: 8, seed: 1, margin: 16.0 };
const PLAN: MatmulPlan = MatmulPlan {
    extents: ProductExtents { rows: 31, columns: 23, depth: 41 },
    element_bytes: 8,
    tile: [12, 9],
    panel: 7,
    stages: 3,
};

fn control() -> Control<'static> {
    Control { verify: Some(VERIFY), ..Control::default() }
}

fn random<T: Scalar>(seed: u64, [rows, columns]: [usize; 2]) -> Array2<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    Array2::from_shape_simple_fn((rows, columns), || T::nearest(Complex64::new(next(), next())))
}

/// Operands as they are stored.
struct Case<T> {
    forms: [Form; 2],
    a: Array2<T>,
    b: Array2<T>,
    c: Array2<T>,
}

impl<T: Scalar + Stored + Poisoned> Case<T> {
    fn new(forms: [Form; 2], seed: u64) -> Case<T> {
        let ProductExtents { rows, columns, depth } = PLAN.extents;
        let [a, b] = [forms[0].stored([rows, depth]), forms[1].stored([depth, columns])];
        Case { forms, a: random(seed, a), b: random(seed + 1, b), c: random(seed + 2, [rows, columns]) }
    }

    fn run(&self, device: &Device, factors: [T; 2], sink: &dyn Sink, control: Control<'_>) -> Result<(), Error> {
        let (a, b, c) =
            (MemorySource::new(self.a.view()), MemorySource::new(self.b.view()), MemorySource::new(self.c.view()));
        let (a, b) = (Factor { source: &a, form: self.forms[0] }, Factor { source: &b, form: self.forms[1] });
        let product = Product { a, b, c: Some(&c), alpha: factors[0], beta: factors[1] };
        let plan = MatmulPlan { element_bytes: size_of::<T>(), ..PLAN };
        run(device, &plan, &product, sink, STAGING, control).map(drop)
    }
}

fn right_and_wrong<T: Scalar + Stored + Poisoned>() {
    let half = T::nearest(Complex64::new(0.5, 0.25));
    for forms in [Form::Plain, Form::Transposed, Form::Adjoint]
        .into_iter()
        .flat_map(|a| [[a, Form::Plain], [Form::Plain, a], [a, a]])
    {
        for factors in [[T::ONE, T::ZERO], [half, T::ONE], [T::ZERO, half]] {
            let case = Case::<T>::new(forms, 7);
            let mut result = Array2::from_elem(case.c.dim(), T::POISON);
            let sink = MemorySink::new(result.view_mut());
            case.run(&Device::new(Order::Random(3)), factors, &sink, control()).unwrap();
            Box::new(sink).commit().unwrap();
        }
        // Of the tile of rows 12 to 24 and columns 9 to 18 the fourth panel: an element of row 14.
        let (case, mut device) = (Case::<T>::new(forms, 9), Device::new(Order::Late));
        device.spoils = Some((4 * 6 + 3, 2 * 9 + 5));
        let mut result = Array2::from_elem(case.c.dim(), T::POISON);
        let sink = MemorySink::new(result.view_mut());
        let error = case.run(&device, [T::ONE, T::ZERO], &sink, control()).unwrap_err();
        let Error::WrongProduct { product: None, row: 14, difference, allowed, wrong: 1, rows: 31 } = error else {
            panic!("{error}")
        };
        assert!((difference - 0.25).abs() < 1e-3 && allowed < 0.01, "{} {difference} {allowed}", T::NAME);
        assert_eq!(error.class(), Class::Numeric);
        let again = Device::new(Order::Late);
        case.run(&again, [T::ONE, T::ZERO], &sink, control()).unwrap();
    }
}

#[test]
fn right_products_pass_and_one_wrong_element_does_not() {
    right_and_wrong::<f32>();
    right_and_wrong::<f64>();
    right_and_wrong::<Complex32>();
    right_and_wrong::<Complex64>();
}

/// What is not asked for is not done.
#[test]
fn nobody_checks_unless_asked() {
    let (case, mut device) = (Case::<f64>::new([Form::Plain; 2], 9), Device::new(Order::Late));
    device.spoils = Some((0, 0));
    let mut result = Array2::from_elem(case.c.dim(), f64::NAN);
    case.run(&device, [1.0, 0.0], &MemorySink::new(result.view_mut()), Control::default()).unwrap();
}

/// From files, with a result that is read from a file that has no name yet.
#[test]
fn files_are_checked_before_they_have_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let (case, path) = (Case::<f64>::new([Form::Plain; 2], 4), folder.path().join("c.npy"));
    for lines in [Lines::C, Lines::Fortran] {
        for spoils in [None, Some((3, 1))] {
            let _ = std::fs::remove_file(&path);
            let sink = NpySink::create(&path, &[31, 23], Element::F64, lines).unwrap();
            let mut device = Device::new(Order::Late);
            device.spoils = spoils;
            let done = case.run(&device, [1.0, 1.0], &sink, control());
            assert_eq!(done.is_ok(), spoils.is_none(), "{done:?}");
            assert!(!Path::exists(&path));
            Box::new(sink).commit().unwrap();
            // The same from the caller.
            let (a, b, c) =
                (MemorySource::new(case.a.view()), MemorySource::new(case.b.view()), MemorySource::new(case.c.view()));
            let product = Product { a: Factor::plain(&a), b: Factor::plain(&b), c: Some(&c), alpha: 1.0, beta: 1.0 };
            let read = NpySource::open(&path).unwrap();
            let checked = Verify::default().check(&product, Precision::Auto, &read);
            assert_eq!(checked.is_ok(), spoils.is_none(), "{checked:?}");
        }
    }
}

/// A sink that only takes.
struct Blind<S>(S);

impl<S: Sink> Sink for Blind<S> {
    fn extents(&self) -> Extents {
        self.0.extents()
    }

    fn element(&self) -> Element {
        self.0.element()
    }

    fn write_tile(&self, _: &Tile, _: &[u8]) -> Result<(), Error> {
        unreachable!("refused before anything is computed")
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn a_sink_that_cannot_be_read_is_refused() {
    let case = Case::<f64>::new([Form::Plain; 2], 4);
    let mut result = Array2::from_elem(case.c.dim(), f64::NAN);
    let sink = Blind(MemorySink::new(result.view_mut()));
    let error = case.run(&Device::new(Order::Late), [1.0, 0.0], &sink, control()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { place: "CPU", .. }), "{error}");
}

/// A product as a machine computes it, element by element.
fn product<T: Scalar>(a: &Array2<T>, b: &Array2<T>) -> Array2<T> {
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| {
        (0..a.ncols())
            .fold(T::ZERO, |sum, k| T::nearest(sum.wide() + T::nearest(a[[i, k]].wide() * b[[k, j]].wide()).wide()))
    })
}

fn checked<T: Scalar + Stored>(verify: Verify, a: &Array2<T>, b: &Array2<T>, result: &Array2<T>) -> Result<f64, Error> {
    let (a, b) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    let product = Product { a: Factor::plain(&a), b: Factor::plain(&b), c: None, alpha: T::ONE, beta: T::ZERO };
    verify.check(&product, Precision::Auto, &MemorySource::new(result.view()))
}

/// What rounding takes stays far below what is allowed, and what is allowed far below an element: of numbers of any size and sign, of sums that
/// cancel, and of long ones.
fn tolerances<T: Scalar + Stored>() {
    for [rows, columns, depth] in [[7, 5, 1], [9, 16, 300], [5, 3, 4000], [3, 70, 40]] {
        let (a, b) = (random::<T>(1, [rows, depth]), random::<T>(2, [depth, columns]));
        let positive = |x: &Array2<T>| x.mapv(|x| T::from_f64(x.modulus()));
        let graded = |x: &Array2<T>| {
            Array2::from_shape_fn(x.dim(), |(i, j)| {
                T::nearest(x[[i, j]].wide() * 10f64.powi((i % 7) as i32 - (j % 5) as i32))
            })
        };
        let tiny = |x: &Array2<T>| x.mapv(|x| T::nearest(x.wide() * 1e-20));
        let huge = |x: &Array2<T>| x.mapv(|x| T::nearest(x.wide() * 1e15));
        let mut cancelling = positive(&a);
        cancelling.indexed_iter_mut().for_each(|((_, k), x)| *x = if k % 2 == 0 { *x } else { T::nearest(-x.wide()) });
        let cases = [
            ("random", a.clone(), b.clone()),
            ("positive", positive(&a), positive(&b)),
            ("ones", Array2::from_elem(a.dim(), T::ONE), Array2::from_elem(b.dim(), T::from_f64(0.1))),
            ("cancelling", cancelling, positive(&b)),
            ("graded", graded(&a), graded(&b)),
            ("tiny", tiny(&a), tiny(&b)),
            ("huge", huge(&a), huge(&b)),
        ];
        for (name, a, b) in cases {
            let right = product(&a, &b);
            for seed in 0..4 {
                let verify = Verify { seed, ..VERIFY };
                let part = checked(verify, &a, &b, &right).unwrap();
                assert!(part <= 0.2, "{} {name} {rows} {columns} {depth}: {part}", T::NAME);
                if name == "tiny" && T::EPSILON > 1e-10 {
                    // Nothing of it is left in f32.
                    continue;
                }
                let (mut wrong, at) = (right.clone(), [rows / 2, columns / 2]);
                let off = right.row(at[0]).iter().map(|x| x.modulus()).fold(0.0, f64::max) / 4.0;
                wrong[at] = T::nearest(wrong[at].wide() + off);
                let error = checked(verify, &a, &b, &wrong).unwrap_err();
                assert!(matches!(error, Error::WrongProduct { row, wrong: 1, .. } if row == at[0]), "{name} {error}");
            }
        }
    }
}

#[test]
fn what_is_allowed_fits_the_numbers() {
    tolerances::<f32>();
    tolerances::<f64>();
    tolerances::<Complex32>();
    tolerances::<Complex64>();
}

#[test]
fn special_numbers_have_to_be_where_they_belong() {
    let (mut a, b) = (random::<f64>(1, [6, 5]), random::<f64>(2, [5, 4]));
    let right = product(&a, &b);
    let check = |a: &Array2<f64>, result: &Array2<f64>| checked(VERIFY, a, &b, result);
    for special in [f64::NAN, f64::INFINITY] {
        let mut wrong = right.clone();
        wrong[[2, 3]] = special;
        let error = check(&a, &wrong).unwrap_err();
        assert!(matches!(error, Error::WrongProduct { row: 2, difference, .. } if difference.is_nan()), "{error}");
    }
    a[[4, 0]] = f64::NAN;
    let error = check(&a, &right).unwrap_err();
    assert!(matches!(error, Error::WrongProduct { row: 4, wrong: 1, .. }), "a NaN was lost: {error}");
    check(&a, &product(&a, &b)).unwrap();
}

/// Two wrong elements of a row that cancel in some vectors do not in all.
#[test]
fn errors_that_cancel_are_found_by_another_vector() {
    let (a, b) = (random::<f64>(1, [6, 5]), random::<f64>(2, [5, 4]));
    let mut wrong = product(&a, &b);
    wrong[[1, 0]] += 0.5;
    wrong[[1, 3]] -= 0.5;
    for seed in 0..20 {
        let error = checked(Verify { vectors: 16, seed, ..VERIFY }, &a, &b, &wrong).unwrap_err();
        assert!(matches!(error, Error::WrongProduct { row: 1, .. }), "{error}");
    }
}

/// Products of matrices with vectors, the matrices ending within the parts that threads share, in all forms; one element wrong, and two of different products.
fn batches<T: Scalar + Stored>() {
    let [count, rows, columns] = [9, 17, 11];
    let (a, x) = (random::<T>(1, [count * rows, columns]), random::<T>(2, [count * columns, 1]));
    let part = |of: &Array2<T>, i: usize, rows: usize| of.slice(ndarray::s![i * rows..(i + 1) * rows, ..]).to_owned();
    let right = (0..count).flat_map(|i| product(&part(&a, i, rows), &part(&x, i, columns)));
    let right = Array2::from_shape_vec((count * rows, 1), right.collect()).unwrap();
    for form in [Form::Plain, Form::Transposed, Form::Adjoint] {
        let lying = match form {
            Form::Plain => a.clone(),
            Form::Transposed => a.t().as_standard_layout().to_owned(),
            Form::Adjoint => a.t().mapv(|it| it.conjugate()),
        };
        let check = |result: &Array2<T>| {
            let (a, x) = (MemorySource::new(lying.view()), MemorySource::new(x.view()));
            let a = Factor { source: &a, form };
            let product = Product { a, b: Factor::plain(&x), c: None, alpha: T::ONE, beta: T::ZERO };
            VERIFY.check(&product, Precision::Auto, &MemorySource::new(result.view()))
        };
        assert!(check(&right).unwrap() <= 0.2);
        let mut wrong = right.clone();
        let mut spoil = |product: usize, row: usize| {
            let at = [product * rows + row, 0];
            wrong[at] = T::nearest(wrong[at].wide() + 0.5);
            check(&wrong).unwrap_err()
        };
        let error = spoil(7, 16);
        assert!(matches!(error, Error::WrongProduct { product: Some(7), row: 16, wrong: 1, rows: 153, .. }), "{error}");
        assert!(error.to_string().starts_with("row 16 of product 7 of the batch is not"), "{error}");
        let error = spoil(4, 0);
        assert!(matches!(error, Error::WrongProduct { product: Some(4), row: 0, wrong: 2, rows: 153, .. }), "{error}");
        // The right vectors for other matrices.
        let mut exchanged = right.clone();
        let (first, second) = (part(&right, 2, rows), part(&right, 3, rows));
        exchanged.slice_mut(ndarray::s![2 * rows..3 * rows, ..]).assign(&second);
        exchanged.slice_mut(ndarray::s![3 * rows..4 * rows, ..]).assign(&first);
        let error = check(&exchanged).unwrap_err();
        assert!(matches!(error, Error::WrongProduct { product: Some(2), row: 0, wrong: 34, .. }), "{error}");
    }
}

#[test]
fn each_product_of_a_batch_is_checked() {
    batches::<f32>();
    batches::<f64>();
    batches::<Complex32>();
    batches::<Complex64>();
}

/// Other streams have no such check, and say so.
#[test]
fn what_is_no_product_is_not_verified_silently() {
    let error = control().unverified("solve", "f64").unwrap_err();
    assert!(matches!(error, Error::Unsupported { operation: "solve", place: "CPU", .. }), "{error}");
    Control::default().unverified("solve", "f64").unwrap();
}

/// Tiles of every store come back as they were written.
#[test]
fn what_was_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let values = random::<f64>(5, [150, 9]);
    let mut memory = Array2::from_elem((150, 9), f64::NAN);
    let mut sinks: Vec<Box<dyn Sink + '_>> = vec![Box::new(MemorySink::new(memory.view_mut()))];
    for lines in [Lines::C, Lines::Fortran] {
        let path = folder.path().join(format!("{lines:?}.npy"));
        sinks.push(Box::new(NpySink::create(path, &[150, 9], Element::F64, lines).unwrap()));
    }
    #[cfg(feature = "zarr")]
    {
        let shards = crate::store::Shards { shard: Extents::new(64, 9), chunk: Extents::new(16, 3) };
        let path = folder.path().join("z");
        sinks.push(Box::new(crate::store::ZarrSink::create(path, Extents::new(150, 9), Element::F64, shards).unwrap()));
    }
    for sink in sinks {
        for tile in sink.extents().tiles(Extents::new(64, 9)) {
            let part = values.slice(ndarray::s![tile.rows.clone(), tile.columns.clone()]).to_owned();
            sink.write(&tile, part.as_slice().unwrap()).unwrap();
        }
        for tile in [
            Tile { rows: 60..140, columns: 2..7 },
            Tile { rows: 3..3, columns: 0..9 },
            Tile { rows: 0..150, columns: 0..9 },
        ] {
            let mut got = vec![f64::NAN; tile.count()];
            let written = sink.written().unwrap();
            f64::fill(&mut got, &mut |bytes| written.read_back(&tile, bytes)).unwrap();
            let expected = values.slice(ndarray::s![tile.rows.clone(), tile.columns.clone()]);
            assert!(got.iter().eq(expected.iter()), "{tile:?}");
            assert!(written.read_back(&tile, &mut [0; 7]).is_err());
        }
        sink.commit().unwrap();
    }
}
