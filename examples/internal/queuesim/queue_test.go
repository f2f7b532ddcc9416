package queuesim

import (
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

func scenario(t *testing.T, name string) Scenario {
	t.Helper()
	all := Scenarios()
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

// next returns when a job that is there from an instant on is taken, if every worker has a free slot.
func next(l luck, from time.Duration) time.Duration {
	first := time.Duration(1 << 62)
	for w := range Workers {
		for k := int(from / Fetch); ; k++ {
			if at := l.fetches(w, k); at >= from {
				first = min(first, at)
				break
			}
		}
	}
	return first
}

func took(s *Scenario, l luck, task int) time.Duration {
	return time.Duration(s.seconds(l, task) * float64(time.Second))
}

// One task alone takes until a worker looks for it, and its time; if its first attempt fails half-way, also half of its
// time and the back-off.
func TestOneTask(t *testing.T) {
	for seed := 1; seed <= 40; seed++ {
		l, s := luck(seed), Scenario{Tasks: 1, Fail: .3}
		_, fails, _ := l.fate(&s, 0, 0)
		_, again, _ := l.fate(&s, 0, 1)
		if again {
			continue
		}
		begins := next(l, 0)
		used := took(&s, l, 0)
		if fails {
			begins = next(l, begins+used/2+l.backOff(0, 1))
		}
		want := begins + took(&s, l, 0)
		if fails {
			used += used / 2
		}
		o, err := Player{}.Run(s, seed)
		require.NoError(t, err)
		assert.InDelta(t, want.Seconds(), o.Time.Seconds(), 1e-6, "seed %d", seed)
		assert.InDelta(t, used.Seconds(), o.Used.Seconds(), 1e-6, "seed %d", seed)
		assert.InDelta(t, (used - took(&s, l, 0)).Seconds(), o.Wasted.Seconds(), 1e-6, "seed %d", seed)
	}
}

// A healthy batch gets no copy from anybody, and each task runs once. It takes hardly longer under a coordinator,
// since an attempt waits at each worker.
func TestHealthy(t *testing.T) {
	took := map[string]time.Duration{}
	for _, p := range Players() {
		for seed := 1; seed <= 5; seed++ {
			o, err := p.Run(scenario(t, "healthy"), seed)
			require.NoError(t, err)
			assert.Equal(t, 160, o.Begins, p.Name)
			assert.Zero(t, o.Copies, p.Name)
			assert.Zero(t, o.Wasted, p.Name)
			took[p.Name] += o.Time
		}
	}
	assert.Less(t, took["straggler"].Seconds(), 1.05*took["naive"].Seconds())
}

// Eight tasks run at once, and the first attempt of one hangs. The plain queue waits for the hard timeout and the
// back-off; the naive rule's copy begins once the task has run for twice the median of the others.
func TestHang(t *testing.T) {
	n := 0
	for seed := 1; seed <= 60; seed++ {
		l, s := luck(seed), Scenario{Tasks: 8, Hang: .1}
		hung := -1
		for i := range s.Tasks {
			if hangs, _, _ := l.fate(&s, i, 0); hangs && hung < 0 {
				hung = i
			} else if hangs {
				hung = s.Tasks
			}
		}
		if hung < 0 || hung >= s.Tasks {
			continue
		}
		if again, _, _ := l.fate(&s, hung, 1); again {
			continue
		}
		n++
		spy := &spy{player: plain{}}
		o, err := play(&s, spy, seed)
		require.NoError(t, err)
		begun := o.Time - took(&s, l, hung)
		// The handler is told after its slice.
		first := spy.first[hung]
		assert.InDelta(t, next(l, first+Timeout+l.backOff(hung, 1)).Seconds(), begun.Seconds(), 1e-6)

		var all []time.Duration
		for i := range s.Tasks {
			if i != hung {
				all = append(all, took(&s, l, i))
			}
		}
		slices.Sort(all)
		looks := (first+2*all[3])/NaiveEvery*NaiveEvery + NaiveEvery
		o, err = play(&s, naive{}, seed)
		require.NoError(t, err)
		assert.InDelta(t, (next(l, looks) + took(&s, l, hung)).Seconds(), o.Time.Seconds(), 1e-6)
		assert.Equal(t, 1, o.Copies)
	}
	assert.Greater(t, n, 10)
}

// spy notes when each task began first, and which results there are.
type spy struct {
	player
	first   map[int]time.Duration
	results [][]*job
}

func (s *spy) ended(q *queue, j *job) {
	if s.first == nil {
		s.first = map[int]time.Duration{}
	}
	if at, ok := s.first[j.task]; !ok || j.begun < at {
		s.first[j.task] = j.begun
	}
	s.player.ended(q, j)
	s.results = append(s.results, slices.Clone(q.results))
}

// Under every rule each task has one result in the end, which never changes, except for those of the plain queue whose
// worker was killed.
func TestEveryTaskHasOneResult(t *testing.T) {
	for _, s := range Scenarios() {
		for _, p := range []struct {
			name string
			player
		}{
			{"nothing", plain{}}, {"naive", naive{}}, {"straggler", &coordinator{}},
		} {
			spy := &spy{player: p.player}
			o, err := play(&s, spy, 2)
			require.NoError(t, err, s.Name)
			assert.Zero(t, o.Twice, "%s, %s", s.Name, p.name)
			if p.name != "nothing" || s.Name != "a worker dies" {
				assert.Zero(t, o.Lost, "%s, %s", s.Name, p.name)
			}
			for i := 1; i < len(spy.results); i++ {
				for task, j := range spy.results[i-1] {
					if j != nil && (spy.results[i][task] != j || j.state != succeeded) {
						require.Same(t, j, spy.results[i][task], "%s, %s", s.Name, p.name)
						require.Equal(t, succeeded, j.state)
					}
				}
			}
		}
	}
}

// The same game ends the same; other seeds have other luck. The games of 2,000 tasks are played with STRAGGLER_LIVES.
func TestGames(t *testing.T) {
	for _, s := range Scenarios() {
		if s.Tasks == 80 || s.Tasks == 2000 && os.Getenv("STRAGGLER_LIVES") == "" {
			continue
		}
		for _, p := range Players() {
			one, err := p.Run(s, 3)
			require.NoError(t, err)
			two, err := p.Run(s, 3)
			require.NoError(t, err)
			assert.Equal(t, one, two, "%s, %s", s.Name, p.Name)
			other, err := p.Run(s, 4)
			require.NoError(t, err)
			assert.NotEqual(t, one, other, "%s, %s", s.Name, p.Name)
		}
	}
}

// The way through the coordinator is as long as in the live runs, and under Never one attempt of each task begins.
func TestWay(t *testing.T) {
	var all []time.Duration
	var sum time.Duration
	for i := range 20000 {
		d := luck(1).dispatch(i, 0)
		all, sum = append(all, d), sum+d
	}
	slices.Sort(all)
	assert.InDelta(t, DispatchMedian.Seconds(), all[len(all)/2].Seconds(), .001)
	assert.InDelta(t, DispatchMean.Seconds(), sum.Seconds()/float64(len(all)), .003)

	submits := 0
	p := Player{Engine: true, Policy: restart.Never{}, Watch: func(_ time.Duration, _ string, a engine.Action) {
		if a.Op == engine.Submit {
			submits++
		}
	}}
	o, err := p.Run(scenario(t, "long, untold"), 1)
	require.NoError(t, err)
	assert.InDelta(t, 165, submits, 5, "160, and the waiting attempts that moved to a free slot")
	assert.Equal(t, 160, o.Begins)
	assert.Zero(t, o.Copies)
}

// A coordinator that is killed, or fenced by a second one, goes on from what was saved: it does not submit an attempt
// again, and each attempt begins once at most, after its submit.
func TestCoordinators(t *testing.T) {
	for name, least := range map[string]int64{"mixed": 1, "mixed, coordinator killed": 5, "mixed, two coordinators": 1} {
		submits := map[string]int{}
		c := &coordinator{watch: func(_ time.Duration, name string, a engine.Action) {
			if a.Op == engine.Submit {
				submits[name]++
			}
		}}
		s := scenario(t, name)
		var q *queue
		o, err := play(&s, capture{c, &q}, 1)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, c.store.epoch, least, name)
		begins := 0
		for _, j := range q.jobs {
			assert.Equal(t, 1, submits[j.id], "%s: submits of %s", name, j.id)
			assert.LessOrEqual(t, j.tries, submits[j.id], "%s: begins of %s", name, j.id)
			begins += j.tries
		}
		assert.Len(t, q.jobs, len(submits), "%s: jobs that were submitted", name)
		assert.Equal(t, o.Begins, begins, "%s: begins of no job", name)
		assert.GreaterOrEqual(t, begins, s.Tasks, name)
	}
}

type capture struct {
	player
	to **queue
}

func (c capture) start(q *queue) error {
	*c.to = q
	return c.player.start(q)
}

func TestCell(t *testing.T) {
	outcomes := func(seconds ...int) (all []Outcome) {
		for _, s := range seconds {
			all = append(all, Outcome{Time: time.Duration(s) * time.Second, Used: 100 * time.Second, Wasted: time.Second})
		}
		return all
	}
	c := Cell{Seeds: [][]Outcome{outcomes(10, 10, 40), outcomes(9, 11, 10)}, Sums: make([]Outcome, 2)}
	for i := range c.Seeds {
		for _, o := range c.Seeds[i] {
			c.Sums[i].add(o)
		}
	}
	assert.InDelta(t, .5, c.Time(1, 0), 1e-12)
	assert.InDelta(t, .9, c.Median(1, 0), 1e-12)
	assert.InDelta(t, 2./3, c.Won(1, 0), 1e-12)
	assert.InDelta(t, .01, c.Wasted(1), 1e-12)
	c.Seeds[1][0].Lost = 1
	assert.InDelta(t, 1./3, c.Won(1, 0), 1e-12, "a batch that is faster and has lost a task")
}

// The bill of the shadow mode is near what acting saves, and nothing is started or killed.
func TestBillOfTheShadowMode(t *testing.T) {
	const seeds = 8
	for _, name := range []string{"healthy", "one worker 8x, 80 of 2 s", "3 % hang", "long, untold", "mixed"} {
		s := scenario(t, name)
		shadow := Player{Engine: true, Shadow: true, Watch: func(_ time.Duration, name string, a engine.Action) {
			require.Contains(t, []restart.Action{restart.Keep, restart.Kill}, a.Decision.Action, "%s: %v", name, a)
		}}
		c, err := Play(s, []Player{shadow, {Engine: true}}, seeds)
		require.NoError(t, err)
		assert.Zero(t, c.Sums[0].Copies, name)
		assert.InDelta(t, 1-c.Time(1, 0), c.Sums[0].Bill.Saved, .1, name)
	}
}

// An unlucky attempt takes eight times as long.
func TestUnlucky(t *testing.T) {
	n := 0
	for seed := 1; seed <= 40; seed++ {
		l, s := luck(seed), Scenario{Tasks: 1, Workers: 12, Unlucky: .3}
		_, _, slow := l.fate(&s, 0, 0)
		want := took(&s, l, 0)
		if slow {
			want *= UnluckyTimes
			n++
		}
		if want > Timeout {
			continue
		}
		o, err := Player{}.Run(s, seed)
		require.NoError(t, err)
		assert.InDelta(t, want.Seconds(), o.Used.Seconds(), 1e-6, "seed %d", seed)
	}
	assert.Greater(t, n, 5)
}
