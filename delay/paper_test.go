package delay

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test is about one statement of Zaharia et al., EECS-2009-55 (FAIR), or Ananthanarayanan et al., NSDI 2013 (Dolly),
// and is named by its section.

var start = time.Unix(0, 0)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(math.Round(seconds * float64(time.Second))))
}

func started(t *testing.T, c Config) *Locality {
	t.Helper()
	p, err := New(c)
	require.NoError(t, err)
	j := p.Start(start)
	return &j
}

// A job starts at level 0, goes to level 1 once it has waited at least T_1 and to level 2 after T_2 more; a more local
// launch takes it back.
func TestLevels_FAIR42(t *testing.T) {
	j := started(t, Config{})
	d := j.Offer(at(100), 1)
	assert.Equal(t, Decision{Reason: Delayed, Level: 1, Rise: 15 * time.Second}, d, "the wait begins with the first rejection")
	assert.True(t, d.Rejected())
	d = j.Offer(at(114.999), 1)
	assert.Equal(t, time.Millisecond, d.Rise)
	d = j.Offer(at(115), 2)
	assert.Equal(t, Decision{Reason: Delayed, Level: 2, Allowed: 1, Rise: 15 * time.Second}, d, "at least T_1, not more than T_1")
	assert.Equal(t, Launch, j.Offer(at(120), 1).Action)
	assert.Equal(t, Delayed, j.Offer(at(200), 2).Reason, "the launch set the wait to 0")
	d = j.Offer(at(215), 2)
	assert.Equal(t, "launch local-enough level=2 allowed=2", d.String())
	d = j.Offer(at(216), 0)
	assert.Equal(t, Launch, d.Action)
	level, _ := j.Allowed(at(216))
	assert.Equal(t, 0, level, "a more local launch takes it back")
}

// With 5 slots a node and 3 replicas, 15 slots have the data; of 60 s tasks, at least one ends within 15 s with
// probability 1-(3/4)^15 = 98.66 %.
func TestLocalWithin_FAIR42(t *testing.T) {
	p, err := LocalWithin(15*time.Second, time.Minute, 15)
	require.NoError(t, err)
	assert.InDelta(t, .986636539, p, 1e-9)
	const trials = 100000
	source := rand.New(rand.NewPCG(4, 2))
	local := 0
	for range trials {
		for range 15 {
			if source.Float64()*60 < 15 {
				local++
				break
			}
		}
	}
	assert.InDelta(t, p, float64(local)/trials, 4*math.Sqrt(p*(1-p)/trials))
}

// Waiting pays exactly if D > t, and the gain is 86 % of what can be gained at w = 2t. The formula is lost from the text;
// the one here agrees with a simulation of the model.
func TestGain_FAIR431(t *testing.T) {
	gain := func(w, s, d float64) float64 {
		g, err := Gain(at(w).Sub(start), at(s).Sub(start), at(d).Sub(start))
		require.NoError(t, err)
		return g.Seconds()
	}
	assert.Positive(t, gain(1, 3, 3.001))
	assert.Zero(t, gain(1, 3, 3))
	assert.Negative(t, gain(1, 3, 2.999))
	assert.InDelta(t, .8647, gain(6, 3, 4), .00005)
	assert.InDelta(t, 6.0527, gain(6, 3, 10), .00005)

	const trials = 200000
	source := rand.New(rand.NewPCG(4, 3))
	sum, squares := 0.0, 0.0
	for range trials {
		g := -6.0 // waited in vain
		if s := 3 * source.ExpFloat64(); s < 6 {
			g = 10 - s
		}
		sum += g
		squares += g * g
	}
	mean := sum / trials
	deviation := math.Sqrt((squares/trials - mean*mean) / trials)
	assert.InDelta(t, mean, gain(6, 3, 10), 4*deviation)
}

