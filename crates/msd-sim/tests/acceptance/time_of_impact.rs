//! Times of first contact of moving shapes: motions with a closed form, and random motions against
//! the sampled distance.

use std::cell::Cell;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use msd_sim::geometry::{
    ClosingBounds, Impact, MovingShape, Shape, Simplex, Workspace, separation, time_of_impact,
};
use msd_sim::math::{Pose, Quat, SpatialVector, Vec3, rotation};

use crate::oracle::pairs::{KINDS, Rng, random_hull};
use crate::project::{scaled, shape_of_kind};

/// The motion of a body on a parabola, rotating at a constant rate.
#[derive(Clone, Copy, Debug)]
struct Motion {
    position: Vec3,
    velocity: Vec3,
    acceleration: Vec3,
    rotation: Quat,
    spin: Vec3,
}

impl Motion {
    const STILL: Self = Self {
        position: Vec3::ZERO,
        velocity: Vec3::ZERO,
        acceleration: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        spin: Vec3::ZERO,
    };

    fn at(position: Vec3) -> Self {
        Self { position, ..Self::STILL }
    }

    fn moving(self, velocity: Vec3) -> Self {
        Self { velocity, ..self }
    }

    fn spinning(self, spin: Vec3) -> Self {
        Self { spin, ..self }
    }

    fn turned(self, rotation: Quat) -> Self {
        Self { rotation, ..self }
    }

    fn pose(&self, t: f64) -> Pose {
        let position = self.position + self.velocity * t + self.acceleration * (0.5 * t * t);
        let turn = rotation(self.spin, self.spin.length() * t) * self.rotation;
        Pose::new(position, turn.normalize())
    }
}

/// Two moving shapes.
#[derive(Clone, Debug)]
struct ImpactOutcome {
    a: Shape,
    motion_a: Motion,
    b: Shape,
    motion_b: Motion,
    from: f64,
    until: f64,
}

impl ImpactOutcome {
    fn new(a: &Shape, motion_a: Motion, b: &Shape, motion_b: Motion, until: f64) -> Self {
        Self { a: a.clone(), motion_a, b: b.clone(), motion_b, from: 0.0, until }
    }

    fn closing(&self) -> ClosingBounds {
        let (a, b) = (&self.motion_a, &self.motion_b);
        ClosingBounds::between(
            SpatialVector::new(a.velocity + a.acceleration * self.from, a.spin),
            turning_radius(&self.a),
            SpatialVector::new(b.velocity + b.acceleration * self.from, b.spin),
            turning_radius(&self.b),
            (b.acceleration - a.acceleration).length(),
            self.until - self.from,
        )
    }

    /// Returns half the least width of the thinner shape.
    fn size(&self) -> f64 {
        0.5 * self.a.least_width().min(self.b.least_width())
    }

    fn touch(&self) -> f64 {
        self.size() / f64::from(1 << 30)
    }

    /// Returns the error that the distance of curved shapes may have.
    fn noise(&self) -> f64 {
        let curved = |s: &Shape| matches!(s, Shape::Cylinder(_) | Shape::Cone(_));
        if curved(&self.a) || curved(&self.b) { 1e-9 } else { 1e-13 }
    }

    /// Returns the impact, and how often a pose was evaluated.
    fn counted(&self, workspace: &mut Workspace) -> (Option<Impact>, usize) {
        let evaluated = Cell::new(0);
        let count = |pose: Pose, t: f64| {
            assert!((self.from..=self.until).contains(&t), "{t} is outside the interval");
            evaluated.set(evaluated.get() + 1);
            pose
        };
        let a = MovingShape { shape: &self.a, path: |t| count(self.motion_a.pose(t), t) };
        let b = MovingShape { shape: &self.b, path: |t| self.motion_b.pose(t) };
        let (span, simplex) = ([self.from, self.until], &mut Simplex::default());
        let found = time_of_impact(&a, &b, &self.closing(), span, self.touch(), simplex, workspace);
        (found, evaluated.get())
    }

