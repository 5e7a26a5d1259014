//! Observations as numbers of their part's type: borrowed from the engine's memory, or owned by the caller.

use crate::EngineError;
use reinfors_core::{Element, ObservationSpace};

/// Numbers of one part, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Numbers<'a> {
    /// Bytes.
    U8(&'a [u8]),
    /// Single precision.
    F32(&'a [f32]),
}

impl<'a> Numbers<'a> {
    /// # Panics
    /// When the bytes are not aligned as their type needs.
    pub(crate) fn of(element: Element, bytes: &'a [u8]) -> Self {
        match element {
            Element::U8 => Self::U8(bytes),
            Element::F32 => Self::F32(bytemuck::cast_slice(bytes)),
        }
    }
}

/// Numbers of one part, owned: rows of the part one behind the other.
#[derive(Clone, Debug, PartialEq)]
pub enum ObservationArray {
    /// Bytes.
    U8(Vec<u8>),
    /// Single precision.
    F32(Vec<f32>),
}

impl ObservationArray {
    /// One array of zeros for each part, of `rows` rows.
    ///
    /// # Errors
    /// [`EngineError::Setting`] when the memory cannot be had.
    pub fn zeros(space: &ObservationSpace, rows: usize) -> Result<Vec<Self>, EngineError> {
        let zeros = |part: &reinfors_core::ObservationPart| {
            let len = rows.saturating_mul(part.size() / part.element.size());
            let array = match part.element {
                Element::U8 => zeros(len).map(Self::U8),
                Element::F32 => zeros(len).map(Self::F32),
            };
            array.ok_or_else(|| EngineError::Setting {
                name: "the number of environments",
                allowed: "so small that observations fit into memory".into(),
                given: format!("{rows} of {} bytes", part.size()),
            })
        };
        space.parts.iter().map(zeros).collect()
    }

    /// A copy of one row.
    pub(crate) fn from_bytes(element: Element, bytes: &[u8]) -> Self {
        match element {
            Element::U8 => Self::U8(bytes.to_vec()),
            Element::F32 => Self::F32(bytemuck::pod_collect_to_vec(bytes)),
        }
    }

    /// All bytes, to be drawn into.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::U8(numbers) => numbers,
            Self::F32(numbers) => bytemuck::cast_slice_mut(numbers),
        }
    }
}

/// So many zeros, if there is memory for them. It is not touched before it is written.
fn zeros<T: bytemuck::Zeroable>(len: usize) -> Option<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(len).ok()
}
