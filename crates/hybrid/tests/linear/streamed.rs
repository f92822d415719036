//! Factors and solutions that are streamed through a GPU: here through a real one, or through stubs of the libraries. What a device may do with
//! the order of work is tested beside the pipeline itself.

use super::layouts::Form;
use super::numbers::{identity, positive, random, square};
use super::reference::{adjoint, exact, norm, residual, wide};
use ndarray::Array2;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::linear::{self, Gpu, Lu, Place, Scalar};
use tilewright_hybrid::store::{
    Extents, FileScratch, MemoryScratch, MemorySink, MemorySource, ReadTyped, Sink, Source, Stored,
};
use tilewright_hybrid::stream::{self, Budgets, Control, EigenSearch, Factor, FactorPart};
use tilewright_hybrid::{Class, Complex32, Complex64, Error};

/// Budgets of a part of a matrix, beside the least that cuSOLVER wants.
fn budgets<T: Scalar>(gpu: &Gpu, size: usize, part: f64) -> Budgets {
    let least = gpu.solver().unwrap().getrf_bytes::<T>(size, 1).unwrap() as u64;
    let bytes = (part * (size * size * size_of::<T>()) as f64) as u64 + least;
    Budgets { device: Budget::new(Memory::Device, bytes), pinned: Budget::new(Memory::Pinned, 96 << 10) }
}

/// Nothing is in use any more, and no more was than there is.
fn settled(budgets: &Budgets) {
    for budget in [&budgets.device, &budgets.pinned] {
        assert_eq!(budget.used(), 0);
        assert!(budget.peak() > 0 && budget.peak() <= budget.limit(), "{budget:?}");
    }
}

fn scratch<T: Scalar + Stored>(size: usize) -> MemoryScratch {
    MemoryScratch::new(Extents::new(size, size), T::ELEMENT).unwrap()
}

fn whole<T: Scalar + Stored>(part: &FactorPart<'_, T>) -> Array2<T> {
    let Extents { rows, columns } = part.extents();
    let mut values = vec![T::ZERO; rows * columns];
    part.read(&part.extents().whole(), &mut values).unwrap();
    Array2::from_shape_vec((rows, columns), values).unwrap()
}

fn nan<T: Scalar>(rows: usize, columns: usize) -> Array2<T> {
    Array2::from_elem((rows, columns), T::from_f64(f64::NAN))
}

fn solved<T: Scalar + Stored>(gpu: &Gpu, budgets: &Budgets, a: &Array2<T>, b: &Array2<T>) -> Result<Array2<T>, Error> {
    let (scratch, mut x) = (scratch::<T>(a.nrows()), nan(a.nrows(), b.ncols()));
    let (of_a, of_b, sink) = (MemorySource::new(a.view()), MemorySource::new(b.view()), MemorySink::new(x.view_mut()));
    let factors = [Factor::plain(&of_a), Factor::plain(&of_b)];
    stream::solve::<T>((gpu, budgets), factors, &scratch, &sink, Control::default())?;
    Box::new(sink).commit()?;
    Ok(x)
}

/// The backward error of a solution, in units of `n epsilon`.
fn solution_residual<T: Scalar>(a: &Array2<T>, x: &Array2<T>, b: &Array2<T>) -> f64 {
    residual(b, &exact::product(&wide(a), &wide(x)), norm(a) * norm(x) + norm(b), a.nrows())
}

