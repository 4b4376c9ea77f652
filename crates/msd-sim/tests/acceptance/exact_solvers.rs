//! The exact solvers, active set and conic, on problems with bodies.

use msd_sim::math::{Mat3, Quat, SpatialVector, Vec3};
use msd_sim::solver::{Block, Delassus, Law, Problem, SolveReport, active_set, residual};
use msd_sim::{Method as Solver, Settings};

use crate::piles::{self, Pile, Random};
use crate::scene::{Scene, assert_below};
use crate::stopwatch::Stopwatch;

type Method = fn(&mut Problem, f64, usize) -> SolveReport;

fn methods() -> Vec<(&'static str, Method)> {
    vec![
        ("active set", active_set as Method),
        #[cfg(feature = "conic")]
        ("conic", msd_sim::solver::conic as Method),
    ]
}

/// Builds a ball of 2 kg and radius 0.1 m on a floor.
fn ball(velocity: Vec3, friction: f64) -> Pile {
    let mut pile = Pile::new();
    let still = SpatialVector::new(velocity, Vec3::ZERO);
    let body = pile.body(Vec3::Z * 0.1, 2.0, Vec3::splat(0.4 * 2.0 * 0.01), Quat::IDENTITY, still);
    pile.contact([0, body], Vec3::ZERO, Vec3::Z, friction, 0.0);
    pile
}

#[test]
fn a_ball_gets_the_textbook_impulse() {
    let weight = 9.81 / 240.0;
    for (name, method) in methods() {
        for (speed, friction) in [(3.0, 0.5), (weight, 0.5), (3.0, 0.0)] {
            let mut pile = ball(Vec3::Z * -speed, friction);
            let report = pile.with(|problem| method(problem, 1e-10, 100));
            assert!(report.converged, "{name}");
            let r = pile.blocks[0].impulse;
            assert!((r.x - 2.0 * speed).abs() <= 1e-9 * 2.0 * speed, "{name}: {r}");
            assert!(r.y.hypot(r.z) <= 1e-9 * r.x, "{name}: {r}");
        }
    }
}

#[cfg(feature = "conic")]
#[test]
fn a_sliding_ball_is_braked_by_mu_times_the_normal_impulse() {
    for (friction, speed) in [(0.3, 10.0), (0.8, 50.0), (0.0, 10.0)] {
        let mut pile = ball(Vec3::new(speed, 0.5 * speed, -1.0), friction);
        let report = pile.with(|problem| msd_sim::solver::conic(problem, 1e-12, 1000));
        assert!(report.converged);
        let r = pile.blocks[0].impulse;
        assert!((r.x - 2.0).abs() <= 1e-9 * 2.0, "{r}");
        assert!((r.y.hypot(r.z) - friction * r.x).abs() <= 1e-9 * r.x, "{friction}: {r}");
        if friction == 0.0 {
            assert_eq!((r.y, r.z), (0.0, 0.0));
        }
    }
}

#[test]
fn a_separating_contact_gets_no_impulse_and_the_environment_keeps_every_bit() {
    for (name, method) in methods() {
        let mut pile = ball(Vec3::Z, 0.5);
        pile.bodies[0].velocity = SpatialVector::new(Vec3::splat(-0.0), Vec3::splat(-0.0));
        pile.blocks[0].impulse = Vec3::new(1.0, 0.1, 0.0); // a stale warm start
        let before = pile.bodies.clone();
        let report = pile.with(|problem| method(problem, 1e-10, 100));
        assert!(report.converged, "{name}");
        assert_eq!(pile.blocks[0].impulse, Vec3::ZERO, "{name}");
        let bits = |v: SpatialVector| v.linear.to_array().map(f64::to_bits);
        assert_eq!(bits(pile.bodies[0].velocity), bits(before[0].velocity), "{name}");
        // The velocity contained the stale impulse; without it the ball rises more slowly.
        assert!((pile.bodies[1].velocity.linear.z - 0.5).abs() < 1e-12, "{name}");
    }
}

