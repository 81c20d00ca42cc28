//! Many cards, one file.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use chrono::{DateTime, Datelike, Timelike, Utc};
use design::{GlyphRun, ItemDrawing, LaidOutPage, PageItem, PageRect, Product, Typesetter};
use flate2::Compression;
use model::id::DesignId;
use pdf_writer::types::{OverprintMode, TrappingStatus};
use pdf_writer::writers::Resources;
use pdf_writer::{Content, Date, Filter, Name, Rect, Ref, TextStr};

use crate::card::{PressMailpiece, PressMailpieceError};
use crate::file::{COMPACT, FlateEncoder, ObjectFile, PdfTrailer, deflate_bytes};
use crate::font::DrawnFonts;
use crate::ink::OVERPRINT;
use crate::number::pdf_number;
use crate::picture::{EmbedError, EmbeddedPicture, PictureError, PictureStore, embed_image};
use crate::surface::{PageCanvas, draw_plain, is_address_side, object_name};
use crate::text::font_name;

/// Pages below one node of the tree: a reader finds any page of ten thousand in two steps.
const PAGES_PER_NODE: usize = 100;

/// What a file is made with besides the cards. The same settings and cards make the same bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct PressSettings {
    /// What all cards of the file are.
    pub product: Product,
    /// Where QR codes lead, `https://…`.
    pub public_url: String,
    /// The document's title.
    pub title: String,
    /// When the document was made.
    pub created_at: DateTime<Utc>,
    /// Tells the document from others.
    pub id: [u8; 16],
}

