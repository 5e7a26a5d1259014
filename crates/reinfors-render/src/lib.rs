//! Drawing verbs and the rasterisers that carry them out, byte for byte as pygame does.
//!
//! A game's `view.rs` puts shapes into a [`Scene`]; it says *what* is drawn. Three rasterisers say *how*:
//! [`Surface`] paints every pixel of the full surface and [`smoothscale`] shrinks it (plain, the oracle);
//! [`Thumbnail`] draws the same bytes straight at the small size, touching only what is not uniform.
//! [`Sketch`] gives up the last levels at the edges of shapes for speed.
//! Nothing here knows a game. The reference is pygame-ce 2.5 on x86-64 (SDL_gfx, `smoothscale` in SSE2).
//!
//! ```
//! use reinfors_render::{Colour, Layout, Point, Scene, Size, Thumbnail};
//!
//! let mut scene = Scene::new(Size::new(1000, 800));
//! scene.background(Colour::rgb([102, 204, 102]));
//! scene.aa_polygon(&[Point::new(10, 700), Point::new(500, 90), Point::new(990, 650)], Colour::grey(102));
//! scene.flip();
//!
//! let size = Size::new(96, 96);
//! let mut thumbnail = Thumbnail::new(scene.size(), size, Layout::Chw)?;
//! let mut picture = vec![0; 3 * size.area()];
//! thumbnail.draw(&scene, &mut picture);
//! assert_eq!(picture[0], 100); // a uniform stretch loses one level across and one down
//! # Ok::<(), reinfors_render::SizeError>(())
//! ```

mod axis;
mod camera;
mod canvas;
mod circle;
mod clip;
mod colour;
mod crossings;
mod filter;
mod fringe;
mod layout;
mod line;
mod panel;
mod scene;
mod sketch;
mod smoothscale;
mod surface;
mod text;
mod thumbnail;

pub use camera::Camera;
pub use colour::Colour;
pub use layout::{Layout, Size, SizeError};
pub use scene::{Point, Scene};
pub use sketch::Sketch;
pub use smoothscale::smoothscale;
pub use surface::Surface;
pub use text::{Strike, StrikeError};
pub use thumbnail::Thumbnail;
