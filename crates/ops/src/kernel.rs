//! A kernel bound to one call signature: everything of a launch but the addresses and the host operands' values.

use crate::device::{Gpu, kernels};
use crate::error::Error;
use crate::feed::{Operand, Sink, Source, Targets};
use crate::launches::{self, Known, LaunchKind};
use crate::raw;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use tilewright_driver::{Function, LaunchConfig, Origin, Source as Text, TargetKind};
use tilewright_expr::emit::{Field, Kernel, Piece, Pieces, emit, reciprocals};
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Plan;
use tilewright_headers::headers_for;

/// Most bytes of host operands that travel with a launch (through a device buffer when they exceed the parameter block).
pub(crate) const HOST_BYTES: usize = 64 << 20;
/// Emitted code has no use for the parts of the C++ library that NVRTC would read before it.
const OPTIONS: [&str; 2] = ["--builtin-initializer-list=false", "--builtin-move-forward=false"];
/// Largest parameter block.
const BLOCK_BYTES: usize = 4096;

/// A compiled kernel and what is known about it.
#[derive(Debug)]
pub struct Built {
    /// The expression's name.
    pub name: String,
    /// The emitted source.
    pub source: String,
    /// Where the machine code came from.
    pub origin: Origin,
    /// Registers of a thread.
    pub registers: u32,
    kernel: Kernel,
    function: Function,
}

impl Built {
    /// Emits the plan's kernel and loads it, from the cache if it is there.
    pub(crate) fn new(graph: &Graph, plan: &Plan, gpu: &Gpu, name: &str) -> Result<Built, Error> {
        let start = Instant::now();
        let kernel = emit(graph, plan)?;
        let text = Text {
            name: name.to_string(),
            text: kernel.source.clone(),
            headers: headers_for(&kernel.source)
                .into_iter()
                .map(|(name, text)| (name.to_string(), Cow::Borrowed(text)))
                .collect(),
            options: OPTIONS.map(str::to_string).into(),
            target: TargetKind::Plain,
        };
        let (module, origin) = kernels().load(gpu.device(), &text)?;
        let function = module.function(kernel.entry)?;
        let registers = function.registers();
        launches::built(&text, gpu.device().arch(), origin, registers, start);
        Ok(Built { name: text.name, source: text.text, origin, registers, kernel, function })
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
    far: Option<usize>,
    /// Where the workspace's address goes, and how many bytes it must have.
    workspace: Option<(usize, usize)>,
    /// Host operands.
    sent: Pieces,
}

impl Launch {
    pub(crate) fn new(built: Arc<Built>, gpu: &Gpu, plan: &Plan) -> Result<Launch, Error> {
        let params = &built.kernel.params;
        let mut head = vec![0; params.head_bytes].into_boxed_slice();
        params.pack(plan, &mut head);
        let fields = |pick: fn(Field) -> Option<u16>| -> Vec<(usize, usize)> {
            params.fields.iter().filter_map(|(f, at)| pick(*f).map(|i| (usize::from(i), *at as usize))).collect()
        };
        let sent = params.sent.pieces(plan);
        if let Some(piece) = sent.buffer.iter().find(|p| p.bytes > HOST_BYTES) {
            return Err(Error::HostOperand { operand: piece.operand, bytes: piece.bytes, limit: HOST_BYTES });
        }
        let [x, y] = plan.block;
        Ok(Launch {
            gpu: gpu.clone(),
            config: LaunchConfig {
                grid: plan.grid(),
                block: [x, y, 1],
                shared_bytes: built.kernel.shared_bytes,
                cluster: None,
                // Every emitted kernel waits for the one before it (`take_turn`).
                programmatic: gpu.device().arch().major >= 9,
            },
            inputs: fields(|f| if let Field::Input(i) = f { Some(i) } else { None }),
            outputs: fields(|f| if let Field::Output(i) = f { Some(i) } else { None }),
            error: params.offset(Field::Error),
            far: params.offset(Field::Far),
            workspace: params.offset(Field::Workspace).map(|at| (at, built.kernel.workspace_bytes(plan))),
            head,
            sent,
            built,
        })
    }

    /// Queues the kernel. With host operands that fit into the parameter block this allocates nothing.
    pub(crate) fn run(&self, operands: &[Operand<'_>], targets: &Targets<'_>, known: Known) -> Result<(), Error> {
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
        if let Some((at, bytes)) = self.workspace {
            put(at, self.gpu.workspace(bytes)?);
        }
        let (function, sent) = (&self.built.function, params.sent_offset());
        gather(&self.sent.block, operands, &mut block[sent..]);
        for place in &self.sent.reciprocals {
            if let Some(from) = self.sent.offset(place.operand) {
                let (elements, places) = block[sent..].split_at_mut(place.at);
                reciprocals(&elements[from..from + place.bytes], &mut places[..place.bytes]);
            }
        }
        let block = &mut block[..params.bytes()];
        match self.far {
            Some(far) if self.sent.buffer_bytes > 0 => {
                let fill = |bytes: &mut [u8]| gather(&self.sent.buffer, operands, bytes);
                self.gpu.stage(self.sent.buffer_bytes, fill, |address| {
                    block[far..far + 8].copy_from_slice(&address.to_ne_bytes());
                    raw::launch(&self.gpu, function, &self.config, block)
                })?;
            }
            _ => raw::launch(&self.gpu, function, &self.config, block)?,
        }
        launches::launched(LaunchKind::Fused, &self.built.name, known, [self.config.grid, self.config.block]);
        Ok(())
    }
}

/// Copies host operands to their places, packed.
fn gather(pieces: &[Piece], operands: &[Operand<'_>], to: &mut [u8]) {
    for piece in pieces {
        let operand = &operands[piece.operand];
        let Source::Host { bytes, dense, element, .. } = operand.memory else { continue };
        let place = &mut to[piece.at..piece.at + piece.bytes];
        if dense {
            place.copy_from_slice(&bytes[..piece.bytes]);
            continue;
        }
        let mut places = place.chunks_exact_mut(element);
        crate::tensor::for_each_offset(operand.axes, |from| {
            if let Some(place) = places.next() {
                place.copy_from_slice(&bytes[from * element..(from + 1) * element]);
            }
        });
    }
}

/// The parameter block on the stack, aligned as the kernel's struct is.
#[repr(align(16))]
struct Block([u8; BLOCK_BYTES]);