fn factors<T: Scalar + Stored>(gpu: &Gpu) {
    for (size, part) in [(1, 20.0), (2, 20.0), (61, 0.4), (61, 3.0)] {
        for (name, a) in square::<T>(size).into_iter().filter(|(_, a)| !a.is_empty()) {
            let size = a.nrows();
            let (budgets, scratch, source) =
                (budgets::<T>(gpu, size, part), scratch::<T>(size), MemorySource::new(a.view()));
            let lu = stream::lu::<T>((gpu, &budgets), Factor::plain(&source), &scratch, Control::default()).unwrap();
            settled(&budgets);
            let (l, u, permutation) = (whole(&lu.l()), whole(&lu.u()), lu.permutation());
            let permuted = Array2::from_shape_fn(a.dim(), |(i, j)| a[[permutation[i], j]]);
            let off = residual(&permuted, &exact::product(&wide(&l), &wide(&u)), norm(&a), size);
            assert!(off <= 20.0, "{} {name} {:?}: {off}", T::NAME, lu.plan());
            if name == "random" && !T::COMPLEX {
                let in_memory = Lu::factor(&Place::Gpu(gpu.clone()), (&a).into()).unwrap();
                assert_eq!(permutation, in_memory.permutation(), "{}", T::NAME);
            }
            if lu.singular_pivot().is_some() {
                continue;
            }
            for columns in [7, 90] {
                let (b, mut x) = (random::<T>(3, size, columns), nan(size, columns));
                let (of_b, sink) = (MemorySource::new(b.view()), MemorySink::new(x.view_mut()));
                lu.solve((gpu, &budgets), Factor::plain(&of_b), &sink, Control::default()).unwrap();
                Box::new(sink).commit().unwrap();
                settled(&budgets);
                let off = solution_residual(&a, &x, &b);
                assert!(off <= 20.0, "{} {name} {columns}: {off}", T::NAME);
            }
        }
    }
}

#[test]
fn f1_streamed_factors_and_solutions() {
    let Some(gpu) = crate::gpu("linear::streamed::f1_streamed_factors_and_solutions") else { return };
    factors::<f32>(&gpu);
    factors::<f64>(&gpu);
    factors::<Complex32>(&gpu);
    factors::<Complex64>(&gpu);
}

/// F1, F5: inverses, from a file of factors.
#[test]
fn f1_streamed_inverses() {
    let Some(gpu) = crate::gpu("linear::streamed::f1_streamed_inverses") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, a) in square::<f64>(70).into_iter().filter(|(name, _)| *name != "Hilbert") {
        let (budgets, mut x) = (budgets::<f64>(&gpu, 70, 0.5), nan(70, 70));
        let scratch = FileScratch::new(folder.path(), Extents::new(70, 70), f64::ELEMENT).unwrap();
        let (source, sink) = (MemorySource::new(a.view()), MemorySink::new(x.view_mut()));
        let control = Control::default();
        stream::inverse::<f64>((&gpu, &budgets), Factor::plain(&source), &scratch, &sink, control).unwrap();
        Box::new(sink).commit().unwrap();
        settled(&budgets);
        let in_memory = linear::inverse(&Place::Cpu, (&a).into()).unwrap();
        let off = |x: &Array2<f64>| norm(&(exact::product(&wide(&a), &wide(x)) - wide(&identity::<f64>(70))));
        assert!(off(&x) <= 50.0 * off(&in_memory).max(f64::EPSILON), "{name}: {} {}", off(&x), off(&in_memory));
    }
}

fn singular<T: Scalar + Stored>(gpu: &Gpu) {
    for size in [2, 7, 60] {
        let mut zero_row = random::<T>(5, size, size);
        zero_row.row_mut(size / 2).fill(T::ZERO);
        let mut twice = random::<T>(6, size, size);
        let row = twice.row(size / 3).to_owned();
        twice.row_mut(size - 1).assign(&row);
        for a in [zero_row, twice, Array2::from_elem((size, size), T::ZERO)] {
            let expected = linear::solve(&Place::Cpu, (&a).into(), (&a).into()).unwrap_err();
            for part in [0.4, 3.0] {
                // Two rows do not fit into less.
                let part = if size < 60 { 20.0 } else { part };
                let error = solved(gpu, &budgets::<T>(gpu, size, part), &a, &a).unwrap_err();
                assert_eq!(error.to_string(), expected.to_string(), "{} {size} {part}", T::NAME);
                assert_eq!(error.class(), Class::Numeric);
            }
        }
    }
}

