package shardqueue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// desk is a host of a queue. It stores each event as a line.
type desk struct {
	t     testing.TB
	q     *Queue
	lines [][]byte
}

// ask answers a request at a time in seconds.
func (d *desk) ask(s float64, r Request) Answer {
	d.t.Helper()
	d.q.Hear(at(s), r.Machine, r.Session)
	for {
		answer, event := d.q.Decide(at(s), r)
		if event == nil {
			return answer
		}
		line, err := event.Line()
		require.NoError(d.t, err)
		d.lines = append(d.lines, line)
		require.NoError(d.t, d.q.Apply(*event))
	}
}

// crash makes the queue again from the lines.
func (d *desk) crash() {
	d.t.Helper()
	d.q = &Queue{}
	for _, line := range d.lines {
		e, err := Parse(line)
		require.NoError(d.t, err)
		require.NoError(d.t, d.q.Apply(e))
	}
}

// joined is the answer to a machine that has joined.
var joined = Answer{Lease: 60_000}

func at(s float64) time.Time { return time.UnixMilli(int64(s * 1000)) }

// opened returns a queue with pieces of these seconds, each of another package.
func opened(t testing.TB, machines int, seconds ...float64) *desk {
	t.Helper()
	c := &Config{Machines: machines, Lease: 60_000}
	for i, s := range seconds {
		c.Pieces = append(c.Pieces, Piece{Package: fmt.Sprint("p", i), Seconds: s})
	}
	d := &desk{t: t, q: &Queue{}}
	require.NoError(t, d.q.Apply(Event{Kind: Opened, Config: c}))
	line, err := (&Event{Kind: Opened, Config: c}).Line()
	require.NoError(t, err)
	d.lines = append(d.lines, line)
	return d
}

// join lets a machine join with one lane. The factor 0 means that its speed is not known.
func (d *desk) join(s float64, machine string, factor float64) {
	d.t.Helper()
	require.Equal(d.t, joined, d.ask(s, Request{Op: Join, Machine: machine, Session: "s1", Lanes: 1, Factor: factor}))
}

// draw returns the packages that a machine draws.
func (d *desk) draw(s float64, machine string) (packages []string) {
	d.t.Helper()
	a := d.ask(s, Request{Op: Draw, Machine: machine, Session: "s1"})
	require.Empty(d.t, a.Refused)
	for _, c := range a.Calls {
		packages = append(packages, c.Package)
	}
	return packages
}

// end ends the batch that a machine holds, each call after the predicted time multiplied by a number.
func (d *desk) end(s float64, machine string, by float64) {
	d.t.Helper()
	a := d.ask(s, Request{Op: Draw, Machine: machine, Session: "s1"})
	require.NotEmpty(d.t, a.Calls)
	r := Request{Op: End, Machine: machine, Session: "s1", Batch: a.Batch}
	for _, c := range a.Calls {
		r.Calls = append(r.Calls, Ran{Seconds: c.Seconds * by})
	}
	require.Equal(d.t, Answer{}, d.ask(s, r))
}

// Each machine gets half of its part of the plan, the longest pieces first.
func TestBatchesShrink(t *testing.T) {
	d := opened(t, 1, slices.Repeat([]float64{10}, 16)...)
	d.join(0, "a", 1)
	now := 0.
	for _, want := range []int{8, 4, 2, 1, 1} {
		assert.Len(t, d.draw(now, "a"), want)
		now += float64(10 * want)
		d.end(now, "a", 1)
	}
	assert.True(t, d.ask(now, Request{Op: Draw, Machine: "a", Session: "s1"}).Done)
	assert.True(t, d.q.Passed())
	d = opened(t, 2, 1, 7, 3, 40, 2)
	d.join(0, "a", 1)
	d.join(0, "b", 1)
	assert.Equal(t, []string{"p3"}, d.draw(0, "a"))
	assert.Equal(t, []string{"p1"}, d.draw(0, "b"))
}

