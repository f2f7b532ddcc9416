package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
)

// world is a store in memory, a coordinator and a worker in virtual time.
type world struct {
	*queuetest.Memory
	now     time.Time
	waiting error // the error of Waiting
	refuse  error // the error of Commit
	commits []queue.Commit
}

func newWorld() *world {
	w := &world{now: time.Unix(1000, 0)}
	w.Memory = queuetest.NewMemory(func() time.Time { return w.now })
	return w
}

func (w *world) Waiting(ctx context.Context, limit int) ([]queue.Job, error) {
	if w.waiting != nil {
		return nil, w.waiting
	}
	return w.Memory.Waiting(ctx, limit)
}

func (w *world) Commit(ctx context.Context, c queue.Commit) error {
	if w.refuse != nil {
		return w.refuse
	}
	w.commits = append(w.commits, c)
	return w.Memory.Commit(ctx, c)
}

// coordinator returns a coordinator of the world.
func (w *world) coordinator(t *testing.T, o queue.Options) *queue.Coordinator {
	o.Log = slog.New(slog.DiscardHandler)
	c, err := queue.NewCoordinator(w, o)
	require.NoError(t, err)
	require.NoError(t, w.turn(t, c, look)) // opens the store
	return c
}

// beat lets a worker report, and returns the attempts that it begins.
func (w *world) beat(t *testing.T, slots int, running ...string) (begin []queue.Order) {
	b := queue.Beat{Worker: "a", Slots: slots, Free: slots - len(running)}
	for _, name := range running {
		b.Running = append(b.Running, queue.Running{Name: name})
	}
	o, err := w.Beat(t.Context(), b)
	require.NoError(t, err)
	return o.Begin
}

// turn lets time pass, and the coordinator look.
func (w *world) turn(t *testing.T, c *queue.Coordinator, after time.Duration) error {
	w.now = w.now.Add(after)
	return c.Turn(t.Context(), w.now)
}

const look = 25 * time.Millisecond

// A result waits to be published while the store can't be read. Saving the state meanwhile does not delete it.
func TestAResultThatIsNotYetPublishedStays(t *testing.T) {
	w := newWorld()
	w.beat(t, 4)
	c := w.coordinator(t, queue.Options{})
	w.Insert("x", queue.Batch("k", []byte("1"), []byte("2"))...)
	require.NoError(t, w.turn(t, c, look))
	begun := w.beat(t, 4)
	require.Len(t, begun, 2)
	require.NoError(t, w.turn(t, c, look))
	w.beat(t, 4, begun[0].Name, begun[1].Name)
	require.NoError(t, w.End(t.Context(), queue.End{Name: begun[0].Name, State: engine.Succeeded, Output: []byte("one")}))
	w.waiting = errors.New("the database is away")
	require.Error(t, w.turn(t, c, look))
	w.waiting = nil
	w.Insert("y", queue.Batch("k", []byte("3"))...) // so that the state is saved at once
	require.NoError(t, w.turn(t, c, look))
	for range 100 {
		w.beat(t, 4, begun[1].Name)
		require.NoError(t, w.turn(t, c, look))
	}
	results, _ := w.Results("x")
	require.Equal(t, "one", string(results[0].Output), fmt.Sprint(results))
}

// A job with an amount of work that is no number does not keep the state from being saved.
func TestOddWorks(t *testing.T) {
	for _, work := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		w := newWorld()
		w.beat(t, 4)
		c := w.coordinator(t, queue.Options{})
		w.Insert("", queue.Job{Kind: "k", Work: work}, queue.Job{Kind: "k", Work: 1})
		require.NoError(t, w.turn(t, c, look))
		last := w.commits[len(w.commits)-1]
		require.Len(t, last.Take, 2)
		require.NotNil(t, last.State, "%v", work)
		w.now = w.now.Add(time.Minute)
		c = w.coordinator(t, queue.Options{}) // goes on
		begun := w.beat(t, 4)
		for range 100 {
			require.NoError(t, w.turn(t, c, look))
			begun = append(begun, w.beat(t, 4)...)
		}
		require.GreaterOrEqual(t, len(begun), 2)
	}
}

