//! Kernels of a GPU: they compile, without spills, for what they are for, and run on the host model.

use bytemuck::Pod;
use ndarray::Array2;
use tilewright_driver::{Arch, TargetKind, toolkit};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};
use tilewright_hybrid::bits::{
    BitMatrix, Product,
    gpu::{
        Combine, Finish, GpuPath, KernelText, WgmmaShape, combine_kernel, operand_map, product_kernel, row_ones_kernel,
        transpose_kernel,
    },
};

use super::truth::{array, hostile};

const FINISHES: [Finish; 6] =
    [Finish::Counts, Finish::Distances, Finish::Saturated, Finish::MoreThan, Finish::Parity, Finish::RowSums];
pub(super) const COMBINED: [Combine; 4] = [Combine::And, Combine::Or, Combine::Xor, Combine::AndNot];
const SMALL: WgmmaShape = WgmmaShape { groups: 1, strips: 1, columns: 64, slots: 2, cluster: 1, raster: 2 };
const SHAPES: [WgmmaShape; 3] = [WgmmaShape::LARGE, WgmmaShape::WIDE, WgmmaShape::TALL];

#[test]
fn kernels_compile_without_spills() {
    if toolkit::nvrtc().is_err() {
        return skip("bits::kernels_compile_without_spills", "no NVRTC");
    }
    // Each finish on one path of each kind, and the other shapes with those that need most registers.
    let every = [GpuPath::Popcount, GpuPath::Mma, GpuPath::Wgmma(WgmmaShape::LARGE)];
    let some = [WgmmaShape::WIDE, WgmmaShape::TALL, WgmmaShape::PAIRED].map(GpuPath::Wgmma);
    let pairs = FINISHES.into_iter().flat_map(|finish| every.map(|path| (path, finish)));
    let others = [Finish::Distances, Finish::MoreThan].into_iter().flat_map(|finish| some.map(|path| (path, finish)));
    let products = pairs.chain(others).map(|(path, finish)| product_kernel(path, finish));
    let others = COMBINED.map(combine_kernel).into_iter().chain([transpose_kernel(), row_ones_kernel()]);
    for kernel in products.chain(others) {
        let arch = if kernel.target == TargetKind::ArchSpecific { Arch::new(9, 0) } else { Arch::new(8, 0) };
        let compiled = kernel.source().compile(arch).unwrap();
        let resources = &compiled.kernels[0];
        let spills = (resources.spill_store_bytes, resources.stack_bytes);
        assert_eq!(spills, (0, 0), "{arch}: {resources:?}\n{}", kernel.text);
    }
}

/// Memory at a multiple of 128 bytes, as a GPU's is.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct Line([u8; 128]);

fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut lines = vec![Line([0; 128]); bytes.len().div_ceil(128).max(1)];
    lines.iter_mut().zip(bytes.chunks(128)).for_each(|(line, part)| line.0[..part.len()].copy_from_slice(part));
    lines
}

fn elements<T: Pod>(lines: &[Line], count: usize) -> Vec<T> {
    let bytes: Vec<u8> = lines.iter().flat_map(|line| line.0).collect();
    bytes.chunks_exact(size_of::<T>()).take(count).map(bytemuck::pod_read_unaligned).collect()
}

fn ints(numbers: &[usize]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| (number as i32).to_ne_bytes()).collect()
}

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

fn run(model: &HostModel, number: usize, kernel: &KernelText, blocks: u32, schedule: Schedule, parameters: &[u8]) {
    let launch =
        Launch { grid: [blocks, 1, 1], block: [kernel.threads, 1, 1], shared_bytes: kernel.shared_bytes, schedule };
    // SAFETY: the buffers have the sizes that the parameters say, and live until the launch has ended.
    unsafe { model.run(number, kernel.entry, launch, parameters) }
        .unwrap_or_else(|error| panic!("{schedule:?}: {error}"));
}

