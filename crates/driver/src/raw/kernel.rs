//! Loaded device code, its kernels, and their launch.

use std::{
    ffi::{CStr, c_uint, c_void},
    ptr,
};

use cudarc::driver::sys::*;

use super::{Context, Handle, Stream};
use crate::{Error, LaunchConfig};

/// Loaded device code. It stays loaded until the process ends: a launch or a graph may still run it.
#[derive(Clone, Copy)]
pub(crate) struct Module {
    pub(crate) context: &'static Context,
    handle: Handle<CUmod_st>,
}

#[derive(Clone, Copy)]
pub(crate) struct Function {
    pub(crate) context: &'static Context,
    handle: Handle<CUfunc_st>,
}

impl Module {
    /// `image` is a cubin or PTX text.
    pub(crate) fn load(context: &'static Context, image: &[u8]) -> Result<Self, Error> {
        let mut padded = Vec::with_capacity(image.len() + 64);
        padded.extend_from_slice(image);
        padded.resize(image.len() + 64, 0); // PTX must end in NUL; a cut-off ELF header must not be read past its end
        let mut handle = ptr::null_mut();
        // SAFETY: the image is in memory, its header whole; the driver copies what it keeps.
        unsafe { cu!(context.bind()?, cuModuleLoadData(&mut handle, padded.as_ptr().cast())) }?;
        Ok(Self { context, handle: Handle(handle) })
    }

    pub(crate) fn function(&self, name: &CStr) -> Result<Function, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded for good; the name ends in NUL.
        unsafe { cu!(self.context.bind()?, cuModuleGetFunction(&mut handle, self.handle.0, name.as_ptr())) }?;
        Ok(Function { context: self.context, handle: Handle(handle) })
    }
}

impl Function {
    pub(crate) fn attribute(&self, attribute: CUfunction_attribute) -> Result<i32, Error> {
        let mut value = 0;
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self.context.bind()?, cuFuncGetAttribute(&mut value, attribute, self.handle.0)) }.map(|()| value)
    }

    pub(crate) fn set_attribute(&self, attribute: CUfunction_attribute, value: i32) -> Result<(), Error> {
        // SAFETY: the driver checks the value.
        unsafe { cu!(self.context.bind()?, cuFuncSetAttribute(self.handle.0, attribute, value)) }
    }

    pub(crate) fn blocks_per_multiprocessor(&self, threads: i32, shared_bytes: usize) -> Result<i32, Error> {
        let (mut blocks, driver) = (0, self.context.bind()?);
        let function = self.handle.0;
        // SAFETY: the out pointer is valid.
        unsafe {
            cu!(driver, cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, shared_bytes))
        }?;
        Ok(blocks)
    }

    /// Bytes of the parameter with this index. `None`: this driver cannot tell. `Some(None)`: there is no such parameter.
    pub(crate) fn parameter_bytes(&self, index: usize) -> Result<Option<Option<usize>>, Error> {
        let (mut offset, mut bytes) = (0, 0);
        let driver = self.context.bind()?;
        let Some(read) = driver.parameter_info else { return Ok(None) };
        // SAFETY: the out pointers are valid; an index past the end is answered with an error.
        let found = unsafe { read(self.handle.0, index, &mut offset, &mut bytes) } == 0;
        Ok(Some(found.then_some(bytes)))
    }

    /// # Safety
    /// `block` must be the parameters that the kernel declares; what the kernel does with the addresses inside must be sound.
    #[inline]
    pub(crate) unsafe fn launch(&self, stream: &Stream, config: &LaunchConfig, block: &[u8]) -> Result<(), Error> {
        let driver = self.context.bind()?;
        // SAFETY: plain C data; zero is a valid value of each field (the attribute id 0 is IGNORE).
        let mut attributes: [CUlaunchAttribute; 2] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        if let Some([x, y, z]) = config.cluster {
            attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attributes[count].value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            count += 1;
        }
        if config.programmatic {
            attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            attributes[count].value.programmaticStreamSerializationAllowed = 1;
            count += 1;
        }
        let launch = CUlaunchConfig {
            gridDimX: config.grid[0],
            gridDimY: config.grid[1],
            gridDimZ: config.grid[2],
            blockDimX: config.block[0],
            blockDimY: config.block[1],
            blockDimZ: config.block[2],
            sharedMemBytes: config.shared_bytes,
            hStream: stream.handle.0,
            attrs: attributes.as_mut_ptr(),
            numAttrs: count as c_uint,
        };
        let mut parameters = [block.as_ptr().cast_mut().cast::<c_void>()];
        let (function, none) = (self.handle.0, ptr::null_mut());
        // SAFETY: everything pointed at lives until the call returns; the driver copies the parameters. The rest is the caller's.
        unsafe { cu!(driver, cuLaunchKernelEx(&launch, function, parameters.as_mut_ptr(), none)) }
    }
}

// Here and not in the crate's module.rs, because it is unsafe.
impl crate::Function {
    /// Queues the kernel on `stream` with one parameter block. Allocates nothing; the block is copied before this returns.
    ///
    /// Errors: a block of another size than the kernel declares, a stream of another device, a launch that the driver refuses
    /// (with its numbers). What goes wrong on the device later comes out of [`Stream::synchronize`](crate::Stream::synchronize).
    ///
    /// # Safety
    /// The kernel runs with the addresses in `parameters`. They must be those of live memory that is large enough and of the
    /// right device, until the kernel is done (and, in a capture, while the graph is in use); no other work may write what the
    /// kernel reads, or read what it writes, unless a stream or an event puts the two in order.
    #[inline]
    pub unsafe fn launch(&self, stream: &crate::Stream, config: &LaunchConfig, parameters: &[u8]) -> Result<(), Error> {
        self.check_launch(stream, parameters)?;
        // SAFETY: the size of the block is checked where the driver tells it; the rest is this function's own contract.
        unsafe { self.raw.launch(&stream.raw, config, parameters) }.map_err(|cause| self.launch_error(config, cause))
    }
}
