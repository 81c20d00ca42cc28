//! Designs: how long the checks of a request's recipients take.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use design::{LayoutPlan, PrintableDesign, RecipientValues, Typesetter};
use rand::rngs::StdRng;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use serde_json::json;

use crate::figures::Figure;

/// Recipients of a request.
const RECIPIENTS: usize = 5_000;

/// Cards that a thread decides in one go, with a memory of its own: as in the mailer.
const CHUNK: usize = 250;

/// Times that each measurement is taken; the best counts, for what else the machine does only slows.
const ROUNDS: usize = 5;

/// A person as a list of customers has them: names differ, cities repeat.
struct Person {
    first_name: String,
    last_name: String,
    city: &'static str,
    amount: String,
    message: String,
}

impl RecipientValues for Person {
    fn value(&self, field: &str) -> Option<&str> {
        match field {
            "first_name" => Some(&self.first_name),
            "last_name" => Some(&self.last_name),
            "city" => Some(self.city),
            "amount" => Some(&self.amount),
            "message" => Some(&self.message),
            _ => None,
        }
    }

    fn has_picture(&self, _: &str) -> bool {
        true
    }
}

/// Measures everything.
pub async fn run() -> anyhow::Result<Vec<Figure>> {
    let begun = Instant::now();
    let plan = plan()?;
    let prepared = begun.elapsed().as_secs_f64();
    let people = people();
    let mut figures = vec![Figure::new(
        "fonts and a document made ready, the first time",
        prepared * 1_000.0,
        "ms",
    )];
    for threads in [1, 2] {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let mailed = decide(&plan, &people, threads);
            best = best.min(begun.elapsed().as_secs_f64());
            anyhow::ensure!(
                mailed == RECIPIENTS,
                "only {mailed} of {RECIPIENTS} cards can print"
            );
        }
        let name =
            format!("checks of {RECIPIENTS} recipients with four text boxes, threads: {threads}");
        let figure = Figure::new(name, best * 1_000.0, "ms");
        figures.push(if threads == 2 {
            figure.at_most(150.0)
        } else {
            figure
        });
    }
    Ok(figures)
}

/// Decides all cards on so many threads, and counts those that mail.
fn decide(plan: &LayoutPlan, people: &[Person], threads: usize) -> usize {
    let (next, mailed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let chunks: Vec<&[Person]> = people.chunks(CHUNK).collect();
    let work = || {
        while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut typesetter = Typesetter::new();
            let mails = chunk
                .iter()
                .filter(|person| plan.check_layout(&mut typesetter, *person).is_ok())
                .count();
            mailed.fetch_add(mails, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    mailed.into_inner()
}

/// A postcard with four texts that have fields: two that shrink, one that wraps, one along an arc.
fn plan() -> anyhow::Result<LayoutPlan> {
    let text = |id: &str, area: [f64; 4], text: &str, font: &str, size: f64, smallest_size: f64| {
        let [x, y, width, height] = area;
        json!({"id": id, "kind": "text", "area": {"x": x, "y": y, "width": width, "height": height},
            "text": text, "font": font, "size": size, "smallest_size": smallest_size})
    };
    let mut seal = text(
        "seal",
        [300.0, 30.0, 110.0, 70.0],
        "At home in {{city}}",
        "Oswald Bold",
        14.0,
        7.0,
    );
    seal["arc"] = json!({"bend": "up", "radius": 70});
    let document = json!({"product": "postcard_4x6",
    "front": {"elements": [
        text("headline", [18.0, 183.0, 396.0, 48.0], "{{first_name|Neighbor}}, your lawn misses you", "Montserrat Bold", 28.0, 12.0),
        seal,
        text("offer", [18.0, 240.0, 396.0, 36.0], "{{first_name}} {{last_name}}, take {{amount}} off in {{city}}", "Inter", 18.0, 8.0),
    ]},
    "back": {"elements": [
        text("message", [18.0, 18.0, 150.0, 200.0], "Dear {{first_name}} {{last_name}},\n{{message}}", "Lora", 11.0, 6.0),
    ]}});
    Ok(LayoutPlan::new(PrintableDesign::parse(&document)?))
}

fn people() -> Vec<Person> {
    const CITIES: [&str; 8] = [
        "Austin",
        "Round Rock",
        "San Marcos",
        "Cañon City",
        "Coeur d’Alene",
        "Reno",
        "New York",
        "Winston-Salem",
    ];
    const WORDS: [&str; 16] = [
        "we", "mow", "edge", "and", "water", "your", "lawn", "every", "second", "week,",
        "whatever", "the", "weather", "brings;", "first", "visit",
    ];
    let mut random = StdRng::seed_from_u64(11);
    let people = (0..RECIPIENTS).map(|_| Person {
        first_name: name(&mut random, 3..9),
        last_name: name(&mut random, 4..13),
        city: CITIES[random.random_range(0..CITIES.len())],
        amount: format!("${}", random.random_range(5..250)),
        message: (0..random.random_range(8..30))
            .map(|_| WORDS[random.random_range(0..WORDS.len())])
            .collect::<Vec<_>>()
            .join(" "),
    });
    people.collect()
}

/// A name that is hardly ever met again, so that its letters must be shaped.
fn name(random: &mut StdRng, length: std::ops::Range<usize>) -> String {
    const VOWELS: [char; 7] = ['a', 'e', 'i', 'o', 'u', 'é', 'y'];
    const CONSONANTS: [char; 10] = ['b', 'd', 'f', 'l', 'm', 'n', 'r', 's', 't', 'v'];
    let mut letter = |index: usize| match index % 2 {
        0 => CONSONANTS[random.next_u32() as usize % CONSONANTS.len()],
        _ => VOWELS[random.next_u32() as usize % VOWELS.len()],
    };
    let first = letter(0).to_ascii_uppercase();
    std::iter::once(first)
        .chain((1..length.end).map(letter))
        .collect::<String>()
        .chars()
        .take(length.start.max(length.end - 1))
        .collect()
}
