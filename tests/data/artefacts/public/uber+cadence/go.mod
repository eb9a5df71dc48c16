module github.com/uber/cadence

go 1.17

require (
	cloud.google.com/go/storage v1.6.0
	github.com/Shopify/sarama v1.23.0
	github.com/VividCortex/mysqlerr v1.0.0
)

require (
	github.com/DataDog/zstd v1.4.0 // indirect
	github.com/eapache/go-resiliency v1.2.0 // indirect
)

// ringpop-go and tchannel-go depends on older version of thrift, yarpc brings up newer version
replace github.com/apache/thrift => github.com/apache/thrift v0.0.0-20161221203622-b2a4d4ae21c7

replace github.com/uber/cadence-idl => ./idls
