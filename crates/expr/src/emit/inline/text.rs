//! The text of a function: one for a point, one for several neighbours.

use super::ahead::Ahead;
use super::{Inline, Refusal};
use crate::dtype::DType;
use crate::emit::body::{Body, Ordered};
use crate::emit::run::Role;
use crate::emit::schedule::Uses;
use crate::emit::{Field, Names, Params, calls, describe, lower_points};
use crate::error::Error;
use crate::graph::Graph;
use crate::plan::{Plan, SlotAxis};
use crate::program::{Inst, Program, Val};
use std::fmt::Write as _;

/// Most 32-bit words of one call that are loaded ahead, and that the L2 cache is to have.
const HELD: usize = 4;
const TOUCHED: usize = 16;
/// Most characters of a name.
const LONGEST: usize = 64;

/// A function that a kernel written by hand calls, and what it needs.
///
/// `NAME(p, coordinates.., given)` returns the value at a point. With several points at once there is one more of that name:
/// `NAME(p, coordinates.., given, made)` takes and makes arrays of as many values, at the point and its neighbours along the
/// innermost dimension, whose coordinate is a multiple of their number; both may be the same array. `given` is there if an operand
/// is. Coordinates are those of the whole problem, not of a block's tile; they are `int`, `long long` along a dimension of more than
/// 2^31 - 1 points, and addresses are computed from them in 64 bits. `p` is a `const NAME_Params&`, part of the kernel's own
/// parameters.
///
/// A kernel that knows a point before it has what it gives there can ask for what the function loads meanwhile:
/// `NAME_ahead(p, coordinates.., ahead)` fills in a `NAME_Ahead1`, or for several points at once a `NAME_Ahead`;
/// `NAME(p, coordinates.., ahead, given..)` takes it. It has as many operands in device memory as 16 bytes hold, of those that vary along more
/// than the innermost dimension and whose places are not loaded, nor follow from what is given; the rest is loaded when the function is called.
///
/// A function without a given operand can have the L2 cache read such operands of a point long before, up to 64 bytes of them:
/// `NAME_touch(p, coordinates..)`.
#[derive(Clone, Debug)]
pub struct Inlined {
    /// What people read before the source: points and operands by their own names, in comments.
    pub head: String,
    /// The parameters and the functions, a function of the graph, of [`Inline::key`] and of the name.
    pub source: String,
    /// Headers that the source is to stand behind: `NAME` of each `#include "tilewright/NAME.cuh"`.
    pub headers: Vec<&'static str>,
    /// The type of the result.
    pub dtype: DType,
    /// Whether it checks coordinates itself and needs the error words.
    pub guards: bool,
    /// Whether there is something that it can load ahead of what is given.
    pub loads_ahead: bool,
    pub(super) params: Params,
}

