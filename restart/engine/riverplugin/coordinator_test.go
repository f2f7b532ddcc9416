package riverplugin

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// sighted returns a coordinator without a database. Its looks are what a test says.
func sighted(t *testing.T, log *strings.Builder) *coordinator {
	sized := func([]byte) float64 { return 1 }
	o := Options{Kinds: map[string]Kind{"work": {Copies: true}, "sized": {Work: sized}}, Log: slog.New(slog.NewTextHandler(log, nil))}
	require.NoError(t, o.fill())
	return &coordinator{
		p: &Plugin{options: o}, term: 1, machines: new(engine.Machines), kinds: map[string]*kind{},
		strange: map[place]time.Time{},
	}
}

// sight is what a look has shown, and the clients.
type sight struct {
	*view
	clients []*client
}

// seen is a look that shows the client a, which beats at a time.
func seen(now, beat time.Time) *sight {
	return &sight{&view{now: now, copies: map[string][]*row{}}, []*client{newClient("a", beat)}}
}

// newClient is a client that runs nothing.
func newClient(name string, beat time.Time) *client {
	return &client{Name: name, Seen: beat, Slots: 1}
}

// runs returns a row of a job that runs at a client. Another client could work a copy.
func runs(id int64, begun time.Time, at string) *row {
	run := runOf(&rivertype.JobRow{ID: id, Attempt: 1, AttemptedAt: &begun})
	return &row{ID: id, Kind: "work", Queue: "q", Run: run, name: run, State: "running", Attempt: 1, Begun: begun, Client: at,
		Acts: true, Listed: true, Others: true}
}

// jobs adds rows to a look.
func (s *sight) jobs(rows ...*row) {
	s.rows = append(s.rows, rows...)
	for _, r := range rows {
		if r.copied.Job != 0 {
			s.copies[r.copied.Run] = append(s.copies[r.copied.Run], r)
		}
	}
}

// ends is the end of the run of a row.
func (r *row) ends(state string, ended time.Time) *row {
	e := *r
	e.State, e.Ended, e.Client = state, &ended, ""
	return &e
}

// copyOf returns a row of a copy.
func copyOf(r *row, id int64, state string, begun time.Time, at string) *row {
	of := runs(id, begun, at)
	of.State, of.copied = state, mark{Job: r.ID, Run: r.Run, Client: r.Client}
	of.name = fmt.Sprint("copy ", id)
	return of
}

// orders returns the rows of the orders of a turn with a verb.
func (c *coordinator) orders(verb int) (ids []int64) {
	for _, o := range c.todo {
		if o.verb == verb {
			ids = append(ids, o.r.ID)
		}
	}
	return ids
}

// see judges the clients of a look, and tells the phases. As in a look, the attempts of lost clients are dead.
func (c *coordinator) see(s *sight, at time.Time) {
	lost := c.judge(s.clients, at)
	c.looked = at
	for _, r := range s.rows {
		if r.runs() && slices.Contains(lost, r.Client) {
			r.Dead = "is lost"
		}
	}
	c.tell(s.view)
}

// The end of a job stays in sight for some looks. The phase learns from the job once.
func TestAJobIsLearntFromOnce(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	for i := range 5 {
		v := seen(begun.Add(time.Duration(i)*time.Second), begun.Add(time.Duration(i)*time.Second))
		if i == 0 {
			v.jobs(runs(1, begun, "a"))
		} else {
			v.jobs(runs(1, begun, "a").ends("succeeded", begun.Add(time.Second)))
		}
		c.see(v, time.Now())
	}
	assert.Equal(t, 1, c.kinds["work"].phase.Add(-1), "the phase has had one task")
}

