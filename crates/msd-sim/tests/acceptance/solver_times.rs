//! How long the engine's own methods take to solve a few contacts.

use msd_sim::math::{Mat3, SpatialVector, Vec3};
use msd_sim::solver::{Problem, Scratch, SolveReport, SolverBody, solve};
use msd_sim::{Method, Settings};

use crate::scene::{DT, G};
use crate::solver::{Island, METHODS, contact};
use crate::stopwatch::Stopwatch;

/// Builds balls of 1 kg that rest on the floor, one contact each, and slide slightly.
fn balls(count: usize) -> Island {
    let mut bodies = vec![SolverBody::default()];
    let mut blocks = Vec::new();
    for i in 0..count as u32 {
        bodies.push(SolverBody {
            velocity: SpatialVector::new(Vec3::new(0.1, 0.02, -G) * DT, Vec3::ZERO),
            inverse_mass: 1.0,
            inverse_inertia: Mat3::from_diagonal(Vec3::splat(10.0)),
        });
        let centers = [Vec3::ZERO, Vec3::new(f64::from(i), 0.0, 0.5)];
        blocks.push(contact([0, i + 1], centers[1] - Vec3::Z * 0.5, centers, 0.5));
    }
    Island { bodies, blocks }
}

/// Returns the shortest time of many solves of the same island, s, the report, and the solved island.
fn shortest(island: &Island, settings: &Settings) -> (f64, SolveReport, Island) {
    let members: Vec<u32> = (1..island.bodies.len() as u32).collect();
    let mut scratch = Scratch::default();
    let (mut shortest, mut report) = (f64::INFINITY, SolveReport::default());
    let mut fresh = island.clone();
    for _ in 0..200 {
        let watch = Stopwatch::start();
        for _ in 0..10 {
            fresh.bodies.copy_from_slice(&island.bodies);
            fresh.blocks.copy_from_slice(&island.blocks);
            let mut problem =
                Problem { bodies: &mut fresh.bodies, members: &members, blocks: &mut fresh.blocks };
            report = solve(&mut problem, settings, &mut scratch);
        }
        shortest = shortest.min(watch.seconds() / 10.0);
    }
    (shortest, report, fresh)
}

/// Fails if solving so many contacts takes longer than allowed, s. Contacts of balls with the floor
/// are independent, so this times the solver, not the difficulty of the problem.
fn assert_solves_in_time(method: Method) {
    let settings = Settings { method, ..Settings::default() };
    for (contacts, most) in [(1, 1e-6), (10, 10e-6), (50, 100e-6)] {
        let (seconds, report, _) = shortest(&balls(contacts), &settings);
        assert!(report.converged);
        assert!(seconds < most, "{contacts} contacts: {:.2} us", 1e6 * seconds);
    }
}

#[test]
fn one_ten_and_fifty_contacts_are_solved_in_time_by_the_default_method() {
    assert_solves_in_time(Method::SoftStep);
}

#[test]
fn one_ten_and_fifty_contacts_are_solved_in_time_by_sweeps() {
    assert_solves_in_time(Method::Pgs);
}

#[test]
#[ignore = "measurement: prints how long solves take"]
#[expect(clippy::print_stdout, reason = "its purpose")]
fn cost() {
    println!("| contacts | method | cold, us | sweeps and steps | warm-started, us |");
    println!("|---|---|---|---|---|");
    let apart = [1, 10, 50].map(|count| (format!("{count} apart"), balls(count)));
    let towers = [1, 3, 13].map(|cubes| {
        (format!("{} in a tower of {cubes}", 4 * cubes), Island::stack(&vec![1.0; cubes]))
    });
    for (contacts, island) in apart.into_iter().chain(towers) {
        for method in METHODS {
            let settings = Settings { method, ..Settings::default() };
            let (cold, report, solved) = shortest(&island, &settings);
            let SolveReport { iterations, converged, residual } = report;
            let (cold, warm) = if converged {
                let (warm, ..) = shortest(&solved, &settings);
                (format!("{:.2}", 1e6 * cold), format!("{:.2}", 1e6 * warm))
            } else {
                let left = format!("{:.2}, residual {:.0e}", 1e6 * cold, residual.relative());
                (left, "not solved".to_owned())
            };
            println!("| {contacts} | {method} | {cold} | {iterations} | {warm} |");
        }
    }
}
