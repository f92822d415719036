//! Kernels of norms: they compile, without spills, and run on the host model.

use bytemuck::Pod;
use tilewright_driver::{Arch, toolkit};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};
use tilewright_hybrid::bits::gpu::KernelText;
use tilewright_hybrid::linear::{Folding, Scalar, norm_kernel};
use tilewright_hybrid::{Complex32, Complex64};

const FOLDINGS: [Folding; 3] = [Folding::Largest, Folding::Sums, Folding::Squares];

fn kernels() -> Vec<KernelText> {
    let of = |folding| {
        [
            norm_kernel::<f32>(folding),
            norm_kernel::<f64>(folding),
            norm_kernel::<Complex32>(folding),
            norm_kernel::<Complex64>(folding),
        ]
    };
    FOLDINGS.into_iter().flat_map(of).collect()
}

#[test]
fn norms_compile_and_hardly_spill() {
    for kernel in kernels() {
        assert_eq!(kernel.source().interface().unwrap().kernel(), kernel.entry);
    }
    if toolkit::nvrtc().is_err() {
        return skip("device::norm_kernels::norms_compile_and_hardly_spill", "no NVRTC");
    }
    // Divisions of doubles are calls, around which a little is put aside.
    let spilled = kernels().into_iter().map(|kernel| {
        let compiled = kernel.source().compile(Arch::new(8, 0)).unwrap();
        let resources = &compiled.kernels[0];
        [resources.spill_store_bytes, resources.stack_bytes]
    });
    let spilled: Vec<_> = spilled.collect();
    assert!(spilled.iter().flatten().all(|bytes| *bytes <= 32), "{spilled:?}");
}

/// Lines of elements, as a kernel is told of them: from one of a line to the next, from line to line, how many each has, and how many there are.
#[derive(Clone, Copy, Debug)]
struct Lines([usize; 4]);

/// Lanes of a piece, the step from one to the next, elements of a piece.
type Cut = [usize; 3];

/// What a kernel makes of them, in memory that was poisoned: of each piece, or of each block.
fn folded<T: Pod>(
    (model, number): (&HostModel, usize),
    (kernel, schedule): (&KernelText, Schedule),
    (values, Lines(lines)): (&[T], Lines),
    ([lanes, step, piece], is_kept): (Cut, bool),
    (scale, factor): (Option<[f64; 2]>, f64),
) -> Vec<f64> {
    let pieces = lines[2].div_ceil(piece) * lines[3];
    let mut to = vec![f64::from_bits(u64::MAX); if is_kept { pieces } else { 2 }];
    let addresses = [values.as_ptr() as u64, to.as_mut_ptr() as u64];
    let sizes = [lines.as_slice(), &[piece, pieces]].concat();
    let mut block: Vec<u8> = addresses.into_iter().flat_map(u64::to_ne_bytes).collect();
    block.extend(sizes.iter().flat_map(|size| (*size as u64).to_ne_bytes()));
    block.extend(scale.unwrap_or_default().into_iter().chain([factor]).flat_map(f64::to_ne_bytes));
    let choices = [lanes, step, usize::from(scale.is_some()), usize::from(is_kept)];
    block.extend(choices.into_iter().flat_map(|choice| (choice as i32).to_ne_bytes()));
    let launch = Launch { grid: [2, 1, 1], block: [kernel.threads, 1, 1], shared_bytes: kernel.shared_bytes, schedule };
    // SAFETY: the buffers have the sizes that the parameters say, and live until the launch has ended.
    unsafe { model.run(number, kernel.entry, launch, &block) }.unwrap_or_else(|error| panic!("{schedule:?}: {error}"));
    to
}

/// The largest; NaN where one is.
fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most: f64, value| if most.is_nan() || value <= most { most } else { value })
}

fn near(got: f64, expected: f64, place: &str) {
    let is_same = got.is_nan() && expected.is_nan() || got == expected;
    assert!(is_same || (got - expected).abs() <= 1e-13 * expected.abs(), "{got} where {expected} is: {place}");
}

