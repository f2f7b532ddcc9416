package restart_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler"
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
)

func TestNamesAreCompleteAndDistinct(t *testing.T) {
	seen := map[string]bool{}
	for a := restart.Keep; a <= restart.Start; a++ {
		assert.Regexp(t, `^[a-z-]+$`, a.String())
		assert.False(t, seen[a.String()], "two values have the name %v", a)
		seen[a.String()] = true
	}
	assert.Equal(t, "Action(5)", (restart.Start + 1).String())
	for r := restart.NoReason; r < restart.Reason(restart.Reasons); r++ {
		assert.Regexp(t, `^[a-z-]+$`, r.String())
		assert.False(t, seen[r.String()], "two values have the name %v", r)
		seen[r.String()] = true
	}
	for m := restart.NoMeasure; m <= restart.WaitingTasks; m++ {
		assert.Regexp(t, `^[a-z-]+$`, m.String())
		assert.False(t, seen[m.String()], "two values have the name %v", m)
		seen[m.String()] = true
	}
	assert.Equal(t, "Reason("+strconv.Itoa(restart.Reasons)+")", restart.Reason(restart.Reasons).String())
}

// Hosts log and store the names and the numbers, so they never change.
func TestNamesAreStable(t *testing.T) {
	names := map[restart.Reason]string{
		0: "no-reason", 1: "fresh-sooner", 2: "saves-resources", 3: "idle-slot", 4: "slower-attempt", 5: "longest-to-end",
		6: "behind-average", 7: "near-end", 8: "beyond-peers", 9: "next-waiting", 10: "not-slow", 11: "no-estimate",
		12: "too-young", 13: "too-few-finished", 14: "tasks-waiting", 15: "no-free-slot", 16: "enough-attempts",
		17: "copy-too-recent", 18: "restarts-spent", 19: "cap-reached", 20: "budget-spent", 21: "not-eligible",
		22: "slow-machine", 23: "same-machine", 24: "nothing-to-do", 25: "not-running", 26: "disabled", 27: "overtaken", 28: "no-progress",
		29: "bad-units", 30: "unlikely", 31: "leaving", 32: "cloned", 33: "bad-answer", 34: "furthest-on", 35: "unproven", 36: "held",
		37: "loss-bound", 38: "copy-faster", 39: "not-restartable", 40: "copies-spent", 41: "beaten-machine", 42: "no-faster", 43: "bad-machine",
		44: "overdue",
	}
	assert.Len(t, names, restart.Reasons)
	for r, want := range names {
		assert.Equal(t, want, r.String())
	}
	for m, want := range map[restart.Measure]string{
		0: "no-measure", 1: "slot-seconds", 2: "saved-slot-seconds", 3: "lost-slot-seconds", 4: "saved-seconds", 5: "run-seconds",
		6: "since-copy-seconds", 7: "unit-seconds", 8: "probability", 9: "won-trials", 10: "past-restarts", 11: "past-copies",
		12: "running-attempts", 13: "faster-attempts", 14: "finished-tasks", 15: "finished-share", 16: "copy-share",
		17: "progress-score", 18: "progress-rate", 19: "work-rate", 20: "machine-score", 21: "slow-factor",
	} {
		assert.Equal(t, want, m.String())
	}
}

func TestADecisionPrintsTheFactsThatItUsed(t *testing.T) {
	assert.Equal(t, "keep no-reason", restart.Decision{}.String())
	d := restart.Decision{Reason: restart.NoEstimate, Remaining: time.Hour, Fresh: estimate.Unknown}
	assert.Equal(t, "keep no-estimate remaining=3600s fresh=?", d.String())
	fields := d.LogValue().Group()
	assert.Nil(t, fields[len(fields)-1].Value.Any(), "an unknown duration is null")
	d = restart.Decision{Action: restart.Kill, Reason: restart.SlowerAttempt, Attempt: 2}
	assert.Equal(t, "kill slower-attempt attempt=2", d.String())
	d = restart.Decision{Reason: restart.NotSlow, Comparison: restart.Compare(restart.RunSeconds, 2.5, 3), Gain: math.MaxInt64}
	assert.Equal(t, "keep not-slow run-seconds=2.5 threshold=3 gain=inf", d.String())
	d = restart.Mantri{}.Decide(single(41*time.Second, 30), scarce)
	text, err := json.Marshal(d)
	require.NoError(t, err)
	assert.Equal(t, `{"action":"restart","reason":"fresh-sooner","attempt":0,"remaining":41,"fresh":30,"bar":40,"gain":11,"avoid":[0]}`,
		string(text))
	_, err = json.Marshal(restart.Decision{Action: 9})
	assert.Error(t, err, "there is no action 9")
}

