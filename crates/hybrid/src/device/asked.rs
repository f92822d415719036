//! What a product asks of a machine, wherever its operands lie, and which do not go together.

use super::multiplicand::Multiplicand;
use super::operand::{Diagonal, Form, Goal, Operand, Target};
use crate::Error;
use crate::dispatch::{self, At, Divisible, Emulation, Job, MatvecExtents, ProductExtents, Tiling, Unit};
use crate::linear::{Arithmetic, IntegerElement, Precision, added_there, check_shapes, padded};
use crate::matrix::{Columns, Element, Rows, Shape, expect};
use crate::store::{self, Source, Stored};

/// What becomes of factors that are known by their diagonals where nothing lies on the GPU, or where that has no routine for it.
pub(super) const SCALED: &str = "the CPU scales rows and columns";

/// A product of matrices in host memory.
pub(super) fn planned<T: Multiplicand>(precision: Precision, [a, b]: [Shape; 2], reads_c: bool) -> Result<Job, Error> {
    let mut job = dense::<T>("matmul", precision, [a, b], [At::Pageable; 3], reads_c)?;
    // As arrays do.
    lies(&mut job, [true; 3]);
    Ok(job)
}

fn dense<T: Multiplicand>(
    operation: &'static str,
    precision: Precision,
    [a, b]: [Shape; 2],
    places: [At; 3],
    reads_c: bool,
) -> Result<Job, Error> {
    expect(operation, "rows of b", a.columns.0, b.rows.0)?;
    let arithmetic = precision.arithmetic::<T>(operation)?;
    let extents = ProductExtents { rows: a.rows.0, columns: b.columns.0, depth: a.columns.0 };
    let mut job = Job::matmul((T::NAME, size_of::<T>(), unit::<T>(arithmetic)), extents, places, reads_c)?;
    if extents.columns == 1 {
        let one = MatvecExtents { count: 1, rows: extents.rows, columns: extents.depth };
        job.divisible = job.divisible.map(|(_, bytes)| (Divisible::Matvec(one), bytes));
    }
    // What it takes of the host it takes when it runs there.
    let job = Job { operation, host_bytes: 0, emulation: Emulation::of::<T>(precision, extents.depth), ..job };
    Ok(limited::<T>(job, arithmetic, places))
}

/// A batch of products of matrices with vectors.
pub(super) fn batched<T: Multiplicand>(
    operation: &'static str,
    precision: Precision,
    extents: MatvecExtents,
    places: [At; 3],
    reads_y: bool,
) -> Result<Job, Error> {
    let arithmetic = precision.arithmetic::<T>(operation)?;
    let job = Job::matvec((T::NAME, size_of::<T>(), unit::<T>(arithmetic)), extents, places, reads_y)?;
    // What it takes of the host it takes when it runs there.
    let job = Job { operation, host_bytes: 0, emulation: Emulation::of::<T>(precision, extents.columns), ..job };
    Ok(limited::<T>(job, arithmetic, places))
}

/// What a product can do on a GPU with this arithmetic, of operands that lie there.
fn limited<T: Multiplicand>(mut job: Job, arithmetic: Arithmetic, places: [At; 3]) -> Job {
    let is_there = places.contains(&At::Gpu);
    let bytes = streamed_bytes::<T>(arithmetic);
    job.product = job.product.map(|(extents, _)| (extents, bytes));
    job.divisible = job.divisible.filter(|_| !is_there).map(|(what, _)| (what, bytes));
    if job.emulation.is_some() {
        job.device_bytes = job.device_bytes.saturating_add(job.bytes().saturating_mul(job.times_in_memory() - 1));
    }
    if arithmetic == Arithmetic::Wide {
        // Both, and what is added, are there in the larger type.
        job.device_bytes = job.device_bytes.saturating_mul(2);
        job.not_on_gpu = match (size_of::<T>() < size_of::<T::Factor>(), is_there) {
            (true, _) => Some("cuBLAS adds products of halves in f32"),
            (false, true) => Some("nothing converts on the device"),
            (false, false) => None,
        };
    }
    job
}

/// Bytes of an element on its way through a GPU: of the type that it is added in.
pub(super) fn streamed_bytes<T: Multiplicand>(arithmetic: Arithmetic) -> usize {
    let doubled = if arithmetic == Arithmetic::Wide { 2 } else { 1 };
    doubled * size_of::<T::Factor>()
}

