//! Who watches the operations of a device.

use super::Device;
use crate::stream::{Cancel, Control, Verify};
use std::sync::Arc;

/// What a [`Control`] is to one operation, for all operations of a device.
#[derive(Clone, Default)]
pub(super) struct Watched {
    cancel: Option<Cancel>,
    progress: Option<Arc<dyn Fn(u64, u64) + Send + Sync>>,
    verify: Option<Verify>,
}

impl Watched {
    /// The same, which tells nobody how far it is.
    pub(super) fn quiet(&self) -> Watched {
        Watched { progress: None, ..self.clone() }
    }

    pub(super) fn control(&self) -> Control<'_> {
        Control {
            cancel: self.cancel.as_ref(),
            progress: self.progress.as_deref().map(|it| it as _),
            verify: self.verify,
        }
    }
}

impl Device {
    /// With operations that somebody may stop: what is streamed, or done in parts, ends within one step, as
    /// [`Error::Cancelled`](crate::Error::Cancelled), and so does what has not begun; what one library call does is not stopped in it. What that operation was to write is as it was then, but for products of a batch that were done before, and no memory is kept.
    ///
    /// ```
    /// use ndarray::array;
    /// use tilewright_hybrid::{Class, Device, stream::Cancel};
    ///
    /// let (cancel, a) = (Cancel::new(), array![[2.0]]);
    /// let device = Device::auto().cancelled_by(&cancel);
    /// assert_eq!(device.inverse((&a).into())?, array![[0.5]]);
    /// cancel.cancel();
    /// assert_eq!(device.inverse((&a).into()).unwrap_err().class(), Class::Cancelled);
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    #[must_use]
    pub fn cancelled_by(mut self, cancel: &Cancel) -> Device {
        self.watched.cancel = Some(cancel.clone());
        self
    }

    /// With operations that tell how far they are: steps done, and steps of the whole. Steps are tiles, panels and bands of what
    /// is streamed or larger than host memory, and products of a batch that are made one after the other; all else is one step. What is begun anew, with smaller
    /// tiles say, counts anew; a [`Meter`](crate::stream::Meter) knows.
    #[must_use]
    pub fn telling(mut self, progress: impl Fn(u64, u64) + Send + Sync + 'static) -> Device {
        self.watched.progress = Some(Arc::new(progress));
        self
    }

    /// With products that are checked where they are streamed, before anything of `c` is changed: what is not the product is
    /// [`Error::WrongProduct`](crate::Error::WrongProduct). Of emulated f64 nothing streamed is checked, and asked for both it is
    /// [`Error::Unsupported`](crate::Error::Unsupported). Products that are rounded after they were streamed, of halves and of f32 with sums in f64, are not
    /// checked either: the CPU computes them, and who asked for the GPU gets [`Error::Unsupported`](crate::Error::Unsupported). Of bits, counts are checked
    /// ([`bit_counts`](Device::bit_counts)), and what becomes of them is not.
    ///
    /// Solutions and inverses ([`solve`](Device::solve), [`inverse`](Device::inverse), [`solve_into`](Device::solve_into)) are checked wherever they are made, by
    /// their residuals ([`Verify::check_solution`]), unless something of them lies on a GPU, or is wanted there: a wrong one is
    /// [`Error::WrongSolution`](crate::Error::WrongSolution), and nothing is changed. What is asked of kept factors is not checked: they have no matrix.
    ///
    /// What was checked says so ([`Outcome::checked`](crate::dispatch::Outcome)).
    #[must_use]
    pub fn verifying(mut self, verify: Verify) -> Device {
        self.watched.verify = Some(verify);
        self
    }
}