// A machine that is expected and has not come takes no more than its part, and nobody waits for it.
func TestMachinesThatNeverCome(t *testing.T) {
	d := opened(t, 4, slices.Repeat([]float64{10}, 16)...)
	d.join(0, "a", 1)
	assert.Len(t, d.draw(0, "a"), 2, "half of a quarter")
	for now, ran := 20., 2; ran < 16; {
		n := len(d.draw(now, "a"))
		require.NotZero(t, n, "after %d", ran)
		ran += n
		now += float64(10 * n)
		d.end(now, "a", 1)
	}
}

// A machine of unknown speed begins with a small piece, and a slow machine leaves a long piece to a fast one.
func TestSlowMachines(t *testing.T) {
	d := opened(t, 2, 100, 60, 20, 5, 5, 5, 2, 2, 1)
	d.join(0, "slow", 0)
	d.join(0, "fast", 1)
	assert.Equal(t, []string{"p3", "p4"}, d.draw(0, "slow"), "a tenth of 100 s")
	assert.Equal(t, []string{"p0"}, d.draw(0, "fast"))
	d.end(30, "slow", 3)
	assert.Equal(t, []string{"p1"}, d.draw(30, "slow"), "two slow calls do not outweigh the trust in a machine")
	// With known speeds: a piece of 50 s ends after 60 s on the fast machine, which still works for 10 s.
	d = opened(t, 2, 20, 50)
	d.join(0, "slow", 4)
	d.join(0, "fast", 1)
	assert.Equal(t, []string{"p1"}, d.draw(0, "fast"))
	d.end(50, "fast", 1)
	assert.Equal(t, []string{"p0"}, d.draw(50, "fast"))
	d = opened(t, 2, 10, 50)
	d.join(0, "slow", 20)
	d.join(0, "fast", 1)
	assert.Equal(t, []string{"p1"}, d.draw(0, "fast"))
	a := d.ask(0, Request{Op: Draw, Machine: "slow", Session: "s1"})
	assert.Empty(t, a.Calls)
	assert.EqualValues(t, mostWait.Milliseconds(), a.Wait)
	a = d.ask(49, Request{Op: Draw, Machine: "slow", Session: "s1"})
	assert.EqualValues(t, mostWait.Milliseconds(), a.Wait, "a tenth of 50 s are left, not one second")
}

// A machine is slow after three slow calls.
func TestSpeedIsLearned(t *testing.T) {
	d := opened(t, 3, slices.Repeat([]float64{10}, 60)...)
	for _, m := range []string{"a", "b", "slow"} {
		d.join(0, m, 0)
		require.Len(t, d.draw(0, m), 2)
	}
	d.end(20, "a", 1)
	d.end(20, "b", 1)
	d.end(60, "slow", 3)
	assert.Len(t, d.draw(20, "a"), 9)
	n := len(d.draw(60, "slow"))
	d.end(60+30*float64(n), "slow", 3)
	assert.InDelta(t, 3, d.q.factor(2), .01)
	// A failed call and a call of no length say nothing.
	d = opened(t, 2, 10, 10, 10, .1, .1, .1)
	d.join(0, "a", 1)
	a := d.ask(0, Request{Op: Draw, Machine: "a", Session: "s1"})
	r := Request{Op: End, Machine: "a", Session: "s1", Batch: a.Batch, Calls: slices.Repeat([]Ran{{100, true}}, len(a.Calls))}
	d.ask(1, r)
	assert.Zero(t, d.q.record.Len())
}

// The speed that is known before is the speed that calls are held against.
func TestSpeedIsKnownBefore(t *testing.T) {
	d := opened(t, 2, slices.Repeat([]float64{10}, 40)...)
	d.join(0, "slow", 4)
	d.join(0, "a", 1)
	assert.Len(t, d.draw(0, "slow"), 4, "half of a fifth")
	assert.Len(t, d.draw(0, "a"), 16, "half of what is left for it while the other one works for 160 s")
	d.end(160, "slow", 4)
	d.end(160, "a", 1)
	assert.Equal(t, 4., d.q.factor(0))
	assert.Equal(t, 1., d.q.factor(1))
}

