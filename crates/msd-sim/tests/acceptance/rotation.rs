//! Free rotation without torque: conserved quantities, tumbling and precession.

use std::time::Instant;

use msd_sim::math::{Mat3, Quat, Vec3, rotation};
use msd_sim::solver::rotate_freely;

use crate::oracle::pairs::Rng;

/// A freely rotating body.
#[derive(Clone, Copy)]
struct Top {
    rotation: Quat,
    omega: Vec3,
    inertia: Mat3,
    inverse: Mat3,
}

impl Top {
    fn new(inertia: Mat3, omega: Vec3) -> Self {
        Self { rotation: Quat::IDENTITY, omega, inertia, inverse: inertia.inverse() }
    }

    /// Returns a box of mass 1 with these half extents.
    fn cuboid(half: Vec3, omega: Vec3) -> Self {
        let s = half * half;
        let inertia = Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y) / 3.0;
        Self::new(Mat3::from_diagonal(inertia), omega)
    }

    fn step(&mut self, dt: f64) {
        (self.rotation, self.omega) =
            rotate_freely(self.rotation, self.omega, &self.inertia, &self.inverse, false, dt);
    }

    fn momentum(&self) -> Vec3 {
        self.rotation * (self.inertia * (self.rotation.conjugate() * self.omega))
    }

    fn energy(&self) -> f64 {
        0.5 * self.omega.dot(self.momentum())
    }

    /// Returns the largest relative change of energy and of angular momentum over `steps` of `dt`.
    fn drift(&mut self, dt: f64, steps: usize) -> (f64, f64) {
        let (energy, momentum) = (self.energy(), self.momentum());
        let mut worst = (0.0_f64, 0.0_f64);
        for _ in 0..steps {
            self.step(dt);
            worst.0 = worst.0.max((self.energy() - energy).abs() / energy);
            worst.1 = worst.1.max((self.momentum() - momentum).length() / momentum.length());
        }
        assert!((self.rotation.length() - 1.0).abs() < 1e-12);
        worst
    }
}

/// Returns the angle between two rotations, rad.
fn apart(a: Quat, b: Quat) -> f64 {
    let between = a.conjugate() * b;
    2.0 * between.xyz().length().min(1.0).asin()
}

/// Returns the inertia of a random mass distribution: six equal pairs of points mirrored in the
/// origin, squeezed along one or two axes such that the tensor's eigenvalues differ by up to `1 /
/// thin^2`.
fn random_inertia(rng: &mut Rng, thin: f64) -> Mat3 {
    let squeeze = match rng.index(3) {
        0 => Vec3::ONE,
        1 => Vec3::new(1.0, 1.0, thin),
        _ => Vec3::new(1.0, thin, thin),
    };
    let frame = if rng.index(2) == 0 { Quat::IDENTITY } else { rng.rotation() };
    let mut inertia = Mat3::ZERO;
    for _ in 0..6 {
        let p = frame * (rng.in_cube() * squeeze);
        let outer = Mat3::from_cols(p * p.x, p * p.y, p * p.z);
        inertia += Mat3::from_diagonal(Vec3::splat(p.length_squared())) - outer;
    }
    inertia
}

#[test]
fn a_box_spun_about_its_middle_axis_flips_at_the_exact_times() {
    // Landau, Mechanics, section 37: with I = (3.25, 2.5, 1.25)/3 and w = (0.01, 5, 0.01) the middle
    // component of the angular velocity passes zero at 2.767 s and then every 6.451 s: 9 times in 60 s.
    for rate in [240, 60] {
        let mut top = Top::cuboid(Vec3::new(0.5, 1.0, 1.5), Vec3::new(0.01, 5.0, 0.01));
        let (energy, momentum) = (top.energy(), top.momentum());
        let dt = 1.0 / f64::from(rate);
        let mut flips = Vec::new();
        let mut middle = 5.0;
        for i in 0..60 * rate {
            top.step(dt);
            let now = (top.rotation.conjugate() * top.omega).y;
            if middle * now < 0.0 {
                flips.push(dt * (f64::from(i) + middle / (middle - now)));
            }
            middle = now;
            assert!((top.energy() / energy - 1.0).abs() < 1e-10);
            assert!((top.momentum() - momentum).length() < 1e-10 * momentum.length());
        }
        assert_eq!(flips.len(), 9, "{flips:?}");
        assert!((flips[0] / 2.767 - 1.0).abs() < 1e-3, "{flips:?}");
        for pair in flips.windows(2) {
            assert!(((pair[1] - pair[0]) / 6.451 - 1.0).abs() < 1e-3, "{flips:?}");
        }
    }
}

