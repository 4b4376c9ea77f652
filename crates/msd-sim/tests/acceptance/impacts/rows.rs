//! Impacts that propagate through a row of balls, against the sequence of pairwise impacts.

use msd_sim::math::Vec3;
use msd_sim::{BodyId, JointDef, Method, Settings};

use super::{track_worst, zero_gravity};
use crate::scene::{G, Scene, assert_below, central_impact, energy};

/// Balls of 0.5 m radius on a line: masses, positions of their centers and speeds.
#[derive(Clone, Debug)]
struct BallRow {
    masses: Vec<f64>,
    places: Vec<f64>,
    speeds: Vec<f64>,
}

impl BallRow {
    fn new(masses: &[f64], gap: f64, speeds: &[f64]) -> Self {
        let places = (0..masses.len()).map(|n| n as f64 * (1.0 + gap)).collect();
        Self { masses: masses.to_vec(), places, speeds: speeds.to_vec() }
    }

    /// Resolves each impact at its time, for `seconds`.
    fn simulated(mut self, restitution: f64, mut seconds: f64) -> Self {
        for _ in 0..10_000 {
            let meeting = |n: usize| {
                let (gap, closing) = (
                    self.places[n + 1] - self.places[n] - 1.0,
                    self.speeds[n] - self.speeds[n + 1],
                );
                if closing > 1e-12 { (gap / closing).max(0.0) } else { f64::INFINITY }
            };
            let first =
                (0..self.masses.len() - 1).min_by(|&a, &b| meeting(a).total_cmp(&meeting(b)));
            let first = first.unwrap();
            let time = meeting(first).min(seconds);
            let hits = meeting(first) < seconds;
            for (place, speed) in self.places.iter_mut().zip(&self.speeds) {
                *place += speed * time;
            }
            seconds -= time;
            if !hits {
                return self;
            }
            let pair = [first, first + 1];
            let (masses, speeds) = (pair.map(|n| self.masses[n]), pair.map(|n| self.speeds[n]));
            [self.speeds[first], self.speeds[first + 1]] =
                central_impact(masses, speeds, restitution);
        }
        panic!("the impacts never end: {self:?}");
    }

    fn build(&self, scene: &mut Scene) -> Vec<BodyId> {
        (0..self.masses.len())
            .map(|n| {
                let ball = scene.ball().mass(self.masses[n]).velocity(Vec3::X * self.speeds[n]);
                scene.add(ball.position(Vec3::X * self.places[n]))
            })
            .collect()
    }

    /// Returns the largest error of speed, as a fraction of the largest initial speed.
    fn error(&self, scene: &Scene, balls: &[BodyId], expected: &Self) -> f64 {
        let scale = self.speeds.iter().fold(0.0_f64, |most, speed| most.max(speed.abs()));
        let mut worst = 0.0;
        for (&ball, &speed) in balls.iter().zip(&expected.speeds) {
            let found = scene.body(ball).linear_velocity();
            track_worst(&mut worst, (found - Vec3::X * speed).length() / scale);
        }
        worst
    }

    fn check(&self, restitution: f64, steps: usize) -> f64 {
        let mut scene = zero_gravity(restitution, 0.5);
        let balls = self.build(&mut scene);
        scene.run(steps, |_| {});
        let expected = self.clone().simulated(restitution, steps as f64 * scene.dt);
        self.error(&scene, &balls, &expected)
    }
}

#[test]
fn as_many_balls_leave_a_newtons_cradle_as_hit_it() {
    for gap in [0.0, 1e-9, 1e-3] {
        for count in 1..=3 {
            for method in [Method::SoftStep, Method::Pgs, Method::ActiveSet] {
                let settings = Settings { gravity: Vec3::ZERO, method, ..Settings::default() };
                let mut scene = Scene::with(settings, 1.0, 0.5);
                let speeds = [0, 1, 2, 3, 4].map(|n| if n < count { 2.0 } else { 0.0 });
                let row = BallRow::new(&[1.0; 5], gap, &speeds);
                let balls = row.build(&mut scene);
                // The last gap closes after 4 gaps at 2 m/s.
                scene.run(10, |_| {});
                let mut expected = row.clone();
                expected.speeds.reverse();
                let worst = row.error(&scene, &balls, &expected);
                eprintln!("cradle: {count} in, gap {gap:e}, {method:?}: {worst:e}");
                assert_below(worst, 1e-9);
            }
        }
    }
}

#[test]
fn a_ball_that_hits_a_newtons_cradle_launches_the_last_ball() {
    for start in 0..16 {
        let mut scene = zero_gravity(1.0, 0.0);
        let mut row = BallRow::new(&[1.0; 5], 0.0, &[7.0, 0.0, 0.0, 0.0, 0.0]);
        row.places[0] -= 0.3 + 0.007 * f64::from(start);
        let balls = row.build(&mut scene);
        scene.run(30, |_| {});
        let mut expected = row.clone();
        expected.speeds.reverse();
        assert_below(row.error(&scene, &balls, &expected), 1e-9);
    }
}

#[test]
fn unequal_masses_with_gaps_hit_each_other_in_sequence() {
    let masses = [3.0, 1.0, 0.2, 5.0, 0.7];
    for gap in [1e-2, 1e-3] {
        for restitution in [1.0, 0.9, 0.5] {
            let row = BallRow::new(&masses, gap, &[2.0, 0.0, 0.0, 0.0, -3.0]);
            let worst = row.check(restitution, 20);
            eprintln!("unequal masses, gap {gap:e}, e = {restitution}: {worst:e}");
            assert_below(worst, 1e-9);
        }
    }
}

