module gopkg.in/DataDog/dd-trace-go.v1
go 1.24.0
require (
	github.com/DataDog/dd-trace-go/contrib/99designs/gqlgen/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/IBM/sarama/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/Shopify/sarama/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/aws/aws-sdk-go-v2/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/cloud.google.com/go/pubsub.v1/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/confluentinc/confluent-kafka-go/kafka.v2/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/confluentinc/confluent-kafka-go/kafka/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/database/sql/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/redis/rueidis/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/segmentio/kafka-go/v2 v2.3.0
	github.com/DataDog/dd-trace-go/contrib/sirupsen/logrus/v2 v2.3.0
	github.com/DataDog/gostackparse v0.7.0
	github.com/IBM/sarama v1.40.0
	github.com/Shopify/sarama v1.38.1
	github.com/aws/aws-sdk-go v1.44.327
	github.com/bradfitz/gomemcache v0.0.0-20230611145640-acc696258285
	github.com/confluentinc/confluent-kafka-go v1.9.2
	github.com/confluentinc/confluent-kafka-go/v2 v2.4.0
	github.com/denisenkom/go-mssqldb v0.11.0
	github.com/redis/rueidis v1.0.56
	github.com/segmentio/kafka-go v0.4.42
	github.com/sirupsen/logrus v1.9.3
)
require (
)
require (
)
retract (
)