// The optimal wait is infinite if D > t, so that the worst case sets it, and CPU-bound jobs, D = 0, go right away.
func TestBestWait_FAIR431(t *testing.T) {
	for _, b := range []struct{ spacing, cost, want time.Duration }{
		{3, 4, 15}, {3, 3, 0}, {3, 2, 0}, {3, 0, 0}, {0, 1, 15}, {Forever, 5, 0},
	} {
		w, err := BestWait(b.spacing, b.cost, 15)
		require.NoError(t, err)
		assert.Equal(t, b.want, w, "%+v", b)
	}
}

// 64 MB in 5 s is 12.8 MB/s, in 25 s 2.56 MB/s. Setting the waits lower for the slower reader is IO-rate biasing.
func TestIORateBiasing_FAIR432(t *testing.T) {
	scan, err := ReadRate(64e6, 5*time.Second)
	require.NoError(t, err)
	assert.Equal(t, 12.8e6, scan)
	compute, err := ReadRate(64e6, 25*time.Second)
	require.NoError(t, err)
	assert.Equal(t, 2.56e6, compute)

	b, err := NewBiased(
		Class{MinRate: 10e6, Config: Config{Waits: []time.Duration{10 * time.Second}}},
		Class{Config: Config{Waits: []time.Duration{0}}},
	)
	require.NoError(t, err)
	j := b.For(scan).Start(start)
	assert.Equal(t, Wait, j.Offer(start, 1).Action)
	j = b.For(compute).Start(start)
	assert.Equal(t, Launch, j.Offer(start, 1).Action)
	assert.Same(t, b.For(scan), b.For(10e6))
	assert.Same(t, b.For(scan), b.For(math.NaN()), "not known")
}

// With 100 nodes of one slot and 3 replicas, jobs that never leave their slots find below 50 % of their data there at
// five jobs; delay scheduling mends that (Figure 5 and §4.2). Jobs that hold k of 100 nodes find 1-(1-k/100)^3.
func TestStickySlots_FAIR41(t *testing.T) {
	for _, b := range []struct {
		jobs   int
		sticky float64
	}{{2, .88}, {5, .49}, {10, .28}, {20, .15}} {
		assert.InDelta(t, b.sticky, stickyCluster(t, b.jobs, 0), .02, "%d jobs, no wait", b.jobs)
	}
	assert.Greater(t, stickyCluster(t, 5, 10*time.Second), .95)
}

// stickyCluster runs so many scan jobs on 100 nodes of one slot and returns the share of the tasks that ran on a node
// that has their block. Tasks take 10 s and end one by one; the slot is offered to the job with the fewest running
// tasks, which is the one that just lost one, then to the others.
func stickyCluster(t *testing.T, jobs int, wait time.Duration) float64 {
	const nodes, blocks = 100, 6000
	source := rand.New(rand.NewPCG(4, uint64(jobs)))
	policy, err := New(Config{Waits: []time.Duration{wait}})
	require.NoError(t, err)
	type block struct {
		replicas [3]int
		done     bool
	}
	type scan struct {
		Locality
		blocks  []block
		on      [nodes][]int // blocks by node
		next    int          // all blocks before it are done
		running int
	}
	all := make([]scan, jobs)
	for i := range all {
		s := &all[i]
		s.Locality = policy.Start(start)
		s.running = nodes / jobs
		s.blocks = make([]block, blocks/jobs)
		for b := range s.blocks {
			copy(s.blocks[b].replicas[:], source.Perm(nodes)[:3])
			for _, node := range s.blocks[b].replicas {
				s.on[node] = append(s.on[node], b)
			}
		}
	}
	holder := make([]int, nodes)
	for node := range holder {
		holder[node] = node % jobs
	}
	order := make([]int, jobs)
	local, launched := 0, 0
	for step := 0; launched < blocks && step < 100*blocks; step++ {
		now, node := at(float64(step)*.1), step%nodes
		if last := holder[node]; last >= 0 {
			all[last].running--
		}
		for i := range order {
			order[i] = (max(holder[node], 0) + i) % jobs
		}
		slices.SortStableFunc(order, func(a, b int) int { return all[a].running - all[b].running })
		holder[node] = -1
		for _, i := range order {
			s := &all[i]
			for len(s.on[node]) > 0 && s.blocks[s.on[node][0]].done {
				s.on[node] = s.on[node][1:]
			}
			for s.next < len(s.blocks) && s.blocks[s.next].done {
				s.next++
			}
			if s.next == len(s.blocks) {
				continue
			}
			pick, level := s.next, 1
			if len(s.on[node]) > 0 {
				pick, level = s.on[node][0], 0
			}
			if s.Offer(now, level).Action == Launch {
				s.blocks[pick].done = true
				s.running++
				holder[node] = i
				launched++
				local += 1 - level
				break
			}
		}
	}
	require.Equal(t, blocks/jobs*jobs, launched)
	return float64(local) / float64(launched)
}

