//! Scalar functions on the host: Rust, for a block of values.

use crate::error::Error;
use crate::graph::{Graph, Op};

/// Demands a twin of every function that is called.
pub(super) fn check_calls(graph: &Graph) -> Result<(), Error> {
    graph.nodes().try_for_each(|node| match &node.op {
        Op::Call(function, _) => function.check_host(),
        _ => Ok(()),
    })
}

/// Writes `$n` values, of which number `$i` is `$value`. No closure: what is inlined here has to be inlined whole.
macro_rules! each {
    ($t:ty, $out:expr, $n:expr, $i:ident => $value:expr) => {
        each!(@sizes $t, $out, $n, $i => $value; 1 u8, 2 u16, 4 u32, 8 u64)
    };
    (@sizes $t:ty, $out:expr, $n:expr, $i:ident => $value:expr; $($size:literal $rep:ident),*) => {
        match const { <$t as $crate::dtype::Value>::DTYPE.size() } {
            $($size => {
                for ($i, out) in bytemuck::cast_slice_mut::<u64, $rep>($out)[..$n].iter_mut().enumerate() {
                    *out = <$t as $crate::dtype::Value>::to_bits64($value) as $rep;
                }
            })*
            _ => {}
        }
    };
}
pub(crate) use each;
