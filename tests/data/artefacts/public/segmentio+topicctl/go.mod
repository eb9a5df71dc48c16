module github.com/segmentio/topicctl

go 1.18

require (
	github.com/aws/aws-sdk-go v1.44.208
	github.com/samuel/go-zookeeper v0.0.0-20190923202752-2cc03de413da
	github.com/segmentio/kafka-go v0.4.43-0.20230728165410-f4ca0b482965
	github.com/segmentio/kafka-go/sasl/aws_msk_iam v0.0.0-20220211180808-78889264d070
	github.com/sirupsen/logrus v1.9.0
)
