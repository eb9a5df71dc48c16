"""Makes a bucket in an S3 server that has no TLS, once it answers: bucket.py HOST:PORT BUCKET."""

import sys
import time

from pyarrow import fs

STARTS_WITHIN_S = 60


def main(endpoint: str, bucket: str) -> None:
    store = fs.S3FileSystem(
        endpoint_override=endpoint, scheme="http", region="us-east-1", allow_bucket_creation=True
    )
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            return store.create_dir(bucket)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
