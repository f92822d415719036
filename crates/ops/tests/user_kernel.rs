//! A user's own kernel: what is refused, by descriptions alone; what compiles; a launch on a driver that only compares, and on a GPU.

use crate::allocations;
use crate::support::{Random, gpu, skip};
use bytemuck::{NoUninit, Pod, Zeroable};
use std::path::Path;
use std::process::Command;
use tilewright_dims::dims;
use tilewright_driver::argument::{Access, Axes, ElementType, Given, MOST_AXES, Memory, Shape};
use tilewright_driver::{Arch, Argument, Error as DriverError, IntoArgument, toolkit};
use tilewright_ops::{Device, Error, Interface, KernelSource, Tensor};

dims! { Y, X }

const SOURCE: &str = r#"
#include "tilewright/layout.cuh"
/*@tilewright
dims! { Y, X, I, K }
tensor!(In: const f32, [Y: 4, X: 6 => 1]);
tensor!(Out: f32, [X: 6, Y: 4]);
tensor!(Folded: const f32, [K/8: 4, I: 4, K%8]);
tensor!(Plain: f32, [I: 4, K/8: 4, K%8]);
tensor!(Blocks: const f32, [K/16: 4]);
tensor!(Wide: const "float4", [I: 4]);
tensor!(Window: const f32, [I: 4, X: 3 => 1]);
@tilewright*/
struct Params { float* x; int n; int m; };
extern "C" __global__ void turn(In in, Out out, float strength) {
  const Y y(threadIdx.y);
  const X x(threadIdx.x);
  *out.at(y + x) = strength * *in.at(y + x);
}
extern "C" __global__ void pointers(const float* x, unsigned char* y, const float4* v, void* any, const Params* structs, int n) {
  y[0] = x[0] + v[0].x + n;
}
extern "C" __global__ void values(const __grid_constant__ Params p, bool b, size_t s, uint3 v, char c) { p.x[0] = b + s + v.x + c; }
extern "C" __global__ void folded(Folded a, Plain b, Blocks c, Wide d) { *b.at(I(0)) = *a.at(K(7)) + *c.at(K(16)) + (*d.at(I(1))).x; }
"#;

fn interface(kernel: &str) -> Interface {
    Interface::read("test.cu", SOURCE, Some(kernel)).unwrap_or_else(|e| panic!("{e}"))
}

fn memory<T: 'static>(len: usize, access: Access, shape: Shape) -> Argument<'static> {
    let memory = Memory { address: 4096, len, access, device: Some(0), stream: None, shape };
    Argument { element: ElementType::of::<T>(), given: Given::Memory(memory) }
}

fn flat<T: 'static>(len: usize, access: Access) -> Argument<'static> {
    memory::<T>(len, access, Shape::Flat)
}

fn tensor<T: 'static>(names: &'static [&'static str], sizes: &[(i64, i64)], access: Access) -> Argument<'static> {
    let (mut extents, mut strides) = ([1; MOST_AXES], [0; MOST_AXES]);
    for (i, (extent, stride)) in sizes.iter().enumerate() {
        (extents[i], strides[i]) = (*extent, *stride);
    }
    let len = 1 + sizes.iter().map(|(extent, stride)| (extent - 1) * stride).sum::<i64>();
    memory::<T>(len as usize, access, Shape::Axes(Axes { names, extents, strides }))
}

fn with(argument: Argument<'static>, change: impl FnOnce(&mut Memory<'static>)) -> Argument<'static> {
    let Given::Memory(mut memory) = argument.given else { panic!("a value") };
    change(&mut memory);
    Argument { given: Given::Memory(memory), ..argument }
}

fn value<T: NoUninit>(value: T) -> Argument<'static> {
    Box::leak(Box::new(value)).argument_of()
}

trait Leaked {
    fn argument_of(&'static mut self) -> Argument<'static>;
}

impl<T: IntoArgument> Leaked for T {
    fn argument_of(&'static mut self) -> Argument<'static> {
        self.argument()
    }
}

fn input() -> Argument<'static> {
    tensor::<f32>(&["Y", "X"], &[(4, 6), (6, 1)], Access::Read)
}

fn output() -> Argument<'static> {
    tensor::<f32>(&["X", "Y"], &[(6, 4), (4, 1)], Access::Write)
}

