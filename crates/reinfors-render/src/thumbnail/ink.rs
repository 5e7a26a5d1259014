//! Shapes as the cells need them: spans, soft lines, soft dots or greys of one colour, and the cells that
//! they touch or cover.

use super::cells::LINES;
use super::chains::{Chains, Corners, FAR, Rows};
use super::outline::{Soft, Turn};
use super::rows::Places;
use super::spans::{Fill, Place, Spans};
use super::windows::{Axes, Windows};
use crate::circle::{disc, ring};
use crate::crossings::{Crossings, Rule};
use crate::fringe::{FringeLine, Run};
use crate::line::thick_line;
use crate::scene::{Ends, Item, Shape};
use crate::{Colour, Point, Scene, Size};
use std::ops::Range;

/// One shape.
#[derive(Clone, Debug)]
pub(super) struct Ink {
    pub colour: Colour,
    pub turn: Turn,
    pub fill: Fill,
    /// Where its spans lie, or the first of each row.
    pub place: Place,
    pub lines: Range<usize>,
    pub dots: Range<usize>,
    pub picture: Option<Picture>,
    /// Whether its spans, one a row, and its lines are all there is to see of it.
    pub is_simple: bool,
}

impl Ink {
    /// Whether spans, one a row, and few enough lines to be told apart are all there is to see of it.
    #[inline(always)]
    pub const fn is_plain(&self) -> bool {
        self.is_simple && self.lines.end - self.lines.start <= LINES
    }
}

/// A soft pixel on its own, in the output's rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dot {
    pub x: i32,
    pub row: i32,
    pub opacity: u16,
}

/// An opaque grey picture, before any flip.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    pub min: Point,
    pub size: Size,
    pub greys: usize,
}

/// All shapes of a frame.
#[derive(Clone, Debug)]
pub(super) struct Inks {
    inks: Vec<Ink>,
    pub spans: Spans,
    pub lines: Vec<Soft>,
    pub dots: Vec<Dot>,
    chains: Chains,
    crossings: Crossings,
}

/// Shapes that there is room for from the beginning.
const SHAPES: usize = 1024;

impl Inks {
    /// For scenes of `surface`.
    pub fn new(surface: Size) -> Self {
        Self {
            inks: Vec::with_capacity(SHAPES),
            spans: Spans::new(SHAPES * surface.height / 4),
            lines: Vec::with_capacity(LINES * SHAPES),
            dots: Vec::new(),
            chains: Chains::default(),
            crossings: Crossings::default(),
        }
    }

    pub fn clear(&mut self) {
        self.inks.clear();
        self.spans.clear();
        self.lines.clear();
        self.dots.clear();
    }

    #[inline(always)]
    pub fn get(&self, index: u32) -> &Ink {
        &self.inks[index as usize]
    }

    #[inline(always)]
    pub fn iter(&self) -> std::slice::Iter<'_, Ink> {
        self.inks.iter()
    }

    /// The spans of a shape, or the first of each row, in sixteen rows from `row` on.
    #[inline(always)]
    pub fn read(&self, ink: &Ink, row: i32) -> (Places, Places) {
        self.spans.at(ink.place, row)
    }

    /// Takes a shape; nothing if it lies outside the surface.
    #[inline(always)]
    pub fn push(&mut self, scene: &Scene, item: &Item, (columns, rows): Axes) -> Option<u32> {
        let size = scene.size();
        let turn = if scene.is_flipped(item) {
            Turn { offset: size.height as i32 - 1, sign: -1 }
        } else {
            Turn { offset: 0, sign: 1 }
        };
        let [top, bottom] = [item.rows.min, item.rows.max].map(|y| y.clamp(-1, size.height as i32));
        let (top, bottom) = (turn.row(top).min(turn.row(bottom)), turn.row(top).max(turn.row(bottom)));
        let [first, last] = rows.clip(top..=bottom)?;
        let is_near = is_near(item);
        if is_near && is_aside(item, columns.length) {
            return None;
        }
        let mut shape = Tracer {
            item,
            is_near,
            turn,
            columns,
            fill: self.spans.begin(first..last + 1),
            spans: &mut self.spans,
            chains: &mut self.chains,
            crossings: &mut self.crossings,
        };
        let (first_line, first_dot) = (self.lines.len(), self.dots.len());
        let mut picture = None;
        match &item.shape {
            Shape::AaPolygon { points } => {
                let points = scene.points(points);
                let is_filled = shape.polygon(points, Rule::SdlGfx).are_filled;
                let is_inside = item.is_within(size);
                for (index, &point) in points.iter().enumerate() {
                    let next = points[if index + 1 == points.len() { 0 } else { index + 1 }];
                    let line = if is_inside {
                        FringeLine::inside(point, next)
                    } else if let Some(line) = FringeLine::new(point, next, size) {
                        line
                    } else {
                        continue;
                    };
                    // What a cut leaves of a line may start at no corner, and be upright or level when the line
                    // is not.
                    let is_held = is_inside || line.start == point || point.x == next.x || point.y == next.y;
                    if !(is_filled && is_held) {
                        shape.solid(&line);
                    }
                    self.lines.extend(Soft::of(&line));
                }
            }
            Shape::AaCircle { centre, radius } => {
                shape.spans.empty(&shape.fill);
                ring(*centre, *radius, |x, y, opacity| {
                    let dot = Dot { x, row: turn.row(y), opacity: opacity as u16 };
                    let is_seen = (0..columns.length).contains(&x) && (0..rows.length).contains(&dot.row);
                    if is_seen && opacity > 0 {
                        self.dots.push(dot);
                    }
                });
                disc(*centre, *radius, |x0, x1, y| shape.span(x0, x1, y));
            }
            Shape::Polygon { points } => {
                shape.hard_polygon(scene.points(points));
            }
            Shape::Rectangle { min, max } => shape.block(min.x, max.x),
            Shape::Line { from, to, width } => {
                shape.spans.empty(&shape.fill);
                thick_line(*from, *to, *width, size, |x0, x1, y| shape.span(x0, x1, y));
            }
            Shape::Bitmap { min, size, greys } => {
                shape.block(min.x, min.x + size.width as i32 - 1);
                picture = Some(Picture { min: *min, size: *size, greys: *greys });
            }
        }
        let Tracer { fill, .. } = shape;
        let dots = first_dot..self.dots.len();
        self.inks.push(Ink {
            colour: item.colour,
            turn,
            place: fill.place(0),
            is_simple: fill.layers == 1 && picture.is_none() && dots.is_empty(),
            fill,
            lines: first_line..self.lines.len(),
            dots,
            picture,
        });
        Some(self.inks.len() as u32 - 1)
    }
}

