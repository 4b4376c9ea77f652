//! Potentials: forces are gradients of their energy, drag takes energy, invalid numbers are
//! rejected.

use msd_sim::BodyId;
use msd_sim::bodies::{BodyView, Potential, PotentialField};
use msd_sim::error::PotentialError;
use msd_sim::math::{Mat3, Pose, SpatialVector, Vec3, rotation};

use crate::oracle::pairs::Rng;

fn id(index: u32) -> BodyId {
    BodyId::from_raw_parts(index, 0)
}

/// Returns a body that is neither symmetric nor axis-aligned.
fn random_body(rng: &mut Rng) -> BodyView {
    let turn = rng.rotation();
    let s = Vec3::new(rng.range(0.1, 1.0), rng.range(0.1, 1.0), rng.range(0.1, 1.0));
    let inertia = Mat3::from_diagonal(Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y));
    let r = Mat3::from_quat(turn);
    BodyView {
        id: id(3),
        pose: Pose::new(rng.direction() * rng.range(1.0, 3.0), turn),
        velocity: SpatialVector::new(rng.in_cube() * 5.0, rng.in_cube() * 5.0),
        mass: rng.range(0.5, 5.0),
        inertia: r * inertia * r.transpose(),
        gravity_scale: rng.range(0.5, 2.0),
    }
}

/// Returns the body displaced by `by` and rotated by `turn` radians about its center of mass.
fn moved(body: &BodyView, by: Vec3, turn: Vec3) -> BodyView {
    let q = rotation(turn, turn.length());
    let r = Mat3::from_quat(q);
    BodyView {
        pose: Pose::new(body.pose.position + by, q * body.pose.rotation),
        inertia: r * body.inertia * r.transpose(),
        ..*body
    }
}

/// Returns `-grad energy` by differences of sixth order: h = 0.01 leaves h^6 = 1e-12 of truncation
/// and 1e-16 / h = 1e-14 of rounding.
fn downhill(potential: &Potential, body: &BodyView) -> SpatialVector {
    let h = 0.01;
    let slope = |place: &dyn Fn(f64) -> BodyView| {
        let energy = |k: f64| potential.energy(&place(k * h));
        let [one, two, three] = [1.0, 2.0, 3.0].map(|k| energy(k) - energy(-k));
        -(45.0 * one - 9.0 * two + three) / (60.0 * h)
    };
    let along = |axis: Vec3| slope(&|x| moved(body, axis * x, Vec3::ZERO));
    let about = |axis: Vec3| slope(&|x| moved(body, Vec3::ZERO, axis * x));
    SpatialVector::new(
        Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)),
        Vec3::new(about(Vec3::X), about(Vec3::Y), about(Vec3::Z)),
    )
}

/// A quartic potential that pulls the body to the z axis, and aligns the body's x axis with z.
#[derive(Debug)]
struct Trough;

impl PotentialField for Trough {
    fn energy(&self, body: &BodyView) -> f64 {
        let p = body.pose.position.with_z(0.0);
        body.mass * p.length_squared().powi(2) - body.pose.transform_vector(Vec3::X).z
    }

    fn force(&self, body: &BodyView) -> SpatialVector {
        let p = body.pose.position.with_z(0.0);
        let axis = body.pose.transform_vector(Vec3::X);
        SpatialVector::new(p * (-4.0 * body.mass * p.length_squared()), axis.cross(Vec3::Z))
    }
}

