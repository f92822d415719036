//! What a kernel is given, described so that it can be checked: types, sizes, places.

use std::any::TypeId;

use bytemuck::{NoUninit, Pod};

use crate::{DeviceBuffer, Error, Stream};

/// What a kernel is given for one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// The type of the value, or of an element in memory.
    pub element: ElementType,
    /// The value, or where the elements are.
    pub given: Given<'a>,
}

impl<'a> Argument<'a> {
    /// The stream on which memory is given back.
    pub fn stream(&self) -> Option<&'a Stream> {
        match &self.given {
            Given::Memory(memory) => memory.stream,
            Given::Value(_) => None,
        }
    }
}

impl Stream {
    /// Runs `launch`, which queues work on this stream that uses `given`. Memory of other streams: this one waits for what is queued
    /// there, and they for the work, also with giving the memory back.
    ///
    /// # Errors
    /// Those of `launch`, and of the driver.
    pub fn in_order<E: From<Error>>(
        &self,
        given: &[Argument<'_>],
        launch: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let homes = || given.iter().filter_map(Argument::stream).filter(|home| home.handle() != self.handle());
        for home in homes() {
            self.wait(&home.mark()?)?;
        }
        launch()?;
        if homes().next().is_none() {
            return Ok(());
        }
        let ordered = self.mark().and_then(|done| homes().try_for_each(|home| home.wait(&done)));
        // Without the order nothing may go on before the work has ended.
        ordered.or_else(|_| self.synchronize()).map_err(E::from)
    }
}

/// A Rust type as it is compared with one of CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// Its identity.
    pub id: TypeId,
    /// Its name, with the path of its module.
    pub name: &'static str,
    /// Bytes of one.
    pub bytes: usize,
}

impl ElementType {
    /// This type.
    pub fn of<T: 'static>() -> ElementType {
        ElementType { id: TypeId::of::<T>(), name: std::any::type_name::<T>(), bytes: size_of::<T>() }
    }

    /// Whether it is this type.
    pub fn is<T: 'static>(&self) -> bool {
        self.id == TypeId::of::<T>()
    }
}

/// A value, or memory.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// The bytes of a value.
    Value(&'a [u8]),
    /// Elements in memory.
    Memory(Memory<'a>),
}

/// Elements in memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// Of the first element. 0 where there is none, and in host memory.
    pub address: u64,
    /// Elements from the first one to the end of the memory.
    pub len: usize,
    /// What the kernel may do with them.
    pub access: Access,
    /// The device's number; `None` for host memory.
    pub device: Option<usize>,
    /// The stream on which the memory is given back.
    pub stream: Option<&'a Stream>,
    /// Which element is where.
    pub shape: Shape,
}

/// What a kernel may do with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read.
    Read,
    /// Read and write.
    Write,
    /// It was given to be written, but others have it too (a clone, a view).
    Shared,
}

/// Which element is where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A row of elements: any layout that fits is meant.
    Flat,
    /// Named axes, outermost first.
    Axes(Axes),
}

/// Most axes of an argument.
pub const MOST_AXES: usize = 8;

/// Named axes in place; entries behind the last name mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// The dimensions' names, at most [`MOST_AXES`].
    pub names: &'static [&'static str],
    /// Their lengths.
    pub extents: [i64; MOST_AXES],
    /// Elements from one index to the next.
    pub strides: [i64; MOST_AXES],
}

impl Axes {
    /// Name, length and stride of each axis.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, i64, i64)> + '_ {
        let sizes = self.extents.iter().zip(&self.strides);
        self.names.iter().zip(sizes).map(|(name, (extent, stride))| (*name, *extent, *stride))
    }
}

/// What can stand for a parameter of a kernel: a number, a plain struct, `&buffer` to read, `&mut buffer` to write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a kernel",
    note = "give numbers and `bytemuck::NoUninit` structs by value, memory as `&x` (to read) or `&mut y` (to write)"
)]
pub trait IntoArgument {
    /// Its description.
    fn argument(&mut self) -> Argument<'_>;
}

impl<V: NoUninit> IntoArgument for V {
    fn argument(&mut self) -> Argument<'_> {
        Argument { element: ElementType::of::<V>(), given: Given::Value(bytemuck::bytes_of(self)) }
    }
}

impl<T: Pod> IntoArgument for &DeviceBuffer<T> {
    fn argument(&mut self) -> Argument<'_> {
        buffer(self, Access::Read)
    }
}

impl<T: Pod> IntoArgument for &mut DeviceBuffer<T> {
    fn argument(&mut self) -> Argument<'_> {
        buffer(self, Access::Write)
    }
}

fn buffer<T: Pod>(buffer: &DeviceBuffer<T>, access: Access) -> Argument<'_> {
    let memory = Memory {
        address: buffer.device_ptr(),
        len: buffer.len(),
        access,
        device: Some(buffer.device().ordinal()),
        stream: Some(buffer.stream()),
        shape: Shape::Flat,
    };
    Argument { element: ElementType::of::<T>(), given: Given::Memory(memory) }
}

macro_rules! tuples {
    ($($T:ident)*) => { tuples!(@ [] $($T)*); };
    (@ [$($T:ident)*]) => { tuples!(= $($T)*); };
    (@ [$($T:ident)*] $Next:ident $($rest:ident)*) => {
        tuples!(= $($T)*);
        tuples!(@ [$($T)* $Next] $($rest)*);
    };
    (= $($T:ident)*) => {
        impl<$($T: IntoArgument),*> Arguments for ($($T,)*) {
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn describe<R>(mut self, f: impl FnOnce(&[Argument<'_>]) -> R) -> R {
                let ($($T,)*) = &mut self;
                f(&[$($T.argument()),*])
            }
        }
    };
}

/// A kernel's arguments in its order: a tuple of up to 16.
pub trait Arguments {
    /// Calls `f` with the description of each.
    fn describe<R>(self, f: impl FnOnce(&[Argument<'_>]) -> R) -> R;
}

tuples!(A B C D E F G H I J K L M N O P);
