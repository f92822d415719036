//! What dimensions are called.

use super::{DimId, Graph};

impl Graph {
    /// Makes a dimension's name known.
    pub fn name_dim(&mut self, id: DimId, name: &'static str) {
        if !self.is_followed() && self.names.iter().all(|(d, _)| *d != id) {
            self.names.push((id, name));
        }
    }

    /// A dimension's name.
    pub fn dim_name(&self, id: DimId) -> &'static str {
        self.names.iter().find(|(d, _)| *d == id).map_or("?", |(_, n)| n)
    }

    /// Every known dimension with its name.
    pub(crate) fn names(&self) -> &[(DimId, &'static str)] {
        &self.names
    }
}
