package riverplugin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// end is how a handler ends.
type end string

const (
	ok         end = "ok"
	fails      end = "error"
	panics     end = "panic"
	cancels    end = "cancel"
	snoozes    end = "snooze"
	completes  end = "complete-tx" // by CompleteTx, and then returns nil
	disregards end = "old-tx"      // calls River's JobCompleteTx, which must fail
)

var ends = []end{ok, fails, panics, cancels, snoozes, completes}

// state returns the state of a job whose original has ended it in this way. It is what plain River makes of it: see
// TestPlainRiver.
func (e end) state() string {
	switch e {
	case ok, completes:
		return "completed"
	case cancels:
		return "cancelled"
	case snoozes:
		return "scheduled"
	}
	return "discarded" // the jobs of this test have a single attempt
}

// stage lets a test decide when each attempt ends, and how.
type stage struct {
	t       *testing.T
	pool    *pgxpool.Pool
	mu      sync.Mutex
	release map[string]chan end // by the name of an attempt
	seen    map[string]chan error
}

func newStage(t *testing.T) *stage {
	return &stage{t: t, pool: database(t), release: map[string]chan end{}, seen: map[string]chan error{}}
}

// at returns the channels of an attempt: one that tells it how to end, and one that gets the cause of its context once it
// has begun to end.
func (s *stage) at(name string) (chan end, chan error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.release[name] == nil {
		s.release[name], s.seen[name] = make(chan end, 1), make(chan error, 2)
	}
	return s.release[name], s.seen[name]
}

// handle works an attempt as the test says. The attempt ignores the end of its context.
func (s *stage) handle(ctx context.Context, _ string, job *river.Job[work]) error {
	role := fmt.Sprint("try", job.Attempt)
	if strings.Contains(string(job.Metadata), "straggler") {
		role = "copy"
	}
	release, seen := s.at(job.Args.Name + " " + role)
	seen <- nil
	how := <-release
	if err := river.RecordOutput(ctx, role); err != nil {
		return err
	}
	switch how {
	case fails:
		return errors.New("failed")
	case panics:
		panic("panicked")
	case cancels:
		return river.JobCancel(errors.New("cancelled"))
	case snoozes:
		return river.JobSnooze(time.Hour)
	case completes, disregards:
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
			if _, err = tx.Exec(ctx, "INSERT INTO effect VALUES ($1, $2)", job.Args.Name, role); err != nil {
				return err
			}
			if how == disregards {
				_, err = river.JobCompleteTx[*driver](ctx, tx, job)
			} else {
				_, err = riverplugin.CompleteTx(ctx, tx, job)
			}
			return err
		})
	}
	return nil
}

// begun waits until an attempt runs.
func (s *stage) begun(name string) {
	_, seen := s.at(name)
	select {
	case <-seen:
	case <-time.After(30 * time.Second):
		s.t.Error("does not begin: ", name)
	}
}

func (s *stage) end(name string, how end) {
	release, _ := s.at(name)
	release <- how
}

// row is what a test looks at in a row of River.
type jobRow struct {
	State, Output string
	Attempt       int
	Errors        int
}

func (s *stage) row(id int64) (r jobRow) {
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), `SELECT state::text, coalesce(metadata->>'output', ''), attempt,
		coalesce(array_length(errors, 1), 0) FROM river_job WHERE id = $1`, id).Scan(&r.State, &r.Output, &r.Attempt, &r.Errors))
	return r
}

// settled waits until a job has left the state running.
func (s *stage) settled(id int64) jobRow {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if r := s.row(id); r.State != "running" {
			return r
		}
	}
	return s.row(id)
}

type wrapper struct{ river.WorkerMiddlewareDefaults }

func (*wrapper) Work(ctx context.Context, _ *rivertype.JobRow, inner func(context.Context) error) error {
	if err := inner(ctx); err != nil {
		return fmt.Errorf("wrapped: %w", err)
	}
	return nil
}

type swallower struct{ river.WorkerMiddlewareDefaults }

