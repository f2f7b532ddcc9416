package workload

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

func read(t *testing.T, lines ...string) *trace.Log {
	t.Helper()
	log, err := trace.Read(strings.NewReader(strings.Join(lines, "\n")), "test")
	require.NoError(t, err)
	require.Zero(t, log.Faults.Total(), log.Faults)
	return log
}

func withoutAction(t *testing.T, p *sim.Phase) sim.Result {
	t.Helper()
	r, err := sim.Run(p, sim.Options{Policy: restart.Never{}})
	require.NoError(t, err)
	return r
}

const s = time.Second

func TestFromLog(t *testing.T) {
	log := read(t,
		// Host a runs task 0, rests 1 s, and runs task 2. Host b fails task 1 and runs it again at once, 2 s later.
		`{"phase":"p","task":0,"start":1000,"finish":6000,"host":"a","input":100}`,
		`{"phase":"p","task":2,"start":7000,"finish":9000,"host":"a","input":300}`,
		`{"phase":"p","task":1,"attempt":0,"start":2000,"finish":5000,"state":"failed","host":"b"}`,
		`{"phase":"p","task":1,"attempt":1,"start":7500,"finish":9500,"host":"b","input":200}`,
		// Task 3 had a copy on c, which lost; its slot took nothing else. Task 4 never succeeded.
		`{"phase":"p","task":3,"attempt":0,"start":3000,"finish":9000,"host":"d","input":100}`,
		`{"phase":"p","task":3,"attempt":1,"start":4000,"finish":9000,"state":"killed","host":"c"}`,
		`{"phase":"p","task":4,"attempt":0,"start":1000,"finish":2000,"state":"failed","host":"e"}`,
	)
	phases, left := FromLog(log)
	require.Len(t, phases, 1)
	p := phases[0]
	assert.Equal(t, Left{Attempts: 1}, left)
	require.Len(t, p.Tasks, 4)
	assert.Equal(t, []int32{0, 1, 2, 3, 1}, p.Order, "tasks are numbered in the order of their starts")
	assert.Equal(t, sim.Task{Host: "a", Work: 100, First: true, Attempts: []sim.Attempt{{Duration: 5 * s}}}, p.Tasks[0])
	assert.Equal(t, sim.Task{Number: 1, Host: "b", Start: 6500 * time.Millisecond, Work: 200, Attempts: []sim.Attempt{{Duration: 3 * s}, {Duration: 2 * s}}}, p.Tasks[1])
	assert.Equal(t, sim.Task{Number: 2, Host: "a", Start: 6 * s, Work: 300, Attempts: []sim.Attempt{{Duration: 2 * s}}}, p.Tasks[3])
	assert.Equal(t, []sim.Slot{
		{Machine: 0, Rests: []time.Duration{s}},
		{Machine: 1, Opens: s, Rests: []time.Duration{2500 * time.Millisecond}},
		{Machine: 2, Opens: 2 * s},
	}, p.Slots)
	assert.Equal(t, 3, p.Machines)
	assert.Equal(t, 8500*time.Millisecond, p.Recorded)
	assert.Equal(t, p.Recorded, withoutAction(t, p).Time)
}

func TestLostOutputIsComputedTwice(t *testing.T) {
	phases, _ := FromLog(read(t,
		`{"phase":"p","task":0,"attempt":0,"start":0,"finish":1000,"state":"lost","host":"a"}`,
		`{"phase":"p","task":0,"attempt":1,"start":5000,"finish":7000,"host":"a"}`,
		`{"phase":"q","task":0,"start":0,"state":"unfinished","host":"a"}`,
	))
	require.Len(t, phases, 1)
	assert.Equal(t, []sim.Attempt{{Duration: s}, {Duration: 2 * s, Wait: 4 * s}}, phases[0].Tasks[0].Attempts)
	assert.Equal(t, 7*s, withoutAction(t, phases[0]).Time)
}

// A slot that was given to others while tasks waited is not there in the replay either.
func TestSlotThatWasTakenAway(t *testing.T) {
	phases, _ := FromLog(read(t,
		`{"phase":"p","task":0,"start":0,"finish":3000,"host":"a"}`,
		`{"phase":"p","task":1,"start":9000,"finish":9500,"host":"b"}`,
	))
	assert.Equal(t, 3*s, phases[0].Slots[0].Closes)
	assert.Equal(t, 9500*time.Millisecond, withoutAction(t, phases[0]).Time)

	phases[0].Tasks[0].Attempts[0].Duration = s
	assert.Equal(t, 9500*time.Millisecond, withoutAction(t, phases[0]).Time, "a shorter task 0 does not make room for task 1")
}