func TestOddNames(t *testing.T) {
	for _, name := range []string{"", "a/b", "\xff", "a\x00b"} {
		require.ErrorContains(t, queue.CheckBatch(name, nil), "want UTF-8 without / and NUL", "%q", name)
	}
	require.NoError(t, queue.CheckBatch("'; DROP TABLE straggler_job; --\n\"{}%$1?", queue.Batch("'$1 ?/", nil)))
	for want, j := range map[string]queue.Job{
		`queue: Job.Kind is "", want a kind: job 0 of batch x`:                                     {},
		`queue: Job.Kind is "\xff", want UTF-8 without NUL: job 0 of batch x`:                      {Kind: "\xff"},
		"queue: Job.Work is -1, want a positive number, or 0 if it is not known: job 0 of batch x": {Kind: "k", Work: -1},
	} {
		require.EqualError(t, queue.CheckBatch("x", []queue.Job{j}), want)
	}
	_, err := queue.NewAgent(nil, queue.Worker{Name: "a\x00"})
	require.EqualError(t, err, `queue: Worker.Name is "a\x00", want UTF-8 without NUL`)
}

// A kind without Copies gets no copies when the shadow mode ends, also in a batch that runs.
func TestShadowEnds(t *testing.T) {
	w := newWorld()
	w.beat(t, 4)
	c := w.coordinator(t, queue.Options{Shadow: true})
	w.Insert("x", queue.Batch("k", nil, nil, nil, nil)...)
	require.NoError(t, w.turn(t, c, look))
	begun := w.beat(t, 4)
	require.Len(t, begun, 4)
	w.now = w.now.Add(time.Second)
	for _, o := range begun[1:] {
		require.NoError(t, w.End(t.Context(), queue.End{Name: o.Name, State: engine.Succeeded}))
	}
	require.NoError(t, w.turn(t, c, look))
	require.NoError(t, c.Close(t.Context(), w.now))
	c = w.coordinator(t, queue.Options{})
	for range 400 {
		require.Empty(t, w.beat(t, 4, begun[0].Name), "a copy")
		require.NoError(t, w.turn(t, c, look))
	}
}

// A job whose worker is lost is tried again as often as one that fails, and at last says what happened.
func TestLostJobs(t *testing.T) {
	const tries = 15
	w := newWorld()
	w.beat(t, 1)
	c := w.coordinator(t, queue.Options{Kinds: map[string]queue.Kind{"": {Tries: tries}}})
	w.Insert("x", queue.Batch("k", nil)...)
	for range tries {
		results, ended := w.Results("x")
		require.False(t, ended, "%v", results)
		var running []string
		for range 20 {
			require.NoError(t, w.turn(t, c, look))
			if o := w.beat(t, 1, running...); len(o) > 0 {
				running = []string{o[0].Name}
			}
		}
		_, err := w.Beat(t.Context(), queue.Beat{Worker: "a", Slots: 1, Leaving: true})
		require.NoError(t, err)
		require.NoError(t, w.turn(t, c, look))
		_, err = w.Beat(t.Context(), queue.Beat{Worker: "a", Slots: 1})
		require.NoError(t, err)
	}
	require.NoError(t, w.turn(t, c, look))
	results, ended := w.Results("x")
	require.True(t, ended)
	require.EqualError(t, results[0].Err, "queue: the attempt was lost with its worker a")
}

// A job with one try whose attempt passes the timeout has failed for good, and says so. The timeout may be shorter than
// the interval between decisions.
func TestTimeoutOfTheOnlyTry(t *testing.T) {
	w := newWorld()
	w.beat(t, 1)
	c := w.coordinator(t, queue.Options{Kinds: map[string]queue.Kind{"": {Tries: 1, Timeout: time.Millisecond}}})
	w.Insert("x", queue.Batch("k", nil)...)
	require.NoError(t, w.turn(t, c, look))
	running := w.beat(t, 1)
	require.NoError(t, w.turn(t, c, look))
	w.beat(t, 1, running[0].Name)
	require.NoError(t, w.turn(t, c, look))
	results, ended := w.Results("x")
	require.True(t, ended)
	require.EqualError(t, results[0].Err, "queue: the attempt has passed its timeout")
}