impl Inline {
    /// Writes the function, and its parameters `NAME_Params`. Functions with different names can stand in one source.
    ///
    /// # Errors
    /// [`Refusal::Name`], [`Refusal::Elsewhere`], and what an expression is too long for.
    pub fn emit(&self, graph: &Graph, name: &str) -> Result<Inlined, Error> {
        check_name(name)?;
        let single = Plan { lanes: 1, ..self.plan.clone() };
        let mut plans = vec![&single];
        plans.extend((self.plan.lanes > 1).then_some(&self.plan));
        let mut programs = Vec::with_capacity(plans.len());
        for plan in &plans {
            let mut program = lower_points(graph, plan, plan.lanes)?;
            let passed = self.pass(graph, &mut program)?;
            programs.push((program, passed));
        }
        let both = [Some(&programs[0].0), programs.get(1).map(|(p, _)| p)];
        let guards = any(&both, |p, v| matches!(p.inst(v), Inst::Guard { .. }));
        let names = Names::new(&self.plan);
        let mut params = Params::of(&self.plan, &both, guards, (&names, Role::Kernel), |field| self.reads(field));
        params.settle(params.sent_offset() + self.room);
        let dtype = graph.node(graph.outputs[0].node).dtype;
        let mut headers = vec!["prelude"];
        headers.extend(any(&both, |p, v| p.dtype(v).is_half()).then_some("half_value"));
        let (mut source, mut functions) = (String::new(), String::new());
        let calls = calls::define(&mut functions, both)?;
        if calls {
            headers.push("scalar");
            // Another function's may be the same ones.
            let _ = writeln!(source, "namespace {name}_calls {{{functions}}}  // namespace {name}_calls\n");
        }
        let mut loads_ahead = false;
        params.declare_as(&mut source, &format!("TW_ALIGN(16) {name}_Params"));
        for (plan, (program, passed)) in plans.into_iter().zip(&programs) {
            let of = Function { name, plan, names: &names, calls, given: self.given, dtype };
            let body = || Body::new(plan, &names, &params, program);
            let (mut before, mut body) = (body(), body());
            let Ordered { steps, loads, reuses } = body.ordered();
            let of_given = self.given.is_some();
            let ahead = Ahead::find(&body, &steps, &loads, if of_given { HELD } else { TOUCHED });
            if of_given {
                ahead.load(&mut before, &steps, &loads);
                let fields = ahead.fields(plan, &loads);
                loads_ahead |= !fields.is_empty();
                of.write_ahead(&mut source, &fields, &before.text);
                let rest = ahead.rest(&mut body, &steps, &loads);
                body.steps(&rest, &loads, &reuses);
            } else {
                if plan.lanes == 1 {
                    ahead.touch(&mut before, &steps, &loads);
                    of.write_touch(&mut source, &before.text);
                }
                body.steps(&steps, &loads, &reuses);
            }
            let results: Vec<String> = program.stores.iter().map(|s| body.use_of(s.value)).collect();
            of.write(&mut source, &body.text, passed, &results);
        }
        if self.given.is_some() {
            let _ = writeln!(source, "using {name}_Ahead = {name}_Ahead{};\n", self.plan.lanes);
        }
        let mut head = String::new();
        describe(&mut head, graph, &self.plan, &names);
        if let Some(given) = self.given {
            let _ = writeln!(head, "//   in{given} is given by the kernel.");
        }
        Ok(Inlined { head, source, headers, dtype, guards, loads_ahead, params })
    }

    /// Marks the values of the given operand that the program needs as given: each with its number among the points.
    fn pass(&self, graph: &Graph, program: &mut Program) -> Result<Vec<(Val, i64)>, Error> {
        let Some(given) = self.given else { return Ok(Vec::new()) };
        let uses = Uses::new(program);
        let mut passed = Vec::new();
        for v in program.values().filter(|v| uses.live(*v)) {
            let Inst::Load { operand, index, .. } = program.inst(v) else { continue };
            if *operand == given {
                let axes = &self.plan.inputs[usize::from(given)].axes;
                passed.push((
                    v,
                    self.lane(program, axes, index)
                        .map_err(|axis| Refusal::Elsewhere { operand: given, dim: graph.dim_name(axis.axis.dim) })?,
                ));
            }
        }
        program.given.extend(passed.iter().map(|(v, _)| *v));
        Ok(passed)
    }

    /// The number among the points of the one with these coordinates, or the axis along which it is none of them.
    fn lane<'a>(&self, program: &Program, axes: &'a [SlotAxis], index: &[Val]) -> Result<i64, &'a SlotAxis> {
        let mut lane = 0;
        for (axis, v) in axes.iter().zip(index) {
            let (base, k) = program.affine(*v);
            let at = self.plan.world.iter().position(|w| w.dim == axis.axis.dim);
            let own = base.is_some_and(|b| matches!(program.inst(b), Inst::Coord(d) if Some(usize::from(*d)) == at));
            let inner = at == Some(self.plan.lane_loop) && (0..i64::from(self.plan.lanes)).contains(&k);
            match own {
                true if inner => lane = k,
                true if k == 0 => {}
                _ => return Err(axis),
            }
        }
        Ok(lane)
    }

    /// Whether the function reads a parameter: it has no loops, and neither what is given nor the result is in memory.
    fn reads(&self, field: Field) -> bool {
        match field {
            Field::Input(i) | Field::InputStride(i, _) => Some(i) != self.given,
            Field::InputExtent(..) | Field::Offset(_) | Field::Error | Field::Far => true,
            Field::Output(_) | Field::OutputStride(..) | Field::Extent(_) | Field::Tiles(_) => false,
            Field::Workspace | Field::Turns | Field::Streaming => false,
        }
    }
}

fn any(programs: &[Option<&Program>], test: impl Fn(&Program, Val) -> bool) -> bool {
    programs.iter().flatten().any(|p| p.values().any(|v| test(p, v)))
}