    /// Returns the impact, resuming as often as the search is cut off.
    fn impact(&self) -> Option<Impact> {
        let (mut part, mut workspace) = (self.clone(), Workspace::default());
        loop {
            let found = part.counted(&mut workspace).0?;
            if !found.cut_off {
                return Some(found);
            }
            assert!(found.time > part.from, "no progress from {found:?}: {self:?}");
            part.from = found.time;
        }
    }

    fn distance(&self, t: f64, simplex: &mut Simplex, workspace: &mut Workspace) -> f64 {
        let (pose_a, pose_b) = (self.motion_a.pose(t), self.motion_b.pose(t));
        separation(&self.a, &pose_a, &self.b, &pose_b, simplex, workspace).unwrap().distance
    }

    /// Asserts that the impact is within the last `touch` before `time`, without overlap, and
    /// returns it.
    #[track_caller]
    fn must_touch_at(&self, time: f64, speed: f64) -> Impact {
        let found = self.impact().unwrap_or_else(|| panic!("{self:?} touch at {time}"));
        assert!(!found.cut_off);
        let early = time - found.time;
        let rounding = 1e-14 * time;
        assert!(early >= -rounding && early <= 1.01 * self.touch() / speed + rounding, "{early:e}");
        assert!((0.0..=self.touch()).contains(&found.separation.distance), "{found:?}");
        found
    }
}

fn turning_radius(shape: &Shape) -> f64 {
    if matches!(shape, Shape::Sphere(_)) { 0.0 } else { shape.bounding_radius() }
}

fn ball(radius: f64) -> Shape {
    Shape::sphere(radius).unwrap()
}

fn floor() -> Shape {
    Shape::half_space(Vec3::Z, 0.0).unwrap()
}

#[test]
fn balls_touch_at_the_root_of_the_quadratic() {
    // B starts 10 m away along x, with an offset of `miss`, and approaches at 4 m/s: the centers
    // are 1.5 m apart when 10 - 4 t is the root of 1.5^2 - miss^2.
    for miss in [0.0, 0.5, 1.0, 1.4, 1.499, 1.499999] {
        let across = (1.5_f64 * 1.5 - miss * miss).sqrt();
        let b = Motion::at(Vec3::new(10.0, miss, 0.0)).moving(Vec3::new(-4.0, 0.0, 0.0));
        let meeting = ImpactOutcome::new(&ball(1.0), Motion::STILL, &ball(0.5), b, 10.0);
        let found = meeting.must_touch_at((10.0 - across) / 4.0, 4.0 * across / 1.5);
        let normal = Vec3::new(across, miss, 0.0) / 1.5;
        assert!((found.separation.normal - normal).length() < 1e-5);
        assert!(found.evaluations <= 16, "{miss}: {} evaluations", found.evaluations);
    }
    for miss in [1.500001, 1.51, 3.0] {
        let b = Motion::at(Vec3::new(10.0, miss, 0.0)).moving(Vec3::new(-4.0, 0.0, 0.0));
        let meeting = ImpactOutcome::new(&ball(1.0), Motion::STILL, &ball(0.5), b, 10.0);
        assert_eq!(meeting.impact(), None, "{miss}");
    }
}

#[test]
fn no_impact_is_found_before_its_time() {
    // Head on from a gap of 8.5 m at 4 m/s: 2.125 s.
    let b = Motion::at(Vec3::new(10.0, 0.0, 0.0)).moving(Vec3::new(-4.0, 0.0, 0.0));
    let until = |until| ImpactOutcome::new(&ball(1.0), Motion::STILL, &ball(0.5), b, until);
    assert_eq!(until(2.124).impact(), None);
    until(2.126).must_touch_at(2.125, 4.0);
}