// The run times of the last jobs of a kind are stored although other kinds of jobs end later, and although the
// coordinator dies before it has stored them.
func TestRunTimesOfAStreamAreStored(t *testing.T) {
	for _, dies := range []bool{false, true} {
		w := newWorld()
		w.beat(t, 1)
		c := w.coordinator(t, queue.Options{})
		for _, kind := range []string{"first", "last", "other"} {
			w.Insert("", queue.Job{Kind: kind})
			require.NoError(t, w.turn(t, c, look))
			begun := w.beat(t, 1)
			require.Len(t, begun, 1)
			require.NoError(t, w.turn(t, c, time.Second))
			require.NoError(t, w.End(t.Context(), queue.End{Name: begun[0].Name, State: engine.Succeeded}))
			require.NoError(t, w.turn(t, c, look))
		}
		value, _, err := w.Get(t.Context(), "kind:last")
		require.NoError(t, err)
		require.Nil(t, value, "not yet")
		w.now = w.now.Add(10 * time.Second)
		if dies {
			c = w.coordinator(t, queue.Options{})
		}
		require.NoError(t, w.turn(t, c, look))
		for _, kind := range []string{"first", "last", "other"} {
			value, _, err = w.Get(t.Context(), "kind:"+kind)
			require.NoError(t, err)
			require.NotNil(t, value, kind)
		}
	}
}

// All single jobs fail during an outage, and coordinators die. The jobs rest in the store, so the state stays small. Each
// job is tried again later, and its attempts go on counting.
func TestAnOutageOfAStream(t *testing.T) {
	const n = 300
	w := newWorld()
	w.beat(t, 4)
	o := queue.Options{Kinds: map[string]queue.Kind{"": {BackOff: func(_ queue.Job, failures int) time.Duration {
		return time.Duration(failures) * time.Hour
	}}}}
	c := w.coordinator(t, o)
	for range n {
		w.Insert("", queue.Job{Kind: "k", Input: []byte("x")})
	}
	play := func(turns, number int, end queue.End) (begun int) {
		for i := range turns {
			if i%50 == 20 {
				w.now = w.now.Add(4 * time.Second)
				c = w.coordinator(t, o) // the other one has died
			}
			for _, order := range w.beat(t, 4) {
				begun++
				require.Equal(t, number, order.Number)
				end.Name = order.Name
				require.NoError(t, w.End(t.Context(), end))
			}
			require.NoError(t, w.turn(t, c, look))
		}
		return begun
	}
	largest := 0
	for failures := range 3 {
		require.Equal(t, n, play(200, failures, queue.End{State: engine.Failed, Error: "outage"}))
		require.Zero(t, play(30, failures, queue.End{State: engine.Failed}), "all rest")
		w.now = w.now.Add(time.Duration(failures+1) * time.Hour)
	}
	for _, c := range w.commits {
		largest = max(largest, len(c.State))
	}
	require.Less(t, largest, 40_000)
	require.Equal(t, n, play(200, 3, queue.End{State: engine.Succeeded}))
	results, ended := w.Results("")
	require.True(t, ended)
	for _, r := range results {
		require.NoError(t, r.Err)
	}
}

// The last commit of a coordinator fails, and then the coordinator stops. The next coordinator goes on: a job that was
// just taken begins once, a job that has failed for good says so, and a job that rests is tried again.
func TestStoppedAfterAFailedCommit(t *testing.T) {
	refused := errors.New("the database is away")
	for _, tries := range []int{1, 2} {
		w := newWorld()
		w.beat(t, 4)
		o := queue.Options{Kinds: map[string]queue.Kind{"": {Tries: tries}}}
		c := w.coordinator(t, o)
		w.Insert("", queue.Job{Kind: "k"})
		w.refuse = refused
		require.ErrorIs(t, w.turn(t, c, look), refused)
		w.refuse = nil
		require.NoError(t, c.Close(t.Context(), w.now))
		c = w.coordinator(t, o)
		require.NoError(t, w.turn(t, c, look))
		for range tries {
			var begun []queue.Order
			for range 200 {
				begun = append(begun, w.beat(t, 4)...)
				if require.NoError(t, w.turn(t, c, look)); len(begun) > 0 {
					break
				}
			}
			require.Len(t, begun, 1)
			require.NoError(t, w.End(t.Context(), queue.End{Name: begun[0].Name, State: engine.Failed, Error: "bad"}))
			w.refuse = refused
			require.ErrorIs(t, w.turn(t, c, look), refused)
			w.refuse = nil
			require.NoError(t, c.Close(t.Context(), w.now))
			c = w.coordinator(t, o)
		}
		require.NoError(t, w.turn(t, c, look))
		results, ended := w.Results("")
		require.True(t, ended)
		require.EqualError(t, results[0].Err, "bad")
	}
}

