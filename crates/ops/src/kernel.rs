//! A kernel bound to one call signature: everything of a launch but the addresses and the host operands' values.

use crate::device::{Gpu, kernels};
use crate::error::Error;
use crate::feed::{Operand, Source, Target, Targets};
use crate::launches::{self, Known, LaunchKind};
use crate::raw;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use tilewright_driver::{Function, LaunchConfig, Origin, Source as Text, TargetKind};
use tilewright_expr::emit::{Address, Combined, Piece, Room, Sending, combine, reciprocals};
use tilewright_expr::sections::Sections;
use tilewright_headers::headers_for;

/// Most bytes of host operands that travel with a launch (through a device buffer when they exceed the parameter block).
pub(crate) const HOST_BYTES: usize = 64 << 20;
/// Emitted code has no use for what NVRTC would read before it: textures, the run-time library's functions, parts of the C++ library.
const OPTIONS: [&str; 3] = ["--minimal", "--builtin-initializer-list=false", "--builtin-move-forward=false"];
/// Parameter blocks that a launch writes on the stack, by size, so that few bytes are filled with zeros. Only many sections have a
/// larger one.
const BLOCK_BYTES: [usize; 3] = [512, 4096, 8192];

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
    kernel: Combined,
    function: Function,
}

/// A kernel that is emitted, but not compiled yet.
pub(crate) struct Unbuilt {
    kernel: Combined,
    text: Text,
    start: Instant,
}

impl Unbuilt {
    /// Emits the kernel of all sections, for devices that take parameter blocks of `most` bytes.
    pub(crate) fn new(sections: &Sections<'_>, room: Room, most: usize, name: &str) -> Result<Unbuilt, Error> {
        let start = Instant::now();
        let mut kernel = combine(sections, room, most)?;
        // Long ones are 50 KB: nobody has them twice.
        let source = std::mem::take(&mut kernel.source);
        let text = Text {
            name: name.to_string(),
            headers: headers_for(&source)
                .into_iter()
                .map(|(name, text)| (name.to_string(), Cow::Borrowed(text)))
                .collect(),
            text: source,
            options: OPTIONS.map(str::to_string).into(),
            target: TargetKind::Plain,
        };
        Ok(Unbuilt { kernel, text, start })
    }

    /// The source as people read it: names of dimensions and operands before what the compiler is given.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.kernel.head, self.text.text)
    }

    /// Bytes of memory that the blocks of a launch share.
    pub(crate) fn workspace_bytes(&self, sections: &Sections<'_>) -> usize {
        let bytes = |(address, _): (Address, usize)| if let Address::Workspace(_, bytes) = address { bytes } else { 0 };
        self.kernel.addresses(sections).into_iter().map(bytes).sum()
    }

    /// What the compiler is given.
    pub(crate) fn text(&self) -> &Text {
        &self.text
    }

    /// The same, alone.
    pub(crate) fn into_text(self) -> Text {
        self.text
    }

    /// Loads it, from the cache if it is there.
    pub(crate) fn build(self, gpu: &Gpu) -> Result<Built, Error> {
        let Unbuilt { mut kernel, text, start } = self;
        let (module, origin) = kernels().load(gpu.device(), &text)?;
        let function = module.function(kernel.entry)?;
        let registers = function.registers();
        launches::built(&text, gpu.device().arch(), origin, registers, start);
        let mut source = text.text;
        source.insert_str(0, &std::mem::take(&mut kernel.head));
        Ok(Built { name: text.name, source, origin, registers, kernel, function })
    }
}

/// A launch with everything filled in that does not change between calls of one signature.
#[derive(Debug)]
pub(crate) struct Launch {
    built: Arc<Built>,
    kind: LaunchKind,
    gpu: Gpu,
    config: LaunchConfig,
    /// The parameter block with zeros for addresses and host operands, up to the last byte that is not 0.
    head: Box<[u8]>,
    /// Where addresses go, but for those of [`Launch::far`].
    addresses: Vec<(Address, usize)>,
    /// Where addresses within the buffer of host operands go, and how far within.
    far: Vec<(usize, u64)>,
    /// Host operands.
    sent: Sending,
}

