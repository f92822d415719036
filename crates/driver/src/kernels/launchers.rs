//! A launcher for each kernel that is declared.

use super::signature::{Over, Parameter, Signature};
use crate::argument::{ElementType, IntoArgument};
use crate::{Argument, Device, DeviceBuffer, Error, Function, LaunchConfig, Stream, raw};
use tilewright_dims::{Dims, Point, Term};
use tilewright_gpu_kernels::{body, dims};

/// The type of a parameter in the launcher's signature.
macro_rules! parameter {
    (value $t:ty) => { $t };
    (read $t:ty [$($over:ident),*]) => { &DeviceBuffer<$t> };
    (write $t:ty [$($over:ident),*]) => { &mut DeviceBuffer<$t> };
}

/// What a launcher holds against an argument.
macro_rules! declared {
    ($name:ident value $t:ty) => {
        Parameter { name: stringify!($name), element: || ElementType::of::<$t>(), over: Over::Value }
    };
    ($name:ident read $t:ty [$($over:ident),*]) => {
        Parameter { name: stringify!($name), element: || ElementType::of::<$t>(), over: Over::Read(&[$(stringify!($over)),*]) }
    };
    ($name:ident write $t:ty [$($over:ident),*]) => {
        Parameter { name: stringify!($name), element: || ElementType::of::<$t>(), over: Over::Write(&[$(stringify!($over)),*]) }
    };
}

/// The launch: with sizes that are lengths of parameters, or with sizes that are given.
macro_rules! launch {
    ([$($dim:ident of $length:ident),*] ($($parameter:ident: $kind:ident $t:ident $([$($over:ident),*])?),*)) => {
        /// Queues the kernel on `stream` and returns at once. It runs behind what is queued on the streams that the buffers came from,
        /// and later work there runs behind it.
        ///
        /// # Errors
        /// [`Error::Operand`] for memory of another length or device, [`Error::KernelSize`] for sizes that no grid covers, and what the driver
        /// refuses. What goes wrong on the device later comes out of [`Stream::synchronize`].
        #[allow(clippy::too_many_arguments, reason = "they are the kernel's")]
        pub fn launch(&self, stream: &Stream, $($parameter: parameter!($kind $t $([$($over),*])?)),*) -> Result<(), Error> {
            let sizes = [$(i64::try_from($length.len()).unwrap_or(i64::MAX)),*];
            $(let mut $parameter = $parameter;)*
            self.queue(stream, sizes, &[$($parameter.argument()),*])
        }
    };
    ([$($dim:ident),*] ($($parameter:ident: $kind:ident $t:ident $([$($over:ident),*])?),*)) => {
        /// Queues the kernel on `stream` and returns at once. `sizes` has a coordinate along each of the kernel's dimensions, in any
        /// order: `I(50) + J(70)`. It runs behind what is queued on the streams that the buffers came from, and later work there runs
        /// behind it.
        ///
        /// # Errors
        /// [`Error::Operand`] for memory of another length or device, [`Error::KernelSize`] for sizes below 0 or that no grid covers, and what
        /// the driver refuses. What goes wrong on the device later comes out of [`Stream::synchronize`].
        #[allow(clippy::too_many_arguments, reason = "they are the kernel's")]
        pub fn launch(
            &self,
            stream: &Stream,
            sizes: impl Term<Parts = <($(dims::$dim,)*) as Dims>::Set>,
            $($parameter: parameter!($kind $t $([$($over),*])?)),*
        ) -> Result<(), Error> {
            let sizes = sizes.parts();
            let sizes = [$(i64::from(sizes.value::<dims::$dim>())),*];
            $(let mut $parameter = $parameter;)*
            self.queue(stream, sizes, &[$($parameter.argument()),*])
        }
    };
}

macro_rules! launchers {
    ($(
        $(#[$meta:meta])*
        kernel $name:ident [$($dim:ident $(of $length:ident)?),*] $parameters:tt
            threads $threads:expr, shared $shared:expr, rows $rows:literal, blocks $blocks:expr, body $body:expr;
    )*) => {
        $( launchers!(@one $(#[$meta])* $name [$($dim $(of $length)?),*] [$($dim)*] $parameters $threads, $shared, $rows, $blocks); )*

        /// The kernels on a device.
        #[derive(Clone, Debug)]
        pub struct Kernels {
            $( $(#[$meta])* pub $name: $name, )*
        }

        impl Kernels {
            /// What each of them takes.
            pub const SIGNATURES: &'static [Signature] = &[$( $name::SIGNATURE ),*];

            /// Loads them. The driver compiles their PTX for its device, once per machine: it keeps what it made.
            ///
            /// # Errors
            /// [`Error::NoRustKernels`] for a device before compute capability 8.0; what the driver refuses.
            pub fn load(device: Device) -> Result<Kernels, Error> {
                let module = device.load(&super::image(device)?)?;
                Ok(Kernels { $( $name: $name { function: module.function(stringify!($name))? } ),* })
            }
        }
    };
    (@one $(#[$meta:meta])* $name:ident $sizes:tt [$($dim:ident)*]
        ($($parameter:ident: $kind:ident $t:ident $([$($over:ident),*])?),*)
        $threads:expr, $shared:expr, $rows:literal, $blocks:expr
    ) => {
        $(#[$meta])*
        #[allow(non_camel_case_types, reason = "a kernel is a function")]
        #[derive(Clone, Debug)]
        pub struct $name {
            function: Function,
        }

        impl $name {
            /// What it takes.
            pub const SIGNATURE: Signature = Signature {
                kernel: stringify!($name),
                dims: &[$(stringify!($dim)),*],
                rows: $rows,
                parameters: &[$(declared!($parameter $kind $t $([$($over),*])?)),*],
            };

            /// The loaded code: registers, occupancy.
            pub fn function(&self) -> &Function {
                &self.function
            }

            launch!($sizes ($($parameter: $kind $t $([$($over),*])?),*));

            #[allow(non_snake_case, reason = "a size is named after its dimension")]
            fn queue(
                &self,
                stream: &Stream,
                sizes: [i64; [$(stringify!($dim)),*].len()],
                given: &[Argument<'_>],
            ) -> Result<(), Error> {
                Self::SIGNATURE.check(self.function.device(), &sizes, given)?;
                let [$($dim),*] = sizes;
                let Some(blocks) = Self::SIGNATURE.grid(($blocks)($($dim),*))? else { return Ok(()) };
                let config = LaunchConfig { shared_bytes: $shared, ..LaunchConfig::linear(blocks, $threads as u32) };
                stream.in_order(given, || raw::launch_declared(&self.function, stream, &config, &sizes, given))
            }
        }
    };
}
tilewright_gpu_kernels::kernels!(launchers);