/// F2: the same errors streamed on a GPU as in memory on the CPU.
#[test]
fn f2_streamed_singular_matrices() {
    let Some(gpu) = crate::gpu("linear::streamed::f2_streamed_singular_matrices") else { return };
    singular::<f32>(&gpu);
    singular::<f64>(&gpu);
    singular::<Complex32>(&gpu);
    singular::<Complex64>(&gpu);
}

fn forms<T: Scalar + Stored>(gpu: &Gpu) {
    let (a, b) = (random::<T>(1, 45, 45), random::<T>(2, 45, 6));
    for form in [Form::Transposed, Form::Adjoint] {
        let (stored_a, stored_b) = (form.undone(&a), form.undone(&b));
        let (of_a, of_b) = (MemorySource::new(stored_a.view()), MemorySource::new(stored_b.view()));
        let formed = |source| if form == Form::Adjoint { Factor::adjoint(source) } else { Factor::transposed(source) };
        let (budgets, scratch, mut x) = (budgets::<T>(gpu, 45, 0.5), scratch::<T>(45), nan(45, 6));
        let sink = MemorySink::new(x.view_mut());
        let factors = [formed(&of_a as &dyn Source), formed(&of_b)];
        stream::solve::<T>((gpu, &budgets), factors, &scratch, &sink, Control::default()).unwrap();
        Box::new(sink).commit().unwrap();
        let off = solution_residual(&a, &x, &b);
        assert!(off <= 20.0, "{} {form:?}: {off}", T::NAME);
    }
}

/// F3: transposed and adjoint matrices are as copies.
#[test]
fn f3_streamed_forms() {
    let Some(gpu) = crate::gpu("linear::streamed::f3_streamed_forms") else { return };
    forms::<f32>(&gpu);
    forms::<f64>(&gpu);
    forms::<Complex32>(&gpu);
    forms::<Complex64>(&gpu);
}

/// F4: nothing, one number, and what is not square.
#[test]
fn f4_streamed_sizes() {
    let Some(gpu) = crate::gpu("linear::streamed::f4_streamed_sizes") else { return };
    let small = Budgets { device: Budget::new(Memory::Device, 64 << 20), pinned: Budget::new(Memory::Pinned, 1 << 20) };
    assert_eq!(solved::<f64>(&gpu, &small, &Array2::zeros((0, 0)), &Array2::zeros((0, 3))).unwrap().dim(), (0, 3));
    let four = ndarray::arr2(&[[4.0]]);
    assert_eq!(solved(&gpu, &small, &four, &ndarray::arr2(&[[1.0, 2.0]])).unwrap(), ndarray::arr2(&[[0.25, 0.5]]));
    assert_eq!(solved(&gpu, &small, &four, &Array2::zeros((1, 0))).unwrap().dim(), (1, 0));
    let error = solved::<f64>(&gpu, &small, &random(1, 3, 4), &random(1, 3, 1)).unwrap_err();
    assert!(matches!(error, Error::NotSquare { operation: "solve", rows: 3, columns: 4 }), "{error}");
    let error = solved::<f64>(&gpu, &small, &random(1, 3, 3), &random(1, 4, 1)).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "rows of b", expected: 3, got: 4, .. }), "{error}");
    let tiny = Budgets { device: Budget::new(Memory::Device, 100), ..small };
    let error = solved::<f64>(&gpu, &tiny, &random(1, 30, 30), &random(1, 30, 1)).unwrap_err();
    assert_eq!(error.class(), Class::Resource, "{error}");
}