/// A product of integers, for a machine with this GPU.
pub(super) fn integers<T: IntegerElement>(
    ordinal: Option<usize>,
    a: &Operand<'_, T>,
    b: &Operand<'_, T>,
    c: &Target<'_, T::Sum>,
) -> Result<Job, Error> {
    let (operation, [of_a, of_b, of_c]) = ("matmul_integer", [a.shape(), b.shape(), c.shape()]);
    check_shapes(operation, of_a, of_b, of_c)?;
    for operand in [a, b] {
        if let Form::Diagonal(_) = operand.0 {
            let why = "integers are not scaled by a diagonal; multiply by its values";
            return Err(Error::Unsupported { operation, element: T::NAME, place: "CPU and GPU", why: why.into() });
        }
    }
    let extents = ProductExtents { rows: of_a.rows.0, columns: of_b.columns.0, depth: of_a.columns.0 };
    let job = |extents| Job::matmul((T::NAME, size_of::<T>(), Unit::Integer), extents, [At::Pageable; 3], false);
    let [rows, columns, depth] = padded([extents.rows, extents.columns, added_there(extents.depth)]);
    let padded_factor = |operand: &Operand<'_, T>, [rows, columns]: [usize; 2]| match operand.0 {
        Form::Gpu(matrix) if matrix.is_in_units() => Ok(0),
        _ => Shape::new(Rows(rows), Columns(columns)).bytes::<T>().map(|bytes| bytes.0 as u64),
    };
    let padded_sums = match &c.0 {
        Goal::Gpu(there) if there.takes_units() && added_there(extents.depth) == extents.depth => 0,
        _ => Shape::new(Rows(rows), Columns(columns)).bytes::<T::Sum>()?.0 as u64,
    };
    let device_bytes = [padded_factor(a, [rows, depth])?, padded_factor(b, [depth, columns])?, padded_sums];
    let (mut job, bytes) = (job(extents)?, of_c.bytes::<T::Sum>()?.0 as u64);
    job.device_bytes = device_bytes.into_iter().fold(0, u64::saturating_add);
    let [at_a, at_b, at_c] = [at(operation, a)?, at(operation, b)?, goes(operation, c)?].map(gathered);
    job.written = dispatch::Operand { bytes, at: at_c };
    for (read, at) in job.read.iter_mut().flatten().zip([at_a, at_b]) {
        read.at = at;
    }
    let is_elsewhere = |it: bool| it.then_some("an operand lies on another GPU");
    let c_is_elsewhere = matches!(&c.0, Goal::Gpu(there) if Some(there.gpu().stream().device().ordinal()) != ordinal);
    job.not_on_gpu = match T::NAME {
        "i8" => is_elsewhere([a, b].iter().any(|it| self::is_elsewhere(it, ordinal)) || c_is_elsewhere),
        _ => Some("cuBLAS multiplies no integers of 32 bits"),
    };
    Ok(Job { operation, divisible: None, ..job })
}

/// What is stored on a GPU passes through host memory, as other sources do.
pub(super) fn passing(at: At) -> At {
    if at == At::Gpu { At::Pageable } else { at }
}

/// What is page-locked is gathered in ordinary memory where it is not streamed.
pub(super) fn gathered(at: At) -> At {
    if at == At::Pinned { At::Pageable } else { at }
}

fn unit<T: Element>(arithmetic: Arithmetic) -> Unit {
    match (T::NAME, arithmetic) {
        ("f64" | "c128", _) | (_, Arithmetic::Wide) => Unit::F64,
        (_, Arithmetic::Tf32) => Unit::Tf32,
        ("f16" | "bf16", _) | (_, Arithmetic::Bf16) => Unit::Half,
        _ => Unit::F32,
    }
}

