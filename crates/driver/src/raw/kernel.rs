//! Loaded device code, its kernels, and their launch.

use std::{
    ffi::{CStr, c_uint, c_void},
    ptr,
};

use cudarc::driver::sys::*;

use super::{Context, Handle, Held, Stream};
use crate::{Error, LaunchConfig};

/// No kernel has more bytes of parameters (from CUDA 12.1 on), and no parameter is smaller than a byte.
pub(crate) const MOST_PARAMETER_BYTES: usize = 32_764;
/// So many pointers to parameters are kept on the stack.
const MOST_POINTERS: usize = 64;

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
        let (_held, mut handle) = (Held::new(context), ptr::null_mut());
        // SAFETY: the image is in memory, its header whole; the driver copies what it keeps.
        unsafe { cu!(context.bind()?, cuModuleLoadData(&mut handle, padded.as_ptr().cast())) }?;
        Ok(Self { context, handle: Handle(handle) })
    }

    pub(crate) fn function(&self, name: &CStr) -> Result<Function, Error> {
        let (_held, mut handle) = (Held::new(self.context), ptr::null_mut());
        // SAFETY: the module is loaded for good; the name ends in NUL.
        unsafe { cu!(self.context.bind()?, cuModuleGetFunction(&mut handle, self.handle.0, name.as_ptr())) }?;
        Ok(Function { context: self.context, handle: Handle(handle) })
    }
}

impl Function {
    pub(crate) fn attribute(&self, attribute: CUfunction_attribute) -> Result<i32, Error> {
        let (_held, mut value) = (Held::new(self.context), 0);
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self.context.bind()?, cuFuncGetAttribute(&mut value, attribute, self.handle.0)) }.map(|()| value)
    }

    pub(crate) fn set_attribute(&self, attribute: CUfunction_attribute, value: i32) -> Result<(), Error> {
        let _held = Held::new(self.context);
        // SAFETY: the driver checks the value.
        unsafe { cu!(self.context.bind()?, cuFuncSetAttribute(self.handle.0, attribute, value)) }
    }

    pub(crate) fn blocks_per_multiprocessor(&self, threads: i32, shared_bytes: usize) -> Result<i32, Error> {
        let _held = Held::new(self.context);
        let (mut blocks, driver) = (0, self.context.bind()?);
        let function = self.handle.0;
        // SAFETY: the out pointer is valid.
        unsafe {
            cu!(driver, cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, shared_bytes))
        }?;
        Ok(blocks)
    }

    /// Bytes of each parameter; `None` when this driver cannot tell.
    pub(crate) fn parameters(&self) -> Result<Option<Vec<usize>>, Error> {
        let _held = Held::new(self.context);
        let driver = self.context.bind()?;
        let Some(read) = driver.parameter_info else { return Ok(None) };
        let parameter = |index| {
            let (mut offset, mut bytes) = (0, 0);
            // SAFETY: the out pointers are valid; an index past the end is answered with an error.
            let found = unsafe { read(self.handle.0, index, &mut offset, &mut bytes) } == 0;
            found.then_some(bytes)
        };
        Ok(Some((0..MOST_PARAMETER_BYTES).map_while(parameter).collect()))
    }

    /// # Safety
    /// `parameters` must point at what the kernel declares; what it does with the addresses inside must be sound.
    #[inline]
    unsafe fn launch(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let driver = self.context.bind()?;
        // SAFETY: plain C data; zero is a valid value of each field (the attribute id 0 is IGNORE).
        let mut attributes: [CUlaunchAttribute; 3] = unsafe { std::mem::zeroed() };
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
        if config.cooperative {
            attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
            attributes[count].value.cooperative = 1;
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
        self.check_block(stream, parameters)?;
        let mut pointers = [parameters.as_ptr().cast_mut().cast()];
        // SAFETY: the size of the block is checked where the driver tells it; the rest is this function's own contract.
        unsafe { self.raw.launch(&stream.raw, config, &mut pointers) }.map_err(|cause| self.launch_error(config, cause))
    }

    /// As [`launch`](Self::launch), for a kernel of several parameters: the bytes of each, in the kernel's order. A kernel of more
    /// than 64 parameters is refused.
    ///
    /// # Safety
    /// As for [`launch`](Self::launch). Where the driver does not tell the kernel's parameters
    /// ([`parameters`](Self::parameters) is `None`), their number and sizes must be right too.
    #[inline]
    pub unsafe fn launch_with(
        &self,
        stream: &crate::Stream,
        config: &LaunchConfig,
        parameters: &[&[u8]],
    ) -> Result<(), Error> {
        self.check_launch(stream, parameters)?;
        let mut pointers = [ptr::null_mut(); MOST_POINTERS];
        let Some(used) = pointers.get_mut(..parameters.len()) else {
            return Err(self.wrong_count(MOST_POINTERS, parameters.len()));
        };
        used.iter_mut().zip(parameters).for_each(|(to, bytes)| *to = bytes.as_ptr().cast_mut().cast());
        // SAFETY: number and sizes are checked where the driver tells them; the rest is this function's own contract.
        unsafe { self.raw.launch(&stream.raw, config, used) }.map_err(|cause| self.launch_error(config, cause))
    }
}
