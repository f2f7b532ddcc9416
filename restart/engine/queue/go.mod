// A module of its own: the library has no clock and no goroutine, and this driver has both.
module github.com/straggler-go/straggler/restart/engine/queue

go 1.25.0

replace github.com/straggler-go/straggler => ../../../

require (
	github.com/straggler-go/straggler v0.1.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
