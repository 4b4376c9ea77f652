//! Guarantees of every solver, and the benefit of a warm start.

use msd_sim::math::{Mat3, SpatialVector, Vec3, orthonormal_basis};
use msd_sim::solver::{
    Block, Law, Problem, Row, Scratch, SolveReport, SolverBody, residual, solve,
};
use msd_sim::{BodyId, Method, Settings};

use crate::piles;
use crate::scene::{DT, G, Scene, assert_below};

/// The methods that approach the solution by sweeps.
pub const METHODS: [Method; 2] = [Method::SoftStep, Method::Pgs];

/// The bodies and blocks of an island; body 0 is the floor.
#[derive(Clone)]
pub struct Island {
    pub bodies: Vec<SolverBody>,
    pub blocks: Vec<Block>,
}

impl Island {
    /// Returns a stack of cubes of 1 m, with gravity's change of velocity, and a sideways push
    /// within friction.
    pub fn stack(masses: &[f64]) -> Self {
        let mut bodies = vec![SolverBody::default()];
        let mut blocks = Vec::new();
        for (i, &mass) in masses.iter().enumerate() {
            bodies.push(SolverBody {
                velocity: SpatialVector::new(Vec3::new(0.1, 0.0, -G) * DT, Vec3::ZERO),
                inverse_mass: 1.0 / mass,
                inverse_inertia: Mat3::from_diagonal(Vec3::splat(6.0 / mass)),
            });
            for corner in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
                let point = Vec3::new(corner.0, corner.1, i as f64);
                let centers = [-0.5, 0.5].map(|z| Vec3::Z * (i as f64 + z));
                blocks.push(contact([i as u32, i as u32 + 1], point, centers, 0.5));
            }
        }
        Self { bodies, blocks }
    }

    fn solve(&mut self, method: Method, tolerance: f64) -> SolveReport {
        let settings = Settings { method, tolerance, iterations: 1_000_000, ..Settings::default() };
        let members: Vec<u32> = (1..self.bodies.len() as u32).collect();
        let mut problem =
            Problem { bodies: &mut self.bodies, members: &members, blocks: &mut self.blocks };
        solve(&mut problem, &settings, &mut Scratch::default())
    }

    /// Returns the same island, warm-started with the impulses of a solved one.
    fn warmed(mut self, solved: &Self) -> Self {
        for (block, found) in self.blocks.iter_mut().zip(&solved.blocks) {
            block.impulse = found.impulse;
            block.apply(&mut self.bodies, block.impulse);
        }
        self
    }

    fn velocity_difference(&self, other: &Self) -> f64 {
        let pairs = self.bodies.iter().zip(&other.bodies);
        let apart = pairs.map(|(a, b)| {
            let apart = a.velocity - b.velocity;
            apart.linear.length().max(apart.angular.length())
        });
        apart.fold(0.0, f64::max)
    }
}

pub fn contact(bodies: [u32; 2], point: Vec3, centers: [Vec3; 2], friction: f64) -> Block {
    let (t, s) = orthonormal_basis(Vec3::Z);
    let [a, b] = centers.map(|center| point - center);
    Block {
        bodies,
        law: Law::Contact { friction },
        rows: [Vec3::Z, t, s].map(|direction| Row::at(direction, a, b)),
        offset: Vec3::ZERO,
        softness: 0.0,
        impulse: Vec3::ZERO,
        delassus: Mat3::ZERO,
    }
}

#[test]
fn normal_impulses_are_never_negative_and_the_floor_never_moves() {
    let mut scene = Scene::new(0.3, 0.5);
    let floor = scene.floor();
    let bodies: Vec<BodyId> = (0..12)
        .map(|i| {
            let i = f64::from(i);
            let place = Vec3::new((i * 0.7).sin() * 0.4, (i * 1.3).cos() * 0.4, 1.0 + 1.1 * i);
            let body = if i as i32 % 2 == 0 { scene.cube() } else { scene.ball() };
            scene.add(body.position(place))
        })
        .collect();
    let before = (scene.body(floor).pose(), scene.body(floor).velocity());
    let mut touched = 0;
    scene.run(300, |world| {
        for contact in world.contacts() {
            for point in contact.points() {
                assert!(point.impulse.dot(contact.normal()) >= 0.0);
                touched += 1;
            }
        }
    });
    assert!(touched > 1000, "they collided");
    // Float equality ignores the sign of zero, which is fine here.
    assert_eq!((scene.body(floor).pose(), scene.body(floor).velocity()), before);
    for body in bodies {
        assert!(scene.body(body).position().is_finite());
    }
}