func (*swallower) Work(ctx context.Context, _ *rivertype.JobRow, inner func(context.Context) error) error {
	_ = inner(ctx)
	return nil
}

// A job and its copy end in every pair of ways, in both orders, without middleware outside of the plugin's, and with
// middleware that wraps or swallows errors. The first end of the original decides, as with plain River. The first
// success of the copy decides. Nothing changes the row afterwards. A transaction with CompleteTx commits for the winner
// alone.
func TestOutcomes(t *testing.T) {
	long(t)
	for name, outside := range map[string]rivertype.WorkerMiddleware{"alone": nil, "wrapped": &wrapper{}, "swallowed": &swallower{}} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			_, err := s.pool.Exec(t.Context(), "CREATE TABLE effect (job text, role text)")
			require.NoError(t, err)
			c := setup{slots: 200, options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}, Log: quiet}}
			if outside != nil {
				c.middleware = []rivertype.WorkerMiddleware{outside}
			}
			a := start(t, s.pool, "a", c, s.handle)
			start(t, s.pool, "b", c, s.handle)
			var group sync.WaitGroup
			for _, original := range ends {
				for _, copied := range ends {
					for _, first := range []string{"original", "copy"} {
						group.Go(func() { s.pair(a, original, copied, first, name) })
					}
				}
			}
			group.Wait()
			assert.Eventually(t, func() bool { return rows(t, s.pool, "river_job WHERE metadata ? 'straggler'") == 0 }, 20*time.Second, 100*time.Millisecond)
		})
	}
}

func (s *stage) pair(n *node, original, copied end, first, outside string) {
	t, name := s.t, fmt.Sprint(original, "-", copied, "-", first)
	id := insert(t, n, work{Name: name}, &river.InsertOpts{MaxAttempts: 1})
	s.begun(name + " try1")
	for {
		made, err := n.plugin.Copy(t.Context(), id)
		if !assert.NoError(t, err, name) {
			return
		}
		if made {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.begun(name + " copy")
	wins := "try1"
	want := original.state()
	if outside == "swallowed" && original != panics {
		want = "completed" // as with plain River: it sees no error
	}
	if first == "original" {
		s.end(name+" try1", original)
		s.settled(id)
		s.end(name+" copy", copied)
	} else {
		s.end(name+" copy", copied)
		if copied == ok || copied == completes {
			wins, want = "copy", "completed"
			s.settled(id)
		} else {
			time.Sleep(300 * time.Millisecond)
		}
		s.end(name+" try1", original)
	}
	got := s.settled(id)
	assert.Equal(t, want, got.State, name)
	assert.Equal(t, wins, got.Output, name)
	time.Sleep(2 * time.Second)
	assert.Equal(t, got, s.row(id), "%s: changed afterwards", name)
	effects := 0
	if wins == "try1" && original == completes || wins == "copy" && copied == completes {
		effects = 1
	}
	assert.Equal(t, effects, rows(t, s.pool, "effect WHERE job = $1", name), name)
}

// In a kind with copies, an attempt that fails leaves its job to a copy that runs. If the copy fails as well, the job ends as the
// attempt has ended. An attempt that snoozes or cancels its job does not wait.
func TestAFailureWaitsForTheCopy(t *testing.T) {
	long(t)
	for outside, middleware := range map[string]rivertype.WorkerMiddleware{"alone": nil, "wrapped": &wrapper{}, "swallowed": &swallower{}} {
		t.Run(outside, func(t *testing.T) {
			s := newStage(t)
			_, err := s.pool.Exec(t.Context(), "CREATE TABLE effect (job text, role text)")
			require.NoError(t, err)
			c := setup{slots: 200, options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {Copies: true}}, Log: quiet}}
			if middleware != nil {
				c.middleware = []rivertype.WorkerMiddleware{middleware}
			}
			a := start(t, s.pool, "a", c, s.handle)
			start(t, s.pool, "b", c, s.handle)
			var group sync.WaitGroup
			for _, original := range []end{fails, panics, snoozes, cancels} {
				for _, copied := range []end{ok, completes, fails, panics} {
					group.Go(func() {
						name := fmt.Sprint(original, "-", copied)
						id := insert(t, a, work{Name: name}, &river.InsertOpts{MaxAttempts: 1})
						s.begun(name + " try1")
						for made := false; !made; time.Sleep(10 * time.Millisecond) {
							var err error
							if made, err = a.plugin.Copy(t.Context(), id); !assert.NoError(t, err, name) {
								return
							}
						}
						s.begun(name + " copy")
						s.end(name+" try1", original)
						want, wins := original.state(), "try1"
						if original == fails || original == panics {
							time.Sleep(time.Second)
							assert.Equal(t, "running", s.row(id).State, name)
							if copied == ok || copied == completes {
								want, wins = "completed", "copy"
							}
						} else {
							s.settled(id)
						}
						if outside == "swallowed" && original != panics {
							want = "completed" // as with plain River: it sees no error
						}
						s.end(name+" copy", copied)
						got := s.settled(id)
						assert.Equal(t, want, got.State, name)
						assert.Equal(t, wins, got.Output, name)
						time.Sleep(2 * time.Second)
						assert.Equal(t, got, s.row(id), "%s: changed afterwards", name)
					})
				}
			}
			group.Wait()
		})
	}
}