// A job began and ended between two looks. The phase learns its run time once, and forgets it when its end is out of sight.
func TestAJobThatWasNeverSeenIsLearntFrom(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	c.see(seen(begun, begun), begun)
	for i := range 3 {
		v := seen(begun.Add(time.Second), begun.Add(time.Second))
		v.jobs(runs(1, begun, "a").ends("succeeded", begun.Add(time.Second/2)), runs(2, begun, "a").ends("failed", begun.Add(time.Second/2)))
		c.see(v, begun.Add(time.Second))
		longest, known := c.machines.Knowledge().Longest("work", 0)
		assert.Equal(t, 1, known, i)
		assert.InDelta(t, .5, longest, 1e-5)
	}
	assert.Len(t, c.kinds["work"].tasks, 1)
	c.see(seen(begun.Add(2*time.Second), begun.Add(2*time.Second)), begun.Add(2*time.Second))
	assert.Empty(t, c.kinds["work"].tasks)
}

// The coordinator was blind for a while. A client that was lost before is not back before it beats.
func TestALostClientIsNotBackByAGapOfSight(t *testing.T) {
	log := new(strings.Builder)
	c, beat := sighted(t, log), time.Now()
	look := func(beat time.Time) { c.see(seen(time.Now(), beat), time.Now()) }
	look(beat)
	c.clients["a"].heard = time.Now().Add(-2 * silence)
	look(beat)
	assert.True(t, c.clients["a"].lost)
	c.looked = time.Now().Add(-time.Minute)
	look(beat)
	assert.True(t, c.clients["a"].lost)
	assert.NotContains(t, log.String(), "is back")
	look(beat.Add(time.Second))
	assert.False(t, c.clients["a"].lost)
	assert.Contains(t, log.String(), "is back")
}

// A client that was lost is forgotten when it is gone.
func TestClientsThatAreGoneAreForgotten(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	c.clients = map[string]*client{"gone": {lost: true}}
	c.see(seen(now, now), now)
	assert.NotContains(t, c.clients, "gone")
}

// A client that lacks the plugin is forgotten after a while, and as soon as it has it: its first job may run before its first beat.
func TestStrangersAreForgotten(t *testing.T) {
	log := new(strings.Builder)
	c, now := sighted(t, log), time.Now()
	for range 2 {
		v := seen(now, now)
		v.jobs(runs(2, now, "stranger"))
		c.see(v, now)
		assert.Empty(t, c.kinds)
		assert.True(t, c.strangers("q"))
		assert.False(t, c.strangers("other"))
	}
	assert.Equal(t, 1, strings.Count(log.String(), "lacks the plugin"))
	v := seen(now, now)
	v.clients = append(v.clients, newClient("stranger", now))
	c.see(v, now)
	assert.False(t, c.strangers("q"))
	c.see(seen(now.Add(strangeFor), now), now)
	assert.True(t, c.strangers("q"), "it has no plugin again")
	c.see(seen(now.Add(strangeFor+time.Second), now), now)
	assert.False(t, c.strangers("q"))
	assert.Empty(t, c.strange)
}

// The size of a job that has ended is not known. So in a kind whose jobs have sizes nothing is learnt from jobs that began and
// ended between two looks: a first task without a size would hide the sizes of all others.
func TestAJobWithoutItsSizeIsNotLearntFrom(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	v := seen(now, now)
	r := runs(1, now.Add(-time.Second), "a")
	r.Kind = "sized"
	v.jobs(r.ends("succeeded", now))
	c.see(v, now)
	assert.Equal(t, 0, c.kinds["sized"].phase.Add(1), "the phase has had no task")
}

// looks lets the coordinator look at clients with the same clock as theirs. Those that are silent have last beaten at begun.
func looks(c *coordinator, begun, now time.Time, silent ...string) {
	v := seen(now, now)
	for _, name := range []string{"b", "c", "d"} {
		beat := now
		if slices.Contains(silent, name) {
			beat = begun
		}
		v.clients = append(v.clients, newClient(name, beat))
	}
	c.see(v, now)
}

// lost returns the clients that are lost.
func (c *coordinator) lost() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.clients)) {
		if c.clients[name].lost {
			names = append(names, name)
		}
	}
	return names
}

