package peers;

import client_telemetry.raw.v1.RawDumpV1.ClientPush;
import com.github.luben.zstd.ZstdInputStream;
import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.MetricsData;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Date;
import java.sql.Timestamp;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.zip.CRC32C;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A decoder for comparison: protobuf's classes for Java in mapPartitions, and Spark's Parquet writer. It computes
 * SHA-256 of objects and checks CRC-32C of payloads, as this project does. Numbers only, which is all that Kafka's clients push;
 * payloads are compressed with zstd or not at all.
 */
public final class ProtobufJava {
  private static final int ZSTD = 4;

  private ProtobufJava() {}

  /** Writes the points of the objects to Parquet files below {@code out}, in so many tasks. {@code schema}: JSON. */
  public static void write(
      SparkSession spark, List<String> objects, int tasks, String schema, String day, String out) {
    StructType type = (StructType) DataType.fromJson(schema);
    MapPartitionsFunction<String, Row> decode = paths -> new Points(paths, Date.valueOf(day));
    spark
        .createDataset(objects, Encoders.STRING())
        .repartition(tasks)
        .mapPartitions(decode, Encoders.row(type))
        .write()
        .option("compression", "zstd")
        .parquet(out);
  }

  /** Rows of client_metrics, a push at a time. */
  private static final class Points implements Iterator<Row> {
    private final Iterator<String> paths;
    private final Date day;
    private final Deque<Row> rows = new ArrayDeque<>();
    private final MessageDigest sha256;
    private DataInputStream open;

    Points(Iterator<String> paths, Date day) {
      this.paths = paths;
      this.day = day;
      try {
        sha256 = MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public boolean hasNext() {
      try {
        while (rows.isEmpty()) {
          if (open == null) {
            if (!paths.hasNext()) {
              return false;
            }
            open = opened(Path.of(paths.next()));
          }
          byte[] record = record();
          if (record == null) {
            open.close();
            sha256.digest();
            open = null;
          } else {
            add(ClientPush.parseFrom(record));
          }
        }
        return true;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public Row next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return rows.poll();
    }

    private DataInputStream opened(Path path) throws IOException {
      InputStream stored = new DigestInputStream(Files.newInputStream(path), sha256);
      return new DataInputStream(new BufferedInputStream(new ZstdInputStream(stored), 1 << 16));
    }

    /** The next record of the object; null at its end. */
    private byte[] record() throws IOException {
      int length;
      try {
        length = open.readInt();
      } catch (EOFException e) {
        return null;
      }
      byte[] record = new byte[length];
      open.readFully(record);
      return record;
    }

    private void add(ClientPush push) throws IOException {
      String incarnation = HexFormat.of().formatHex(push.getIncarnation().toByteArray());
      byte[] instance = push.getClientInstanceId().isEmpty() ? null : push.getClientInstanceId().toByteArray();
      Timestamp received = timestamp(push.getReceivedAtNanos());
      int index = 0;
      for (ResourceMetrics resource : payload(push).getResourceMetricsList()) {
        for (ScopeMetrics scope : resource.getScopeMetricsList()) {
          for (Metric metric : scope.getMetricsList()) {
            boolean isSum = metric.hasSum();
            List<NumberDataPoint> points =
                isSum ? metric.getSum().getDataPointsList() : metric.getGauge().getDataPointsList();
            int temporality = isSum ? metric.getSum().getAggregationTemporalityValue() : 0;
            for (NumberDataPoint point : points) {
              rows.add(
                  RowFactory.create(
                      push.getClusterId(),
                      day,
                      push.getBrokerId(),
                      incarnation,
                      push.getSequence(),
                      index++,
                      instance,
                      received,
                      metric.getName(),
                      isSum ? "sum" : "gauge",
                      temporality == 1 ? "delta" : temporality == 2 ? "cumulative" : null,
                      isSum ? metric.getSum().getIsMonotonic() : null,
                      labels(point.getAttributesList()),
                      timestamp(point.getStartTimeUnixNano()),
                      timestamp(point.getTimeUnixNano()),
                      point.hasAsDouble() ? point.getAsDouble() : null,
                      point.hasAsInt() ? point.getAsInt() : null,
                      0));
            }
          }
        }
      }
    }

    private static MetricsData payload(ClientPush push) throws IOException {
      ByteString payload = push.getPayload();
      CRC32C crc = new CRC32C();
      crc.update(payload.asReadOnlyByteBuffer());
      if (push.getPayloadCrc32C() != 0 && push.getPayloadCrc32C() != (int) crc.getValue()) {
        throw new IOException("a payload with another CRC-32C than stated");
      }
      if (push.getCompressionType() != ZSTD) {
        return MetricsData.parseFrom(payload);
      }
      try (ZstdInputStream source = new ZstdInputStream(payload.newInput())) {
        return MetricsData.parseFrom(source.readAllBytes());
      }
    }

    private static scala.collection.Map<String, String> labels(List<KeyValue> attributes) {
      Map<String, String> labels = new LinkedHashMap<>();
      for (KeyValue label : attributes) {
        boolean isNumber = label.getValue().hasIntValue();
        labels.put(
            label.getKey(),
            isNumber ? Long.toString(label.getValue().getIntValue()) : label.getValue().getStringValue());
      }
      return CollectionConverters.asScala(labels);
    }

    private static Timestamp timestamp(long nanos) {
      if (nanos == 0) {
        return null;
      }
      Timestamp time = new Timestamp(nanos / 1_000_000);
      time.setNanos((int) (nanos % 1_000_000_000 / 1000 * 1000));
      return time;
    }
  }
}