// The read times of two clones, and of more, against a simulation of the transfers.
func TestReadTimes_Dolly44(t *testing.T) {
	for _, clones := range []int{2, 3, 5} {
		for _, alpha := range []float64{.3, .5, .7, 1} {
			for _, x := range []float64{0, .5, 1.7, 3, 4} {
				const alone = 4.0
				tr := Transfer{Contention: alpha, Clones: clones}
				ends := simulateSharing(clones, alone, alpha, x)
				mean := 0.0
				for _, e := range ends {
					mean += e / float64(clones)
				}
				assert.InDelta(t, mean, tr.read(x, alone, 1), 1e-9, "c=%d α=%v ω=%v", clones, alpha, x)
				assert.InDelta(t, alone+x*float64(clones-1)/float64(clones), tr.read(x, alone, 0), 1e-9)
				tr.Reader = LastReader
				assert.InDelta(t, slices.Max(ends), tr.read(x, alone, 1), 1e-9)
				assert.InDelta(t, alone+x, tr.read(x, alone, 0), 1e-9)
			}
		}
	}
}

// simulateSharing has one clone read an output from 0 on and the others from x on, in small steps of time between
// events, and returns when each is done. One reader gets 1 unit a second, more get alpha each; there are alone units.
func simulateSharing(clones int, alone, alpha, x float64) []float64 {
	left := make([]float64, clones)
	ends := make([]float64, clones)
	for i := range left {
		left[i] = alone
	}
	for now := 0.0; ; {
		active, next := 0, math.Inf(1)
		for i := range left {
			if left[i] > 1e-12 && (i == 0 || now >= x) {
				active++
			}
		}
		if active == 0 && now >= x {
			return ends
		}
		rate := 1.0
		if active > 1 {
			rate = alpha
		}
		if now < x {
			next = x - now
		}
		for i := range left {
			if left[i] > 1e-12 && (i == 0 || now >= x) {
				next = min(next, left[i]/rate)
			}
		}
		for i := range left {
			if left[i] > 1e-12 && (i == 0 || now >= x) {
				if left[i] -= rate * next; left[i] <= 1e-12 {
					ends[i] = now + next
				}
			}
		}
		now += next
		if math.Abs(now-x) < 1e-12 {
			now = x
		}
	}
}