// A failed attempt waits for a copy. The wait ends if the user cancels the job, and if the client of the attempt stops at once.
// Then the job ends, or is tried again, as with plain River, and the copy changes nothing.
func TestAFailureDoesNotWaitForEver(t *testing.T) {
	long(t)
	s := newStage(t)
	c := setup{options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {Copies: true}}, Log: quiet}}
	a := start(t, s.pool, "a", c, s.handle)
	waits := func(name string) int64 {
		id := insert(t, a, work{Name: name}, &river.InsertOpts{MaxAttempts: 2})
		s.begun(name + " try1")
		return id
	}
	ids := []int64{waits("cancelled"), waits("stopped")}
	b := start(t, s.pool, "b", c, s.handle)
	for i, name := range []string{"cancelled", "stopped"} {
		for made := false; !made; time.Sleep(10 * time.Millisecond) {
			var err error
			made, err = a.plugin.Copy(t.Context(), ids[i])
			require.NoError(t, err)
		}
		s.begun(name + " copy")
		s.end(name+" try1", fails)
	}
	time.Sleep(time.Second)
	for _, id := range ids {
		require.Equal(t, "running", s.row(id).State, "it must wait, or the test shows nothing")
	}
	_, err := b.JobCancel(t.Context(), ids[0])
	require.NoError(t, err)
	assert.Equal(t, "cancelled", s.settled(ids[0]).State)
	s.end("cancelled copy", ok)
	begun := time.Now()
	require.NoError(t, a.StopAndCancel(t.Context()))
	assert.Less(t, time.Since(begun), 5*time.Second)
	got := s.settled(ids[1])
	assert.Equal(t, 1, got.Errors)
	assert.NotEqual(t, "completed", got.State)
	s.end("stopped copy", ok)
	time.Sleep(time.Second)
	assert.Equal(t, "cancelled", s.row(ids[0]).State)
	assert.NotEqual(t, "completed", s.row(ids[1]).State)
	s.end("stopped try2", ok)
}

// Plain River makes of each way to end what the table above expects of the plugin.
func TestPlainRiver(t *testing.T) {
	s := newStage(t)
	n := start(t, s.pool, "a", setup{plain: true, slots: 10}, s.handle)
	for _, how := range ends {
		if how == completes {
			continue // as river.JobCompleteTx
		}
		id := insert(t, n, work{Name: string(how)}, &river.InsertOpts{MaxAttempts: 1})
		s.begun(string(how) + " try1")
		s.end(string(how)+" try1", how)
		assert.Equal(t, how.state(), s.settled(id).State, how)
	}
}

