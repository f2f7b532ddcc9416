// Second requests for plain functions. This is a module of its own, because it starts goroutines.
module github.com/straggler-go/straggler/restart/hedge/hedged

go 1.25.0

replace github.com/straggler-go/straggler => ../../../

require (
	github.com/straggler-go/straggler v0.1.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