fn check<T: Scalar>(model: &HostModel, first: usize, kernels: &[KernelText], special: Option<f64>) {
    // Columns of 37 in 45, and rows of those; elements between columns are never read.
    let (rows, columns, leading) = (37, 50, 45);
    let mut values: Vec<T> = (0..leading * columns)
        .map(|at| T::nearest(Complex64::new((at * 7 % 23) as f64 - 11.0, (at * 5 % 19) as f64 - 7.5)))
        .collect();
    values
        .iter_mut()
        .enumerate()
        .filter(|(at, _)| at % leading >= rows)
        .for_each(|(_, value)| *value = T::from_f64(f64::NAN));
    if let Some(special) = special {
        values[3 * leading + 5] = T::from_f64(special);
    }
    let scale = Complex64::new(-1.5, if T::COMPLEX { 0.5 } else { 0.0 });
    let by_columns = (Lines([1, leading, rows, columns]), [[32, 1, 10], [8, 1, 37], [32, 1, 37], [1, 1, 9]]);
    let by_rows = (Lines([leading, 1, columns, rows]), [[1, 32, 7], [8, 4, 50], [1, 32, 50], [4, 8, 13]]);
    for ((lines, cuts), is_scaled) in [by_columns, by_rows].into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let Lines([along, across, length, count]) = lines;
        let size = |line: usize, at: usize| {
            let value = values[line * across + at * along];
            if is_scaled { value.times(T::nearest(scale)) } else { value }.modulus()
        };
        let scale = is_scaled.then_some([scale.re, scale.im]);
        for (number, folding) in FOLDINGS.into_iter().enumerate() {
            let of = |line: usize, range: std::ops::Range<usize>| {
                let sizes = range.map(|at| size(line, at));
                match folding {
                    Folding::Largest => largest(sizes),
                    Folding::Sums => sizes.sum(),
                    Folding::Squares => sizes.map(|size| size / 4.0).map(|size| size * size).sum(),
                }
            };
            for (cut, schedule) in cuts.into_iter().zip(Schedule::ALL.into_iter().cycle()) {
                let place = format!("{} {folding:?} {lines:?} {cut:?} {schedule:?}", T::NAME);
                let kernel = (model, first + 4 * number);
                let run = |is_kept| {
                    let text = (&kernels[first + 4 * number], schedule);
                    folded::<T>(kernel, text, (&values, lines), (cut, is_kept), (scale, 0.25))
                };
                let pieces = run(true);
                for (number, got) in pieces.iter().enumerate() {
                    let (line, begin) = (number % count, number / count * cut[2]);
                    near(*got, of(line, begin..length.min(begin + cut[2])), &place);
                }
                let blocks = run(false);
                if folding == Folding::Squares {
                    near(blocks.iter().sum(), (0..count).map(|line| of(line, 0..length)).sum(), &place);
                } else {
                    near(largest(blocks), largest(pieces), &place);
                }
            }
        }
    }
}

#[test]
fn norms_on_the_host_model() {
    let name = "device::norm_kernels";
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let kernels = kernels();
    let sources: Vec<_> = kernels.iter().map(|kernel| KernelSource { name, text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for special in [None, Some(f64::NAN), Some(f64::INFINITY)] {
        check::<f32>(&model, 0, &kernels, special);
        check::<f64>(&model, 1, &kernels, special);
        check::<Complex32>(&model, 2, &kernels, special);
        check::<Complex64>(&model, 3, &kernels, special);
    }
}

/// Absolute values of complex numbers neither overflow on the way nor vanish, and one of infinity and NaN is infinite, as hypot has it.
#[test]
fn moduli_on_the_host_model() {
    let name = "device::norm_kernels::moduli";
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let kernel = norm_kernel::<Complex64>(Folding::Sums);
    let model =
        HostModel::compile(&[KernelSource { name, text: &kernel.text }]).unwrap_or_else(|error| panic!("{error}"));
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    let numbers = [
        (3e300, -4e300),
        (3e-320, 4e-320),
        (0.0, -0.0),
        (5e-324, 0.0),
        (infinity, nan),
        (nan, -infinity),
        (nan, 0.0),
        (0.0, nan),
        (1e308, 1e-308),
        (-infinity, 1.0),
        (1.0, 1e9),
    ];
    let values = numbers.map(|(re, im)| Complex64::new(re, im));
    let lines = Lines([1, 1, 1, values.len()]);
    let got = folded(((&model), 0), (&kernel, Schedule::ALL[0]), (&values, lines), ([1, 1, 1], true), (None, 1.0));
    for (value, got) in values.into_iter().zip(got) {
        near(got, value.modulus(), &value.to_string());
    }
}