// A job is rescued from its first attempt, which goes on: it is a zombie. Zombie and successor end in every pair of ways,
// in both orders. What the zombie does changes nothing, whatever middleware runs outside.
func TestZombies(t *testing.T) {
	long(t)
	for name, outside := range map[string]rivertype.WorkerMiddleware{"alone": nil, "wrapped": &wrapper{}, "swallowed": &swallower{}} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			_, err := s.pool.Exec(t.Context(), "CREATE TABLE effect (job text, role text)")
			require.NoError(t, err)
			c := setup{slots: 200, options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}, Log: quiet}}
			if outside != nil {
				c.middleware = []rivertype.WorkerMiddleware{outside}
			}
			a := start(t, s.pool, "a", c, s.handle)
			start(t, s.pool, "b", c, s.handle)
			var group sync.WaitGroup
			for _, zombie := range append(ends, disregards) {
				for _, successor := range append(ends, disregards) {
					for _, first := range []string{"zombie", "successor"} {
						group.Go(func() { s.raised(a, zombie, successor, first, name) })
					}
				}
			}
			group.Wait()
		})
	}
}

func (s *stage) raised(n *node, zombie, successor end, first, outside string) {
	t, name := s.t, fmt.Sprint(zombie, "-", successor, "-", first)
	id := insert(t, n, work{Name: name}, &river.InsertOpts{MaxAttempts: 2})
	s.begun(name + " try1")
	for s.row(id).State == "running" && s.row(id).Attempt == 1 {
		if !assert.NoError(t, n.plugin.Rescue(t.Context(), id)) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.begun(name + " try2")
	if first == "zombie" {
		s.end(name+" try1", zombie)
		time.Sleep(500 * time.Millisecond)
		assert.Equal(t, "running", s.row(id).State, "%s: the zombie has ended the row of its successor", name)
		s.end(name+" try2", successor)
	} else {
		s.end(name+" try2", successor)
		s.settled(id)
		s.end(name+" try1", zombie)
	}
	want := successor.state()
	if outside == "swallowed" && successor != panics {
		want = "completed"
	}
	got := s.settled(id)
	assert.Equal(t, want, got.State, name)
	assert.Equal(t, "try2", got.Output, name)
	time.Sleep(time.Second)
	assert.Equal(t, got, s.row(id), "%s: changed afterwards", name)
	effects := 0
	if successor == completes {
		effects = 1
	}
	assert.Equal(t, effects, rows(t, s.pool, "effect WHERE job = $1", name), name)
}

// River itself rescues a job, as its RescueStuckJobsAfter says, and the first attempt goes on. It changes nothing, either, also if
// middleware outside hides what the plugin says. If a new River does not look for that, or writes an end without its metadata, this
// test fails.
func TestAZombieOfRiversOwnRescue(t *testing.T) {
	s := newStage(t)
	for outside, middleware := range map[string][]rivertype.WorkerMiddleware{"alone": nil, "wrapped": {&wrapper{}}, "swallowed": {&swallower{}}} {
		n := start(t, s.pool, outside, setup{
			options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}, Log: quiet}, middleware: middleware,
		}, s.handle)
		for _, zombie := range []end{ok, fails, panics, cancels, snoozes} {
			name := fmt.Sprint(outside, " ", zombie)
			id := insert(t, n, work{Name: name}, nil)
			s.begun(name + " try1")
			_, err := s.pool.Exec(t.Context(), "UPDATE river_job SET state = 'available', scheduled_at = now() WHERE id = $1", id)
			require.NoError(t, err)
			s.begun(name + " try2")
			s.end(name+" try1", zombie)
			time.Sleep(300 * time.Millisecond)
			assert.Equal(t, jobRow{"running", "", 2, 0}, s.row(id), name)
			s.end(name+" try2", ok)
			assert.Equal(t, jobRow{"completed", "try2", 2, 0}, s.settled(id), name)
		}
		n.stop()
	}
}

