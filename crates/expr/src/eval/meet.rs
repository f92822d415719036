//! Values that go to computed places of a result, or not at all.
//!
//! Threads take turns at a result; where its places are few each has a table of its own, whose values meet the result's at the
//! end.

use super::lanes::{Arg, Lane, fill, values};
use super::raw::Target;
use super::worker::Worker;
use crate::arith::Arith;
use crate::dtype::DType;
use crate::fold::with_type;
use crate::program::{Inst, PartialStore, Store};
use crate::scatter::Collision;

/// A value that goes nowhere.
pub(super) const NOWHERE: usize = usize::MAX;
/// Most elements of a result that threads have tables for.
const FEW: usize = 4096;

/// One thread's table of a result.
pub(super) struct Own<'a> {
    target: &'a Target<'a>,
    collision: Collision,
    words: Vec<u64>,
}

impl<'a> Own<'a> {
    fn new(target: &'a Target<'a>, collision: Collision) -> Own<'a> {
        let mut words = vec![0; (target.len() * target.dtype().size()).div_ceil(8)];
        fill(&mut words, collision.identity(target.dtype()), target.len());
        Own { target, collision, words }
    }
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        let places: Vec<usize> = (0..self.target.len()).collect();
        self.target.meet(self.collision, &places, Arg::Block(&self.words));
    }
}

/// Lets values meet what stands at their places of `memory`, which has values of `dtype`.
pub(super) fn meet((collision, dtype): (Collision, DType), memory: &mut [u8], places: &[usize], value: Arg<'_>) {
    with_type!(dtype, T => meet_as::<T>(collision, bytemuck::cast_slice_mut(memory), places, value));
}

fn meet_as<T: Lane + Arith>(collision: Collision, memory: &mut [T::Rep], places: &[usize], value: Arg<'_>) {
    match collision {
        Collision::Sum => each::<T>(memory, places, value, |a, b| a.add(b)),
        Collision::Min => each::<T>(memory, places, value, |a, b| a.minimum(b)),
        Collision::Max => each::<T>(memory, places, value, |a, b| a.maximum(b)),
        Collision::And => each::<T>(memory, places, value, |a, b| a.and(b)),
        Collision::Or => each::<T>(memory, places, value, |a, b| a.or(b)),
        Collision::Xor => each::<T>(memory, places, value, |a, b| a.xor(b)),
        Collision::Unique => each::<T>(memory, places, value, |_, b| b),
    }
}

fn each<T: Lane>(memory: &mut [T::Rep], places: &[usize], value: Arg<'_>, both: impl Fn(T, T) -> T) {
    let mut at = |place: usize, value: T| {
        if place != NOWHERE {
            memory[place] = both(T::val(memory[place]), value).rep();
        }
    };
    match value {
        Arg::Block(block) => {
            places.iter().zip(values::<T>(block, places.len())).for_each(|(place, v)| at(*place, T::val(*v)));
        }
        Arg::Uniform(bits) => places.iter().for_each(|place| at(*place, T::from_bits64(bits))),
    }
}

impl<'a> Worker<'a> {
    /// Stores `n` points of a block where their places are computed, or where a condition holds.
    pub(super) fn store_partial(&mut self, store: &Store, partial: PartialStore, start: usize, n: usize) {
        let places = self.places(store, start, n);
        let (output, schedule) = (usize::from(store.output), self.schedule);
        let value = match schedule.slot_of[store.value.0 as usize] {
            Some(slot) => Arg::Block(&self.blocks[slot]),
            None => Arg::Uniform(self.scalars[store.value.0 as usize]),
        };
        let target = &self.targets[output];
        if !partial.computed {
            return target.write_some(&places, value);
        }
        if partial.collision == Collision::Unique {
            return target.place(&places, value);
        }
        if target.len() > FEW {
            return target.meet(partial.collision, &places, value);
        }
        if self.own.len() <= output {
            self.own.resize_with(output + 1, || None);
        }
        let own = self.own[output].get_or_insert_with(|| Own::new(target, partial.collision));
        let bytes = &mut bytemuck::cast_slice_mut(&mut own.words)[..target.len() * target.dtype().size()];
        meet((partial.collision, target.dtype()), bytes, &places, value);
    }

    /// The element of the result for each point.
    fn places(&self, store: &Store, start: usize, n: usize) -> Vec<usize> {
        let (schedule, inner) = (self.schedule, self.plan.world.len().wrapping_sub(1));
        let slot = &self.plan.outputs[usize::from(store.output)];
        let (mut base, mut step) = (slot.origin(), 0);
        let mut moving: Vec<(&[i32], i64)> = Vec::new();
        for (a, i) in slot.axes.iter().zip(&store.index) {
            match (schedule.program.inst(*i), schedule.slot_of[i.0 as usize]) {
                (Inst::Coord(d), _) if usize::from(*d) == inner => {
                    base += a.axis.stride * start as i64;
                    step += a.axis.stride;
                }
                (_, Some(slot)) => moving.push((values::<i32>(&self.blocks[slot], n), a.axis.stride)),
                (_, None) => base += a.axis.stride * self.index(*i),
            }
        }
        let condition = store.condition().map(|c| match schedule.slot_of[c.0 as usize] {
            Some(slot) => (Some(values::<bool>(&self.blocks[slot], n)), true),
            None => (None, self.scalars[c.0 as usize] & 1 == 1),
        });
        let holds = |i: usize| condition.is_none_or(|(each, all)| each.map_or(all, |each| each[i] != 0));
        let at = |i: usize| {
            let moved: i64 = moving.iter().map(|(index, stride)| i64::from(index[i]) * stride).sum();
            (base + step * i as i64 + moved) as usize
        };
        (0..n).map(|i| if holds(i) { at(i) } else { NOWHERE }).collect()
    }
}
