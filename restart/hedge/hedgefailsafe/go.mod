// The hedge policy of failsafe-go with a rule of package hedge. This is a module of its own, so that the library does not
// depend on failsafe-go.
module github.com/straggler-go/straggler/restart/hedge/hedgefailsafe

go 1.25.0

replace github.com/straggler-go/straggler => ../../../

require (
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/straggler-go/straggler v0.1.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
