//! Boxes of tensors, brought to shared memory and sent back, with what lies outside.

use crate::copies::{WATCHED, words};
use crate::runner::{Arg, Kernel, everywhere, read, reported, value, written};
use tilewright_driver::TargetKind;
use tilewright_headers::tensor_map::{Element, Swizzle, TensorMap};

/// One box, brought at AT (of `p.at`) and written out in the order in which it lies in shared memory.
const LOAD: &str = r#"
struct Params { tw::TensorMap map; const T* x; T* y; int count; int at0, at1, at2, at3, at4; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  T* box = (T*)tw::shared_memory();
  tw::arch::Mbarrier* done = (tw::arch::Mbarrier*)(tw::shared_memory() + 16384);
  if (threadIdx.x == 0) {
    tw::arch::prefetch_map(p.map);
    tw::arch::mbarrier_init(done, 1);
    tw::arch::fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    tw::arch::mbarrier_arrive_expect_tx(done, p.count * (int)sizeof(T));
    tw::arch::box_load(box, p.map, done, AT);
  }
  tw::arch::mbarrier_wait(done, 0);
  for (int i = threadIdx.x; i < p.count; i += blockDim.x) p.y[i] = get(box, i);
}
"#;

/// One box, filled by the block and sent to AT.
const STORE: &str = r#"
struct Params { tw::TensorMap map; const T* x; T* y; int count; int at0, at1, at2, at3, at4; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  T* box = (T*)tw::shared_memory();
  for (int i = threadIdx.x; i < p.count; i += blockDim.x) set(box, i, p.x[i]);
  tw::arch::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    tw::arch::box_store(p.map, box, AT);
    tw::arch::bulk_commit();
    tw::arch::bulk_wait<0>();
  }
}
"#;

fn text(body: &str, element: &str, rank: usize) -> String {
    let at: Vec<String> = (0..rank).map(|d| format!("p.at{d}")).collect();
    format!("{WATCHED}using T = {element};{}", body.replace("AT", &at.join(", ")))
}

fn kernel<'a>(name: &'a str, text: &'a str) -> Kernel<'a> {
    let (block, target) = ([50, 1, 1], TargetKind::Plain);
    Kernel { name, text, entry: "k", grid: [1, 1, 1], block, shared_bytes: 16384 + 64, target }
}

/// A tensor whose rows are padded, and the coordinates of every element of a box of it.
struct Case {
    sizes: Vec<u64>,
    strides: Vec<u64>,
    boxes: Vec<u32>,
    at: [i32; 5],
}

impl Case {
    fn of_rank(rank: usize, element: u64) -> Case {
        let run = 16 / element;
        let sizes = [5 * run + 3, 7, 3, 4, 2][..rank].to_vec();
        let (mut strides, mut next) = (Vec::new(), (sizes[0] * element).next_multiple_of(16) + 16);
        for size in &sizes[1..] {
            strides.push(next);
            next = next * size + 32;
        }
        Case { sizes, strides, boxes: [3 * run as u32, 5, 2, 3, 2][..rank].to_vec(), at: [0; 5] }
    }

    fn starts(&self) -> Vec<[i32; 5]> {
        // The copy engine takes coordinates along the innermost dimension in multiples of 16 bytes.
        let run = self.boxes[0] as i32 / 3;
        vec![[0; 5], [-run, -2, -1, 2, 1], [4 * run, 4, 2, -1, 0], [run, 1, 1, 1, -1], [6 * run, 0, 0, 0, 0]]
    }

    /// Bytes from the tensor's start to each element of the box, in the box's order; `None` outside the tensor.
    fn places(&self, element: u64) -> Vec<Option<usize>> {
        let count: u32 = self.boxes.iter().product();
        let place = |mut number: u32| {
            let mut bytes = 0;
            for (d, side) in self.boxes.iter().enumerate() {
                let at = i64::from(self.at[d]) + i64::from(number % side);
                number /= side;
                if at < 0 || at >= self.sizes[d] as i64 {
                    return None;
                }
                bytes += at as u64 * if d == 0 { element } else { self.strides[d - 1] };
            }
            Some(bytes as usize)
        };
        (0..count).map(place).collect()
    }

    fn bytes(&self) -> usize {
        let outer = self.sizes.len() - 1;
        (if outer == 0 { self.sizes[0] * 16 } else { self.strides[outer - 1] * self.sizes[outer] }) as usize
    }

