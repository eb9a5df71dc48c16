package main

import (
	"context"
	"fmt"
	"os"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/featuregate"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func write(path, format, compression string, native bool, inputs []string) {
	must(featuregate.GlobalRegistry().Set("exporter.file.nativeCompression", native))
	factory := fileexporter.NewFactory()
	config := factory.CreateDefaultConfig().(*fileexporter.Config)
	config.Path, config.FormatType, config.Compression = path, format, compression
	settings := exporter.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings(), BuildInfo: component.NewDefaultBuildInfo()}
	sink, err := factory.CreateMetrics(context.Background(), settings, config)
	must(err)
	must(sink.Start(context.Background(), componenttest.NewNopHost()))
	for _, input := range inputs {
		data, err := os.ReadFile(input)
		must(err)
		metrics, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(data)
		must(err)
		must(sink.ConsumeMetrics(context.Background(), metrics))
	}
	must(sink.Shutdown(context.Background()))
	fmt.Println("wrote", path)
}

func main() {
	folder, inputs := os.Args[1], os.Args[2:]
	write(folder+"/proto.bin", "proto", "", false, inputs)
	write(folder+"/proto-zstd-each-message.bin", "proto", "zstd", false, inputs)
	write(folder+"/proto-zstd-stream.zst", "proto", "zstd", true, inputs)
	write(folder+"/json.jsonl", "json", "", false, inputs)
	write(folder+"/json-zstd-each-message.bin", "json", "zstd", false, inputs)
	write(folder+"/json-zstd-stream.zst", "json", "zstd", true, inputs)
}
