package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
)

// player plays a worker with four slots in virtual time.
type player struct {
	*world
	c       *queue.Coordinator
	takes   func(job string) (time.Duration, engine.State) // how long an attempt runs, and how it ends
	stops   time.Duration                                  // how long an attempt goes on after it was cancelled
	running map[string]*played
	ran     map[string][]time.Duration // by job: how long its attempts ran
}

type played struct {
	job            string
	begun, cancels time.Time
}

func play(t *testing.T, o queue.Options) *player {
	w := newWorld()
	w.beat(t, 4)
	return &player{world: w, c: w.coordinator(t, o), running: map[string]*played{}, ran: map[string][]time.Duration{}}
}

// until plays until the given time has passed.
func (p *player) until(t *testing.T, passed time.Duration) {
	const step = 50 * time.Millisecond
	for range passed / step {
		require.NoError(t, p.turn(t, p.c, step))
		b := queue.Beat{Worker: "a", Slots: 4}
		for name, r := range p.running {
			takes, state := p.takes(r.job)
			switch ran := p.now.Sub(r.begun); {
			case ran >= takes:
				require.NoError(t, p.End(t.Context(), queue.End{Name: name, State: state, Error: "bad"}))
			case !r.cancels.IsZero() && p.now.Sub(r.cancels) >= p.stops:
				require.NoError(t, p.End(t.Context(), queue.End{Name: name, State: engine.Cancelled}))
			default:
				b.Running = append(b.Running, queue.Running{Name: name})
				continue
			}
			p.ran[r.job] = append(p.ran[r.job], p.now.Sub(r.begun).Round(time.Second))
			delete(p.running, name)
		}
		b.Free = 4 - len(b.Running)
		orders, err := p.Beat(t.Context(), b)
		require.NoError(t, err)
		for _, o := range orders.Begin {
			p.running[o.Name] = &played{job: o.Job.ID, begun: p.now}
		}
		for _, name := range orders.Cancel {
			if r := p.running[name]; r != nil && r.cancels.IsZero() {
				r.cancels = p.now
			}
		}
	}
}

// A job that is ten times as long as the others of its kind ends, alone as well as in a batch: each failure doubles the
// timeout that was learned.
func TestPatience(t *testing.T) {
	for _, batch := range []string{"", "x"} {
		p := play(t, queue.Options{Kinds: map[string]queue.Kind{"": {Patience: 4, BackOff: second}}})
		p.takes = func(string) (time.Duration, engine.State) { return 10 * time.Second, engine.Succeeded }
		for range 40 {
			p.Insert("", queue.Job{Kind: "k"})
		}
		p.until(t, 2*time.Minute)
		id := p.Insert(batch, queue.Job{Kind: "k"})[0]
		p.takes = func(string) (time.Duration, engine.State) { return 100 * time.Second, engine.Succeeded }
		p.until(t, 5*time.Minute)
		require.Equal(t, []time.Duration{40 * time.Second, 80 * time.Second, 100 * time.Second}, p.ran[id])
		results, ended := p.Results(batch)
		require.True(t, ended)
		require.NoError(t, results[len(results)-1].Err)
	}
}

func second(queue.Job, int) time.Duration { return time.Second }

// A single job is tried as often as Kind.Tries says: if only some failures have a back-off, and if an attempt ends long
// after its timeout.
func TestTriesOfASingleJob(t *testing.T) {
	for _, k := range []queue.Kind{
		{BackOff: second},
		{BackOff: func(_ queue.Job, failures int) time.Duration { return time.Duration(failures%2) * time.Second }},
		{BackOff: second, Timeout: 5 * time.Second},
	} {
		k.Tries = 3
		p := play(t, queue.Options{Kinds: map[string]queue.Kind{"": k}})
		p.takes = func(string) (time.Duration, engine.State) { return 20 * time.Second, engine.Failed }
		p.stops = 3 * time.Second
		id := p.Insert("", queue.Job{Kind: "k"})[0]
		p.until(t, 2*time.Minute)
		results, ended := p.Results("")
		require.True(t, ended)
		require.Error(t, results[0].Err)
		require.Len(t, p.ran[id], 3)
	}
}

// A coordinator can't read the state, can't commit, and stops. The next coordinator lets all jobs begin anew all the same.
func TestStoppedBeforeTheReset(t *testing.T) {
	w := newWorld()
	w.beat(t, 4)
	c := w.coordinator(t, queue.Options{})
	w.Insert("", queue.Job{Kind: "k"})
	require.NoError(t, w.turn(t, c, look))
	w.now = w.now.Add(time.Minute)
	epoch, _, err := w.Open(t.Context(), "another version", 0)
	require.NoError(t, err)
	require.NoError(t, w.Commit(t.Context(), queue.Commit{Epoch: epoch, State: []byte("in another form")}))
	w.refuse = errors.New("the database is away")
	c, err = queue.NewCoordinator(w, queue.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.Error(t, w.turn(t, c, look))
	w.refuse = nil
	require.NoError(t, c.Close(t.Context(), w.now))
	old := w.beat(t, 4)
	require.Len(t, old, 1)
	c = w.coordinator(t, queue.Options{})
	require.NoError(t, w.turn(t, c, look))
	require.Len(t, w.beat(t, 4, old[0].Name), 1, "the job has an attempt of the new coordinator")
}

// idle is a store that has a batch, and then shows nothing.
type idle struct {
	*queuetest.Memory
	batch []queue.Job
}

func (s *idle) Waiting(context.Context, int) ([]queue.Job, error) { return s.batch, nil }
func (s *idle) List(context.Context) ([]queue.Attempt, error)     { return nil, nil }
func (s *idle) Commit(context.Context, queue.Commit) error        { return nil }

// A look at a batch in which nothing happens.
func BenchmarkLook(b *testing.B) {
	w := newWorld()
	s := &idle{Memory: w.Memory, batch: make([]queue.Job, 100_000)}
	for i := range s.batch {
		s.batch[i] = queue.Job{ID: string(rune(i)), Kind: "k", Batch: "x"}
	}
	_, _ = s.Beat(b.Context(), queue.Beat{Worker: "a", Slots: 4, Free: 4})
	c, err := queue.NewCoordinator(s, queue.Options{Silence: time.Hour})
	require.NoError(b, err)
	for range 2 {
		require.NoError(b, c.Turn(b.Context(), w.now))
		s.batch = nil
	}
	for b.Loop() {
		w.now = w.now.Add(time.Microsecond)
		if err := c.Turn(b.Context(), w.now); err != nil {
			b.Fatal(err)
		}
	}
}
