//! Bodies on their way through the broker: large ones travel compressed.
//!
//! A quorum queue writes a message to the disk of each of its replicas before it is handed on, and sends it over the network as often.
//! JSON shrinks to a tenth in less time than one of these takes.

use bytes::{BufMut, Bytes, BytesMut};
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

/// The `content-encoding` of a compressed body: its length as a whole number of four bytes, the lowest first, and then an
/// LZ4 block.
pub(crate) const LZ4: &str = "lz4";

/// Bodies from this size on are compressed.
const COMPRESSED_FROM_BYTES: usize = 16 * 1024;

/// Bodies up to this size are compressed in place, in a quarter of a millisecond at the most; larger ones on a thread where nobody
/// else waits.
const INLINE_BYTES: usize = 1024 * 1024;

/// Bytes of a decoded body: more than any caller sends. Nothing is made room for that says that it is larger.
const DECODED_BYTES: usize = 16 * 1024 * 1024;

/// Bytes that tell the length.
const LENGTH_BYTES: usize = size_of::<u32>();

/// The body as it travels, and whether it is compressed.
pub(crate) async fn encode_body(body: Bytes) -> (Bytes, bool) {
    if body.len() < COMPRESSED_FROM_BYTES {
        return (body, false);
    }
    let compressed = if body.len() <= INLINE_BYTES {
        compress_body(&body)
    } else {
        let body = body.clone();
        tokio::task::spawn_blocking(move || compress_body(&body))
            .await
            .ok()
            .flatten()
    };
    // One that does not shrink travels as it is.
    compressed.map_or((body, false), |compressed| (compressed, true))
}

/// The body as it was sent; the largest takes a third of a millisecond. `None` when it cannot be decoded.
pub(crate) fn decode_body(body: Bytes, encoding: Option<&str>) -> Option<Bytes> {
    match encoding {
        None => Some(body),
        Some(LZ4) => decompress_body(&body),
        Some(_) => None,
    }
}

/// The length of a body when it is decoded, without decoding it.
pub(crate) fn decoded_length(body: &[u8], encoding: Option<&str>) -> usize {
    let told = body
        .first_chunk::<LENGTH_BYTES>()
        .filter(|_| encoding == Some(LZ4));
    let told = told.and_then(|length| usize::try_from(u32::from_le_bytes(*length)).ok());
    // What says that it is larger than any body is not decoded.
    told.map_or(body.len(), |length| length.min(DECODED_BYTES))
}

fn compress_body(body: &[u8]) -> Option<Bytes> {
    let length = u32::try_from(body.len()).ok()?;
    let mut compressed = BytesMut::zeroed(LENGTH_BYTES + get_maximum_output_size(body.len()));
    (&mut compressed[..LENGTH_BYTES]).put_u32_le(length);
    let written = compress_into(body, &mut compressed[LENGTH_BYTES..]).ok()?;
    compressed.truncate(LENGTH_BYTES + written);
    // What was reserved for the worst case is given back.
    (compressed.len() < body.len()).then(|| Bytes::copy_from_slice(&compressed))
}

fn decompress_body(compressed: &[u8]) -> Option<Bytes> {
    let (length, block) = compressed.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u32::from_le_bytes(*length))
        .ok()
        .filter(|length| *length <= DECODED_BYTES)?;
    let mut body = BytesMut::zeroed(length);
    let written = decompress_into(block, &mut body).ok()?;
    (written == length).then(|| body.freeze())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    async fn round_trip(body: &Bytes) -> (usize, Option<Bytes>) {
        let (travels, is_compressed) = encode_body(body.clone()).await;
        let length = travels.len();
        (length, decode_body(travels, is_compressed.then_some(LZ4)))
    }

    #[tokio::test]
    async fn a_large_body_travels_small_and_arrives_whole() {
        let record = r#"{"external_id":"7","fields":{"city":"Austin","zip":"78701"}},"#;
        for records in [5_000, 50_000] {
            let body = Bytes::from(record.repeat(records));
            let (length, arrived) = round_trip(&body).await;
            assert!(length < body.len() / 10, "{length} of {}", body.len());
            assert_eq!(arrived, Some(body));
        }
    }

    #[tokio::test]
    async fn small_bodies_and_those_that_do_not_shrink_travel_as_they_are() {
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(2 * COMPRESSED_FROM_BYTES)
        .collect();
        for body in [
            Bytes::from(vec![b' '; COMPRESSED_FROM_BYTES - 1]),
            Bytes::from(noise),
            Bytes::new(),
        ] {
            assert_eq!(round_trip(&body).await, (body.len(), Some(body)));
        }
    }

    #[test]
    fn what_cannot_be_decoded_is_no_body() {
        let whole = compress_body(&[b'a'; 1_000]).unwrap();
        let longer = [&1_001_u32.to_le_bytes(), &whole[LENGTH_BYTES..]].concat();
        let shorter = [&999_u32.to_le_bytes(), &whole[LENGTH_BYTES..]].concat();
        let huge = [&u32::MAX.to_le_bytes(), &whole[LENGTH_BYTES..]].concat();
        for body in [
            longer,
            shorter,
            huge,
            whole[..whole.len() - 1].to_vec(),
            vec![1, 0, 0],
            Vec::new(),
        ] {
            assert_eq!(decode_body(Bytes::from(body), Some(LZ4)), None);
        }
        assert_eq!(
            decode_body(whole, Some("gzip")),
            None,
            "an encoding that nobody knows"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(body in prop::collection::vec(any::<u8>(), 0..200), length in 0_u32..300) {
            let body = [&length.to_le_bytes()[..], &body].concat();
            if let Some(decoded) = decompress_body(&body) {
                prop_assert_eq!(decoded.len(), length as usize);
            }
        }
    }
}