#[test]
fn every_force_and_torque_is_the_gradient_of_its_energy() {
    for seed in 0..200 {
        let rng = &mut Rng::new(seed);
        let body = random_body(rng);
        let mu = rng.range(0.5, 5.0);
        let rest = rng.range(0.0, 2.0);
        let (anchor, point) = (rng.in_cube(), rng.direction() * 6.0);
        let potentials = [
            Potential::uniform(rng.in_cube() * 10.0).unwrap(),
            Potential::point_mass(rng.in_cube() * 0.2, mu, 0.0).unwrap(),
            Potential::point_mass(rng.in_cube() * 0.2, mu, rng.range(0.0, 1.0)).unwrap(),
            Potential::spring(id(3), anchor, point, mu, rest).unwrap(),
            Potential::drag(1.0, 1.0, 1.0, 1.0, Vec3::ONE).unwrap(),
            Potential::user(Trough),
        ];
        for potential in potentials {
            let force = potential.conservative(&body);
            let expected = downhill(&potential, &body);
            let error = force - expected;
            let scale = force.linear.length() + force.angular.length();
            assert!(
                error.linear.length().max(error.angular.length()) <= 1e-7 * scale,
                "seed {seed}: {potential:?}: {force:?}, {expected:?}"
            );
        }
    }
}

#[test]
fn the_gravity_gradient_turns_a_rod_towards_the_mass() {
    // A rod along (1, 0, 1) above a mass at the origin, at r = 10 m on z: I = 1 across, 0 along. The
    // torque 3 mu / r^3 z x I z has the size 3 mu / r^3 / 2, about y: z x (z - x) / 2 = -y / 2.
    let axis = Vec3::new(1.0, 0.0, 1.0).normalize();
    let outer = Mat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z);
    let body = BodyView {
        id: id(0),
        pose: Pose::at(Vec3::Z * 10.0),
        velocity: SpatialVector::ZERO,
        mass: 2.0,
        inertia: Mat3::IDENTITY - outer,
        gravity_scale: 1.0,
    };
    let mass = Potential::point_mass(Vec3::ZERO, 500.0, 0.0).unwrap();
    let force = mass.force(&body);
    assert!((force.angular - Vec3::Y * -0.75).length() < 1e-14, "{force:?}");
    // -y turns z towards -x, so the rod turns upright. The pull: mu m / r^2 = 10 N, and -3/2 mu /
    // r^4 ((2 - 5/2) z + (z - x)) = -0.075 (z/2 - x).
    let expected = Vec3::new(0.075, 0.0, -10.0 - 0.0375);
    assert!((force.linear - expected).length() < 1e-13, "{force:?}");
}

#[test]
fn gravity_scale_scales_gravity_and_nothing_else() {
    let rng = &mut Rng::new(1);
    let body = random_body(rng);
    let twice = BodyView { gravity_scale: 2.0 * body.gravity_scale, ..body };
    for (potential, factor) in [
        (Potential::uniform(Vec3::ONE).unwrap(), 2.0),
        (Potential::point_mass(Vec3::ZERO, 3.0, 0.0).unwrap(), 2.0),
        (Potential::spring(id(3), Vec3::X, Vec3::ONE, 2.0, 1.0).unwrap(), 1.0),
        (Potential::user(Trough), 1.0),
    ] {
        assert_eq!(potential.force(&twice), potential.force(&body) * factor);
        assert_eq!(potential.energy(&twice), potential.energy(&body) * factor);
    }
}

#[test]
fn drag_and_damping_never_add_energy() {
    for seed in 0..2_000 {
        let rng = &mut Rng::new(seed);
        let body = random_body(rng);
        let mut coefficient = || rng.log_range(1e-3, 1e3);
        let (a, b, c, d) = (coefficient(), coefficient(), coefficient(), coefficient());
        let wind = rng.in_cube() * 10.0;
        let drag = Potential::drag(a, b, c, d, wind).unwrap();
        let force = drag.force(&body);
        assert_eq!(force, drag.dissipative(&body));
        // Relative to the medium: wind may add energy.
        let relative = SpatialVector::new(body.velocity.linear - wind, body.velocity.angular);
        assert!(force.dot(relative) < 0.0);
        assert!(force.linear.dot(relative.linear) <= 0.0);
        assert!(force.angular.dot(relative.angular) <= 0.0);

        let spring = Potential::spring(id(3), rng.in_cube(), rng.in_cube(), a, b).unwrap();
        let spring = spring.with_damping(c).unwrap();
        assert!(spring.dissipative(&body).dot(body.velocity) <= 1e-12 * c);
        let both = spring.conservative(&body) + spring.dissipative(&body);
        assert_eq!(spring.force(&body), both);
    }
    // 2 N s/m and 3 N s^2/m^2 at 2 m/s against the medium: 4 + 12 N.
    let drag = Potential::drag(2.0, 3.0, 0.5, 0.25, Vec3::X).unwrap();
    let mut body = random_body(&mut Rng::new(0));
    body.velocity = SpatialVector::new(Vec3::X * 3.0, Vec3::Y * 2.0);
    assert_eq!(drag.force(&body), SpatialVector::new(Vec3::X * -16.0, Vec3::Y * -2.0));
}

