module example.com/fleet/marketing-form

go 1.26.8

require github.com/twmb/franz-go v1.15.4

require (
	github.com/klauspost/compress v1.16.7 // indirect
	github.com/pierrec/lz4/v4 v4.1.19 // indirect
	github.com/twmb/franz-go/pkg/kmsg v1.7.0 // indirect
)
