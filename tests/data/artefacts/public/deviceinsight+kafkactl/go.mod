module github.com/deviceinsight/kafkactl

require (
	github.com/DataDog/zstd v1.3.5
	github.com/Shopify/sarama v1.21.0
	github.com/coreos/etcd v3.3.12+incompatible // indirect
	github.com/landoop/schema-registry v0.0.0-20190327143759-50a5701c1891
	github.com/linkedin/goavro v0.0.0-20180427113916-2f3e1dff9761
)

go 1.13