// Most clients are silent at the same moment: the fault may lie between them and the database. So all get the time of a silence
// once more, and no more than that.
func TestMostClientsAreSilentAtOnce(t *testing.T) {
	log := new(strings.Builder)
	c, begun := sighted(t, log), time.Now()
	at := func(d time.Duration) time.Time { return begun.Add(d) }
	looks(c, begun, begun)
	for d := time.Second; d <= silence; d += time.Second {
		looks(c, begun, at(d), "b", "c", "d")
	}
	assert.Empty(t, c.lost())
	assert.Equal(t, 1, strings.Count(log.String(), "most clients are silent at once"))
	for d := silence + time.Second; d < 2*silence; d += time.Second {
		looks(c, begun, at(d), "b", "c", "d")
		assert.Empty(t, c.lost(), d)
	}
	looks(c, begun, at(2*silence), "b", "c", "d")
	assert.Equal(t, []string{"b", "c", "d"}, c.lost())
	assert.Equal(t, 1, strings.Count(log.String(), "most clients are silent at once"))
}

// A single client of four is silent: nothing speaks for it.
func TestOneClientIsSilent(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	for d := time.Duration(0); d < silence; d += time.Second {
		looks(c, begun, begun.Add(d), "b")
		assert.Empty(t, c.lost())
	}
	looks(c, begun, begun.Add(silence), "b")
	assert.Equal(t, []string{"b"}, c.lost())
}

// The coordinator has not looked for a while. It takes nobody as lost for that while.
func TestABlindCoordinatorTakesNobodyAsLost(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	looks(c, begun, begun)
	looks(c, begun, begun.Add(time.Minute), "b")
	assert.Empty(t, c.lost())
	for d := time.Second; d < silence; d += time.Second {
		looks(c, begun, begun.Add(time.Minute+d), "b")
		assert.Empty(t, c.lost())
	}
	looks(c, begun, begun.Add(time.Minute+silence), "b")
	assert.Equal(t, []string{"b"}, c.lost())
}

// An attempt claims the end of its job, and dies before River writes it. The job is rescued ten seconds later.
func TestAClaimOfTheDead(t *testing.T) {
	begun := time.Now()
	rescued := func(since time.Duration, dead string) bool {
		c := sighted(t, new(strings.Builder))
		v := seen(begun.Add(since), begun.Add(since))
		r := runs(1, begun, "a")
		r.Ended, r.Dead = &begun, dead
		v.jobs(r)
		c.see(v, v.now)
		return len(c.orders(rescues)) == 1 && c.todo[0].why == "the attempt that ended the job has died"
	}
	assert.False(t, rescued(time.Hour, ""), "the client lives, and still runs it")
	assert.False(t, rescued(2*silence, "is lost"))
	assert.True(t, rescued(2*silence+time.Second, "is lost"))
}

// Copies run that the coordinator has not seen before: one that its phase has asked for, and one of an earlier coordinator, whose
// phase had given it the name of another.
func TestCopiesThatAreFound(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	v := seen(now, now)
	for id := range int64(2) {
		r := runs(id+1, now, "a")
		of := copyOf(r, id+10, "queued", now, "a")
		of.name = fmt.Sprint(id, ":1.1")
		v.jobs(r, of)
	}
	c.see(v, now)
	var names []string
	for _, a := range c.kinds["work"].phase.Attempts() {
		names = append(names, a.ID)
	}
	assert.Len(t, names, 2, "a copy that waits is shown when it runs")
	for _, r := range v.rows {
		r.State = "running"
	}
	c.see(v, now.Add(time.Second))
	for _, a := range c.kinds["work"].phase.Attempts() {
		names = append(names, a.ID)
	}
	assert.Contains(t, names, "1:1.1")
	assert.Contains(t, names, "0:1.1")
	assert.Empty(t, c.todo)
}

