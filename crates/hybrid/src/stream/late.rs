//! A device for tests, that does everything as late as it may, or in any order that queues and marks allow.

use super::engine::{Engine, Form, Multiplication, Multiplier, Queue};
use super::matmul::Traffic;
use crate::linear::Scalar;
use crate::{Complex32, Complex64, Error};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// When work is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// When somebody waits for it.
    Late,
    /// Then, or earlier: what is done earlier follows from a seed.
    Random(u64),
    /// At once in this queue, in the others when somebody waits for it.
    Ahead(Queue),
}

/// Memory, as work in queues knows it.
pub(super) struct Memory<T = f64>(Arc<Cells<T>>);

struct Cells<T> {
    values: Mutex<Vec<T>>,
    is_free: AtomicBool,
}

impl<T> Memory<T> {
    fn new(values: Vec<T>) -> Self {
        Memory(Arc::new(Cells { values: Mutex::new(values), is_free: AtomicBool::new(false) }))
    }

    /// Its values, for work that is done now.
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        assert!(!self.0.is_free.load(Ordering::Relaxed), "work that is queued uses memory that was given back");
        self.0.values.lock().unwrap()
    }
}

impl<T> Clone for Memory<T> {
    fn clone(&self) -> Self {
        Memory(self.0.clone())
    }
}

/// Memory, as whoever asked for it has it.
pub(super) struct Buffer<T = f64>(Memory<T>);

impl<T> Deref for Buffer<T> {
    type Target = Memory<T>;

    fn deref(&self) -> &Memory<T> {
        &self.0
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.0.0.is_free.store(true, Ordering::Relaxed);
    }
}

/// A type whose memory is full of a value that is noticed, until something is written there.
pub(super) trait Poisoned: Copy + Send + Sync + 'static {
    const POISON: Self;
}

impl Poisoned for f64 {
    const POISON: f64 = f64::NAN;
}

impl Poisoned for f32 {
    const POISON: f32 = f32::NAN;
}

impl Poisoned for Complex32 {
    const POISON: Complex32 = Complex32::new(f32::NAN, f32::NAN);
}

impl Poisoned for Complex64 {
    const POISON: Complex64 = Complex64::new(f64::NAN, f64::NAN);
}

impl Poisoned for u8 {
    const POISON: u8 = 0xff;
}

impl Poisoned for u32 {
    const POISON: u32 = u32::MAX;
}

/// Work in a queue: what has to come before it, and itself until it is done.
struct Work {
    before: Vec<usize>,
    action: Option<Box<dyn FnOnce() + Send>>,
}

#[derive(Default)]
struct Queues {
    work: Vec<Work>,
    /// The last of each queue, and what its next has to wait for.
    last: [Option<usize>; 3],
    awaited: [Vec<usize>; 3],
}

