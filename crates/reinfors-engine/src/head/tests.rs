//! Heads against formulas written out and against the moments of their distributions.

use super::*;
use reinfors_core::rng::Seed;

const LOW: [f32; 2] = [-1.0, 0.0];
const HIGH: [f32; 2] = [1.0, 0.5];

fn rng() -> Pcg64 {
    Pcg64::from(&Seed::from(2024))
}

/// Mean and variance of each dimension over many samples.
fn moments(mut sample: impl FnMut(&mut Vec<f32>)) -> [(f64, f64); 2] {
    const N: usize = 200_000;
    let mut samples = Vec::new();
    for _ in 0..N {
        sample(&mut samples);
    }
    [0, 1].map(|at| {
        let numbers = || samples.iter().skip(at).step_by(2).map(|number| f64::from(*number));
        let mean = numbers().sum::<f64>() / N as f64;
        (mean, numbers().map(|number| (number - mean).powi(2)).sum::<f64>() / N as f64)
    })
}

fn assert_close(given: f64, expected: f64, tolerance: f64) {
    assert!((given - expected).abs() <= tolerance, "{given} instead of {expected}");
}

#[test]
fn a_categorical_log_probability_is_the_logarithm_of_the_softmax() {
    let head = Categorical::new(4);
    let logits = [0.3, -1.2, 2.5, 0.0];
    let sum: f64 = logits.iter().map(|logit: &f64| logit.exp()).sum();
    for (action, logit) in logits.iter().enumerate() {
        assert_close(head.log_prob(&logits, action), (logit.exp() / sum).ln(), 1e-14);
    }
    let shifted = logits.map(|logit| logit + 1e6);
    assert_close(head.log_prob(&shifted, 1), head.log_prob(&logits, 1), 1e-9);
}

#[test]
fn categorical_samples_have_the_frequencies_of_the_softmax() {
    let head = Categorical::new(4);
    let logits = [0.3, -1.2, 2.5, -1e300];
    let mut rng = rng();
    let mut counts = [0.0; 4];
    for _ in 0..200_000 {
        counts[head.sample(&logits, &mut rng)] += 1.0 / 200_000.0;
    }
    for (action, count) in counts.iter().enumerate() {
        assert_close(*count, head.log_prob(&logits, action).exp(), 0.004);
    }
    assert_eq!(counts[3], 0.0);
}

#[test]
fn a_gaussian_density_is_the_product_of_normal_densities() {
    let head = Gaussian::new(&LOW, &HIGH);
    let (params, sample) = ([0.5, -2.0, 0.25, -1.0], [1.5_f32, -2.25]);
    let density = |x: f64, mean: f64, std: f64| {
        (-(x - mean).powi(2) / (2.0 * std * std)).exp() / (std * std::f64::consts::TAU.sqrt())
    };
    let expected = density(1.5, 0.5, 0.25_f64.exp()) * density(-2.25, -2.0, (-1.0_f64).exp());
    assert_close(head.log_prob(&params, &sample), expected.ln(), 1e-13);
}

#[test]
fn gaussian_samples_have_mean_and_variance() {
    let head = Gaussian::new(&LOW, &HIGH);
    let mut rng = rng();
    let [first, second] = moments(|out| head.sample(&[3.0, -0.5, 0.0, -1.0], &mut rng, out).unwrap());
    assert_close(first.0, 3.0, 0.01);
    assert_close(first.1, 1.0, 0.02);
    assert_close(second.0, -0.5, 0.005);
    assert_close(second.1, (-2.0_f64).exp(), 0.003);
}

#[test]
fn the_game_is_given_the_gaussian_sample_clipped() {
    let mut controls = Vec::new();
    Gaussian::new(&LOW, &HIGH).clip(&[3.0, -0.25], &mut controls);
    Gaussian::new(&LOW, &HIGH).clip(&[-0.5, 0.25], &mut controls);
    assert_eq!(controls, [1.0, 0.0, -0.5, 0.25]);
}

#[test]
fn a_beta_density_is_in_action_units() {
    let head = Beta::new(&LOW, &HIGH).unwrap();
    // Beta(2, 3) has density 12 u (1-u)^2, Beta(1, 4) has 4 (1-u)^3; the widths are 2 and 1/2.
    let (params, sample) = ([2.0, 1.0, 3.0, 4.0], [0.5_f32, 0.125]);
    let expected = 12.0 * 0.75 * 0.25_f64.powi(2) / 2.0 * (4.0 * 0.75_f64.powi(3) / 0.5);
    assert_close(head.log_prob(&params, &sample), expected.ln(), 1e-13);
}

