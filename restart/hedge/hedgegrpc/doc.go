// Package hedgegrpc sends a unary gRPC call a second time if that is worth it. A rule of package hedge decides.
//
//	rule, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.05})
//	conn, err := grpc.NewClient(target, grpc.WithChainUnaryInterceptor(
//		hedgegrpc.Unary(hedged.NewRoute(rule), func(ctx context.Context, method string, request any) hedge.Request {
//			return hedge.Request{Safe: strings.HasPrefix(method, "/users.Users/Get")}
//		})))
//
// # Which calls are sent twice
//
// Only unary calls are sent twice, and only if the function says that the call is safe. Streams are left alone: an
// answer of a stream begins before it is complete, and a client that has read a part of one cannot go on with another.
// A request that is no protocol buffer must not be changed after the call, as [Unary] says.
//
// # Where the second call goes
//
// The balancer of the connection chooses the server of each attempt. With [Balancer] the second attempt goes to another
// server than the first one:
//
//	grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"hedge_round_robin": {}}]}`)
//
// Other balancers, such as round_robin, may choose the same server again.
//
// # Headers, trailers and failures
//
// The options grpc.Header, grpc.Trailer and grpc.Peer get the values of the attempt that is returned. grpc.OnFinish is
// called for each attempt. An error that another server would give as well, such as NotFound, is an answer. Any other
// error, such as Unavailable, is none: if the other attempt runs, its answer is awaited.
//
// A trailer grpc-retry-pushback-ms stops all second requests of the route for that long. If the server asks not to
// send again at all, by a negative number, it is a second [gRPC proposal A6].
package hedgegrpc