// The phase of a kind has had nearly as many tasks as it can have. Another phase takes its place, with what was learnt and with
// the jobs that run.
func TestAPhaseIsReplaced(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	tell := func(d time.Duration) {
		v := seen(begun.Add(d), begun.Add(d))
		v.jobs(runs(1, begun, "a"))
		c.see(v, v.now)
	}
	tell(time.Second)
	phase := c.kinds["work"].phase
	for _, t := range c.kinds["work"].tasks {
		t.number += mostAdded + 1
	}
	tell(2 * time.Second)
	tell(3 * time.Second)
	assert.NotSame(t, phase, c.kinds["work"].phase)
	assert.Len(t, c.kinds["work"].tasks, 1)
	assert.Equal(t, 1, c.kinds["work"].phase.Add(-1))
}

// An attempt has died whose client lives: its job is rescued, and its copy is removed.
func TestADeadAttemptOfALivingClient(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	v := seen(now, now)
	r, other := runs(1, now, "a"), runs(2, now, "a")
	of := copyOf(other, 9, "running", now, "a")
	r.Dead, of.Dead = "has another process now", "has another process now"
	v.jobs(r, other, of)
	c.see(v, now)
	assert.Equal(t, []int64{1}, c.orders(rescues))
	assert.Equal(t, []int64{9}, c.orders(drops))
	assert.Contains(t, []string{c.todo[0].why, c.todo[1].why}, "the client a has another process now")
}

// An order fails, and may have been carried out. The next turn does not take the copy that it has asked for as failed: the phase asks
// for it again.
func TestOrdersWithoutAnAnswer(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	config, err := pgxpool.ParseConfig("postgres://nobody@127.0.0.1:1/none")
	require.NoError(t, err)
	c.p.own, err = pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer c.p.own.Close()
	c.todo = []order{{verb: copies, r: runs(1, now, "a"), t: &task{}, name: "1:1.1"}}
	assert.Error(t, c.carryOut(t.Context()))
	assert.True(t, c.unsure)
	assert.False(t, c.todo[0].t.copied)
	c.todo = nil
	assert.NoError(t, c.carryOut(t.Context()))
	assert.False(t, c.unsure)
}

// A client in the shadow mode, or that does not name a kind, works the jobs of the kind as River alone. So they are not touched:
// a job that was put back there would have a zombie that nobody holds.
func TestAClientWithOtherOptions(t *testing.T) {
	begun := time.Now()
	for _, dead := range []string{"", "is lost"} {
		for _, ended := range []*time.Time{nil, &begun} {
			c := sighted(t, new(strings.Builder))
			v := seen(begun.Add(time.Hour), begun.Add(time.Hour))
			r := runs(1, begun, "a")
			r.Acts, r.Dead, r.Ended = false, dead, ended
			v.jobs(r)
			c.see(v, v.now)
			assert.Empty(t, c.todo)
			assert.Empty(t, c.kinds)
		}
	}
}

// The shadow mode counts each attempt once, and says what is known about a kind.
func TestTheShadowModeCountsAttempts(t *testing.T) {
	log := new(strings.Builder)
	c, now := sighted(t, log), time.Now()
	c.p.options.Shadow, c.told, c.looked = true, now, now.Add(time.Second)
	r := runs(7, now, "a")
	c.todo = []order{{verb: rescues, r: r, t: c.kindOf("work").task(seen(now, now).view, r), why: "it hangs"}}
	for range 3 {
		c.report()
	}
	c.looked = now.Add(time.Minute)
	c.report()
	c.report()
	assert.Equal(t, 1, strings.Count(log.String(), "shadow mode"))
	assert.Contains(t, log.String(), `work="copies 0, rescues 1, such as job 7 at client a: it hangs; the longest of 0 known run times is 0s"`)
}

