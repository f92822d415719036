//! NVRTC, the compiler library, and one program in it.

use std::{
    ffi::{CStr, CString, OsStr, c_char, c_int},
    ptr,
};

use cudarc::nvrtc::sys::nvrtcProgram;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

use super::open;
use crate::Error;

table!(NvrtcTable: cudarc::nvrtc::sys, nvrtcResult {
    nvrtcVersion(*mut c_int, *mut c_int);
    nvrtcGetNumSupportedArchs(*mut c_int);
    nvrtcGetSupportedArchs(*mut c_int);
    nvrtcCreateProgram(*mut nvrtcProgram, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    nvrtcDestroyProgram(*mut nvrtcProgram);
    nvrtcCompileProgram(nvrtcProgram, c_int, *const *const c_char);
    nvrtcGetProgramLogSize(nvrtcProgram, *mut usize);
    nvrtcGetProgramLog(nvrtcProgram, *mut c_char);
    nvrtcGetCUBINSize(nvrtcProgram, *mut usize);
    nvrtcGetCUBIN(nvrtcProgram, *mut c_char);
    nvrtcGetPTXSize(nvrtcProgram, *mut usize);
    nvrtcGetPTX(nvrtcProgram, *mut c_char);
});

/// The compiler library.
pub(crate) struct Compiler {
    table: NvrtcTable,
}

/// Opens a library for good, its symbols visible to what is loaded later.
pub(crate) fn preload(file: &OsStr) -> Result<(), String> {
    open(file, RTLD_NOW | RTLD_GLOBAL).map(std::mem::forget)
}

fn compiler_check(call: &'static str, code: u32) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error::Nvrtc { call, code }) }
}

type Size = unsafe extern "C" fn(nvrtcProgram, *mut usize) -> u32;
type Read = unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> u32;

impl Compiler {
    pub(crate) fn open(file: &OsStr) -> Result<Self, String> {
        let library = open(file, RTLD_NOW | RTLD_LOCAL)?;
        let table = NvrtcTable::resolve(&library).map_err(|symbol| format!("lacks `{symbol}`"))?;
        std::mem::forget(library); // the table lives as long as the process
        Ok(Self { table })
    }

    pub(crate) fn version(&self) -> Result<(i32, i32), Error> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the out pointers are valid.
        compiler_check("nvrtcVersion", unsafe { (self.table.nvrtcVersion)(&mut major, &mut minor) })?;
        Ok((major, minor))
    }

    /// Architectures as `10 * major + minor`.
    pub(crate) fn architectures(&self) -> Result<Vec<i32>, Error> {
        let mut count = 0;
        // SAFETY: the out pointer is valid.
        compiler_check("nvrtcGetNumSupportedArchs", unsafe { (self.table.nvrtcGetNumSupportedArchs)(&mut count) })?;
        let mut list = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the list has room for the number that the library named.
        compiler_check("nvrtcGetSupportedArchs", unsafe { (self.table.nvrtcGetSupportedArchs)(list.as_mut_ptr()) })?;
        Ok(list)
    }

    /// The log, and the images (of each a cubin, else PTX) or the error that the compilation ended with.
    pub(crate) fn compile(
        &self,
        [name, text]: [&CStr; 2],
        headers: &[[CString; 2]],
        options: &[CString],
        cubins: &[bool],
    ) -> Result<Compilation, Error> {
        let names: Vec<_> = headers.iter().map(|[name, _]| name.as_ptr()).collect();
        let texts: Vec<_> = headers.iter().map(|[_, text]| text.as_ptr()).collect();
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let mut handle = ptr::null_mut();
        let (table, count) = (&self.table, headers.len() as c_int);
        // SAFETY: all strings end in NUL and outlive the call; the counts are those of the lists.
        let created = unsafe {
            (table.nvrtcCreateProgram)(&mut handle, text.as_ptr(), name.as_ptr(), count, texts.as_ptr(), names.as_ptr())
        };
        compiler_check("nvrtcCreateProgram", created)?;
        let program = Program { table, handle };
        // SAFETY: the program is alive; the options end in NUL.
        let code = unsafe { (table.nvrtcCompileProgram)(handle, options.len() as c_int, options.as_ptr()) };
        let log = program.read(table.nvrtcGetProgramLogSize, table.nvrtcGetProgramLog)?;
        let image = |cubin: &bool| match cubin {
            true => program.read(table.nvrtcGetCUBINSize, table.nvrtcGetCUBIN),
            false => program.read(table.nvrtcGetPTXSize, table.nvrtcGetPTX),
        };
        let images = compiler_check("nvrtcCompileProgram", code).and_then(|()| cubins.iter().map(image).collect());
        let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned();
        Ok((log, images))
    }
}

/// The log, and the images or why there are none.
pub(crate) type Compilation = (String, Result<Vec<Vec<u8>>, Error>);

struct Program<'a> {
    table: &'a NvrtcTable,
    handle: nvrtcProgram,
}

impl Program<'_> {
    fn read(&self, size: Size, read: Read) -> Result<Vec<u8>, Error> {
        let mut bytes = 0;
        // SAFETY: the program is alive, the out pointer valid.
        compiler_check("nvrtcGet..Size", unsafe { size(self.handle, &mut bytes) })?;
        let mut buffer = vec![0; bytes];
        // SAFETY: the buffer has the size that the library named for it.
        compiler_check("nvrtcGet..", unsafe { read(self.handle, buffer.as_mut_ptr().cast()) })?;
        Ok(buffer)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe { (self.table.nvrtcDestroyProgram)(&mut self.handle) };
    }
}
