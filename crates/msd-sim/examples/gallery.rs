//! Prints the contacts of every pair in a gallery of shapes: `cargo run --release --example gallery`
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::error::Error;
use std::f64::consts::FRAC_PI_4;

use msd_sim::geometry::{PairMemory, Shape, Simplex, Workspace, contact_manifold, separation};
use msd_sim::math::{Pose, Vec3, rotation};

fn main() -> Result<(), Box<dyn Error>> {
    let gallery = gallery()?;

    println!("Shapes of density 1000 kg/m3");
    println!(
        "  {:<11} {:>11} {:>11} {:>11}  principal moments (kg m2)",
        "", "volume m3", "area m2", "mass kg"
    );
    for (name, shape) in &gallery {
        let Ok(mass) = shape.mass_properties(1000.0) else { continue };
        let m = mass.principal().moments;
        println!(
            "  {name:<11} {:>11.6} {:>11.6} {:>11.4}  {:>10.5} {:>10.5} {:>10.5}",
            mass.volume, mass.area, mass.mass, m.x, m.y, m.z
        );
    }

    println!("\nContacts, B pushed 3.2 mm into A from above, with 5 mm of margin");
    println!(
        "  {:<11} {:<11} {:>9} {:>10}  depths of the contact points (mm)",
        "A", "B", "depth mm", "residual m"
    );
    let mut workspace = Workspace::default();
    for (i, (name_a, a)) in gallery.iter().enumerate() {
        for (name_b, b) in &gallery[..=i] {
            if matches!((a, b), (Shape::HalfSpace(_), Shape::HalfSpace(_))) {
                continue;
            }
            // The half-space comes last in the gallery, so it is only ever A.
            let pose_a = Pose::IDENTITY;
            let start = Pose::new(Vec3::new(0.02, 0.01, 3.0), rotation(Vec3::X, tilt(b)));
            let pose_b = pushed(a, &pose_a, b, start, 3.2e-3, &mut workspace);
            let found = separation(a, &pose_a, b, &pose_b, &mut Simplex::default(), &mut workspace)
                .ok_or("the separation of every pair here is finite")?;
            let memory = &mut PairMemory::default();
            let contact = contact_manifold(a, &pose_a, b, &pose_b, 5e-3, memory, &mut workspace);
            let depths: Vec<String> =
                contact.points().iter().map(|p| format!("{:.4}", 1e3 * p.depth)).collect();
            println!(
                "  {name_a:<11} {name_b:<11} {:>9.4} {:>10.1e}  {}",
                1e3 * found.depth(),
                found.residual(a, &pose_a, b, &pose_b),
                depths.join(" ")
            );
        }
    }
    Ok(())
}

fn gallery() -> Result<Vec<(&'static str, Shape)>, Box<dyn Error>> {
    // An octahedron cut flat at the top and the bottom.
    let mut gem = Vec::new();
    for (radius, height) in [(0.25, 0.25), (0.5, 0.0), (0.25, -0.25)] {
        for quarter in 0..4 {
            let turned = rotation(Vec3::Z, 2.0 * FRAC_PI_4 * f64::from(quarter));
            gem.push(turned * Vec3::X * radius + Vec3::Z * height);
        }
    }
    Ok(vec![
        ("sphere", Shape::sphere(0.5)?),
        ("capsule", Shape::capsule(0.25, 0.5)?),
        ("cylinder", Shape::cylinder(0.4, 0.5)?),
        ("cone", Shape::cone(0.5, 0.5)?),
        ("cuboid", Shape::cuboid(Vec3::new(0.5, 0.4, 0.3))?),
        ("hull", Shape::hull(&gem)?),
        ("half-space", Shape::half_space(Vec3::Z, 0.0)?),
    ])
}

/// Capsules lie on their sides, the others stand.
fn tilt(shape: &Shape) -> f64 {
    if matches!(shape, Shape::Capsule(_)) { 2.0 * FRAC_PI_4 } else { 0.0 }
}

/// Lowers B until it overlaps A by `depth`.
fn pushed(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    mut pose_b: Pose,
    depth: f64,
    workspace: &mut Workspace,
) -> Pose {
    for _ in 0..50 {
        let simplex = &mut Simplex::default();
        let Some(found) = separation(a, pose_a, b, &pose_b, simplex, workspace) else { break };
        pose_b.position.z -= found.distance + depth;
    }
    pose_b
}