// Host a ends its last task while task 3 waits, but host b is free, and takes it a second later. So host a is still there, and could
// take a copy, but not task 3, although host d shows that slots take tasks at once.
func TestSlotThatWasNotNeeded(t *testing.T) {
	phases, _ := FromLog(read(t,
		`{"phase":"p","task":0,"start":0,"finish":3000,"host":"a"}`,
		`{"phase":"p","task":1,"start":0,"finish":2000,"host":"b"}`,
		`{"phase":"p","task":2,"start":0,"finish":9000,"host":"c"}`,
		`{"phase":"p","task":3,"start":4000,"finish":12000,"host":"b"}`,
		`{"phase":"p","task":4,"start":0,"finish":1000,"host":"d"}`,
		`{"phase":"p","task":5,"start":1000,"finish":2000,"host":"d"}`,
		`{"phase":"p","task":6,"start":2000,"finish":9000,"host":"d"}`,
	))
	for _, slot := range phases[0].Slots {
		assert.Zero(t, slot.Closes)
	}
	assert.Zero(t, phases[0].Rest)
	assert.Equal(t, 12*s, withoutAction(t, phases[0]).Time)

	phases, _ = FromLog(read(t,
		`{"phase":"p","task":0,"start":0,"finish":3000,"host":"a"}`,
		`{"phase":"p","task":1,"start":0,"finish":2000,"host":"b"}`,
		`{"phase":"p","task":2,"start":4000,"finish":5000,"host":"b"}`,
		`{"phase":"p","task":3,"start":6000,"finish":7000,"host":"b"}`,
	))
	a := slices.IndexFunc(phases[0].Slots, func(slot sim.Slot) bool { return phases[0].Hosts[slot.Machine] == "a" })
	assert.Equal(t, 3*s, phases[0].Slots[a].Closes, "two tasks wait, and one host is free")
}

// A log that has whole seconds says 0 s for tasks of half a second. No copy takes 0 s, unless all tasks do.
func TestNoCopyTakesNoTime(t *testing.T) {
	phases, _ := FromLog(read(t,
		`{"phase":"p","task":0,"start":"2026-03-01T10:00:00Z","finish":"2026-03-01T10:00:01Z"}`,
		`{"phase":"p","task":1,"start":"2026-03-01T10:00:00Z","finish":"2026-03-01T10:00:00Z"}`,
		`{"phase":"p","task":2,"start":"2026-03-01T10:00:00Z","finish":"2026-03-01T10:00:09Z"}`,
		`{"phase":"q","task":0,"start":"2026-03-01T10:00:00Z","finish":"2026-03-01T10:00:00Z"}`,
	))
	seen := map[time.Duration]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		seen[phases[0].Draw(r, 0, -1, false)] = true
	}
	assert.Equal(t, map[time.Duration]bool{s: true, 9 * s: true}, seen)
	assert.Zero(t, phases[1].Draw(r, 0, -1, false))
}

func TestUnknownIsNotZero(t *testing.T) {
	phases, _ := FromLog(read(t,
		`{"phase":"p","task":0,"start":0,"finish":3000}`,
		`{"phase":"p","task":1,"start":0,"finish":2000,"input":0}`,
		`{"phase":"p","task":2,"start":0,"finish":2000,"input":5}`,
	))
	assert.Equal(t, []float64{1, 5, 0}, []float64{phases[0].Tasks[0].Work, phases[0].Tasks[1].Work, phases[0].Tasks[2].Work},
		"nothing read is one byte, unknown is 0")
	assert.Equal(t, -1, phases[0].Slots[0].Machine)
	assert.Zero(t, phases[0].Machines)
}

