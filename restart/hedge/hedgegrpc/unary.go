package hedgegrpc

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
)

const (
	pushBack = "grpc-retry-pushback-ms" // the trailer by which a server asks for a pause, in milliseconds
	noRetry  = time.Second              // the pause if the server asks not to send the call again
)

// Facts returns the facts about a call: its class, its size, and whether it may be sent twice.
type Facts func(ctx context.Context, method string, request any) hedge.Request

// Unary returns an interceptor that may send a unary call twice. The function request must not be nil. Each attempt of
// a safe call has a reply of its own, and the answer is copied into the reply of the caller. A call is sent once, as an
// unsafe call, if its reply is neither a protocol buffer nor a pointer, or is nil.
//
// A safe call sends a copy of its request if that is a protocol buffer, so that the caller may change the request once
// the call has returned. A request of another type, which needs a codec of its own, is not copied: the caller must not
// change it, since the attempt that lost may still encode it.
func Unary(r *hedged.Route, request Facts) grpc.UnaryClientInterceptor {
	return func(
		ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		facts := request(ctx, method, req)
		facts.Safe = facts.Safe && canCopy(reply)
		another := func() any { return reply }
		if facts.Safe {
			another = maker(reply)
		}
		if message, ok := req.(proto.Message); ok && facts.Safe {
			// The loser may still encode its request when the caller changes the message for another use.
			req = proto.Clone(message)
		}
		call := hedged.Call[*attempt]{
			Request: facts,
			Run: func(ctx context.Context) (*attempt, error) {
				a := newAttempt(another(), facts.Safe, opts)
				err := invoke(ctx, method, req, a.reply, conn, a.opts...)
				if list := a.trailer.Get(pushBack); len(list) > 0 {
					r.PushBack(pause(list[0]))
				}
				a.err = err
				return a, nil // also after an error, so that the caller gets its trailer
			},
			Failed: func(a *attempt) bool { return !answer(status.Code(a.err)) },
		}
		a, end, err := call.Race(withServers(ctx), r)
		end()
		if err != nil { // the context of the caller has ended
			return status.FromContextError(ctx.Err()).Err()
		}
		a.tell(reply)
		return a.err
	}
}

// canCopy reports whether an attempt can have a reply of its own.
func canCopy(reply any) bool {
	if message, ok := reply.(proto.Message); ok {
		return message.ProtoReflect().IsValid()
	}
	to := reflect.ValueOf(reply)
	return to.Kind() == reflect.Pointer && !to.IsNil()
}

// maker returns a function that makes an empty reply of the same type. The function does not read the reply, which
// belongs to the caller when a late attempt begins. The type of a protocol buffer is that of its descriptor: messages
// of dynamicpb share one Go type, and a value of that type without a descriptor is not valid.
func maker(reply any) func() any {
	if message, ok := reply.(proto.Message); ok {
		kind := message.ProtoReflect().Type()
		return func() any { return kind.New().Interface() }
	}
	kind := reflect.TypeOf(reply).Elem()
	return func() any { return reflect.New(kind).Interface() }
}

// answer reports whether a status is the answer of the service: OK, or an error that another server would give, too.
func answer(c codes.Code) bool {
	switch c {
	case codes.OK, codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied,
		codes.FailedPrecondition, codes.OutOfRange, codes.Unimplemented, codes.Unauthenticated:
		return true
	}
	return false
}

// pause returns the time for which a server asks for no second request.
func pause(text string) time.Duration {
	if ms, err := strconv.ParseInt(text, 10, 32); err == nil && ms >= 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return noRetry
}

// attempt is an attempt of a call, with variables of its own for all that it writes.
type attempt struct {
	reply any
	// True if the reply is not the reply of the caller.
	copies  bool
	err     error
	header  metadata.MD
	trailer metadata.MD
	peer    peer.Peer
	opts    []grpc.CallOption
	// The options of the caller.
	given []grpc.CallOption
}

// newAttempt returns an attempt that writes into the given reply, for a call with the given options.
func newAttempt(reply any, copies bool, opts []grpc.CallOption) *attempt {
	a := &attempt{reply: reply, copies: copies, given: opts}
	a.opts = slices.DeleteFunc(slices.Clone(opts), func(o grpc.CallOption) bool {
		switch o.(type) {
		case grpc.HeaderCallOption, grpc.TrailerCallOption, grpc.PeerCallOption:
			return true
		}
		return false
	})
	a.opts = append(a.opts, grpc.Header(&a.header), grpc.Trailer(&a.trailer), grpc.Peer(&a.peer))
	return a
}

// tell gives the caller the reply, the header, the trailer and the peer of the attempt.
func (a *attempt) tell(reply any) {
	switch to, ok := reply.(proto.Message); {
	case !a.copies: // an unsafe call has written it
	case ok:
		proto.Reset(to)
		proto.Merge(to, a.reply.(proto.Message))
	default:
		reflect.ValueOf(reply).Elem().Set(reflect.ValueOf(a.reply).Elem())
	}
	for _, o := range a.given {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = a.header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = a.trailer
		case grpc.PeerCallOption:
			*o.PeerAddr = a.peer
		}
	}
}
