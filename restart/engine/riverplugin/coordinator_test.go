package riverplugin

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
)

// sighted returns a coordinator without a database. Its looks are what a test says.
func sighted(t *testing.T, log *strings.Builder) *coordinator {
	sized := func([]byte) float64 { return 1 }
	o := Options{Kinds: map[string]Kind{"work": {Copies: true}, "sized": {Work: sized}}, Log: slog.New(slog.NewTextHandler(log, nil))}
	require.NoError(t, o.fill())
	return &coordinator{p: &Plugin{options: o}, state: state{
		machines: new(engine.Machines), kinds: map[string]*kind{},
		beats: map[string]heard{}, lost: map[string]bool{}, strange: map[place]time.Time{}, worked: map[place]bool{}, shadow: map[string]*imagined{},
	}}
}

// seen is a look that shows the client a, which beats at a time.
func seen(now, beat time.Time) *view {
	return &view{
		now: now, clients: map[string]*client{"a": {seen: beat, slots: 1, running: map[string]float64{}, guards: []string{AllKinds}}},
		rows: map[int64]*row{}, copies: map[run][]*row{}, ends: map[run]ending{},
	}
}

// The end of a job stays in sight for some looks. The phase learns from the job once.
func TestAJobIsLearntFromOnce(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	for i := range 5 {
		v := seen(begun.Add(time.Duration(i)*time.Second), begun.Add(time.Duration(i)*time.Second))
		if i == 0 {
			v.rows[1] = &row{id: 1, kind: "work", attempt: 1, state: "running", begun: begun, client: "a", known: true}
		} else {
			v.ends[runs(1, begun, "a").run()] = ending{by: 1, ok: true, kind: "work", began: begun, ended: begun.Add(time.Second)}
		}
		c.notice(v, time.Now())
		c.judgeClients(v)
		c.tell(v, new(orders))
	}
	assert.Equal(t, 1, c.kinds["work"].phase.Add(-1), "the phase has had one task")
}

// The coordinator was blind for a while. A client that was lost before is not back before it beats.
func TestALostClientIsNotBackByAGapOfSight(t *testing.T) {
	log := new(strings.Builder)
	c, beat := sighted(t, log), time.Now()
	look := func(beat time.Time) {
		v := seen(time.Now(), beat)
		c.notice(v, v.now)
		c.judgeClients(v)
	}
	look(beat)
	c.beats["a"] = heard{beat, time.Now().Add(-2 * silence)}
	look(beat)
	assert.True(t, c.lost["a"])
	c.looked = time.Now().Add(-time.Minute)
	look(beat)
	assert.True(t, c.lost["a"])
	assert.NotContains(t, log.String(), "is back")
	look(beat.Add(time.Second))
	assert.False(t, c.lost["a"])
	assert.Contains(t, log.String(), "is back")
}

// A client that was lost, or that lacked the plugin, is forgotten when it is gone.
func TestClientsThatAreGoneAreForgotten(t *testing.T) {
	c := sighted(t, new(strings.Builder))
	now := time.Now()
	c.lost["gone"], c.strange[place{"q", "gone"}] = true, now.Add(-2*strangeFor)
	c.notice(seen(now, now), now)
	assert.Empty(t, c.lost)
	assert.Empty(t, c.strange)
}

// The size of a job that has ended is not known. So in a kind whose jobs have sizes nothing is learnt from jobs that began and
// ended between two looks: a first task without a size would hide the sizes of all others.
func TestAJobWithoutItsSizeIsNotLearntFrom(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	v := seen(now, now)
	v.ends[runs(1, now.Add(-time.Second), "a").run()] = ending{by: 1, ok: true, kind: "sized", began: now.Add(-time.Second), ended: now}
	c.tell(v, new(orders))
	assert.Equal(t, 0, c.kinds["sized"].phase.Add(1), "the phase has had no task")
}