// A time that is wrong by more than a year costs its task, and not the other tasks of the phase.
func TestTimesThatAreAYearApart(t *testing.T) {
	const task = `{"job":"j","phase":"p","task":%d,"start":%d,"finish":%d}`
	const days = 24 * 3600 * 1000
	for name, c := range map[string]struct {
		times [][2]int // start and finish of each task
		kept  []int32
		left  Left
	}{
		"one of 400 days":            {[][2]int{{0, 9000}, {0, 400 * days}, {1, 8000}}, []int32{0, 2}, Left{Far: 1, FirstFar: "task 1 of j p"}},
		"one of just a year":         {[][2]int{{0, 9000}, {0, 365 * days}}, []int32{0, 1}, Left{}},
		"seconds among milliseconds": {[][2]int{{1700000000, 1700000009}, {1700000000000, 1700000009000}, {1700000000000, 1700000008000}}, []int32{1, 2}, Left{Far: 1, FirstFar: "task 0 of j p"}},
		"most of them early":         {[][2]int{{0, 9000}, {1, 8000}, {800 * days, 800*days + 9}, {2, 7000}}, []int32{0, 1, 3}, Left{Far: 1, FirstFar: "task 2 of j p"}},
		"half and half":              {[][2]int{{0, 9000}, {1, 8000}, {800 * days, 800*days + 9}, {800 * days, 800*days + 8}}, nil, Left{Phases: 1}},
		"none left":                  {[][2]int{{1, 1700000000000}}, nil, Left{Far: 1, FirstFar: "task 0 of j p"}},
	} {
		lines := []string{`{"phase":"q","task":0,"start":0,"finish":0}`}
		for i, times := range c.times {
			lines = append(lines, fmt.Sprintf(task, i, times[0], times[1]))
		}
		phases, left := FromLog(read(t, lines...))
		assert.Equal(t, c.left, left, name)
		var kept []int32
		for _, p := range phases[1:] {
			for _, task := range p.Tasks {
				kept = append(kept, task.Number)
			}
			assert.Less(t, withoutAction(t, p).Time, 366*24*time.Hour, name)
		}
		slices.Sort(kept)
		assert.Equal(t, c.kept, kept, name)
		assert.Zero(t, withoutAction(t, phases[0]).Time)
	}
}

// Whatever a log holds, every policy gets to the end of it, and doing nothing costs what the attempts took.
func TestAnyLogEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	states := []string{"succeeded", "succeeded", "succeeded", "failed", "killed", "lost"}
	for range 300 {
		var lines []string
		for range 2 + r.IntN(40) {
			start := r.IntN(50)
			lines = append(lines, fmt.Sprintf(`{"phase":"p","task":%d,"start":%d,"finish":%d,"state":"%s","host":"%d","input":%d}`,
				r.IntN(20), 100*start, 100*(start+r.IntN(80)), states[r.IntN(len(states))], r.IntN(4), r.IntN(3)*r.IntN(1e9)))
		}
		phases, _ := FromLog(read(t, lines...))
		for _, p := range phases {
			used := time.Duration(0)
			for _, task := range p.Tasks {
				for _, a := range task.Attempts {
					used += a.Duration
				}
			}
			assert.Equal(t, used, withoutAction(t, p).Used)
			for _, policy := range []restart.Policy{restart.Mantri{}, rules.LATE{Early: true}, rules.Dryad{}, rules.Flink{}} {
				for _, largest := range []bool{false, true} {
					_, err := sim.Run(p, sim.Options{Policy: policy, LargestFirst: largest})
					require.NoError(t, err, "%T %v", policy, lines)
				}
			}
		}
	}
}

// Replaying real logs without action gives back the recorded times.
func TestRealLogsComeBack(t *testing.T) {
	root := os.Getenv("STRAGGLER_TRACES")
	if root == "" {
		t.Skip("no real logs: STRAGGLER_TRACES does not name a folder of folders of logs")
	}
	files, _ := filepath.Glob(filepath.Join(root, "*", "*.*"))
	worst := map[string]float64{}
	for _, file := range files {
		log, err := trace.Open(file)
		if err != nil {
			continue // not all files there are logs
		}
		phases, _ := FromLog(log)
		for _, p := range phases {
			r := withoutAction(t, p)
			off := (r.Time - p.Recorded).Seconds() / p.Recorded.Seconds()
			name := filepath.Base(file)
			worst[name] = max(worst[name], off, -off)
		}
	}
	require.NotEmpty(t, worst, "no logs in %s", root)
	for name, off := range worst {
		assert.LessOrEqual(t, off, 0.005, name)
	}
}

