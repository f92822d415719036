//! The table of operations on the GPU: every operation on every type that has it gives the CPU's bits.
//!
//! The rows are those of `tilewright-expr-tests`, whose tests hold that none is missing.

#[path = "../../expr/tests/operations/mod.rs"]
#[allow(dead_code, unused_imports, reason = "what names rows and their absence is for the tests of expr")]
mod operations;

use crate::support::{Random, gpu};
use operations::{AFFINE, BOXES, C, Channels, Given, N, PERSPECTIVE, PLACES, Q, R, Rows, SIZE, Scalar, X, Y};
use tilewright_dims::Dims;
use tilewright_expr::{Affine, DType, In, Out, Perspective, Rect, Value};
use tilewright_ops::{Device, Item, Tensor, fuse};

/// Runs each row on both machines.
struct OnBoth<'a> {
    device: &'a Device,
    random: Random,
    /// Rows so far.
    count: usize,
    wrong: Vec<String>,
}

fn places(scale: f32, shift: f32) -> Tensor<f32, (R, Q)> {
    let count = PLACES[0] * PLACES[1];
    Tensor::from_vec(PLACES, (0..count).map(|i| ((i * 7) % 11) as f32 * scale + shift).collect()).unwrap()
}

/// The bits of a value, those of any NaN being the same.
fn bits<T: Value>(value: &T) -> u64 {
    let bits = value.to_bits64();
    let nan = match T::DTYPE {
        DType::F16 => bits & 0x7fff > 0x7c00,
        DType::BF16 => bits & 0x7fff > 0x7f80,
        DType::F32 => f32::from_bits(bits as u32).is_nan(),
        DType::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    if nan { u64::MAX } else { bits }
}

impl OnBoth<'_> {
    /// Values of all sizes, half of them small numbers.
    fn picture<T: Scalar>(&mut self, channels: usize) -> Tensor<T, (Y, X, C)> {
        let draw = |r: &mut Random| {
            let small = r.below(7);
            match <T as Value>::DTYPE {
                DType::Bool => r.below(2),
                DType::F32 if r.below(2) == 0 => u64::from((small as f32 * 0.75 - 2.0).to_bits()),
                DType::F64 if r.below(2) == 0 => (small as f64 * 0.75 - 2.0).to_bits(),
                DType::F16 if r.below(2) == 0 => 0x3c00 + (small << 8),
                DType::BF16 if r.below(2) == 0 => 0x3f80 + (small << 5),
                _ if r.below(2) == 0 => small,
                _ => r.bits(),
            }
        };
        let values = self.random.vec(SIZE[0] * SIZE[1] * channels, |r| T::from_bits64(draw(r)));
        Tensor::from_vec([SIZE[0], SIZE[1], channels], values).unwrap()
    }
}

impl Rows for OnBoth<'_> {
    fn row<T: Scalar, U: Scalar, L: Dims>(
        &mut self,
        name: &'static str,
        channels: Channels,
        of: fn(&Given<T>) -> Out<U, L>,
    ) {
        self.count += 1;
        let list = channels.list();
        let channels = list[self.count % list.len()];
        let f = fuse(
            move |a: In<T, (Y, X, C)>,
                  b: In<T, (Y, X, C)>,
                  c: In<T, (Y, X, C)>,
                  boxes: In<Rect, (N,)>,
                  affine: In<Affine, (N,)>,
                  perspective: In<Perspective, (N,)>,
                  v: In<f32, (R, Q)>,
                  u: In<f32, (R, Q)>| {
                of(&Given { a, b, c, boxes, affine, perspective, places: [v, u] })
            },
        );
        let boxes = BOXES.map(|[x, y, w, h]| Rect::new(x, y, w, h)).to_vec();
        let boxes = Tensor::<Rect, (N,)>::from_vec([2], boxes).unwrap();
        let affine = Tensor::<Affine, (N,)>::from_vec([2], AFFINE.map(Affine).to_vec()).unwrap();
        let perspective = Tensor::<Perspective, (N,)>::from_vec([2], PERSPECTIVE.map(Perspective).to_vec()).unwrap();
        let [v, u] = [places(0.625, -1.0), places(0.875, -1.5)];
        let [a, b, c] = [(); 3].map(|()| self.picture::<T>(channels));
        let what = format!("`{name}` of {} with {channels} channels", <T as Value>::DTYPE);
        let on_host = f.call(&a, &b, &c, &boxes, &affine, &perspective, &v, &u);
        let [a, b, c] = [a, b, c].map(|p| p.to(self.device).unwrap());
        let on_gpu = f.call(&a, &b, &c, &boxes, &affine, &perspective, &v, &u);
        let bits_of = |t: &Tensor<U, L>| t.to_vec().map(|values| values.iter().map(bits).collect::<Vec<u64>>());
        match (on_host.and_then(|t| bits_of(&t)), on_gpu.and_then(|t| bits_of(&t))) {
            (Ok(host), Ok(gpu)) if host == gpu => {}
            (Ok(host), Ok(gpu)) => {
                let at = host.iter().zip(&gpu).position(|(h, g)| h != g);
                let shown = at.map(|i| format!("[{i}] of {}: {:#x}, the CPU has {:#x}", host.len(), gpu[i], host[i]));
                self.wrong.push(format!("{what}: {}", shown.unwrap_or("another length".into())));
            }
            (Err(error), _) | (_, Err(error)) => self.wrong.push(format!("{what}: {error}")),
        }
    }
}

/// Of each row and type one number of channels, another one for each.
#[test]
fn every_operation_gives_the_bits_of_the_cpu() {
    let Some((device, _lock)) = gpu("table::every_operation_gives_the_bits_of_the_cpu") else { return };
    let mut both = OnBoth { device: &device, random: Random(51), count: 0, wrong: Vec::new() };
    for dtype in DType::ALL {
        operations::of(dtype, &mut both);
    }
    assert!(both.wrong.is_empty(), "{} of {} cells differ:\n{}", both.wrong.len(), both.count, both.wrong.join("\n"));
    assert!(both.count > 1_500, "{} cells", both.count);
}
