//! Single fast bodies against thin obstacles.

use msd_sim::math::{Pose, Vec3, rotation};

use crate::test_world::{BodyShape, DynamicBody, Engine, Parameters, TestWorld};
use crate::{Case, Outcome};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "plate",
            "ball of 1 cm radius, 500 m/s, at 5 mm, incidence 0 to 80 degrees",
            "none through, speed kept to 0.1 %",
            plate,
        ),
        Case::new("rod", "2 m rod, 50 rad/s, at a post of 5 cm, 0.9 m out", "all hit", rod),
    ]
}

const SHOT_SPEED: f64 = 500.0;
/// Number of start positions, spread over the distance of one step, so that no lucky one hides tunneling.
const STARTS: u32 = 20;
/// Steps after the impact.
const STEPS_AFTER: usize = 5;

fn plate(engine: Engine) -> Outcome {
    let parameters =
        Parameters { gravity: false, restitution: 1.0, friction: 0.0, ..Parameters::default() };
    let (mut shots, mut through, mut change) = (0, 0, 0.0_f64);
    for tens in 0..=8 {
        let (sin, cos) = f64::from(10 * tens).to_radians().sin_cos();
        let direction = Vec3::new(sin, 0.0, -cos);
        for start in 0..STARTS {
            let distance = 2.0 + SHOT_SPEED * parameters.dt * f64::from(start) / f64::from(STARTS);
            let mut world = TestWorld::new(engine, parameters);
            world.add_static(BodyShape::Block(Vec3::new(1.0, 1.0, 0.0025)), Pose::IDENTITY);
            let ball = DynamicBody::new(BodyShape::Ball(0.01), direction * -distance);
            world.add(&ball.velocity(direction * SHOT_SPEED));
            let steps = (distance / (SHOT_SPEED * parameters.dt)).ceil() as usize + STEPS_AFTER;
            (0..steps).for_each(|_| world.step());
            let ball = world.motion(0);
            shots += 1;
            through += u32::from(ball.position.z < 0.0);
            change = change.max((ball.velocity.length() / SHOT_SPEED - 1.0).abs());
        }
    }
    let figure = format!("{through} of {shots} through, speed off by {:.3} %", change * 100.0);
    Outcome::new(figure, through == 0 && change <= 1e-3)
}

const ROD_SPIN: f64 = 50.0;
const PHASES: u32 = 100;
/// Initial angle between rod and post, rad: they touch at 0.052 rad.
const CLEAR: f64 = 0.1;

fn rod(engine: Engine) -> Outcome {
    let parameters = Parameters { gravity: false, ..Parameters::default() };
    let mut hits = 0;
    for phase in 0..PHASES {
        // The other end would hit the post half a turn later.
        let share = f64::from(phase) / f64::from(PHASES - 1);
        let before = CLEAR + share * (std::f64::consts::PI - 2.0 * CLEAR);
        let mut world = TestWorld::new(engine, parameters);
        let post = Pose::at(Vec3::X * 0.9);
        world.add_static(BodyShape::Block(Vec3::new(0.025, 0.025, 0.5)), post);
        let rod = DynamicBody::new(BodyShape::Block(Vec3::new(1.0, 0.02, 0.02)), Vec3::ZERO);
        let pose = Pose { rotation: rotation(Vec3::Z, -before), ..rod.pose };
        world.add(&DynamicBody { pose, spin: Vec3::Z * ROD_SPIN, ..rod });
        // Two steps past the post are less than half a turn: the other end has not arrived yet.
        let steps = (before / (ROD_SPIN * parameters.dt)).ceil() as usize + 2;
        (0..steps).for_each(|_| world.step());
        // A hit slows the rod.
        hits += u32::from(world.motion(0).spin.z < ROD_SPIN * (1.0 - 1e-6));
    }
    Outcome::new(format!("{hits} of {PHASES} hit"), hits == PHASES)
}
