//! [`Problem`]: a convolution in numbers, checked.

use super::error::{ConvError, Names};
use super::params::Conv2d;
use std::ops::RangeInclusive;

/// How wide groups may be: 1 is a depthwise convolution.
pub const GROUP_WIDTHS: [usize; 4] = [1, 4, 8, 16];
/// Taps of a kernel in each direction.
pub const KERNEL: RangeInclusive<usize> = 1..=7;
/// Zeros on each side.
pub const PADDING: RangeInclusive<usize> = 0..=7;
/// Strides and dilations.
pub const STEPS: RangeInclusive<usize> = 1..=2;
/// Most elements of one image, of the weights, and most images, rows and columns: offsets inside are 32-bit.
pub const LARGEST: usize = i32::MAX as usize;

/// The type of a convolution's elements. Sums are f32 in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 16 bits with 10 of mantissa.
    F16,
    /// 16 bits with 7 of mantissa.
    Bf16,
    /// 32 bits; on a GPU factors are rounded to tf32, 10 bits of mantissa.
    F32,
}

impl Precision {
    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Precision::F16 | Precision::Bf16 => 2,
            Precision::F32 => 4,
        }
    }
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// The result from input and weights.
    Forward,
    /// The input's gradient from the result's and the weights.
    GradInput,
    /// The weights' gradient, f32, from the input and the result's gradient.
    GradWeight,
}

impl Pass {
    /// All three.
    pub const ALL: [Pass; 3] = [Pass::Forward, Pass::GradInput, Pass::GradWeight];

    /// The function's name.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Forward => "conv2d",
            Pass::GradInput => "conv2d_grad_input",
            Pass::GradWeight => "conv2d_grad_weight",
        }
    }
}

/// A convolution: all that a kernel has to know, whichever pass it computes. What the functions here give is legal.
///
/// The input is images x height x width x channels, the last fastest; weights are channels x kernel x `group_width`; the result is
/// images x [`Problem::output`] x channels. Channels are `groups * group_width`, of the input as of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Problem {
    /// Images; there may be none.
    pub images: usize,
    /// Rows of the input.
    pub height: usize,
    /// Columns of the input.
    pub width: usize,
    /// Groups of channels.
    pub groups: usize,
    /// Channels of a group: 1 (depthwise), 4, 8 or 16.
    pub group_width: usize,
    /// Taps: rows, columns; 1 to 7 each.
    pub kernel: [usize; 2],
    /// Zeros around the input: `[[top, bottom], [left, right]]`, 0 to 7 each.
    pub padding: [[usize; 2]; 2],
    /// Rows and columns of the input from one place of the result to the next: 1 or 2 each.
    pub stride: [usize; 2],
    /// Rows and columns of the input from one tap to the next: 1 or 2 each.
    pub dilation: [usize; 2],
    /// The type of input, weights and result.
    pub precision: Precision,
}

impl Problem {
    /// The convolution of an input of extents `[images, height, width, channels]` with weights of extents
    /// `[channels, rows, columns, group width]`, as `params` say.
    ///
    /// Refused are sizes that do not fit each other, those outside of what is computed, and results without places. Zero images
    /// are fine.
    ///
    /// ```
    /// use tilewright_ops::conv::{Conv2d, Precision, Problem};
    /// let p = Problem::of_forward([128, 64, 64, 64], [64, 3, 3, 8], Precision::F16, &Conv2d::new().padding(1))?;
    /// assert_eq!((p.groups, p.group_width, p.output()), (8, 8, [64, 64]));
    /// # Ok::<(), tilewright_ops::Error>(())
    /// ```
    pub fn of_forward<B>(
        x: [usize; 4],
        w: [usize; 4],
        precision: Precision,
        params: &Conv2d<B>,
    ) -> Result<Problem, ConvError> {
        Problem::named(x, w, precision, params, &Names::ROLES)
    }

    /// As [`Problem::of_forward`], of the result's extents and the input's `[height, width]`.
    pub fn of_grad_input<B>(
        dy: [usize; 4],
        w: [usize; 4],
        [height, width]: [usize; 2],
        precision: Precision,
        params: &Conv2d<B>,
    ) -> Result<Problem, ConvError> {
        let problem = Problem::of_forward([dy[0], height, width, dy[3]], w, precision, params)?;
        problem.check_result("the result's gradient", dy, &Names::ROLES)?;
        Ok(problem)
    }

    /// As [`Problem::of_forward`], of the input's and the result's extents and the kernel's `[rows, columns, group width]`.
    pub fn of_grad_weight<B>(
        x: [usize; 4],
        dy: [usize; 4],
        kernel: [usize; 3],
        precision: Precision,
        params: &Conv2d<B>,
    ) -> Result<Problem, ConvError> {
        let problem = Problem::of_forward(x, [dy[3], kernel[0], kernel[1], kernel[2]], precision, params)?;
        problem.check_result("the result's gradient", dy, &Names::ROLES)?;
        Ok(problem)
    }

