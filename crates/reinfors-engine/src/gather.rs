//! Observations picked from several views, whose rows are counted through from the first to the last.

use crate::buffer::ObservationView;

/// Views one behind the other.
#[derive(Clone, Debug)]
pub struct Gather {
    views: Vec<ObservationView>,
    /// Where each begins, and the end.
    starts: Vec<usize>,
}

impl Gather {
    /// The rows of `views`.
    pub(crate) fn new(views: Vec<ObservationView>) -> Self {
        let mut starts = vec![0];
        starts.extend(views.iter().scan(0, |end, view| {
            *end += view.rows();
            Some(*end)
        }));
        Self { views, starts }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts[self.views.len()]
    }

    /// A part of one row.
    ///
    /// # Panics
    /// When there is no such row or part.
    #[must_use]
    pub fn row(&self, part: usize, row: usize) -> &[u8] {
        let view = self.starts.partition_point(|start| *start <= row) - 1;
        self.views[view].row(part, row - self.starts[view])
    }

    /// A part of the rows at `places`, copied one behind the other into `out`.
    ///
    /// # Panics
    /// When there is no such row or part, or `out` has not their size.
    pub fn copy_to(&self, part: usize, places: &[i64], out: &mut [u8]) {
        let Some(row_bytes) = out.len().checked_div(places.len()) else { return };
        for (place, out) in places.iter().zip(out.chunks_exact_mut(row_bytes)) {
            out.copy_from_slice(self.row(part, *place as usize));
        }
    }
}
