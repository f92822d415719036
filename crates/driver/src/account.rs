//! Who is asked before a thread takes device memory.

use crate::Error;
use std::cell::RefCell;
use std::sync::Arc;

/// Somebody who grants device memory, and learns when it is given back.
pub trait Account: Send + Sync {
    /// Grants so many bytes, or says why not ([`Error::OutOfMemory`]): then they are not taken.
    fn take(&self, bytes: u64) -> Result<(), Error>;

    /// So many bytes that were granted are not used any more. Called by whichever thread drops them.
    fn give_back(&self, bytes: u64);
}

thread_local! {
    static ASKED: RefCell<Option<Arc<dyn Account>>> = const { RefCell::new(None) };
}

/// Has this thread ask an account for all device memory that it takes in `work`: for buffers, and for what libraries want beside them. What is
/// still there afterwards is given back to it when it is dropped. What a thread within `work` starts asks nobody; neither do libraries for what
/// they take themselves.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// use tilewright_driver::{Account, Device, Error, accounted};
///
/// #[derive(Default)]
/// struct Meter(AtomicU64);
///
/// impl Account for Meter {
///     fn take(&self, bytes: u64) -> Result<(), Error> {
///         self.0.fetch_add(bytes, Ordering::Relaxed);
///         Ok(())
///     }
///     fn give_back(&self, bytes: u64) {
///         self.0.fetch_sub(bytes, Ordering::Relaxed);
///     }
/// }
///
/// let meter = Arc::new(Meter::default());
/// if let Ok(device) = Device::new(0) {
///     let stream = device.stream()?;
///     let buffer = accounted(meter.clone(), || stream.alloc::<f32>(100))?;
///     assert_eq!(meter.0.load(Ordering::Relaxed), 400);
///     drop(buffer);
/// }
/// assert_eq!(meter.0.load(Ordering::Relaxed), 0);
/// # Ok::<(), Error>(())
/// ```
pub fn accounted<R>(account: Arc<dyn Account>, work: impl FnOnce() -> R) -> R {
    let _outer = Outer(ASKED.replace(Some(account)));
    work()
}

/// Who was asked before, and is again.
struct Outer(Option<Arc<dyn Account>>);

impl Drop for Outer {
    fn drop(&mut self) {
        ASKED.set(self.0.take());
    }
}

/// What was granted to memory, for as long as it is there.
pub(crate) struct Granted(Option<(Arc<dyn Account>, u64)>);

impl Granted {
    /// So many bytes of whom this thread asks, if it asks somebody.
    pub(crate) fn ask(bytes: usize) -> Result<Self, Error> {
        let account = ASKED.with_borrow(Clone::clone);
        let bytes = bytes as u64;
        account.map(|account| account.take(bytes).map(|()| (account, bytes))).transpose().map(Self)
    }
}

impl Drop for Granted {
    fn drop(&mut self) {
        if let Some((account, bytes)) = self.0.take() {
            account.give_back(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Grants so many bytes.
    struct Limited(Mutex<u64>);

    impl Account for Limited {
        fn take(&self, bytes: u64) -> Result<(), Error> {
            let mut left = self.0.lock().unwrap();
            let refused = Error::OutOfMemory { requested: bytes as usize, free: *left as usize, total: 100 };
            *left = left.checked_sub(bytes).ok_or(refused)?;
            Ok(())
        }

        fn give_back(&self, bytes: u64) {
            *self.0.lock().unwrap() += bytes;
        }
    }

    #[test]
    fn what_is_granted_comes_back_from_any_thread() {
        let account = Arc::new(Limited(Mutex::new(100)));
        let left = || *account.0.lock().unwrap();
        let (kept, refused) = accounted(account.clone(), || (Granted::ask(60).unwrap(), Granted::ask(50)));
        assert!(matches!(refused, Err(Error::OutOfMemory { requested: 50, free: 40, .. })));
        assert_eq!(left(), 40);
        std::thread::spawn(move || drop(kept)).join().unwrap();
        assert_eq!(left(), 100);
    }

    #[test]
    fn the_innermost_is_asked_and_nobody_outside() {
        let [outer, inner] = [10, 20].map(|bytes| Arc::new(Limited(Mutex::new(bytes))));
        let left = || [&outer, &inner].map(|it| *it.0.lock().unwrap());
        let granted = accounted(outer.clone(), || {
            let unwound =
                std::panic::catch_unwind(|| accounted(inner.clone(), || panic!("{:?}", Granted::ask(30).err())));
            assert!(unwound.is_err());
            [
                accounted(inner.clone(), || Granted::ask(3)),
                Granted::ask(1),
                std::thread::scope(|scope| scope.spawn(|| Granted::ask(5)).join().unwrap()),
            ]
        });
        let nobody = Granted::ask(1000);
        assert_eq!((left(), granted.iter().all(Result::is_ok), nobody.is_ok()), ([9, 17], true, true));
    }
}