// A job that hangs first gets a copy. It is rescued if the copy is gone, if the copy is not ready when the job has run for twice as
// long, and at once if it may have no copy.
func TestAJobThatHangsGetsACopyFirst(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	r := runs(1, begun, "a")
	turn := func(age time.Duration, change func(v *sight)) {
		v := seen(begun.Add(age), begun.Add(age))
		v.clients = append(v.clients, newClient("b", v.now))
		v.jobs(runs(1, begun, "a"), runs(2, begun, "b"))
		change(v)
		c.see(v, v.now)
	}
	nothing := func(*sight) {}
	copied := func(v *sight) { v.jobs(copyOf(r, 9, "queued", begun, "")) }
	turn(time.Second, nothing)
	hangs := c.kinds["work"].tasks[r.Run]
	hangs.overdue = 10
	turn(10*time.Second, nothing)
	assert.Equal(t, []int64{1}, c.orders(copies))
	assert.Empty(t, c.orders(rescues))
	assert.Contains(t, c.todo[0].why, "it hangs: it has run for 10s")
	hangs.copied = true // as after an order that has made it
	for _, age := range []time.Duration{11 * time.Second, 19 * time.Second} {
		turn(age, copied)
		assert.Empty(t, c.todo)
	}
	turn(20*time.Second, copied)
	assert.Equal(t, []int64{1}, c.orders(rescues))
	turn(13*time.Second, nothing)
	assert.Equal(t, []int64{1}, c.orders(rescues), "the copy is gone")
	hangs.copied, c.strange[place{"q", "stranger"}] = false, begun
	turn(13*time.Second, nothing)
	assert.Equal(t, []int64{1}, c.orders(rescues), "a client lacks the plugin")
	turn(13*time.Second, func(v *sight) {
		v.clients[0].Seen = begun
		c.clients["a"].Seen, c.clients["a"].heard = begun, v.now.Add(-silence/2)
	})
	assert.Empty(t, c.orders(rescues), "its client is silent")
}

// The time after which a job hangs doubles with each rescue of the job that hung.
func TestAJobThatHungMayTakeLonger(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	v := seen(begun.Add(10*time.Second), begun)
	r := runs(1, begun, "a")
	for r.Rescues = range 3 {
		k := c.kindOf("work")
		t1 := k.task(v.view, r)
		t1.overdue = 0
		c.act(v.view, k, t1, engine.Action{Op: engine.Cancel, ID: r.Run, Decision: restart.Decision{Reason: restart.Overdue}})
		assert.Equal(t, float64(int(10)<<r.Rescues), t1.overdue)
	}
}

// A coordinator that does not name a kind does nothing about its jobs.
func TestAKindThatTheCoordinatorDoesNotName(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	v := seen(begun.Add(time.Hour), begun.Add(time.Hour))
	r := runs(1, begun, "a")
	r.Kind = "unnamed"
	v.clients = append(v.clients, newClient("b", v.now))
	v.jobs(r, copyOf(r, 9, "running", begun, "b"), r.ends("failed", begun))
	c.clients = map[string]*client{"a": {Seen: v.clients[0].Seen, lost: true}}
	c.see(v, v.now)
	assert.Empty(t, c.todo)
	assert.Empty(t, c.kinds)
}

// A job was snoozed, and runs again with the same number of the attempt. The end of its run before is not the end of this run, and the
// copy of the run before is over.
func TestARunAfterASnooze(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	v := seen(begun.Add(time.Minute), begun.Add(time.Minute))
	before, now := runs(1, begun, "a"), runs(1, begun.Add(30*time.Second), "a")
	v.jobs(now, copyOf(before, 9, "queued", begun, ""), before.ends("failed", begun.Add(time.Second)))
	c.see(v, v.now)
	assert.Equal(t, []int64{9}, c.orders(drops))
	require.Len(t, c.kinds["work"].tasks, 1)
	assert.Equal(t, engine.Running, c.kinds["work"].phase.Attempts()[0].State)
	assert.Equal(t, now.Run, c.kinds["work"].phase.Attempts()[0].ID)
}

// A job that runs no more, and whose end nobody has claimed, has failed for the phase. It is forgotten at once: an outage may leave
// many that wait for a retry.
func TestJobsThatWaitForARetryAreForgotten(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	v := seen(begun.Add(time.Second), begun.Add(time.Second))
	v.jobs(runs(1, begun, "a"), runs(2, begun, "a"))
	c.see(v, v.now)
	assert.Len(t, c.kinds["work"].tasks, 2)
	c.see(seen(begun.Add(2*time.Second), begun.Add(2*time.Second)), begun.Add(2*time.Second))
	assert.Empty(t, c.kinds["work"].tasks)
	assert.Empty(t, c.kinds["work"].numbers)
	assert.Empty(t, c.kinds["work"].phase.Attempts())
}

