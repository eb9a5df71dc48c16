//! Records of an object, and payloads of pushes, both with the checks that this project makes.

use crate::Outcome;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};

const ZSTD: i32 = 4;
const LARGEST_PAYLOAD: usize = 1 << 20;

/// A stored object, whose SHA-256 is computed as it is read.
struct Stored {
    file: File,
    sha256: Sha256,
}

impl Read for Stored {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let size = self.file.read(into)?;
        self.sha256.update(&into[..size]);
        Ok(size)
    }
}

/// An object is `{ uint32 big-endian length, message }*`, compressed with zstd.
pub struct Records {
    source: BufReader<zstd::Decoder<'static, BufReader<Stored>>>,
    record: Vec<u8>,
}

impl Records {
    pub fn open(path: &str) -> Outcome<Self> {
        let stored = Stored { file: File::open(path)?, sha256: Sha256::new() };
        let source = BufReader::with_capacity(1 << 17, zstd::Decoder::new(stored)?);
        Ok(Self { source, record: Vec::new() })
    }

    /// SHA-256 of the object as stored, in hex; after its last record.
    pub fn sha256(self) -> String {
        let digest = self.source.into_inner().finish().into_inner().sha256.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
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
    /// `crc32c`: of the payload as stored; 0 if not given.
    pub fn plain<'a>(&'a mut self, payload: &'a [u8], codec: i32, crc32c: u32) -> Outcome<&'a [u8]> {
        if crc32c != 0 && crc32c::crc32c(payload) != crc32c {
            return Err("a payload with another CRC-32C than stated".into());
        }
        if codec != ZSTD {
            return Ok(payload);
        }
        self.room.clear();
        self.zstd.decompress_to_buffer(payload, &mut self.room)?;
        Ok(&self.room)
    }
}
