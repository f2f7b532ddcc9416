package restart_test

import (
	"fmt"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

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
	for r := restart.NoReason + 1; r <= restart.BeatenMachine; r++ {
		check(restart.Decision{Reason: r, Remaining: 2 * time.Second, Fresh: time.Second})
	}
	for m := restart.NoMeasure + 1; m <= restart.WaitingTasks; m++ {
		d := restart.Decision{Comparison: restart.Compare(m, 0.125, 1234.5)}
		check(d)
		assert.Regexp(t, `0\.125|12\.5 %`, d.Sentence())
		assert.Regexp(t, `1234|123450 %`, d.Sentence())
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
		"kept: it is not slow enough; it still needs 41.2 s, and the limit is 3600 s": {
			Reason: restart.NotSlow, Remaining: 41234 * time.Millisecond, Bar: time.Hour,
		},
		"kept: the budget for copies is spent": {Reason: restart.BudgetSpent, Remaining: time.Hour, Bar: minute},
		"killed: it is not worth its slot beside the other attempt; that saves 1000 s of slot time, and must save 0.5 s": {
			Action: restart.Kill, Reason: restart.NotWorthSlot, Comparison: restart.Compare(restart.SavedSlotSeconds, 999.7, .5),
		},
	} {
		assert.Equal(t, want, d.Sentence())
	}
	d := restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Remaining: estimate.Unknown, Fresh: 1<<63 - 1}
	assert.Equal(t, "copied: it still needs an unknown time, and a copy on an idle slot takes for ever", d.Sentence())
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
