package hedgegrpc_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/test/bufconn"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgegrpc"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// numbered answers with its number. Server 0 hangs.
type numbered struct {
	grpc_health_v1.UnimplementedHealthServer
	number int
	calls  atomic.Int32
}

func (s *numbered) Check(
	ctx context.Context, _ *grpc_health_v1.HealthCheckRequest,
) (*grpc_health_v1.HealthCheckResponse, error) {
	s.calls.Add(1)
	if s.number == 0 {
		return nil, hang(ctx)
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_ServingStatus(s.number)}, nil
}

// cluster returns a client of n servers behind the balancer of this module.
func cluster(t *testing.T, n int) (grpc_health_v1.HealthClient, []*numbered) {
	t.Helper()
	var state resolver.State
	listeners, list := map[string]*bufconn.Listener{}, make([]*numbered, n)
	for i := range list {
		list[i] = &numbered{number: i}
		address := string('a' + rune(i))
		listeners[address] = bufconn.Listen(1 << 16)
		g := grpc.NewServer()
		grpc_health_v1.RegisterHealthServer(g, list[i])
		go g.Serve(listeners[address])
		t.Cleanup(g.Stop)
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: address}}})
	}
	rule, err := hedgerules.New(hedgerules.Fixed(delay))
	require.NoError(t, err)
	builder := manual.NewBuilderWithScheme("numbered")
	builder.InitialState(state)
	safe := func(context.Context, string, any) hedge.Request { return hedge.Request{Safe: true} }
	conn, err := grpc.NewClient("numbered:///", grpc.WithResolvers(builder),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return listeners[address].DialContext(ctx)
		}),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"`+hedgegrpc.Balancer+`": {}}]}`),
		grpc.WithUnaryInterceptor(hedgegrpc.Unary(hedged.NewRoute(rule), safe)))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return grpc_health_v1.NewHealthClient(conn), list
}

// Server 0 of three hangs. Its calls are answered by the second attempt, although other calls pick at the same time.
func TestSecondCallAvoidsTheServerOfTheFirst(t *testing.T) {
	const calls = 300
	c, list := cluster(t, 3)
	for _, s := range list { // a balancer picks among the servers with a connection
		for s.calls.Load() == 0 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*delay)
			c.Check(ctx, request)
			cancel()
		}
		s.calls.Store(0)
	}
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // without an answer the call waits for good
			defer cancel()
			_, err := c.Check(ctx, request)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	// On a busy machine most of its calls are cancelled before it has seen them.
	assert.Positive(t, list[0].calls.Load(), "first attempts go to all servers")
}

// A single server gets both attempts.
func TestOneServerGetsBothCalls(t *testing.T) {
	c, list := cluster(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*delay)
	defer cancel()
	_, err := c.Check(ctx, request)
	assert.Error(t, err)
	assert.Equal(t, int32(2), list[0].calls.Load())
}