#[test]
fn a_thrown_ball_lands_at_the_root_of_its_parabola() {
    // 3 m above the floor with 2 m/s upwards: 3 + 2 t - 5 t^2 = 0 at t = 1.
    for sideways in [0.0, 1.0, 500.0] {
        let throw = Motion::at(Vec3::new(0.0, 0.0, 3.25)).moving(Vec3::new(sideways, 0.0, 2.0));
        let throw = Motion { acceleration: Vec3::new(0.0, 0.0, -10.0), ..throw };
        let fall = ImpactOutcome::new(&floor(), Motion::STILL, &ball(0.25), throw, 3.0);
        // It lands with 2 - 10 t = -8 m/s.
        let found = fall.must_touch_at(1.0, 8.0);
        assert_eq!(found.separation.normal, Vec3::Z);
        assert!(found.evaluations <= 12, "{} evaluations", found.evaluations);
    }
}

#[test]
fn a_rotating_cube_hits_the_floor_with_its_edge() {
    // Half an edge of 1 m, its center 1.25 m up: rotated by t about y the edge is sqrt(2) cos(pi/4
    // - t) below the center, which is 1.25 at t = pi/4 - acos(1.25 / sqrt(2)).
    let cube = Shape::cuboid(Vec3::ONE).unwrap();
    let spin = Motion::at(Vec3::Z * 1.25).spinning(Vec3::Y);
    let angle = (1.25 / 2.0_f64.sqrt()).acos();
    let turn = ImpactOutcome::new(&cube, spin, &floor(), Motion::STILL, 10.0);
    turn.must_touch_at(FRAC_PI_4 - angle, 2.0_f64.sqrt() * angle.sin());
    // A corner reaches sqrt(3), and does not touch from a height of 1.75 m.
    let high = Motion::at(Vec3::Z * 1.75).spinning(Vec3::new(1.0, 2.0, 3.0));
    let pass = ImpactOutcome::new(&cube, high, &floor(), Motion::STILL, 100.0);
    assert_eq!(pass.impact(), None);
    // That takes many steps for all of its 374 rad, and the search reports that it was cut off.
    let (found, _) = pass.counted(&mut Workspace::default());
    assert!(found.is_some_and(|found| found.cut_off && found.time > 2.0));
}

#[test]
fn a_rotating_rod_hits_a_post_at_the_angle_of_its_face() {
    // A rod of 2 m and 1 cm half width rotates at 50 rad/s about z. A post of 2.5 cm radius stands
    // at 0.8 m along y. The face touches the post when its plane is 0.025 from the post's axis: the
    // axis is 0.8 sin(rest) from the rod's center line, rest being the angle left to y.
    let rod = Shape::cuboid(Vec3::new(1.0, 0.01, 0.01)).unwrap();
    let post = Shape::cylinder(0.025, 0.5).unwrap();
    let left = (0.035_f64 / 0.8).asin();
    let spin = Motion::STILL.spinning(Vec3::Z * 50.0);
    let stand = Motion::at(Vec3::Y * 0.8);
    let hit = ImpactOutcome::new(&rod, spin, &post, stand, 0.1);
    let found = hit.must_touch_at((FRAC_PI_2 - left) / 50.0, 50.0 * 0.8 * left.cos());
    assert!(found.evaluations <= 16, "{} evaluations", found.evaluations);
    // Out of reach by 1 cm, 1 mm and 0.1 mm: the rod's corners sweep a circle.
    for clearance in [1e-2, 1e-3, 1e-4] {
        let reach = (1.0_f64 + 0.01 * 0.01).sqrt();
        let stand = Motion::at(Vec3::Y * (reach + 0.025 + clearance));
        let pass = ImpactOutcome::new(&rod, spin, &post, stand, 0.1);
        let (found, evaluated) = pass.counted(&mut Workspace::default());
        eprintln!("a rod passing at {clearance} m: {evaluated} poses");
        assert_eq!(found, None, "{clearance}");
    }
}

