//! Vectors, rotations, boxes, exact trigonometry and lanes.
