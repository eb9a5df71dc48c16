module github.com/kedacore/keda/v2
go 1.26.0
require (
	github.com/Huawei/gophercloud v1.0.21
	github.com/IBM/sarama v1.60.2
	github.com/InfluxCommunity/influxdb3-go/v2 v2.17.0
	github.com/robfig/cron/v3 v3.0.1
	github.com/segmentio/kafka-go v0.4.51
	github.com/segmentio/kafka-go/sasl/aws_msk_iam_v2 v0.1.0
	github.com/signalfx/signalflow-client-go/v2 v2.3.0
)
require (
)
require (
)
