//! A kernel bound to one call signature: everything of a launch but the addresses and the host operands' values.

use crate::device::Gpu;
use crate::error::Error;
use crate::feed::{Operand, Sink, Source, Targets};
use crate::raw;
use std::sync::Arc;
use tilewright_driver::{Function, LaunchConfig, Origin, Source as Text, TargetKind};
use tilewright_expr::bind::Place;
use tilewright_expr::emit::{Field, Kernel, Params, emit};
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Plan;

/// Most bytes of host operands that travel with a launch (through a device buffer when they exceed the parameter block).
pub(crate) const HOST_BYTES: usize = 64 << 20;
/// Largest parameter block.
const BLOCK_BYTES: usize = 4096;

/// A compiled kernel and what is known about it.
#[derive(Debug)]
pub struct Built {
    /// The emitted source.
    pub source: String,
    /// Where the machine code came from.
    pub origin: Origin,
    /// Registers of a thread.
    pub registers: u32,
    kernel: Kernel,
    values: Function,
    buffer: Option<Function>,
}

impl Built {
    /// Emits the plan's kernel and loads it, from the cache if it is there.
    pub(crate) fn new(graph: &Graph, plan: &Plan, gpu: &Gpu, name: &str) -> Result<Built, Error> {
        let kernel = emit(graph, plan);
        let text = Text {
            name: name.to_string(),
            text: kernel.source.clone(),
            headers: tilewright_headers::device_headers()
                .iter()
                .map(|(name, text)| (name.to_string(), std::borrow::Cow::Borrowed(*text)))
                .collect(),
            options: Vec::new(),
            target: TargetKind::Plain,
        };
        let (module, origin) = gpu.kernels().load(gpu.device(), &text)?;
        let values = module.function(kernel.values)?;
        let buffer = kernel.buffer.map(|name| module.function(name)).transpose()?;
        let registers = values.registers();
        Ok(Built { source: kernel.source.clone(), origin, registers, kernel, values, buffer })
    }
}

/// A launch with everything filled in that does not change between calls of one signature.
#[derive(Debug)]
pub(crate) struct Launch {
    built: Arc<Built>,
    gpu: Gpu,
    config: LaunchConfig,
    /// The parameter block with zeros for addresses.
    head: Box<[u8]>,
    inputs: Vec<(usize, usize)>,
    outputs: Vec<(usize, usize)>,
    error: Option<usize>,
    data: Option<usize>,
    /// Host operands: number, offset and bytes within the data.
    host: Vec<(usize, usize, usize)>,
    data_bytes: usize,
}

impl Launch {
    pub(crate) fn new(built: Arc<Built>, gpu: &Gpu, plan: &Plan) -> Result<Launch, Error> {
        let params = &built.kernel.params;
        let mut head = vec![0; params.head_bytes].into_boxed_slice();
        params.pack(plan, &mut head);
        let fields = |pick: fn(Field) -> Option<u16>| -> Vec<(usize, usize)> {
            params.fields.iter().filter_map(|(f, at)| pick(*f).map(|i| (usize::from(i), *at as usize))).collect()
        };
        let (offsets, data_bytes) = Params::data_layout(plan);
        let host: Vec<(usize, usize, usize)> = plan
            .inputs
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.place == Place::Host)
            .map(|(i, slot)| {
                let len: i64 = slot.axes.iter().map(|a| a.axis.extent).product();
                (i, offsets[i], len.max(0) as usize * slot.element_bytes())
            })
            .collect();
        if let Some((operand, _, bytes)) = host.iter().find(|(_, _, bytes)| *bytes > HOST_BYTES) {
            return Err(Error::HostOperand { operand: *operand, bytes: *bytes, limit: HOST_BYTES });
        }
        let [x, y] = plan.block;
        Ok(Launch {
            gpu: gpu.clone(),
            config: LaunchConfig {
                grid: plan.grid(),
                block: [x, y, 1],
                shared_bytes: 0,
                cluster: None,
                // Every emitted kernel waits for the one before it (`take_turn`).
                programmatic: gpu.device().arch().major >= 9,
            },
            inputs: fields(|f| if let Field::Input(i) = f { Some(i) } else { None }),
            outputs: fields(|f| if let Field::Output(i) = f { Some(i) } else { None }),
            error: params.offset(Field::Error),
            data: params.offset(Field::Data),
            head,
            host,
            data_bytes,
            built,
        })
    }

    /// Queues the kernel. With host operands that fit into the parameter block this allocates nothing.
    pub(crate) fn run(&self, operands: &[Operand<'_>], targets: &Targets<'_>) -> Result<(), Error> {
        let mut block = Block([0; BLOCK_BYTES]);
        let block = &mut block.0;
        let params = &self.built.kernel.params;
        block[..self.head.len()].copy_from_slice(&self.head);
        let mut put = |at: usize, address: u64| block[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        for (i, at) in &self.inputs {
            if let Source::Gpu { address, .. } = operands[*i].memory {
                put(*at, address);
            }
        }
        for (i, at) in &self.outputs {
            if let Some(Sink::Gpu { address, .. }) = targets[*i].as_ref().map(|t| &t.memory) {
                put(*at, *address);
            }
        }
        if let Some(at) = self.error {
            put(at, self.gpu.error_word());
        }
        let Some(data) = self.data else {
            return raw::launch(&self.gpu, &self.built.values, &self.config, &block[..params.head_bytes]);
        };
        if self.data_bytes <= params.capacity() {
            self.gather(operands, &mut block[params.data_offset()..]);
            return raw::launch(&self.gpu, &self.built.values, &self.config, &block[..params.values_bytes()]);
        }
        let Some(function) = &self.built.buffer else {
            return Err(Error::HostOperand { operand: 0, bytes: self.data_bytes, limit: params.capacity() });
        };
        let fill = |bytes: &mut [u8]| self.gather(operands, bytes);
        self.gpu.stage(self.data_bytes, fill, |address| {
            block[data..data + 8].copy_from_slice(&address.to_ne_bytes());
            raw::launch(&self.gpu, function, &self.config, &block[..params.head_bytes])
        })
    }

    /// Copies host operands to their places, packed.
    fn gather(&self, operands: &[Operand<'_>], data: &mut [u8]) {
        for (i, at, len) in &self.host {
            let operand = &operands[*i];
            if let Source::Host { bytes, dense, element, .. } = operand.memory {
                if dense {
                    data[*at..at + len].copy_from_slice(&bytes[..*len]);
                } else {
                    let mut to = *at;
                    crate::tensor::for_each_offset(operand.axes, |from| {
                        data[to..to + element].copy_from_slice(&bytes[from * element..(from + 1) * element]);
                        to += element;
                    });
                }
            }
        }
    }
}

/// The parameter block on the stack, aligned as the kernel's struct is.
#[repr(align(16))]
struct Block([u8; BLOCK_BYTES]);
