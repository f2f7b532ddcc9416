package restart_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// A line is for programs, and for readers who know the names. A sentence is for everybody.
func ExampleDecision_Sentence() {
	d := restart.Decision{
		Reason: restart.LossBound, Remaining: 15 * time.Minute, Fresh: 100 * time.Second,
		Comparison: restart.Compare(restart.LostSlotSeconds, 40, 12),
	}
	fmt.Println(d)
	fmt.Println(d.Sentence())
	// Output:
	// keep loss-bound remaining=900s fresh=100s lost-slot-seconds=40 threshold=12
	// kept: trials must not lose too much; this trial might lose 40 s of slot time, and trials may lose 12 s more
}

// Each action, each reason and each measure has its own words. A sentence has every number with its unit, and no name
// of the code.
func TestEachActionReasonAndMeasureHasASentence(t *testing.T) {
	plain := regexp.MustCompile(`^(kept|copied|restarted|killed|started): [a-z][a-zA-Z0-9 ,;:.%]*$`)
	seen := map[string]bool{}
	check := func(d restart.Decision) {
		text := d.Sentence()
		assert.Regexp(t, plain, text)
		assert.False(t, seen[text], "two decisions have the sentence %q", text)
		seen[text] = true
	}
	for a := restart.Keep; a <= restart.Start; a++ {
		check(restart.Decision{Action: a})
	}
	for r := restart.NoReason + 1; r < restart.Reason(restart.Reasons); r++ {
		check(restart.Decision{Reason: r, Remaining: 2 * time.Second, Fresh: time.Second})
	}
	for m := restart.NoMeasure + 1; m <= restart.WaitingTasks; m++ {
		d := restart.Decision{Comparison: restart.Compare(m, 0.125, 1234.5)}
		check(d)
		assert.Regexp(t, `0\.125|12\.5 %`, d.Sentence())
		assert.Regexp(t, `1\.23 thousand|20\.6 min|123 thousand %`, d.Sentence())
	}
	odd := restart.Decision{Action: 9, Reason: 99, Comparison: restart.Comparison{Measure: 99, Value: 1}}
	assert.Equal(t, "kept: no reason is given", odd.Sentence())
}

func TestSentencesSayTheirNumbersWithUnits(t *testing.T) {
	for want, d := range map[string]restart.Decision{
		"restarted: it still needs 41 s, and a new attempt takes 30 s": {
			Action: restart.Restart, Reason: restart.FreshSooner, Remaining: 41 * time.Second, Fresh: 30 * time.Second, Bar: minute,
		},
		"copied: the policy says so": {Action: restart.Copy, Reason: restart.IdleSlot},
		"kept: it is not slow enough; it still needs 41.2 s, and the limit is 60 min": {
			Reason: restart.NotSlow, Remaining: 41234 * time.Millisecond, Bar: time.Hour,
		},
		"kept: the budget for copies is spent": {Reason: restart.BudgetSpent, Remaining: time.Hour, Bar: minute},
		"killed: it is no faster than the older attempt, so the task is probably long by itself; that saves 16.7 min of slot time, and must save 0.5 s": {
			Action: restart.Kill, Reason: restart.NoFaster, Comparison: restart.Compare(restart.SavedSlotSeconds, 999.7, .5),
		},
	} {
		assert.Equal(t, want, d.Sentence())
	}
	d := restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Remaining: estimate.Unknown, Fresh: 1<<63 - 1}
	assert.Equal(t, "copied: it still needs an unknown time, and a copy on an idle slot takes for ever", d.Sentence())
}

// A sentence that depends on the remaining time says on what this time rests. Before enough tasks have ended, only a tenth
// of the predicted run time counts: 3 s left would contradict 4 % after 2 s otherwise.
func TestASentenceSaysOnWhatTheRemainingTimeRests(t *testing.T) {
	const age = "; its remaining time is judged by its age alone"
	const tenth = "; its remaining time rests on only a tenth of the run time that its progress predicts, since too few tasks have ended"
	slow := restart.Decision{Reason: restart.NotSlow, Remaining: 3 * time.Second, Fresh: 50 * time.Second}
	slow.Comparison = restart.Compare(restart.SlotSeconds, 9, 13)
	want := "kept: it is not slow enough; to let it run costs 9 s of slot time, and the cheapest change 13 s"
	for basis, also := range map[restart.Basis]string{
		restart.NoBasis: "", restart.ByProgress: "", restart.ByAge: age, restart.ByEarlyProgress: tenth,
	} {
		slow.Basis = basis
		assert.Equal(t, want+also, slow.Sentence())
	}
	slow.Action, slow.Reason, slow.Basis = restart.Restart, restart.FreshSooner, restart.ByEarlyProgress
	slow.Comparison = restart.Comparison{}
	assert.Equal(t, "restarted: it still needs 3 s, and a new attempt takes 50 s"+tenth, slow.Sentence())
	for of, says := range map[restart.Measure]bool{
		restart.NoMeasure: false, restart.SlotSeconds: true, restart.SavedSlotSeconds: true, restart.LostSlotSeconds: true,
		restart.SavedSeconds: true, restart.Probability: true, restart.WonTrials: false, restart.RunningAttempts: false,
	} {
		for basis, also := range map[restart.Basis]string{restart.ByAge: age, restart.ByEarlyProgress: tenth} {
			text := restart.Decision{Basis: basis, Comparison: restart.Compare(of, .5, 1)}.Sentence()
			assert.Equal(t, says, strings.HasSuffix(text, also), text)
		}
	}
}

