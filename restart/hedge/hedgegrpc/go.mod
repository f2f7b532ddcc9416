// Second requests for gRPC. This is a module of its own, so that the library does not depend on gRPC.
module github.com/straggler-go/straggler/restart/hedge/hedgegrpc

go 1.25.0

replace github.com/straggler-go/straggler => ../../../

require (
	github.com/straggler-go/straggler v0.1.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	google.golang.org/grpc v1.83.2
	google.golang.org/protobuf v1.36.11
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.58.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260526163538-3dc84a4a5aaa // indirect
)
