//! The PTX that stands in `ptx/`.

/// The kernels as PTX text for one architecture and all later ones.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The architecture, (9, 0) for compute capability 9.0.
    pub arch: (u32, u32),
    /// The text.
    pub ptx: &'static str,
}

const IMAGES: [Image; 2] = [
    Image { arch: (9, 0), ptx: include_str!("../ptx/kernels.sm_90.ptx") },
    Image { arch: (8, 0), ptx: include_str!("../ptx/kernels.sm_80.ptx") },
];

/// The text for a device of this compute capability, the newest that it can run; `None` before 8.0.
pub fn image_for(major: u32, minor: u32) -> Option<Image> {
    IMAGES.into_iter().find(|image| image.arch <= (major, minor))
}
