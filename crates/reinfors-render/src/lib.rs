//! Drawing verbs and the rasterisers that carry them out.