    fn map(&self, element: Element) -> TensorMap {
        TensorMap::new(element, &self.sizes, &self.strides, &self.boxes, Swizzle::None).unwrap()
    }

    /// The arguments behind the map and the two buffers.
    fn rest(&self) -> Vec<Arg> {
        let count: u32 = self.boxes.iter().product();
        [count as i32].into_iter().chain(self.at).map(value).collect()
    }
}

const ELEMENTS: [(&str, Element); 5] = [
    ("unsigned char", Element::U8),
    ("unsigned short", Element::Bf16),
    ("float", Element::F32),
    ("unsigned long long", Element::U64),
    ("unsigned", Element::U32),
];

fn bytes_of(count: usize, seed: u32) -> Vec<u8> {
    words(count.div_ceil(4), seed).iter().flat_map(|word| word.to_ne_bytes()).take(count).collect()
}

#[test]
fn boxes_are_brought_with_zeros_outside() {
    for (rank, (name, element)) in (1..).zip(ELEMENTS) {
        let size = element.bytes() as usize;
        let mut case = Case::of_rank(rank, element.bytes());
        let (test, text) = (format!("box_load_{rank}"), text(LOAD, name, rank));
        let x = bytes_of(case.bytes(), rank as u32);
        for at in case.starts() {
            case.at = at;
            let places = case.places(element.bytes());
            let mut args = vec![Arg::Map(case.map(element), 1), read(&x), written::<u8>(places.len() * size)];
            args.extend(case.rest());
            everywhere(&kernel(&test, &text), &args, |outputs, place| {
                let y = outputs.get::<u8>(0);
                for (i, from) in places.iter().enumerate() {
                    let expected = from.map_or(vec![0; size], |from| x[from..from + size].to_vec());
                    assert_eq!(y[i * size..][..size], expected, "{place}: element {i} of the box at {at:?}");
                }
            });
        }
    }
}

#[test]
fn boxes_are_sent_and_nothing_outside_is_written() {
    for (rank, (name, element)) in (1..).zip(ELEMENTS) {
        let size = element.bytes() as usize;
        let mut case = Case::of_rank(rank, element.bytes());
        let (test, text) = (format!("box_store_{rank}"), text(STORE, name, rank));
        // Stores take no coordinate below zero, and write rows 16 bytes at a time.
        case.sizes[0] = case.sizes[0].next_multiple_of(16 / element.bytes());
        for at in case.starts().into_iter().map(|at| at.map(|at| at.max(0))) {
            case.at = at;
            let places = case.places(element.bytes());
            let x = bytes_of(places.len() * size, rank as u32 + 7);
            let mut truth = vec![0xffu8; case.bytes()];
            for (i, to) in places.iter().enumerate() {
                let Some(to) = *to else { continue };
                truth[to..to + size].copy_from_slice(&x[i * size..][..size]);
            }
            let mut args = vec![Arg::Map(case.map(element), 2), read(&x), written::<u8>(case.bytes())];
            args.extend(case.rest());
            everywhere(&kernel(&test, &text), &args, |outputs, place| {
                assert_eq!(outputs.get::<u8>(0), truth, "{place}: the box at {at:?}");
            });
        }
    }
}

#[test]
fn swizzled_rows_lie_as_the_tensor_cores_want_them() {
    for (swizzle, rows_per_line, parts) in
        [(Swizzle::Bytes32, 4usize, 2usize), (Swizzle::Bytes64, 2, 4), (Swizzle::Bytes128, 1, 8)]
    {
        let (columns, rows) = (parts * 8, 21usize);
        // The tensor is narrower than the box by 3 elements, and lower by 2 rows.
        let (sizes, stride) = ([columns as u64 - 3, rows as u64 - 2], columns as u64 * 2 + 32);
        let map = TensorMap::new(Element::F16, &sizes, &[stride], &[columns as u32, rows as u32], swizzle).unwrap();
        let x = words(stride as usize * rows / 4, parts as u32);
        let mut truth = vec![0u16; columns * rows];
        let halves: &[u16] = bytemuck::cast_slice(&x);
        for row in 0..rows - 2 {
            for column in 0..columns - 3 {
                let part = (column / 8) ^ (row / rows_per_line % parts);
                truth[row * columns + part * 8 + column % 8] = halves[row * stride as usize / 2 + column];
            }
        }
        let text = text(LOAD, "unsigned short", 2);
        let mut args = vec![Arg::Map(map, 1), read(&x), written::<u16>(columns * rows), value((columns * rows) as i32)];
        args.extend([0i32; 5].map(value));
        everywhere(&kernel(&format!("swizzle_{parts}"), &text), &args, |outputs, place| {
            assert_eq!(outputs.get::<u16>(0), truth, "{place}");
        });
    }
}