fn cholesky<T: Scalar + Stored>(gpu: &Gpu) {
    for (size, part) in [(1, 20.0), (60, 0.4), (60, 1.0), (60, 3.0)] {
        let a = positive::<T>(1, size);
        // Neither what is above the diagonal nor imaginary parts on it are looked at.
        let mut lower = a.clone();
        for ((i, j), x) in lower.indexed_iter_mut() {
            match i.cmp(&j) {
                std::cmp::Ordering::Less => *x = T::from_f64(f64::NAN),
                std::cmp::Ordering::Equal => *x = T::nearest(x.wide() + Complex64::new(0.0, 3.0)),
                std::cmp::Ordering::Greater => {}
            }
        }
        let (budgets, scratch, source) =
            (budgets::<T>(gpu, size, part), scratch::<T>(size), MemorySource::new(lower.view()));
        let done =
            stream::cholesky::<T>((gpu, &budgets), Factor::plain(&source), &scratch, Control::default()).unwrap();
        settled(&budgets);
        let l = whole(&done.l());
        assert!(l.indexed_iter().all(|((i, j), x)| i >= j || *x == T::ZERO));
        assert!((0..size).all(|i| l[[i, i]].wide().re > 0.0 && l[[i, i]].wide().im == 0.0));
        let off = residual(&a, &exact::product(&wide(&l), &wide(&adjoint(&l))), norm(&a), size);
        assert!(off <= 20.0, "{} {:?}: {off}", T::NAME, done.plan());

        let (b, mut x) = (random::<T>(2, size, 5), nan(size, 5));
        let (of_b, sink) = (MemorySource::new(b.view()), MemorySink::new(x.view_mut()));
        done.solve((gpu, &budgets), Factor::plain(&of_b), &sink, Control::default()).unwrap();
        Box::new(sink).commit().unwrap();
        let off = solution_residual(&a, &x, &b);
        assert!(off <= 20.0, "{}: {off}", T::NAME);

        for at in [0, size / 2, size - 1] {
            let mut a = a.clone();
            a[[at, at]] = T::from_f64(-1.0);
            let source = MemorySource::new(a.view());
            let error = stream::cholesky::<T>((gpu, &budgets), Factor::plain(&source), &scratch, Control::default());
            let expected = Error::NotPositiveDefinite { order: at + 1, size };
            assert_eq!(error.unwrap_err().to_string(), expected.to_string(), "{} {part}", T::NAME);
        }
    }
}

#[test]
fn f6_streamed_cholesky() {
    let Some(gpu) = crate::gpu("linear::streamed::f6_streamed_cholesky") else { return };
    cholesky::<f32>(&gpu);
    cholesky::<f64>(&gpu);
    cholesky::<Complex32>(&gpu);
    cholesky::<Complex64>(&gpu);
}

/// F7: from a third of the matrix to three times: it fits always, and is right always.
#[test]
fn f7_streamed_in_every_budget() {
    let Some(gpu) = crate::gpu("linear::streamed::f7_streamed_in_every_budget") else { return };
    let (a, b) = (random::<f64>(8, 96, 96), random::<f64>(9, 96, 20));
    for step in 0..12 {
        let part = 0.3 * 10_f64.powf(f64::from(step) / 11.0);
        let budgets = budgets::<f64>(&gpu, 96, part);
        let x = solved(&gpu, &budgets, &a, &b).unwrap();
        settled(&budgets);
        let off = solution_residual(&a, &x, &b);
        assert!(off <= 20.0, "{part}: {off}");
    }
}

/// As far as eigenvalues go by products alone.
#[test]
fn largest_eigenvalues_by_streamed_products() {
    let Some(gpu) = crate::gpu("linear::streamed::largest_eigenvalues_by_streamed_products") else { return };
    let a = positive::<f64>(1, 60);
    let all = linear::eigenvalues_hermitian(&Place::Cpu, (&a).into()).unwrap();
    let (budgets, source) = (budgets::<f64>(&gpu, 60, 0.7), MemorySource::new(a.view()));
    let (search, control) = (EigenSearch::default(), Control::default());
    let found = stream::largest_eigenvalues::<f64>(&gpu, &budgets, Factor::plain(&source), 4, search, control).unwrap();
    settled(&budgets);
    for (value, expected) in found.values.iter().zip(&all[56..]) {
        assert!((value - expected).abs() <= 1e-12 * all[59], "{:?} of {all:?}", found.values);
    }
}