/// What a kernel made of a product, in memory that was poisoned, or zero where kernels add.
fn product(
    (model, number): (&HostModel, usize),
    (path, finish): (GpuPath, Finish),
    (kernel, schedule): (&KernelText, Schedule),
    (a, b): (&BitMatrix, &BitMatrix),
    threshold: usize,
) -> Vec<Line> {
    let (m, n, words_per_row) = (a.rows(), b.rows(), 2 * a.words_per_row());
    let pitch = match finish {
        Finish::MoreThan | Finish::Parity => 4 * n.div_ceil(128),
        Finish::RowSums => 1,
        _ => n,
    };
    let poison = if matches!(finish, Finish::Counts | Finish::Distances | Finish::Saturated) { 0xff } else { 0 };
    let mut result = lines(&vec![poison; 8 * m * pitch]);
    let (left, right) = (lines(bytemuck::cast_slice(a.words())), lines(bytemuck::cast_slice(b.words())));
    let ones = |matrix: &BitMatrix| {
        let counts: Vec<i32> = matrix.row_counts().into_iter().map(|count| count as i32).collect();
        lines(bytemuck::cast_slice(&counts))
    };
    let (left_ones, right_ones) = (ones(a), ones(b));
    let map = |rows: usize, box_rows: u32, address: u64| match path {
        GpuPath::Wgmma(_) => operand_map(rows, words_per_row, box_rows).unwrap().host_bytes(address).to_vec(),
        _ => vec![0; 128],
    };
    let (left_at, right_at) = (left.as_ptr() as u64, right.as_ptr() as u64);
    let mut block = [map(m, kernel.tile[0], left_at), map(n, kernel.tile[1], right_at)].concat();
    let addresses =
        [left_at, right_at, left_ones.as_ptr() as u64, right_ones.as_ptr() as u64, result.as_mut_ptr() as u64];
    block.extend(words(&addresses));
    block.extend(words(&[pitch as u64]));
    block.extend(ints(&[m, n, words_per_row, threshold]));
    block.resize(block.len().next_multiple_of(64), 0);
    let tiles = m.div_ceil(kernel.tile[0] as usize) * n.div_ceil(kernel.tile[1] as usize);
    let blocks = if matches!(path, GpuPath::Wgmma(_)) { tiles.min(2) } else { tiles };
    run(model, number, kernel, blocks as u32, schedule, &block);
    result
}

fn check(a: &BitMatrix, b: &BitMatrix, finish: Finish, threshold: usize, result: &[Line], place: &str) {
    let truth = Product::of_rows(a, b).unwrap();
    let (m, n) = (a.rows(), b.rows());
    let same = |got: Vec<i32>, expected: Array2<i32>| {
        assert_eq!(Array2::from_shape_vec((m, n), got).unwrap(), expected, "{place}");
    };
    let bits = || BitMatrix::from_words(m, n, elements(result, m * n.div_ceil(128) * 2)).unwrap();
    match finish {
        Finish::Counts => same(elements(result, m * n), truth.counts().unwrap()),
        Finish::Distances => same(elements(result, m * n), truth.distances().unwrap()),
        Finish::Saturated => {
            let got = elements::<u16>(result, m * n).into_iter().map(i32::from).collect();
            same(got, truth.counts().unwrap());
        }
        Finish::MoreThan => assert_eq!(bits(), truth.more_than(threshold as u64).unwrap(), "{place}"),
        Finish::Parity => assert_eq!(bits(), truth.parities().unwrap(), "{place}"),
        Finish::RowSums => assert_eq!(elements::<u64>(result, m), truth.row_counts().unwrap(), "{place}"),
    }
}