// Lanes of one machine share the work. What is known of a lane that works is the time that it still needs: the
// predicted time by the speed of its machine, less the time since it began.
func TestLanes(t *testing.T) {
	d := opened(t, 2, slices.Repeat([]float64{10}, 16)...)
	two := Request{Op: Join, Machine: "a", Session: "s1", Lanes: 2, Factor: 1}
	require.Equal(t, joined, d.ask(0, two))
	assert.Len(t, d.draw(0, "a"), 2, "half of a quarter: two machines of two lanes")
	d = opened(t, 1, 60, 40, 30, 20, 10)
	two.Factor = 2
	require.Equal(t, joined, d.ask(0, two))
	draw := func(s float64, lane int) (packages []string) {
		for _, c := range d.ask(s, Request{Op: Draw, Machine: "a", Session: "s1", Lane: lane}).Calls {
			packages = append(packages, c.Package)
		}
		return packages
	}
	assert.Equal(t, []string{"p0"}, draw(0, 0))
	assert.Equal(t, []lane{{0, 0, 2}, {0, 110, 2}}, d.q.lanes(at(10), 0))
	assert.Equal(t, []lane{{0, 0, 2}, {0, 12, 2}}, d.q.lanes(at(119), 0), "a tenth at least")
	assert.Equal(t, []string{"p1"}, draw(10, 1))
	assert.Equal(t, []lane{{0, 0, 2}, {0, 100, 2}, {0, 70, 2}}, d.q.lanes(at(20), 0), "no lane is free")
}

func TestStatus(t *testing.T) {
	d := opened(t, 2, 30, 20, 10, 5)
	assert.Equal(t, "the queue is not open: no machine has joined\n", new(Queue).Status(at(0)))
	assert.False(t, new(Queue).Passed())
	d.join(0, "a", 2)
	d.join(0, "b", 1)
	d.draw(0, "a")
	d.draw(0, "b")
	a := d.ask(9, Request{Op: Draw, Machine: "b", Session: "s1"})
	d.ask(9, Request{Op: End, Machine: "b", Session: "s1", Batch: a.Batch, Calls: []Ran{{9, true}}})
	d.ask(10, Request{Op: Leave, Machine: "b", Session: "s1"})
	assert.Equal(t, [][2]string{{"a", "s1"}}, d.q.Sessions())
	assert.Equal(t, `1 of 4 pieces done, 1 held by machines, 2 waiting: 15s of tests
machine a: 0 pieces done, 1 held; tests take 2.00 times as long as usual; heard 12s ago
machine b: 1 pieces done, 0 held; tests take 1.00 times as long as usual; has left
FAIL: p0 on machine b
`, d.q.Status(at(12)))
	assert.False(t, d.q.Passed())
}

// A machine that has to wait asks again when the first of the others is free.
func TestWait(t *testing.T) {
	d := opened(t, 3, 10, 9)
	for _, m := range []string{"a", "b", "c", "d"} {
		d.join(0, m, 1)
	}
	require.NotEmpty(t, d.draw(0, "a"))
	require.NotEmpty(t, d.draw(0, "b"))
	for now, want := range map[float64]time.Duration{0: mostWait, 7.5: 1500 * time.Millisecond, 8.9: 900 * time.Millisecond} {
		assert.EqualValues(t, want.Milliseconds(), d.ask(now, Request{Op: Draw, Machine: "c", Session: "s1"}).Wait)
	}
	d = opened(t, 3, .1)
	d.join(0, "a", 1)
	d.join(0, "b", 1)
	require.NotEmpty(t, d.draw(0, "a"))
	assert.EqualValues(t, leastWait.Milliseconds(), d.ask(0, Request{Op: Draw, Machine: "b", Session: "s1"}).Wait)
}

// A queue has at most 1,024 machines, each with at most 1,024 lanes.
func TestMostMachines(t *testing.T) {
	d := opened(t, 1, 1)
	for i := range mostMachines {
		r := Request{Op: Join, Machine: fmt.Sprint(i), Session: "s", Lanes: 1 + (mostLanes-1)*(i%2),
			Factor: []float64{0, leastFactor, mostFactor}[i%3]}
		require.Equal(t, joined, d.ask(0, r))
	}
	one := Request{Op: Join, Machine: "one", Session: "s", Lanes: 1}
	assert.Equal(t, "shardqueue: 1024 machines have joined, and no more can", d.ask(0, one).Refused)
	assert.ErrorContains(t, d.q.Apply(Event{Kind: Joined, Machine: "one", Session: "s", Lanes: 1}),
		"1024 machines have joined, and no more can")
	one.Machine, one.Session = "0", "t"
	assert.Equal(t, Answer{Wait: 1}, d.ask(60, one), "the lease of 60 s has not passed")
	one.Lanes = mostLanes + 1
	assert.Contains(t, d.ask(61, one).Refused, "the number of lanes is 1025")
}