#[test]
fn a_fast_ball_does_not_pass_a_thin_plate() {
    // A ball of 1 cm radius at 500 m/s, at a plate of 5 mm, `angle` from its normal: it starts 1 m
    // away along its path, and touches after 1 m less (0.01 + 0.0025) / cos(angle).
    let plate = Shape::cuboid(Vec3::new(2.0, 2.0, 0.0025)).unwrap();
    for degrees in [0.0_f64, 1.0, 10.0, 30.0, 45.0, 60.0, 75.0, 85.0, 89.0] {
        let angle = degrees.to_radians();
        let along = Vec3::new(angle.sin(), 0.0, -angle.cos());
        let shot = Motion::at(-along).moving(along * 500.0);
        let hit = ImpactOutcome::new(&plate, Motion::STILL, &ball(0.01), shot, 0.01);
        let time = (1.0 - 0.0125 / angle.cos()) / 500.0;
        let found = hit.must_touch_at(time, 500.0 * angle.cos());
        assert!(found.evaluations <= 6, "{degrees}: {} evaluations", found.evaluations);
    }
}

/// Returns two moving shapes of about 1 m, one of them often a plane, that often touch within a
/// second.
fn random_encounter(rng: &mut Rng) -> ImpactOutcome {
    let (kind, other) = (rng.index(KINDS), rng.index(KINDS + 1));
    let (a, b) = (shape_of_kind(rng, kind), shape_of_kind(rng, other));
    encounter_of(rng, a, b)
}

/// Returns a plate or needle a hundredth as thick as it is wide.
fn thin_shape(rng: &mut Rng) -> Shape {
    let thin = 0.005;
    match rng.index(5) {
        0 => Shape::cuboid(Vec3::new(0.5, 0.5, thin)),
        1 => Shape::cuboid(Vec3::new(0.5, thin, thin)),
        2 => Shape::cylinder(0.5, thin),
        3 => Shape::capsule(thin, 0.5),
        _ => return random_hull(rng, Vec3::new(0.5, 0.5, thin)),
    }
    .unwrap()
}

fn encounter_of(rng: &mut Rng, a: Shape, b: Shape) -> ImpactOutcome {
    let is_plane = matches!(b, Shape::HalfSpace(_));
    let reach = a.bounding_radius() + if is_plane { 1.0 } else { b.bounding_radius() };
    let away = match &b {
        Shape::HalfSpace(s) => -s.plane().normal,
        _ => rng.direction(),
    };
    let spin = [0.0, 1.0, 10.0, 30.0][rng.index(4)];
    let from = away * (reach * rng.range(1.01, 3.0));
    let aim = rng.direction() * (reach * rng.range(0.0, 1.2));
    let pull = Vec3::new(0.0, 0.0, -9.81) * rng.range(0.0, 1.0).round();
    let frame = rng.in_cube() * 3.0;
    let drift = rng.in_cube();
    let (mut motion_a, mut motion_b) = (Motion::at(frame), Motion::at(frame + from));
    motion_a.velocity = drift;
    motion_b.velocity = drift + (aim - from) * rng.range(0.3, 3.0);
    motion_a.acceleration = pull;
    (motion_a.rotation, motion_a.spin) = (rng.rotation(), rng.direction() * spin);
    if !is_plane {
        motion_b.acceleration = pull * rng.range(0.0, 1.0).round();
        (motion_b.rotation, motion_b.spin) = (rng.rotation(), rng.direction() * spin);
    }
    let find_impact = ImpactOutcome { a, motion_a, b, motion_b, from: 0.0, until: 1.0 };
    if rng.index(2) == 0 { find_impact } else { swapped(&find_impact) }
}

fn swapped(find_impact: &ImpactOutcome) -> ImpactOutcome {
    ImpactOutcome::new(
        &find_impact.b,
        find_impact.motion_b,
        &find_impact.a,
        find_impact.motion_a,
        find_impact.until,
    )
}

#[test]
fn randomly_moving_shapes_are_apart_until_their_time_of_impact() {
    let hits = count_impacts(31, 1200, 1000, random_encounter);
    assert!(hits > 400, "only {hits} hits");
}