#[test]
fn a_partly_elastic_impact_propagates_through_a_row_with_gaps() {
    for (gap, steps) in [(1e-1, 30), (1e-2, 30), (1e-3, 10)] {
        for restitution in [0.9_f64, 0.7, 0.5] {
            let row = BallRow::new(&[1.0; 5], gap, &[2.0, 0.0, 0.0, 0.0, 0.0]);
            // The first pass: v' = (1 + e) / 2 v from ball to ball, up to the last.
            let last = 2.0 * (0.5 * (1.0 + restitution)).powi(4);
            let expected = row.clone().simulated(restitution, 30.0 / 60.0);
            assert_below((expected.speeds[4] - last).abs(), 1e-12);
            let worst = row.check(restitution, steps);
            eprintln!("partly elastic row, gap {gap:e}, e = {restitution}: {worst:e}");
            assert_below(worst, 1e-9);
        }
    }
}

#[test]
fn unequal_masses_a_micrometre_apart_hit_each_other_in_sequence() {
    let row = BallRow::new(&[3.0, 1.0, 0.2, 5.0, 0.7], 1e-6, &[2.0, 0.0, 0.0, 0.0, -3.0]);
    assert_below(row.check(1.0, 20), 1e-9);
}

#[test]
fn a_partly_elastic_row_with_gaps_of_a_millimetre_is_exact_to_the_last_impact() {
    let row = BallRow::new(&[1.0; 5], 1e-3, &[2.0, 0.0, 0.0, 0.0, 0.0]);
    assert_below(row.check(0.9, 30), 1e-9);
}

#[test]
fn a_row_of_huge_mass_ratios_keeps_momentum_and_energy() {
    // With the light ball between, about sqrt(M / m) = 31623 impacts follow each other: more than
    // the impact work allows, so energy may be lost there.
    let rows = [
        ([1.0, 1e9, 1.0], [2.0, 0.0, -2.0], true),
        ([1e-9, 1.0, 1e9], [2.0, 0.0, -2.0], true),
        ([1e9, 1.0, 1e-9], [2.0, 0.0, 0.0], true),
        ([1e9, 1.0, 1e9], [2.0, 0.0, -2.0], false),
    ];
    for (masses, speeds, kept) in rows {
        for gap in [0.0, 1e-3] {
            let row = BallRow::new(&masses, gap, &speeds);
            let mut scene = zero_gravity(1.0, 0.0);
            row.build(&mut scene);
            let (momentum, energy_before) = (scene.world.momentum().linear.x, scene.energy());
            let scale = super::momentum_scale(&scene);
            let mut unresolved_impacts = 0;
            for _ in 0..30 {
                unresolved_impacts += scene.step().unresolved_impacts;
            }
            let momentum = (scene.world.momentum().linear.x - momentum).abs() / scale;
            let gain = energy(&scene.world) / energy_before - 1.0;
            eprintln!(
                "masses {masses:?}, gap {gap:e}: momentum {momentum:e}, energy {gain:e}, {unresolved_impacts}"
            );
            assert_below(momentum, 1e-12);
            assert_below(gain, 1e-12);
            if kept {
                assert_below(gain.abs(), 1e-12);
            }
        }
    }
}

#[test]
fn the_last_ball_of_a_hanging_newtons_cradle_rises_as_high_as_the_first_fell() {
    // Rods of 1 m, touching balls of 0.1 m radius, the first ones raised by 0.5 rad.
    for (count, gap) in [(1, 0.0), (2, 0.0), (1, 1e-3)] {
        let mut scene = Scene::new(1.0, 0.0);
        let (length, radius) = (1.0, 0.1);
        let mut balls = Vec::new();
        for n in 0..5 {
            let x = f64::from(n) * (2.0 * radius + gap);
            let hook = scene.wall(Vec3::splat(0.01), Vec3::new(x, 0.0, length));
            let angle: f64 = if n < count { -0.5 } else { 0.0 };
            let shape = msd_sim::geometry::Shape::sphere(radius).unwrap();
            let ball = msd_sim::BodyDef::inertial(shape).mass(1.0).material(scene.material);
            let place = Vec3::new(x + length * angle.sin(), 0.0, length * (1.0 - angle.cos()));
            let ball = scene.add(ball.position(place));
            scene.world.add_joint(JointDef::rod(hook, ball, length)).unwrap();
            balls.push(ball);
        }
        let first = scene.energy();
        let rise = 1.0 - 0.5_f64.cos();
        // A quarter period is about 0.51 s: by 1.2 s the last ball has reached its apex.
        let (mut top, mut drift, mut still) = (0.0_f64, 0.0_f64, 0.0_f64);
        for step in 0..72 {
            scene.step();
            top = top.max(scene.body(balls[4]).position().z);
            drift = drift.max((scene.energy() / first - 1.0).abs());
            if step > 45 {
                let speed = scene.body(balls[2]).linear_velocity().length();
                still = still.max(speed / (2.0 * G * rise).sqrt());
            }
        }
        let top = (top / rise - 1.0).abs();
        eprintln!(
            "hanging cradle, {count} in, gap {gap:e}: top {top:e}, energy {drift:e}, middle {still:e}"
        );
        // The height is sampled once a step: the apex is missed by (w t)^2 / 2 of it with t up to
        // DT / 2.
        assert_below(top, 2e-3);
        assert_below(drift, 1e-3);
        if gap == 0.0 {
            assert_below(still, 1e-2);
        }
    }
}