// What a silent machine holds goes to others after the lease, and not before. Its late results count.
func TestVanishedMachine(t *testing.T) {
	d := opened(t, 2, 50, 40, 5)
	d.join(0, "a", 1)
	d.join(0, "b", 1)
	assert.Equal(t, []string{"p0"}, d.draw(0, "a"))
	assert.Equal(t, []string{"p1"}, d.draw(0, "b"))
	d.end(40, "b", 1)
	assert.Equal(t, []string{"p2"}, d.draw(40, "b"))
	d.end(45, "b", 1)
	a := d.ask(60, Request{Op: Draw, Machine: "b", Session: "s1"})
	assert.False(t, a.Done)
	assert.Empty(t, a.Calls)
	d.ask(61, Request{Op: Beat, Machine: "b", Session: "s1"})
	assert.Equal(t, []string{"p0"}, d.draw(60.001, "b"))
	late := Request{Op: End, Machine: "a", Session: "s1", Batch: 0, Calls: []Ran{{Seconds: 70, Failed: true}}}
	assert.Equal(t, Answer{}, d.ask(70, late))
	assert.True(t, d.q.pieces[0].failed, "the first result counts")
	d.end(110, "b", 1)
	assert.True(t, d.q.pieces[0].failed)
	assert.Contains(t, d.q.Status(at(110)), "FAIL: p0 on machine a\n")
	assert.False(t, d.q.Passed())
	assert.True(t, d.ask(110, Request{Op: Draw, Machine: "a", Session: "s1"}).Done, "a lost machine that works is there again")
}

// A machine that is retried gets its set again, before anything else, and others do not.
func TestRetriedMachine(t *testing.T) {
	d := opened(t, 2, 9, 8, 7, 6, 5, 4, 3, 2)
	d.join(0, "a", 1)
	d.join(0, "b", 1)
	ran := map[string][]string{}
	now := 0.
	for range 3 {
		for _, m := range []string{"a", "b"} {
			ran[m] = append(ran[m], d.draw(now, m)...)
			now += 10
			d.end(now, m, 1)
		}
	}
	d.ask(now, Request{Op: Leave, Machine: "a", Session: "s1"})
	require.Equal(t, joined, d.ask(now, Request{Op: Join, Machine: "a", Session: "s2", Lanes: 2, Factor: 1}))
	rest := len(d.draw(now, "b"))
	assert.Len(t, d.q.waiting(0), len(ran["a"]))
	one := d.ask(now, Request{Op: Draw, Machine: "a", Session: "s2"})
	assert.Len(t, one.Calls, 1, "half of the part of one of its two lanes")
	d.ask(now, Request{Op: Leave, Machine: "a", Session: "s2"})
	assert.Empty(t, d.q.waiting(0), "nothing is kept for a machine that has left")
	require.Equal(t, joined, d.ask(now, Request{Op: Join, Machine: "a", Session: "s3", Lanes: 2, Factor: 1}))
	var again []string
	for len(again) < len(ran["a"]) {
		for lane := range 2 {
			a := d.ask(now, Request{Op: Draw, Machine: "a", Session: "s3", Lane: lane})
			if len(a.Calls) == 0 {
				continue
			}
			r := Request{Op: End, Machine: "a", Session: "s3", Batch: a.Batch}
			for _, c := range a.Calls {
				again = append(again, c.Package)
				r.Calls = append(r.Calls, Ran{Seconds: c.Seconds})
			}
			d.ask(now, r)
		}
	}
	assert.ElementsMatch(t, ran["a"], again)
	assert.Equal(t, 8, len(ran["a"])+len(ran["b"])+rest)
	assert.Equal(t, len(ran["a"]), len(again), "no piece is run twice in the second session")
	old := d.ask(now, Request{Op: Draw, Machine: "a", Session: "s1"})
	assert.Equal(t, "another machine has joined as a since: give each machine a name of its own", old.Refused)
}

