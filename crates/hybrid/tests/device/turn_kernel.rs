//! The kernel that transposes bytes: it compiles, and runs on the host model.

use tilewright_driver::{Arch, toolkit};
use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};
use tilewright_hybrid::linear::turn_kernel;

#[test]
fn turning_compiles_and_spills_nothing() {
    let kernel = turn_kernel();
    assert_eq!(kernel.source().interface().unwrap().kernel(), kernel.entry);
    if toolkit::nvrtc().is_err() {
        return skip("device::turn_kernel::turning_compiles_and_spills_nothing", "no NVRTC");
    }
    let compiled = kernel.source().compile(Arch::new(8, 0)).unwrap();
    let resources = &compiled.kernels[0];
    assert_eq!([resources.spill_store_bytes, resources.stack_bytes], [0, 0]);
}

/// Lines with gaps between them, of less than a tile, of some tiles and of parts of one; nothing is written beside the result.
#[test]
fn turning_on_the_host_model() {
    let name = "device::turn_kernel";
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let kernel = turn_kernel();
    let model =
        HostModel::compile(&[KernelSource { name, text: &kernel.text }]).unwrap_or_else(|error| panic!("{error}"));
    for ([count, length, gap], schedule) in
        [[16, 16, 0], [16, 80, 12], [64, 64, 4], [132, 68, 0], [4, 4, 8], [80, 192, 16]]
            .into_iter()
            .flat_map(|sizes| Schedule::ALL.map(|schedule| (sizes, schedule)))
    {
        let pitch = length + gap;
        let from: Vec<u8> = (0..count * pitch).map(|at| (at * 31 + at / 7) as u8).collect();
        let from: Vec<u32> = from.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();
        let mut to = vec![u32::MAX; length * count / 4 + 8];
        let addresses = [from.as_ptr() as u64, to.as_mut_ptr() as u64, (pitch / 4) as u64, (count / 4) as u64];
        let sizes = [count, length].map(|size| size as i32);
        let block =
            [addresses.map(u64::to_ne_bytes).as_flattened(), sizes.map(i32::to_ne_bytes).as_flattened()].concat();
        let blocks = count.div_ceil(kernel.tile[0] as usize) * length.div_ceil(kernel.tile[1] as usize);
        let launch = Launch {
            grid: [blocks as u32, 1, 1],
            block: [kernel.threads, 1, 1],
            shared_bytes: kernel.shared_bytes,
            schedule,
        };
        // SAFETY: the buffers have the sizes that the parameters say, and live until the launch has ended.
        unsafe { model.run(0, kernel.entry, launch, &block) }.unwrap_or_else(|error| panic!("{schedule:?}: {error}"));
        let [from, to]: [Vec<u8>; 2] = [from, to].map(|words| words.into_iter().flat_map(u32::to_ne_bytes).collect());
        for (at, byte) in to.iter().enumerate() {
            let expected = if at < length * count { from[at % count * pitch + at / count] } else { u8::MAX };
            assert_eq!(*byte, expected, "{count} {length} {gap} {schedule:?} at {at}");
        }
    }
}
