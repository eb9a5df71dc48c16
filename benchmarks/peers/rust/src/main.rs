//! Decoders for comparison: raw objects to Parquet files of points, in one process and one thread, without Spark.
//!
//!     rust-peers prost|interned OUT DAYS TIMES OBJECT...
//!
//! `prost` decodes messages of prost's and builds plain columns from them. `interned` reads the bytes of the messages in place and
//! looks up each run of labels by its bytes, so that a run is read once for each batch. Both read objects and write Parquet here in
//! the same way, TIMES over, a file for each object, and print the SHA-256 of each. DAYS: the day of all rows, since 1970. Numbers only, and labels that are texts
//! or integers, which is all that Kafka's clients push; payloads are compressed with zstd or not at all.

mod interned;
mod objects;
mod points;
mod with_prost;

use points::{Decoder, PointFile};
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [way, out, day, times, objects @ ..] = arguments.as_slice() else {
        return Err("rust-peers prost|interned OUT DAYS TIMES OBJECT...".into());
    };
    let (day, times) = (day.parse()?, times.parse()?);
    match way.as_str() {
        "prost" => decode::<with_prost::Points>(out, day, times, objects),
        "interned" => decode::<interned::Points>(out, day, times, objects),
        _ => Err(format!("no way {way}").into()),
    }
}

fn decode<D: Decoder>(out: &str, day: i32, times: usize, objects: &[String]) -> Outcome<()> {
    for turn in 0..times {
        for (number, object) in objects.iter().enumerate() {
            let mut records = objects::Records::open(object)?;
            let mut file = PointFile::new(format!("{out}/{turn}-{number}.parquet"), day);
            let mut points = D::default();
            while let Some(record) = records.next()? {
                points.add(record)?;
                if points.len() >= points::ROWS {
                    file.write(&mut points)?;
                }
            }
            file.write(&mut points)?;
            file.close()?;
            println!("{}", records.sha256());
        }
    }
    Ok(())
}
