module github.com/influxdata/telegraf
go 1.25.5
require (
	github.com/IBM/nzgo/v12 v12.0.10
	github.com/IBM/sarama v1.46.3
	github.com/Masterminds/semver/v3 v3.4.0
	github.com/testcontainers/testcontainers-go/modules/azure v0.40.0
	github.com/testcontainers/testcontainers-go/modules/kafka v0.40.0
	github.com/testcontainers/testcontainers-go/modules/vault v0.40.0
)
require (
)
