//! The acceptance suite: one binary, one module per component.

mod allocations; // warm queries do not allocate
mod cast; // rays against every shape
mod hostile; // bad input, and nothing panics
mod hull; // U1: convex hulls
mod manifold; // U5: contact points
mod mass; // U2: mass properties, polyhedra
mod maths; // poses, tangent bases, bounds
mod oracle; // slow and sure answers, and the pairs that are put to them
mod project; // nearest points and containment
mod scaling; // lengths have no unit
mod separation; // U3, U4: distance and penetration
mod solids; // polyhedra with known properties