impl Queues {
    fn run(&mut self, work: usize) {
        let mut stack = vec![work];
        while let Some(top) = stack.last().copied() {
            let open = |it: &usize| self.work[*it].action.is_some();
            match self.work[top].before.iter().copied().find(open) {
                Some(before) => stack.push(before),
                None => {
                    if let Some(action) = self.work[top].action.take() {
                        action();
                    }
                    stack.pop();
                }
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Counts {
    /// Elements of all buffers of the device.
    pub(super) device: usize,
    pub(super) brought: usize,
    pub(super) taken_back: usize,
}

pub(super) struct Device {
    queues: Arc<Mutex<Queues>>,
    order: Order,
    random: Mutex<u64>,
    /// Whether marks are heeded: a device that does not shows what they are for.
    pub(super) heeds_marks: bool,
    /// A product, and an element of its tile that comes out wrong: for what that is noticed by.
    pub(super) spoils: Option<(usize, usize)>,
    multiplied: AtomicUsize,
    pub(super) counts: Mutex<Counts>,
}

pub(super) struct Host<T = f64> {
    values: Vec<T>,
    queues: Arc<Mutex<Queues>>,
    /// A copy that comes here.
    coming: Option<(usize, Memory<T>)>,
    come: OnceLock<Vec<T>>,
}

impl Device {
    pub(super) fn new(order: Order) -> Device {
        let random = Mutex::new(if let Order::Random(seed) = order { seed } else { 0 });
        let (queues, counts, multiplied) = (Arc::default(), Mutex::default(), AtomicUsize::new(0));
        Device { queues, order, random, heeds_marks: true, spoils: None, multiplied, counts }
    }

    /// That it has copied what a run of f64 says, and has had the memory that the plan does.
    pub(super) fn assert_copied(&self, traffic: Traffic, device_bytes: u128) {
        let Counts { device, brought, taken_back } = *self.counts.lock().unwrap();
        assert_eq!([traffic.to_gpu, traffic.to_host], [brought, taken_back].map(|it| 8 * it as u64));
        assert_eq!(8 * device as u128, device_bytes);
    }

    pub(super) fn queue(&self, queue: Queue, action: impl FnOnce() + Send + 'static) -> usize {
        let mut queues = self.queues.lock().unwrap();
        let own = queue as usize;
        let mut before = std::mem::take(&mut queues.awaited[own]);
        before.extend(queues.last[own]);
        queues.work.push(Work { before, action: Some(Box::new(action)) });
        let number = queues.work.len() - 1;
        queues.last[own] = Some(number);
        if self.order == Order::Ahead(queue) {
            queues.run(number);
        }
        self.run_some(&mut queues);
        number
    }

    /// Does a piece of work, and what has to come before it, now.
    pub(super) fn run_now(&self, number: usize) {
        self.queues.lock().unwrap().run(number);
    }

    fn run_some(&self, queues: &mut MutexGuard<'_, Queues>) {
        let Order::Random(_) = self.order else { return };
        let mut random = self.random.lock().unwrap();
        for _ in 0..2 {
            *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (*random >> 33) as usize % (2 * queues.work.len());
            if number < queues.work.len() {
                queues.run(number);
            }
        }
    }
}

impl<T: Poisoned> Engine<T> for Device {
    type Host = Host<T>;
    type Buffer = Buffer<T>;
    type Mark = Option<usize>;

    fn host(&self, elements: usize, _: bool) -> Result<Host<T>, Error> {
        let values = vec![T::POISON; elements];
        Ok(Host { values, queues: self.queues.clone(), coming: None, come: OnceLock::new() })
    }

    fn buffer(&self, elements: usize) -> Result<Buffer<T>, Error> {
        self.counts.lock().unwrap().device += elements;
        Ok(Buffer(Memory::new(vec![T::POISON; elements])))
    }

    fn bring(&self, from: &Host<T>, elements: usize, to: &mut Buffer<T>, at: usize) -> Result<(), Error> {
        self.counts.lock().unwrap().brought += elements;
        // Nobody changes it before the copy: looking into it would wait.
        let (values, to) = (from[..elements].to_vec(), Memory::clone(to));
        self.queue(Queue::In, move || to.lock()[at..at + values.len()].copy_from_slice(&values));
        Ok(())
    }

    fn take_back(&self, from: &Buffer<T>, at: usize, elements: usize, to: &mut Host<T>) -> Result<(), Error> {
        self.counts.lock().unwrap().taken_back += elements;
        let (from, landed) = (Memory::clone(from), Memory::new(Vec::new()));
        let target = landed.clone();
        let number = self.queue(Queue::Out, move || *target.lock() = from.lock()[at..at + elements].to_vec());
        (to.coming, to.come) = (Some((number, landed)), OnceLock::new());
        Ok(())
    }

    fn mark(&self, queue: Queue) -> Result<Option<usize>, Error> {
        Ok(self.queues.lock().unwrap().last[queue as usize])
    }

    fn wait(&self, queue: Queue, mark: &Option<usize>) -> Result<(), Error> {
        if self.heeds_marks {
            self.queues.lock().unwrap().awaited[queue as usize].extend(*mark);
        }
        Ok(())
    }

    fn finish(&self) {
        let mut queues = self.queues.lock().unwrap();
        for number in 0..queues.work.len() {
            queues.run(number);
        }
    }
}

impl<T: Scalar + Poisoned> Multiplier<T> for Device {
    fn multiply(&self, what: &Multiplication<T>, [a, b]: [&Buffer<T>; 2], c: &mut Buffer<T>) -> Result<(), Error> {
        let (what, [a, b, c]) = (*what, [a, b, &*c].map(|buffer| Memory::clone(buffer)));
        let number = self.multiplied.fetch_add(1, Ordering::Relaxed);
        let spoiled = self.spoils.filter(|(product, _)| *product == number).map(|(_, element)| element);
        self.queue(Queue::Compute, move || {
            let mut c = c.lock();
            multiply(&what, &a.lock(), &b.lock(), &mut c);
            if let Some(element) = spoiled {
                let near = c[element].wide();
                c[element] = T::nearest(near + 0.25);
            }
        });
        Ok(())
    }
}

impl<T: Poisoned> Deref for Host<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let Some((number, landed)) = &self.coming else { return &self.values };
        self.come.get_or_init(|| {
            self.queues.lock().unwrap().run(*number);
            let mut values = self.values.clone();
            let landed = landed.lock();
            values[..landed.len()].copy_from_slice(&landed);
            values
        })
    }
}

impl<T: Poisoned> DerefMut for Host<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.coming.is_some() {
            self.values = self.to_vec();
            self.coming = None;
        }
        &mut self.values
    }
}

fn multiply<T: Scalar>(what: &Multiplication<T>, a: &[T], b: &[T], c: &mut [T]) {
    let Multiplication { rows, first, part, count, columns, depth, forms, alpha, beta } = *what;
    let factor = |form: Form, values: &[T], [row, column]: [usize; 2], [rows, columns]: [usize; 2]| match form {
        Form::Plain => values[row * columns + column],
        Form::Transposed => values[column * rows + row],
        Form::Adjoint => values[column * rows + row].conjugate(),
    };
    for i in first..first + part * count {
        let b = &b[(i - first) / part * depth * columns..];
        for j in 0..columns {
            let sum = (0..depth).fold(T::ZERO, |sum, k| {
                let (a, b) =
                    (factor(forms[0], a, [i, k], [rows, depth]), factor(forms[1], b, [k, j], [depth, columns]));
                T::nearest(sum.wide() + a.wide() * b.wide())
            });
            let c = &mut c[i * columns + j];
            let added = if beta == T::ZERO { Complex64::default() } else { beta.wide() * c.wide() };
            *c = T::nearest(alpha.wide() * sum.wide() + added);
        }
    }
}