// looks lets the coordinator look at clients with the same clock as theirs. Those that are silent have last beaten at begun.
func looks(c *coordinator, begun, now time.Time, silent ...string) {
	v := seen(now, now)
	for _, name := range []string{"b", "c", "d"} {
		v.clients[name] = &client{seen: now, running: map[string]float64{}, guards: []string{AllKinds}}
	}
	for _, name := range silent {
		v.clients[name].seen = begun
	}
	c.notice(v, now)
	c.judgeClients(v)
}

// Most clients are silent at the same moment: the fault may lie between them and the database. So all get the time of a silence
// once more, and no more than that.
func TestMostClientsAreSilentAtOnce(t *testing.T) {
	log := new(strings.Builder)
	c, begun := sighted(t, log), time.Now()
	at := func(d time.Duration) time.Time { return begun.Add(d) }
	looks(c, begun, begun)
	for d := time.Second; d <= silence+time.Second; d += time.Second {
		looks(c, begun, at(d), "b", "c", "d")
	}
	assert.Empty(t, c.lost)
	assert.Equal(t, 1, strings.Count(log.String(), "most clients are silent at once"))
	for d := silence + 2*time.Second; d <= 2*silence+time.Second; d += time.Second {
		looks(c, begun, at(d), "b", "c", "d")
		assert.Empty(t, c.lost, d)
	}
	looks(c, begun, at(2*silence+2*time.Second), "b", "c", "d")
	assert.Equal(t, map[string]bool{"b": true, "c": true, "d": true}, c.lost)
	assert.Equal(t, 1, strings.Count(log.String(), "most clients are silent at once"))
}

// A single client of four is silent: nothing speaks for it.
func TestOneClientIsSilent(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	for d := time.Duration(0); d <= silence; d += time.Second {
		looks(c, begun, begun.Add(d), "b")
		assert.Empty(t, c.lost)
	}
	looks(c, begun, begun.Add(silence+time.Second), "b")
	assert.Equal(t, map[string]bool{"b": true}, c.lost)
}

// The coordinator has not looked for a while. It takes nobody as lost for that while.
func TestABlindCoordinatorTakesNobodyAsLost(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	looks(c, begun, begun)
	looks(c, begun, begun.Add(time.Minute), "b")
	assert.Empty(t, c.lost)
	for d := time.Second; d <= silence; d += time.Second {
		looks(c, begun, begun.Add(time.Minute+d), "b")
		assert.Empty(t, c.lost)
	}
	looks(c, begun, begun.Add(time.Minute+silence+time.Second), "b")
	assert.Equal(t, map[string]bool{"b": true}, c.lost)
}

// runs returns a row of a job that runs at a client with the plugin.
func runs(id int64, begun time.Time, at string) *row {
	return &row{id: id, kind: "work", queue: "q", attempt: 1, state: "running", begun: begun, client: at, known: true}
}

// An attempt claims the end of its job, and dies before River writes it. The job is rescued: at a lost client after ten seconds,
// and if nobody lists the attempt any more, after two minutes.
func TestAClaimOfTheDead(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	rescued := func(since time.Duration, listed bool) bool {
		v := seen(begun.Add(since), begun)
		v.rows[1] = runs(1, begun, "a")
		v.ends[runs(1, begun, "a").run()] = ending{by: 1, ok: true, kind: "work", began: begun, ended: begun}
		if listed {
			v.clients["a"].running[v.rows[1].run().String()] = 0
		}
		todo := new(orders)
		c.orphans(v, todo)
		return len(todo.rescues) == 1 && todo.rescues[0].override
	}
	assert.False(t, rescued(flushed, false))
	assert.True(t, rescued(flushed+time.Second, false))
	assert.False(t, rescued(time.Hour, true), "the client lives, and still runs it")
	c.lost["a"] = true
	assert.False(t, rescued(2*silence, true))
	assert.True(t, rescued(2*silence+time.Second, true))
}