impl Launch {
    pub(crate) fn new(
        built: Arc<Built>,
        gpu: &Gpu,
        sections: &Sections<'_>,
        kind: LaunchKind,
    ) -> Result<Launch, Error> {
        let kernel = &built.kernel;
        let mut head = vec![0; kernel.bytes];
        kernel.pack(sections, &mut head);
        head.truncate(head.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1));
        let sent = kernel.sending(sections);
        if let Some(piece) = sent.buffer.iter().find(|p| p.bytes > HOST_BYTES) {
            return Err(Error::HostOperand { operand: piece.operand, bytes: piece.bytes, limit: HOST_BYTES });
        }
        let mut addresses = kernel.addresses(sections);
        let far = addresses.iter().filter_map(|(a, at)| if let Address::Far(by) = a { Some((*at, *by)) } else { None });
        let far = far.collect();
        addresses.retain(|(a, _)| !matches!(a, Address::Far(_)));
        let ([x, y], together) = (sections.block(), sections.together());
        let mut grid = sections.grid();
        if together {
            let resident = built.function.blocks_per_multiprocessor(x * y, kernel.shared_bytes)?;
            grid[0] = grid[0].min(resident.max(1) * gpu.device().multiprocessors());
        }
        Ok(Launch {
            kind,
            gpu: gpu.clone(),
            config: LaunchConfig {
                grid,
                block: [x, y, 1],
                shared_bytes: kernel.shared_bytes,
                cluster: None,
                // Every emitted kernel waits for the one before it (`take_turn`), if it is compiled for devices that can.
                programmatic: built.function.target().arch.major >= 9 && !together,
                cooperative: together,
            },
            addresses,
            far,
            head: head.into_boxed_slice(),
            sent,
            built,
        })
    }

    /// Queues the kernel. With host operands that fit into the parameter block this allocates nothing.
    pub(crate) fn run(&self, operands: &[Operand<'_>], targets: &Targets<'_>, known: Known) -> Result<(), Error> {
        let bytes = self.built.kernel.bytes;
        macro_rules! in_block {
            ($size:expr) => {
                if bytes <= $size {
                    let mut block = Block([0; $size]);
                    return self.run_in(&mut block.0[..bytes], operands, targets, known);
                }
            };
        }
        in_block!(BLOCK_BYTES[0]);
        in_block!(BLOCK_BYTES[1]);
        in_block!(BLOCK_BYTES[2]);
        let mut block = vec![0u128; bytes.div_ceil(size_of::<u128>())];
        self.run_in(&mut bytemuck::cast_slice_mut(&mut block)[..bytes], operands, targets, known)
    }

    /// Queues the kernel with a parameter block that is written here, zeros so far.
    fn run_in(
        &self,
        block: &mut [u8],
        operands: &[Operand<'_>],
        targets: &Targets<'_>,
        known: Known,
    ) -> Result<(), Error> {
        block[..self.head.len()].copy_from_slice(&self.head);
        for (address, at) in &self.addresses {
            let address = match *address {
                Address::Operand(i) => operands[i].address(),
                Address::Result(i, offset) => {
                    targets[i].as_ref().and_then(Target::address).map(|a| a.wrapping_add(offset))
                }
                Address::Error => Some(self.gpu.error_word()),
                Address::Workspace(number, bytes) => Some(self.gpu.workspace(number, bytes)?),
                Address::Far(_) => None,
            };
            if let Some(address) = address {
                block[*at..*at + 8].copy_from_slice(&address.to_ne_bytes());
            }
        }
        gather(&self.sent.block, operands, block);
        for (from, place) in &self.sent.reciprocals {
            let (elements, places) = block.split_at_mut(place.at);
            reciprocals(&elements[*from..from + place.bytes], &mut places[..place.bytes]);
        }
        let function = &self.built.function;
        if self.sent.buffer_bytes > 0 {
            let fill = |bytes: &mut [u8]| gather(&self.sent.buffer, operands, bytes);
            self.gpu.stage(self.sent.buffer_bytes, fill, |address| {
                for (at, by) in &self.far {
                    block[*at..*at + 8].copy_from_slice(&(address + by).to_ne_bytes());
                }
                raw::launch(&self.gpu, function, &self.config, block)
            })?;
        } else {
            raw::launch(&self.gpu, function, &self.config, block)?;
        }
        launches::launched(self.kind, &self.built.name, known, [self.config.grid, self.config.block]);
        Ok(())
    }
}

/// Copies host operands to their places, packed.
pub(crate) fn gather(pieces: &[Piece], operands: &[Operand<'_>], to: &mut [u8]) {
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
struct Block<const BYTES: usize>([u8; BYTES]);