#[test]
fn plates_and_needles_do_not_pass_through_each_other() {
    let hits = count_impacts(35, 300, 4000, |rng| {
        let (a, b) = (thin_shape(rng), thin_shape(rng));
        encounter_of(rng, a, b)
    });
    assert!(hits > 60, "only {hits} hits");
}

/// Compares the impacts of random encounters with the distance at so many samples of time. Returns
/// the number of impacts.
fn count_impacts(
    seed: u64,
    count: usize,
    samples: u32,
    make: impl Fn(&mut Rng) -> ImpactOutcome,
) -> usize {
    let (mut rng, mut workspace) = (Rng::new(seed), Workspace::default());
    let (mut hits, mut searches, mut cut_off) = (0, 0, 0);
    let (mut evaluations, mut most, mut poses, mut most_poses) = (0, 0, 0, 0);
    let (mut slow, mut slow_hits) = (0, 0);
    for seed in 0..count {
        let mut find_impact = make(&mut rng);
        let simplex = &mut Simplex::default();
        if find_impact.distance(0.0, simplex, &mut workspace) <= find_impact.touch() {
            continue;
        }
        loop {
            let (found, evaluated) = find_impact.counted(&mut workspace);
            searches += 1;
            (poses, most_poses) = (poses + evaluated, most_poses.max(evaluated));
            let end = found.map_or(find_impact.until, |found| found.time);
            let noise = find_impact.noise();
            for i in 0..=samples {
                let t = find_impact.from
                    + (end - find_impact.from) * (f64::from(i) / f64::from(samples));
                let distance = find_impact.distance(t, simplex, &mut workspace);
                assert!(
                    distance > -noise,
                    "{seed}: overlap, distance {distance:e} at {t}, {found:?} {find_impact:?}"
                );
            }
            let Some(found) = found else { break };
            let distance = find_impact.distance(found.time, simplex, &mut workspace);
            assert!((distance - found.separation.distance).abs() <= noise, "{seed}: {found:?}");
            if found.cut_off {
                cut_off += 1;
                assert!(
                    found.separation.distance > find_impact.touch()
                        && found.time > find_impact.from
                );
                find_impact.from = found.time;
                continue;
            }
            hits += 1;
            (evaluations, most) = (evaluations + found.evaluations, most.max(found.evaluations));
            let spin = find_impact.motion_a.spin.length().max(find_impact.motion_b.spin.length());
            if spin * (found.time - find_impact.from) <= 1.0 {
                (slow, slow_hits) = (slow + found.evaluations, slow_hits + 1);
            }
            let within = (0.0..=find_impact.touch() + noise).contains(&found.separation.distance);
            assert!(within, "{seed}: {found:?} {find_impact:?}");
            break;
        }
    }
    let mean = evaluations as f64 / hits as f64;
    let mean_poses = poses as f64 / f64::from(searches);
    eprintln!("{hits} impacts in {searches} searches, {cut_off} cut off");
    let slow_mean = slow as f64 / f64::from(slow_hits);
    eprintln!("evaluations for an impact: {mean:.2}, at most {most}");
    eprintln!("where the shapes turn by less than 1 rad before it: {slow_mean:.2}");
    eprintln!("poses of a shape for any search: {mean_poses:.2}, at most {most_poses}");
    hits
}

#[test]
fn the_order_of_the_shapes_does_not_matter() {
    let mut rng = Rng::new(32);
    for seed in 0..300 {
        let find_impact = random_encounter(&mut rng);
        match (find_impact.impact(), swapped(&find_impact).impact()) {
            (None, None) => {}
            (Some(one), Some(other)) => {
                // Both stop within the last `touch`, which a grazing motion takes long to cross.
                let simplex = &mut Simplex::default();
                let between = 0.5 * (one.time + other.time);
                let gap = find_impact.distance(between, simplex, &mut Workspace::default());
                let same = (one.time - other.time).abs() <= 1e-12;
                assert!(
                    same || gap.abs() <= find_impact.touch() + find_impact.noise(),
                    "{seed}: {one:?} {other:?}"
                );
                assert!((one.time - other.time).abs() <= 1e-4, "{seed}: {one:?} {other:?}");
            }
            (one, other) => panic!("{seed}: {one:?} {other:?} {find_impact:?}"),
        }
    }
}

