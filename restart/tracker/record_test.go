package tracker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// silentPhases runs phases without reports one after another, under Mantri, on ten machines with one slot each. The
// phases share a record of machines. Tasks take 15 to 25 s, times a factor of the task, the attempt and the machine.
// The results are the record, and the number of attempts of the last phase that began on machine 9.
func silentPhases(t *testing.T, seed uint64, phases int, factor func(rng *rand.Rand, task, machine int) float64) (
	record *machines.Record, there int,
) {
	t.Helper()
	know := new(tracker.Knowledge)
	rng := rand.New(rand.NewPCG(seed, 12))
	clock := start
	for range phases {
		there = 0
		s := newSim(t, tracker.Config{
			Tasks: 100, Machines: 10, Interval: 2 * time.Second, Policy: restart.Mantri{}, Limits: published, Knowledge: know,
		}, func(task, _, machine int) time.Duration {
			if machine == 9 {
				there++
			}
			return seconds((15 + 10*rng.Float64()) * factor(rng, task, machine))
		})
		s.done = func(int, float64) tracker.Report { return tracker.Report{} }
		s.began = clock
		clock = clock.Add(s.run(t))
	}
	return know.Machines(), there
}

// A machine is 8 times slower than the others. No attempt ever finishes there, and none reports. Still the record
// judges the machine to be slow, and in the second phase no task starts there. The only evidence is a few ages at
// which attempts were killed. So in one phase of a hundred, a further attempt may start there.
func TestASlowMachineIsKnownWithoutReports(t *testing.T) {
	started, seeds := 0, cases(25, 100)
	for seed := range seeds {
		record, there := silentPhases(t, seed, 2, func(_ *rand.Rand, _, machine int) float64 {
			if machine == 9 {
				return 8
			}
			return 1
		})
		assert.Equal(t, machines.Slow, record.Judge(9).Standing, "seed %d", seed)
		assert.Equal(t, []int{9}, record.AppendAvoid(nil), "seed %d", seed)
		started += there
	}
	assert.LessOrEqual(t, started, int(seeds/100))
}

// Some tasks are long on every machine, or some attempts are slow by chance. Mantri kills as many attempts as with a
// slow machine, but the record judges no machine to be slow.
func TestLongTasksMakeNoMachineSlow(t *testing.T) {
	for name, factor := range map[string]func(rng *rand.Rand, task, machine int) float64{
		"long tasks": func(_ *rand.Rand, task, _ int) float64 {
			if task%10 == 3 {
				return 8
			}
			return 1
		},
		"bad luck": func(rng *rand.Rand, _, _ int) float64 {
			if rng.IntN(10) == 0 {
				return 8
			}
			return 1
		},
	} {
		slow := 0
		for seed := range cases(3, 6) {
			record, _ := silentPhases(t, seed, 3, factor)
			slow += len(record.AppendAvoid(nil))
		}
		assert.Zero(t, slow, "%s: no machine may be judged slow", name)
	}
}
