//! Rigid bodies, exact to Box2D 2.3.
