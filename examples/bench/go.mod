// A comparison with other libraries for second requests. It is a module of its own, so that they reach nobody else.
module github.com/straggler-go/straggler/examples/bench

go 1.25.0

replace (
	github.com/straggler-go/straggler => ../../
	github.com/straggler-go/straggler/restart/hedge/hedged => ../../restart/hedge/hedged
	github.com/straggler-go/straggler/restart/hedge/hedgefailsafe => ../../restart/hedge/hedgefailsafe
	github.com/straggler-go/straggler/restart/hedge/hedgegrpc => ../../restart/hedge/hedgegrpc
	github.com/straggler-go/straggler/restart/hedge/hedgehttp => ../../restart/hedge/hedgehttp
)

require (
	github.com/cristalhq/hedgedhttp v0.9.2
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/johannesboyne/gofakes3 v1.2.0
	github.com/straggler-go/straggler v0.1.0
	github.com/straggler-go/straggler/restart/hedge/hedged v0.1.0
	github.com/straggler-go/straggler/restart/hedge/hedgefailsafe v0.1.0
	github.com/straggler-go/straggler/restart/hedge/hedgegrpc v0.0.0-00010101000000-000000000000
	github.com/straggler-go/straggler/restart/hedge/hedgehttp v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
	gonum.org/v1/gonum v0.17.0
	gonum.org/v1/plot v0.15.2
	google.golang.org/grpc v1.83.2
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.1.0 // indirect
	codeberg.org/go-pdf/fpdf v0.10.0 // indirect
	git.sr.ht/~sbinet/gg v0.6.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/campoy/embedmd v1.0.0 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/influxdata/tdigest v0.0.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/ryszard/goskiplist v0.0.0-20150312221310-2dfbae5fcf46 // indirect
	go.shabbyrobe.org/gocovmerge v0.0.0-20230507111327-fa4f82cfbf4d // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/image v0.25.0 // indirect
	golang.org/x/net v0.58.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	golang.org/x/tools v0.48.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260526163538-3dc84a4a5aaa // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
