package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/examples/internal/why"
)

// The diagnosis is for a report with three stragglers, which cost 23 % of 2430 s.
func example() *Report {
	return &Report{
		Stragglers: Stragglers{Tasks: 3, Share: 0.1, Cost: 0.23},
		NoAction:   NoAction{Time: 2430},
		Slowdown:   []Point{{X: 1, Share: 0.9}, {X: 4.25, Share: 1}},
		Policies:   []Policy{{Name: "mantri", All: Figure{Mean: 0.14}, Resource: Figure{Mean: 0.01}}},
		Phases:     []Phase{{}},
		Worst:      []Straggler{{Job: "night", Name: "sort", Task: "7", Host: "n4", Seconds: 85, Times: 4.25}},
		Causes: &Causes{
			CostParts: []Part{{Cause: "machine", Share: 0.8}, {Cause: "unknown", Share: 0.2}}, Known: Known{Tasks: 10, Bytes: 10,
				Machines: 10},
			Machines: []Machine{{"n4", 2.5, 12, 9, 3}}, MachinesSaved: 486,
		},
	}
}

// kept is the first sentence about what the advice on machine n4 saves.
const kept = "Keeping work off machine n4 would have saved about 8.1 min (20.0%): less if no other slots replace its slots. "

func TestDiagnosis(t *testing.T) {
	r := example()
	r.Diagnose()
	assert.Equal(t, Diagnosis{
		Slow: "Stragglers cost 9.31 min of the phases' 40.5 min (23.0%). They are 3 tasks (10.0%): each takes more than " +
			"1.5 times the median of its phase, and the slowest 4.25 times.",
		Why: "Slow machines explain 80.0% of the cost of stragglers, 7.45 min. Machine n4 is slow in most of its 3 phases: at the " +
			"median, its tasks take 2.5 times the expected time.",
		Do:    "Keep work off machine n4. Let a policy such as mantri copy or restart slow tasks.",
		Saves: kept + "The policy mantri would have saved 5.67 min (14.0%) and used 1.0% less slot time.",
		Cause: "machine",
	}, r.Diagnosis)
	assert.Equal(t, r.Diagnosis.Slow+" "+r.Diagnosis.Saves, r.Headline)
	first := r.Diagnosis.Answers()[0]
	assert.Equal(t, "Stragglers cost 9.31 min of the phases' 40.5 min (23.0%).", first.Lead())
	assert.Equal(t, first.Text, first.Lead()+first.Rest())
}

// A cause is named only if it explains most of the time that stragglers cost. Otherwise the diagnosis says so, and names
// the task to look at.
func TestNoCauseIsNamedWithoutMostOfTheTime(t *testing.T) {
	for _, c := range []struct {
		parts []Part
		why   string
		cause string
	}{
		{[]Part{{Cause: "data", Share: mostOfCost}, {Cause: "unknown", Share: 1 - mostOfCost}},
			"Larger inputs explain 50.0% of the cost of stragglers, 4.66 min.", "data"},
		{[]Part{{Cause: "data", Share: 0.49}, {Cause: "contention", Share: 0.48}, {Cause: "unknown", Share: 0.03}},
			"No single cause explains most of the cost of stragglers. The causes are: larger inputs 49.0%, busy moments 48.0%, unknown 3.0%.", ""},
		{[]Part{{Cause: "contention", Share: 0.2}, {Cause: "unknown", Share: 0.8}},
			"The log does not show the cause of most of the cost of stragglers, 80.0%. Causes of the rest: busy moments 20.0%.", ""},
		{[]Part{{Cause: "unknown", Share: 1}}, "The log does not show the cause.", ""},
		{nil, "No phase waited for its stragglers: when they ended, other tasks of the phase still ran.", ""},
		{[]Part{{Cause: "contention", Share: 0.9}, {Cause: "unknown", Share: 0.1}},
			"Busy moments explain 90.0% of the cost of stragglers, 8.38 min: tasks that began together were slow on every machine.", "contention"},
	} {
		r := example()
		r.Causes.CostParts, r.Causes.Machines = c.parts, nil
		r.Diagnose()
		assert.Equal(t, c.why, r.Diagnosis.Why)
		assert.Equal(t, c.cause, r.Diagnosis.Cause)
		if c.cause == "" {
			assert.Contains(t, r.Diagnosis.Do,
				"Look first at task 7 of night sort on machine n4: it takes 85 s, 4.25 times the median of its phase.")
		}
	}
	placed := example()
	placed.Causes.CostParts[1].Share = 1
	placed.Causes.CostParts, placed.Causes.Place = placed.Causes.CostParts[1:], &why.Place{Machine: "n9", Cost: 500,
		Tasks: 4, Stragglers: 3, Phases: 2}
	placed.Diagnose()
	assert.Equal(t, "The log does not show the cause. But 3 stragglers on machine n9 alone cost 8.33 min, in 2 phases.",
		placed.Diagnosis.Why)
	assert.Contains(t, placed.Diagnosis.Do, "Look first at machine n9. Let")
	for cause, can := range map[string]string{
		"data":   "a copy would take as long. Let a policy such as mantri start the largest tasks first.",
		SameTask: "a copy would take as long.",
	} {
		r := example()
		r.Causes.CostParts = []Part{{Cause: cause, Share: 1}}
		r.Diagnose()
		assert.Regexp(t, can+"$", r.Diagnosis.Do, "the advice does not contradict itself")
		assert.Contains(t, r.Diagnosis.Saves, " The other advice has no figure.", "only the policy has a figure")
		assert.Equal(t, cause == SameTask, strings.HasPrefix(r.Diagnosis.Saves, "These figures are too large. "))
	}
	r := example()
	r.Causes.CostParts[1].Share = 1
	r.Causes.CostParts, r.Causes.Known = r.Causes.CostParts[1:], Known{Tasks: 10}
	r.Diagnose()
	assert.Contains(t, r.Diagnosis.Why, "so larger inputs and slow machines may not show as a cause.")
}

