//! What kind of failure an error is.

use tilewright_driver::Error as Driver;
use tilewright_hybrid::{Class, Error};

fn answer(code: u32) -> Driver {
    Driver::Driver { call: "cuLaunchKernelEx", code, name: "CUDA_ERROR".into(), message: "as injected".into() }
}

fn launch(cause: Driver) -> Error {
    let launch =
        Driver::Launch { kernel: "k".into(), grid: [1; 3], block: [1; 3], shared_bytes: 0, cause: Box::new(cause) };
    launch.into()
}

#[test]
fn users_and_numbers_are_no_fault_of_a_device() {
    let shape = Error::Shape { operation: "matmul", what: "rows of b", expected: 3, got: 4 };
    assert_eq!(shape.class(), Class::User);
    assert_eq!(shape.to_string(), "matmul: rows of b is 4, expected 3");
    assert_eq!(Error::NotPositiveDefinite { order: 2, size: 9 }.class(), Class::Numeric);
    assert_eq!(launch(answer(1)).class(), Class::User);
    // A compiler that is older than the GPU is mended by its owner.
    let (name, known, version) = ("sum".into(), "sm_50 sm_90".into(), "12.1".into());
    let arch = tilewright_driver::Arch::new(12, 0);
    assert_eq!(Error::from(Driver::UnknownArch { name, arch, known, version }).class(), Class::User);
}

#[test]
fn lack_of_memory_is_not_a_broken_device() {
    assert_eq!(launch(answer(2)).class(), Class::Resource);
    let memory = Driver::OutOfMemory { requested: 10, free: 1, total: 5 };
    assert_eq!(Error::from(memory).class(), Class::Resource);
    assert_eq!(launch(answer(700)).class(), Class::Device);
    assert_eq!(Error::from(answer(719)).class(), Class::Device);
}