// Two machines of one name: the second one waits for the lease of the first, and takes its place only if it is silent.
func TestTwoMachinesOfOneName(t *testing.T) {
	d := opened(t, 1, 10, 10)
	d.join(0, "a", 1)
	second := Request{Op: Join, Machine: "a", Session: "s2", Lanes: 1}
	assert.Equal(t, Answer{Wait: 50_001}, d.ask(10, second))
	d.ask(30, Request{Op: Beat, Machine: "a", Session: "s1"})
	assert.Equal(t, Answer{Wait: 30_001}, d.ask(60, second))
	assert.Equal(t, joined, d.ask(90.001, second))
	assert.NotEmpty(t, d.ask(91, Request{Op: Draw, Machine: "a", Session: "s1"}).Refused)
}

// Pieces of one package in one batch are one call. The rest of a package skips the tests of its other pieces.
func TestPiecesOfOnePackage(t *testing.T) {
	c := &Config{Machines: 1, Lease: 60_000, Pieces: []Piece{
		{Package: "p", Tests: []string{"A", "B"}, Rest: true, Seconds: 5, Again: 1},
		{Package: "p", Tests: []string{"C"}, Seconds: 4, Again: 1},
		{Package: "p", Tests: []string{"D"}, Seconds: 3, Again: 1},
		{Package: "q", Seconds: 20},
	}}
	d := &desk{t: t, q: &Queue{}}
	require.NoError(t, d.q.Apply(Event{Kind: Opened, Config: c}))
	for pieces, want := range map[[3]int]Call{
		{0, 1, 2}:   {Package: "p", Seconds: 10},
		{0, 2, -1}:  {Package: "p", Skip: []string{"C"}, Seconds: 7},
		{1, 2, -1}:  {Package: "p", Tests: []string{"C", "D"}, Seconds: 6},
		{0, -1, -1}: {Package: "p", Skip: []string{"C", "D"}, Seconds: 5},
		{3, -1, -1}: {Package: "q", Seconds: 20},
	} {
		of := slices.DeleteFunc(pieces[:], func(i int) bool { return i < 0 })
		calls := d.q.calls(of)
		require.Len(t, calls, 1)
		calls[0].pieces = nil
		assert.Equal(t, want, calls[0])
	}
}

// life plays random machines in virtual time. Machines join, vanish, come back under their name, tell their results
// late, and repeat requests. The host crashes. At the end no piece is lost, and each was run by a machine.
type life struct {
	*desk
	r    *rand.Rand
	now  float64
	busy []*process
	runs map[string]map[string]bool // the packages that each name has run, by the name of the machine
	all  map[string]bool            // the packages that were run
}

// process is a process of a machine.
type process struct {
	name, session string
	holds         *Answer
	until         float64 // the end of its batch, or of its wait
	hung          bool    // it is not heard any more
}

func (l *life) step() {
	l.now += l.r.Float64() * 5
	if l.r.IntN(20) == 0 {
		l.q.HearAll(at(l.now))
		before := l.q.Status(at(l.now))
		l.crash()
		l.q.HearAll(at(l.now))
		require.Equal(l.t, before, l.q.Status(at(l.now)))
	}
	p := l.busy[l.r.IntN(len(l.busy))]
	switch {
	case l.r.IntN(40) == 0 && len(l.busy) < 40: // the process is gone, or only silent; another one takes its name
		p.hung = true
		l.busy = append(l.busy, &process{name: p.name, session: fmt.Sprint("s", len(l.busy)), until: -1})
	case p.hung && l.r.IntN(4) > 0:
	case p.until < 0:
		if a := l.ask(l.now, Request{Op: Join, Machine: p.name, Session: p.session, Lanes: 1}); a.Wait == 0 {
			p.until = l.now
		}
	case p.until > l.now:
		l.ask(l.now, Request{Op: Beat, Machine: p.name, Session: p.session})
	case p.holds != nil:
		r := Request{Op: End, Machine: p.name, Session: p.session, Batch: p.holds.Batch}
		for _, c := range p.holds.Calls {
			r.Calls = append(r.Calls, Ran{Seconds: c.Seconds})
			l.all[c.Package] = true
			if l.runs[p.name] == nil {
				l.runs[p.name] = map[string]bool{}
			}
			l.runs[p.name][c.Package] = true
		}
		require.Empty(l.t, l.ask(l.now, r).Refused)
		if l.r.IntN(3) == 0 {
			require.Equal(l.t, Answer{}, l.ask(l.now, r), "a repeated request")
		}
		p.holds = nil
	default:
		l.draw(p)
	}
}