func TestWhatAPolicySaves(t *testing.T) {
	for _, c := range []struct {
		time, slots float64
		want        string
	}{
		{0, 0, "The policy mantri would have changed nothing and used the same slot time."},
		{0.3, 0, "The policy mantri would have saved 12.2 min (30.0%) and used the same slot time. A saving may be more " +
			"than stragglers cost: a policy also starts the largest tasks first, and helps tasks that take less than 1.5 times " +
			"the median."},
		{-0.02, -0.05, "The policy mantri would have made the phases longer by 48.6 s (2.0%) and used 5.0% more slot time."},
	} {
		r := example()
		r.Policies[0].All.Mean, r.Policies[0].Resource.Mean = c.time, c.slots
		r.Diagnose()
		assert.Equal(t, kept+c.want, r.Diagnosis.Saves)
		assert.Equal(t, c.time > 0, assert.ObjectsAreEqual("Keep work off machine n4. Let a policy such as mantri copy or "+
			"restart slow tasks.", r.Diagnosis.Do))
	}
	r := example()
	r.Setting = &Setting{Engine: "Spark", Setting: "spark.speculation=true", Policy: "spark", Time: 0.2, Resource: -0.1,
		Text: "Its rule is slow."}
	r.Policies = append(r.Policies, Policy{Name: "spark", All: Figure{Mean: 0.2}}, Policy{Name: "late",
		All: Figure{Mean: 0.2 + 2*muchMore}})
	r.Diagnose()
	assert.Contains(t, r.Diagnosis.Do, "In Spark, set spark.speculation=true.")
	assert.Equal(t, kept+"Spark's own setting would have saved 8.1 min (20.0%) and used 10.0% more slot time. The policy "+
		"mantri would have saved 5.67 min (14.0%) and used 1.0% less slot time. The policy late would have saved 8.91 min "+
		"(22.0%) and used the same slot time.", r.Diagnosis.Saves,
		"the setting saves more than the first policy, and late saves much more than both")
	r.Setting.Time = 0
	r.Policies = r.Policies[:1]
	r.Diagnose()
	assert.Contains(t, r.Diagnosis.Do, "Spark's own setting did not help in the replay. Its rule is slow. Let a policy")
	assert.NotContains(t, r.Diagnosis.Saves, "Spark")
}

