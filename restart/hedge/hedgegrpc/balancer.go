package hedgegrpc

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/roundrobin"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
)

// Balancer is the name of a balancer for a service config: gRPC's round_robin, except that the second attempt of a call
// of [Unary] goes to another server than the first attempt, if there is another one.
const Balancer = "hedge_round_robin"

// The picks of round_robin for a second attempt until one is accepted. Other calls pick at the same time, so a pick may
// meet the same server again. With two servers, one of 2^16 attempts does.
const mostPicks = 16

func init() { balancer.Register(builder{}) } // as the balancers of gRPC do

// servers is the key of the servers of the first and the second attempt in a context.
type servers struct{}

// withServers returns a context in which the balancer notes the servers of both attempts.
func withServers(ctx context.Context) context.Context {
	return context.WithValue(ctx, servers{}, new([2]atomic.Pointer[balancer.SubConn]))
}

// builder builds balancers.
type builder struct{}

func (builder) Name() string { return Balancer }

func (builder) Build(c balancer.ClientConn, o balancer.BuildOptions) balancer.Balancer {
	return balancer.Get(roundrobin.Name).Build(conn{c}, o)
}

// conn is a connection whose picker avoids servers.
type conn struct{ balancer.ClientConn }

// UpdateState passes on the picker of round_robin.
func (c conn) UpdateState(s balancer.State) {
	s.Picker = picker{s.Picker}
	c.ClientConn.UpdateState(s)
}

// picker picks the server of an attempt.
type picker struct{ balancer.Picker }

// Pick notes the server of an attempt. It avoids the server of the other attempt: usually of the first, and of the
// second if that was picked sooner.
func (p picker) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	got, err := p.Picker.Pick(info)
	noted, ok := info.Ctx.Value(servers{}).(*[2]atomic.Pointer[balancer.SubConn])
	if !ok {
		return got, err
	}
	attempt := hedge.First
	if _, second := hedged.Second(info.Ctx); second {
		attempt = hedge.Second
	}
	avoid := noted[1-attempt].Load()
	for range mostPicks - 1 {
		if err != nil || avoid == nil || got.SubConn != *avoid {
			break
		}
		if got.Done != nil {
			got.Done(balancer.DoneInfo{})
		}
		got, err = p.Picker.Pick(info)
	}
	if err == nil {
		noted[attempt].Store(&got.SubConn)
	}
	return got, err
}