func (l *life) draw(p *process) {
	a := l.ask(l.now, Request{Op: Draw, Machine: p.name, Session: p.session})
	if a.Refused != "" {
		p.hung, p.until = true, math.Inf(1)
		return
	}
	require.Equal(l.t, a, l.ask(l.now, Request{Op: Draw, Machine: p.name, Session: p.session}), "a repeated request")
	p.until = l.now + float64(a.Wait)/1000
	if len(a.Calls) > 0 {
		p.holds = &a
		for _, c := range a.Calls {
			p.until += c.Seconds * (.5 + l.r.Float64())
		}
	}
}

func TestNothingIsLost(t *testing.T) {
	seeds := uint64(100) // or 300 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		seeds = 300
	} else if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		seconds := make([]float64, 1+r.IntN(30))
		for i := range seconds {
			seconds[i] = 30 * r.ExpFloat64()
		}
		l := &life{desk: opened(t, 1+r.IntN(4), seconds...), r: r, runs: map[string]map[string]bool{}, all: map[string]bool{}}
		for i := range 1 + r.IntN(4) {
			l.busy = append(l.busy, &process{name: fmt.Sprint("m", i), session: "s", until: -1})
		}
		for range 400 {
			l.step()
		}
		// One more machine comes, and nobody else is heard.
		last := &process{name: "last", session: "s", until: -1}
		l.busy = []*process{last}
		for n := 0; l.q.done < len(l.q.pieces); n++ {
			require.Less(t, n, 20_000, "seed %d: %s", seed, l.q.Status(at(l.now)))
			l.now = max(l.now, last.until)
			if last.hung {
				last = &process{name: "last", session: fmt.Sprint("t", n), until: -1}
				l.busy = []*process{last}
			}
			l.step()
		}
		require.Len(t, l.all, len(seconds), "seed %d", seed)
		for i, p := range l.q.pieces {
			require.Equal(t, done, p.status)
			require.True(t, l.runs[l.q.machines[p.by].name][l.q.config.Pieces[i].Package],
				"seed %d: the machine that is named has run it", seed)
		}
	}
}