#[test]
fn scaling_all_lengths_by_a_power_of_two_keeps_the_time() {
    let mut rng = Rng::new(33);
    for seed in 0..200 {
        let find_impact = random_encounter(&mut rng);
        let found = find_impact.impact();
        for k in [-20, -3, 1, 17] {
            let by = 2.0_f64.powi(k);
            let motion = |m: &Motion| Motion {
                position: m.position * by,
                velocity: m.velocity * by,
                acceleration: m.acceleration * by,
                ..*m
            };
            let (a, b) = (scaled(&find_impact.a, by), scaled(&find_impact.b, by));
            let other = ImpactOutcome::new(
                &a,
                motion(&find_impact.motion_a),
                &b,
                motion(&find_impact.motion_b),
                find_impact.until,
            );
            let other = other.impact();
            assert_eq!(other.map(|i| i.time), found.map(|i| i.time), "{seed}, by 2^{k}");
            let gap = |i: Impact| i.separation.distance;
            assert_eq!(other.map(gap), found.map(|i| gap(i) * by), "{seed}, by 2^{k}");
        }
    }
}

#[test]
fn a_common_velocity_does_not_change_the_time() {
    let mut rng = Rng::new(34);
    for seed in 0..300 {
        let find_impact = random_encounter(&mut rng);
        let boost = rng.in_cube() * 100.0;
        let mut other = find_impact.clone();
        other.motion_a.velocity += boost;
        other.motion_b.velocity += boost;
        match (find_impact.impact(), other.impact()) {
            (None, None) => {}
            (Some(one), Some(other)) => {
                let simplex = &mut Simplex::default();
                let gap = find_impact.distance(other.time, simplex, &mut Workspace::default());
                assert!(
                    gap.abs() <= find_impact.touch() + 1e-12 + find_impact.noise(),
                    "{seed}: {gap:e}"
                );
                assert!((one.time - other.time).abs() <= 1e-4, "{seed}: {one:?} {other:?}");
            }
            (one, other) => panic!("{seed}: {one:?} {other:?} {find_impact:?}"),
        }
    }
}

#[test]
fn touching_shapes_that_approach_have_an_impact_at_once() {
    let cube = Shape::cuboid(Vec3::splat(0.5)).unwrap();
    for (height, speed) in [(0.5, 1.0), (0.5, 1e-3), (0.4, 1.0), (0.5 + 2e-10, 1.0)] {
        let fall = Motion::at(Vec3::Z * height).moving(Vec3::Z * -speed);
        let find_impact = ImpactOutcome::new(&cube, fall, &floor(), Motion::STILL, 0.1);
        let found = find_impact.impact().expect("it approaches");
        assert_eq!((found.time, found.cut_off), (0.0, false));
    }
    // Flat on the floor, rotating: one edge moves down at once.
    let tip = Motion::at(Vec3::Z * 0.5).spinning(Vec3::Y);
    let find_impact = ImpactOutcome::new(&cube, tip, &floor(), Motion::STILL, 0.1);
    assert_eq!(find_impact.impact().map(|found| found.time), Some(0.0));
}

#[test]
fn touching_shapes_that_separate_or_rest_have_no_impact() {
    let cube = Shape::cuboid(Vec3::splat(0.5)).unwrap();
    let away = [Vec3::Z, Vec3::Z * 1e-3, Vec3::ZERO, Vec3::X * 10.0, Vec3::X];
    for velocity in away {
        for height in [0.5, 0.499] {
            let part = Motion::at(Vec3::Z * height).moving(velocity);
            let find_impact = ImpactOutcome::new(&cube, part, &floor(), Motion::STILL, 0.1);
            assert_eq!(find_impact.impact(), None, "{velocity} {height}");
        }
    }
}

