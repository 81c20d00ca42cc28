use std::io::{BufRead, Write};
fn main() {
    let out = std::io::stdout();
    let mut out = std::io::BufWriter::new(out.lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let p = if line.contains('|') {
            let mut i = line.split('|');
            let mut n = || i.next().unwrap_or_default();
            address::parse(address::AddressInput {
                address_1: n(),
                address_2: n(),
                city: n(),
                state: n(),
                zip: n(),
            })
        } else {
            address::parse_one_line(&line)
        };
        writeln!(
            out,
            "{line} => [{}] [{}] {} | n={} pre={} s={} suf={} post={} u={} {} po={} rr={} b={}",
            p.line1,
            p.line2,
            p.one_line,
            p.number,
            p.predirectional,
            p.street,
            p.suffix,
            p.postdirectional,
            p.unit_designator,
            p.unit,
            p.po_box,
            p.rural_route,
            p.box_number
        )
        .unwrap();
    }
}
