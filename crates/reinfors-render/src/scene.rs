//! The verbs: a display list of shapes in surface coordinates, filled by a game's `view.rs` and kept between
//! frames so that a frame allocates nothing. Points are integers; the reference truncates toward zero.

use crate::text::Label;
use crate::{Colour, Size, Strike};
use std::cell::{OnceCell, RefCell};
use std::ops::Range;

/// A point of the surface in pixels: `x` to the right, `y` down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Point {
    /// Column.
    pub x: i32,
    /// Row.
    pub y: i32,
}

impl Point {
    /// From column and row.
    #[must_use]
    pub const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }

    /// The pixel a real position falls on: each coordinate cut toward zero, as C's cast to int does.
    #[inline]
    #[must_use]
    pub const fn truncated([x, y]: [f64; 2]) -> Self {
        Self { x: x as i32, y: y as i32 }
    }
}

/// What one verb drew. Points and texts lie in the scene's own pools.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// `gfxdraw.aapolygon`, then `gfxdraw.filled_polygon`.
    AaPolygon { points: Range<usize> },
    /// `gfxdraw.aacircle`, then `gfxdraw.filled_circle`.
    AaCircle { centre: Point, radius: i32 },
    /// `pygame.draw.polygon`.
    Polygon { points: Range<usize> },
    /// Both corners included.
    Rectangle { min: Point, max: Point },
    /// One segment of `pygame.draw.lines`.
    Line { from: Point, to: Point, width: i32 },
    /// An opaque grey picture: that of text number `greys`.
    Bitmap { min: Point, size: Size, greys: usize },
}

/// A shape, its colour, and the flips that had happened before it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub shape: Shape,
    pub colour: Colour,
    /// Columns and rows it may touch.
    pub columns: Ends,
    pub rows: Ends,
    pub flips: usize,
    /// The mesh that a smooth polygon is part of, 0 for none.
    pub mesh: usize,
}

impl Item {
    /// Whether all of it lies on a surface.
    pub fn is_within(&self, surface: Size) -> bool {
        let Self { columns, rows, .. } = self;
        columns.min.min(rows.min) >= 0
            && columns.max < surface.width as i32
            && rows.max < surface.height as i32
    }

    /// Whether it paints the whole of a surface.
    pub fn covers(&self, surface: Size) -> bool {
        match self.shape {
            Shape::Rectangle { min, max } => {
                let far = max.x >= surface.width as i32 - 1 && max.y >= surface.height as i32 - 1;
                min.x <= 0 && min.y <= 0 && far
            }
            _ => false,
        }
    }
}

/// Columns or rows, before any flip; both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub min: i32,
    pub max: i32,
}

impl Ends {
    const fn around(centre: i32, reach: i32) -> Self {
        Self { min: centre - reach, max: centre + reach }
    }

    fn between(a: i32, b: i32, margin: i32) -> Self {
        Self { min: a.min(b).saturating_sub(margin), max: a.max(b).saturating_add(margin) }
    }

    fn with(self, place: i32) -> Self {
        Self { min: self.min.min(place), max: self.max.max(place) }
    }
}

/// A display list. Later shapes cover earlier ones; the surface starts black.
#[derive(Clone, Debug)]
pub struct Scene {
    size: Size,
    items: Vec<Item>,
    points: Vec<Point>,
    texts: Vec<Text>,
    /// What all texts say, one behind the other.
    characters: String,
    /// Memory of texts that were cleared.
    spare: RefCell<Vec<Vec<u8>>>,
    flips: usize,
    mesh: usize,
}

/// A text. Its picture is made when a rasteriser first looks at it: one that remembers texts rarely does.
#[derive(Clone, Debug)]
struct Text {
    strike: Strike,
    characters: Range<usize>,
    greys: OnceCell<Vec<u8>>,
}

impl Scene {
    /// An empty scene for a surface of `size` pixels, 32767 at most each way (SDL_gfx counts in 16 bits).
    ///
    /// # Panics
    /// If a side is 0 or above 32767.
    #[must_use]
    pub fn new(size: Size) -> Self {
        let allowed = 1..=i16::MAX as usize;
        assert!(allowed.contains(&size.width) && allowed.contains(&size.height), "surface of {size:?}");
        Self {
            size,
            items: Vec::new(),
            points: Vec::new(),
            texts: Vec::new(),
            characters: String::new(),
            spare: RefCell::default(),
            flips: 0,
            mesh: 0,
        }
    }

