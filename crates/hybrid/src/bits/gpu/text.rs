use tilewright_driver::TargetKind;

use super::{GpuPath, WgmmaShape};
use crate::kernel::KernelText;

/// What becomes of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finish {
    /// They are stored as i32.
    Counts,
    /// The two rows' own counts less twice the common one, as i32.
    Distances,
    /// They are stored as u16; those beyond are 65535.
    Saturated,
    /// A bit: whether they are more than a threshold.
    MoreThan,
    /// A bit: whether they are odd.
    Parity,
    /// Each row's sum is added to a u64.
    RowSums,
}

/// What becomes of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Set where both are.
    And,
    /// Set where one of them is, or both.
    Or,
    /// Set where exactly one of them is.
    Xor,
    /// Set where the first is and the second is not.
    AndNot,
}

const INCLUDES: &str = "#include \"tilewright/arch/tensor_map.cuh\"\n#include \"tilewright/arch/vector.cuh\"\n\
                        #include \"tilewright/arch/warp.cuh\"\n#include \"tilewright/layout.cuh\"\n";
const OPERANDS: &str = include_str!("../kernels/operands.cuh");
const ORDER: &str = include_str!("../kernels/order.cuh");
const FINISH: &str = include_str!("../kernels/finish.cuh");

/// The kernel of a product.
pub fn product_kernel(path: GpuPath, finish: Finish) -> KernelText {
    let (include, shape, body, threads, shared_bytes, tile) = match path {
        GpuPath::Popcount => ("", String::new(), include_str!("../kernels/popcount.cu"), 256, 2 * 8448, [64, 64]),
        GpuPath::Mma => {
            let include = "#include \"tilewright/fragment.cuh\"\n#include \"tilewright/swizzle.cuh\"\n";
            (include, String::new(), include_str!("../kernels/mma.cu"), 256, 3 * 2 * 128 * 128, [128, 128])
        }
        GpuPath::Wgmma(shape) => (
            "#include \"tilewright/arch/cluster.cuh\"\n#include \"tilewright/wgmma.cuh\"\n",
            numbers(shape),
            include_str!("../kernels/wgmma.cu"),
            128 * (shape.groups + 1),
            shape.shared_bytes(),
            [shape.rows(), shape.columns],
        ),
    };
    let cluster = if let GpuPath::Wgmma(shape) = path { shape.cluster } else { 1 };
    let numbers = format!("namespace shape {{\nconstexpr int finish = {};\n{shape}}}\n", finish as u32);
    let text = [INCLUDES, include, &numbers, OPERANDS, ORDER, FINISH, body].concat();
    KernelText { entry: "products", text, threads, shared_bytes, target: path.target(), tile, cluster }
}

fn numbers(shape: WgmmaShape) -> String {
    let WgmmaShape { groups, strips, columns, slots, cluster, raster } = shape;
    [
        ("groups", groups),
        ("strips", strips),
        ("columns", columns),
        ("slots", slots),
        ("cluster", cluster),
        ("raster", raster),
    ]
    .map(|(name, number)| format!("constexpr int {name} = {number};\n"))
    .concat()
}

/// The kernel of a transposition; a block has a tile of the operand.
pub fn transpose_kernel() -> KernelText {
    let text = [INCLUDES, include_str!("../kernels/transpose.cu")].concat();
    let target = TargetKind::Plain;
    KernelText { entry: "transpose", text, threads: 256, shared_bytes: 33_920, target, tile: [256, 1024], cluster: 1 }
}

/// The kernel that counts the bits of each row; a block has eight rows.
pub fn row_ones_kernel() -> KernelText {
    let text = [INCLUDES, include_str!("../kernels/row_ones.cu")].concat();
    KernelText {
        entry: "row_ones",
        text,
        threads: 256,
        shared_bytes: 0,
        target: TargetKind::Plain,
        tile: [8, 1],
        cluster: 1,
    }
}

/// The kernel that combines two matrices element by element; a block has 256 runs of 128 elements.
pub fn combine_kernel(combine: Combine) -> KernelText {
    let number = format!("namespace shape {{\nconstexpr int combine = {};\n}}\n", combine as u32);
    let text = [INCLUDES, &number, include_str!("../kernels/combine.cu")].concat();
    let target = TargetKind::Plain;
    KernelText { entry: "combine", text, threads: 256, shared_bytes: 0, target, tile: [256, 1], cluster: 1 }
}