// An event that cannot have happened is refused, and changes nothing.
func TestWhatCannotHaveHappened(t *testing.T) {
	d := opened(t, 1, 10, 20)
	d.join(0, "a", 1)
	d.draw(0, "a")
	before := d.q.Status(at(0))
	for want, e := range map[string]Event{
		"Event.Kind is \"opened\", but the queue is open": {Kind: Opened, Config: &Config{}},
		"Event.Kind is \"x\"":                             {Kind: "x", Machine: "a"},
		"Event.Machine is \"b\", want a machine":          {Kind: Left, Machine: "b"},
		"the machine is \"../b\" and its session \"s\"":   {Kind: Joined, Machine: "../b", Session: "s", Lanes: 1},
		"the machine is \"b\" and its session \"\"":       {Kind: Joined, Machine: "b", Lanes: 1},
		"the number of lanes is 0":                        {Kind: Joined, Machine: "b", Session: "s"},
		"the number of lanes is 1025":                     {Kind: Joined, Machine: "b", Session: "s", Lanes: 1025},
		"the factor is -1":                                {Kind: Joined, Machine: "b", Session: "s", Lanes: 1, Factor: -1},
		"the factor is NaN": {Kind: Joined, Machine: "b", Session: "s", Lanes: 1,
			Factor: math.NaN()},
		"Event.Lane is 0, want a lane without a batch": {Kind: Gave, Machine: "a", Batch: 1, Pieces: []int{0}},
		"Event.Lane is 1":  {Kind: Gave, Machine: "a", Lane: 1, Batch: 1, Pieces: []int{0}},
		"Event.Lane is -1": {Kind: Gave, Machine: "a", Lane: -1, Batch: 1, Pieces: []int{0}},
		"the batch is 1, want a batch that machine a drew": {Kind: Ended, Machine: "a", Batch: 1, Calls: []Ran{{}}},
		"there are 2 results, want 1":                      {Kind: Ended, Machine: "a", Calls: []Ran{{}, {}}},
		"the time of call 0 is -1 s, want 0 to 1e+07":      {Kind: Ended, Machine: "a", Calls: []Ran{{Seconds: -1}}},
		"the time of call 0 is NaN s, want 0 to 1e+07":     {Kind: Ended, Machine: "a", Calls: []Ran{{Seconds: math.NaN()}}},
	} {
		assert.ErrorContains(t, d.q.Apply(e), want)
		assert.Equal(t, before, d.q.Status(at(0)))
	}
	d.end(20, "a", 1)
	for want, e := range map[string]Event{
		"Event.Batch is 0, want 1":         {Kind: Gave, Machine: "a", Pieces: []int{0}},
		"Event.Pieces is empty":            {Kind: Gave, Machine: "a", Batch: 1},
		"Event.Pieces has 2, want":         {Kind: Gave, Machine: "a", Batch: 1, Pieces: []int{0, 2}},
		"Event.Pieces has 0, want differe": {Kind: Gave, Machine: "a", Batch: 1, Pieces: []int{0, 0}},
		"Event.Pieces has 1, want pieces":  {Kind: Gave, Machine: "a", Batch: 1, Pieces: []int{1}},
		"which has ended before":           {Kind: Ended, Machine: "a", Calls: []Ran{{}}},
	} {
		assert.ErrorContains(t, d.q.Apply(e), want)
	}
	assert.ErrorContains(t, new(Queue).Apply(Event{Kind: Joined}), `Event.Kind is "joined", want "opened" first`)
	assert.ErrorContains(t, new(Queue).Apply(Event{Kind: Opened}), "Event.Config is empty")
}

func TestConfigsThatAreRefused(t *testing.T) {
	good := func() *Config {
		return &Config{Machines: 1, Lease: 1000,
			Pieces: []Piece{{Package: "p", Seconds: 1}, {Package: "q", Tests: []string{"A"}, Rest: true}}}
	}
	require.NoError(t, good().Validate())
	for _, c := range []*Config{
		{Machines: mostMachines, Lease: leastLease, Pieces: []Piece{{Package: "p", Seconds: mostSeconds, Again: mostSeconds}}},
		{Machines: 1, Lease: mostLease},
	} {
		require.NoError(t, c.Validate(), "the last valid values")
	}
	for name, valid := range map[string]bool{
		"azAZ09._-": true, strings.Repeat("a", mostName): true, strings.Repeat("a", mostName+1): false, "": false, ".": false,
		"a/": false, "a:": false, "a@": false, "a[": false, "a`": false, "a{": false, "ä": false,
	} {
		assert.Equal(t, valid, CheckName(name) == nil, name)
	}
	for want, change := range map[string]func(*Config){
		"Config.Machines is 0, want 1 to 1024":                       func(c *Config) { c.Machines = 0 },
		"Config.Machines is 1025":                                    func(c *Config) { c.Machines = 1025 },
		"Config.Lease is 999ms, want 1s to 24h":                      func(c *Config) { c.Lease = 999 },
		"Config.Lease is 24h0m0.001s":                                func(c *Config) { c.Lease = mostLease + 1 },
		"Config.Pieces[0].Package is empty":                          func(c *Config) { c.Pieces[0].Package = "" },
		"Config.Pieces[0].Seconds is NaN, want 0 to 1e+07":           func(c *Config) { c.Pieces[0].Seconds = math.NaN() },
		"Config.Pieces[0].Seconds is -1":                             func(c *Config) { c.Pieces[0].Seconds = -1 },
		"Config.Pieces[0].Again is 2, want 0 to 1":                   func(c *Config) { c.Pieces[0].Again = 2 },
		"Config.Pieces[1]: 0 pieces of q have the rest":              func(c *Config) { c.Pieces[1].Rest = false },
		"Config.Pieces[0]: 2 pieces of p have the rest":              func(c *Config) { c.Pieces[1].Package = "p" },
		"Config.Pieces[1] is the whole of p, but another piece has ": func(c *Config) { c.Pieces[1] = c.Pieces[0] },
	} {
		c := good()
		change(c)
		assert.ErrorContains(t, c.Validate(), want)
	}
}