/// What a product asks of a machine with this GPU, wherever its operands lie. Sizes that do not fit are [`Error::Shape`], stored elements of another type
/// [`Error::ElementType`], operands that do not go together [`Error::Unsupported`].
pub(super) fn asked<T: Multiplicand>(
    (operation, ordinal): (&'static str, Option<usize>),
    precision: Precision,
    [a, b]: [&Operand<'_, T>; 2],
    reads_c: bool,
    target: &Target<'_, T>,
) -> Result<Job, Error> {
    let c = target.shape();
    check_shapes(operation, a.shape(), b.shape(), c)?;
    let added = added::<T>(operation, reads_c, target)?;
    let places = places(operation, [a, b], target)?;
    let mut job = dense::<T>(operation, precision, [a.shape(), b.shape()], places, reads_c)?;
    where_stored(&mut job, [a, b], target, added);
    let sides = [a, b].map(|it| match it.0 {
        Form::Diagonal(diagonal) => Some(diagonal),
        _ => None,
    });
    if let [Some(_), Some(_)] = sides
        && matches!(target.0, Goal::Stored(_))
    {
        let why = "a product of two diagonals is one; multiply their elements, and write that";
        return Err(Error::Unsupported { operation, element: T::NAME, place: "CPU and GPU", why: why.into() });
    }
    let is_scaled = sides.iter().any(Option::is_some);
    if is_scaled {
        // Two multiplications for each element, and an addition.
        job.flops = 3.0 * c.rows.0 as f64 * c.columns.0 as f64;
        for (operand, side) in job.read.iter_mut().zip(sides) {
            let bytes = side.map(|diagonal| diagonal.bytes());
            *operand = operand.map(|it| dispatch::Operand { bytes: bytes.unwrap_or(it.bytes), ..it });
        }
        (job.product, job.divisible) = (None, None);
        let is_one = sides.iter().flatten().count() == 1;
        let is_routine = T::SCALES_THERE && is_one && job.emulation.is_none() && places.contains(&At::Gpu);
        job.not_on_gpu = if is_routine { job.not_on_gpu } else { Some(SCALED) };
    }
    lies(&mut job, [a.lies_by_rows(), b.lies_by_rows(), target.lies_by_rows()]);
    where_there(&mut job, ordinal, [a, b], target)?;
    if is_scaled && job.not_on_gpu.is_none() {
        job.device_bytes = bytes_to_scale(&job, [a, b], reads_c)?;
    }
    Ok(job)
}

/// Says of a product whether its factors, and its result, lie row by row; of one whose result does, of the transposed one.
fn lies(job: &mut Job, [a, b, c]: [bool; 3]) {
    let Some((extents, _)) = &mut job.product else { return };
    // A vector is a column.
    let is_vector = extents.rows == 1 || extents.columns == 1;
    let is_turned = if is_vector { extents.rows == 1 } else { c };
    if is_turned {
        std::mem::swap(&mut extents.rows, &mut extents.columns);
    }
    let [left, right] = if is_turned { [!b, !a] } else { [a, b] };
    // And lies either way.
    let is_matrix = |other: usize| extents.depth > 1 && other > 1;
    job.turned = [left && is_matrix(extents.rows), right && is_matrix(extents.columns)];
}

/// Bytes of the GPU's memory that it takes to scale rows or columns there: of what is elsewhere, and for what no routine does at once.
fn bytes_to_scale<T: Multiplicand>(job: &Job, factors: [&Operand<'_, T>; 2], reads_c: bool) -> Result<u64, Error> {
    let [read_a, read_b, _] = job.read;
    let elsewhere = [read_a, read_b, Some(job.written)].into_iter().flatten().filter(|it| it.at != At::Gpu);
    let mut bytes = elsewhere.fold(0u64, |sum, it| sum.saturating_add(it.bytes));
    let has_values = factors.iter().any(|it| matches!(it.0, Form::Diagonal(Diagonal::Of(_))));
    for factor in factors {
        bytes = bytes.saturating_add(match factor.0 {
            Form::Gpu(matrix) => T::bytes_to_be_scaled(matrix, has_values, reads_c)?,
            Form::Host(_) | Form::Stored(_) if has_values && reads_c => factor.shape().bytes::<T>()?.0 as u64,
            _ => 0,
        });
    }
    Ok(bytes)
}

/// What a product takes of the GPU where operands lie on one, and whether it is another one.
pub(super) fn where_there<T: Multiplicand>(
    job: &mut Job,
    ordinal: Option<usize>,
    [a, b]: [&Operand<'_, T>; 2],
    target: &Target<'_, T>,
) -> Result<(), Error> {
    for operand in [a, b] {
        if let Form::Gpu(matrix) = operand.0 {
            job.device_bytes = job.device_bytes.saturating_add(matrix.bytes_to_be_read()?);
        }
    }
    let c_is_elsewhere =
        matches!(&target.0, Goal::Gpu(matrix) if is_elsewhere(&Operand(Form::Gpu(matrix.view())), ordinal));
    if c_is_elsewhere || is_elsewhere(a, ordinal) || is_elsewhere(b, ordinal) {
        job.not_on_gpu = Some("an operand lies on another GPU");
    }
    Ok(())
}

/// Where operands and results of a product lie.
pub(super) fn places<T: Multiplicand>(
    operation: &'static str,
    [a, b]: [&Operand<'_, T>; 2],
    target: &Target<'_, T>,
) -> Result<[At; 3], Error> {
    Ok([at(operation, a)?, at(operation, b)?, goes(operation, target)?])
}

/// How a product of what is stored goes through a GPU.
pub(super) fn where_stored<T: Multiplicand>(
    job: &mut Job,
    [a, b]: [&Operand<'_, T>; 2],
    target: &Target<'_, T>,
    added: Option<&dyn Source>,
) {
    if let (Some(source), Some(read)) = (added, &mut job.read[2]) {
        read.at = passing(source.at());
    }
    let is_stored = is_stored(a) || is_stored(b) || matches!(target.0, Goal::Stored(_));
    let lies_by_rows = matches!(b.0, Form::Stored(b) if !b.transposed && !b.conjugated && b.source.locked().is_some());
    // What would be widened on its way is gathered where it fits.
    let is_gathered = job.divisible.is_none_or(|(_, bytes)| bytes > size_of::<T>());
    job.tiling = match is_stored && !is_gathered {
        true if lies_by_rows => Tiling::ByRows,
        true => Tiling::Always,
        false => Tiling::AsNeeded,
    };
    let is_at_hand = |operand: &Operand<'_, T>| !matches!(operand.0, Form::Stored(it) if it.source.locked().is_none());
    let sink = match &target.0 {
        Goal::Stored(kept) => kept.lies() && added.is_none_or(|added| added.locked().is_some()),
        Goal::Host(_) | Goal::New(_) | Goal::Gpu(_) => true,
    };
    job.is_at_hand = is_at_hand(a) && is_at_hand(b) && sink;
    if is_stored && is_gathered {
        for operand in job.read.iter_mut().flatten().chain([&mut job.written]) {
            operand.at = gathered(operand.at);
        }
    }
}

/// What is added to a result that is stored: it has to be said, since a sink is not read.
pub(super) fn added<'a, T: Multiplicand>(
    operation: &'static str,
    reads_c: bool,
    target: &Target<'a, T>,
) -> Result<Option<&'a dyn Source>, Error> {
    let Goal::Stored(kept) = &target.0 else { return Ok(None) };
    if !reads_c {
        return Ok(None);
    }
    let Some(added) = kept.added else {
        let why = "a sink is not read; say with Target::updating what beta is multiplied with, or let beta be 0";
        return Err(Error::Unsupported { operation, element: T::NAME, place: "CPU and GPU", why: why.into() });
    };
    let (c, extents) = (kept.shape(), added.extents());
    expect(operation, "rows of what is added", c.rows.0, extents.rows)?;
    expect(operation, "columns of what is added", c.columns.0, extents.columns)?;
    of_type::<T>(operation, added.element())?;
    Ok(Some(added))
}

fn of_type<T: Stored>(operation: &'static str, element: store::Element) -> Result<(), Error> {
    match element == T::ELEMENT {
        true => Ok(()),
        false => Err(Error::ElementType { operation, expected: element.name(), got: T::ELEMENT.name() }),
    }
}

pub(super) fn at<T: Element + Stored>(operation: &'static str, operand: &Operand<'_, T>) -> Result<At, Error> {
    Ok(match operand.0 {
        Form::Gpu(_) => At::Gpu,
        Form::Host(_) | Form::Diagonal(_) => At::Pageable,
        Form::Stored(stored) => {
            of_type::<T>(operation, stored.source.element())?;
            passing(stored.source.at())
        }
    })
}

pub(super) fn goes<T: Element + Stored>(operation: &'static str, target: &Target<'_, T>) -> Result<At, Error> {
    Ok(match &target.0 {
        Goal::Gpu(_) => At::Gpu,
        Goal::Host(_) | Goal::New(_) => At::Pageable,
        Goal::Stored(kept) => {
            let Some(sink) = &kept.sink else { return Ok(At::Pageable) };
            of_type::<T>(operation, sink.element())?;
            passing(sink.at())
        }
    })
}

/// Whether it lies on another GPU than this one.
pub(super) fn is_elsewhere<T: Element>(operand: &Operand<'_, T>, ordinal: Option<usize>) -> bool {
    matches!(operand.0, Form::Gpu(matrix) if Some(matrix.gpu().stream().device().ordinal()) != ordinal)
}

pub(super) fn is_stored<T: Element>(operand: &Operand<'_, T>) -> bool {
    matches!(operand.0, Form::Stored(_))
}
