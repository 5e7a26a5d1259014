//! Every game of the list passes the conformance test of the contracts.

use reinfors_core::conformance;

fn count_allocations(run: &mut dyn FnMut()) -> u64 {
    allocation_counter::measure(run).count_total
}

#[test]
fn every_registered_game_conforms() {
    let mut games = 0;
    for registration in reinfors_games::registry().iter() {
        conformance::check(registration, count_allocations);
        games += 1;
    }
    assert!(games > 0, "no game is registered");
}

#[test]
fn counting_allocations_counts() {
    let mut kept = Vec::new();
    assert_eq!(count_allocations(&mut || kept.push(Box::new(1))), 2);
    assert_eq!(count_allocations(&mut || *kept[0] += 1), 0);
}
