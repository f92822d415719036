//! Tensor maps on a device: the driver takes what the description takes, and refuses what it refuses.

use std::ffi::c_void;

use tilewright_driver::{Arch, Error, TensorMap};
use tilewright_headers::tensor_map::{Element, Swizzle, TensorMap as Description, TensorMapError};

use crate::{gpu::device, skip};

type Encode = unsafe extern "C" fn(
    *mut u64,
    u32,
    u32,
    *mut c_void,
    *const u64,
    *const u64,
    *const u32,
    *const u32,
    u32,
    u32,
    u32,
    u32,
) -> u32;

/// Numbers around the limits.
struct Case {
    sizes: Vec<u64>,
    strides: Vec<u64>,
    box_sizes: Vec<u32>,
    element: (Element, u32),
    swizzle: (Swizzle, u32),
}

fn cases() -> Vec<Case> {
    let mut state = 1u64;
    let mut pick = |count: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    };
    let elements = [(Element::U8, 0), (Element::Bf16, 9), (Element::F32, 7), (Element::I64, 5)];
    let swizzles = [(Swizzle::None, 0), (Swizzle::Bytes32, 1), (Swizzle::Bytes64, 2), (Swizzle::Bytes128, 3)];
    // Numbers in range mostly, so that whole descriptions are.
    fn any<T: Copy>(pick: &mut impl FnMut(usize) -> usize, count: usize, numbers: &[T]) -> Vec<T> {
        let odd = |pick: &mut dyn FnMut(usize) -> usize| if pick(6) == 0 { numbers.len() } else { 4 };
        let mut number = |_| {
            let among = odd(pick);
            numbers[pick(among)]
        };
        (0..count).map(&mut number).collect()
    }
    let mut case = |_| {
        let rank = 1 + pick(5);
        Case {
            sizes: any(&mut pick, rank, &[1, 3, 64, 1000, 1 << 32, (1 << 32) + 1, 0]),
            strides: any(&mut pick, rank - 1, &[16, 4096, 1 << 20, (1 << 40) - 16, 1 << 40, 8, 24, 0]),
            box_sizes: any(&mut pick, rank, &[1, 8, 16, 32, 256, 257, 0]),
            element: elements[pick(4)],
            swizzle: swizzles[pick(4)],
        }
    };
    (0..2000).map(&mut case).collect()
}

#[test]
fn the_driver_and_the_description_agree() {
    let name = "tensor_map::the_driver_and_the_description_agree";
    let Some(device) = device(name) else { return };
    if device.arch() < Arch::new(9, 0) {
        return skip(name, "no tensor maps before compute capability 9.0");
    }
    // SAFETY: the driver's library, which this process has open already.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.unwrap();
    // SAFETY: the signature is cuda.h's, its enums as integers.
    let encode = unsafe { library.get::<Encode>(b"cuTensorMapEncodeTiled\0") }.unwrap();
    let buffer = device.stream().unwrap().alloc::<u8>(1 << 20).unwrap();
    let (mut taken, mut refused) = (0, 0);
    for case in cases() {
        let Case { sizes, strides, box_sizes, element, swizzle } = &case;
        let described = Description::new(element.0, sizes, strides, box_sizes, swizzle.0);
        let (steps, base) = ([1u32; 5], buffer.device_ptr() as *mut c_void);
        let strides = [strides.as_slice(), &[0]].concat();
        #[repr(align(128))]
        struct Room([u64; 16]);
        let mut map = Room([0; 16]);
        // SAFETY: each list has the length that the rank asks for; nothing is read through the address.
        let code = unsafe {
            encode(
                map.0.as_mut_ptr(),
                element.1,
                sizes.len() as u32,
                base,
                sizes.as_ptr(),
                strides.as_ptr(),
                box_sizes.as_ptr(),
                steps.as_ptr(),
                0,
                swizzle.1,
                3,
                0,
            )
        };
        let told = format!("{sizes:?} {strides:?} {box_sizes:?} {element:?} {swizzle:?}: {code}, {described:?}");
        match described {
            Ok(description) => {
                taken += 1;
                assert_eq!(code, 0, "{told}");
                match TensorMap::encode(&description, &buffer) {
                    Ok(encoded) => assert_eq!(bytemuck::cast::<_, [u64; 16]>(*encoded.as_bytes()), map.0, "{told}"),
                    Err(error) => assert!(matches!(error, Error::TensorMapReach { .. }), "{error}"),
                }
            }
            // Stricter than the driver on purpose.
            Err(TensorMapError::Span { got, span }) if got < span => {}
            Err(TensorMapError::BoxBytes { got, .. }) if got < 1 << 18 => {}
            Err(_) => {
                refused += 1;
                assert_ne!(code, 0, "{told}");
            }
        }
    }
    eprintln!("{taken} taken, {refused} refused by both");
    assert!(taken > 100 && refused > 100);
}