func TestOddOptions(t *testing.T) {
	_, err := queue.NewCoordinator(nil, queue.Options{Prefetch: math.MaxInt})
	require.EqualError(t, err, fmt.Sprintf("queue: Options.Prefetch is %d, want at most 1000000", math.MaxInt))
	_, err = queue.NewCoordinator(nil, queue.Options{Kinds: map[string]queue.Kind{"k": {Patience: .5}}})
	require.EqualError(t, err, `queue: Options.Kinds["k"]: restart/engine: Config.Patience is 0.5, want 1 to 1e+06, or 0 for the default`)
	_, err = queue.NewAgent(nil, queue.Worker{Name: "a", Slots: math.MaxInt})
	require.EqualError(t, err, fmt.Sprintf("queue: Worker.Slots is %d, want 1 to 1000000, or 0 for 1", math.MaxInt))
}

// A back-off of any length, a clock that steps, and a kind without a handler keep no other job from its result.
func TestOddBackOffsAndClocks(t *testing.T) {
	for _, pause := range []time.Duration{math.MinInt64, -1, 0, math.MaxInt64} {
		w := newWorld()
		w.beat(t, 2)
		c := w.coordinator(t, queue.Options{Kinds: map[string]queue.Kind{"": {
			Tries: 3, BackOff: func(queue.Job, int) time.Duration { return pause },
		}}})
		w.Insert("x", queue.Batch("k", []byte("fails"), []byte("succeeds"))...)
		step := time.Duration(0)
		for i := range 300 {
			require.NoError(t, c.Turn(t.Context(), w.now.Add(step)))
			w.now = w.now.Add(look)
			step = []time.Duration{0, -1000 * time.Hour, 1000 * time.Hour}[i/30%3]
			if i == 100 { // another process goes on
				require.NoError(t, c.Close(t.Context(), w.now))
				c = w.coordinator(t, queue.Options{Kinds: map[string]queue.Kind{"": {
					Tries: 3, BackOff: func(queue.Job, int) time.Duration { return pause },
				}}})
			}
			for _, o := range w.beat(t, 2) {
				e := queue.End{Name: o.Name, State: engine.Succeeded}
				if string(o.Job.Input) == "fails" {
					e = queue.End{Name: o.Name, State: engine.Failed, Error: "as expected"}
				}
				require.NoError(t, w.End(t.Context(), e))
			}
		}
		results, ended := w.Results("x")
		require.NotEmpty(t, results[1].Attempt)
		require.Equal(t, pause != math.MaxInt64, ended)
	}
}

// blocked is a handler of a log that blocks on the line with a bill.
type blocked struct {
	slog.Handler
	bill chan string
}

func (b blocked) Enabled(context.Context, slog.Level) bool { return true }

func (b blocked) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "queue: shadow: so far the policy ") {
		b.bill <- r.Message
	}
	return nil
}

// The coordinator goes on while a bill is computed.
func TestTheBillHoldsNobodyUp(t *testing.T) {
	w := newWorld()
	w.beat(t, 4)
	log := blocked{slog.DiscardHandler, make(chan string)}
	c, err := queue.NewCoordinator(w, queue.Options{Shadow: true, Log: slog.New(log)})
	require.NoError(t, err)
	require.NoError(t, w.turn(t, c, look))
	w.Insert("x", queue.Batch("k", make([][]byte, 8)...)...)
	require.NoError(t, w.turn(t, c, look))
	for _, o := range w.beat(t, 4) {
		w.now = w.now.Add(time.Second)
		require.NoError(t, w.End(t.Context(), queue.End{Name: o.Name, State: engine.Succeeded}))
	}
	for range 5 {
		require.NoError(t, w.turn(t, c, time.Minute))
	}
	require.Contains(t, <-log.bill, "saves 0 %: 4.05s in place of 4.05s")
}
