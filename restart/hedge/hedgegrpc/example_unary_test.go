package hedgegrpc_test

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgegrpc"
)

// How does a gRPC client send a second request? Only calls that read are safe here.
func ExampleUnary() {
	rule, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.05})
	if err != nil {
		panic(err)
	}
	facts := func(_ context.Context, method string, _ any) hedge.Request {
		return hedge.Request{Safe: strings.HasPrefix(method, "/users.Users/Get")}
	}
	conn, err := grpc.NewClient("dns:///users:443", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"hedge_round_robin": {}}]}`),
		grpc.WithChainUnaryInterceptor(hedgegrpc.Unary(hedged.NewRoute(rule), facts)))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Println(conn.Target())
	// Output: dns:///users:443
}