#[test]
fn mutants_are_reported() {
    let mut case = Case::of_rank(2, 4);
    case.at = [0, 1, 0, 0, 0];
    let x = bytes_of(case.bytes().max(4096), 4);
    let wrong = |name: &str, body: &str, (from, to): (&str, &str), parts: &[&str]| {
        let good = text(body, "float", 2);
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{name}");
        let mapped = if body == LOAD { 1 } else { 2 };
        let mut args = vec![Arg::Map(case.map(Element::F32), mapped), read(&x), written::<u8>(4096)];
        args.extend(case.rest());
        reported(&kernel(name, &changed), &args, parts);
    };
    let wait = "  tw::arch::mbarrier_wait(done, 0);\n";
    wrong(
        "box_no_wait",
        LOAD,
        (wait, "  __syncthreads();\n"),
        &["it reads bytes", "is in flight to them: wait for it first"],
    );
    wrong(
        "box_many_bytes",
        LOAD,
        ("p.count * (int)sizeof(T)", "p.count * 8"),
        &["deadlock", "waits in mbarrier_wait at 0_box_many_bytes.cu:", "240 bytes more are expected than came"],
    );
    wrong(
        "box_few_bytes",
        LOAD,
        ("p.count * (int)sizeof(T)", "p.count * 2"),
        &["deadlock", "120 bytes more came than were expected"],
    );
    wrong(
        "box_written",
        LOAD,
        (wait, "  if (threadIdx.x == 7) set(box, 9, 1.0f);\n  __syncthreads();\n"),
        &["it writes bytes 36 to 39", "in flight"],
    );
    wrong("box_far", LOAD, ("get(box, i)", "get(box, i + 1)"), &["it reads bytes 240 to 243", "nothing in this block"]);
    wrong("box_askew", LOAD, ("p.at0, p.at1", "p.at0 + 1, p.at1"), &["multiple of 16 bytes", "begins at byte 4"]);
    wrong(
        "box_below",
        STORE,
        ("p.at0, p.at1", "p.at0, p.at1 - 2"),
        &["coordinates of 0 and more", "coordinate 1", "is -1"],
    );
    wrong("box_beyond", STORE, ("p.at0, p.at1", "p.at0 + 16, p.at1"), &["16 bytes at a time", "have 92"]);
    wrong("box_rank", LOAD, ("p.at0, p.at1", "p.at0"), &["the tensor map has 2 dimensions, the copy names 1"]);
    wrong(
        "box_crooked",
        LOAD,
        ("(T*)tw::shared_memory()", "(T*)(tw::shared_memory() + 64)"),
        &["a multiple of 128", "byte 64"],
    );
    wrong(
        "box_no_fence",
        STORE,
        ("  tw::arch::fence_proxy_async();\n", ""),
        &["it lets an asynchronous operation read bytes", "write tw::arch::fence_proxy_async() behind that write"],
    );
    wrong(
        "box_hole",
        STORE,
        ("i < p.count", "i < p.count - 1"),
        &["bytes 236 to 239", "nothing in this block has written them"],
    );
    wrong("box_left", STORE, ("    tw::arch::bulk_wait<0>();\n", ""), &["in flight when the block ends"]);
    wrong("box_no_barrier", STORE, ("  __syncthreads();\n", ""), &["it lets an asynchronous operation read bytes"]);
}

#[test]
fn a_fence_behind_the_barrier_serves_as_well() {
    let body = STORE
        .replace("  tw::arch::fence_proxy_async();\n  __syncthreads();\n", "  __syncthreads();\n")
        .replace("    tw::arch::box_store", "    tw::arch::fence_proxy_async();\n    tw::arch::box_store");
    let case = Case::of_rank(3, 4);
    let places = case.places(4);
    let x = bytes_of(places.len() * 4, 3);
    let mut args = vec![Arg::Map(case.map(Element::F32), 2), read(&x), written::<u8>(case.bytes())];
    args.extend(case.rest());
    everywhere(&kernel("box_late_fence", &text(&body, "float", 3)), &args, |outputs, place| {
        let y = outputs.get::<u8>(0);
        for (i, to) in places.iter().enumerate() {
            let to = to.expect("inside");
            assert_eq!(y[to..to + 4], x[i * 4..][..4], "{place}: element {i}");
        }
    });
}
