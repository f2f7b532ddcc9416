package hedgegrpc_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgegrpc"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// delay is after how long the tests send a second request.
const delay = 20 * time.Millisecond

// server answers the first call by one function, and every other by another.
type server struct {
	grpc_health_v1.UnimplementedHealthServer
	calls       atomic.Int32
	first, rest func(ctx context.Context) error
}

func (s *server) Check(
	ctx context.Context, r *grpc_health_v1.HealthCheckRequest,
) (*grpc_health_v1.HealthCheckResponse, error) {
	n := s.calls.Add(1)
	grpc.SetHeader(ctx, metadata.Pairs("attempt", string('0'+rune(n))))
	grpc.SetTrailer(ctx, metadata.Pairs("attempt", string('0'+rune(n))))
	answer := s.rest
	if n == 1 {
		answer = s.first
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_ServingStatus(n)}, answer(ctx)
}

func (s *server) Watch(
	_ *grpc_health_v1.HealthCheckRequest, stream grpc.ServerStreamingServer[grpc_health_v1.HealthCheckResponse],
) error {
	s.calls.Add(1)
	time.Sleep(2 * delay)
	return stream.Send(&grpc_health_v1.HealthCheckResponse{})
}

func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func now(context.Context) error { return nil }

// client returns a client of the server, and its route.
func client(t *testing.T, s *server, safe bool) (grpc_health_v1.HealthClient, *hedged.Route) {
	t.Helper()
	rule, err := hedgerules.New(hedgerules.Fixed(delay))
	require.NoError(t, err)
	route := hedged.NewRoute(rule)
	conn := dial(t, s, route, func(_ context.Context, method string, request any) hedge.Request {
		assert.Equal(t, "/grpc.health.v1.Health/Check", method)
		assert.Equal(t, "x", request.(*grpc_health_v1.HealthCheckRequest).Service)
		return hedge.Request{Safe: safe}
	})
	return grpc_health_v1.NewHealthClient(conn), route
}

// dial returns a connection to the server.
func dial(t *testing.T, s *server, route *hedged.Route, facts hedgegrpc.Facts) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	g := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(g, s)
	go g.Serve(listener)
	conn, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithUnaryInterceptor(hedgegrpc.Unary(route, facts)))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		g.Stop()
	})
	return conn
}

var request = &grpc_health_v1.HealthCheckRequest{Service: "x"}

// The second call answers, and the caller gets its reply, header, trailer and peer.
func TestSecondCallAnswers(t *testing.T) {
	c, _ := client(t, &server{first: hang, rest: now}, true)
	var header, trailer metadata.MD
	var from peer.Peer
	reply, err := c.Check(t.Context(), request, grpc.Header(&header), grpc.Trailer(&trailer), grpc.Peer(&from))
	require.NoError(t, err)
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_ServingStatus(2), reply.Status)
	assert.Equal(t, []string{"2"}, header.Get("attempt"))
	assert.Equal(t, []string{"2"}, trailer.Get("attempt"))
	assert.NotNil(t, from.Addr)
}

// An unsafe call is made once, and streams are left alone.
func TestOnce(t *testing.T) {
	slow := func(context.Context) error { time.Sleep(2 * delay); return nil }
	s := &server{first: slow, rest: slow}
	c, _ := client(t, s, false)
	_, err := c.Check(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, int32(1), s.calls.Load())
	s = &server{}
	c, _ = client(t, s, true)
	stream, err := c.Watch(t.Context(), request)
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	assert.Equal(t, int32(1), s.calls.Load())
}

// An error of the service is an answer. An error of a server is none while the other call goes on; its trailer is kept.
func TestErrors(t *testing.T) {
	fail := func(c codes.Code, after time.Duration) func(context.Context) error {
		return func(ctx context.Context) error {
			time.Sleep(after)
			return status.Error(c, "no")
		}
	}
	for _, of := range []struct {
		first, rest func(context.Context) error
		want        codes.Code
		from        string
	}{
		{hang, fail(codes.NotFound, 0), codes.NotFound, "2"},
		{func(context.Context) error { time.Sleep(3 * delay); return nil }, fail(codes.Unavailable, 0), codes.OK, "1"},
		{fail(codes.Internal, 3*delay), fail(codes.Unavailable, 0), codes.Internal, "1"},
		{fail(codes.Unavailable, 0), now, codes.Unavailable, "1"},
	} {
		c, _ := client(t, &server{first: of.first, rest: of.rest}, true)
		var trailer metadata.MD
		_, err := c.Check(t.Context(), request, grpc.Trailer(&trailer))
		assert.Equal(t, of.want, status.Code(err))
		assert.Equal(t, []string{of.from}, trailer.Get("attempt"))
	}
}

// A server's push-back stops second requests.
func TestPushBack(t *testing.T) {
	for text, want := range map[string]float64{"5000": 5, "-1": 1, "rubbish": 1} {
		busy := func(ctx context.Context) error {
			grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", text))
			return status.Error(codes.Unavailable, "busy")
		}
		c, route := client(t, &server{first: busy, rest: now}, true)
		_, err := c.Check(t.Context(), request)
		assert.Equal(t, codes.Unavailable, status.Code(err))
		id, d := route.Start(hedge.Request{Safe: true})
		time.Sleep(d.After)
		d = route.Late(id)
		assert.Equal(t, hedge.PushedBack, d.Reason)
		assert.InDelta(t, want, d.Value, 0.5)
	}
}

