//! Races in a field against the same races alone, after every step and in every bit.

use reinfors_core::rng::{Pcg64, Seed};
use reinfors_math::cpu::Level;

use super::super::car::Control;
use super::super::race::{Race, Rules};
use super::Field;

/// How a race is driven: enough kinds to bring cars to the limits of their joints, into skids, to sleep, into
/// spins and off the playfield.
#[derive(Clone, Copy, Debug)]
enum Style {
    Random,
    Held,
    Fast,
    Discrete,
    Braking,
    Spinning,
    Away,
    Wild,
}

const STYLES: [Style; 8] = [
    Style::Random,
    Style::Held,
    Style::Fast,
    Style::Discrete,
    Style::Braking,
    Style::Spinning,
    Style::Away,
    Style::Wild,
];

/// One race that is driven twice: in a field, and alone.
struct Pair {
    style: Style,
    rng: Pcg64,
    in_field: Race,
    alone: Race,
    held: Control,
    steps: usize,
}

impl Pair {
    fn new(index: usize) -> Self {
        let seed = Seed::from(1000 + index as u64);
        let mut in_field = Race::new(Rules::default(), &seed);
        in_field.reset(Some(&seed), true, None);
        let held = Control { steer: 0.0, gas: 0.0, brake: 0.0 };
        let style = STYLES[index % STYLES.len()];
        Self { style, rng: Pcg64::from(&seed), alone: in_field.clone(), in_field, held, steps: 0 }
    }

    fn drive(&mut self) -> Control {
        let rng = &mut self.rng;
        let mut random = |reach: f64| Control {
            steer: rng.uniform(-reach, reach),
            gas: rng.uniform(1.0 - reach, reach),
            brake: rng.uniform(1.0 - reach, reach),
        };
        let step = self.steps;
        self.steps += 1;
        match self.style {
            Style::Random => random(1.0),
            Style::Wild => random(4.0),
            Style::Held => {
                if step.is_multiple_of(15) {
                    self.held = random(1.0);
                }
                self.held
            }
            Style::Fast => Control {
                steer: random(1.0).steer * if step % 90 < 60 { 0.1 } else { 1.0 },
                gas: 1.0,
                brake: if step % 200 > 180 { 1.0 } else { 0.0 },
            },
            Style::Discrete => {
                let choices =
                    [(0.0, 0.0, 0.0), (0.6, 0.0, 0.0), (-0.6, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.8)];
                let (steer, gas, brake) = choices[self.rng.integers(5) as usize];
                Control { steer, gas, brake }
            }
            Style::Braking => Control { steer: 0.0, gas: if step < 30 { 1.0 } else { 0.0 }, brake: 1.0 },
            Style::Away => Control { steer: 0.0, gas: 0.3, brake: 0.0 },
            Style::Spinning => Control { steer: 1.0, gas: 0.6, brake: 0.0 },
        }
    }
}

/// What happened in the compared steps.
#[derive(Default, Debug)]
struct Seen {
    ends: usize,
    asleep: usize,
    skids: usize,
}

/// Races `count` pairs for `steps` steps with resets at different times; now and then only some of them are
/// stepped. Saved bytes hold every number of a race, zeros with their signs.
fn compare(count: usize, steps: usize, level: Level) -> Seen {
    let mut pairs: Vec<Pair> = (0..count).map(Pair::new).collect();
    let mut field = Field::with_level(level);
    let mut seen = Seen::default();
    for step in 0..steps {
        field.clear();
        let active = |index: usize| step % 11 != 0 || !(index + step / 11).is_multiple_of(3);
        let mut outcomes = Vec::new();
        for (_, pair) in pairs.iter_mut().enumerate().filter(|(index, _)| active(*index)) {
            let control = pair.drive();
            outcomes.push(pair.alone.step(Some(control)));
            field.enter(&mut pair.in_field, control);
        }
        field.advance();
        let active_pairs = pairs.iter_mut().enumerate().filter(|(index, _)| active(*index));
        for (number, ((index, pair), expected)) in active_pairs.zip(outcomes).enumerate() {
            let outcome = field.leave(&mut pair.in_field, number);
            assert_eq!(outcome, expected, "{:?} race {index} at step {step}", pair.style);
            let same = reinfors_core::encode(pair.in_field.car()) == reinfors_core::encode(pair.alone.car());
            assert!(same, "{:?} race {index} at step {step}: {:?}", pair.style, pair.in_field.car());
            assert_eq!(pair.in_field.contacts(), pair.alone.contacts());
            seen.ends += usize::from(outcome.end.is_some());
            seen.asleep += usize::from(pair.alone.car().is_asleep());
            seen.skids += pair.alone.car().skids().iter().count();
            if outcome.end.is_some() || pair.steps > 350 + 13 * index {
                pair.steps = 0;
                pair.in_field.reset(None, true, None);
                pair.alone.reset(None, true, None);
            }
        }
    }
    seen
}

#[test]
fn a_field_of_mixed_races_equals_races_alone() {
    for level in Level::available() {
        let seen = compare(33, 600, level);
        assert!(seen.ends > 2 && seen.asleep > 50 && seen.skids > 1000, "{seen:?}");
    }
}

#[test]
fn fields_of_any_size_equal_races_alone() {
    for count in [1, 2, 3, 7, 8, 9, 17] {
        compare(count, 120, Level::best());
    }
}