#[test]
fn reversing_the_order_of_contacts_changes_no_velocity() {
    for seed in 0..30 {
        for (name, method) in methods() {
            assert_order_independent(name, method, piles::tower(seed, 3));
            assert_order_independent(name, method, piles::wedge(seed));
        }
        // Chains with friction are left out: at a mass ratio of 1e6 the conic answer changed by
        // 1.1e-10 of the largest speed (seed 1), at a residual of 4e-14.
        assert_order_independent("active set", active_set, piles::chain(seed));
    }
}

fn assert_order_independent(name: &str, method: Method, mut pile: Pile) {
    let mut reversed = pile.clone();
    reversed.blocks.reverse();
    let reports =
        [&mut pile, &mut reversed].map(|pile| pile.with(|problem| method(problem, 1e-11, 20_000)));
    assert!(reports.iter().all(|report| report.converged), "{name}: {reports:?}");
    let scale = reports[0].residual.scale;
    for (a, b) in pile.bodies.iter().zip(&reversed.bodies) {
        let change = (a.velocity.linear - b.velocity.linear).length();
        assert!(change <= 1e-10 * scale, "{name}: {change:e} of {scale} {reports:?}");
    }
}

#[test]
fn duplicate_contacts_with_unequal_gaps_are_solved() {
    for (name, method) in methods() {
        let mut pile = piles::tower(1, 4);
        let doubled: Vec<Block> = pile.blocks.clone();
        for (i, mut block) in doubled.into_iter().enumerate() {
            block.offset.x = 0.01 * (i % 3) as f64;
            pile.blocks.push(block);
        }
        let report = pile.with(|problem| method(problem, 1e-10, 10_000));
        assert!(report.converged, "{name} {:?}", report.residual);
        assert!(pile.blocks.iter().all(|block| block.impulse.x >= 0.0), "{name}");
    }
}

#[test]
fn reports_are_true_and_velocities_agree_with_impulses() {
    for (name, method) in methods() {
        for seed in 0..20 {
            let mut pile = piles::chain(seed);
            let free = pile.clone();
            let report = pile.with(|problem| method(problem, 1e-10, 20_000));
            let mut smooth = pile.clone();
            if name == "active set" {
                for block in &mut smooth.blocks {
                    if let Law::Contact { friction } = &mut block.law {
                        *friction = 0.0;
                    }
                }
            }
            assert_eq!(report.residual, residual(&smooth.bodies, &smooth.blocks), "{name} {seed}");
            assert_eq!(report.converged, report.residual.relative() <= 1e-10);
            assert!(report.converged, "{name} {seed}: {:?}", report.residual);
            let mut bodies = free.bodies;
            for block in &pile.blocks {
                block.apply(&mut bodies, block.impulse);
            }
            for (a, b) in bodies.iter().zip(&pile.bodies) {
                let change = (a.velocity.linear - b.velocity.linear).length();
                assert!(change <= 1e-11 * report.residual.scale, "{name} {seed}: {change:e}");
            }
        }
    }
}

#[test]
fn the_active_set_solves_every_pile_cold_and_warm() {
    for seed in 0..100 {
        let large = piles::wall(seed, 3 + seed as usize % 4, 3);
        let piles = [piles::tangle(seed), large, piles::wedge(seed), piles::tower(seed, 8)];
        for mut pile in piles {
            let report = pile.with(|problem| active_set(problem, 1e-10, 10_000));
            assert!(report.converged, "{seed}: {:?}", report.residual);
            assert!(pile.blocks.iter().all(|block| block.impulse.x >= 0.0));
            let again = pile.with(|problem| active_set(problem, 1e-10, 10_000));
            assert!(again.converged, "{seed}: {again:?} after {report:?}");
        }
    }
}