// The diagnosis says so if nothing need be done.
func TestNothingToDo(t *testing.T) {
	r := example()
	r.Stragglers, r.Worst = Stragglers{}, nil
	r.Policies[0] = Policy{Name: "mantri"}
	r.Diagnose()
	assert.Equal(t, Diagnosis{
		Slow:  "No task took more than 1.5 times the median of its phase: there are no stragglers.",
		Do:    "Nothing: stragglers cost little here.",
		Saves: "The policy mantri would have changed nothing and used the same slot time.",
		kind:  nothing,
	}, r.Diagnosis)
	r = example()
	r.Stragglers.Cost, r.Policies[0].All.Mean = littleCost/2, littleCost/2
	r.Diagnose()
	assert.Equal(t, "Nothing: stragglers cost little here.", r.Diagnosis.Do)
	r.Policies[0].All.Mean = 2 * littleCost
	r.Diagnose()
	assert.Contains(t, r.Diagnosis.Do, "Let a policy such as mantri copy or restart slow tasks.")
}

// Nothing is claimed about tasks that are not known to be alike. The diagnosis names the longest task and a better order.
func TestDiagnosisOfUnlikeTasks(t *testing.T) {
	r := &Report{Apart: &Apart{
		Phases: 1, Tasks: 40, Longest: []LongTask{{"ci", "tests", "TestBig", "", 61, 185, nil}, {"ci", "other", "Test", "",
			50, 90, nil}, {"ci", "tests", "TestNext", "", 40, 185, nil}},
		Packing: []Packed{{"ci", "tests", 40, 4, 185, 90, 61}},
	}}
	r.Diagnose()
	assert.Equal(t, Diagnosis{
		Slow: "The longest of 40 tasks is TestBig: it alone takes 61 s of the 3.08 min of phase ci tests.",
		Why:  "No task can be called slow, since the tasks are not known to be alike.",
		Do: "Start the longest tasks first. Look first at task TestBig: no order of the tasks makes its phase shorter " +
			"than this task.",
		Saves: "If no task waits for another and the longest tasks start first on the same 4 slots, phase ci tests takes " +
			"90 s instead of 3.08 min. If this task were as short as the next longest of its phase, 40 s, that would save at " +
			"most 21 s. No saving can be claimed for 40 tasks of 1 phase: the tasks are not known to be alike.",
	}, r.Diagnosis)
	r.Apart.Packing[0].LargestFirst = 185
	r.Diagnose()
	assert.NotContains(t, r.Diagnosis.Do, "longest tasks first")
}

// A saving that rests on drawn times says on how many draws, and how far the draws differ.
func TestSavingsSayOnHowManyDrawsTheyRest(t *testing.T) {
	r := example()
	r.Causes, r.Input.Seeds, r.Policies[0].Copies.Mean = nil, 1, 0.1
	r.Diagnose()
	assert.Equal(t, "In one draw of how long copies take, the policy mantri would have saved 5.67 min (14.0%) and used 1.0% "+
		"less slot time. The option -seeds 20 shows the scatter.", r.Diagnosis.Saves)
	r.Input.Seeds, r.Policies[0].All = 5, Figure{0.14, -0.02, 0.2}
	r.Diagnose()
	assert.Equal(t, "In 5 draws of how long copies take, the policy mantri would have saved 5.67 min on average (14.0%, from "+
		"-2.0% to 20.0%) and used 1.0% less slot time.", r.Diagnosis.Saves)
	r.Policies[0].All = Figure{-0.02, -0.05, 0.01}
	r.Diagnose()
	assert.Contains(t, r.Diagnosis.Saves, "would have made the phases longer by 48.6 s on average (2.0%, from -1.0% to 5.0%)")
	r.Policies[0].All = Figure{0, -0.05, 0.05}
	r.Diagnose()
	assert.Contains(t, r.Diagnosis.Saves, "would have changed nothing on average (from -5.0% to 5.0%) and used")
	r.Policies[0].All, r.Policies[0].Copies.Mean = Figure{0.14, 0.14, 0.14}, 0
	r.Diagnose()
	assert.Equal(t, "The policy mantri would have saved 5.67 min (14.0%) and used 1.0% less slot time.", r.Diagnosis.Saves,
		"without copies there is nothing to draw")
	r.Setting = &Setting{Engine: "Spark", Policy: "spark", Time: 0.2}
	r.Policies = append(r.Policies, Policy{Name: "spark", All: Figure{0.2, 0.1, 0.3}, Restarts: Figure{Mean: 1}})
	r.Diagnose()
	assert.Contains(t, r.Diagnosis.Saves, "In 5 draws of how long copies take, Spark's own setting would have saved 8.1 min on "+
		"average (20.0%, from 10.0% to 30.0%)")
}