    /// The surface's size.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Forgets every shape and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.points.clear();
        let greys = self.texts.drain(..).filter_map(|text| text.greys.into_inner());
        self.spare.get_mut().extend(greys);
        self.characters.clear();
        self.flips = 0;
        self.mesh = 0;
    }

    /// Fills the whole surface.
    pub fn background(&mut self, colour: Colour) {
        let far = Point::new(self.size.width as i32 - 1, self.size.height as i32 - 1);
        self.rectangle(Point::default(), far, colour);
    }

    /// A filled polygon with smooth edges: `gfxdraw.aapolygon`, then `gfxdraw.filled_polygon`. Fewer than
    /// three points draw nothing. Coordinates wrap to 16 bits as SDL_gfx's `Sint16` does.
    pub fn aa_polygon(&mut self, points: &[Point], colour: Colour) {
        if points.len() < 3 {
            return;
        }
        let wrapped = points.iter().map(|p| Point::new(i32::from(p.x as i16), i32::from(p.y as i16)));
        let (points, reach) = self.keep(wrapped);
        self.push(Shape::AaPolygon { points }, colour, reach);
    }

    /// A filled circle with a smooth edge: `gfxdraw.aacircle`, then `gfxdraw.filled_circle`. Radii outside 0
    /// to 1000 draw nothing: not far beyond, SDL_gfx's counters overflow. The centre wraps to 16 bits as
    /// `Sint16` does.
    pub fn aa_circle(&mut self, centre: Point, radius: i32, colour: Colour) {
        if !(0..=1000).contains(&radius) {
            return;
        }
        let centre = Point::new(i32::from(centre.x as i16), i32::from(centre.y as i16));
        // The ring may lie one pixel outside the radius.
        let reach = [centre.x, centre.y].map(|centre| Ends::around(centre, radius + 1));
        self.push(Shape::AaCircle { centre, radius }, colour, reach);
    }

    /// A filled polygon with hard edges: `pygame.draw.polygon` of four or more points (three points take
    /// another path in pygame, which is not drawn here: fewer than four draw nothing).
    pub fn polygon(&mut self, points: &[Point], colour: Colour) {
        if points.len() < 4 {
            return;
        }
        let (points, reach) = self.keep(points.iter().copied());
        self.push(Shape::Polygon { points }, colour, reach);
    }

    /// A filled upright rectangle; both corners belong to it. This is what `pygame.draw.polygon` gives for
    /// upright rectangles, whichever corners are named.
    pub fn rectangle(&mut self, a: Point, b: Point, colour: Colour) {
        let [columns, rows] = [Ends::between(a.x, b.x, 0), Ends::between(a.y, b.y, 0)];
        let (min, max) = (Point::new(columns.min, rows.min), Point::new(columns.max, rows.max));
        self.push(Shape::Rectangle { min, max }, colour, [columns, rows]);
    }

    /// Joined straight segments, two or more pixels wide and open at the ends: `pygame.draw.lines`. Thinner
    /// lines take another path in pygame, which is not drawn here: they draw nothing.
    pub fn lines(&mut self, points: &[Point], width: i32, colour: Colour) {
        if width < 2 {
            return;
        }
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let reach = [Ends::between(from.x, to.x, width), Ends::between(from.y, to.y, width)];
            self.push(Shape::Line { from, to, width }, colour, reach);
        }
    }

    /// White text on its own black box, centred on `centre` (pygame's `Rect.center`). Characters the strike
    /// lacks are left out.
    pub fn text(&mut self, strike: &Strike, text: &str, centre: Point) {
        let size = strike.size(text);
        let min = Point::new(centre.x - size.width as i32 / 2, centre.y - size.height as i32 / 2);
        let columns = Ends { min: min.x, max: min.x + size.width as i32 - 1 };
        let rows = Ends { min: min.y, max: min.y + size.height as i32 - 1 };
        let start = self.characters.len();
        self.characters.push_str(text);
        let characters = start..self.characters.len();
        self.texts.push(Text { strike: strike.clone(), characters, greys: OnceCell::new() });
        self.push(Shape::Bitmap { min, size, greys: self.texts.len() - 1 }, Colour::BLACK, [columns, rows]);
    }

    /// Smooth polygons from here on, up to the next call, meet edge to edge and do not overlap. The exact
    /// rasterisers need not know; [`Sketch`](crate::Sketch) lets nothing shine through the edges they share.
    pub fn mesh(&mut self) {
        self.mesh += 1;
    }

    /// Turns what was drawn so far upside down: `pygame.transform.flip(surface, False, True)`.
    pub fn flip(&mut self) {
        self.flips += 1;
    }

    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// Flips so far.
    pub(crate) const fn flips(&self) -> usize {
        self.flips
    }

    /// Whether an item ends up upside down.
    pub(crate) fn is_flipped(&self, item: &Item) -> bool {
        (self.flips - item.flips) % 2 == 1
    }

    pub(crate) fn points(&self, range: &Range<usize>) -> &[Point] {
        &self.points[range.clone()]
    }

    /// The picture of a text.
    pub(crate) fn greys(&self, &text: &usize) -> &[u8] {
        let Text { strike, characters, greys } = &self.texts[text];
        greys.get_or_init(|| {
            let mut greys = self.spare.borrow_mut().pop().unwrap_or_default();
            strike.render(&self.characters[characters.clone()], &mut greys);
            greys
        })
    }

    /// What a text says, if it is short.
    pub(crate) fn label(&self, &text: &usize) -> Option<Label> {
        let Text { strike, characters, .. } = &self.texts[text];
        strike.label(&self.characters[characters.clone()])
    }

    fn keep(&mut self, points: impl Iterator<Item = Point>) -> (Range<usize>, [Ends; 2]) {
        let start = self.points.len();
        self.points.extend(points);
        let nothing = Ends { min: i32::MAX, max: i32::MIN };
        let (mut columns, mut rows) = (nothing, nothing);
        for point in &self.points[start..] {
            (columns, rows) = (columns.with(point.x), rows.with(point.y));
        }
        (start..self.points.len(), [columns, rows])
    }

    fn push(&mut self, shape: Shape, colour: Colour, [columns, rows]: [Ends; 2]) {
        self.items.push(Item { shape, colour, columns, rows, flips: self.flips, mesh: self.mesh });
    }
}