// The window is picked from samples: it is 0 where sharing costs nothing, long enough for the usual lag where sharing
// costs much, and never as long as the lag of a straggler.
func TestWindow_Dolly44(t *testing.T) {
	// 100 MB at 10 MB/s. Eight copies of nine come within 3 s, the ninth straggles.
	lags := []time.Duration{1, 1, 2, 2, 2, 3, 3, 3, 80}
	for i := range lags {
		lags[i] *= time.Second
	}
	tr := Transfer{Lags: lags, Size: 100e6, Bandwidth: 10e6, Contention: .5}
	best, err := Window(tr)
	require.NoError(t, err)
	assert.Equal(t, 3*time.Second, best.Window)
	assert.InDelta(t, 1./9, best.Sharing, 1e-15)
	// ω = 3: shared 1.5·3 + 7/.5 = 18.5 s, own 10 + 1.5 = 11.5 s; ω = 0: 20 s; ω = 10: 15 s.
	assert.InDelta(t, 18.5/9+11.5*8/9, best.Read.Seconds(), 1e-9)
	assert.InDelta(t, 20, best.AtOnce.Seconds(), 1e-9)
	assert.InDelta(t, 15, best.InTurn.Seconds(), 1e-9)

	tr.Contention = 1
	best, err = Window(tr)
	require.NoError(t, err)
	assert.Zero(t, best.Window)

	tr.Contention, tr.Lags = .3, []time.Duration{Forever}
	best, err = Window(tr)
	require.NoError(t, err)
	assert.Equal(t, 10*time.Second, best.Window, "no second copy ever comes, and reading in turn beats sharing")

	tr.Contention, tr.Reader = .5, LastReader
	best, err = Window(tr)
	require.NoError(t, err)
	assert.Equal(t, best.AtOnce, best.InTurn)
	assert.Zero(t, best.Window, "of equals, the shortest")
}

// Every clone waits for ω, for a copy of its own, and then shares; copies that have not finished by then are killed. A
// window of 0 is contention cloning, one without end contention-avoidance cloning.
func TestAssign_Dolly44(t *testing.T) {
	const w = 3 * time.Second
	in := func(waited time.Duration, copies ...Copy) Input { return Input{Copies: copies, Waited: waited} }
	free, taken, runs, lost := Copy{State: Finished}, Copy{State: Finished, Readers: 1}, Copy{}, Copy{State: Failed}
	for _, b := range []struct {
		window time.Duration
		inputs []Input
		want   Assignment
	}{
		{w, []Input{in(0, runs, runs)}, Assignment{Reason: NothingFinished}},
		{w, []Input{in(0, runs, free)}, Assignment{Action: Read, Reason: OwnCopy, Copy: 1}},
		{w, []Input{in(time.Second, taken, runs)}, Assignment{Reason: WindowOpen, Wait: 2 * time.Second}},
		{w, []Input{in(w-1, taken, runs)}, Assignment{Reason: WindowOpen, Wait: 1}},
		{w, []Input{in(w, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		{0, []Input{in(0, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		{Forever, []Input{in(time.Hour, taken, runs)}, Assignment{Reason: WindowOpen}},
		{w, []Input{in(0, taken, lost)}, Assignment{Action: Share, Reason: NoMoreCopies}},
		{w, []Input{in(0, lost, lost)}, Assignment{Reason: NothingLeft}},
		{w, nil, Assignment{Reason: NothingLeft}},
		// A clock that stepped back, and a window that makes no sense.
		{0, []Input{in(-1, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		{w, []Input{in(-1, taken, runs)}, Assignment{Reason: WindowOpen, Wait: w}},
		{-w, []Input{in(-2*w, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		{math.MinInt64, []Input{in(1, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		// Three clones: the least crowded copy is shared, the first of equals.
		{w, []Input{in(w, Copy{Finished, 2}, taken, taken)}, Assignment{Action: Share, Reason: NoMoreCopies, Copy: 1}},
		// Several inputs: a copy of one's own first, then a window that is over, then the shortest wait.
		{w, []Input{in(w, taken, runs), in(0, runs), in(0, free, taken)}, Assignment{Action: Read, Reason: OwnCopy, Input: 2}},
		{w, []Input{in(1, taken, runs), in(w, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, Input: 1, KillRest: true}},
		{w, []Input{in(0, runs), in(time.Second, taken, runs), in(2*time.Second, taken, runs)}, Assignment{Reason: WindowOpen, Wait: time.Second}},
	} {
		assert.Equal(t, b.want, Assign(b.inputs, b.window), "%+v", b)
	}
}