#[test]
fn the_active_set_agrees_with_an_exhaustive_search() {
    let mut random = Random::new(7);
    for seed in 0..300 {
        let mut pile = Pile::new();
        for _ in 0..2 {
            let (center, mass) = (random.vector(0.5), random.mass());
            let v = SpatialVector::new(random.vector(1.0), random.vector(1.0));
            pile.body(center, mass, Vec3::new(0.1, 0.2, 0.15) * mass, Quat::IDENTITY, v);
        }
        for i in 0..1 + random.below(6) {
            let pair = [[0, 1], [1, 2], [0, 2]][i % 3];
            let gap = random.range(-0.2, 0.2);
            pile.contact(pair, random.vector(0.5), random.direction(), 0.0, gap);
        }
        let (matrix, q) = pile.with(|problem| normal_rows(problem));
        let Some(wanted) = try_every_set(&matrix, &q) else { continue };
        let report = pile.with(|problem| active_set(problem, 1e-10, 1000));
        assert!(report.converged, "{seed}: {:?}", report.residual);
        for (i, block) in pile.blocks.iter().enumerate() {
            let u = (block.velocity(&pile.bodies) + block.offset).x;
            assert!((u - wanted[i]).abs() <= 1e-9 * report.residual.scale, "{seed}: {u}");
        }
    }
}

fn normal_rows(problem: &Problem) -> (Vec<Vec<f64>>, Vec<f64>) {
    let delassus = Delassus::new(problem).expect("a well-formed problem");
    let n = problem.blocks.len();
    let row = |i: usize| (0..n).map(|j| delassus.row(3 * i)[3 * j]).collect();
    let q = (0..n).map(|i| delassus.free_velocity()[3 * i]).collect();
    ((0..n).map(row).collect(), q)
}

/// Returns the velocities for the set of acting contacts that satisfies every condition best, by
/// Gaussian elimination.
fn try_every_set(matrix: &[Vec<f64>], q: &[f64]) -> Option<Vec<f64>> {
    let n = q.len();
    let mut best: Option<(f64, Vec<f64>)> = None;
    for set in 0..1_u32 << n {
        let acting: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let mut system: Vec<Vec<f64>> = acting
            .iter()
            .map(|&i| acting.iter().map(|&j| matrix[i][j]).chain([-q[i]]).collect())
            .collect();
        let Some(x) = gauss(&mut system) else { continue };
        let mut r = vec![0.0; n];
        for (&i, x) in acting.iter().zip(x) {
            r[i] = x;
        }
        let u: Vec<f64> =
            (0..n).map(|i| q[i] + (0..n).map(|j| matrix[i][j] * r[j]).sum::<f64>()).collect();
        let worst = (0..n).map(|i| (-u[i]).max(-r[i] * matrix[i][i])).fold(0.0, f64::max);
        if best.as_ref().is_none_or(|(least, _)| worst < *least) {
            best = Some((worst, u));
        }
    }
    best.filter(|(worst, _)| *worst <= 1e-10).map(|(_, u)| u)
}

fn gauss(system: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let n = system.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| system[a][k].abs().total_cmp(&system[b][k].abs()))?;
        system.swap(k, pivot);
        if system[k][k].abs() < 1e-12 * system[k].iter().fold(0.0, |m: f64, x| m.max(x.abs())) {
            return None;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = system[i][k] / system[k][k];
            let above = system[k].clone();
            for (entry, above) in system[i].iter_mut().zip(above).skip(k) {
                *entry -= factor * above;
            }
        }
    }
    Some((0..n).map(|i| system[i][n] / system[i][i]).collect())
}

