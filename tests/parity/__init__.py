"""Live parity with the pinned Gymnasium: what one does at every step, the other must do, compared with `==`."""