#[test]
fn a_bouncing_ball_lands_again_at_the_exact_time() {
    // Up at 2 m/s under 10 m/s^2: back after 0.4 s, at the same speed.
    let up = Motion::at(Vec3::Z * 0.1).moving(Vec3::Z * 2.0);
    let up = Motion { acceleration: Vec3::Z * -10.0, ..up };
    let bounce = ImpactOutcome::new(&floor(), Motion::STILL, &ball(0.1), up, 1.0);
    bounce.must_touch_at(0.4, 2.0);
}

#[test]
fn the_far_end_of_a_rod_lands_while_the_near_end_leaves() {
    // A rod of 2 m and 1 cm radius, its axis tilted by 0.3 rad, touches with its left end and turns
    // back: the left end rises, and the right one lands when the tilt is as large to the other
    // side, after 0.6 rad.
    let rod = Shape::capsule(0.01, 1.0).unwrap();
    let tilt = 0.3_f64;
    let height = tilt.sin() + 0.01;
    // Its z axis along x, then the right end up.
    let lying = rotation(Vec3::Y, FRAC_PI_2 - tilt);
    let turn = Motion::at(Vec3::Z * height).turned(lying).spinning(Vec3::Y * 2.0);
    let rock = ImpactOutcome::new(&rod, turn, &floor(), Motion::STILL, 1.0);
    let found = rock.must_touch_at(0.3, 2.0 * tilt.cos());
    assert!(found.separation.point_a.x > 0.9, "{found:?}");
}

#[test]
fn invalid_numbers_give_no_impact() {
    let (shape, still) = (ball(1.0), |_: f64| Pose::IDENTITY);
    let good = ClosingBounds { linear: Vec3::Z * -1.0, extra_speed: 0.0, gap_acceleration: 0.0 };
    let query = |closing: ClosingBounds, span: [f64; 2], touch: f64, x: f64| {
        let a = MovingShape { shape: &shape, path: still };
        let b = MovingShape { shape: &shape, path: |t| Pose::at(Vec3::new(x, 0.0, 5.0 - t)) };
        let (simplex, workspace) = (&mut Simplex::default(), &mut Workspace::default());
        time_of_impact(&a, &b, &closing, span, touch, simplex, workspace)
    };
    assert!(query(good, [0.0, 9.0], 1e-9, 0.0).is_some());
    let none = [
        query(ClosingBounds { linear: Vec3::NAN, ..good }, [0.0, 9.0], 1e-9, 0.0),
        query(ClosingBounds { extra_speed: f64::NAN, ..good }, [0.0, 9.0], 1e-9, 0.0),
        query(ClosingBounds { extra_speed: f64::INFINITY, ..good }, [0.0, 9.0], 1e-9, 0.0),
        query(ClosingBounds { extra_speed: -1.0, ..good }, [0.0, 9.0], 1e-9, 0.0),
        query(ClosingBounds { gap_acceleration: f64::NAN, ..good }, [0.0, 9.0], 1e-9, 0.0),
        query(good, [0.0, f64::NAN], 1e-9, 0.0),
        query(good, [0.0, f64::INFINITY], 1e-9, 0.0),
        query(good, [9.0, 0.0], 1e-9, 0.0),
        query(good, [0.0, 9.0], f64::NAN, 0.0),
        query(good, [0.0, 9.0], -1.0, 0.0),
        query(good, [0.0, 9.0], 1e-9, f64::NAN),
        query(good, [0.0, 9.0], 1e-9, f64::INFINITY),
    ];
    assert_eq!(none, [None; 12]);
    // Without a margin, and without a known gap_acceleration: still found.
    let exact = query(good, [0.0, 9.0], 0.0, 0.0).expect("touches after 3 m");
    assert!((exact.time - 3.0).abs() < 1e-14 && exact.separation.distance >= 0.0);
    let unknown =
        query(ClosingBounds { gap_acceleration: f64::INFINITY, ..good }, [0.0, 9.0], 1e-9, 0.5);
    assert!(unknown.is_some_and(|found| !found.cut_off));
}