// Only a client that has worked jobs of a queue could work a copy of one.
func TestClientsOfAnotherQueue(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	v := seen(now, now)
	v.clients["b"] = &client{seen: now, running: map[string]float64{}, guards: []string{AllKinds}}
	v.rows[1], v.rows[2] = runs(1, now, "a"), runs(2, now, "b")
	v.rows[2].queue = "other"
	c.tell(v, new(orders))
	assert.False(t, v.others(c, v.rows[1]))
	v.rows[2].queue = "q"
	c.tell(v, new(orders))
	assert.True(t, v.others(c, v.rows[1]))
	c.lost["b"] = true
	assert.False(t, v.others(c, v.rows[1]))
}

// A copy waits whose insertion the coordinator does not know of, since the answer of the database was lost. The phase gets it under
// the name that it has asked for. A copy of an earlier coordinator has a name of its own.
func TestCopiesThatAreFound(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	v := seen(now, now)
	for id := range int64(2) {
		v.rows[id+1] = runs(id+1, now, "a")
		r := &row{id: id + 10, kind: "work", state: "available", copied: mark{Job: id + 1, Attempt: 1, Began: now}}
		v.rows[r.id], v.copies[v.rows[id+1].run()] = r, []*row{r}
	}
	k := c.kindOf("work")
	k.task(v.rows[1]).asked = "asked for"
	c.tell(v, new(orders))
	assert.Equal(t, map[string]int64{"asked for": 10}, k.tasks[1].copies)
	assert.Equal(t, map[string]int64{"copy 11": 11}, k.tasks[2].copies)
	assert.Empty(t, k.tasks[1].asked)
}

// The phase of a kind has had nearly as many tasks as it can have. Another phase takes its place, with what was learnt and with
// the jobs that run.
func TestAPhaseIsReplaced(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	tell := func(d time.Duration) {
		v := seen(begun.Add(d), begun.Add(d))
		v.rows[1] = runs(1, begun, "a")
		c.tell(v, new(orders))
	}
	tell(time.Second)
	phase := c.kinds["work"].phase
	c.kinds["work"].added = mostAdded + 1
	tell(2 * time.Second)
	tell(3 * time.Second)
	assert.NotSame(t, phase, c.kinds["work"].phase)
	assert.Equal(t, 1, c.kinds["work"].added)
	assert.Len(t, c.kinds["work"].tasks, 1)
}

// A process dies, and another begins under its name before the silence is over. What the first ran is lost as soon as the second
// has listed what it runs itself, also if the first had claimed an end. Rows that the second fetched are not lost.
func TestAnotherProcessOfAName(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	at := func(d time.Duration) time.Time { return begun.Add(d) }
	lost := func(now time.Duration, change func(v *view)) []order {
		v := seen(at(now), at(now))
		v.rows[1] = runs(1, at(time.Second), "a")
		v.clients["a"].since, v.clients["a"].before = at(3*time.Second), map[string]any{v.rows[1].run().String(): 0.}
		v.rows[1].hasReturned = true
		change(v)
		c.notice(v, v.now)
		c.judgeClients(v)
		todo := new(orders)
		c.tell(v, todo)
		c.orphans(v, todo)
		return todo.rescues
	}
	nothing := func(*view) {}
	assert.Empty(t, lost(5*time.Second, nothing), "two processes may have the name for a moment")
	assert.Empty(t, lost(6*time.Second, func(v *view) { v.rows[1].hasReturned = false }), "it lists the row")
	unlisted := func(v *view) { v.clients["a"].before = nil }
	assert.Empty(t, lost(13*time.Second, unlisted), "this process may have fetched it before its first beat")
	assert.Empty(t, lost(14*time.Second, func(v *view) { v.clients["a"].before, v.clients["a"].since = nil, time.Time{} }), "no other had the name")
	claimed := func(v *view) {
		v.ends[v.rows[1].run()] = ending{by: 1, ok: true, kind: "work", ended: at(2 * time.Second)}
	}
	overrides := func(o order) bool { return o.override }
	assert.False(t, slices.ContainsFunc(lost(12*time.Second, claimed), overrides))
	assert.True(t, slices.ContainsFunc(lost(13*time.Second, claimed), overrides))
	delete(c.kinds, "work")
	rescues := lost(14*time.Second, nothing)
	require.Len(t, rescues, 1)
	assert.Equal(t, "another process has the name of the client a now", rescues[0].why)
	delete(c.kinds, "work")
	assert.Len(t, lost(14*time.Second, unlisted), 1)
}

