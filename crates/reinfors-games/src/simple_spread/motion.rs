//! How agents move and push each other, and how far landmarks are from them: the reference's equations in its
//! order of operations.
//!
//! Every operation is in double precision and none is fused, as in NumPy. Source: MPE2 `_mpe_utils/core.py`
//! (`World`) and `simple_spread.py` (`Scenario`).

use reinfors_core::rng::Pcg64;
use reinfors_math::exponential::log_add_exp;
use serde::{Deserialize, Serialize};

/// A place, a speed or a force: to the right, up.
pub type Vector = [f64; 2];

/// Radius of an agent (`size`).
pub const AGENT_SIZE: f64 = 0.15;
/// Radius of a landmark.
pub const LANDMARK_SIZE: f64 = 0.05;
/// How near an agent has to be to a landmark to cover it (`CAPTURE_RADIUS`).
const CAPTURE_RADIUS: f64 = 0.1;
/// Force of an action (`sensitivity`).
const SENSITIVITY: f64 = 5.0;
/// Time between two states (`dt`).
const DT: f64 = 0.1;
/// Share of its speed that an agent loses in a step (`damping`).
const DAMPING: f64 = 0.25;
const CONTACT_FORCE: f64 = 1e2;
const CONTACT_MARGIN: f64 = 1e-3;

/// An agent, of mass one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    pub position: Vector,
    pub velocity: Vector,
}

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub agents: Vec<Agent>,
    pub landmarks: Vec<Vector>,
}

impl Field {
    /// So many agents, and landmarks, all in the middle.
    pub fn new(n_agents: usize) -> Self {
        Self { agents: vec![Agent::default(); n_agents], landmarks: vec![Vector::default(); n_agents] }
    }

    /// A first state: everything somewhere between -1 and 1, at rest (`reset_world`).
    pub fn start(&mut self, rng: &mut Pcg64) {
        let mut place = || [(); 2].map(|()| rng.uniform(-1.0, 1.0));
        self.agents.fill_with(|| Agent { position: place(), velocity: Vector::default() });
        self.landmarks.fill_with(place);
    }

    /// Moves every agent for one step; `pushes` are what their actions want, and are used up.
    pub fn advance(&mut self, pushes: &mut [Vector]) {
        for push in &mut *pushes {
            *push = push.map(|along| along * SENSITIVITY);
        }
        for first in 0..pushes.len() {
            for second in first + 1..pushes.len() {
                let force = contact(self.agents[first].position, self.agents[second].position);
                for (axis, force) in force.into_iter().enumerate() {
                    pushes[first][axis] += force;
                    pushes[second][axis] -= force;
                }
            }
        }
        for (agent, force) in self.agents.iter_mut().zip(&*pushes) {
            let axes = agent.position.iter_mut().zip(&mut agent.velocity).zip(force);
            for ((position, velocity), force) in axes {
                *position += *velocity * DT;
                *velocity = *velocity * (1.0 - DAMPING) + force * DT;
            }
        }
    }

    /// The sum of the landmarks' distances to the agents that are next to them (`global_reward`).
    pub fn distance(&self) -> f64 {
        self.nearest().fold(0.0, |sum, distance| sum + distance)
    }

    /// Whether each landmark has an agent on it (`is_terminal`).
    pub fn is_covered(&self) -> bool {
        self.nearest().all(|distance| distance < CAPTURE_RADIUS)
    }

    /// How many other agents an agent touches (`is_collision`).
    pub fn collisions(&self, agent: usize) -> usize {
        let at = self.agents[agent].position;
        let others = self.agents.iter().enumerate().filter(|(other, _)| *other != agent);
        others.filter(|(_, other)| distance(other.position, at) < 2.0 * AGENT_SIZE).count()
    }

    /// Each landmark's distance to the agent that is next to it.
    fn nearest(&self) -> impl Iterator<Item = f64> {
        self.landmarks.iter().map(|landmark| {
            let distances = self.agents.iter().map(|agent| distance(agent.position, *landmark));
            distances.fold(f64::INFINITY, f64::min)
        })
    }

    /// The largest coordinate of anything (`cam_range`).
    pub fn reach(&self) -> f64 {
        let places = self.agents.iter().map(|agent| &agent.position).chain(&self.landmarks);
        places.flatten().fold(0.0, |reach, along| reach.max(along.abs()))
    }
}

/// The force on an agent at `a` from one at `b` (`get_collision_force`): hardly any before they touch.
fn contact(a: Vector, b: Vector) -> Vector {
    let way = from(b, a);
    let distance = length(way);
    let penetration = log_add_exp(0.0, -(distance - 2.0 * AGENT_SIZE) / CONTACT_MARGIN) * CONTACT_MARGIN;
    way.map(|along| CONTACT_FORCE * along / distance * penetration)
}

/// The way from one place to another.
pub fn from(start: Vector, end: Vector) -> Vector {
    [end[0] - start[0], end[1] - start[1]]
}

fn distance(a: Vector, b: Vector) -> f64 {
    length(from(b, a))
}

fn length([x, y]: Vector) -> f64 {
    (x * x + y * y).sqrt()
}