#[test]
fn a_contact_that_separates_gets_no_impulse() {
    for method in METHODS {
        let settings = Settings { gravity: Vec3::ZERO, method, ..Settings::default() };
        let mut scene = Scene::with(settings, 0.5, 0.5);
        scene.floor();
        let cube = scene.cube().velocity(Vec3::new(2.0, 0.0, 1.0));
        let cube = scene.add_at(0.5, cube);
        let before = scene.body(cube).velocity();
        scene.step();
        for contact in scene.world.contacts() {
            assert_eq!(contact.impulse(), Vec3::ZERO);
        }
        assert_eq!(scene.body(cube).velocity(), before);
    }
}

#[test]
fn heavy_and_light_bodies_are_solved_together() {
    // A light body squeezed by a heavy one is the hard case; beyond 1e4 : 1 it needs an exact
    // method.
    for masses in [[1e6, 1.0], [1.0, 1e3], [1.0, 1e4]] {
        let mut island = Island::stack(&masses);
        let report = island.solve(Method::SoftStep, 1e-10);
        assert!(report.converged, "{report:?}");
        // All at rest, despite the push: 0.1 of 9.81 is within friction.
        for body in &island.bodies {
            let left = body.velocity.linear.length().max(body.velocity.angular.length());
            assert_below(left, 1e-9 * report.residual.scale);
        }
    }
}

#[test]
fn the_order_of_contacts_does_not_matter() {
    for masses in [&[1.0; 5][..], &[3.0, 1.0, 7.0]] {
        let (mut forward, mut backward) = (Island::stack(masses), Island::stack(masses));
        backward.blocks.reverse();
        for island in [&mut forward, &mut backward] {
            let report = island.solve(Method::SoftStep, 1e-12);
            assert!(report.converged, "{report:?}");
        }
        assert_below(forward.velocity_difference(&backward), 1e-10);
    }
}

#[test]
fn duplicate_contacts_give_the_same_velocities_as_single_ones() {
    for method in METHODS {
        let mut once = Island::stack(&[1.0; 3]);
        let mut twice = once.clone();
        twice.blocks.extend_from_slice(&once.blocks);
        for island in [&mut once, &mut twice] {
            let report = island.solve(method, 1e-10);
            assert!(report.converged, "{report:?}");
        }
        assert_below(once.velocity_difference(&twice), 1e-8);
    }
}

#[test]
fn the_reported_residual_equals_a_recomputed_one() {
    for method in METHODS {
        for tolerance in [1e-3, 1e-10] {
            let mut island = Island::stack(&[1.0, 2.0, 1.0, 5.0]);
            let free = island.bodies.clone();
            let report = island.solve(method, tolerance);
            assert!(report.iterations > 0);
            let own = residual(&island.bodies, &island.blocks);
            assert_below((own.largest() - report.residual.largest()).abs(), 1e-12);
            assert_eq!(report.converged, report.residual.relative() <= tolerance);
            // Velocities and impulses agree: v = v_free + M^-1 J^T r.
            let mut again = free;
            for block in &island.blocks {
                block.apply(&mut again, block.impulse);
            }
            for (a, b) in again.iter().zip(&island.bodies) {
                assert_below((a.velocity.linear - b.velocity.linear).length(), 1e-12);
                assert_below((a.velocity.angular - b.velocity.angular).length(), 1e-12);
            }
        }
    }
}

#[test]
fn a_solve_that_hits_its_iteration_limit_reports_not_converged() {
    let mut island = Island::stack(&[1.0; 10]);
    let settings = Settings { method: Method::Pgs, iterations: 3, ..Settings::default() };
    let members: Vec<u32> = (1..=10).collect();
    let mut problem =
        Problem { bodies: &mut island.bodies, members: &members, blocks: &mut island.blocks };
    let report = solve(&mut problem, &settings, &mut Scratch::default());
    assert_eq!(report.iterations, 3);
    assert!(!report.converged);
    assert!(report.residual.relative() > settings.tolerance);
}