#[test]
fn lengths_have_no_unit() {
    for (name, method) in methods() {
        for seed in 0..10 {
            let mut pile = piles::tower(seed, 4);
            let mut scaled = pile.clone();
            let unit = 1024.0;
            for body in &mut scaled.bodies {
                body.velocity.linear *= unit;
                body.inverse_inertia *= 1.0 / (unit * unit);
            }
            for block in &mut scaled.blocks {
                block.offset *= unit;
                for row in &mut block.rows {
                    row.angular_a *= unit;
                    row.angular_b *= unit;
                }
            }
            let first = pile.with(|problem| method(problem, 1e-10, 20_000));
            let second = scaled.with(|problem| method(problem, 1e-10, 20_000));
            assert!(first.converged && second.converged, "{name} {seed}");
            for (a, b) in pile.bodies.iter().zip(&scaled.bodies) {
                let change = (a.velocity.linear * unit - b.velocity.linear).length();
                assert!(change <= 1e-8 * second.residual.scale, "{name} {seed}: {change:e}");
            }
        }
    }
}

#[test]
fn invalid_input_is_reported_as_not_converged() {
    for (name, method) in methods() {
        for bad in [f64::NAN, f64::INFINITY] {
            let spoil: [fn(&mut Pile, f64); 6] = [
                |pile, bad| pile.bodies[1].velocity.linear.x = bad,
                |pile, bad| pile.bodies[1].inverse_mass = bad,
                |pile, bad| pile.bodies[1].inverse_inertia = Mat3::from_diagonal(Vec3::splat(bad)),
                |pile, bad| pile.blocks[0].offset.x = bad,
                |pile, bad| pile.blocks[0].impulse.y = bad,
                |pile, bad| pile.blocks[0].law = Law::Contact { friction: bad },
            ];
            for spoil in spoil {
                let mut pile = ball(-Vec3::Z, 0.5);
                spoil(&mut pile, bad);
                let report = pile.with(|problem| method(problem, 1e-10, 100));
                assert!(!report.converged, "{name}");
            }
        }
        for law in [Law::Contact { friction: -1.0 }, Law::Bilateral { rows: 4 }] {
            let mut pile = ball(-Vec3::Z, 0.5);
            pile.blocks[0].law = law;
            assert!(!pile.with(|problem| method(problem, 1e-10, 100)).converged, "{name}");
        }
        let mut pile = ball(-Vec3::Z, 0.5);
        pile.blocks[0].bodies = [0, 9];
        assert!(!pile.with(|problem| method(problem, 1e-10, 100)).converged, "{name}");
        // Pressed between two immovable bodies: no solution, and no panic.
        let mut pile = ball(-Vec3::Z, 0.5);
        pile.bodies[1].inverse_mass = 0.0;
        pile.bodies[1].inverse_inertia = Mat3::ZERO;
        assert!(!pile.with(|problem| method(problem, 1e-10, 100)).converged, "{name}");
        let mut nothing = Pile::new();
        assert!(nothing.with(|problem| method(problem, 1e-10, 100)).converged, "{name}");
    }
}

#[test]
fn a_wall_of_fifty_five_cubes_stands_with_active_sets_within_its_time_limit() {
    // Each cube lies level on two others, ten at the base: 400 contact points, 165 of them
    // independent. Nothing pushes sideways, so the wall stands without friction.
    let settings = Settings { method: Solver::ActiveSet, ..Settings::default() };
    let mut scene = Scene::with(settings, 0.0, 0.6);
    scene.floor();
    let mut cubes = Vec::new();
    for row in 0..10 {
        for at in 0..10 - row {
            let x = 1.05 * (f64::from(at) - 0.5 * f64::from(9 - row));
            let place = Vec3::new(x, 0.0, 0.5 + f64::from(row));
            let cube = scene.cube().position(place);
            cubes.push((scene.add(cube), place));
        }
    }
    let watch = Stopwatch::start();
    for step in 0..300 {
        let report = scene.step();
        assert_eq!(report.contacts, 400);
        assert!(report.converged().unwrap(), "step {step}: {:?}", report.solve);
    }
    // It took 98 s when each joining row was chosen among all by a factorization of its own, in a
    // matrix that also held the friction rows.
    assert!(watch.seconds() < 5.0, "{} s", watch.seconds());
    for (cube, place) in cubes {
        assert_below((scene.body(cube).position() - place).length(), 1e-6);
    }
}
