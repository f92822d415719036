//! Stores that do not always happen, or whose place is computed: by operations of the memory where values may meet.

mod private;
mod under;

use super::access::groups;
use super::body::Body;
use super::text::literal;
use crate::bind::Axis;
use crate::dtype::DType;
use crate::graph::Graph;
use crate::program::{PartialStore, Store, Val};
use crate::scatter::{Collision, Private};
pub(super) use private::write;

/// The header that these need, if any of the graph's do.
pub(super) fn header(graph: &Graph) -> Option<&'static str> {
    graph.partials.values().any(|p| p.collision.operation().is_some()).then_some("scatter")
}

/// What lets a value meet what stands at a place.
fn meeting(collision: Collision, place: &str, value: &str) -> String {
    format!("tw::scattered::meet(tw::scattered::{}{{}}, {place}, {value})", collision.name())
}

/// What a statement stands behind, if all of these are to hold.
fn guard(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!("if ({}) ", conditions.join(" && ")) }
}

impl Body<'_> {
    /// The program's stores of this kind.
    pub(super) fn partial_stores(&mut self) {
        let program = self.program;
        for (number, store) in program.stored().iter().enumerate() {
            if let Some(partial) = store.partial.filter(|p| p.computed) {
                self.scattered((number, store), partial);
            }
        }
        (0..self.plan.outputs.len()).for_each(|output| self.stores_under_conditions(output));
    }

    /// A store to a computed place.
    fn scattered(&mut self, (number, store): (usize, &Store), partial: PartialStore) {
        let place = match &self.plan.private {
            Some(private) => self.table_place(store, private),
            None => self.result_place(number, store),
        };
        let mut value = self.use_of(store.value);
        let text = match (&self.plan.private, partial.collision) {
            (_, Collision::Unique) => format!("tw::arch::store<false>({place}, {value})"),
            (private, collision) => {
                let kind = private.as_ref().map(|p| p.dtype).filter(|d| *d != self.program.dtype(store.value));
                if let Some(kind) = kind {
                    value = format!("({}){value}", kind.cuda());
                }
                meeting(collision, &place, &value)
            }
        };
        let mut conditions = self.at_zero(store);
        conditions.extend(store.condition().map(|c| self.use_of(c)));
        self.line(format_args!("{}{text}", guard(&conditions)));
    }

    /// The comparisons that hold at the one point of loops that the result lacks.
    fn at_zero(&self, store: &Store) -> Vec<String> {
        store.only_at_zero.iter().map(|d| format!("{} == 0", self.names.coord(usize::from(*d)))).collect()
    }

    /// The address of an element of the result. Outside of it nothing is done with the address.
    fn result_place(&mut self, number: usize, store: &Store) -> String {
        let (plan, output) = (self.plan, usize::from(store.output));
        let slot = &plan.outputs[output];
        let group = groups(self.program, plan, (output, slot), [(number, 0u8, &store.index[..])].into_iter()).remove(0);
        let pointer = self.pointer(&group, slot, &format!("out{output}"), false);
        match group.members[0].0 / slot.dtype.size() as i64 {
            0 => pointer,
            element => format!("{pointer} + {element}"),
        }
    }

    /// The address of a place of the block's table.
    fn table_place(&self, store: &Store, private: &Private) -> String {
        let mut place = String::from("table");
        for axis in private.table() {
            let slot = &self.plan.outputs[usize::from(store.output)];
            let Some(i) = slot.axes.iter().position(|a| a.axis.dim == axis.dim) else { continue };
            let index = self.index(store.index[i]);
            match axis.stride {
                1 => place += &format!(" + {index}"),
                stride => place += &format!(" + {index} * {stride}"),
            }
        }
        place
    }

    /// A coordinate, the part of which that is no literal stands in a variable.
    fn index(&self, v: Val) -> String {
        match self.program.affine(v) {
            (None, k) => k.to_string(),
            (Some(base), 0) => self.use_of(base),
            (Some(base), k) => format!("({} + {k})", self.use_of(base)),
        }
    }
}

impl Private {
    /// The table's axes, outermost first.
    fn table(&self) -> Vec<Axis> {
        let mut stride = 1;
        let mut axes: Vec<Axis> = Vec::with_capacity(self.axes.len());
        for (dim, extent) in self.axes.iter().rev() {
            axes.push(Axis { dim: *dim, extent: *extent, stride });
            stride *= extent;
        }
        axes.reverse();
        axes
    }

    /// What each place of the table holds first.
    fn identity(&self) -> String {
        literal(self.collision.identity(self.dtype))
    }
}

/// The parameter of a function that lets values meet in the block's table.
fn parameter(dtype: DType) -> String {
    format!(", {}* const table", dtype.cuda())
}