#[test]
fn the_residual_detects_every_kind_of_violation() {
    // One body of 1 kg with its center at the point: the Delassus matrix is 1, and velocities equal
    // impulses.
    let found = |velocity: Vec3, impulse: Vec3| {
        let body = SolverBody {
            velocity: SpatialVector::new(velocity, Vec3::ZERO),
            inverse_mass: 1.0,
            inverse_inertia: Mat3::IDENTITY,
        };
        let bodies = [SolverBody::default(), body];
        let mut block = contact([0, 1], Vec3::ZERO, [Vec3::ZERO; 2], 0.5);
        block.impulse = impulse;
        block.compute_delassus(&bodies);
        residual(&bodies, &[block])
    };
    let (t, _) = orthonormal_basis(Vec3::Z);
    assert_eq!(found(Vec3::ZERO, Vec3::new(2.0, 1.0, 0.0)).largest(), 0.0);
    assert_eq!(found(Vec3::Z, Vec3::ZERO).largest(), 0.0);
    assert_eq!(found(t, Vec3::new(2.0, -1.0, 0.0)).largest(), 0.0);
    // Approaching, pulling, pushing while separating.
    assert_below((found(Vec3::Z * -0.1, Vec3::ZERO).signorini - 0.1).abs(), 1e-12);
    assert_below((found(Vec3::ZERO, Vec3::X * -0.1).signorini - 0.1).abs(), 1e-12);
    assert_below((found(Vec3::Z * 0.1, Vec3::X).signorini - 0.1).abs(), 1e-12);
    // Outside the cone by 0.2.
    assert_below((found(Vec3::ZERO, Vec3::new(2.0, 1.2, 0.0)).cone - 0.2).abs(), 1e-12);
    // Sliding without friction, with too little friction, and with friction along the motion.
    assert_below((found(t * 0.1, Vec3::X * 2.0).dissipation - 0.1).abs(), 1e-12);
    assert_below((found(t, Vec3::new(2.0, -0.9, 0.0)).dissipation - 0.1).abs(), 1e-12);
    assert!(found(t, Vec3::new(2.0, 1.0, 0.0)).dissipation > 0.9);
}

#[test]
fn a_warm_start_needs_a_third_of_the_sweeps_or_fewer() {
    for count in [3, 5, 10] {
        let cold = Island::stack(&vec![1.0; count]);
        let mut solved = cold.clone();
        let report = solved.solve(Method::Pgs, 1e-8);
        assert!(report.converged, "{report:?}");
        let mut warm = cold.warmed(&solved);
        let again = warm.solve(Method::Pgs, 1e-8);
        assert!(again.converged, "{again:?}");
        assert!(
            3 * again.iterations <= report.iterations,
            "{} sweeps, then {}",
            report.iterations,
            again.iterations
        );
    }
}

#[test]
fn a_standing_stack_starts_warm() {
    let settings = Settings {
        method: Method::Pgs,
        iterations: 1_000_000,
        tolerance: 1e-8,
        ..Settings::default()
    };
    let mut scene = Scene::with(settings, 0.5, 0.5);
    scene.floor();
    for i in 0..5 {
        let cube = scene.cube();
        scene.add_at(0.5 + f64::from(i), cube);
    }
    let cold = scene.step().solve;
    scene.run(30, |_| {});
    let warm = scene.step().solve;
    let (cold, warm) = (cold.unwrap(), warm.unwrap());
    assert!(cold.converged && warm.converged);
    assert!(3 * warm.iterations <= cold.iterations, "{cold:?} {warm:?}");
}