// Each request that cannot be granted has an answer that says why.
func TestRequestsThatAreRefused(t *testing.T) {
	d := opened(t, 1, 10, 20)
	d.join(0, "a", 1)
	a := Request{Machine: "a", Session: "s1", Lanes: 1}
	for want, change := range map[string]func(*Request){
		"op is \"\", want join, draw, end, leave or beat": func(r *Request) {},
		"op is \"drew\"":                                      func(r *Request) { r.Op = "drew" },
		"the machine is \"\" and its session":                 func(r *Request) { r.Op, r.Machine = Join, "" },
		"the machine is \".a\"":                               func(r *Request) { r.Op, r.Machine = Join, ".a" },
		"the machine is \"a/b\"":                              func(r *Request) { r.Op, r.Machine = Join, "a/b" },
		"machine \"b\" has not joined this queue":             func(r *Request) { r.Op, r.Machine = Draw, "b" },
		"the lane is 1, want 0 to 0":                          func(r *Request) { r.Op, r.Lane = Draw, 1 },
		"the lane is -1":                                      func(r *Request) { r.Op, r.Lane = Draw, -1 },
		"the number of lanes is 0, want 1 to 1024":            func(r *Request) { r.Op, r.Machine, r.Lanes = Join, "b", 0 },
		"the factor is 1e+09, want 0 or 0.001 to 1000":        func(r *Request) { r.Op, r.Machine, r.Factor = Join, "b", 1e9 },
		"the batch is 0, want a batch that machine a drew":    func(r *Request) { r.Op = End },
		"the batch is -1, want a batch that machine a drew":   func(r *Request) { r.Op, r.Batch = End, -1 },
		"another machine has joined as a since: give each ma": func(r *Request) { r.Op, r.Session = Leave, "other" },
	} {
		r := a
		change(&r)
		assert.Contains(t, d.ask(0, r).Refused, want)
	}
	assert.Len(t, d.lines, 2, "nothing has happened")
	closed := &desk{t: t, q: &Queue{}}
	assert.Equal(t, Answer{Closed: true}, closed.ask(0, Request{Op: Join, Machine: "a", Session: "s", Lanes: 1}))
	assert.Equal(t, Answer{Closed: true}, closed.ask(0, Request{Op: Draw, Machine: "a", Session: "s"}))
	bad := closed.ask(0, Request{Op: Join, Machine: "a", Session: "s", Lanes: 1, Config: &Config{}})
	assert.Contains(t, bad.Refused, "Config.Machines is 0")
	assert.Nil(t, closed.q.config, "it stays closed")
}

func TestLinesThatAreDamaged(t *testing.T) {
	line, err := (&Event{Kind: Left, Machine: "a", At: 5}).Line()
	require.NoError(t, err)
	e, err := Parse(line)
	require.NoError(t, err)
	assert.Equal(t, Event{Kind: Left, Machine: "a", At: 5}, e)
	for n := range line {
		_, err := Parse(line[:n])
		assert.ErrorIs(t, err, ErrHalf, "%q", line[:n])
		for bit := range 8 {
			bad := slices.Clone(line)
			bad[n] ^= 1 << bit
			_, err := Parse(bad)
			assert.Error(t, err, "%q", bad)
		}
	}
	_, err = Parse([]byte("1234\n"))
	assert.EqualError(t, err, "has no checksum of eight digits")
	_, err = Parse([]byte("12345678\n"))
	assert.EqualError(t, err, "has no checksum of eight digits")
	_, err = Parse([]byte("00000000 {}\n"))
	assert.EqualError(t, err, `has the checksum "00000000", want a3a6bf43: it is damaged`)
}
