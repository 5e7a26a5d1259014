//! Options of `CarRacing`: name, type, default and one line of documentation, in one declaration.

use super::view::{OBSERVATION, SURFACE};
use reinfors_core::{Error, OptionType, OptionValue, Result};
use reinfors_render::{Size, SizeError};
use std::num::NonZeroU32;

reinfors_core::choice! {
    /// Order of the axes of pixels.
    pub enum Layout {
        /// Channel, row, column: `(3, 96, 96)`.
        Chw = "chw",
        /// Row, column, channel: `(96, 96, 3)`, as the reference.
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

/// Height and width of the pixels observed, in this order.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct FrameSize {
    height: NonZeroU32,
    width: NonZeroU32,
}

impl From<FrameSize> for Size {
    fn from(FrameSize { height, width }: FrameSize) -> Self {
        Self { width: width.get() as usize, height: height.get() as usize }
    }
}

impl FrameSize {
    /// Takes the sides of a size, which are not 0.
    fn new(size: Size) -> Option<Self> {
        let side = |pixels: usize| NonZeroU32::new(pixels as u32);
        Some(Self { height: side(size.height)?, width: side(size.width)? })
    }

    fn bounds(size: Size) -> SizeError {
        SizeError { given: size, surface: SURFACE }
    }
}

/// Like every option that is a pair, but the sides have to be smaller than the surface that is scaled.
impl OptionType for FrameSize {
    fn annotation() -> String {
        <[NonZeroU32; 2]>::annotation()
    }
    fn allowed() -> String {
        let bounds = Self::bounds(OBSERVATION);
        let (heights, widths) = (bounds.heights(), bounds.widths());
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
        let bounds = Self::bounds(size);
        bounds.heights().contains(&size.height) && bounds.widths().contains(&size.width)
    }
}

/// The most frames in a stack, and the most steps of an action.
const MOST_STACKED: NonZeroU32 = NonZeroU32::new(32).unwrap();
const MOST_SKIPPED: NonZeroU32 = NonZeroU32::new(1000).unwrap();

reinfors_core::choice! {
    /// How observations are drawn.
    pub enum Frames {
        /// Byte for byte as the reference.
        Exact = "exact",
        /// Several times as fast, a few levels off at the edges of shapes; indicators and score as the reference.
        Fast = "fast",
    }
}

reinfors_core::options! {
    /// Options of `CarRacing`.
    pub struct CarRacingOptions {
        /// Steering, gas and brake as three numbers per action, rather than one index into a table.
        pub continuous: bool = false;
        /// Table of (steering, gas, brake) that replaces the five discrete actions: nothing, right, left, gas, brake.
        pub actions: Option<Vec<[f64; 3]>> = None;
        /// Share of the tiles that must be visited before the first tile ends a lap, as the reference has it.
        pub lap_complete_percent: f64 = 0.95, in 0.0..=1.0;
        /// New colours of the road, the ground and the grass at every reset.
        pub domain_randomize: bool = false;
        /// Steps of the simulator after which an episode is truncated; None never truncates.
        pub max_steps: Option<NonZeroU32> = NonZeroU32::new(1000);
        /// Height and width of the pixels, scaled from the reference's own surface.
        pub size: FrameSize = FrameSize::new(OBSERVATION).expect("it has pixels");
        /// One channel of luminance rather than three of colour, by the weights of Gymnasium's GrayscaleObservation.
        pub gray: bool = false;
        /// Last frames seen at once, oldest first, along the axis of channels.
        pub frame_stack: NonZeroU32 = NonZeroU32::MIN, in NonZeroU32::MIN..=MOST_STACKED;
        /// Steps of the simulator that each action is repeated for; frames between are not drawn, rewards are summed.
        pub frame_skip: NonZeroU32 = NonZeroU32::MIN, in NonZeroU32::MIN..=MOST_SKIPPED;
        /// Order of the axes of pixels: "chw" is (3, 96, 96), "hwc" is (96, 96, 3).
        pub layout: Layout = Layout::Chw;
        /// How observations are drawn: "exact" is the reference's bytes, "fast" is off by a few levels at edges.
        pub frames: Frames = Frames::Exact;
        /// What is observed: "pixels", the "state" as a vector of named numbers, or "both" as a dictionary.
        pub obs: Observed = Observed::Pixels;
    }
}

/// Bounds of (steering, gas, brake).
pub const LOW: [f32; 3] = [-1.0, 0.0, 0.0];
/// Bounds of (steering, gas, brake).
pub const HIGH: [f32; 3] = [1.0, 1.0, 1.0];

/// The reference's five discrete actions as (steering, gas, brake).
const FIVE: [(&str, [f64; 3]); 5] = [
    ("nothing", [0.0, 0.0, 0.0]),
    ("right", [0.6, 0.0, 0.0]),
    ("left", [-0.6, 0.0, 0.0]),
    ("gas", [0.0, 0.2, 0.0]),
    ("brake", [0.0, 0.0, 0.8]),
];

impl CarRacingOptions {
    /// (steering, gas, brake) of each discrete action; empty for continuous control.
    pub fn action_table(&self) -> Vec<[f64; 3]> {
        match &self.actions {
            _ if self.continuous => Vec::new(),
            Some(actions) => actions.clone(),
            None => FIVE.iter().map(|(_, control)| *control).collect(),
        }
    }

    /// What each discrete action does.
    pub fn action_names(&self) -> Vec<String> {
        match &self.actions {
            Some(actions) => {
                actions.iter().map(|[steer, gas, brake]| format!("({steer}, {gas}, {brake})")).collect()
            }
            None => FIVE.iter().map(|(name, _)| String::from(*name)).collect(),
        }
    }

    /// Refuses options that contradict each other and controls that the car does not have.
    ///
    /// # Errors
    /// `actions` together with `continuous=True`; a control outside the bounds; stacked frames without any.
    pub fn check(&self) -> Result<()> {
        if self.frame_stack > NonZeroU32::MIN && self.obs == Observed::State {
            return Err(Error::Contradiction(format!(
                "option frame_stack={} stacks pixels, which obs=\"state\" does not have",
                self.frame_stack
            )));
        }
        let Some(actions) = &self.actions else { return Ok(()) };
        if self.continuous {
            return Err(Error::Contradiction(
                "option actions is a table of discrete actions and cannot be given with continuous=True"
                    .into(),
            ));
        }
        for control in actions {
            let inside = |(value, (low, high)): (&f64, (&f32, &f32))| {
                (f64::from(*low)..=f64::from(*high)).contains(value)
            };
            if !control.iter().zip(LOW.iter().zip(&HIGH)).all(inside) {
                return Err(Error::OptionValue {
                    name: "actions",
                    allowed: "(steering, gas, brake) within [-1, 1] x [0, 1] x [0, 1]".into(),
                    given: format!("{control:?}"),
                });
            }
        }
        Ok(())
    }
}