#[test]
fn beta_samples_have_mean_and_variance_for_small_and_large_shapes() {
    let head = Beta::new(&LOW, &HIGH).unwrap();
    for (alpha, beta) in [(2.0, 3.0), (0.5, 0.5), (0.2, 4.0), (50.0, 20.0)] {
        let mut rng = rng();
        let [first, second] = moments(|out| head.sample(&[alpha, alpha, beta, beta], &mut rng, out).unwrap());
        let mean = alpha / (alpha + beta);
        let variance = mean * (1.0 - mean) / (alpha + beta + 1.0);
        assert_close(first.0, -1.0 + 2.0 * mean, 0.008);
        assert_close(first.1, 4.0 * variance, 0.01);
        assert_close(second.0, 0.5 * mean, 0.002);
        assert_close(second.1, 0.25 * variance, 0.001);
    }
}

#[test]
fn a_beta_sample_lies_strictly_inside_however_extreme_the_shapes() {
    let head = Beta::new(&LOW, &HIGH).unwrap();
    let mut rng = rng();
    for (alpha, beta) in [(1e-6, 1e-6), (1e-300, 1.0), (1.0, 1e-300), (1e8, 1e-3), (1e-3, 1e8)] {
        let params = [alpha, alpha, beta, beta];
        for _ in 0..200 {
            let mut sample = Vec::new();
            head.sample(&params, &mut rng, &mut sample).unwrap();
            assert!((0..2).all(|at| LOW[at] < sample[at] && sample[at] < HIGH[at]), "{sample:?}");
            assert!(head.log_prob(&params, &sample).is_finite());
        }
    }
}

#[test]
fn a_beta_head_needs_finite_bounds() {
    let error = Beta::new(&[f32::NEG_INFINITY], &[1.0]).unwrap_err().to_string();
    assert_eq!(
        error,
        "distribution must be \"gaussian\" for a game whose action bounds are -inf and 1, got \"beta\""
    );
}

#[test]
fn the_mode_is_where_the_density_is_greatest() {
    assert_eq!(Categorical::new(4).mode(&[0.3, 2.5, 2.5, -1.0]), 1);
    assert_eq!(Categorical::new(2).mode(&[f64::MIN, f64::MIN]), 0);

    let mut actions = Vec::new();
    Gaussian::new(&LOW, &HIGH).mode(&[3.0, -0.25, 5.0, 5.0], &mut actions).unwrap();
    assert_eq!(actions, [3.0, -0.25], "raw: what the game is given is clipped");
    assert!(Gaussian::new(&LOW, &HIGH).mode(&[1e300, 0.0, 0.0, 0.0], &mut Vec::new()).is_err());

    let head = Beta::new(&LOW, &HIGH).unwrap();
    for params in [[3.0, 1.5, 2.0, 4.0], [1.01, 90.0, 5.0, 1.5], [2.0, 2.0, 2.0, 2.0]] {
        let mut mode = Vec::new();
        head.mode(&params, &mut mode).unwrap();
        let density = |at: usize, shift: f32| {
            let mut moved = mode.clone();
            moved[at] += shift;
            head.log_prob(&params, &moved)
        };
        for (at, shift) in [(0, 1e-3), (0, -1e-3), (1, 1e-4), (1, -1e-4)] {
            assert!(density(at, shift) < density(at, 0.0), "{params:?} in dimension {at}");
        }
    }
}

#[test]
fn the_mode_of_a_beta_density_without_a_top_is_the_end_it_grows_to() {
    let head = Beta::new(&[0.0], &[1.0]).unwrap();
    let mode = |alpha, beta| {
        let mut mode = Vec::new();
        head.mode(&[alpha, beta], &mut mode).unwrap();
        mode[0]
    };
    assert!(mode(0.5, 2.0) < 1e-30 && mode(0.5, 0.9) < 1e-30);
    assert!(mode(2.0, 0.5) > 0.999 && mode(2.0, 1.0) > 0.999 && mode(0.9, 0.5) > 0.999);
    assert_eq!((mode(0.5, 0.5), mode(1.0, 1.0), mode(9.0, 9.0)), (0.5, 0.5, 0.5));
    assert!((mode(f64::MAX, f64::MAX / 3.0) - 0.75).abs() < 1e-6);
    assert!(head.mode(&[0.0, 1.0], &mut Vec::new()).unwrap_err().contains("positive"));
}

#[test]
fn greedy_choices_are_the_first_of_the_best_and_the_others_have_their_share() {
    let values = [0.5, 2.0, 2.0, -1.0];
    let mut rng = rng();
    let greedy = EpsilonGreedy::new(4, 0.0);
    assert!((0..1000).all(|_| greedy.sample(&values, &mut rng) == 1));
    assert_eq!(greedy.log_prob(&values, 1), 0.0);
    for epsilon in [0.3, 1.0] {
        let head = EpsilonGreedy::new(4, epsilon);
        let mut counts = [0.0; 4];
        for _ in 0..200_000 {
            counts[head.sample(&values, &mut rng)] += 1.0 / 200_000.0;
        }
        for (action, count) in counts.iter().enumerate() {
            assert_close(*count, head.log_prob(&values, action).exp(), 0.004);
        }
        assert_close(counts[0], epsilon / 4.0, 0.004);
    }
}
