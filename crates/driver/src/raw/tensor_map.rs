//! The one call that makes a tensor map.

use std::ffi::c_void;

use cudarc::driver::sys::*;
use tilewright_headers::tensor_map::{Element, Swizzle, TensorMap as Description};

use super::{Context, Driver};
use crate::Error;

/// The most dimensions of a map.
const MOST_DIMENSIONS: usize = 5;

/// `cuTensorMapEncodeTiled`, its enums as the integers that they are.
pub(crate) type EncodeTiled = unsafe extern "C" fn(
    *mut CUtensorMap,
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

/// cudarc's binding, whose enums are `repr(u32)`: where it differs from the type above otherwise, this does not compile.
type Binding = unsafe fn(
    *mut CUtensorMap,
    CUtensorMapDataType,
    u32,
    *mut c_void,
    *const u64,
    *const u64,
    *const u32,
    *const u32,
    CUtensorMapInterleave,
    CUtensorMapSwizzle,
    CUtensorMapL2promotion,
    CUtensorMapFloatOOBfill,
) -> CUresult;
const _: Binding = cuTensorMapEncodeTiled;
const _: () = assert!(size_of::<CUtensorMap>() == 128);

fn data_type(element: Element) -> Option<CUtensorMapDataType> {
    use CUtensorMapDataType::*;
    Some(match element {
        Element::U8 => CU_TENSOR_MAP_DATA_TYPE_UINT8,
        Element::U16 => CU_TENSOR_MAP_DATA_TYPE_UINT16,
        Element::U32 => CU_TENSOR_MAP_DATA_TYPE_UINT32,
        Element::I32 => CU_TENSOR_MAP_DATA_TYPE_INT32,
        Element::U64 => CU_TENSOR_MAP_DATA_TYPE_UINT64,
        Element::I64 => CU_TENSOR_MAP_DATA_TYPE_INT64,
        Element::F16 => CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        Element::Bf16 => CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        Element::F32 => CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        Element::F64 => CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        _ => return None,
    })
}

fn swizzle(swizzle: Swizzle) -> CUtensorMapSwizzle {
    use CUtensorMapSwizzle::*;
    match swizzle {
        Swizzle::None => CU_TENSOR_MAP_SWIZZLE_NONE,
        Swizzle::Bytes32 => CU_TENSOR_MAP_SWIZZLE_32B,
        Swizzle::Bytes64 => CU_TENSOR_MAP_SWIZZLE_64B,
        Swizzle::Bytes128 => CU_TENSOR_MAP_SWIZZLE_128B,
    }
}

impl Driver {
    /// Whether this driver makes tensor maps.
    pub(super) fn encodes_tiled(&self) -> Option<EncodeTiled> {
        self.encode_tiled
    }
}

/// The map's 128 bytes; `None` where this driver cannot make one of such elements. Nothing is read through the address here.
pub(crate) fn encode_tiled(
    context: &'static Context,
    map: &Description,
    address: u64,
) -> Result<Option<[u8; 128]>, Error> {
    let driver = context.bind()?;
    let (Some(encode), Some(element)) = (driver.encodes_tiled(), data_type(map.element())) else { return Ok(None) };
    let mut encoded = CUtensorMap { opaque: [0; 16] };
    // As many entries as there can be, so that a list without strides is not a null pointer.
    let mut strides = [0u64; MOST_DIMENSIONS];
    strides.iter_mut().zip(map.strides()).for_each(|(to, stride)| *to = *stride);
    // SAFETY: each list has as many entries as the rank asks for (`Description::new`), and lives until the call returns; the map is
    // aligned as its type is.
    let code = unsafe {
        encode(
            &mut encoded,
            element as u32,
            map.rank() as u32,
            address as *mut c_void,
            map.sizes().as_ptr(),
            strides.as_ptr(),
            map.box_sizes().as_ptr(),
            map.element_strides().as_ptr(),
            CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE as u32,
            swizzle(map.swizzle()) as u32,
            CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B as u32,
            CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE as u32,
        )
    };
    driver.check("cuTensorMapEncodeTiled", code)?;
    let mut bytes = [0; 128];
    bytes.chunks_exact_mut(8).zip(encoded.opaque).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()));
    Ok(Some(bytes))
}
