//! What the games' observations have in common: options of size, layout and choice, and what follows from
//! them.

use reinfors_core::{ObservationPart, ObservationSpace, OptionType, OptionValue, StateEntry};
use reinfors_render as render;
use reinfors_render::{Size, SizeError};
use std::num::NonZeroU32;

/// The most frames in a stack.
pub const MOST_STACKED: NonZeroU32 = NonZeroU32::new(32).unwrap();
/// The most steps of an action.
pub const MOST_SKIPPED: NonZeroU32 = NonZeroU32::new(1000).unwrap();

reinfors_core::choice! {
    /// Order of the axes of pixels.
    pub enum Layout {
        /// Channel, row, column.
        Chw = "chw",
        /// Row, column, channel, as Gymnasium has it.
        Hwc = "hwc",
    }
}

reinfors_core::choice! {
    /// What is observed.
    pub enum Observed {
        /// Pixels.
        Pixels = "pixels",
        /// The state vector.
        State = "state",
        /// Both, as parts of their own.
        Both = "both",
    }
}

/// What an observation can consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A picture.
    Pixels,
    /// A vector of named numbers.
    State,
}

impl Observed {
    /// The parts, in their order.
    pub const fn parts(self) -> &'static [Part] {
        match self {
            Self::Pixels => &[Part::Pixels],
            Self::State => &[Part::State],
            Self::Both => &[Part::Pixels, Part::State],
        }
    }

    /// The space of pixels like `frame` and a state of these entries, as far as they are observed.
    pub fn space(self, frame: Frame, entries: &'static [StateEntry]) -> ObservationSpace {
        let part = |part: &Part| match part {
            Part::Pixels => frame.part(),
            Part::State => ObservationPart::state(entries),
        };
        ObservationSpace { parts: self.parts().iter().map(part).collect() }
    }
}

/// What the pixels of an observation are like.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Width and height.
    pub size: Size,
    /// Luminance rather than colour.
    pub gray: bool,
    /// Order of the axes.
    pub layout: Layout,
}

impl Frame {
    /// The layout to draw in.
    pub const fn drawn_layout(self) -> render::Layout {
        match self.layout {
            _ if self.gray => render::Layout::Gray,
            Layout::Chw => render::Layout::Chw,
            Layout::Hwc => render::Layout::Hwc,
        }
    }

    fn part(self) -> ObservationPart {
        let (Size { width, height }, channels) = (self.size, self.drawn_layout().channels());
        match self.layout {
            Layout::Chw => ObservationPart::pixels(vec![channels, height, width], 0),
            Layout::Hwc => ObservationPart::pixels(vec![height, width, channels], 2),
        }
    }
}

/// Writes a state vector as the bytes of its observation.
pub fn write_state<const N: usize>(state: [f32; N], out: &mut [u8]) {
    let (numbers, _) = out.as_chunks_mut();
    for (bytes, number) in numbers.iter_mut().zip(state) {
        *bytes = number.to_ne_bytes();
    }
}

/// Height and width of pixels scaled from a surface of `WIDTH` by `HEIGHT`, in this order.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct FrameSize<const WIDTH: usize, const HEIGHT: usize> {
    height: NonZeroU32,
    width: NonZeroU32,
}

impl<const WIDTH: usize, const HEIGHT: usize> From<FrameSize<WIDTH, HEIGHT>> for Size {
    fn from(FrameSize { height, width }: FrameSize<WIDTH, HEIGHT>) -> Self {
        Self { width: width.get() as usize, height: height.get() as usize }
    }
}

impl<const WIDTH: usize, const HEIGHT: usize> FrameSize<WIDTH, HEIGHT> {
    /// Takes the sides of a size, which are not 0.
    pub fn new(size: Size) -> Option<Self> {
        let side = |pixels: usize| NonZeroU32::new(pixels as u32);
        Some(Self { height: side(size.height)?, width: side(size.width)? })
    }

    fn bounds() -> SizeError {
        let surface = Size::new(WIDTH, HEIGHT);
        SizeError { given: surface, surface }
    }
}

/// Like every option that is a pair, but the sides have to be smaller than the surface that is scaled.
impl<const WIDTH: usize, const HEIGHT: usize> OptionType for FrameSize<WIDTH, HEIGHT> {
    fn annotation() -> String {
        <[NonZeroU32; 2]>::annotation()
    }
    fn allowed() -> String {
        let (heights, widths) = (Self::bounds().heights(), Self::bounds().widths());
        let (least, most) = ((heights.start(), widths.start()), (heights.end(), widths.end()));
        format!("(height, width) from {least:?} to {most:?}")
    }
    fn from_value(value: &OptionValue) -> Option<Self> {
        let [height, width] = <[NonZeroU32; 2]>::from_value(value)?;
        Some(Self { height, width })
    }
    fn is_of_type(value: &OptionValue) -> bool {
        <[NonZeroU32; 2]>::is_of_type(value)
    }
    fn to_value(&self) -> OptionValue {
        [self.height, self.width].to_value()
    }
    fn is_allowed(&self) -> bool {
        let size = Size::from(*self);
        Self::bounds().heights().contains(&size.height) && Self::bounds().widths().contains(&size.width)
    }
}