// Compare returns the zero Comparison for numbers without a measure, and for numbers that are not finite.
func TestCompareRefusesNumbersWithoutAUnit(t *testing.T) {
	assert.Equal(t, restart.Comparison{Measure: restart.RunSeconds, Value: 1, Threshold: 2}, restart.Compare(restart.RunSeconds, 1, 2))
	for _, c := range []restart.Comparison{
		restart.Compare(restart.NoMeasure, 1, 2), restart.Compare(restart.WaitingTasks+1, 1, 2),
		restart.Compare(restart.RunSeconds, math.NaN(), 2), restart.Compare(restart.RunSeconds, 1, math.Inf(1)),
	} {
		assert.Zero(t, c)
	}
}

// A number in a sentence has at most three digits, and a time has the unit that fits.
func TestSentencesHaveThreeDigitsAndAUnitThatFits(t *testing.T) {
	for want, x := range map[string]float64{
		"9.52 h": 34289, "999 s": 999.4, "16.7 min": 999.6, "99.9 min": 5994, "1.67 h": 6000, "99.7 h": 359_000, "4.17 days": 360_000,
		"31.7 years": 1e9, "12.5 ms": .0125, "0.1 s": .1, "250 ns": 2.5e-7, "1 ns": 1e-9, "0 s": math.Copysign(0, -1), "-2.78 h": -1e4,
	} {
		d := restart.Decision{Comparison: restart.Compare(restart.RunSeconds, x, 1)}
		assert.Equal(t, "kept: no reason is given; it has run for "+want+", and the limit is 1 s", d.Sentence())
	}
	least := restart.Decision{Comparison: restart.Compare(restart.WonTrials, 1e-9, 9.99e-10)}
	assert.Equal(t, "kept: no reason is given; 0.000000001 of the earlier trials won, and 0 must have", least.Sentence())
	digits := regexp.MustCompile(`[0-9][0-9.]*`)
	random := rand.New(rand.NewPCG(1, 2))
	for m := restart.SlotSeconds; m <= restart.WaitingTasks; m++ {
		for range 1000 {
			x := math.Float64frombits(random.Uint64())
			d := restart.Decision{Comparison: restart.Compare(m, x, x/3), Remaining: time.Duration(random.Int64())}
			text := d.Sentence()
			if strings.Contains(text, "Inf") || strings.Contains(text, "e+") {
				assert.Fail(t, "the number is not written in digits", text)
			}
			for _, number := range digits.FindAllString(text, -1) {
				significant := strings.TrimLeft(strings.ReplaceAll(strings.Trim(number, "."), ".", ""), "0")
				if len(strings.TrimRight(significant, "0")) > 3 {
					assert.Fail(t, "a number has more than three digits", text)
				}
			}
		}
	}
}

// Hold refuses a decision that a log cannot hold. A decision that Hold returns is valid JSON, and so is a decision with
// Won and no Tried.
func TestADecisionThatPrintsIsValidJSON(t *testing.T) {
	task := restart.Task{Attempts: make([]restart.Attempt, 1)}
	for _, d := range []restart.Decision{
		{Action: restart.Start + 1}, {Action: restart.Copy, Reason: restart.Reason(restart.Reasons)}, {Basis: restart.ByEarlyProgress + 1},
		{Comparison: restart.Comparison{Measure: restart.WaitingTasks + 1}}, {Comparison: restart.Comparison{Value: 1}},
		{Comparison: restart.Comparison{Measure: restart.RunSeconds, Value: math.NaN()}},
		{Comparison: restart.Comparison{Measure: restart.RunSeconds, Threshold: math.Inf(1)}},
	} {
		assert.Equal(t, restart.Decision{Reason: restart.BadAnswer}, restart.Hold(d, task, restart.Phase{}))
	}
	for _, d := range []restart.Decision{{Won: 2}, {Tried: 3}, {Won: 1, Tried: 3, Basis: restart.ByAge}} {
		held := restart.Hold(d, task, restart.Phase{})
		assert.Equal(t, d, held)
		text, err := json.Marshal(held)
		require.NoError(t, err)
		var read restart.Decision
		require.NoError(t, json.Unmarshal(text, &read))
		assert.Equal(t, held, read)
	}
	assert.Equal(t, "keep no-reason won=2 tried=0", restart.Decision{Won: 2}.String())
}
