module github.com/dapr/dapr
go 1.22.6
require (
)
require (
	github.com/DataDog/zstd v1.5.2 // indirect
	github.com/IBM/sarama v1.42.2 // indirect
	github.com/OneOfOne/xxhash v1.2.8 // indirect
)
replace (
)
replace (
)