// Of two successes of a task the first to end counts, except where its output was lost.
func TestFirstSuccessCounts(t *testing.T) {
	phases, left := FromLog(read(t,
		`{"phase":"race","task":0,"start":0,"finish":9000,"host":"a"}`,
		`{"phase":"race","task":0,"attempt":1,"start":2000,"finish":3000,"host":"b"}`,
		`{"phase":"lost","task":0,"start":0,"finish":2000,"state":"lost","host":"a"}`,
		`{"phase":"lost","task":0,"attempt":1,"start":2000,"finish":9000,"host":"b"}`,
		`{"phase":"lost","task":0,"attempt":2,"start":2500,"finish":5000,"host":"a"}`,
		`{"phase":"never again","task":0,"start":0,"finish":2000,"state":"lost","host":"a"}`,
	))
	require.Len(t, phases, 3)
	assert.Equal(t, Left{Attempts: 2}, left)
	assert.Equal(t, []sim.Attempt{{Duration: s}}, phases[0].Tasks[0].Attempts)
	assert.Equal(t, 3*s, phases[0].Recorded, "from the first start to the first success")
	assert.Equal(t, []sim.Attempt{{Duration: 2 * s}, {Duration: 2500 * time.Millisecond, Wait: s / 2}}, phases[1].Tasks[0].Attempts)
	assert.Equal(t, []sim.Attempt{{Duration: 2 * s}}, phases[2].Tasks[0].Attempts)
}

// How the progress of an attempt ran comes through any number of parts, but only of one that ran for ten seconds.
func TestSplits(t *testing.T) {
	log := read(t,
		`{"phase":"p","task":0,"start":0,"finish":78000,"splits":[1000,2000,3000,4000,5000,6000,7000,8000,9000,10000,11000,12000]}`,
		`{"phase":"p","task":1,"start":0,"finish":30000,"splits":[18000,12000]}`,
		`{"phase":"p","task":2,"start":0,"finish":24000,"splits":[0,4800,4800,9600,4800]}`,
		`{"phase":"p","task":3,"start":0,"finish":9000,"splits":[4000,5000]}`,
		`{"phase":"p","task":4,"start":0,"finish":20000,"splits":[0,0]}`,
		`{"phase":"p","task":5,"start":0,"finish":20000}`,
	)
	for _, write := range []func(io.Writer, *trace.Log) error{nil, trace.Write, trace.WriteTable} {
		if write != nil { // what is converted keeps it
			var text strings.Builder
			require.NoError(t, write(&text, log))
			log = read(t, text.String())
		}
		phases, _ := FromLog(log)
		splits := map[time.Duration]*sim.Splits{}
		for _, task := range phases[0].Tasks {
			splits[task.Attempts[0].Duration/time.Second] = task.Attempts[0].Splits
		}
		assert.Equal(t, &sim.Splits{1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000}, splits[78])
		want := map[time.Duration]sim.Splits{
			30: {3000, 3000, 3000, 3000, 3000, 3000, 2000, 2000, 2000, 2000, 2000, 2000},
			24: {0, 0, 1200, 2000, 2000, 2000, 2000, 3600, 4000, 3200, 2000, 2000}, // a twelfth is 5/12 of a fifth
		}
		for took, parts := range want {
			for i, part := range parts {
				assert.InDelta(t, part, splits[took][i], 1e-9, "twelfth %d of %v s", i, took)
			}
		}
		assert.Equal(t, []*sim.Splits{nil, nil}, []*sim.Splits{splits[9], splits[20]})
	}
}

// The recorded attempts after which typical progress is made are as docs/progress.md says. The logs are not part of the
// repository: STRAGGLER_TRACES names their directory.
func TestRealProgress(t *testing.T) {
	dir := os.Getenv("STRAGGLER_TRACES")
	if dir == "" {
		t.Skip("no real logs: STRAGGLER_TRACES does not name their directory")
	}
	files, err := filepath.Glob(filepath.Join(dir, "rumen-*", "*.json.gz"))
	require.NoError(t, err)
	var first, half []float64
	still := 0
	for _, file := range files {
		log, err := trace.Open(file)
		require.NoError(t, err)
		for i := range log.Phases {
			for j := range log.Phases[i].Attempts {
				parts := splitsOf(log, &log.Phases[i].Attempts[j])
				if parts == nil {
					continue
				}
				early, sum := 0.0, 0.0
				for k, part := range parts {
					if sum += part; k < sim.Parts/2 {
						early += part
					}
				}
				first, half = append(first, parts[0]/sum), append(half, early/sum)
				if slices.Max(parts[:sim.Parts/2]) > sum/2 {
					still++
				}
			}
		}
	}
	slices.Sort(first)
	slices.Sort(half)
	n := len(first)
	require.Equal(t, 231, n)
	assert.InDeltaSlice(t, []float64{0.09, 0.13, 0.55, 0.69}, []float64{first[n/4], first[3*n/4], half[n/4], half[3*n/4]}, 0.005)
	assert.InDelta(t, 1.0/8, float64(still)/float64(n), 0.01)
}