// A client is silent for half the time after which it is lost. A job there gets a copy elsewhere, if its kind may have copies. When
// the client is lost, the job is left to its copy as long as that runs at a client that lives. Otherwise it is rescued.
func TestJobsOfAQuietClientGetCopies(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	r := runs(1, begun, "a")
	unlisted := runs(4, begun, "a") // it has begun after the last beat
	unlisted.Listed = false
	turn := func(d time.Duration, change func(v *sight)) {
		v := seen(begun.Add(d), begun)
		v.clients = append(v.clients, newClient("b", v.now))
		sized := runs(2, begun, "a")
		sized.Kind = "sized" // this kind has no copies
		v.jobs(runs(1, begun, "a"), sized, runs(3, begun, "b"), unlisted)
		change(v)
		c.see(v, v.now)
	}
	nothing := func(*sight) {}
	for d := time.Duration(0); d < silence/2; d += silence / 10 {
		turn(d, nothing)
		assert.Empty(t, c.orders(copies), d)
	}
	turn(silence/2, nothing)
	require.Equal(t, []int64{1, 4}, c.orders(copies))
	assert.Equal(t, []string{"a"}, c.todo[0].avoid)
	assert.Equal(t, "its client a may be lost: it has been silent for 2.5s", c.todo[0].why)
	task := c.kinds["work"].tasks[r.Run]
	copied := func(state string) func(v *sight) {
		return func(v *sight) { v.jobs(copyOf(r, 9, state, begun.Add(silence/2), "b")) }
	}
	task.copied, c.kinds["work"].tasks[unlisted.Run].copied = true, true
	for d := silence / 2; d <= silence+silence/10; d += silence / 10 {
		turn(d, copied("running"))
		assert.Empty(t, c.orders(copies), "a second copy at %v", d)
	}
	require.Equal(t, []string{"a"}, c.lost())
	require.Equal(t, []int64{2, 4}, c.orders(rescues), "the job whose kind has no copies, and the one whose copy is gone")
	task.overdue = (silence / 2).Seconds()
	turn(silence+silence/5, copied("running"))
	assert.Len(t, c.orders(rescues), 3, "the copy was not ready in twice the time after which the job counted as hung")
	delete(c.kinds, "work")
	turn(silence+silence*3/10, copied("queued"))
	assert.Len(t, c.orders(rescues), 3, "the copy waits")
}

// A client that beats lists what it runs. A job that it does not list has just begun there, or has just ended, and gets no copy.
func TestAJobThatItsClientDoesNotListGetsNoCopy(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	asked := map[int64]bool{}
	for second := range 10 {
		now := begun.Add(time.Duration(2+second) * time.Second)
		v := seen(now, now)
		v.clients, v.idle = append(v.clients, newClient("b", now), newClient("c", now)), 2
		for id := range int64(20) {
			v.jobs(runs(100+id, begun, "c").ends("succeeded", begun.Add(time.Second)))
		}
		unlisted := runs(2, begun, "b")
		unlisted.Listed = false
		v.jobs(runs(1, begun, "a"), unlisted)
		c.see(v, now)
		for _, id := range c.orders(copies) {
			asked[id] = true
		}
	}
	assert.Equal(t, map[int64]bool{1: true}, asked)
}

// Both clients of two are silent: the fault may be between the clients and the database. No job gets a copy for that.
func TestNoCopiesIfMostClientsAreQuiet(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	for d := time.Duration(0); d < silence; d += silence / 10 {
		v := seen(begun.Add(d), begun)
		v.clients = append(v.clients, newClient("b", begun))
		v.jobs(runs(1, begun, "a"), runs(3, begun, "b"))
		c.see(v, v.now)
		assert.Empty(t, c.orders(copies), d)
	}
}