// A transaction of orders fails, and may have committed. The coordinator looks for the copies that it may have made.
func TestOrdersWithoutAnAnswer(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	config, err := pgxpool.ParseConfig("postgres://nobody@127.0.0.1:1/none")
	require.NoError(t, err)
	c.line = &line{config: config}
	c.p.home.Store(&home{"a", ""})
	k, r := c.kindOf("work"), runs(1, now, "a")
	made := k.task(r)
	assert.Error(t, c.carryOut(t.Context(), 1, &orders{copies: []order{{r: r, k: k, id: "1.1"}}}))
	assert.True(t, c.unsure)
	assert.Equal(t, "1.1", made.asked)
}

// A client in the shadow mode, or that does not name a kind, works the jobs of the kind as River alone. So they are not touched:
// a job that was put back there would have a zombie that nobody holds.
func TestAClientWithOtherOptions(t *testing.T) {
	for _, guards := range [][]string{{}, {"other"}} {
		c, begun := sighted(t, new(strings.Builder)), time.Now()
		v := seen(begun.Add(time.Hour), begun.Add(time.Hour))
		v.clients["a"].guards = guards
		v.clients["b"] = &client{seen: v.now, running: map[string]float64{}, guards: []string{AllKinds}}
		v.rows[1], v.rows[2] = runs(1, begun, "a"), runs(2, begun, "b")
		v.rows[1].hasReturned = true // or it is not listed yet
		v.ends[runs(1, begun, "a").run()] = ending{by: 1, ok: true, kind: "work", began: begun, ended: begun}
		c.lost["a"] = true
		todo := new(orders)
		c.notice(v, begun)
		c.lost["a"] = true
		c.judgeClients(v)
		c.tell(v, todo)
		c.orphans(v, todo)
		assert.Empty(t, todo.rescues)
		delete(c.lost, "a")
		delete(v.ends, runs(1, begun, "a").run())
		c.tell(v, todo)
		c.orphans(v, todo)
		assert.Empty(t, todo.rescues)
		assert.False(t, v.others(c, v.rows[2]), "it would not guard a copy")
	}
}

// The shadow mode counts each attempt once, and says what is known about a kind.
func TestTheShadowModeCountsAttempts(t *testing.T) {
	log := new(strings.Builder)
	c, now := sighted(t, log), time.Now()
	c.p.options.Shadow, c.told, c.at = true, now, now.Add(time.Minute)
	k, r := c.kindOf("work"), runs(7, now, "a")
	k.task(r)
	for range 3 {
		c.imagine(&orders{rescues: []order{{r: r, why: "it hangs"}}})
	}
	c.report()
	c.report()
	assert.Equal(t, 1, strings.Count(log.String(), "shadow mode"))
	assert.Contains(t, log.String(), `work="copies 0, rescues 1, such as job 7 at client a: it hangs; the longest of 0 known run times is 0s"`)
}

