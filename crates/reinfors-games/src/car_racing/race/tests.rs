//! The race against episodes of the reference, and what users of CarRacing rely on.
//!
//! The golden files hold, every fifty steps, a hash over all numbers of all steps so far, bit for bit. They
//! are made by `scripts/make_golden.py`.

use reinfors_core::rng::Seed;

use super::super::car::{Control, WHEELS};
use super::super::skid::SkidMark;
use super::super::track::Part;
use super::{End, Outcome, Race, Rules, Weights};

const COAST: Control = Control { steer: 0.0, gas: 0.0, brake: 0.0 };

fn race(rules: Rules) -> Race {
    Race::new(rules, &Seed::from(12_345))
}

fn started(seed: u64) -> Race {
    let mut race = race(Rules::default());
    race.reset(Some(&Seed::from(seed)), true, None);
    race
}

fn drive(race: &mut Race, control: Control, steps: usize) -> Vec<Outcome> {
    (0..steps).map(|_| race.step(Some(control))).collect()
}

/// FNV-1a.
struct Hash(u64);

impl Hash {
    const fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn feed(&mut self, bytes: impl IntoIterator<Item = u8>) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn feed_numbers(&mut self, numbers: &[f64]) {
        self.feed(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
}

/// A number that tells sets of tiles apart.
fn fingerprint(tiles: impl Iterator<Item = usize>) -> f64 {
    tiles.map(|tile| ((tile + 1) * (tile + 1)) as f64).sum::<f64>() + 0.0
}

/// All numbers of a step, as `row` in `scripts/make_golden.py` lists them.
fn row(race: &Race, reward: f64, end: Option<End>) -> Vec<f64> {
    let (car, hull, contacts) = (race.car(), race.car().hull(), race.contacts());
    let end = match end {
        None => -1.0,
        Some(End::OffPlayfield) => 0.0,
        Some(End::LapFinished) => 1.0,
    };
    let visited = contacts.visited_count() as f64;
    let awake = if car.is_asleep() { 0.0 } else { 1.0 };
    let mut numbers = vec![reward, end, race.score(), visited, race.time(), awake];
    let mut push_body = |body: &reinfors_physics::body::Body, more: &[f64]| {
        let (position, velocity) = (body.transform.position, body.velocity);
        let singles = [
            position.x,
            position.y,
            body.placement.angle,
            velocity.linear.x,
            velocity.linear.y,
            velocity.angular,
        ];
        numbers.extend(singles.map(f64::from));
        numbers.extend(more);
    };
    push_body(hull, &[]);
    for index in 0..WHEELS {
        let wheel = &car.wheels()[index];
        let (angle, speed) = (car.joint_angle(index), f64::from(car.motor_speed(index)));
        let tiles = fingerprint(contacts.tiles_of_wheel(index));
        push_body(car.wheel_body(index), &[wheel.omega, wheel.phase, wheel.gas, angle, speed, tiles]);
    }
    // The reference's tiles whose colour is the road's: the first shade of three has it from the start.
    let plain = (0..race.track().points().len()).filter(|&tile| tile % 3 == 0 || contacts.painted()[tile]);
    numbers.push(fingerprint(plain));
    numbers.extend(car.skids().iter().flat_map(mark_numbers));
    numbers
}

fn mark_numbers(mark: &SkidMark) -> [f64; 6] {
    let (first, last) = (mark.points()[0], mark.points()[mark.points().len() - 1]);
    let on_grass = if mark.on_grass { 1.0 } else { 0.0 };
    [on_grass, mark.points().len() as f64, first[0], first[1], last[0], last[1]]
}

/// The decimal integer in 32-bit words.
fn seed_from_decimal(text: &str) -> Seed {
    let mut words: Vec<u32> = vec![0];
    for digit in text.bytes() {
        let mut carry = u64::from(digit - b'0');
        for word in &mut words {
            let value = u64::from(*word) * 10 + carry;
            *word = value as u32;
            carry = value >> 32;
        }
        if carry != 0 {
            words.push(carry as u32);
        }
    }
    Seed::from_words(words)
}

/// Drives a golden episode again. Every hash must agree; the race is saved and loaded at each.
fn replay(golden: &str) {
    let mut race = race(Rules::default());
    let mut hash = Hash::new();
    let (mut seed, mut resets, mut steps, mut compared) = (None, 0, 0, 0);
    let mut last = Vec::new();
    for line in golden.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let key = words.next();
        let values: Vec<&str> = words.collect();
        let number = |index: usize| values[index].parse::<f64>().unwrap();
        match key {
            Some("seed") => seed = Some(seed_from_decimal(values[0])),
            Some("resets") => resets = values[0].parse().unwrap(),
            Some("randomize") => {
                let domain_randomize = values[0] == "true";
                race = self::race(Rules { domain_randomize, ..Rules::default() });
                for reset in 0..resets {
                    race.reset(seed.as_ref().filter(|_| reset == 0), true, None);
                }
                hash.feed_numbers(&row(&race, 0.0, None));
            }
            Some("drive") => {
                let control = Control { steer: number(1), gas: number(2), brake: number(3) };
                for _ in 0..values[0].parse().unwrap() {
                    let outcome = race.step(Some(control));
                    last = row(&race, outcome.reward, outcome.end);
                    hash.feed_numbers(&last);
                    steps += 1;
                }
            }
            Some("state") => {
                let expected = [number(1), number(2), number(3), number(4)];
                assert_eq!([last[0], last[3], last[6], last[7]], expected, "at step {steps}");
                assert_eq!(hash.0.to_string(), values[0], "within the steps before {steps}");
                race = reinfors_core::decode(&reinfors_core::encode(&race)).unwrap();
                compared += 1;
            }
            _ => panic!("unknown line {line}"),
        }
    }
    assert!(compared >= 4, "{compared} states in the golden file");
}

macro_rules! golden {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            replay(include_str!(concat!("../golden/", stringify!($name), ".txt")));
        }
    )*};
}
golden!(held, skids, discrete, lap, asleep, off_playfield, wild, unseeded, randomized);

