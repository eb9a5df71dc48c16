//! Records of an object, and payloads of pushes.

use crate::Outcome;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};

const ZSTD: i32 = 4;
const LARGEST_PAYLOAD: usize = 1 << 20;

/// An object is `{ uint32 big-endian length, message }*`, compressed with zstd.
pub struct Records {
    source: BufReader<zstd::Decoder<'static, BufReader<File>>>,
    record: Vec<u8>,
}

impl Records {
    pub fn open(path: &str) -> Outcome<Self> {
        let source = BufReader::with_capacity(1 << 17, zstd::Decoder::new(File::open(path)?)?);
        Ok(Self { source, record: Vec::new() })
    }

    pub fn next(&mut self) -> Outcome<Option<&[u8]>> {
        let mut length = [0; 4];
        match self.source.read_exact(&mut length) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        self.record.resize(u32::from_be_bytes(length) as usize, 0);
        self.source.read_exact(&mut self.record)?;
        Ok(Some(&self.record))
    }
}

/// Decompresses payloads into memory of its own.
pub struct Payloads {
    zstd: zstd::bulk::Decompressor<'static>,
    room: Vec<u8>,
}

impl Default for Payloads {
    fn default() -> Self {
        let zstd = zstd::bulk::Decompressor::new().expect("memory for zstd");
        Self { zstd, room: Vec::with_capacity(LARGEST_PAYLOAD) }
    }
}

impl Payloads {
    pub fn plain<'a>(&'a mut self, payload: &'a [u8], codec: i32) -> Outcome<&'a [u8]> {
        if codec != ZSTD {
            return Ok(payload);
        }
        self.room.clear();
        self.zstd.decompress_to_buffer(payload, &mut self.room)?;
        Ok(&self.room)
    }
}
