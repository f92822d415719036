//! Plans as text, which people can read and edit: a graph with what is known of its operands and results.
//!
//! What a source text depends on is in the text of a plan, and a plan that was read gives the source that it gave before. The graph
//! stands there node by node, as it was traced; reading builds it by its own constructors, so that shapes are derived again, and checks
//! what the typed face would have made sure of. docs/build-ptx.md has the syntax. Files of plans are the business of the crate
//! above.
//!
//! ```
//! # use tilewright_dims::{Dims, dims};
//! # use tilewright_expr::bind::{Place, View, dense};
//! # use tilewright_expr::manifest::{self, Functions, OwnedView};
//! # use tilewright_expr::{In, trace};
//! # dims! { X }
//! let graph = trace(|x: In<f32, (X,)>| (x * 2.0).store::<(X,)>()).graph;
//! let axes = dense(<(X,)>::IDS, &[100]);
//! let view = OwnedView::of(View { axes: &axes, place: Place::Device, alignment: 16, boxes: None });
//! let text = manifest::print(&graph, &[view.clone()], &[view.clone()]);
//! assert_eq!(text.operands, ["f32 (X 100) device 16"]);
//! assert_eq!(text.graph, "%0 = f32 input 0\n%1 = f32 const 2.0\n%2 = f32 mul %0 %1\nstore %2 (X)\n");
//! let plan = manifest::read(&text, &Functions::default()).expect("it is in order");
//! assert!(plan.graph.same(&graph) && plan.operands == [view]);
//! ```

mod check;
mod functions;
mod lex;
mod literal;
mod names;
mod print;
mod read;
mod results;
mod view;

pub use functions::{FunctionPart, FunctionText, Functions, print_function};
pub use lex::Mistake;
pub use print::{PlanText, functions, print};
pub use read::{PlanPart, ReadPlan, read};
pub use view::OwnedView;