#[test]
fn a_symmetric_top_precesses_about_its_angular_momentum() {
    // Half extents (.5, .5, 1.5): I = (2.5, 2.5, 0.5)/3. Its axis circles L at |L| / I_1 = |(2.5,
    // 0, 2.5)| / 2.5 = sqrt(2) rad/s: 14.14 rad in 10 s.
    for rate in [480, 240, 60] {
        let mut top = Top::cuboid(Vec3::new(0.5, 0.5, 1.5), Vec3::new(1.0, 0.0, 5.0));
        let about = top.momentum().normalize();
        let expected = rotation(about, 10.0 * 2.0_f64.sqrt()) * Vec3::Z;
        for _ in 0..10 * rate {
            top.step(1.0 / f64::from(rate));
        }
        let error = (top.rotation * Vec3::Z - expected).length();
        assert!(error < 1e-11, "{error:e} rad at {rate} Hz");
    }
}

#[test]
fn rotation_about_a_principal_axis_is_constant() {
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let mut top = Top::cuboid(Vec3::new(0.3, 0.2, 0.1), axis * 7.0);
        for _ in 0..1_000 {
            top.step(1.0 / 240.0);
        }
        assert_eq!(top.omega, axis * 7.0);
        assert!(apart(top.rotation, rotation(axis, 7.0 / 0.24)) < 1e-12);
    }
}

#[test]
fn angular_velocity_is_in_world_axes() {
    // At a yaw of 90 degrees the world's x axis is the body's -y axis: turning about it by a right
    // angle takes the body's x axis, which points along world y, to world z.
    let mut top = Top::cuboid(Vec3::new(0.3, 0.2, 0.1), Vec3::X);
    top.rotation = rotation(Vec3::Z, std::f64::consts::FRAC_PI_2);
    for _ in 0..100 {
        top.step(std::f64::consts::FRAC_PI_2 / 100.0);
    }
    assert!((top.omega - Vec3::X).length() < 1e-13);
    assert!((top.rotation * Vec3::X - Vec3::Z).length() < 1e-13);
}

#[test]
fn a_quaternion_stays_unit_for_a_million_steps() {
    let mut top = Top::cuboid(Vec3::new(0.5, 1.0, 1.5), Vec3::new(0.3, 5.0, -0.4));
    let energy = top.energy();
    for _ in 0..1_000_000 {
        top.step(1.0 / 480.0);
        assert!((top.rotation.length() - 1.0).abs() < 1e-12);
    }
    assert!((top.energy() / energy - 1.0).abs() < 1e-10);
}

#[test]
fn energy_and_momentum_are_conserved_for_every_mass_distribution() {
    // 60 s each. Inertia ratios to 1e6 and spins to 100 rad/s: up to 6000 rad of tumbling.
    for seed in 0..60 {
        let rng = &mut Rng::new(seed);
        let thin = 10.0_f64.powi(-(seed as i32 % 4));
        let inertia = random_inertia(rng, thin);
        let omega = rng.direction() * rng.log_range(0.1, 100.0);
        let rate = [60, 240, 480][rng.index(3)];
        let mut top = Top::new(inertia, omega);
        let (energy, momentum) = top.drift(1.0 / rate as f64, 60 * rate);
        assert!(energy < 1e-7 && momentum < 1e-7, "{seed}: {energy:e} {momentum:e} {inertia}");
    }
}

#[test]
fn the_rotation_does_not_depend_on_the_time_step() {
    // One second in steps of 1/15 s to 1/960 s gives the same result as a Runge-Kutta method of
    // fourth order (error below 1e-11) for q' = w q / 2 at constant angular momentum.
    for seed in 0..20 {
        let rng = &mut Rng::new(100 + seed);
        let start = Top::new(random_inertia(rng, 0.5), rng.direction() * rng.range(1.0, 10.0));
        let momentum = start.momentum();
        let rate = |q: Quat| {
            let unit = q.normalize();
            let w = unit * (start.inverse * (unit.conjugate() * momentum));
            Quat::from_xyzw(w.x, w.y, w.z, 0.0) * q * 0.5
        };
        let mut q = start.rotation;
        let h = 1.0 / 8_192.0;
        for _ in 0..8_192 {
            let a = rate(q);
            let b = rate(q + a * (0.5 * h));
            let c = rate(q + b * (0.5 * h));
            let d = rate(q + c * h);
            q = (q + (a + b * 2.0 + c * 2.0 + d) * (h / 6.0)).normalize();
        }
        for steps in [15, 60, 240, 960] {
            let mut top = start;
            for _ in 0..steps {
                top.step(1.0 / f64::from(steps));
            }
            let error = apart(q, top.rotation);
            assert!(error < 1e-10, "seed {seed}, {steps} steps: {error:e}");
        }
    }
}

