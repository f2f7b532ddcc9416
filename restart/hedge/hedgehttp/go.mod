// Second requests for net/http. This is a module of its own, because it starts goroutines.
module github.com/straggler-go/straggler/restart/hedge/hedgehttp

go 1.25.0

replace (
	github.com/straggler-go/straggler => ../../../
	github.com/straggler-go/straggler/restart/hedge/hedged => ../hedged
)

require (
	github.com/straggler-go/straggler v0.1.0
	github.com/straggler-go/straggler/restart/hedge/hedged v0.1.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
