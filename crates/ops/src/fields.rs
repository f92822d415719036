//! Problems and configurations by names, as rows of data sets have them.

use tilewright_perf::Error;
use tilewright_perf::dataset::{Named, named};

/// A field: its name, and where it stands; a flag is 0 or 1.
pub(crate) type Field<C> = (&'static str, fn(&C) -> usize, fn(&mut C, usize));

/// The fields of a configuration, or of a problem.
pub(crate) fn configuration<C, const N: usize>(fields: [Field<C>; N], config: &C) -> Named {
    named(fields.map(|(name, get, _)| (name, get(config) as i64)))
}

/// Sets the fields. Refuses names that are missing.
pub(crate) fn set_all<C>(op: &'static str, fields: &[Field<C>], from: &Named, config: &mut C) -> Result<(), Error> {
    fields.iter().try_for_each(|(name, _, set)| number(op, from, name).map(|value| set(config, value)))
}

/// The number of this name.
pub(crate) fn number(op: &'static str, named: &Named, name: &str) -> Result<usize, Error> {
    let value = named.get(name).copied().and_then(|value| usize::try_from(value).ok());
    value.ok_or_else(|| refused(op, format!("there is no number `{name}`")))
}

pub(crate) fn refused(op: &'static str, why: String) -> Error {
    Error::Refused { op, why }
}
