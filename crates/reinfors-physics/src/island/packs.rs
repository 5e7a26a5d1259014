//! Many islands of one kind, stepped together in packs of lanes.
//!
//! 1. Velocity iterations are nearly all the work, and islands need very different numbers of them (see
//!    `velocity.rs`). All packs run a first burst; the lanes that have not settled then move into dense
//!    packs, run the next burst, and so on. So a lane that needs all iterations does not hold up the others.
//! 2. Lanes at a joint's limit take a longer way through each iteration: they get dense packs of their own.
//! 3. Which islands share a pack depends on the neighbours, and no bit of any island does.
//! 4. A few islands are stepped one after the other, so that each settles when it does.
//! 5. Stopping whole packs early, without moving lanes, was measured and saves nothing: among sixteen lanes
//!    there is nearly always one that takes long.

use std::marker::PhantomData;

use reinfors_math::cpu::{Kernel, Level};
use reinfors_math::lanes::{Pack, PerLane};

use super::velocity::{Forecast, Iteration};
use super::{Island, IslandDef, TimeStep, Wiring};
use crate::body::MassLanes;

/// Velocity iterations after which settled lanes leave, counted from the last time; even (see `velocity.rs`).
const BURSTS: [usize; 5] = [8, 16, 32, 60, 64];

/// Islands that take less one after the other than in a pack: two by 7 to 26 %, while three take 6 to 13 % more
/// where vectors have eight lanes.
const FEW: usize = 2;

/// Packs whose iterations run side by side.
const SIDE_BY_SIDE: usize = 2;

/// Islands of `B` bodies and `J` joints in packs of `N` lanes, and the memory to step them. Filled with
/// [`Packs::push`], stepped, read with [`Packs::get`] and emptied; keeps its memory.
pub struct Packs<const N: usize, const B: usize, const J: usize> {
    islands: Vec<Island<Pack<N>, B, J>>,
    len: usize,
    iterations: Vec<Iteration<Pack<N>, B, J>>,
    forecasts: Vec<Forecast<Pack<N>, J>>,
    free: Dense<N, B, J>,
    at_limit: Dense<N, B, J>,
}

/// Lanes that have not settled, packed without gaps.
struct Dense<const N: usize, const B: usize, const J: usize> {
    packs: Vec<Iteration<Pack<N>, B, J>>,
    /// Of each lane, the island it belongs to.
    homes: Vec<usize>,
}

impl<const N: usize, const B: usize, const J: usize> Default for Packs<N, B, J> {
    fn default() -> Self {
        let dense = || Dense { packs: Vec::new(), homes: Vec::new() };
        Self {
            islands: Vec::new(),
            len: 0,
            iterations: Vec::new(),
            forecasts: Vec::new(),
            free: dense(),
            at_limit: dense(),
        }
    }
}

impl<const N: usize, const B: usize, const J: usize> Packs<N, B, J> {
    /// Removes all islands.
    pub fn clear(&mut self) {
        self.islands.clear();
        self.len = 0;
    }

    /// Adds an island behind the others.
    #[inline]
    pub fn push(&mut self, island: &Island<f32, B, J>) {
        let lane = self.len % N;
        if lane == 0 {
            // Lanes that stay without an island do what this one does.
            self.islands.push(Island::splat(*island));
        } else {
            self.islands[self.len / N].set(lane, *island);
        }
        self.len += 1;
    }

    /// Island `index`, in the order of [`Packs::push`].
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn get(&self, index: usize) -> Island<f32, B, J> {
        self.islands[index / N].get(index % N)
    }

    /// Advances every island as [`Island::step`] does, to the same bits, with the instructions of `level`.
    pub fn step<W: Wiring<J>>(&mut self, def: &IslandDef<B, J>, step: &TimeStep, level: Level) {
        level.run(Stepping { packs: self, def, step, wiring: PhantomData::<W> });
    }

    #[inline(always)]
    fn solve_velocities<W: Wiring<J>>(
        &mut self,
        def: &IslandDef<B, J>,
        masses: &[MassLanes<Pack<N>>; B],
        step: &TimeStep,
    ) {
        let Self { islands, len, iterations, forecasts, free, at_limit } = self;
        iterations.clear();
        iterations.extend(islands.iter().map(|island| Iteration::begin::<W>(island, def, masses, step.dt)));
        forecasts.reserve(islands.len());
        free.reserve(*len);
        at_limit.reserve(*len);

        let first =
            if step.stop_when_settled { BURSTS[0] + step.velocity_iterations % 2 } else { usize::MAX };
        let first = first.min(step.velocity_iterations);
        let left = step.velocity_iterations - first;
        run_burst::<W, N, B, J>(iterations, masses, first, forecasts);
        for (pack, (iteration, forecast)) in iterations.iter_mut().zip(forecasts.iter()).enumerate() {
            iteration.replay(forecast, left);
            let used = if left == 0 { 0 } else { N.min(*len - pack * N) };
            for lane in (0..used).filter(|&lane| !forecast.settled.get(lane)) {
                let dense = if iteration.is_at_limit(lane) { &mut *at_limit } else { &mut *free };
                dense.push(iteration.get(lane), pack * N + lane);
            }
        }
        for dense in [free, at_limit] {
            dense.run_out::<W>(masses, left, iterations, forecasts);
        }
        for (island, iteration) in islands.iter_mut().zip(iterations) {
            iteration.end(island);
        }
    }
}

