//! Vectors of 2 to 16 bytes: what is loaded is what stands there, and a misaligned one is reported.

use crate::numbers::{Random, block};
use crate::runner::{Kernel, everywhere, read, reported, written};

const COPY: &str = r#"
#include "tilewright/arch/vector.cuh"
#include "tilewright/half.cuh"
struct Params { const TYPE* x; TYPE* y; TYPE* z; TYPE* w; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const int at = threadIdx.x * COUNT;
  TYPE* shared = (TYPE*)tw::shared_memory();
  tw::Vector<TYPE, COUNT> v = tw::load<COUNT>(p.x + at);
  tw::store(shared + at, v);
  __syncthreads();
  const int other = (blockDim.x - 1 - threadIdx.x) * COUNT;
  tw::store(p.y + at, tw::load<COUNT>((const TYPE*)shared + other));
  tw::store_streaming(p.z + at, tw::load_constant<COUNT>(p.x + other));
  v = tw::load_streaming<COUNT>(p.x + at);
  const TYPE first = v[0];
  for (int i = 0; i + 1 < COUNT; ++i) v[i] = v[i + 1];
  v[COUNT - 1] = first;
  tw::store(p.w + at, v);
}
"#;

fn kernel(text: &str) -> Kernel<'_> {
    block("vectors", text, 96, 1536)
}

#[test]
fn every_width() {
    let types = [("float", 4), ("tw::f16", 2), ("unsigned char", 1), ("double", 8), ("tw::bf16x2", 4)];
    for (name, size) in types {
        for bytes in [2, 4, 8, 16].into_iter().filter(|bytes| bytes % size == 0) {
            let text = COPY.replace("TYPE", name).replace("COUNT", &(bytes / size).to_string());
            let mut random = Random(bytes as u64);
            let x: Vec<u8> = (0..96 * bytes).map(|_| random.next() as u8).collect();
            let args = [read(&x), written::<u8>(x.len()), written::<u8>(x.len()), written::<u8>(x.len())];
            let backward: Vec<u8> = x.rchunks(bytes).flatten().copied().collect();
            let mut turned = x.clone();
            turned.chunks_mut(bytes).for_each(|vector| vector.rotate_left(size));
            everywhere(&kernel(&text), &args, |outputs, place| {
                assert_eq!(outputs.get::<u8>(0), backward, "{place}, {name}, {bytes} bytes");
                assert_eq!(outputs.get::<u8>(1), backward, "{place}, {name}, {bytes} bytes");
                assert_eq!(outputs.get::<u8>(2), turned, "{place}, {name}, {bytes} bytes");
            });
        }
    }
}

#[test]
fn a_misaligned_vector_is_reported() {
    let good = COPY.replace("TYPE", "float").replace("COUNT", "4");
    let args = [read(&[0u8; 2048]), written::<u8>(2048), written::<u8>(2048), written::<u8>(2048)];
    for (from, line) in [
        ("load<4>(p.x + at", 8),
        ("store(shared + at", 9),
        ("load_constant<4>(p.x + other", 13),
        ("store_streaming(p.z + at", 13),
    ] {
        let text = good.replace(from, &format!("{from} + 2 * (threadIdx.x == 7)"));
        assert_ne!(text, good);
        let line = format!(".cu:{line}");
        reported(&kernel(&text), &args, &["16 bytes stands 8 bytes past", &line, "thread (7, 0, 0)"]);
    }
}
