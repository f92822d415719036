//! Bundles of what NVRTC makes.

use tilewright_driver::{Arch, Bundle, KernelCache, Origin, Source, Target, TargetKind, compile};

use super::source;
use crate::compile::has_nvrtc;

const KERNEL: &str = r#"
struct P { const float* x; float* y; long long n; };
extern "C" __global__ void map(const __grid_constant__ P p) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < p.n) p.y[i] = p.x[i] / (1.0f + p.x[i] * p.x[i]);
}
extern "C" __global__ void reverse(const __grid_constant__ P p) {
    __shared__ float s[256];
    s[threadIdx.x] = p.x[threadIdx.x];
    __syncthreads();
    p.y[threadIdx.x] = s[255 - threadIdx.x];
}
"#;

/// The most that a kernel for each point may take in a bundle.
const MOST: u64 = 12 << 10;

#[test]
fn kernels_of_the_compiler() {
    if !has_nvrtc("cache::nvrtc::kernels_of_the_compiler") {
        return;
    }
    let targets = [
        (TargetKind::Plain, 9, 0),
        (TargetKind::Plain, 8, 6),
        (TargetKind::ArchSpecific, 9, 0),
        (TargetKind::Portable, 8, 0),
    ]
    .map(|(kind, major, minor)| Target::new(kind, Arch::new(major, minor)));
    let keys = source(KERNEL).keys();
    let of = |target: Target| compile(&Source { target: target.kind, ..source(KERNEL) }, target.arch).unwrap();
    let kernels = targets.map(|target| (keys.of(target), of(target)));
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("kernels.twb");
    Bundle::write(&path, kernels.clone()).unwrap();
    let bundle = Bundle::open(&path).unwrap();
    bundle.check().unwrap();
    for entry in bundle.entries() {
        eprintln!("{:<10} {} bytes of {}", entry.target, entry.stored_bytes, entry.whole_bytes);
        assert!(entry.stored_bytes <= MOST && entry.stored_bytes < entry.whole_bytes / 2, "{entry:?}");
    }
    // Registers and the like come back with the code.
    assert!(kernels.iter().all(|(key, kernel)| bundle.get(key).as_ref() == Some(kernel)));
    assert!(kernels[0].1.kernels.iter().any(|kernel| kernel.name == "reverse" && kernel.shared_bytes == 1024));

    let cache = KernelCache::in_memory();
    cache.add_bundle(bundle);
    for (arch, served) in [((9, 0), 0), ((8, 9), 1), ((8, 6), 1), ((8, 0), 3), ((12, 0), 3)] {
        let (found, origin) = cache.get(&source(KERNEL), Arch::new(arch.0, arch.1)).unwrap();
        assert_eq!((&*found, origin), (&kernels[served].1, Origin::Bundle), "{arch:?}");
    }
    let specific = Source { target: TargetKind::ArchSpecific, ..source(KERNEL) };
    assert_eq!(*cache.get(&specific, Arch::new(9, 0)).unwrap().0, kernels[2].1);
    assert_eq!(cache.statistics().compiles, 0);
    // None of them: it is compiled as ever.
    assert!(matches!(cache.get(&source(KERNEL), Arch::new(7, 5)), Err(_) | Ok((_, Origin::Compiled { .. }))));
}