#[test]
fn a_body_at_rest_keeps_its_rotation_and_a_ball_its_angular_velocity_bit_for_bit() {
    let rng = &mut Rng::new(5);
    for _ in 0..100 {
        let (q, inertia) = (rng.rotation() * 1.000_001, random_inertia(rng, 0.1));
        let still = rotate_freely(q, Vec3::ZERO, &inertia, &inertia.inverse(), false, 0.1);
        assert_eq!(still, (q, Vec3::ZERO));
        let omega = rng.direction() * rng.log_range(1e-9, 1e3);
        let ball = Mat3::IDENTITY * 0.4;
        let (turned, after) = rotate_freely(q, omega, &ball, &ball.inverse(), true, 0.01);
        assert_eq!(after, omega);
        let expected = rotation(omega, 0.01 * omega.length()) * q;
        assert!(apart(turned, expected.normalize()) < 1e-13);
    }
}

#[test]
fn stepping_back_in_time_returns_to_the_start() {
    let mut top = Top::cuboid(Vec3::new(0.5, 1.0, 1.5), Vec3::new(0.3, 5.0, -0.4));
    let start = top;
    for dt in [0.01, -0.01] {
        for _ in 0..100 {
            top.step(dt);
        }
    }
    assert!(apart(top.rotation, start.rotation) < 1e-12);
    assert!((top.omega - start.omega).length() < 1e-12);
}

#[test]
fn extreme_numbers_stay_finite_and_keep_energy() {
    let rng = &mut Rng::new(6);
    let mut finite = 0;
    for _ in 0..3_000 {
        let inertia = random_inertia(rng, 1e-3) * rng.log_range(1e-60, 1e60);
        let mut top = Top::new(inertia, rng.direction() * rng.log_range(1e-200, 1e200));
        let energy = top.energy();
        top.step(rng.log_range(1e-12, 1e3));
        assert!(top.rotation.is_finite() && top.omega.is_finite(), "{energy}");
        if energy.is_finite() && energy > 1e-300 {
            finite += 1;
            assert!((top.energy() / energy - 1.0).abs() < 1e-6, "{energy} {}", top.energy());
        }
    }
    assert!(finite > 1_000);
    // Not the inertia of any body: not even positive.
    let strange = Mat3::from_diagonal(Vec3::new(-1.0, 1e9, 0.0));
    let (q, w) = rotate_freely(Quat::IDENTITY, Vec3::ONE, &strange, &strange, false, 0.1);
    assert!(q.is_finite() && w.is_finite());
    let nan = Mat3::IDENTITY * f64::NAN;
    assert!(rotate_freely(Quat::IDENTITY, Vec3::ONE, &nan, &nan, false, 0.1).1.is_nan());
    for bad in [f64::NAN, f64::INFINITY] {
        let inertia = Mat3::IDENTITY;
        let turn = |q, w, dt| rotate_freely(q, w, &inertia, &inertia, false, dt);
        let nan = Quat::from_xyzw(bad, 0.0, 0.0, 1.0);
        assert!(turn(nan, Vec3::ONE, 0.1).0.is_nan());
        assert!(turn(Quat::IDENTITY, Vec3::splat(bad), 0.1).1.is_nan());
        assert!(turn(Quat::IDENTITY, Vec3::ONE, bad).0.is_nan());
    }
}

#[test]
#[ignore = "measurement: prints how long a call takes"]
#[expect(clippy::print_stdout, reason = "its purpose")]
fn cost() {
    for (omega, rate) in [(1e-3, 480.0), (1.0, 480.0), (5.0, 480.0), (5.0, 60.0), (100.0, 60.0)] {
        let omega = Vec3::new(0.6, 0.64, 0.48) * omega;
        let mut top = Top::cuboid(Vec3::new(0.5, 1.0, 1.5), omega);
        // The minimum of many: other load on the machine only adds time.
        let each = (0..50)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..2_000 {
                    top.step(1.0 / rate);
                }
                start.elapsed().as_secs_f64() * 1e9 / 2e3
            })
            .fold(f64::INFINITY, f64::min);
        println!("{:8} rad/s, 1/{rate} s: {each:.0} ns", omega.length());
    }
    for seed in 0..8 {
        let rng = &mut Rng::new(seed);
        let mut top = Top::new(random_inertia(rng, 1e-3), rng.direction() * 100.0);
        println!("{:?} after 60 s at 100 rad/s", top.drift(1.0 / 60.0, 3_600));
    }
}