// A job that hangs first gets a copy. It is rescued if the copy is gone, if the copy is not ready when the job has run for twice as
// long, and at once if it may have no copy.
func TestAJobThatHangsGetsACopyFirst(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	turn := func(age time.Duration, change func(v *view)) *orders {
		v := seen(begun.Add(age), begun.Add(age))
		v.clients["b"] = &client{seen: v.now, running: map[string]float64{}, guards: []string{AllKinds}}
		v.rows[1], v.rows[2] = runs(1, begun, "a"), runs(2, begun, "b")
		change(v)
		todo := new(orders)
		c.notice(v, v.now)
		c.judgeClients(v)
		c.tell(v, todo)
		return todo
	}
	nothing := func(*view) {}
	copied := func(v *view) {
		v.rows[9] = &row{id: 9, kind: "work", queue: "q", state: "available", copied: mark{Job: 1, Attempt: 1, Began: begun, Client: "a"}}
		v.copies[v.rows[1].run()] = []*row{v.rows[9]}
	}
	turn(time.Second, nothing)
	hangs := c.kinds["work"].tasks[1]
	hangs.overdue = 10 * time.Second
	todo := turn(10*time.Second, nothing)
	assert.Empty(t, todo.rescues)
	require.Len(t, todo.copies, 1)
	assert.Equal(t, []string{"a"}, todo.copies[0].avoid)
	assert.Contains(t, todo.copies[0].why, "it hangs: it has run for 10s")
	hangs.copies[copyName(9)], hangs.urgent = 9, true // as after a transaction that has made it
	for _, age := range []time.Duration{11 * time.Second, 19 * time.Second} {
		todo = turn(age, copied)
		assert.Empty(t, todo.copies)
		assert.Empty(t, todo.rescues)
	}
	assert.Len(t, turn(20*time.Second, copied).rescues, 1)
	turn(12*time.Second, nothing) // the copy is gone
	assert.Len(t, turn(13*time.Second, nothing).rescues, 1)
	hangs.urgent, c.strange[place{"q", "stranger"}] = false, begun
	assert.Len(t, turn(13*time.Second, nothing).rescues, 1, "a client lacks the plugin")
	assert.Empty(t, turn(13*time.Second, func(v *view) { c.beats["a"] = heard{v.now, begun.Add(10 * time.Second)} }).rescues, "its client is silent")
}

// A coordinator that does not name a kind knows nothing about the jobs that other clients run in it. It ends none of them.
func TestAKindThatTheCoordinatorDoesNotName(t *testing.T) {
	c, now := sighted(t, new(strings.Builder)), time.Now()
	v := seen(now, now)
	v.clients["a"].running[runs(1, now, "a").run().String()] = 0
	todo := new(orders)
	c.endOthers(v, todo)
	assert.Empty(t, todo.ends)
}

// A job was snoozed, and runs again with the same number of the attempt. The end of its run before is not the end of this run, and the
// copy of the run before is over.
func TestARunAfterASnooze(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	v := seen(begun.Add(time.Minute), begun.Add(time.Minute))
	v.ends[runs(1, begun, "a").run()] = ending{by: 1, kind: "work", began: begun, ended: begun.Add(time.Second)}
	v.rows[1] = runs(1, begun.Add(30*time.Second), "a")
	v.rows[9] = &row{id: 9, kind: "work", state: "available", copied: mark{Job: 1, Attempt: 1, Began: begun}}
	v.copies[v.rows[9].copied.of()] = []*row{v.rows[9]}
	v.clients["a"].running[v.rows[1].run().String()] = 0
	todo := new(orders)
	c.tell(v, todo)
	c.endOthers(v, todo)
	assert.False(t, c.kinds["work"].tasks[1].over)
	assert.Empty(t, todo.ends)
	assert.Equal(t, []int64{9}, todo.drops)
}

// Jobs that wait for a retry are forgotten: an outage may leave many of them. Those that hung are kept, as far as they are few.
func TestJobsThatWaitForARetryAreForgotten(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	tell := func(state string) {
		v := seen(begun.Add(time.Second), begun.Add(time.Second))
		v.rows[1], v.rows[2] = runs(1, begun, "a"), runs(2, begun, "a")
		v.rows[1].state, v.rows[2].state = state, state
		c.tell(v, new(orders))
	}
	tell("running")
	c.kinds["work"].tasks[2].hung = true
	for _, state := range []string{"retryable", "available"} { // a rescue puts a job back in either
		tell(state)
		assert.Len(t, c.kinds["work"].tasks, 1, state)
		assert.NotNil(t, c.kinds["work"].tasks[2], state)
	}
	tell("completed")
	assert.Empty(t, c.kinds["work"].tasks)
}

