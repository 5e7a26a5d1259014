//! What is observed: one or several named parts, each an array of its own shape and type.
//!
//! Parts are drawn and kept apart, so that each is one contiguous array wherever it goes.

/// Type of the numbers of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Bytes, 0 to 255.
    U8,
    /// Single precision, in the machine's byte order.
    F32,
}

impl Element {
    /// Bytes of one number.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F32 => size_of::<f32>(),
        }
    }

    /// NumPy's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "uint8",
            Self::F32 => "float32",
        }
    }
}

/// One number of a state vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateEntry {
    /// Name, unique in its vector.
    pub name: &'static str,
    /// One sentence: what it is, in which unit.
    pub doc: &'static str,
    /// Least value during an episode; what is simulated after its end may lie outside.
    pub low: f32,
    /// Largest value.
    pub high: f32,
}

impl StateEntry {
    /// Any number.
    #[must_use]
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, low: f32::NEG_INFINITY, high: f32::INFINITY }
    }

    /// The same between `-bound` and `bound`.
    #[must_use]
    pub const fn within(self, bound: f32) -> Self {
        Self { low: -bound, high: bound, ..self }
    }
}

/// One array of an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationPart {
    /// Name, unique in its space.
    pub name: &'static str,
    /// Shape, C order.
    pub shape: Vec<usize>,
    /// Type of its numbers.
    pub element: Element,
    /// The axis along which the last frames are stacked; `None` where nothing is stacked.
    pub stack_axis: Option<usize>,
    /// Frames in it, oldest first along that axis; 1 where nothing is stacked.
    pub frames: usize,
    /// Whether it is drawn here and there, and not from its first byte to its last.
    pub is_scattered: bool,
    /// What each number is, for a state vector; else empty.
    pub entries: &'static [StateEntry],
}

impl ObservationPart {
    /// A picture, `uint8`, whose channels are the axis `channels`.
    #[must_use]
    pub fn pixels(shape: Vec<usize>, channels: usize) -> Self {
        Self {
            name: "pixels",
            shape,
            element: Element::U8,
            stack_axis: Some(channels),
            frames: 1,
            is_scattered: false,
            entries: &[],
        }
    }

    /// A vector of named numbers, `float32`.
    #[must_use]
    pub fn state(entries: &'static [StateEntry]) -> Self {
        let shape = vec![entries.len()];
        Self {
            name: "state",
            shape,
            element: Element::F32,
            stack_axis: None,
            frames: 1,
            is_scattered: false,
            entries,
        }
    }

    /// Bytes of one such array.
    #[must_use]
    pub fn size(&self) -> usize {
        self.element.size() * self.shape.iter().product::<usize>()
    }

    /// What `n_agents` observe of this part, one behind the other, as one array.
    pub(crate) fn of_agents(mut self, n_agents: usize) -> Self {
        self.shape.insert(0, n_agents);
        self.stack_axis = self.stack_axis.map(|axis| axis + 1);
        self
    }

    /// The part that holds the last `frames` of these along the stack axis, which are copied there in order.
    fn stacked(mut self, frames: usize) -> Self {
        if let Some(axis) = self.stack_axis {
            self.shape[axis] *= frames;
            self.frames *= frames;
            self.is_scattered &= frames == 1;
        }
        self
    }
}

/// What is observed, part by part. One part is what most games have; its array then stands for the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationSpace {
    /// At least one; their order is what parts are numbered by.
    pub parts: Vec<ObservationPart>,
}

impl ObservationSpace {
    /// A space of a single part.
    #[must_use]
    pub fn of(part: ObservationPart) -> Self {
        Self { parts: vec![part] }
    }

    /// The space in which the last `frames` are stacked, in the parts that are.
    pub(crate) fn stacked(self, frames: usize) -> Self {
        Self { parts: self.parts.into_iter().map(|part| part.stacked(frames)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_stacked_along_the_channels_and_states_never() {
        const ENTRIES: &[StateEntry] = &[StateEntry::new("x", "Position, metres.")];
        let space = ObservationSpace {
            parts: vec![
                ObservationPart { is_scattered: true, ..ObservationPart::pixels(vec![3, 8, 9], 0) },
                ObservationPart::pixels(vec![8, 9, 1], 2),
                ObservationPart::state(ENTRIES),
            ],
        };
        let sizes =
            |space: &ObservationSpace| space.parts.iter().map(ObservationPart::size).collect::<Vec<_>>();
        assert_eq!(sizes(&space), [216, 72, 4]);
        assert_eq!(space.clone().stacked(1), space);
        let stacked = space.stacked(4);
        assert!(!stacked.parts[0].is_scattered, "a stack is copied in order");
        let shapes: Vec<&[usize]> = stacked.parts.iter().map(|part| &*part.shape).collect();
        assert_eq!(shapes, [&[12, 8, 9][..], &[8, 9, 4], &[1]]);
        assert_eq!(sizes(&stacked), [864, 288, 4]);
    }
}