fn on_the_host_model(name: &str, cases: &[(GpuPath, Finish, [usize; 3])]) {
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let kernels: Vec<KernelText> = cases.iter().map(|&(path, finish, _)| product_kernel(path, finish)).collect();
    let sources: Vec<KernelSource<'_>> =
        kernels.iter().map(|kernel| KernelSource { name, text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for (number, (kernel, &(path, finish, [m, k, n]))) in kernels.iter().zip(cases).enumerate() {
        let (a, b) = (hostile(array(m, k, 5, 3).view()), hostile(array(n, k, 4, 4).view()));
        let threshold = k / 3;
        for schedule in Schedule::ALL {
            let result = product((&model, number), (path, finish), (kernel, schedule), (&a, &b), threshold);
            check(&a, &b, finish, threshold, &result, &format!("{path:?}, {finish:?}, {m} x {k} x {n}, {schedule:?}"));
        }
    }
}

#[test]
fn x3_popcount_on_the_host_model() {
    let sizes = [[65, 130, 71], [64, 1024, 64], [1, 1, 1], [130, 1100, 33], [70, 40, 130], [66, 2100, 3]];
    let cases: Vec<_> =
        FINISHES.into_iter().zip(sizes).map(|(finish, size)| (GpuPath::Popcount, finish, size)).collect();
    on_the_host_model("bits::popcount", &cases);
}

#[test]
fn x3_mma_on_the_host_model() {
    let sizes = [[129, 130, 71], [128, 4200, 128], [1, 1, 1], [30, 1100, 133], [70, 40, 130], [66, 2100, 3]];
    let cases: Vec<_> = FINISHES.into_iter().zip(sizes).map(|(finish, size)| (GpuPath::Mma, finish, size)).collect();
    on_the_host_model("bits::mma", &cases);
}

#[test]
fn x3_wgmma_on_the_host_model() {
    let sizes = [[129, 130, 71], [190, 4200, 130], [1, 1, 1], [64, 1100, 200], [70, 40, 130], [66, 2100, 3]];
    let small = FINISHES.into_iter().zip(sizes).map(|(finish, size)| (GpuPath::Wgmma(SMALL), finish, size));
    on_the_host_model("bits::wgmma", &small.collect::<Vec<_>>());
}

#[test]
fn x3_wgmma_in_the_shapes_of_a_gpu() {
    let finishes = [Finish::Parity, Finish::Counts, Finish::MoreThan];
    let cases: Vec<_> = SHAPES
        .into_iter()
        .zip(finishes)
        .map(|(shape, finish)| (GpuPath::Wgmma(shape), finish, [300, 1500, 270]))
        .collect();
    on_the_host_model("bits::wgmma_shapes", &cases);
}

#[test]
fn transposition_and_counts_on_the_host_model() {
    let name = "bits::transpose";
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let kernels = [transpose_kernel(), row_ones_kernel()];
    let sources = kernels.each_ref().map(|kernel| KernelSource { name, text: &kernel.text });
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for (rows, columns) in [(1, 1), (33, 65), (256, 1024), (300, 1100), (1, 2000), (700, 31)] {
        let bits = hostile(array(rows, columns, 4, 8).view());
        let truth = bits.transposed().unwrap();
        let from = lines(bytemuck::cast_slice(bits.words()));
        for schedule in Schedule::ALL {
            let mut to = lines(&vec![0; 8 * truth.words().len()]);
            let pitches = [bits.words_per_row(), truth.words_per_row()].map(|words| 2 * words as u64);
            let parameters = [from.as_ptr() as u64, to.as_mut_ptr() as u64, pitches[0], pitches[1]];
            let block = [words(&parameters), ints(&[rows, columns])].concat();
            run(&model, 0, &kernels[0], (rows.div_ceil(256) * columns.div_ceil(1024)) as u32, schedule, &block);
            let got = BitMatrix::from_words(columns, rows, elements(&to, truth.words().len())).unwrap();
            assert_eq!(got, truth, "{rows} x {columns}, {schedule:?}");
            let mut ones = lines(&vec![0xff; 4 * rows]);
            let parameters = words(&[from.as_ptr() as u64, ones.as_mut_ptr() as u64, pitches[0]]);
            let block = [parameters, ints(&[rows, pitches[0] as usize])].concat();
            run(&model, 1, &kernels[1], rows.div_ceil(8) as u32, schedule, &block);
            let got: Vec<u64> = elements::<i32>(&ones, rows).into_iter().map(|count| count as u64).collect();
            assert_eq!(got, bits.row_counts());
        }
    }
}

/// What the CPU makes of two matrices.
pub(super) fn combined(combine: Combine, a: &BitMatrix, b: &BitMatrix) -> BitMatrix {
    let combined = match combine {
        Combine::And => a.and(b),
        Combine::Or => a.or(b),
        Combine::Xor => a.xor(b),
        Combine::AndNot => a.and_not(b),
    };
    combined.unwrap()
}

#[test]
fn elements_are_combined_on_the_host_model() {
    let name = "bits::combine";
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let kernels = COMBINED.map(combine_kernel);
    let sources = kernels.each_ref().map(|kernel| KernelSource { name, text: &kernel.text });
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    for (rows, columns) in [(1, 1), (33, 65), (256, 1024), (300, 1100), (1, 2000), (700, 31)] {
        let [a, b] = [(4, 8), (3, 9)].map(|(ones, seed)| hostile(array(rows, columns, ones, seed).view()));
        let [left, right] = [&a, &b].map(|matrix| lines(bytemuck::cast_slice(matrix.words())));
        let runs = a.words().len() / 2;
        for (number, combine) in COMBINED.into_iter().enumerate() {
            for schedule in Schedule::ALL {
                let mut to = lines(&vec![0xff; 8 * a.words().len()]);
                let parameters = [left.as_ptr() as u64, right.as_ptr() as u64, to.as_mut_ptr() as u64, runs as u64];
                run(&model, number, &kernels[number], runs.div_ceil(256) as u32, schedule, &words(&parameters));
                let got: Vec<u64> = elements(&to, a.words().len());
                let expected = combined(combine, &a, &b);
                assert_eq!(got, expected.words(), "{combine:?}, {rows} x {columns}, {schedule:?}");
            }
        }
    }
}