// An original and its copy, or a zombie and its successor, end at the same moment. One of them is the result: one output,
// one effect, and no change afterwards.
func TestNearTies(t *testing.T) {
	long(t)
	s := newStage(t)
	_, err := s.pool.Exec(t.Context(), "CREATE TABLE effect (job text, role text)")
	require.NoError(t, err)
	// With a long interval no attempt counts as hung while the test holds a thousand of them.
	c := setup{slots: 1000, options: riverplugin.Options{Interval: time.Second, Kinds: map[string]riverplugin.Kind{"work": {}}, Log: quiet}}
	a := start(t, s.pool, "a", c, s.handle)
	start(t, s.pool, "b", c, s.handle)
	each := min(25*times+15, 500)
	var group sync.WaitGroup
	for i := range 2 * each {
		group.Go(func() {
			name, other := fmt.Sprint("tie ", i), " copy"
			id := insert(t, a, work{Name: name}, nil)
			s.begun(name + " try1")
			if i < each {
				for made := false; !made; time.Sleep(10 * time.Millisecond) {
					var err error
					if made, err = a.plugin.Copy(t.Context(), id); !assert.NoError(t, err) {
						return
					}
				}
			} else {
				for other = " try2"; s.row(id).State == "running" && s.row(id).Attempt == 1; time.Sleep(10 * time.Millisecond) {
					assert.NoError(t, a.plugin.Rescue(t.Context(), id))
				}
			}
			s.begun(name + other)
			s.end(name+" try1", completes)
			s.end(name+other, completes)
			got := s.settled(id)
			time.Sleep(time.Second)
			assert.Equal(t, got, s.row(id), "%s: changed afterwards", name)
			var role string
			err := s.pool.QueryRow(t.Context(), "SELECT string_agg(role, ',') FROM effect WHERE job = $1", name).Scan(&role)
			assert.NoError(t, err)
			assert.Equal(t, jobRow{"completed", role, got.Attempt, got.Errors}, got, name)
		})
	}
	group.Wait()
}

// The handler of an original, and that of a copy, goes on after its CompleteTx. The end of its job is known as long as it goes on: its
// context does not end, and subscribers learn of the end of the job.
func TestAHandlerGoesOnAfterCompleteTx(t *testing.T) {
	pool := database(t)
	committed, release, causes := make(chan bool, 1), make(chan bool), make(chan error, 1)
	handle := func(ctx context.Context, name string, job *river.Job[work]) error {
		if name != job.Args.Name {
			<-ctx.Done() // the original of the copy
			return context.Cause(ctx)
		}
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := riverplugin.CompleteTx(ctx, tx, job)
			return err
		})
		committed <- true
		<-release
		causes <- context.Cause(ctx)
		return err
	}
	s := setup{slots: 1, options: riverplugin.Options{Log: quiet}}
	a := start(t, pool, "a", s, handle)
	for _, name := range []string{"a", "b"} {
		n, id := a, insert(t, a, work{Name: name}, nil)
		if name == "b" {
			require.Eventually(t, func() bool { return rows(t, pool, "river_job WHERE id = $1 AND state = 'running'", id) == 1 },
				10*time.Second, 10*time.Millisecond)
			n = start(t, pool, "b", s, handle)
			copied, err := n.plugin.Copy(t.Context(), id)
			require.NoError(t, err)
			require.True(t, copied)
		}
		events, cancel := n.Subscribe(river.EventKindJobCompleted)
		defer cancel()
		<-committed
		require.Eventually(t, func() bool { return rows(t, pool, "straggler_client WHERE client = $1 AND running <> '{}'", name) == 1 },
			10*time.Second, 10*time.Millisecond)
		require.NoError(t, n.plugin.Sweep(t.Context()))
		time.Sleep(300 * time.Millisecond) // some beats
		release <- true
		assert.NoError(t, <-causes, name)
		select {
		case e := <-events:
			assert.Equal(t, id, e.Job.ID)
		case <-time.After(5 * time.Second):
			t.Error("no event", name)
		}
		assert.Eventually(t, func() bool {
			return assert.NoError(t, n.plugin.Sweep(t.Context())) && rows(t, pool, "straggler_end") == 0
		}, 5*time.Second, 100*time.Millisecond, "nobody needs the end any more")
	}
}