/// Builds a body of 2 kg whose center is attached to the floor by a joint with some rows and a
/// softness.
fn held(rows: usize, softness: f64) -> Case {
    let velocity = SpatialVector::new(Vec3::new(0.3, -0.4, 1.2), Vec3::ZERO);
    let inverse_inertia = Mat3::from_diagonal(Vec3::splat(5.0));
    let body = SolverBody { velocity, inverse_mass: 0.5, inverse_inertia };
    let mut block = contact([0, 1], Vec3::ZERO, [Vec3::ZERO; 2], 0.0);
    block.rows = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| Row::at(axis, Vec3::ZERO, Vec3::ZERO));
    for row in &mut block.rows[rows..] {
        *row = Row::default();
    }
    block.law = Law::Bilateral { rows };
    (block.softness, block.offset) = (softness, Vec3::X * 0.1);
    let island = Island { bodies: vec![SolverBody::default(), body], blocks: vec![block] };
    Case { island, members: vec![1] }
}

#[test]
fn soft_rows_yield_in_proportion_to_their_softness_with_every_method() {
    // u + offset + softness r = 0 with u = u0 + r / m: r = -(u0 + offset) / (1 / m + softness).
    for method in all_methods() {
        for (rows, softness) in [(1, 0.0), (1, 0.25), (2, 0.25), (3, 0.0), (3, 0.25), (3, 40.0)] {
            let mut case = held(rows, softness);
            let start = case.island.bodies[1].velocity.linear + Vec3::X * 0.1;
            let settings = Settings { method, ..Settings::default() };
            let report = case.with(|problem| solve(problem, &settings, &mut Scratch::default()));
            assert!(report.converged, "{method:?}: {report:?}");
            let mut expected = -start / (0.5 + softness);
            for row in rows..3 {
                expected[row] = 0.0;
            }
            let found = case.island.blocks[0].impulse;
            assert_below((found - expected).length(), 1e-10 * expected.length());
            let moved = case.island.bodies[1].velocity.linear - (start - Vec3::X * 0.1);
            assert_below((moved - expected * 0.5).length(), 1e-10 * expected.length());
        }
    }
}

#[test]
fn the_residual_of_a_soft_row_is_scaled_by_the_share_of_its_bodies() {
    // Of u = 0.3 + 0.1 m/s it counts the part by which the body would be faster: 1 / m of 1 / m +
    // softness.
    for (softness, share) in [(0.0, 1.0), (0.5, 0.5), (1.5, 0.25)] {
        let mut case = held(1, softness);
        case.island.blocks[0].compute_delassus(&case.island.bodies);
        let found = residual(&case.island.bodies, &case.island.blocks);
        assert_below((found.joint - share * 0.4).abs(), 1e-15);
        assert_below((found.scale - 0.3).abs(), 1e-15);
    }
}

#[test]
fn scaling_all_masses_by_a_power_of_two_changes_no_velocity() {
    // All masses times 2^k: the same velocities and residual, and impulses 2^k times as large, to the bit, in as many
    // iterations. Newton's method has no number of its own that depends on the unit of mass.
    for method in METHODS {
        for masses in [&[1.0, 2.0, 3.0][..], &[1.0, 1e3], &[5.0; 6]] {
            let mut island = Island::stack(masses);
            let expected = island.solve(method, 1e-10);
            for unit in [2_f64.powi(-20), 2_f64.powi(20)] {
                let scaled: Vec<f64> = masses.iter().map(|mass| mass * unit).collect();
                let mut scaled = Island::stack(&scaled);
                let found = scaled.solve(method, 1e-10);
                assert_eq!(found, expected, "{method:?} {unit}");
                for (a, b) in scaled.bodies.iter().zip(&island.bodies) {
                    assert_eq!(a.velocity, b.velocity, "{method:?} {unit}");
                }
                for (a, b) in scaled.blocks.iter().zip(&island.blocks) {
                    assert_eq!(a.impulse, b.impulse * unit, "{method:?} {unit}");
                }
            }
        }
    }
}

#[test]
fn newton_steps_stay_within_the_settings() {
    let mut most = 0;
    for seed in 0..20 {
        for newton_steps in [0, 1, 2, 3, 5, 8, 13, 40] {
            let settings = Settings {
                newton_steps: Some(newton_steps),
                newton_work: Some(u32::MAX),
                ..Settings::default()
            };
            let mut pile = piles::tangle(seed);
            let report = pile.with(|problem| solve(problem, &settings, &mut Scratch::default()));
            let steps = report.iterations - settings.sweeps as usize;
            assert!(steps <= newton_steps as usize, "{steps} of {newton_steps}: seed {seed}");
            assert_eq!(report.converged, report.residual.relative() <= settings.tolerance);
            most = most.max(steps);
            // An island that would need more work than allowed for one Newton step gets none.
            let settings = Settings { newton_work: Some(0), ..settings };
            let mut pile = piles::tangle(seed);
            let report = pile.with(|problem| solve(problem, &settings, &mut Scratch::default()));
            assert_eq!(report.iterations, settings.sweeps as usize);
        }
    }
    assert_eq!(most, 40, "some piles need more");
}

