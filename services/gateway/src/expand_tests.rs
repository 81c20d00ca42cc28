use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

type Compressor = fn(&[u8]) -> Vec<u8>;

const BOTH: [(BodyEncoding, Compressor); 2] =
    [(BodyEncoding::Gzip, gzip), (BodyEncoding::Zstd, zstd)];

fn unreadable(message: &'static str) -> Result<Vec<u8>, AdmissionError> {
    Err(AdmissionError::BodyUnreadable(message))
}

fn bad(encoding: BodyEncoding) -> Result<Vec<u8>, AdmissionError> {
    unreadable(match encoding {
        BodyEncoding::Gzip => BAD_GZIP,
        BodyEncoding::Zstd => BAD_ZSTD,
    })
}

fn from_values(values: &[&'static str]) -> Result<Option<BodyEncoding>, AdmissionError> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(header::CONTENT_ENCODING, HeaderValue::from_static(value));
    }
    BodyEncoding::from_headers(&headers)
}

#[test]
fn gzip_and_zstd_are_taken_once_and_nothing_else() {
    for none in [&[][..], &[""], &["identity"], &[" Identity "]] {
        assert_eq!(from_values(none), Ok(None), "{none:?}");
    }
    for gzip in ["gzip", "GZIP", "x-gzip"] {
        assert_eq!(from_values(&[gzip]), Ok(Some(BodyEncoding::Gzip)));
    }
    assert_eq!(from_values(&["zstd"]), Ok(Some(BodyEncoding::Zstd)));
    for other in [
        &["br"][..],
        &["deflate"],
        &["utf-8"],
        &["gzip, gzip"],
        &["gzip, identity"],
        &["gzip", "zstd"],
        &["identity", "gzip"],
    ] {
        let refused = Err(AdmissionError::UnsupportedEncoding);
        assert_eq!(from_values(other), refused, "{other:?}");
    }
}

#[test]
fn a_body_of_the_largest_size_is_expanded_and_one_more_byte_is_too_large() {
    let mut body: Vec<u8> = (0..BODY_BYTES).map(|at| (at % 251) as u8).collect();
    for (encoding, compress) in BOTH {
        assert!(encoding.expand_bytes(&compress(&body)) == Ok(body.clone()));
    }
    body.push(b' ');
    for (encoding, compress) in BOTH {
        assert_eq!(
            encoding.expand_bytes(&compress(&body)),
            Err(AdmissionError::BodyTooLarge)
        );
    }
}

#[test]
fn what_the_programs_of_the_formats_authors_write_is_read() {
    // {"a":1} as `zstd -19` and `gzip -9` write it, with their checksums.
    let zstd = b"\x28\xb5\x2f\xfd\x04\x68\x39\0\0{\"a\":1}\x48\x8b\xfc\x32";
    assert_eq!(
        BodyEncoding::Zstd.expand_bytes(zstd),
        Ok(b"{\"a\":1}".to_vec())
    );
    let mut wrong = zstd.to_vec();
    wrong[19] ^= 1;
    assert_eq!(
        BodyEncoding::Zstd.expand_bytes(&wrong),
        bad(BodyEncoding::Zstd)
    );
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x4a\x54\xb2\x32\xac\x05\x00\xaf\xac\x1b\x56\x07\x00\x00\x00";
    assert_eq!(
        BodyEncoding::Gzip.expand_bytes(gzip),
        Ok(b"{\"a\":1}".to_vec())
    );
}

#[test]
fn several_parts_are_one_body_and_nothing_is_nothing() {
    for (encoding, compress) in BOTH {
        let parts = [compress(b"{\"a\":"), compress(b""), compress(b"1}")].concat();
        assert_eq!(encoding.expand_bytes(&parts), Ok(b"{\"a\":1}".to_vec()));
        assert_eq!(encoding.expand_bytes(b""), Ok(Vec::new()));
    }
}

#[test]
fn a_stream_that_is_cut_off_damaged_or_another_one_is_unreadable() {
    let body = b"{\"recipients\": [{\"first_name\": \"Ada\"}]}".repeat(100);
    for (encoding, compress) in BOTH {
        let whole = compress(&body);
        for length in 1..whole.len() {
            assert_eq!(
                encoding.expand_bytes(&whole[..length]),
                bad(encoding),
                "{length}"
            );
        }
        // The checksum stands in the last bytes.
        let mut damaged = whole.clone();
        let middle = damaged.len() - 6;
        damaged[middle] ^= 0x10;
        assert!(encoding.expand_bytes(&damaged) != Ok(body.clone()));
        assert_eq!(
            encoding.expand_bytes(&[&whole[..], b"more"].concat()),
            bad(encoding)
        );
        assert_eq!(encoding.expand_bytes(&body), bad(encoding));
    }
    assert_eq!(
        BodyEncoding::Gzip.expand_bytes(&zstd(&body)),
        bad(BodyEncoding::Gzip)
    );
    assert_eq!(
        BodyEncoding::Zstd.expand_bytes(&gzip(&body)),
        bad(BodyEncoding::Zstd)
    );
}