/// Refuses what is no identifier, or one that C++ keeps for itself.
fn check_name(name: &str) -> Result<(), Refusal> {
    let word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    if word && first && name.len() <= LONGEST && !name.contains("__") {
        return Ok(());
    }
    Err(Refusal::Name { name: name.into(), limit: LONGEST })
}

/// One of the functions of a name.
struct Function<'a> {
    name: &'a str,
    plan: &'a Plan,
    names: &'a Names,
    /// Whether it calls functions that stand in a namespace.
    calls: bool,
    given: Option<u16>,
    dtype: DType,
}

impl Function<'_> {
    /// Writes what the function loads ahead: the structure that holds it, and the function that fills it in.
    fn write_ahead(&self, source: &mut String, fields: &[String], body: &str) {
        let (name, lanes) = (self.name, self.plan.lanes);
        let members: String = fields.iter().map(|field| format!("  {field};\n")).collect();
        let _ = writeln!(source, "struct {name}_Ahead{lanes} {{\n{members}}};");
        let coords = self.coords();
        let _ = writeln!(
            source,
            "static TW_DEVICE void {name}_ahead(const {name}_Params& p{coords}, {name}_Ahead{lanes}& ahead) {{"
        );
        source.push_str(body);
        source.push_str("}\n");
    }

    /// Writes the function that has the L2 cache read what the function of a point loads.
    fn write_touch(&self, source: &mut String, body: &str) {
        let (name, coords) = (self.name, self.coords());
        let _ = writeln!(source, "static TW_DEVICE void {name}_touch(const {name}_Params& p{coords}) {{\n{body}}}");
    }

    /// Writes the function, of what makes `results`, a value for each point; with what it gets ahead, and without.
    fn write(&self, source: &mut String, body: &str, passed: &[(Val, i64)], results: &[String]) {
        let (name, lanes, coords) = (self.name, self.plan.lanes, self.coords());
        let several = lanes > 1;
        let returned = if several { "void" } else { self.dtype.cuda() };
        let rest = self.rest();
        let ahead = self.given.map(|_| format!(", const {name}_Ahead{lanes}& ahead")).unwrap_or_default();
        let _ = writeln!(source, "static TW_DEVICE {returned} {name}(const {name}_Params& p{coords}{ahead}{rest}) {{");
        if self.calls {
            let _ = writeln!(source, "  using namespace {name}_calls;");
        }
        // All before anything is made, since both may be one array.
        for (v, lane) in passed {
            let at = if several { format!("[{lane}]") } else { String::new() };
            let _ = writeln!(source, "  const {} h{} = given{at};", self.given_type(), v.0);
        }
        source.push_str(body);
        for (lane, result) in results.iter().enumerate() {
            let _ = match several {
                true => writeln!(source, "  made[{lane}] = {result};"),
                false => writeln!(source, "  return {result};"),
            };
        }
        source.push_str("}\n");
        if self.given.is_some() {
            let at: String = (0..self.plan.world.len()).map(|i| format!(", {}", self.names.coord(i))).collect();
            let made = if several { ", made" } else { "" };
            let _ = writeln!(source, "static TW_DEVICE {returned} {name}(const {name}_Params& p{coords}{rest}) {{");
            let _ = writeln!(source, "  {name}_Ahead{lanes} ahead;\n  {name}_ahead(p{at}, ahead);");
            let _ = writeln!(source, "  return {name}(p{at}, ahead, given{made});\n}}");
        }
        source.push('\n');
    }

    fn coords(&self) -> String {
        let kind = |wide| if wide { "long long" } else { "int" };
        let world = self.plan.world.iter().enumerate();
        world.map(|(i, w)| format!(", const {} {}", kind(w.wide()), self.names.coord(i))).collect()
    }

    /// The parameters behind the coordinates: what is given, and where results of several points go.
    fn rest(&self) -> String {
        let (lanes, kind) = (self.plan.lanes, self.dtype.cuda());
        let several = lanes > 1;
        let given = self.given.map(|_| match several {
            true => format!(", const {} (&given)[{lanes}]", self.given_type()),
            false => format!(", const {} given", self.given_type()),
        });
        let made = several.then(|| format!(", {kind} (&made)[{lanes}]"));
        [given, made].into_iter().flatten().collect()
    }

    fn given_type(&self) -> &'static str {
        self.given.map(|i| self.plan.inputs[usize::from(i)].dtype.cuda()).unwrap_or_default()
    }
}
