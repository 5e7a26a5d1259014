//! Pictures for people: a scene on its surface, or on one a whole number of times as large, scaled to the size
//! that was asked for.
//!
//! Up to the surface's own size a picture is what pygame's `smoothscale` makes of the surface. Beyond, the scene
//! is drawn anew in the units of the larger one: shapes gain detail rather than larger pixels.

use reinfors_core::{Picture, PictureSize};
use reinfors_render::{Layout, Scene, Size, Surface, smoothscale};

/// What pictures of about one size are drawn with. It is large: keep it, and only where pictures are asked for.
pub struct Studio {
    times: usize,
    /// To be filled with a scene in units of `times` as many pixels.
    pub scene: Scene,
    surface: Surface,
}

/// How many times as large as `surface` a scene has to be drawn for a picture of a size.
pub fn times(surface: Size, size: PictureSize) -> usize {
    size.width.div_ceil(surface.width).max(size.height.div_ceil(surface.height))
}

impl Studio {
    /// For scenes `times` as large as `surface`.
    pub fn new(surface: Size, times: usize) -> Self {
        let size = Size::new(surface.width * times, surface.height * times);
        Self { times, scene: Scene::new(size), surface: Surface::new(size) }
    }

    /// The studio that was kept for pictures of scenes on `surface`, or one in its place that fits this size.
    pub fn fitting(kept: &mut Option<Self>, surface: Size, size: PictureSize) -> &mut Self {
        let times = times(surface, size);
        kept.take_if(|studio| studio.times != times);
        kept.get_or_insert_with(|| Self::new(surface, times))
    }

    /// How many times as large its scene is.
    pub const fn times(&self) -> usize {
        self.times
    }

    /// The picture of the scene.
    pub fn picture(&mut self, PictureSize { width, height }: PictureSize) -> Picture {
        self.surface.draw(&self.scene);
        let mut rgb = vec![0; 3 * width * height];
        smoothscale(&self.surface, Size::new(width, height), Layout::Hwc, &mut rgb)
            .expect("a picture is neither larger than its surface nor much smaller");
        Picture { width, height, rgb }
    }
}

#[cfg(test)]
mod tests {
    use super::{PictureSize, Size, Studio, times};

    #[test]
    fn every_allowed_size_can_be_scaled_from_its_surface() {
        let (least, most) = (*PictureSize::SIDES.start(), *PictureSize::SIDES.end());
        for surface in [Size::new(1000, 800), Size::new(600, 400)] {
            for (width, height) in [(least, least), (least, most), (most, least), (600, 400)] {
                let size = PictureSize { width, height };
                let mut studio = Studio::new(surface, times(surface, size));
                assert_eq!(studio.picture(size).rgb.len(), 3 * width * height);
            }
        }
    }
}