/// Returns every method.
fn all_methods() -> Vec<Method> {
    vec![
        Method::SoftStep,
        Method::Pgs,
        Method::ActiveSet,
        #[cfg(feature = "conic")]
        Method::Conic,
    ]
}

#[test]
fn methods_are_displayed_by_their_names_in_scenes() {
    let names = ["soft-step", "pgs", "active-set", "conic"];
    for (method, name) in all_methods().into_iter().zip(names) {
        assert_eq!((method.name(), method.to_string()), (name, name.to_owned()));
    }
}

/// A problem: an island with its list of members.
#[derive(Clone)]
struct Case {
    island: Island,
    members: Vec<u32>,
}

impl Case {
    /// Returns two stacked cubes with a joint between them.
    fn valid() -> Self {
        let mut island = Island::stack(&[1.0, 2.0]);
        let mut joint = contact([1, 2], Vec3::Z, [Vec3::Z * 0.5, Vec3::Z * 1.5], 0.0);
        joint.law = Law::Bilateral { rows: 3 };
        island.blocks.push(joint);
        Self { island, members: vec![1, 2] }
    }

    fn with<T>(&mut self, solve: impl FnOnce(&mut Problem) -> T) -> T {
        let Self { island: Island { bodies, blocks }, members } = self;
        solve(&mut Problem { bodies, members, blocks })
    }

    /// Returns the whole problem as text, exact to the bit.
    fn bits(&self) -> String {
        format!("{:?} {:?} {:?}", self.island.bodies, self.island.blocks, self.members)
    }
}

