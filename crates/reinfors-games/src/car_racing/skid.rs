//! Skid marks: the lines that slipping wheels leave on the ground (`Car.particles`). They are drawn and feed
//! back into nothing.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The most marks that are kept, the `maxlen` of the reference's deque. The oldest makes room.
const MOST_MARKS: usize = 30;
/// The most points of one mark.
const MOST_POINTS: usize = 30;

/// A line on the ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkidMark {
    points: [[f64; 2]; MOST_POINTS],
    count: usize,
    /// Whether the line was left on grass rather than on the road.
    pub on_grass: bool,
}

impl SkidMark {
    /// World coordinates of the line's points, metres; at least two.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points[..self.count]
    }
}

/// All marks of one car, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkidMarks {
    marks: VecDeque<SkidMark>,
    made: u64,
}

impl Default for SkidMarks {
    fn default() -> Self {
        Self { marks: VecDeque::with_capacity(MOST_MARKS), made: 0 }
    }
}

/// What one wheel remembers of its slipping.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkidTrail {
    /// Whether the wheel slipped before and has no mark for it yet.
    started: bool,
    mark: Option<HeldMark>,
}

/// The mark that a wheel goes on drawing. It may have made room for others, and then grows unseen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct HeldMark {
    number: u64,
    count: usize,
    on_grass: bool,
}

impl SkidMarks {
    /// Whether no mark counts points that it cannot hold.
    pub fn fit(&self) -> bool {
        let held = self.marks.len();
        let whole = |mark: &SkidMark| (2..=MOST_POINTS).contains(&mark.count);
        held <= MOST_MARKS && self.made >= held as u64 && self.marks.iter().all(whole)
    }

    /// The marks, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &SkidMark> {
        self.marks.iter()
    }

    /// Draws on while a wheel slips at `position`, on grass or on the road.
    pub fn slip(&mut self, trail: &mut SkidTrail, position: [f64; 2], on_grass: bool) {
        match &mut trail.mark {
            Some(mark) if mark.on_grass == on_grass && mark.count < MOST_POINTS => {
                if let Some(seen) = self.seen(mark.number) {
                    seen.points[mark.count] = position;
                    seen.count += 1;
                }
                mark.count += 1;
            }
            _ if !trail.started => trail.started = true,
            _ => {
                trail.mark = Some(self.begin(position, on_grass));
                trail.started = false;
            }
        }
    }

    /// A mark begins with its first point twice: the reference means to start it where the slipping began,
    /// but what it remembered is a view of the wheel's position, which has moved along.
    fn begin(&mut self, position: [f64; 2], on_grass: bool) -> HeldMark {
        if self.marks.len() == MOST_MARKS {
            self.marks.pop_front();
        }
        self.marks.push_back(SkidMark { points: [position; MOST_POINTS], count: 2, on_grass });
        self.made += 1;
        HeldMark { number: self.made - 1, count: 2, on_grass }
    }

    fn seen(&mut self, number: u64) -> Option<&mut SkidMark> {
        let oldest = self.made - self.marks.len() as u64;
        number.checked_sub(oldest).and_then(|index| self.marks.get_mut(index as usize))
    }
}

impl SkidTrail {
    /// The wheel grips again.
    pub fn grip(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_MARKS, MOST_POINTS, SkidMarks, SkidTrail};

    #[test]
    fn a_mark_needs_two_slips_and_begins_with_a_double_point() {
        let (mut marks, mut trail) = (SkidMarks::default(), SkidTrail::default());
        marks.slip(&mut trail, [1.0, 0.0], false);
        assert_eq!(marks.iter().count(), 0);
        marks.slip(&mut trail, [2.0, 0.0], false);
        marks.slip(&mut trail, [3.0, 0.0], false);
        let lines: Vec<_> = marks.iter().map(|mark| mark.points().to_vec()).collect();
        assert_eq!(lines, [[[2.0, 0.0], [2.0, 0.0], [3.0, 0.0]]]);
    }

    #[test]
    fn a_mark_ends_with_its_points_its_surface_or_the_slip() {
        let (mut marks, mut trail) = (SkidMarks::default(), SkidTrail::default());
        for _ in 0..MOST_POINTS {
            marks.slip(&mut trail, [0.0; 2], false);
        }
        assert_eq!(marks.iter().map(|mark| mark.points().len()).collect::<Vec<_>>(), [MOST_POINTS]);
        marks.slip(&mut trail, [0.0; 2], false);
        marks.slip(&mut trail, [0.0; 2], false);
        marks.slip(&mut trail, [0.0; 2], true);
        marks.slip(&mut trail, [0.0; 2], true);
        trail.grip();
        marks.slip(&mut trail, [0.0; 2], true);
        marks.slip(&mut trail, [0.0; 2], true);
        assert_eq!(marks.iter().map(|mark| mark.on_grass).collect::<Vec<_>>(), [false, false, true, true]);
    }

    #[test]
    fn a_wheel_goes_on_with_a_mark_that_made_room() {
        let mut marks = SkidMarks::default();
        let (mut patient, mut busy) = (SkidTrail::default(), SkidTrail::default());
        marks.slip(&mut patient, [9.0; 2], true);
        marks.slip(&mut patient, [9.0; 2], true);
        for _ in 0..MOST_MARKS {
            busy.grip();
            marks.slip(&mut busy, [0.0; 2], false);
            marks.slip(&mut busy, [0.0; 2], false);
        }
        marks.slip(&mut patient, [9.0; 2], true);
        assert_eq!(marks.iter().filter(|mark| !mark.on_grass && mark.points().len() == 2).count(), 30);
    }
}