/// Demands that the kernel refuses `argument` as its parameter `index`, the others being right, with these words.
fn refused(kernel: &str, right: &[Argument<'static>], index: usize, argument: Argument<'static>, parts: &[&str]) {
    let interface = interface(kernel);
    interface.check(0, None, right).unwrap_or_else(|e| panic!("{e}"));
    let mut arguments = right.to_vec();
    arguments[index] = argument;
    let error = interface.check(0, None, &arguments).map_or_else(|e| e, |()| panic!("{argument:?} is taken"));
    let Error::Argument { index: named, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*named, index, "{error}");
    let said = error.to_string();
    assert!(said.starts_with(&format!("kernel `{kernel}`, parameter {index} `")), "{said}");
    assert!(parts.iter().all(|part| said.contains(part)), "{parts:?} in {said}");
}

#[test]
fn tensors_have_the_declared_dimensions_sizes_and_strides() {
    let right = [input(), output(), value(0.5f32)];
    let refuse = |index, argument, parts: &[&str]| refused("turn", &right, index, argument, parts);
    let read = |names, sizes: &[(i64, i64)]| tensor::<f32>(names, sizes, Access::Read);
    refuse(0, read(&["X"], &[(6, 1)]), &["`in`", "over (Y, X)", "over (X)"]);
    refuse(0, read(&["Y", "X", "I"], &[(4, 6), (6, 1), (1, 1)]), &["over (Y, X, I)"]);
    refuse(0, read(&["N", "X"], &[(4, 6), (6, 1)]), &["over (N, X)", "rename"]);
    refuse(0, read(&["Y", "X"], &[(5, 6), (6, 1)]), &["`Y` is declared 4 long, got 5"]);
    refuse(0, read(&["Y", "X"], &[(0, 6), (6, 1)]), &["no elements"]);
    refuse(0, read(&["Y", "X"], &[(4, 8), (6, 1)]), &["axis `Y: 4`", "with 6 elements", "got 8", "=> 8"]);
    refuse(1, tensor::<f32>(&["X", "Y"], &[(6, 1), (4, 6)], Access::Write), &["`out`", "axis `X: 6`", "got 1"]);
    refuse(1, tensor::<f32>(&["Y", "X"], &[(4, 6), (6, 1)], Access::Write), &["axis `X: 6`"]);
    refuse(0, with(input(), |m| m.len = 23), &["spans 96 bytes", "has 92"]);
    // The order in which the axes are named does not matter.
    let turned = tensor::<f32>(&["Y", "X"], &[(4, 1), (6, 4)], Access::Write);
    interface("turn").check(0, None, &[input(), turned, value(0.5f32)]).unwrap();
}

#[test]
fn types_places_and_access_are_checked() {
    let right = [input(), output(), value(0.5f32)];
    let refuse = |index, argument, parts: &[&str]| refused("turn", &right, index, argument, parts);
    refuse(0, tensor::<f64>(&["Y", "X"], &[(4, 6), (6, 1)], Access::Read), &["takes `float`", "got `f64`", "`f32`"]);
    refuse(0, flat::<i32>(24, Access::Read), &["got `i32`"]);
    refuse(0, value(4096u64), &["takes memory", "`u64`", "`&tensor`"]);
    refuse(2, flat::<f32>(1, Access::Read), &["`strength`", "takes a value of type `float`"]);
    refuse(2, value(0.5f64), &["takes `float`", "got `f64`"]);
    refuse(2, value(1i32), &["got `i32`"]);
    refuse(0, with(input(), |m| m.device = None), &["on the CPU", "GPU 0", ".to(&device)"]);
    refuse(0, with(input(), |m| m.device = Some(3)), &["on GPU 3"]);
    refuse(0, with(input(), |m| m.address = 4098), &["0x1002", "multiple of 4", "`float`"]);
    refuse(1, with(output(), |m| m.access = Access::Read), &["`&mut`"]);
    refuse(1, with(output(), |m| m.access = Access::Shared), &["shared with another tensor"]);
    refuse(1, flat::<f32>(0, Access::Write), &["no elements"]);
    refuse(1, flat::<f32>(23, Access::Write), &["spans 96 bytes", "has 92"]);
    // To write what is only read is no mistake.
    interface("turn").check(0, None, &[flat::<f32>(24, Access::Shared), output(), value(1f32)]).unwrap();
}

#[test]
fn the_number_of_arguments() {
    let interface = interface("turn");
    for arguments in [vec![], vec![input(), output()], vec![input(), output(), value(1f32), value(1f32)]] {
        let error = interface.check(0, None, &arguments).unwrap_err();
        assert!(matches!(error, Error::ArgumentCount { expected: 3, got, .. } if got == arguments.len()), "{error}");
        assert!(error.to_string().contains("turn(in: &f32 [Y: 4, X: 6], out: &mut f32 [X: 6, Y: 4], strength: f32)"));
    }
}

#[test]
fn folded_layouts() {
    let plain = |strides: (i64, i64)| tensor::<f32>(&["I", "K"], &[(4, strides.0), (32, strides.1)], Access::Write);
    let blocks = flat::<f32>(4, Access::Read);
    let right = [flat::<f32>(128, Access::Read), plain((32, 1)), blocks, flat::<f32>(16, Access::Read)];
    let refuse = |index, argument, parts: &[&str]| refused("folded", &right, index, argument, parts);
    refuse(0, plain((32, 1)), &["axis `K/8: 4`", "with 32 elements", "got 8"]);
    refuse(0, flat::<f32>(127, Access::Read), &["spans 512 bytes", "has 508"]);
    refuse(1, plain((64, 1)), &["axis `I: 4`", "with 32 elements", "got 64"]);
    refuse(1, plain((32, 2)), &["axis `K/8: 4`", "with 8 elements", "got 16"]);
    refuse(2, tensor::<f32>(&["K"], &[(64, 1)], Access::Read), &["in units of 16", "`DeviceBuffer`"]);
    refuse(3, flat::<f32>(15, Access::Read), &["spans 64 bytes", "has 60"]);
    refuse(3, with(right[3], |m| m.address += 8), &["multiple of 16", "`float4`"]);
    refuse(3, tensor::<f32>(&["I"], &[(4, 1)], Access::Read), &["takes `float4`", "got `f32`"]);
    let whole = tensor::<[f32; 4]>(&["I"], &[(4, 1)], Access::Read);
    interface("folded").check(0, None, &[right[0], right[1], right[2], whole]).unwrap();
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Params {
    x: u64,
    n: i32,
    m: i32,
}

#[test]
fn bare_pointers() {
    let (read, write) = (Access::Read, Access::Write);
    let right = [
        flat::<f32>(1, read),
        flat::<u8>(1, write),
        flat::<f32>(4, read),
        flat::<f64>(1, write),
        flat::<Params>(1, read),
        value(7i32),
    ];
    let refuse = |index, argument, parts: &[&str]| refused("pointers", &right, index, argument, parts);
    refuse(0, flat::<u32>(1, read), &["takes `float`", "got `u32`"]);
    refuse(0, flat::<f32>(0, read), &["no elements"]);
    refuse(0, tensor::<f32>(&["Y", "X"], &[(4, 8), (6, 1)], read), &["gaps"]);
    refuse(1, flat::<i8>(1, write), &["takes `unsigned char`", "`u8`"]);
    refuse(1, flat::<u8>(1, read), &["`&mut`"]);
    refuse(2, with(right[2], |m| m.address += 4), &["multiple of 16"]);
    refuse(2, flat::<f64>(4, read), &["takes `float4`", "[f32; 4]"]);
    refuse(4, flat::<f32>(4, read), &["`Params`", "a struct named `Params`"]);
    refuse(5, value(7u32), &["takes `int`", "got `u32`"]);
    let dense = tensor::<f32>(&["Y", "X"], &[(4, 6), (6, 1)], read);
    interface("pointers").check(0, None, &[dense, right[1], right[2], right[3], right[4], right[5]]).unwrap();
}

#[test]
fn values_have_the_compiled_size() {
    let params = Params { x: 4096, n: 1, m: 2 };
    let right = [value(params), value(true), value(3usize), value([1u32, 2, 3]), value(-1i8)];
    let refuse = |index, argument, parts: &[&str]| refused("values", &right, index, argument, parts);
    refuse(1, value(1u8), &["takes `bool`", "got `u8`"]);
    refuse(2, value(3u32), &["takes `unsigned long long`", "`u64`"]);
    refuse(3, value([1u32, 2]), &["`uint3` has 12 bytes", "has 8"]);
    refuse(3, value(1u32), &["takes `uint3`", "`[u32; 3]`"]);
    refuse(4, value(1i16), &["takes `char`", "`i8 or u8`"]);
    let interface = interface("values");
    interface.check(0, Some(&[16, 1, 8, 12, 1]), &right).unwrap();
    let error = interface.check(0, Some(&[24, 1, 8, 12, 1]), &right).unwrap_err().to_string();
    assert!(error.contains("`Params` has 24 bytes in the compiled kernel") && error.contains("has 16"), "{error}");
}

#[test]
fn sources_that_cannot_be_meant() {
    let fails = |source: &str, entry: Option<&str>, parts: &[&str]| {
        let said = Interface::read("my.cu", source, entry).map_or_else(|e| e.to_string(), |i| panic!("{i} is taken"));
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    };
    fails(SOURCE, None, &["my.cu", "several", ".entry(\"..\")", "turn, pointers, values, folded"]);
    fails(SOURCE, Some("absent"), &["no kernel `absent`", "turn, pointers"]);
    fails("int x;", None, &["no kernel", "extern \"C\" __global__"]);
    fails("\n__global__ void k(int n) {}", None, &["line 2: `k`", "extern \"C\""]);
    fails("template <class T> __global__ void k(T* n) {}", None, &["no template"]);
    let twice =
        "#if A\nextern \"C\" __global__ void k(int n) {}\n#else\nextern \"C\" __global__ void k(float n) {}\n#endif";
    fails(twice, Some("k"), &["`k` is declared with different parameters", "`#if`"]);
    fails("extern \"C\" __global__ void k(int& n) {}", None, &["my.cu: line 1, column 33", "a reference"]);
    fails("/*@tilewright\ntensor!(A: f32, [I: 4]); @tilewright*/", None, &["my.cu: line 2", "no dimension `I`"]);
    let overlap = "/*@tilewright dims! { I, X } tensor!(A: f32, [I: 4 => 1, X: 3]); @tilewright*/\n\
                   extern \"C\" __global__ void k(int n, A a) {}";
    fails(overlap, None, &["kernel `k`, parameter 1 `a`", "`A`", "share an element", "`const`"]);
    Interface::read("my.cu", &overlap.replace("A: f32", "A: const f32"), None).unwrap();
}

#[test]
fn a_tensor_describes_itself() {
    let whole = Tensor::<f32, (Y, X)>::from_vec([4, 8], vec![1.0; 32]).unwrap();
    let view = whole.narrow::<X>(1, 6).unwrap();
    let mut borrowed = &view;
    let argument = borrowed.argument();
    let Given::Memory(memory) = argument.given else { panic!("{argument:?}") };
    assert!(argument.element.is::<f32>() && memory.device.is_none() && memory.len == 31);
    let Shape::Axes(axes) = memory.shape else { panic!("{memory:?}") };
    assert_eq!(axes.iter().collect::<Vec<_>>(), [("Y", 4, 8), ("X", 6, 1)]);
    let access = |tensor: &mut Tensor<f32, (Y, X)>| {
        let mut borrowed = tensor;
        match borrowed.argument().given {
            Given::Memory(memory) => memory.access,
            Given::Value(_) => panic!("memory"),
        }
    };
    let mut alone = Tensor::<f32, (Y, X)>::zeros([4, 6], &Device::Cpu).unwrap();
    assert_eq!(access(&mut alone), Access::Write);
    let clone = alone.clone();
    assert_eq!(access(&mut alone), Access::Shared);
    drop(clone);
    assert_eq!(access(&mut alone), Access::Write);
}

fn has_nvrtc(test: &str) -> bool {
    match toolkit::nvrtc() {
        Ok(_) => true,
        Err(DriverError::NoNvrtc { .. }) => {
            skip(test, "no NVRTC");
            false
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn kernels_compile_and_errors_begin_with_file_and_line() {
    if !has_nvrtc("user_kernel::kernels_compile_and_errors_begin_with_file_and_line") {
        return;
    }
    let arch = Arch::new(9, 0);
    let compiled = KernelSource::new(SOURCE).entry("turn").compile(arch).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(compiled.name, "turn.cu");
    // Line 17 of the user's file, though types stand where the block was.
    let wrong = SOURCE.replace("X x(threadIdx.x)", "X x(threadIdx.q)");
    let error = KernelSource::new(&wrong).entry("turn").name("blur.cu").compile(arch).unwrap_err();
    let line = 1 + wrong.lines().position(|line| line.contains("threadIdx.q")).unwrap();
    assert!(error.to_string().starts_with(&format!("blur.cu:{line}: ")), "{error}");
    let missing =
        KernelSource::new("#include <absent.h>\nextern \"C\" __global__ void k() {}").compile(arch).unwrap_err();
    assert!(missing.to_string().starts_with("k.cu:1: could not open source file \"absent.h\""), "{missing}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("half.h"), "#define HALF 0.5f\n").unwrap();
    let text = "#include <half.h>\nextern \"C\" __global__ void k(float* x) { *x = HALF * N; }";
    let source = KernelSource::new(text).include_path(folder.path()).option("-DN=3");
    source.clone().arch_specific().compile(arch).unwrap_or_else(|e| panic!("{e}"));
    source.compile(arch).unwrap_or_else(|e| panic!("{e}"));
}

/// A driver that runs nothing: it loads every image, and compares what `turn` and `nothing` are launched with.
fn fake_driver(folder: &Path) -> Option<std::path::PathBuf> {
    let bodies = [
        ("cuDriverGetVersion", "(int* v) { *v = 13000; return 0; }"),
        ("cuDeviceGetCount", "(int* v) { *v = 1; return 0; }"),
        ("cuDeviceGetAttribute", "(int* v, int a, int d) { *v = a == 75 ? 9 : a == 76 ? 0 : 100000; return 0; }"),
        ("cuDevicePrimaryCtxRetain", "(void** v, int d) { *v = (void*)16; return 0; }"),
        ("cuStreamCreate", "(void** v, unsigned f) { static long n = 32; *v = (void*)(n += 8); return 0; }"),
        ("cuStreamIsCapturing", "(void* s, int* v) { *v = 0; return 0; }"),
        ("cuEventCreate", "(void** v, unsigned f) { *v = (void*)48; return 0; }"),
        ("cuStreamWaitEvent", "(void* s, void* e, unsigned f) { waits += 1; return 0; }"),
        (
            "cuMemAllocAsync",
            "(unsigned long* v, unsigned long n, void* s) { static long at = 4096; *v = at; at += 4096; return 0; }",
        ),
        ("cuModuleLoadData", "(void** v, const char* image) { *v = (void*)64; return 0; }"),
        ("cuModuleGetFunction", "(void** v, void* m, const char* name) { *v = (void*)80; return 0; }"),
        ("cuFuncGetAttribute", "(int* v, int a, void* f) { *v = a == 0 ? 1024 : 24; return 0; }"),
        // Addresses apart from one another, the number 0.5, and as many waits as blocks ask for.
        (
            "cuLaunchKernelEx",
            "(unsigned* c, void* f, void** p, void** e) { return *(long*)p[0] % 4096 || *(long*)p[0] == *(long*)p[1] || *(long*)p[1] % 4096 \
             || *(float*)p[2] != 0.5f || waits != c[0] - 1 ? 1 : 0; }",
        ),
    ];
    let mut text = String::from("static int waits;\n");
    for symbol in tilewright_driver::required_symbols() {
        let body = bodies.iter().find(|(name, _)| *name == symbol).map_or("() { return 0; }", |(_, body)| body);
        text += &format!("int {symbol}{body}\n");
    }
    text += "int cuFuncGetParamInfo(void* f, unsigned long i, unsigned long* at, unsigned long* n) \
             { *at = 8 * i; *n = i < 2 ? 8 : 4; return i > 2; }\n";
    let (source, library) = (folder.join("fake.c"), folder.join("libcuda.so.1"));
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    let output = compiler.args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(&source).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(library)
}

#[test]
fn a_launch_on_a_stubbed_driver() {
    let name = "user_kernel::a_launch_on_a_stubbed_driver";
    if std::env::var_os("TILEWRIGHT_FAKE").is_some() {
        return on_the_fake_driver().unwrap_or_else(|e| panic!("{e}"));
    }
    if !has_nvrtc(name) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = fake_driver(folder.path()) else { return skip(name, "no C compiler") };
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture"]).env("TILEWRIGHT_FAKE", "1").env("TILEWRIGHT_LIBCUDA", library);
    let output = child.env("TILEWRIGHT_CACHE", folder.path().join("kernels")).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn on_the_fake_driver() -> Result<(), Error> {
    let device = Device::gpu(0)?;
    let gpu = device.as_gpu().unwrap();
    let kernel = gpu.kernel(KernelSource::new(SOURCE).entry("turn"))?;
    let x = Tensor::<f32, (Y, X)>::zeros([4, 6], &device)?;
    let mut y = Tensor::<f32, (X, Y)>::zeros([6, 4], &device)?;
    kernel.launch([1], [6, 4], (&x, &mut y, 0.5f32))?;
    let launch = |y: &mut Tensor<f32, (X, Y)>| kernel.launch([1], [6, 4], (&x, y, 0.5f32)).unwrap();
    assert_eq!(allocations::during(|| (0..100).for_each(|_| launch(&mut y))), 0, "a launch allocates nothing");
    let wrong = kernel.launch([1], [6, 4], (&x, &mut y, 0.25f32)).unwrap_err();
    assert!(matches!(wrong, Error::Driver(DriverError::Launch { .. })), "the fake driver sees the values: {wrong}");
    let said = kernel.launch([1], [6, 4], (&y, &x, 0.5f32)).unwrap_err().to_string();
    assert!(said.contains("parameter 0 `in`: axis `Y: 4`"), "{said}");
    let said = kernel.launch([1], [6, 4], (&x, &y, 0.5f32)).unwrap_err().to_string();
    assert!(said.contains("parameter 1 `out`") && said.contains("`&mut`"), "{said}");
    let shared = y.clone();
    assert!(kernel.launch([1], [6, 4], (&x, &mut y, 0.5f32)).unwrap_err().to_string().contains("shared"));
    drop(shared);
    let host = Tensor::<f32, (Y, X)>::zeros([4, 6], &Device::Cpu)?;
    assert!(kernel.launch([1], [6, 4], (&host, &mut y, 0.5f32)).unwrap_err().to_string().contains("on the CPU"));
    for (grid, block) in
        [([0, 1, 1], [1, 1, 1]), ([1, 65_536, 1], [1, 1, 1]), ([1, 1, 1], [1, 1, 65]), ([1, 1, 1], [33, 32, 1])]
    {
        let error = kernel.launch(grid, block, (&x, &mut y, 0.5f32)).unwrap_err();
        assert!(matches!(error, Error::LaunchSize { .. }), "{grid:?} {block:?}: {error}");
    }
    // The stream of the GPU waits for nothing. Another waits for the homes of both tensors: the fake driver compares with the grid.
    let other = gpu.device().stream()?;
    let elsewhere = kernel.clone().stream(&other);
    elsewhere.launch([3], [6, 4], (&x, &mut y, 0.5f32))?;
    let buffer = gpu.device().stream()?.alloc::<f32>(24)?;
    // Two waits before, two after; now one for the buffer alone.
    kernel.launch([6], [6, 4], (&buffer, &mut y, 0.5f32))?;
    // `values` takes five parameters, this driver tells of three.
    let error = gpu.kernel(KernelSource::new(SOURCE).entry("values")).unwrap_err();
    assert!(matches!(&error, Error::Misread { expected: 5, got, .. } if *got == [8, 8, 4]), "{error}");
    Ok(())
}

#[test]
fn launches() {
    let Some((device, _lock)) = gpu("user_kernel::launches") else { return };
    let gpu = device.as_gpu().unwrap();
    let kernel = gpu.kernel(KernelSource::new(SOURCE).entry("turn")).unwrap_or_else(|e| panic!("{e}"));
    let values = Random(5).vec(24, |r| r.unit() as f32);
    let x = Tensor::<f32, (Y, X)>::from_vec([4, 6], values.clone()).unwrap().to(&device).unwrap();
    let mut y = Tensor::<f32, (X, Y)>::from_vec([6, 4], vec![f32::NAN; 24]).unwrap().to(&device).unwrap();
    let truth: Vec<f32> = (0..24).map(|i| 0.5 * values[i % 4 * 6 + i / 4]).collect();
    kernel.launch([1], [6, 4], (&x, &mut y, 0.5f32)).unwrap();
    assert_eq!(y.to_vec().unwrap(), truth);
    // A buffer and a stream of its own: what is read afterwards is what the kernel wrote.
    let stream = gpu.device().stream().unwrap();
    let mut buffer = stream.alloc_zeroed::<f32>(24).unwrap();
    let other = kernel.clone().stream(&gpu.device().stream().unwrap());
    for _ in 0..50 {
        buffer.fill_bytes(0xff).unwrap();
        other.launch([1], [6, 4], (&x, &mut buffer, 0.5f32)).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), truth);
    }
    let values = gpu.kernel(KernelSource::new(SOURCE).entry("values")).unwrap_or_else(|e| panic!("{e}"));
    let params = Params { x: buffer.device_ptr(), n: 0, m: 0 };
    values.launch(1, 1, (params, true, 3usize, [4u32, 5, 6], 7u8)).unwrap();
    gpu.synchronize().unwrap();
    assert_eq!(buffer.to_vec().unwrap()[0], 15.0);
}