/// A corruption of a problem, and the text that its error must contain.
type Corruption = (fn(&mut Case), &'static str);

/// Returns corruptions of a problem, with the expected error of each.
fn corruptions() -> Vec<Corruption> {
    vec![
        (|s| s.island.bodies[1].velocity.linear.y = f64::NAN, "bodies[1].velocity = NaN"),
        (|s| s.island.bodies[0].velocity.angular.z = f64::INFINITY, "bodies[0].velocity = inf"),
        (|s| s.island.bodies[2].inverse_mass = -1.0, "bodies[2].inverse_mass = -1"),
        (|s| s.island.bodies[2].inverse_mass = f64::NAN, "bodies[2].inverse_mass = NaN"),
        (|s| s.island.bodies[2].inverse_mass = 0.0, "bodies[2].inverse_mass = 0: expected more"),
        (|s| s.island.bodies[1].inverse_inertia.x_axis.y = f64::NAN, "inverse_inertia = NaN"),
        (|s| s.island.bodies[1].inverse_inertia.y_axis.y = -2.0, "inverse_inertia = -2"),
        (
            |s| s.island.blocks[3].bodies[1] = 3,
            "blocks[3].bodies = [0, 3]: expected indices below 3",
        ),
        (|s| s.island.blocks[0].bodies[0] = u32::MAX, "blocks[0].bodies"),
        (|s| s.island.blocks[2].law = Law::Contact { friction: -0.1 }, "blocks[2].law.friction"),
        (
            |s| s.island.blocks[2].law = Law::Contact { friction: f64::NAN },
            "blocks[2].law.friction",
        ),
        (
            |s| s.island.blocks[8].law = Law::Bilateral { rows: 4 },
            "blocks[8].law.rows = 4 in a bilateral constraint: expected 3 rows or fewer",
        ),
        (|s| s.island.blocks[8].softness = -1.0, "blocks[8].softness = -1"),
        (
            |s| s.island.blocks[5].rows[1].angular_b.z = f64::NAN,
            "blocks[5].rows = NaN in a contact: expected",
        ),
        (
            |s| {
                s.island.blocks[3].law = Law::Unilateral;
                s.island.blocks[3].offset.x = f64::NAN;
            },
            "blocks[3].offset = NaN in a unilateral constraint: expected",
        ),
        (|s| s.island.blocks[6].offset.x = f64::NEG_INFINITY, "blocks[6].offset = -inf"),
        (|s| s.island.blocks[7].impulse.z = f64::NAN, "blocks[7].impulse = NaN"),
        (|s| s.members = vec![1, 2, 3], "members[2] = 3"),
        (|s| s.members = vec![0, 1, 2], "members[0] = 0"),
        (|s| s.members = vec![2, 1], "members[1] = 1"),
        (|s| s.members = vec![1, 1, 2], "members[1] = 1"),
        (|s| s.members = vec![1], "2 is inertial and not among the members"),
        (|s| s.members.clear(), "1 is inertial and not among the members"),
    ]
}

#[test]
fn every_method_rejects_an_invalid_problem_with_its_field_and_leaves_it_unchanged() {
    for method in all_methods() {
        let settings = Settings { method, iterations: 1000, ..Settings::default() };
        let valid = Case::valid().with(|problem| {
            assert_eq!(problem.check(), Ok(()));
            solve(problem, &settings, &mut Scratch::default())
        });
        assert!(valid.converged, "{method:?}: {valid:?}");
        for (spoil, message) in corruptions() {
            let mut corrupt = Case::valid();
            spoil(&mut corrupt);
            let before = corrupt.bits();
            let error = corrupt.with(|problem| problem.check()).unwrap_err().to_string();
            assert!(error.contains(message), "{error:?} instead of {message:?}");
            let report = corrupt.with(|problem| solve(problem, &settings, &mut Scratch::default()));
            assert!(!report.converged && report.iterations == 0, "{method:?}: {message}");
            assert_eq!(report.residual.relative(), f64::INFINITY, "{method:?}: {message}");
            assert_eq!(corrupt.bits(), before, "{method:?}: {message}");
        }
        let settings = Settings { tolerance: f64::NAN, ..settings };
        let report =
            Case::valid().with(|problem| solve(problem, &settings, &mut Scratch::default()));
        assert!(!report.converged && report.iterations == 0, "{method:?}: settings");
    }
}

#[test]
fn every_method_solves_or_reports_numbers_of_any_magnitude() {
    // Each pair of numbers in turn becomes far too large or far too small: the solver returns,
    // whether finite or not, and a problem reported as solved is solved.
    let sizes = [1e-320, 1e-160, 1e160, f64::MAX];
    let put: [fn(&mut Case, f64); 9] = [
        |s, x| s.island.bodies[1].velocity.linear.z = -x,
        |s, x| s.island.bodies[2].velocity.angular.x = x,
        |s, x| s.island.bodies[1].inverse_mass = x,
        |s, x| s.island.bodies[2].inverse_inertia = Mat3::from_diagonal(Vec3::splat(x)),
        |s, x| s.island.blocks[2].law = Law::Contact { friction: x },
        |s, x| s.island.blocks[8].softness = x,
        |s, x| s.island.blocks[5].rows[0].angular_b.x = x,
        |s, x| s.island.blocks[6].offset.x = -x,
        |s, x| s.island.blocks[7].impulse = Vec3::new(x, -x, x),
    ];
    for method in all_methods() {
        let settings = Settings { method, iterations: 50, ..Settings::default() };
        let mut scratch = Scratch::default();
        for first in put {
            for second in put {
                for size in sizes {
                    let mut case = Case::valid();
                    first(&mut case, size);
                    second(&mut case, size);
                    let report = case.with(|problem| solve(problem, &settings, &mut scratch));
                    let mut blocks = case.island.blocks.clone();
                    for block in &mut blocks {
                        match &mut block.law {
                            Law::Contact { friction } if method == Method::ActiveSet => {
                                *friction = 0.0;
                            }
                            _ => {}
                        }
                    }
                    let own = residual(&case.island.bodies, &blocks).relative();
                    assert!(!report.converged || own <= settings.tolerance, "{method:?} {own:e}");
                }
            }
        }
    }
}