#[test]
fn tracks_and_colours_equal_the_reference() {
    let mut race = race(Rules::default());
    let mut retried = 0;
    for line in include_str!("../golden/tracks.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let seed = seed_from_decimal(words[0]);
        if words[1] == "0" {
            let domain_randomize = seed.words()[0] % 2 == 1;
            race = self::race(Rules { domain_randomize, ..Rules::default() });
        }
        race.reset(Some(&seed).filter(|_| words[1] == "0"), true, None);
        let (track, colours) = (race.track(), race.colours());
        let mut hash = Hash::new();
        for (part, quad) in track.parts().iter().zip(track.quads()) {
            let (Part::Tile(tile) | Part::Kerb(tile)) = *part;
            hash.feed((tile as u32).to_le_bytes());
            if let Part::Tile(_) = part {
                hash.feed(quad.iter().flatten().flat_map(|&coordinate| (coordinate as f32).to_le_bytes()));
            }
        }
        for colour in [&colours.road, &colours.background, &colours.grass] {
            hash.feed_numbers(colour);
        }
        let ours = [track.attempts().to_string(), track.points().len().to_string(), hash.0.to_string()];
        assert_eq!(ours, words[2..], "seed {seed}, reset {}", words[1]);
        retried += usize::from(track.attempts() > 1);
    }
    assert!(retried > 0);
}

#[test]
fn tiles_of_the_start_are_paid_with_the_first_step() {
    let expected =
        [(0, 319, 6.169_592_476_489_028), (1, 275, 7.172_727_272_727_273), (42, 283, 6.967_137_809_187_279)];
    for (seed, tiles, first) in expected {
        let mut race = started(seed);
        assert_eq!(race.track().points().len(), tiles);
        let rewards: Vec<f64> = drive(&mut race, COAST, 2).iter().map(|outcome| outcome.reward).collect();
        assert_eq!(rewards[0], first);
        assert!((rewards[1] + 0.1).abs() < 1e-12);
    }
}

#[test]
fn the_picture_keeps_the_score_of_the_reference_whatever_the_weights() {
    let weights = Weights { tile: 10.0, step: 1.0, off_playfield: 7.0 };
    let mut race = race(Rules { weights, ..Rules::default() });
    race.reset(Some(&Seed::from(0)), true, None);
    let mut reference = started(0);
    let control = Control { steer: 0.0, gas: 0.3, brake: 0.0 };
    for _ in 0..320 {
        let (ours, theirs) = (race.step(Some(control)), reference.step(Some(control)));
        assert_eq!(
            (race.score(), race.contacts().visited_count(), ours.end),
            (reference.score(), reference.contacts().visited_count(), theirs.end)
        );
        match ours.end {
            Some(End::OffPlayfield) => assert_eq!((ours.reward, theirs.reward), (7.0, -100.0)),
            _ => assert!((ours.reward - (1.0 + (theirs.reward + 0.1) / 100.0)).abs() < 1e-9),
        }
    }
}

#[test]
fn stepping_on_after_the_end_stays_at_the_end() {
    let mut race = started(0);
    let outcomes = drive(&mut race, Control { steer: 0.0, gas: 0.3, brake: 0.0 }, 320);
    let first = outcomes.iter().position(|outcome| outcome.end.is_some()).unwrap();
    for outcome in &outcomes[first..] {
        assert_eq!((outcome.end, outcome.reward), (Some(End::OffPlayfield), -100.0));
    }
}

