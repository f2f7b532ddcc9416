// A module of its own: the library serves no pages.
module github.com/straggler-go/straggler/restart/engine/live

go 1.25.0

replace github.com/straggler-go/straggler => ../../../

require (
	github.com/straggler-go/straggler v0.1.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
