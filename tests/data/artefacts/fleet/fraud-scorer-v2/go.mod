module example.com/fleet/fraud-scorer-v2

go 1.26.8

require github.com/confluentinc/confluent-kafka-go v1.4.2
