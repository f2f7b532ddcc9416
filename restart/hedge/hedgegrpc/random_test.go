package hedgegrpc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgegrpc"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// behaviours are the ways in which a call ends in TestRandomExecutions.
var behaviours = []string{"ok", "error", "panic", "cancel", "timeout", "nil reply"}

// scene is one call: how its attempts behave, and how they have ended.
type scene struct {
	number        int
	behaviour     string
	first, second bool // the first and the second attempt of a call behave so
	stubborn      bool // a retry behaves so, too
	inside        bool // retries are inside of the interceptor
	cancel        context.CancelFunc
	lock          sync.Mutex
	tries         int
	answered      map[int]bool // the tries that were answered
}

// most is how often a call is tried.
const most = 3

// invoke is what the interceptor surrounds: a call, with retries if they are inside.
func (s *scene) invoke(
	ctx context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption,
) (err error) {
	for range most {
		if err = s.once(ctx, reply); !s.inside || status.Code(err) != codes.Unavailable {
			break
		}
	}
	return err
}

// once is one try of a call.
func (s *scene) once(ctx context.Context, reply any) error {
	s.lock.Lock()
	s.tries++
	try, behaves := s.tries, s.first
	if _, second := hedged.Second(ctx); second {
		behaves = s.second
	}
	behaves = behaves && (s.stubborn || try <= 2)
	s.lock.Unlock()
	short := time.Duration(rand.IntN(400)) * time.Microsecond
	if rand.IntN(4) == 0 { // it is deaf
		time.Sleep(short)
	} else {
		select {
		case <-time.After(short):
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
	if behaves {
		switch s.behaviour {
		case "error":
			return status.Error(codes.Unavailable, "broken")
		case "panic":
			panic(s.number)
		case "cancel":
			s.cancel()
		case "timeout":
			<-ctx.Done()
			return status.FromContextError(ctx.Err()).Err()
		case "nil reply":
			s.note(0)
			return nil
		}
	}
	s.note(try)
	if message, ok := reply.(proto.Message); ok {
		m := message.ProtoReflect()
		m.Set(m.Descriptor().Fields().ByName("status"), protoreflect.ValueOfEnum(protoreflect.EnumNumber(try)))
	}
	return nil
}

func (s *scene) note(try int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.answered[try] = true
}

// Random calls panic only if an attempt has panicked, leave no goroutine and return the answer of an attempt of
// their own, whoever behaves badly, and whether retries are inside or outside. STRAGGLER_EXECUTIONS sets their number.
func TestRandomExecutions(t *testing.T) {
	n := 5000
	if text := os.Getenv("STRAGGLER_EXECUTIONS"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	rule, err := hedgerules.New(hedgerules.Fixed(150 * time.Microsecond))
	require.NoError(t, err)
	unary := hedgegrpc.Unary(hedged.NewRoute(rule), func(context.Context, string, any) hedge.Request {
		return hedge.Request{Safe: true}
	})
	kinds, count, lock := map[string]int{}, map[string]int{}, sync.Mutex{}
	var all sync.WaitGroup
	free := make(chan struct{}, 64)
	for i := range n {
		s := &scene{number: i, behaviour: behaviours[i%6], first: i/6%3 != 1, second: i/6%3 != 0, inside: i/18%2 == 0,
			stubborn: rand.IntN(2) == 0, answered: map[int]bool{}}
		kinds[fmt.Sprint(s.behaviour, s.first, s.second, s.inside)]++
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			end := s.check(t, unary)
			lock.Lock()
			defer lock.Unlock()
			count[end]++
		})
	}
	all.Wait()
	require.Len(t, kinds, 36)
	for kind, count := range kinds {
		assert.GreaterOrEqual(t, count, n/36, kind)
	}
	t.Log(count)
	for _, end := range []string{"answer", "panic", "OK", "Unavailable", "Canceled", "DeadlineExceeded"} {
		assert.Positive(t, count[end], end)
	}
}

// check makes a call, with retries if they are outside, and returns how it has ended.
func (s *scene) check(t *testing.T, unary grpc.UnaryClientInterceptor) (end string) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		end = "panic"
		err, ok := value.(*hedged.PanicError)
		if assert.True(t, ok, "%v", value) {
			assert.Equal(t, "panic", s.behaviour)
			assert.Equal(t, s.number, err.Value)
		}
	}()
	limit := time.Minute // on a busy machine a call may take seconds
	if s.behaviour == "timeout" {
		limit = 2 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	s.cancel = cancel
	for try := 1; ; try++ {
		var reply proto.Message = &grpc_health_v1.HealthCheckResponse{}
		if s.number%2 == 0 {
			reply = dynamicpb.NewMessage(reply.ProtoReflect().Descriptor())
		}
		err := unary(ctx, "m", request, reply, nil, s.invoke)
		code := status.Code(err)
		if code == codes.Unavailable && try < most && !s.inside {
			continue
		}
		s.lock.Lock()
		defer s.lock.Unlock()
		m := reply.ProtoReflect()
		got := int(m.Get(m.Descriptor().Fields().ByName("status")).Enum())
		switch {
		case err == nil:
			assert.True(t, s.answered[got], "%v: the reply of try %d", s.behaviour, got)
			if got > 0 {
				return "answer"
			}
			assert.Equal(t, "nil reply", s.behaviour)
		case code == codes.Unavailable:
			assert.Equal(t, "error", s.behaviour)
		case code == codes.Canceled:
			assert.Equal(t, "cancel", s.behaviour)
		case code == codes.DeadlineExceeded:
			assert.Equal(t, "timeout", s.behaviour)
		default:
			assert.Fail(t, "unexpected", "%v: %v", s.behaviour, err)
		}
		return code.String()
	}
}