/// Why a card was not printed.
#[derive(Debug, thiserror::Error)]
pub enum PressError {
    /// It cannot print; the press can go on with the next one.
    #[error(transparent)]
    Card(#[from] PressMailpieceError),
    /// The store of pictures does not answer. Nothing of the card was printed.
    #[error("a kept picture cannot be read: {0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The file cannot be written: it is worth nothing now.
    #[error("the file cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// A file under way.
pub struct PressFileWriter<W> {
    file: ObjectFile<W>,
    settings: PressSettings,
    typesetter: Typesetter,
    packer: FlateEncoder,
    fonts: DrawnFonts,
    /// Pictures in the file, or why one cannot be.
    pictures: HashMap<String, Result<EmbeddedPicture, PressMailpieceError>>,
    /// What does not differ between the cards of a design's version, by the element.
    shared: HashMap<(DesignId, i32, Arc<str>), Ref>,
    catalog: Ref,
    tree: Ref,
    font_names: Ref,
    graphics_states: Ref,
    nodes: Vec<Ref>,
    /// The pages of the node that fills up, which is the last one.
    leaves: Vec<Ref>,
    pages: usize,
}

impl<W: Write> PressFileWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(out: W, settings: PressSettings) -> io::Result<Self> {
        let mut file = ObjectFile::new(out)?;
        Ok(Self {
            catalog: file.reserve_object()?,
            tree: file.reserve_object()?,
            font_names: file.reserve_object()?,
            graphics_states: file.reserve_object()?,
            file,
            settings,
            typesetter: Typesetter::new(),
            packer: FlateEncoder::new(Compression::fast()),
            fonts: DrawnFonts::default(),
            pictures: HashMap::new(),
            shared: HashMap::new(),
            nodes: Vec::new(),
            leaves: Vec::new(),
            pages: 0,
        })
    }

    /// Prints a card on the next pages. Returns the number of the first, from 1.
    ///
    /// # Errors
    /// [`PressError`]; after [`PressError::Write`] the press is of no use.
    pub fn print_mailpiece(
        &mut self,
        card: &PressMailpiece<'_>,
        pictures: &mut impl PictureStore,
    ) -> Result<usize, PressError> {
        let lines = card
            .address
            .set_lines(&mut self.typesetter, self.settings.product);
        self.fonts.record_runs(&lines);
        // All surfaces before the first page: a card prints as a whole or not at all.
        let surfaces = card
            .pages
            .iter()
            .map(|page| self.draw_page(card, page, &lines, pictures));
        let surfaces: Vec<PageCanvas> = surfaces.collect::<Result<_, _>>()?;
        let first = self.pages + 1;
        for surface in surfaces {
            self.write_page(surface)?;
        }
        Ok(first)
    }

    /// The pages printed so far.
    pub const fn page_count(&self) -> usize {
        self.pages
    }

    fn draw_page(
        &mut self,
        card: &PressMailpiece<'_>,
        page: &LaidOutPage,
        lines: &[GlyphRun],
        pictures: &mut impl PictureStore,
    ) -> Result<PageCanvas, PressError> {
        let product = self.settings.product;
        let is_address_side = is_address_side(page, product);
        let mut surface = PageCanvas::new(product);
        if let Some(colour) = page.background {
            surface.fill_background(colour, product);
        }
        if is_address_side {
            surface.clear_zones(card, product);
        }
        for item in &page.items {
            self.draw_item(&mut surface, card, item, pictures)?;
        }
        if is_address_side {
            surface.draw_address_side(card, lines, product);
        }
        Ok(surface)
    }

    fn draw_item(
        &mut self,
        surface: &mut PageCanvas,
        card: &PressMailpiece<'_>,
        item: &PageItem,
        pictures: &mut impl PictureStore,
    ) -> Result<(), PressError> {
        match &item.drawing {
            ItemDrawing::Text(_) | ItemDrawing::Shape(_) if !item.varies => {
                let shared = self.shared_drawing(card, item)?;
                surface.draw_shared(shared);
            }
            ItemDrawing::Text(runs) => {
                self.fonts.record_runs(runs);
                draw_plain(&mut surface.content, item);
            }
            ItemDrawing::Shape(_) => draw_plain(&mut surface.content, item),
            ItemDrawing::Picture { link, fit } => {
                let placed = self.embed_picture(card, link, pictures)?;
                surface.draw_picture(&placed, item, *fit);
            }
            ItemDrawing::Code { position, colour } => {
                let code = card.code.ok_or(PressMailpieceError::NoCode)?;
                surface.draw_code(item, *position, *colour, code, &self.settings)?;
            }
        }
        Ok(())
    }

    /// What all cards of the design's version have alike, drawn once.
    fn shared_drawing(&mut self, card: &PressMailpiece<'_>, item: &PageItem) -> io::Result<Ref> {
        let (design, version) = card.design;
        let key = (design, version, item.element.clone());
        if let Some(known) = self.shared.get(&key) {
            return Ok(*known);
        }
        if let ItemDrawing::Text(runs) = &item.drawing {
            self.fonts.record_runs(runs);
        }
        let mut content = Content::with_settings(COMPACT);
        draw_plain(&mut content, item);
        let packed = deflate_bytes(&content.finish(), Compression::best());
        let bounds = to_pdf_rect(self.settings.product.bleed_area());
        let names = (self.font_names, self.graphics_states);
        let drawn = self.file.add_object(|chunk, object| {
            let mut form = chunk.form_xobject(object, &packed);
            form.filter(Filter::FlateDecode);
            form.bbox(bounds);
            name_shared(&mut form.resources(), names);
        })?;
        self.shared.insert(key, drawn);
        Ok(drawn)
    }

    fn embed_picture(
        &mut self,
        card: &PressMailpiece<'_>,
        link: &str,
        pictures: &mut impl PictureStore,
    ) -> Result<EmbeddedPicture, PressError> {
        let file = card
            .pictures
            .get(link)
            .ok_or_else(|| PressMailpieceError::NotKept(link.to_owned()))?;
        if let Some(known) = self.pictures.get(file) {
            return Ok(known.clone()?);
        }
        let placed = match pictures.read_picture(file) {
            Ok(bytes) => match embed_image(&mut self.file, &bytes) {
                Ok(placed) => Ok(placed),
                Err(EmbedError::Unreadable(reason)) => {
                    Err(PressMailpieceError::PictureUnreadable {
                        file: file.clone(),
                        reason,
                    })
                }
                Err(EmbedError::Write(error)) => return Err(PressError::Write(error)),
            },
            Err(PictureError::Missing) => Err(PressMailpieceError::PictureMissing(file.clone())),
            Err(PictureError::Unavailable(source)) => return Err(PressError::Store(source)),
        };
        self.pictures.insert(file.clone(), placed.clone());
        Ok(placed?)
    }

    fn write_page(&mut self, surface: PageCanvas) -> io::Result<()> {
        let PageCanvas { content, objects } = surface;
        let packed = self.packer.encode(&content.finish());
        let contents = self.file.add_object(|chunk, object| {
            chunk.stream(object, &packed).filter(Filter::FlateDecode);
        })?;
        let parent = self.next_page_node()?;
        let names = (self.font_names, self.graphics_states);
        let (media, trim) = page_boxes(self.settings.product);
        let page = self.file.add_object(|chunk, object| {
            let mut page = chunk.page(object);
            page.parent(parent).contents(contents);
            page.media_box(media).bleed_box(media).trim_box(trim);
            let mut resources = page.resources();
            name_shared(&mut resources, names);
            let mut named = resources.x_objects();
            for (index, object) in objects.iter().enumerate() {
                named.pair(Name(object_name(index).as_bytes()), *object);
            }
        })?;
        self.leaves.push(page);
        self.pages += 1;
        if self.leaves.len() == PAGES_PER_NODE {
            self.write_node()
        } else {
            Ok(())
        }
    }

    /// The node of the next page.
    fn next_page_node(&mut self) -> io::Result<Ref> {
        match self.nodes.last() {
            Some(node) if !self.leaves.is_empty() => Ok(*node),
            _ => {
                let node = self.file.reserve_object()?;
                self.nodes.push(node);
                Ok(node)
            }
        }
    }

    fn write_node(&mut self) -> io::Result<()> {
        let leaves = std::mem::take(&mut self.leaves);
        let Some(node) = self.nodes.last() else {
            return Ok(());
        };
        let tree = self.tree;
        self.file.write_object(*node, |chunk, object| {
            chunk
                .pages(object)
                .parent(tree)
                .count(pdf_count(leaves.len()))
                .kids(leaves);
        })
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.leaves.is_empty() {
            self.write_node()?;
        }
        self.write_tree()?;
        let fonts = self.fonts.write_fonts(&mut self.file)?;
        self.file.write_object(self.font_names, |chunk, object| {
            let mut names = chunk.indirect(object).dict();
            for (font, written) in fonts {
                names.pair(Name(font_name(font).as_bytes()), written);
            }
        })?;
        let overprint = self.file.add_object(|chunk, object| {
            chunk
                .ext_graphics(object)
                .overprint_fill(true)
                .overprint_mode(OverprintMode::IgnoreZeroChannel);
        })?;
        self.file
            .write_object(self.graphics_states, |chunk, object| {
                chunk.indirect(object).dict().pair(OVERPRINT, overprint);
            })?;
        let tree = self.tree;
        self.file.write_object(self.catalog, |chunk, object| {
            chunk
                .indirect(object)
                .start::<pdf_writer::writers::Catalog<'_>>()
                .pages(tree);
        })?;
        let info = self.file.add_object(|chunk, object| {
            let mut info = chunk
                .indirect(object)
                .start::<pdf_writer::writers::DocumentInfo<'_>>();
            info.title(TextStr(&self.settings.title))
                .producer(TextStr("Pillarbox"));
            info.creation_date(pdf_date(self.settings.created_at))
                .trapped(TrappingStatus::NotTrapped);
        })?;
        self.file.finish(&PdfTrailer {
            catalog: self.catalog,
            info,
            id: self.settings.id,
        })
    }

    fn write_tree(&mut self) -> io::Result<()> {
        let (nodes, pages) = (&self.nodes, self.pages);
        self.file.write_object(self.tree, |chunk, object| {
            chunk
                .pages(object)
                .count(pdf_count(pages))
                .kids(nodes.iter().copied());
        })
    }
}

/// The sheet, which ends with the bleed, and the card as it is cut, both from the sheet's lower left corner.
fn page_boxes(product: Product) -> (Rect, Rect) {
    let (bleed, trim) = (product.bleed_area(), product.trim_area());
    // The bleed is as wide on every side, so that it does not matter which one is up.
    let moved = |area: PageRect| {
        to_pdf_rect(PageRect {
            x: area.x - bleed.x,
            y: area.y - bleed.y,
            ..area
        })
    };
    (moved(bleed), moved(trim))
}

/// Fonts and graphics states, which all drawings share.
fn name_shared(resources: &mut Resources<'_>, (fonts, graphics_states): (Ref, Ref)) {
    resources.pair(Name(b"Font"), fonts);
    resources.pair(Name(b"ExtGState"), graphics_states);
}

fn to_pdf_rect(area: PageRect) -> Rect {
    let [left, top, right, bottom] =
        [area.x, area.y, area.x + area.width, area.y + area.height].map(pdf_number);
    Rect::new(left, top, right, bottom)
}

/// A number of pages, which a file that could be written has fewer of than the type holds.
fn pdf_count(pages: usize) -> i32 {
    i32::try_from(pages).unwrap_or(i32::MAX)
}

fn pdf_date(at: DateTime<Utc>) -> Date {
    let small = |value: u32| u8::try_from(value).unwrap_or_default();
    Date::new(u16::try_from(at.year()).unwrap_or_default())
        .month(small(at.month()))
        .day(small(at.day()))
        .hour(small(at.hour()))
        .minute(small(at.minute()))
        .second(small(at.second()))
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}