#[test]
fn a_spring_acts_on_its_body_only() {
    let mut body = random_body(&mut Rng::new(2));
    let spring = Potential::spring(id(3), Vec3::X, Vec3::ONE, 2.0, 1.0).unwrap();
    assert_ne!(spring.force(&body), SpatialVector::ZERO);
    body.id = id(4);
    assert_eq!((spring.force(&body), spring.energy(&body)), (SpatialVector::ZERO, 0.0));
}

#[test]
fn singular_positions_have_finite_forces() {
    let mut body = random_body(&mut Rng::new(3));
    for distance in [0.0, 1e-300, 1e-120, 1e-60, 1e200] {
        body.pose.position = Vec3::new(0.6, 0.0, 0.8) * distance;
        for core in [0.0, 1.0] {
            let mass = Potential::point_mass(Vec3::ZERO, 2.0, core).unwrap();
            assert!(mass.force(&body).is_finite() && mass.energy(&body).is_finite());
        }
    }
    body.pose = Pose::IDENTITY;
    let mass = Potential::point_mass(Vec3::ZERO, 2.0, 0.0).unwrap();
    assert_eq!(mass.force(&body), SpatialVector::ZERO);
    let spring = Potential::spring(id(3), Vec3::X, Vec3::X, 2.0, 1.0).unwrap();
    let spring = spring.with_damping(3.0).unwrap();
    assert_eq!(spring.force(&body), SpatialVector::ZERO);
    assert_eq!(spring.energy(&body), 1.0);
}

#[test]
fn invalid_numbers_are_rejected_with_their_field() {
    let rejected = |result: Result<Potential, PotentialError>, start: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with(start), "{message}");
    };
    let nan = Vec3::ONE.with_y(f64::NAN);
    let (zero, inf) = (Vec3::ZERO, f64::INFINITY);
    rejected(Potential::uniform(nan), "acceleration = [1, NaN, 1]");
    rejected(Potential::point_mass(nan, 1.0, 0.0), "position = ");
    rejected(Potential::point_mass(zero, -1.0, 0.0), "mu = -1: expected");
    rejected(Potential::point_mass(zero, 1.0, inf), "core = inf");
    rejected(Potential::spring(id(0), nan, zero, 1.0, 1.0), "anchor = ");
    rejected(Potential::spring(id(0), zero, nan, 1.0, 1.0), "point = ");
    rejected(Potential::spring(id(0), zero, zero, -1.0, 1.0), "stiffness = -1");
    rejected(Potential::spring(id(0), zero, zero, 1.0, -1.0), "rest_length = -1");
    let spring = Potential::spring(id(0), zero, zero, 1.0, 1.0).unwrap();
    rejected(spring.with_damping(f64::NAN), "damping = NaN");
    rejected(Potential::drag(-1.0, 0.0, 0.0, 0.0, zero), "linear = -1");
    rejected(Potential::drag(0.0, -1.0, 0.0, 0.0, zero), "quadratic = -1");
    rejected(Potential::drag(0.0, 0.0, -1.0, 0.0, zero), "angular = -1");
    rejected(Potential::drag(0.0, 0.0, 0.0, -1.0, zero), "angular_quadratic = -1");
    rejected(Potential::drag(0.0, 0.0, 0.0, 0.0, nan), "medium = ");
}
