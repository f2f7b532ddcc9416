package main

import (
	"context"
	"net"

	"github.com/failsafe-go/failsafe-go/failsafegrpc"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	"google.golang.org/grpc"
	"google.golang.org/grpc/balancer/roundrobin"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgegrpc"
)

// health is a gRPC server.
type health struct {
	grpc_health_v1.UnimplementedHealthServer
	w      *work
	server int
}

func (h *health) Check(
	ctx context.Context, _ *grpc_health_v1.HealthCheckRequest,
) (*grpc_health_v1.HealthCheckResponse, error) {
	h.w.serve(ctx, h.server)
	return &grpc_health_v1.HealthCheckResponse{}, nil
}

// startGRPC starts four gRPC servers. The balancer round_robin of gRPC chooses among them, or the one of hedgegrpc.
func startGRPC(w *work) (asks []library, stop func(), err error) {
	var closers []func()
	stop = func() {
		for _, c := range closers {
			c()
		}
	}
	var state resolver.State
	for i := range servers {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, err
		}
		s := grpc.NewServer()
		grpc_health_v1.RegisterHealthServer(s, &health{w: w, server: i})
		go s.Serve(listener)
		closers = append(closers, s.Stop)
		state.Addresses = append(state.Addresses, resolver.Address{Addr: listener.Addr().String()})
	}
	rule, err := hedge.New(config)
	if err != nil {
		stop()
		return nil, nil, err
	}
	blind, err := hedge.New(config)
	if err != nil {
		stop()
		return nil, nil, err
	}
	safe := func(context.Context, string, any) hedge.Request { return hedge.Request{Safe: true} }
	fixed := hedgepolicy.NewWithDelay[any](fixedDelay)
	moving := hedgepolicy.NewWithDelayQuantile[any](quantile, 1000, 100)
	for _, of := range []struct {
		name, balancer string
		unary          grpc.UnaryClientInterceptor
	}{
		{"none", roundrobin.Name, nil},
		{"Hedger", hedgegrpc.Balancer, hedgegrpc.Unary(hedged.NewRoute(rule), safe)},
		{"Hedger, round_robin", roundrobin.Name, hedgegrpc.Unary(hedged.NewRoute(blind), safe)},
		{"failsafe-go, quantile 0.75", roundrobin.Name, failsafegrpc.NewUnaryClientInterceptor(moving)},
		{"failsafe-go, 8 ms", roundrobin.Name, failsafegrpc.NewUnaryClientInterceptor(fixed)},
	} {
		builder := manual.NewBuilderWithScheme("bench")
		builder.InitialState(state)
		conn, err := grpc.NewClient("bench:///servers", grpc.WithResolvers(builder), grpc.WithUnaryInterceptor(of.unary),
			grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"`+of.balancer+`": {}}]}`),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			stop()
			return nil, nil, err
		}
		closers = append(closers, func() { conn.Close() })
		client := grpc_health_v1.NewHealthClient(conn)
		asks = append(asks, library{of.name, func(ctx context.Context) error {
			_, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
			return err
		}})
	}
	return asks, stop, nil
}
