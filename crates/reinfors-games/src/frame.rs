//! What the games' observations have in common: options of size, layout and choice, and what follows from
//! them.

use reinfors_core::{Error, ObservationPart, ObservationSpace, OptionType, OptionValue, Result, StateEntry};
use reinfors_render as render;
use reinfors_render::{Scene, Size, SizeError, Sketch, Thumbnail};
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

reinfors_core::choice! {
    /// How observations are drawn.
    pub enum Frames {
        /// Byte for byte as the reference.
        Exact = "exact",
        /// Several times as fast, a few levels off at the edges of shapes.
        Fast = "fast",
    }
}

/// [`reinfors_core::options!`] with what all games with pixels have behind the game's own: the options of
/// frames, and what is observed.
macro_rules! frame_options {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident { $($own:tt)* }
        frames $size:ident of $surface:ident, observing $observed:ident
    ) => {
        reinfors_core::options! {
            $(#[$attribute])*
            $visibility struct $name {
                $($own)*
                /// Height and width of the pixels, scaled from the reference's own surface.
                pub size: $crate::frame::FrameSize<{ $surface.width }, { $surface.height }> =
                    $crate::frame::FrameSize::new($size).expect("it has pixels");
                /// One channel of luminance rather than three of colour, by the weights of Gymnasium's
                /// GrayscaleObservation.
                pub gray: bool = false;
                /// Last frames of pixels seen at once, oldest first, along the axis of channels.
                pub frame_stack: std::num::NonZeroU32 = std::num::NonZeroU32::MIN,
                    in std::num::NonZeroU32::MIN..=$crate::frame::MOST_STACKED;
                /// Steps of the simulator that each action is repeated for; frames between are not drawn, rewards
                /// are summed.
                pub frame_skip: std::num::NonZeroU32 = std::num::NonZeroU32::MIN,
                    in std::num::NonZeroU32::MIN..=$crate::frame::MOST_SKIPPED;
                /// Order of the axes of pixels: "chw" is (channels, height, width), "hwc" is (height, width,
                /// channels).
                pub layout: $crate::frame::Layout = $crate::frame::Layout::Chw;
                /// How observations are drawn: "exact" is the reference's bytes, "fast" is off by a few levels at
                /// edges.
                pub frames: $crate::frame::Frames = $crate::frame::Frames::Exact;
                /// What is observed: "pixels", the "state" as a vector of named numbers, or "both" as a dictionary.
                pub obs: $crate::frame::Observed = $crate::frame::Observed::$observed;
            }
        }

        impl $name {
            /// What observed pixels are like.
            pub fn frame(&self) -> $crate::frame::Frame {
                $crate::frame::Frame {
                    size: self.size.into(),
                    gray: self.gray,
                    layout: self.layout,
                    frames: self.frames,
                }
            }

            /// Refuses options of frames that contradict each other.
            ///
            /// # Errors
            /// Stacked frames where there are no pixels.
            pub fn check_frames(&self) -> reinfors_core::Result<()> {
                $crate::frame::check_stack(self.frame_stack, self.obs)
            }
        }
    };
}
pub(crate) use frame_options;

/// Refuses to stack what is not observed.
pub fn check_stack(frame_stack: NonZeroU32, obs: Observed) -> Result<()> {
    if frame_stack > NonZeroU32::MIN && obs == Observed::State {
        return Err(Error::Contradiction(format!(
            "option frame_stack={frame_stack} stacks pixels, which obs=\"state\" does not have"
        )));
    }
    Ok(())
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
    /// How they are drawn.
    pub frames: Frames,
}

/// What draws observations.
pub enum Observer {
    /// To the byte.
    Exact(Box<Thumbnail>),
    /// Nearly.
    Fast(Box<Sketch>),
}

impl Observer {
    /// For scenes of `surface`.
    pub fn new(surface: Size, frame: Frame) -> Self {
        let (size, layout) = (frame.size, frame.drawn_layout());
        let smaller = "the option's size is smaller than the surface";
        match frame.frames {
            Frames::Exact => Self::Exact(Box::new(Thumbnail::new(surface, size, layout).expect(smaller))),
            Frames::Fast => Self::Fast(Box::new(Sketch::new(surface, size, layout).expect(smaller))),
        }
    }

    /// Draws one frame.
    pub fn draw(&mut self, scene: &Scene, out: &mut [u8]) {
        match self {
            Self::Exact(thumbnail) => thumbnail.draw(scene, out),
            Self::Fast(sketch) => sketch.draw(scene, out),
        }
    }
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
        let part = match self.layout {
            Layout::Chw => ObservationPart::pixels(vec![channels, height, width], 0),
            Layout::Hwc => ObservationPart::pixels(vec![height, width, channels], 2),
        };
        // A sketch is mixed column by column, where it lies if its channels do.
        let is_scattered = self.frames == Frames::Fast && self.drawn_layout() == render::Layout::Chw;
        ObservationPart { is_scattered, ..part }
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
