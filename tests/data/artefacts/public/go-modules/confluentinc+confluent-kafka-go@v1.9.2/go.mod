module github.com/confluentinc/confluent-kafka-go

go 1.13

require (
	github.com/actgardner/gogen-avro/v10 v10.2.1
	github.com/golang/protobuf v1.5.2
	github.com/heetch/avro v0.3.1
	github.com/invopop/jsonschema v0.4.0
	github.com/jhump/protoreflect v1.12.0
	github.com/santhosh-tekuri/jsonschema/v5 v5.0.0
	golang.org/x/sync v0.0.0-20210220032951-036812b2e83c
	google.golang.org/genproto v0.0.0-20220503193339-ba3ae3f07e29
	google.golang.org/protobuf v1.28.0
)