// If the context of the caller ends, the status is that of the context.
func TestDeadline(t *testing.T) {
	c, _ := client(t, &server{first: hang, rest: hang}, true)
	ctx, cancel := context.WithTimeout(t.Context(), 3*delay)
	defer cancel()
	_, err := c.Check(ctx, request)
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err))
}

// A context that was cancelled for a cause of its own has the status Canceled, as in gRPC.
func TestCancelledForACause(t *testing.T) {
	c, _ := client(t, &server{first: hang, rest: hang}, true)
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(2*delay, func() { cancel(errors.New("cause")) })
	_, err := c.Check(ctx, request)
	assert.Equal(t, codes.Canceled, status.Code(err))
}

// Each attempt encodes a copy of the request, so the caller may change his own when the call has returned.
func TestTheRequestMayBeUsedAgain(t *testing.T) {
	rule, err := hedgerules.New(hedgerules.Fixed(delay))
	require.NoError(t, err)
	unary := hedgegrpc.Unary(hedged.NewRoute(rule), func(context.Context, string, any) hedge.Request {
		return hedge.Request{Safe: true}
	})
	mine, reply := &grpc_health_v1.HealthCheckRequest{Service: "x"}, &grpc_health_v1.HealthCheckResponse{}
	late := make(chan string, 1)
	err = unary(t.Context(), "m", mine, reply, nil, func(
		ctx context.Context, _ string, req, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption,
	) error {
		if _, second := hedged.Second(ctx); !second {
			<-ctx.Done()
			time.Sleep(delay)
			late <- req.(*grpc_health_v1.HealthCheckRequest).Service
		}
		return nil
	})
	require.NoError(t, err)
	mine.Service = "y"
	assert.Equal(t, "x", <-late)
}

// A reply that is no protocol buffer is copied as a value. An unsafe call has one attempt, which writes into the reply
// of the caller.
func TestReplies(t *testing.T) {
	for _, safe := range []bool{true, false} {
		rule, err := hedgerules.New(hedgerules.Fixed(delay))
		require.NoError(t, err)
		unary := hedgegrpc.Unary(hedged.NewRoute(rule), func(context.Context, string, any) hedge.Request {
			return hedge.Request{Safe: safe}
		})
		mine := "old"
		require.NoError(t, unary(t.Context(), "m", nil, &mine, nil, func(
			_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption,
		) error {
			assert.Equal(t, safe, reply.(*string) != &mine)
			*reply.(*string) = "new"
			return nil
		}))
		assert.Equal(t, "new", mine)
	}
}

// A call with messages of dynamicpb, as a proxy makes them, gets the reply of the second call.
func TestDynamicMessages(t *testing.T) {
	rule, err := hedgerules.New(hedgerules.Fixed(delay))
	require.NoError(t, err)
	conn := dial(t, &server{first: hang, rest: now}, hedged.NewRoute(rule), func(context.Context, string, any) hedge.Request {
		return hedge.Request{Safe: true}
	})
	in := dynamicpb.NewMessage((&grpc_health_v1.HealthCheckRequest{}).ProtoReflect().Descriptor())
	out := dynamicpb.NewMessage((&grpc_health_v1.HealthCheckResponse{}).ProtoReflect().Descriptor())
	require.NoError(t, conn.Invoke(t.Context(), "/grpc.health.v1.Health/Check", in, out))
	assert.Equal(t, protoreflect.EnumNumber(2), out.Get(out.Descriptor().Fields().ByName("status")).Enum())
}

// A reply that cannot be copied is passed on as it is, and the call is sent once.
func TestRepliesThatCannotBeCopied(t *testing.T) {
	for _, reply := range []any{nil, (*grpc_health_v1.HealthCheckResponse)(nil), (*int)(nil), 7, map[string]int{}} {
		rule, err := hedgerules.New(hedgerules.Fixed(0))
		require.NoError(t, err)
		unary := hedgegrpc.Unary(hedged.NewRoute(rule), func(context.Context, string, any) hedge.Request {
			return hedge.Request{Safe: true}
		})
		calls := 0
		err = unary(t.Context(), "m", nil, reply, nil, func(
			_ context.Context, _ string, _, got any, _ *grpc.ClientConn, _ ...grpc.CallOption,
		) error {
			assert.Equal(t, reply, got)
			calls++
			return status.Error(codes.Internal, "no place for a reply")
		})
		assert.Equal(t, codes.Internal, status.Code(err))
		assert.Equal(t, 1, calls, "%T", reply)
	}
}

// wait is a rule that wants a second request for each request, also for an unsafe one.
type wait struct{ *hedgerules.Rule }

func (w wait) Start(now time.Time, q hedge.Request) (hedge.ID, hedge.Decision) {
	q.Safe = true
	return w.Rule.Start(now, q)
}

// The only attempt of an unsafe call has written the reply of the caller when the call returns, whatever the rule wants.
func TestRuleThatIgnoresUnsafe(t *testing.T) {
	rule, err := hedgerules.New(hedgerules.Fixed(0))
	require.NoError(t, err)
	unary := hedgegrpc.Unary(hedged.NewRoute(wait{rule}), func(context.Context, string, any) hedge.Request {
		return hedge.Request{}
	})
	ctx, cancel := context.WithTimeout(t.Context(), delay)
	defer cancel()
	reply := 0
	err = unary(ctx, "m", nil, &reply, nil, func(
		_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption,
	) error {
		time.Sleep(2 * delay) // it ends after the context of the caller
		*reply.(*int)++
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 1, reply)
}