// Of 250 orders each turn carries out a hundred. Within three turns each has had its turn, whether the others succeed or not.
func TestEachOrderHasItsTurn(t *testing.T) {
	all, seen := make([]order, 250), map[int]bool{}
	for i := range all {
		all[i].task = i
	}
	for turn := range 3 {
		part := some(all, turn)
		assert.Len(t, part, mostOrders)
		for _, o := range part {
			seen[o.task] = true
		}
	}
	assert.Len(t, seen, 250)
	assert.Len(t, some(all[:7], 5), 7)
}

// A client is silent for half the time after which it is lost. A job there gets a copy elsewhere, if its kind may have copies. When
// the client is lost, the job is left to its copy as long as that runs at a client that lives. Otherwise it is rescued.
func TestJobsOfAQuietClientGetCopies(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	running := func(v *view) {
		v.rows[1], v.rows[2], v.rows[3] = runs(1, begun, "a"), runs(2, begun, "a"), runs(3, begun, "b")
		v.rows[2].kind = "sized" // this kind has no copies
	}
	turn := func(d time.Duration, change func(v *view)) (todo orders) {
		v := seen(begun.Add(d), begun)
		v.clients["b"] = &client{seen: v.now, slots: 9, running: map[string]float64{}, guards: []string{AllKinds}}
		running(v)
		change(v)
		c.notice(v, v.now)
		c.judgeClients(v)
		c.tell(v, &todo)
		return todo
	}
	nothing := func(*view) {}
	for d := time.Duration(0); d < silence/2; d += silence / 10 {
		todo := turn(d, nothing)
		assert.Empty(t, todo.copies, d)
	}
	todo := turn(silence/2, nothing)
	require.Len(t, todo.copies, 1)
	o := todo.copies[0]
	assert.Equal(t, int64(1), o.r.id)
	assert.Equal(t, []string{"a"}, o.avoid)
	assert.Equal(t, "its client a may be lost: it has been silent for 2.5s", o.why)
	task := c.kinds["work"].tasks[1]
	copied := func(change func(r *row)) func(v *view) {
		return func(v *view) {
			r := runs(9, begun.Add(silence/2), "b")
			r.copied = mark{Job: 1, Attempt: 1, Began: begun}
			change(r)
			v.rows[9], v.copies[v.rows[1].run()] = r, []*row{r}
		}
	}
	task.urgent, task.copies["copy 9"] = true, 9
	for d := silence / 2; d <= silence+silence/10; d += silence / 10 {
		todo = turn(d, copied(func(*row) {}))
		assert.Empty(t, todo.copies, "a second copy at %v", d)
	}
	require.True(t, c.lost["a"])
	require.Len(t, todo.rescues, 1, "the job whose kind has no copies")
	assert.Equal(t, int64(2), todo.rescues[0].r.id)
	task.overdue = silence / 2
	todo = turn(silence+silence/5, copied(func(*row) {}))
	assert.Len(t, todo.rescues, 2, "the copy was not ready in twice the time after which the job counted as hung")
	delete(c.kinds, "work")
	todo = turn(silence+silence*3/10, copied(func(r *row) { r.state = "available" }))
	assert.Len(t, todo.rescues, 2, "the copy waits")
}

// Both clients of two are silent: the fault may be between the clients and the database. No job gets a copy for that.
func TestNoCopiesIfMostClientsAreQuiet(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	for d := time.Duration(0); d < silence; d += silence / 10 {
		v := seen(begun.Add(d), begun)
		v.clients["b"] = &client{seen: begun, slots: 9, running: map[string]float64{}, guards: []string{AllKinds}}
		v.rows[1], v.rows[3] = runs(1, begun, "a"), runs(3, begun, "b")
		var todo orders
		c.notice(v, v.now)
		c.judgeClients(v)
		c.tell(v, &todo)
		assert.Empty(t, todo.copies, d)
	}
}
