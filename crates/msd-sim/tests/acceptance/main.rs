//! The acceptance suite: one binary, one module per component.

mod allocations; // warm queries do not allocate
mod broad_phase; // which bodies are near each other
mod cast; // rays against every shape
#[cfg(feature = "conic")]
mod contact_file; // reads recorded problems
#[cfg(feature = "conic")]
mod contact_problems; // U10: recorded and random friction problems
mod exact_solvers; // U8, U9, U10: active set and cone program
mod hostile; // bad input, and nothing panics
mod hull; // U1: convex hulls
mod manifold; // U5: contact points
mod mass; // U2: mass properties, polyhedra
mod maths; // poses, tangent bases, bounds
mod oracle; // slow and sure answers, and the pairs that are put to them
mod piles; // random hard contact problems
mod potentials; // U17: forces are gradients
mod project; // nearest points and containment
mod rotation; // free rotation: momentum, energy, tumbling, precession
mod scaling; // lengths have no unit
mod separation; // U3, U4: distance and penetration
mod solids; // polyhedra with known properties