    /// [`Problem::of_forward`], with the user's names in errors.
    pub(crate) fn named<B>(
        [images, height, width, channels]: [usize; 4],
        [filters, rows, columns, group_width]: [usize; 4],
        precision: Precision,
        params: &Conv2d<B>,
        names: &Names,
    ) -> Result<Problem, ConvError> {
        if !GROUP_WIDTHS.contains(&group_width) {
            return Err(ConvError::GroupWidth { dim: names.c, got: group_width });
        }
        if channels != filters {
            return Err(ConvError::Channels { dims: [names.c, names.k], got: channels, expected: filters });
        }
        if channels == 0 || !channels.is_multiple_of(group_width) {
            return Err(ConvError::Groups { dim: names.c, channels, group_width });
        }
        let problem = Problem {
            images,
            height,
            width,
            groups: channels / group_width,
            group_width,
            kernel: [rows, columns],
            padding: params.padding.0,
            stride: params.stride.0,
            dilation: params.dilation.0,
            precision,
        };
        problem.check(names)?;
        Ok(problem)
    }

    /// Rows and columns of the result.
    pub fn output(&self) -> [usize; 2] {
        [0, 1].map(|d| self.places(d).unwrap_or(0))
    }

    /// Channels of the input, and of the result.
    pub fn channels(&self) -> usize {
        self.groups * self.group_width
    }

    /// The input's extents: images, rows, columns, channels.
    pub fn input_extents(&self) -> [usize; 4] {
        [self.images, self.height, self.width, self.channels()]
    }

    /// The result's extents: images, rows, columns, channels.
    pub fn output_extents(&self) -> [usize; 4] {
        let [rows, columns] = self.output();
        [self.images, rows, columns, self.channels()]
    }

    /// The weights' extents: channels of the result, rows, columns, channels of a group.
    pub fn weight_extents(&self) -> [usize; 4] {
        [self.channels(), self.kernel[0], self.kernel[1], self.group_width]
    }

    /// Operations of any pass, a multiplication and an addition for each tap, those that meet padding included.
    pub fn flops(&self) -> f64 {
        let places: f64 = self.output_extents().iter().map(|n| *n as f64).product();
        2.0 * places * (self.kernel[0] * self.kernel[1] * self.group_width) as f64
    }

    /// Bytes that a pass reads and writes at least: each operand once, and the result, in f32 that of [`Pass::GradWeight`].
    pub fn bytes(&self, pass: Pass) -> f64 {
        let of = |extents: [usize; 4]| extents.iter().map(|n| *n as f64).product::<f64>();
        let element = self.precision.bytes() as f64;
        let weight = if pass == Pass::GradWeight { 4.0 } else { element };
        (of(self.input_extents()) + of(self.output_extents())) * element + of(self.weight_extents()) * weight
    }

    /// Refuses a result of other extents.
    pub(crate) fn check_result(&self, what: &'static str, got: [usize; 4], names: &Names) -> Result<(), ConvError> {
        let dims = [names.n, names.h, names.w, names.k];
        for ((dim, got), expected) in dims.into_iter().zip(got).zip(self.output_extents()) {
            if got != expected {
                return Err(ConvError::Extent { what, dim, got, expected });
            }
        }
        Ok(())
    }

    /// Places of the result in a direction, if there are any.
    fn places(&self, direction: usize) -> Option<usize> {
        let extent = [self.height, self.width][direction];
        let padded = extent + self.padding[direction].iter().sum::<usize>();
        Some(padded.checked_sub(self.reach(direction))? / self.stride[direction] + 1)
    }

    /// From the first tap to the last, both included.
    fn reach(&self, direction: usize) -> usize {
        (self.kernel[direction] - 1) * self.dilation[direction] + 1
    }

    fn check(&self, names: &Names) -> Result<(), ConvError> {
        for (direction, (dim, tap)) in [(names.h, names.r), (names.w, names.s)].into_iter().enumerate() {
            let taps = self.kernel[direction];
            if !KERNEL.contains(&taps) {
                return Err(ConvError::Kernel { dim: tap, got: taps });
            }
            if let Some(got) = self.padding[direction].into_iter().find(|p| !PADDING.contains(p)) {
                return Err(ConvError::Padding { dim, got });
            }
            for (what, got) in [("stride", self.stride[direction]), ("dilation", self.dilation[direction])] {
                if !STEPS.contains(&got) {
                    return Err(ConvError::Step { what, dim, got });
                }
            }
        }
        self.check_spans(names)?;
        for (direction, dim) in [names.h, names.w].into_iter().enumerate() {
            let (extent, reach) = ([self.height, self.width][direction], self.reach(direction));
            if extent == 0 || self.places(direction).is_none() {
                return Err(ConvError::Empty { dim, extent, padding: self.padding[direction], reach });
            }
        }
        Ok(())
    }

    /// Refuses what 32-bit offsets inside an image or inside the weights cannot reach.
    fn check_spans(&self, names: &Names) -> Result<(), ConvError> {
        for (dim, got) in [(names.n, self.images), (names.h, self.height), (names.w, self.width)] {
            if got > LARGEST {
                return Err(ConvError::Span { what: format!("`{dim}`"), got: got as u128, limit: LARGEST });
            }
        }
        // Padding makes a result larger than its input: 14 rows and columns more at most.
        let product = |extents: [usize; 3]| extents.iter().map(|n| *n as u128).product::<u128>();
        let image = product([self.height + 14, self.width + 14, self.channels()]);
        let weights = product([self.channels(), self.kernel[0] * self.kernel[1], self.group_width]);
        for (what, got) in [("an image with its padding", image), ("the weights", weights)] {
            if got > LARGEST as u128 {
                return Err(ConvError::Span { what: what.into(), got, limit: LARGEST });
            }
        }
        Ok(())
    }
}
