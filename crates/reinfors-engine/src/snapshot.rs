//! An engine's state as bytes: its configuration, so that another's is refused by name, then every slot and
//! world.

use crate::EngineError;
use crate::config::ResolvedConfig;
use crate::policy::Policy;
use crate::rollout::Rollout;
use crate::slot::Slot;
use reinfors_core::rng::Seed;
use reinfors_core::{decode, encode};
use serde::{Deserialize, Serialize};

/// Raised whenever the contents change shape.
const FORMAT: u32 = 2;

/// The outer layer, readable by every version.
#[derive(Serialize, Deserialize)]
struct Envelope {
    format: u32,
    contents: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    config: ResolvedConfig,
    version: i64,
    windows: u64,
    slots: Vec<SavedSlot>,
}

#[derive(Serialize, Deserialize)]
struct SavedSlot {
    slot: Slot,
    /// The world that it is the first agent of; empty for the others.
    world: Vec<u8>,
}

/// What a restored snapshot says beside the games.
pub(crate) struct Snapshot {
    pub seed: Seed,
    pub version: i64,
    /// The policy as it was then: its ε may be another.
    pub policy: Policy,
}

pub(crate) fn write(games: &Rollout, config: ResolvedConfig, version: i64) -> Vec<u8> {
    let slots = games.shards.iter().flat_map(|shard| {
        let saved = |(row, slot): (usize, &Slot)| SavedSlot {
            slot: slot.clone(),
            world: shard.world_of(row).map(|world| shard.batch.save(world)).unwrap_or_default(),
        };
        shard.slots.iter().enumerate().map(saved)
    });
    let contents = Contents { config, version, windows: games.windows, slots: slots.collect() };
    encode(&Envelope { format: FORMAT, contents: encode(&contents) })
}

/// Puts the games into the state of `bytes`, or leaves them as they are.
pub(crate) fn read(
    games: &mut Rollout,
    config: &ResolvedConfig,
    is_seed_given: bool,
    bytes: &[u8],
) -> Result<Snapshot, EngineError> {
    let refuse = |why: String| Err(EngineError::Snapshot(why));
    let envelope: Envelope = decode(bytes)?;
    if envelope.format != FORMAT {
        return refuse(format!("its format is {}, this version reads {FORMAT}", envelope.format));
    }
    let Contents { config: mut saved, version, windows, slots } = decode(&envelope.contents)?;
    let seed = saved.seed.clone();
    if !is_seed_given {
        saved.seed = config.seed.clone();
    }
    if let Some(difference) = config.difference(&saved) {
        return refuse(difference);
    }
    if slots.len() != games.n_slots {
        return refuse(format!("it holds {} slots, this engine has {}", slots.len(), games.n_slots));
    }
    if let Some(slot) = slots.iter().find(|saved| saved.slot.state.len() != games.state_size) {
        let (given, needed) = (slot.slot.state.len(), games.state_size);
        return refuse(format!("a slot of it remembers {given} numbers, this engine's remember {needed}"));
    }
    games.checkpoint()?;
    if let Err(error) = load(games, slots).and_then(|()| games.draw_opening()) {
        games.rollback()?;
        games.draw_opening()?;
        return Err(error);
    }
    games.windows = windows;
    Ok(Snapshot { seed, version, policy: saved.policy })
}

fn load(games: &mut Rollout, slots: Vec<SavedSlot>) -> Result<(), EngineError> {
    let mut slots = slots.into_iter();
    for shard in &mut games.shards {
        for (row, saved) in slots.by_ref().take(shard.slots.len()).enumerate() {
            if let Some(world) = shard.world_of(row) {
                shard.batch.load(world, &saved.world)?;
            }
            shard.slots[row] = saved.slot;
        }
    }
    Ok(())
}
