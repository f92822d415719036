//! What a plan stores, from its text.

use super::lex::{Line, Parsed, mistake};
use super::literal;
use super::names::{COLLISIONS, one_of};
use super::read::Reader;
use crate::bind::MAX_RANK;
use crate::dtype::DType;
use crate::graph::{DimId, NodeId, Output};
use crate::join::{Join, MAX_PARTS};
use crate::scatter::{Collision, Initial, Partial, Place, inner};

impl Reader<'_> {
    pub(super) fn store_line(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let node = self.closed(line)?;
        let at = line.last();
        let dims = self.layout(line)?;
        self.stores_exactly(at, &self.dims_of(node), &dims)?;
        self.graph.outputs.push(Output { node, dims: dims.into() });
        Ok(())
    }

    fn dims_of(&self, node: NodeId) -> Vec<DimId> {
        self.graph.node(node).shape.iter().map(|(d, _)| *d).collect()
    }

    /// Reads the dimensions of a result.
    fn layout(&self, line: &mut Line<'_>) -> Parsed<Vec<DimId>> {
        let dims = self.dims.list(line)?;
        if dims.len() > MAX_RANK {
            return line.refuse(format!("{} dimensions are too many, the most is {MAX_RANK}", dims.len()));
        }
        Ok(dims)
    }

    fn stores_exactly(&self, at: usize, has: &[DimId], stored: &[DimId]) -> Parsed<()> {
        let name = |dim: &DimId| self.dims.label(*dim).to_string();
        if let Some(dim) = has.iter().find(|d| !stored.contains(d)) {
            return mistake(at, format!("the stored layout lacks dimension `{}`; `reduce` it, or store it", name(dim)));
        }
        if let Some(dim) = stored.iter().find(|d| !has.contains(d)) {
            return mistake(at, format!("the stored layout has dimension `{}`, which the value lacks", name(dim)));
        }
        Ok(())
    }

    pub(super) fn scatter_line(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let value = self.closed(line)?;
        let (at, dtype) = (line.last(), self.graph.node(value).dtype);
        let shown = self.layout(line)?;
        let places = line.list(|line| self.place(line))?;
        let collision = one_of(line, "collision", &COLLISIONS)?;
        if !collision.takes(dtype) {
            let error = crate::Error::Collision { collision: collision.name(), dtype };
            return line.refuse(error);
        }
        let initial = self.initial(line, dtype)?;
        let condition = if line.word_if("if")? { Some(self.closed(line)?) } else { None };
        if condition.is_some_and(|c| self.graph.node(c).dtype != DType::Bool) {
            return line.refuse("the condition of a store is a bool");
        }
        let general = if line.word_if("else")? { Some(self.general(line, dtype, &shown)?) } else { None };
        for (i, place) in places.iter().enumerate() {
            if !shown.iter().any(|d| inner(*d) == place.dim) || places[..i].iter().any(|p| p.dim == place.dim) {
                return mistake(at, "each place is along a dimension of the result, and along another one");
            }
        }
        for dim in shown.iter().filter(|d| places.iter().any(|p| p.dim == inner(**d))) {
            let name = self.graph.dim_name(*dim);
            self.graph.name_dim(inner(*dim), name);
        }
        let partial = Partial {
            shown: shown.clone().into(),
            places: places.into(),
            condition,
            collision,
            initial,
            world: Box::default(),
            general,
        };
        self.graph.store_partial(value, partial);
        self.checks.note(&self.graph).or_else(|message| mistake(at, message))?;
        let Some(partial) = self.graph.partial(self.graph.outputs.len() - 1) else { return Ok(()) };
        let world: Vec<DimId> = partial.world.iter().map(|(d, _)| *d).collect();
        if world.len() > MAX_RANK {
            return mistake(at, format!("values vary along {} dimensions, the most is {MAX_RANK}", world.len()));
        }
        if let Some(dim) = shown.iter().find(|d| partial.keeps(**d) && !world.contains(d)) {
            return mistake(
                at,
                format!("the stored layout has dimension `{}`, which the value lacks", self.dims.label(*dim)),
            );
        }
        // Only computed places can be met: a value of a dimension that the result lacks would have none of its own.
        if partial.places.is_empty() && collision == Collision::Unique {
            self.stores_exactly(at, &world, &shown)?;
        }
        Ok(())
    }

    fn place(&self, line: &mut Line<'_>) -> Parsed<Place> {
        let dim = inner(self.dims.read(line)?);
        line.sign('=')?;
        let coord = self.closed(line)?;
        if self.graph.node(coord).dtype != DType::I32 {
            return line.refuse(format!("a place is of i32, not of {}", self.graph.node(coord).dtype));
        }
        Ok(Place { dim, coord, extent: line.integer("the length of a result", (1, i32::MAX.into()))? })
    }

    fn initial(&self, line: &mut Line<'_>, dtype: DType) -> Parsed<Initial> {
        match line.word("`filled` or `held`")? {
            "filled" => Ok(Initial::Filled(literal::read(line, dtype)?)),
            "held" => Ok(Initial::Held(literal::read(line, dtype)?)),
            other => line.refuse(format!("places are `filled` with a value, or `held` what they hold, not `{other}`")),
        }
    }

    /// Reads a node that is a whole result.
    fn general(&self, line: &mut Line<'_>, dtype: DType, shown: &[DimId]) -> Parsed<NodeId> {
        let node = self.closed(line)?;
        if self.graph.node(node).dtype != dtype {
            return line
                .refuse(format!("this result is of {}, the values are of {dtype}", self.graph.node(node).dtype));
        }
        self.stores_exactly(line.last(), &self.dims_of(node), shown)?;
        Ok(node)
    }

    pub(super) fn join_line(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let along = self.dims.read(line)?;
        let at = line.last();
        let dims = self.layout(line)?;
        let outputs = self.graph.outputs.len() as i64;
        let start = line.integer("the first part", (0, outputs))? as usize;
        let end = line.integer("the end of the parts", (start as i64, outputs))? as usize;
        let taken = self.graph.joins.iter().any(|j| j.outputs.start < end && start < j.outputs.end);
        if !(1..=MAX_PARTS).contains(&(end - start)) || taken || !dims.contains(&along) {
            let wrong = format!(
                "a result has 1 to {MAX_PARTS} parts, each in no other, and the dimension that they follow along"
            );
            return mistake(at, wrong);
        }
        for number in start..end {
            let output = &self.graph.outputs[number];
            let whole = output.dims.contains(&along);
            let expected: Vec<DimId> = dims.iter().copied().filter(|d| whole || *d != along).collect();
            let types = [number, start].map(|n| self.graph.node(self.graph.outputs[n].node).dtype);
            if *output.dims != *expected || self.graph.partial(number).is_some() || types[0] != types[1] {
                return mistake(
                    at,
                    format!(
                        "output {number} is no part of this result: parts have its dimensions, in order, and one type"
                    ),
                );
            }
        }
        self.graph.joins.push(Join { outputs: start..end, along, dims: dims.into() });
        Ok(())
    }
}