/// Whether a shape that is near lies wholly to one side of the surface.
#[inline(always)]
fn is_aside(item: &Item, length: i32) -> bool {
    // Rounding may take a crossing one column beyond its edge.
    item.columns.max < -1 || item.columns.min > length
}

/// Whether all of a shape is near enough for 16 bits. Far outside, C's integers may wrap.
#[inline(always)]
fn is_near(item: &Item) -> bool {
    let is_near = |ends: Ends| ends.min > -FAR && ends.max < FAR;
    is_near(item.columns) && is_near(item.rows)
}

/// A shape's spans being found.
struct Tracer<'a> {
    item: &'a Item,
    is_near: bool,
    turn: Turn,
    columns: &'a Windows,
    fill: Fill,
    spans: &'a mut Spans,
    chains: &'a mut Chains,
    crossings: &'a mut Crossings,
}

impl Tracer<'_> {
    /// Columns `x0..=x1` of row `y`, which may lie outside.
    #[inline(always)]
    fn span(&mut self, x0: i32, x1: i32, y: i32) {
        if let Some([left, right]) = self.columns.clip(x0..=x1) {
            self.spans.add(&mut self.fill, self.turn.row(y), left, right);
        }
    }

    /// The same columns in every row.
    fn block(&mut self, x0: i32, x1: i32) {
        let Some([left, right]) = self.columns.clip(x0..=x1) else { return self.spans.empty(&self.fill) };
        let (lefts, rights) = self.spans.first_layer(&self.fill);
        lefts.fill(left as i16);
        rights.fill(right as i16);
        self.spans.close(&self.fill);
    }

    /// The opaque pixels of an outline: like the fill, whatever comes before or after them.
    #[inline(always)]
    fn solid(&mut self, line: &FringeLine) {
        let (x, y) = (line.upper.x, line.upper.y);
        match line.run {
            Run::Vertical { bottom } => (y..=bottom).for_each(|y| self.span(x, x, y)),
            Run::Horizontal { end } => self.span(x.min(end), x.max(end), y),
            Run::Steep { .. } | Run::Flat { .. } => self.span(line.start.x, line.start.x, line.start.y),
        }
    }

    /// What is filled between a polygon's edges; the first of its spans.
    #[inline(always)]
    fn polygon(&mut self, points: &[Point], rule: Rule) -> Corners {
        let (left, right) = self.spans.first_layer(&self.fill);
        let far = self.columns.length - 1;
        let Ends { min, max } = self.item.rows;
        let rows = Rows { turn: self.turn, ends: [min, max], rows: self.fill.rows.clone(), far, left, right };
        if self.is_near
            && let Some(corners) = self.chains.fill(points, rule, rows)
        {
            self.spans.close(&self.fill);
            return corners;
        }
        self.spans.empty(&self.fill);
        let (a, b) = (self.turn.row(self.fill.rows.start), self.turn.row(self.fill.rows.end - 1));
        self.crossings.collect(points, rule, &(a.min(b)..a.max(b) + 1));
        for y in self.crossings.rows() {
            for (x0, x1) in self.crossings.spans(y, rule) {
                if let Some([left, right]) = self.columns.clip(x0..=x1) {
                    self.spans.add(&mut self.fill, self.turn.row(y), left, right);
                }
            }
        }
        Corners { has_ledge: true, are_filled: false }
    }

    /// `pygame.draw.polygon`.
    #[inline(always)]
    fn hard_polygon(&mut self, points: &[Point]) {
        let Item { columns, rows: Ends { min: top, max: bottom }, .. } = *self.item;
        if top == bottom {
            self.spans.empty(&self.fill);
            return self.span(columns.min, columns.max, top);
        }
        if !self.polygon(points, Rule::Pygame).has_ledge {
            return;
        }
        // Level edges between top and bottom are missed by the crossings: pygame draws them on their own.
        let mut previous = points[points.len() - 1];
        for &point in points {
            if previous.y == point.y && top < point.y && point.y < bottom {
                self.span(previous.x.min(point.x), previous.x.max(point.x), point.y);
            }
            previous = point;
        }
    }
}