/// A frame with this window descriptor, or none for a single segment of so many bytes, and blocks that each repeat a byte 128 KB.
fn zstd_of_repeats(window: Option<u8>, content_bytes: u32, blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd];
    match window {
        Some(descriptor) => frame.extend([0, descriptor]),
        // A content size of four bytes.
        None => frame.extend([&[0xa0][..], &content_bytes.to_le_bytes()].concat()),
    }
    for number in 1..=blocks {
        let header = ((128 * 1024) << 3) | (1 << 1) | u32::from(number == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b' ');
    }
    frame
}

#[test]
fn a_bomb_ends_at_the_limit_whatever_it_declares() {
    // A terabyte in 30 MB of zeros would take minutes; these end within the body's size.
    let gzip_bomb = gzip(&vec![0; 64 * 1024 * 1024]);
    assert_eq!(
        BodyEncoding::Gzip.expand_bytes(&gzip_bomb),
        Err(AdmissionError::BodyTooLarge)
    );
    // Windows of 1 KB are smaller than a block; 13 is 1 << 23.
    for frame in [
        zstd_of_repeats(Some(13 << 3), 0, 5_000),
        zstd_of_repeats(None, 5_000 * 128 * 1024, 5_000),
        zstd_of_repeats(None, 5 * 1024 * 1024, 40),
    ] {
        assert_eq!(
            BodyEncoding::Zstd.expand_bytes(&frame),
            Err(AdmissionError::BodyTooLarge)
        );
    }
    let lying = zstd_of_repeats(None, 4 * 1024 * 1024, 5_000);
    assert_eq!(
        BodyEncoding::Zstd.expand_bytes(&lying),
        Err(AdmissionError::BodyTooLarge)
    );
    let wide = zstd_of_repeats(Some(14 << 3), 0, 1);
    assert_eq!(
        BodyEncoding::Zstd.expand_bytes(&wide),
        unreadable(WIDE_ZSTD)
    );
}

#[test]
fn zstd_is_not_chopped_at_will() {
    let frames = zstd(b"1").repeat(ZSTD_FRAMES);
    let ones = vec![b'1'; ZSTD_FRAMES];
    assert_eq!(BodyEncoding::Zstd.expand_bytes(&frames), Ok(ones));
    let more = [frames, zstd(b"1")].concat();
    assert_eq!(
        BodyEncoding::Zstd.expand_bytes(&more),
        unreadable(CHOPPED_ZSTD)
    );
    // Empty blocks, of three bytes each.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
    frame.extend([0, 0, 0].repeat(ZSTD_BLOCKS));
    assert_eq!(
        BodyEncoding::Zstd.expand_bytes(&frame),
        unreadable(CHOPPED_ZSTD)
    );
}

#[test]
fn frames_that_are_to_be_skipped_are() {
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let body = [&skipped[..], &zstd(b"{}"), &skipped].concat();
    assert_eq!(BodyEncoding::Zstd.expand_bytes(&body), Ok(b"{}".to_vec()));
    let cut = &skipped[..10];
    assert_eq!(
        BodyEncoding::Zstd.expand_bytes(cut),
        bad(BodyEncoding::Zstd)
    );
}

#[test]
fn fuzz_compressed_bodies() {
    let body = b"{\"campaign_id\":\"PA-TEST01\",\"recipients\":[{\"zip\":\"78701\"}]}".repeat(20);
    for (encoding, compress) in BOTH {
        let samples = [compress(b"{}"), compress(&body), compress(&[7; 5_000])];
        fuzz::Target::new(samples).run(|encoded| {
            match encoding.expand_bytes(encoded) {
                Ok(bytes) => prop_assert!(bytes.len() <= BODY_BYTES),
                Err(AdmissionError::BodyTooLarge | AdmissionError::BodyUnreadable(_)) => {}
                Err(other) => prop_assert!(false, "{other:?}"),
            }
            Ok(())
        });
    }
}