// A decision reads back as itself from JSON and from gob.
func TestADecisionReadsBackFromJSONAndGob(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	span := func() time.Duration {
		return []time.Duration{0, estimate.Unknown, math.MaxInt64, time.Duration(rng.Int64() >> rng.IntN(63))}[rng.IntN(4)]
	}
	var b bytes.Buffer
	encoder, decoder := gob.NewEncoder(&b), gob.NewDecoder(&b)
	for range 3000 {
		task := restart.Task{}
		for range rng.IntN(9) {
			task.PastMachines = append(task.PastMachines, int(rng.Int64()>>rng.IntN(63)))
		}
		d := restart.Decision{
			Action: restart.Action(rng.IntN(5)), Reason: restart.Reason(rng.IntN(restart.Reasons)),
			Basis: restart.Basis(rng.IntN(4)), Remaining: span(), Fresh: span(), Bar: span(), Gain: span(),
			Avoid: restart.Avoid(task, restart.Phase{}),
		}
		if d.Action == restart.Restart || d.Action == restart.Kill {
			d.Attempt = rng.IntN(3)
		}
		if rng.IntN(2) == 0 {
			of := restart.Measure(1 + rng.IntN(int(restart.WaitingTasks)))
			d.Comparison = restart.Compare(of, rng.NormFloat64(), rng.ExpFloat64())
		}
		text, err := json.Marshal(d)
		require.NoError(t, err)
		var read restart.Decision
		require.NoError(t, json.Unmarshal(text, &read), "%s", text)
		if d != read {
			require.Equal(t, d, read, "%s", text)
		}
		require.NoError(t, encoder.Encode(d))
		read = restart.Decision{}
		require.NoError(t, decoder.Decode(&read))
		if d != read {
			require.Equal(t, d, read)
		}
	}
	for text, want := range map[string]string{
		`{"action":"keep","reason":"not-slow","avoid":[1,2,3,4,5,6,7]}`: "restart: Decision.avoid is [1 2 3 4 5 6 7], want the numbers of at most six",
		`{"action":"keep","reason":"not-slow","avoid":[1,1]}`:           "want the numbers of at most six machines, each once",
		`{"action":"keep","reason":"odd"}`:                              "restart: Reason is \"odd\", want one of: no-reason",
		`{"action":"keep","reason":"not-slow","x":1}`:                   "restart: Decision.x is",
	} {
		var d restart.Decision
		assert.ErrorContains(t, json.Unmarshal([]byte(text), &d), want)
		assert.Zero(t, d)
	}
	var set restart.MachineSet
	require.NoError(t, set.UnmarshalBinary([]byte("[3,7]")))
	assert.True(t, set.Len() == 2 && set.At(1) == 7)
	var bad *straggler.FieldError
	for _, wrong := range []string{"[3,3]", "[-1]", "[1,2,3,4,5,6,7]", "{}", ""} {
		assert.ErrorAs(t, set.UnmarshalBinary([]byte(wrong)), &bad, wrong)
	}
	assert.Equal(t, 2, set.Len(), "an error changes nothing")
}

func TestAvoidLeavesOneMachine(t *testing.T) {
	task := single(time.Hour, 1)
	task.Attempts[0].Machine = 4
	task.PastMachines = []int{3, 4, -1, 2, 9, 8, 7, 6, math.MaxInt}
	for machines, want := range map[int][]int{
		0: {4, 3, 2, 9, 8, 7}, 1: nil, 2: {4}, 4: {4}, 9: {4, 3, 2, 9, 8, 7}, 100: {4, 3, 2, 9, 8, 7}, -5: {4, 3, 2, 9, 8, 7},
	} {
		p := scarce
		p.Machines = machines
		avoid := restart.Mantri{}.Decide(task, p).Avoid
		var got []int
		for i := range avoid.Len() {
			got = append(got, avoid.At(i))
			assert.True(t, avoid.Has(avoid.At(i)))
		}
		assert.Equal(t, want, got, "with %d machines", machines)
		assert.Equal(t, -1, avoid.At(avoid.Len()))
		assert.Equal(t, -1, avoid.At(-1))
		assert.False(t, avoid.Has(-1))
	}
	assert.LessOrEqual(t, restart.Mantri{}.Decide(task, scarce).Avoid.Len(), restart.MaxAvoid)
}

func TestNextStartsTheLargestKnownWork(t *testing.T) {
	nan := math.NaN()
	i, d := restart.Next(restart.Never{}, []restart.Task{single(time.Hour, 1)}, nil, idle)
	assert.Equal(t, -1, i)
	assert.Equal(t, restart.Decision{Reason: restart.NothingToDo}, d)
	for want, works := range map[int][]float64{0: {nan, nan}, 1: {nan, 1, 1}, 2: {1, nan, 2}} {
		i, d := restart.Next(restart.Never{}, nil, works, idle)
		assert.Equal(t, want, i, "of the works %v", works)
		assert.Equal(t, restart.Start, d.Action)
	}
	i, d = restart.Next(restart.Mantri{}, []restart.Task{single(time.Hour, 1)}, nil, idle) // nil is LeastCost
	assert.Equal(t, 0, i)
	assert.Equal(t, restart.IdleSlot, d.Reason)
}

// Policies are values without state. Many goroutines may share them, their facts and their distributions.
func TestPoliciesAreSafeForConcurrentUse(t *testing.T) {
	rate := empirical(100)
	tasks, phase := runningTasks(50, rate)
	phase.Finished, phase.FreeSlots = 50, 10
	phase.Peers = restart.Peers{Durations: rate, UnitTimes: rate, ProgressRates: rate, MeanScore: 0.8, Throughput: 1}
	for _, policy := range policytest.Policies() {
		want := make([]restart.Decision, len(tasks))
		for i := range tasks {
			want[i] = policy.Decide(tasks[i], phase)
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for i := range tasks {
					if got := policy.Decide(tasks[i], phase); got != want[i] {
						t.Errorf("the decision is %v, want %v", got, want[i])
					}
				}
			})
		}
		group.Wait()
	}
}