#[test]
fn a_lap_share_below_two_tiles_ends_at_the_start() {
    let first_end = |lap_complete_percent: f64| {
        let mut race = race(Rules { lap_complete_percent, ..Rules::default() });
        race.reset(Some(&Seed::from(0)), true, None);
        race.step(Some(COAST)).end
    };
    // Two of 319 tiles are 0.00627.
    assert_eq!([0.0, 0.0062].map(first_end), [Some(End::LapFinished); 2]);
    assert_eq!(first_end(0.0063), None);
}

#[test]
fn positive_steering_turns_right() {
    let heading = |steer: f64| {
        let mut race = started(0);
        drive(&mut race, Control { steer: 0.0, gas: 0.2, brake: 0.0 }, 30);
        let before = race.car().hull().placement.angle;
        drive(&mut race, Control { steer, gas: 0.0, brake: 0.0 }, 20);
        race.car().hull().placement.angle - before
    };
    assert!(heading(0.6) < -0.01 && heading(-0.6) > 0.01);
}

#[test]
fn gas_is_clipped_and_a_negative_brake_does_nothing() {
    let after = |control: Control| {
        let mut race = started(3);
        drive(&mut race, control, 60);
        race.car().hull().transform
    };
    let within = Control { steer: 0.0, gas: 1.0, brake: 0.0 };
    assert_eq!(after(Control { gas: 5.0, ..within }), after(within));
    assert_eq!(after(Control { brake: -5.0, ..within }), after(within));
    assert_eq!(after(Control { gas: -5.0, ..within }), after(Control { gas: 0.0, ..within }));
    assert_eq!(after(Control { brake: 5.0, ..within }), after(Control { brake: 0.9, ..within }));
    assert_ne!(after(Control { brake: 0.5, ..within }), after(within));
}

#[test]
fn a_seeded_reset_of_a_used_race_equals_a_fresh_one() {
    let mut used = started(5);
    drive(&mut used, Control { steer: 0.7, gas: 1.0, brake: 0.0 }, 200);
    used.reset(Some(&Seed::from(0)), true, None);
    let mut fresh = started(0);
    for step in 0..100 {
        let control = Control { steer: (step % 7) as f64 / 7.0, gas: 0.5, brake: 0.0 };
        assert_eq!(used.step(Some(control)), fresh.step(Some(control)));
        assert_eq!(row(&used, 0.0, None), row(&fresh, 0.0, None));
    }
    assert_ne!(row(&used, 0.0, None), row(&started(5), 0.0, None));
}

#[test]
fn colours_are_drawn_once_per_reset_and_only_if_asked() {
    let mut race = race(Rules { domain_randomize: true, ..Rules::default() });
    race.reset(Some(&Seed::from(0)), true, None);
    let first = *race.colours();
    assert_eq!(race.track().points().len(), 267);
    let rounded = first.road.map(|channel| (channel * 1e8).round() / 1e8);
    assert_eq!(rounded, [133.761_954_34, 56.655_209_89, 8.604_440_03]);
    let brighter: Vec<f64> = first.grass.iter().zip(first.background).map(|(a, b)| a - b).collect();
    assert_eq!(brighter.iter().filter(|&&difference| difference != 0.0).count(), 1);

    race.reset(Some(&Seed::from(0)), true, None);
    assert_eq!(*race.colours(), first);
    let mut keeping = race.clone();
    keeping.reset(None, false, None);
    assert_eq!((keeping.track().points().len(), *keeping.colours()), (240, first));
    race.reset(None, true, None);
    assert_ne!(*race.colours(), first);
}

#[test]
fn asking_a_plain_race_for_colours_draws_nothing() {
    let mut asked = race(Rules::default());
    let mut not_asked = asked.clone();
    asked.reset(Some(&Seed::from(0)), true, None);
    not_asked.reset(Some(&Seed::from(0)), false, None);
    assert_eq!(asked, not_asked);
}

#[test]
fn a_clone_goes_its_own_way_and_shares_the_track() {
    let mut race = started(2);
    let before = race.clone();
    assert!(std::sync::Arc::ptr_eq(&race.track, &before.track));
    drive(&mut race, Control { steer: 0.0, gas: 1.0, brake: 0.0 }, 50);
    assert_ne!(race, before);
    assert_eq!(before, started(2));
}

#[test]
fn a_race_before_its_first_reset_does_not_panic() {
    let mut race = race(Rules::default());
    drive(&mut race, Control { steer: 1.0, gas: 1.0, brake: 0.0 }, 10);
    assert!(race.track().points().is_empty());
}