/// Runs `count` iterations of every pack, and replaces `forecasts` by what is known of the packs then.
#[inline(always)]
fn run_burst<W: Wiring<J>, const N: usize, const B: usize, const J: usize>(
    packs: &mut [Iteration<Pack<N>, B, J>],
    masses: &[MassLanes<Pack<N>>; B],
    count: usize,
    forecasts: &mut Vec<Forecast<Pack<N>, J>>,
) {
    forecasts.clear();
    let (groups, rest) = packs.as_chunks_mut::<SIDE_BY_SIDE>();
    for group in groups {
        forecasts.extend(Iteration::run_burst::<W, SIDE_BY_SIDE>(group, masses, count));
    }
    for pack in rest {
        forecasts.extend(Iteration::run_burst::<W, 1>(std::array::from_mut(pack), masses, count));
    }
}

impl<const N: usize, const B: usize, const J: usize> Dense<N, B, J> {
    /// Makes room for so many lanes, so that no later step has to.
    fn reserve(&mut self, lanes: usize) {
        self.packs.reserve(lanes.div_ceil(N));
        self.homes.reserve(lanes);
    }

    #[inline(always)]
    fn push(&mut self, lane: Iteration<f32, B, J>, home: usize) {
        let index = self.homes.len() % N;
        if index == 0 {
            self.packs.push(Iteration::splat(lane));
        } else {
            self.packs[self.homes.len() / N].set(index, lane);
        }
        self.homes.push(home);
    }

    /// Runs the `left` iterations that remain after the first burst, and takes the results `home`.
    #[inline(always)]
    fn run_out<W: Wiring<J>>(
        &mut self,
        masses: &[MassLanes<Pack<N>>; B],
        mut left: usize,
        home: &mut [Iteration<Pack<N>, B, J>],
        forecasts: &mut Vec<Forecast<Pack<N>, J>>,
    ) {
        let mut later_bursts = BURSTS[1..].iter();
        while !self.homes.is_empty() {
            let burst = later_bursts.next().map_or(left, |&burst| left.min(burst));
            left -= burst;
            run_burst::<W, N, B, J>(&mut self.packs, masses, burst, forecasts);
            self.sort_out(forecasts, left, home);
        }
    }

    /// Takes lanes that have settled, or all if no iteration is `left`, `home`, and closes up the others.
    #[inline(always)]
    fn sort_out(
        &mut self,
        forecasts: &[Forecast<Pack<N>, J>],
        left: usize,
        home: &mut [Iteration<Pack<N>, B, J>],
    ) {
        let mut kept = 0;
        for (pack, forecast) in forecasts.iter().enumerate() {
            self.packs[pack].replay(forecast, left);
            for lane in 0..N.min(self.homes.len() - pack * N) {
                let island = self.homes[pack * N + lane];
                if left == 0 || forecast.settled.get(lane) {
                    home[island / N].take_result(island % N, &self.packs[pack], lane);
                    continue;
                }
                let open = self.packs[pack].get(lane);
                self.packs[kept / N].set(kept % N, open);
                self.homes[kept] = island;
                kept += 1;
            }
        }
        self.homes.truncate(kept);
        self.packs.truncate(kept.div_ceil(N));
    }
}

/// [`Packs::step`] as a kernel.
struct Stepping<'a, W, const N: usize, const B: usize, const J: usize> {
    packs: &'a mut Packs<N, B, J>,
    def: &'a IslandDef<B, J>,
    step: &'a TimeStep,
    wiring: PhantomData<W>,
}

impl<W: Wiring<J>, const N: usize, const B: usize, const J: usize> Kernel for Stepping<'_, W, N, B, J> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { packs, def, step, .. } = self;
        if packs.len <= FEW {
            for index in 0..packs.len {
                let mut alone = packs.get(index);
                alone.step::<W>(def, step);
                packs.islands[index / N].set(index % N, alone);
            }
            return;
        }
        let masses = def.masses.each_ref().map(MassLanes::splat);
        for island in &mut packs.islands {
            island.integrate_velocities(&masses, def.gravity, step.dt);
        }
        packs.solve_velocities::<W>(def, &masses, step);
        for island in &mut packs.islands {
            island.settle_positions::<W>(def, &masses, step);
        }
    }
}
