//! Generated from `tilewright/host/abi.h` by `cargo xtask bindgen`. Do not edit.
#![allow(dead_code, missing_docs, nonstandard_style, unreachable_pub, clippy::all, reason = "generated")]

#[repr(C)]
#[derive(Copy, Clone)]
pub struct Parameter {
    pub offset: core::ffi::c_ulonglong,
    pub bytes: core::ffi::c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of Parameter"][::core::mem::size_of::<Parameter>() - 16usize];
    ["Alignment of Parameter"][::core::mem::align_of::<Parameter>() - 8usize];
    ["Offset of field: Parameter::offset"][::core::mem::offset_of!(Parameter, offset) - 0usize];
    ["Offset of field: Parameter::bytes"][::core::mem::offset_of!(Parameter, bytes) - 8usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct Kernel {
    pub call: ::core::option::Option<unsafe extern "C" fn(parameters: *const core::ffi::c_void)>,
    pub parameter_bytes: core::ffi::c_ulonglong,
    pub parameters: *const Parameter,
    pub parameter_count: core::ffi::c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of Kernel"][::core::mem::size_of::<Kernel>() - 32usize];
    ["Alignment of Kernel"][::core::mem::align_of::<Kernel>() - 8usize];
    ["Offset of field: Kernel::call"][::core::mem::offset_of!(Kernel, call) - 0usize];
    ["Offset of field: Kernel::parameter_bytes"][::core::mem::offset_of!(Kernel, parameter_bytes) - 8usize];
    ["Offset of field: Kernel::parameters"][::core::mem::offset_of!(Kernel, parameters) - 16usize];
    ["Offset of field: Kernel::parameter_count"][::core::mem::offset_of!(Kernel, parameter_count) - 24usize];
};
impl Outcome {
    pub const Done: Outcome = Outcome(0);
    pub const Deadlock: Outcome = Outcome(1);
    pub const Misuse: Outcome = Outcome(2);
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct Outcome(pub core::ffi::c_int);
impl Order {
    pub const Forward: Order = Order(0);
    pub const Backward: Order = Order(1);
    pub const Shuffled: Order = Order(2);
}
#[repr(transparent)]
#[derive(Copy, Clone, Hash, PartialEq, Eq)]
pub struct Order(pub core::ffi::c_uint);
#[repr(C)]
#[derive(Copy, Clone)]
pub struct Request {
    pub grid: [core::ffi::c_uint; 3usize],
    pub block: [core::ffi::c_uint; 3usize],
    pub order: Order,
    pub seed: core::ffi::c_ulonglong,
    pub shared_bytes: core::ffi::c_ulonglong,
    pub parameter: *const core::ffi::c_void,
    pub parameter_bytes: core::ffi::c_ulonglong,
    pub message: *mut core::ffi::c_char,
    pub message_bytes: core::ffi::c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of Request"][::core::mem::size_of::<Request>() - 80usize];
    ["Alignment of Request"][::core::mem::align_of::<Request>() - 8usize];
    ["Offset of field: Request::grid"][::core::mem::offset_of!(Request, grid) - 0usize];
    ["Offset of field: Request::block"][::core::mem::offset_of!(Request, block) - 12usize];
    ["Offset of field: Request::order"][::core::mem::offset_of!(Request, order) - 24usize];
    ["Offset of field: Request::seed"][::core::mem::offset_of!(Request, seed) - 32usize];
    ["Offset of field: Request::shared_bytes"][::core::mem::offset_of!(Request, shared_bytes) - 40usize];
    ["Offset of field: Request::parameter"][::core::mem::offset_of!(Request, parameter) - 48usize];
    ["Offset of field: Request::parameter_bytes"][::core::mem::offset_of!(Request, parameter_bytes) - 56usize];
    ["Offset of field: Request::message"][::core::mem::offset_of!(Request, message) - 64usize];
    ["Offset of field: Request::message_bytes"][::core::mem::offset_of!(Request, message_bytes) - 72usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub struct BoxFields {
    pub mark: core::ffi::c_ulonglong,
    pub base: core::ffi::c_ulonglong,
    pub sizes: [core::ffi::c_ulonglong; 5usize],
    pub strides: [core::ffi::c_ulonglong; 4usize],
    pub box_: [core::ffi::c_uint; 5usize],
    pub rank: core::ffi::c_uint,
    pub element: core::ffi::c_uint,
    pub span: core::ffi::c_uint,
    pub unused: core::ffi::c_ulonglong,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of BoxFields"][::core::mem::size_of::<BoxFields>() - 128usize];
    ["Alignment of BoxFields"][::core::mem::align_of::<BoxFields>() - 8usize];
    ["Offset of field: BoxFields::mark"][::core::mem::offset_of!(BoxFields, mark) - 0usize];
    ["Offset of field: BoxFields::base"][::core::mem::offset_of!(BoxFields, base) - 8usize];
    ["Offset of field: BoxFields::sizes"][::core::mem::offset_of!(BoxFields, sizes) - 16usize];
    ["Offset of field: BoxFields::strides"][::core::mem::offset_of!(BoxFields, strides) - 56usize];
    ["Offset of field: BoxFields::box_"][::core::mem::offset_of!(BoxFields, box_) - 88usize];
    ["Offset of field: BoxFields::rank"][::core::mem::offset_of!(BoxFields, rank) - 108usize];
    ["Offset of field: BoxFields::element"][::core::mem::offset_of!(BoxFields, element) - 112usize];
    ["Offset of field: BoxFields::span"][::core::mem::offset_of!(BoxFields, span) - 116usize];
    ["Offset of field: BoxFields::unused"][::core::mem::offset_of!(BoxFields, unused) - 120usize];
};
