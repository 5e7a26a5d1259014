//! Bytes of a saved state: postcard with a checksum behind it, so that damage is noticed and never believed.

use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

const CHECKSUM_BYTES: usize = 4;

/// `value` as bytes that [`decode`] accepts.
///
/// # Panics
/// Never for the derived implementations of `Serialize` that states use: they cannot fail.
#[must_use]
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = postcard::to_allocvec(value).expect("a derived Serialize does not fail");
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// The value that [`encode`] wrote.
///
/// # Errors
/// [`Error::SavedState`] when the bytes are truncated, damaged, of another type or followed by others.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let damaged = |what: &str| Error::SavedState(format!("{what} ({} bytes given)", bytes.len()));
    let Some(end) = bytes.len().checked_sub(CHECKSUM_BYTES) else {
        return Err(damaged("the bytes are truncated"));
    };
    let (body, checksum) = bytes.split_at(end);
    if crc32fast::hash(body).to_le_bytes() != checksum {
        return Err(damaged("the bytes are truncated or damaged: the checksum does not match"));
    }
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(damaged(&format!("{} bytes too many", rest.len()))),
        Err(_) => Err(damaged("the bytes hold another kind of state")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_is_decoded() {
        let value = (7u64, vec![1.5f32, -0.0], String::from("x"));
        assert_eq!(decode::<(u64, Vec<f32>, String)>(&encode(&value)), Ok(value));
    }

    #[test]
    fn any_damaged_or_missing_byte_is_refused() {
        let bytes = encode(&vec![3u32; 20]);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            assert!(decode::<Vec<u32>>(&damaged).is_err(), "byte {at}");
            assert!(decode::<Vec<u32>>(&bytes[..at]).is_err(), "length {at}");
        }
    }
}
