//! A device for tests, that does everything as late as it may, or in any order that queues and marks allow.

use super::engine::{Engine, Form, Multiplication, Queue};
use crate::Error;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// When work is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// When somebody waits for it.
    Late,
    /// Then, or earlier: what is done earlier follows from a seed.
    Random(u64),
}

type Memory = Arc<Mutex<Vec<f64>>>;

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
    pub(super) counts: Mutex<Counts>,
}

pub(super) struct Host {
    values: Vec<f64>,
    queues: Arc<Mutex<Queues>>,
    /// A copy that comes here.
    coming: Option<(usize, Memory)>,
    come: OnceLock<Vec<f64>>,
}

impl Device {
    pub(super) fn new(order: Order) -> Device {
        let random = Mutex::new(if let Order::Random(seed) = order { seed } else { 0 });
        Device { queues: Arc::default(), order, random, heeds_marks: true, counts: Mutex::default() }
    }

    fn queue(&self, queue: Queue, action: impl FnOnce() + Send + 'static) -> usize {
        let mut queues = self.queues.lock().unwrap();
        let own = queue as usize;
        let mut before = std::mem::take(&mut queues.awaited[own]);
        before.extend(queues.last[own]);
        queues.work.push(Work { before, action: Some(Box::new(action)) });
        let number = queues.work.len() - 1;
        queues.last[own] = Some(number);
        self.run_some(&mut queues);
        number
    }

    fn run_some(&self, queues: &mut MutexGuard<'_, Queues>) {
        if self.order == Order::Late {
            return;
        }
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

impl Engine<f64> for Device {
    type Host = Host;
    type Buffer = Memory;
    type Mark = Option<usize>;

    fn host(&self, elements: usize) -> Result<Host, Error> {
        let values = vec![f64::NAN; elements];
        Ok(Host { values, queues: self.queues.clone(), coming: None, come: OnceLock::new() })
    }

    fn buffer(&self, elements: usize) -> Result<Memory, Error> {
        self.counts.lock().unwrap().device += elements;
        Ok(Arc::new(Mutex::new(vec![f64::NAN; elements])))
    }

    fn bring(&self, from: &Host, elements: usize, to: &mut Memory, at: usize) -> Result<(), Error> {
        self.counts.lock().unwrap().brought += elements;
        // Nobody changes it before the copy: looking into it would wait.
        let (values, to) = (from[..elements].to_vec(), to.clone());
        self.queue(Queue::In, move || to.lock().unwrap()[at..at + values.len()].copy_from_slice(&values));
        Ok(())
    }

    fn multiply(&self, what: &Multiplication<f64>, [a, b]: [&Memory; 2], c: &mut Memory) -> Result<(), Error> {
        let (what, a, b, c) = (*what, a.clone(), b.clone(), c.clone());
        self.queue(Queue::Compute, move || {
            multiply(&what, &a.lock().unwrap(), &b.lock().unwrap(), &mut c.lock().unwrap())
        });
        Ok(())
    }

    fn take_back(&self, from: &Memory, at: usize, elements: usize, to: &mut Host) -> Result<(), Error> {
        self.counts.lock().unwrap().taken_back += elements;
        let (from, landed) = (from.clone(), Memory::default());
        let target = landed.clone();
        let number =
            self.queue(Queue::Out, move || *target.lock().unwrap() = from.lock().unwrap()[at..at + elements].to_vec());
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

impl Deref for Host {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        let Some((number, landed)) = &self.coming else { return &self.values };
        self.come.get_or_init(|| {
            self.queues.lock().unwrap().run(*number);
            let mut values = self.values.clone();
            let landed = landed.lock().unwrap();
            values[..landed.len()].copy_from_slice(&landed);
            values
        })
    }
}

impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut [f64] {
        if self.coming.is_some() {
            self.values = self.to_vec();
            self.coming = None;
        }
        &mut self.values
    }
}

fn multiply(what: &Multiplication<f64>, a: &[f64], b: &[f64], c: &mut [f64]) {
    let Multiplication { rows, columns, depth, forms, alpha, beta } = *what;
    let turned = forms.map(|form| form != Form::Plain);
    for i in 0..rows {
        for j in 0..columns {
            let mut sum = 0.0;
            for k in 0..depth {
                let a = if turned[0] { a[k * rows + i] } else { a[i * depth + k] };
                let b = if turned[1] { b[j * depth + k] } else { b[k * columns + j] };
                sum += a * b;
            }
            let c = &mut c[i * columns + j];
            *c = alpha * sum + if beta == 0.0 { 0.0 } else { beta * *c };
        }
    }
}
