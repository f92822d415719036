use std::fmt;

use crate::{Device, Error, Stream, raw};

/// Work captured once with [`Stream::capture`] and launched as a whole.
pub struct Graph {
    pub(crate) raw: raw::Graph,
    pub(crate) device: Device,
}

impl Graph {
    /// Queues the whole graph on `stream`. Launches of one graph run one after another.
    pub fn launch(&self, stream: &Stream) -> Result<(), Error> {
        self.device.expect(&stream.device(), "the stream")?;
        self.raw.launch(&stream.raw)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph on {:?}", self.device)
    }
}
