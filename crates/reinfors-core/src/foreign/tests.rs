//! Counters that live elsewhere: what the batch asks of them and when, and what becomes of their failures.

use super::*;
use crate::{Element, ObservationPart};

/// Each row counts up by its action; the third step fails where `is_frail`.
#[derive(Default)]
struct Counters {
    counts: Vec<u8>,
    remembered: Option<Vec<u8>>,
    calls: Vec<String>,
    steps: usize,
    is_frail: bool,
    can_go_back: bool,
}

impl Counters {
    fn show(&self, shown: &mut [Vec<u8>]) {
        shown[0].copy_from_slice(&self.counts);
    }
}

impl Worlds for Counters {
    fn reset(
        &mut self,
        rows: &[(usize, Option<Seed>)],
        shown: &mut [Vec<u8>],
    ) -> std::result::Result<(), Failure> {
        self.calls.push(format!("reset {:?}", rows.iter().map(|(row, _)| row).collect::<Vec<_>>()));
        for (row, seed) in rows {
            self.counts[*row] = seed.as_ref().map_or(100, |seed| seed.words()[0] as u8);
        }
        self.show(shown);
        Ok(())
    }

    fn step(
        &mut self,
        actions: Actions<'_>,
        active: &[bool],
        outcomes: &mut [Outcome],
        shown: &mut [Vec<u8>],
    ) -> std::result::Result<(), Failure> {
        self.calls.push(format!("step {active:?}"));
        self.steps += 1;
        if self.is_frail && self.steps == 3 {
            return Err(Failure::with_payload("the third step", Box::new(3)));
        }
        let Actions::Discrete(indices) = actions else { unreachable!("counters are numbered") };
        for row in (0..self.counts.len()).filter(|&row| active[row]) {
            self.counts[row] += indices[row] as u8;
            outcomes[row].reward = f64::from(self.counts[row]);
        }
        self.show(shown);
        Ok(())
    }

    fn render(&mut self, _row: usize) -> std::result::Result<Picture, Failure> {
        Err(Failure::new("nothing to see"))
    }

    fn checkpoint(&mut self) -> std::result::Result<(), Failure> {
        self.remembered = self.can_go_back.then(|| self.counts.clone());
        Ok(())
    }

    fn rollback(&mut self) -> std::result::Result<bool, Failure> {
        let Some(remembered) = &self.remembered else { return Ok(false) };
        self.counts.clone_from(remembered);
        Ok(true)
    }
}

fn batch(worlds: Counters) -> ForeignBatch<Counters> {
    let part = ObservationPart {
        name: "count",
        shape: vec![1],
        element: Element::U8,
        stack_axis: None,
        frames: 1,
        is_scattered: false,
        entries: &[],
    };
    ForeignBatch::new(Counters { counts: vec![0; 3], ..worlds }, &ObservationSpace::of(part), 3)
}

fn seen(batch: &mut ForeignBatch<Counters>) -> [u8; 3] {
    let mut out = [0; 3];
    batch.observe(0, 0..3, &mut out);
    out
}

fn begin(batch: &mut ForeignBatch<Counters>) {
    for row in 0..3 {
        batch.reset(row, Some(&Seed::from(10 * row as u64)), &[]);
    }
}

#[test]
fn resets_are_gathered_until_somebody_looks() {
    let mut batch = batch(Counters::default());
    begin(&mut batch);
    batch.reset(1, None, &[]);
    assert!(batch.worlds.calls.is_empty());
    assert_eq!(seen(&mut batch), [0, 100, 20]);
    assert_eq!(seen(&mut batch), [0, 100, 20]);
    assert_eq!(batch.worlds.calls, ["reset [0, 2, 1]"]);
}

#[test]
fn active_rows_are_stepped_and_paid() {
    let mut batch = batch(Counters::default());
    begin(&mut batch);
    let mut outcomes = [Outcome::default(); 3];
    batch.step(Actions::Discrete(&[1, 2, 3]), Some(&[true, false, true]), &mut outcomes);
    assert_eq!(seen(&mut batch), [1, 10, 23]);
    assert_eq!(outcomes.map(|outcome| outcome.reward), [1.0, 0.0, 23.0]);
    assert!(batch.take_failure().is_none());
}

#[test]
fn a_failure_waits_to_be_asked_for_and_nothing_more_is_asked_of_the_worlds() {
    let mut batch = batch(Counters { is_frail: true, ..Counters::default() });
    begin(&mut batch);
    let mut outcomes = [Outcome::default(); 3];
    for _ in 0..5 {
        batch.step(Actions::Discrete(&[1, 1, 1]), None, &mut outcomes);
    }
    batch.reset(0, None, &[]);
    assert_eq!(seen(&mut batch), [2, 12, 22], "what was last seen");
    assert_eq!(batch.worlds.steps, 3);
    let failure = batch.take_failure().expect("the third step has failed");
    assert_eq!(failure.to_string(), "the third step");
    assert_eq!(failure.into_payload().and_then(|payload| payload.downcast().ok()), Some(Box::new(3)));
    assert!(batch.take_failure().is_none(), "it is told once");
    assert_eq!(seen(&mut batch), [100, 12, 22], "the reset that was owed");
    assert!(
        batch.render(0, None).is_ok()
            && batch.render(0, Some(PictureSize { width: 64, height: 64 })).is_err()
    );
    assert_eq!(batch.take_failure().map(|failure| failure.to_string()), Some("nothing to see".into()));
}

#[test]
fn rows_go_back_together_or_not_at_all() {
    for can_go_back in [true, false] {
        let mut batch = batch(Counters { can_go_back, ..Counters::default() });
        begin(&mut batch);
        batch.checkpoint();
        batch.step(Actions::Discrete(&[1, 1, 1]), None, &mut [Outcome::default(); 3]);
        batch.reset(2, None, &[]);
        assert_eq!(batch.rollback(), can_go_back);
        let expected = if can_go_back { [0, 10, 20] } else { [1, 11, 21] };
        assert_eq!(seen(&mut batch), expected);
    }
}
