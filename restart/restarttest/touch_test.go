package restarttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
)

// record runs twenty tasks of ten seconds and returns the journal. The first attempts of tasks 3 and 7 take ten
// times as long.
func record(t *testing.T, policy restart.Policy) []byte {
	t.Helper()
	start := time.Unix(0, 0)
	p, err := engine.New(engine.Config{Tasks: 20, Slots: 24, Interval: time.Second, Policy: policy, Journal: true})
	require.NoError(t, err)
	list := []engine.Attempt{}
	for now := start; !p.Done(); now = now.Add(time.Second) {
		for i := range list {
			a := &list[i]
			takes := 10.
			if (a.Task == 3 || a.Task == 7) && a.ID == fmt.Sprint(a.Task, ".0") {
				takes = 100
			}
			if a.State != engine.Running {
				continue
			}
			a.Progress.Score, a.AsOf = min(now.Sub(a.Begun).Seconds()/takes, 1), now
			if a.Progress.Score == 1 {
				a.State, a.Ended = engine.Succeeded, now
			}
		}
		for _, action := range p.Poll(now, list).Actions {
			switch action.Op {
			case engine.Submit:
				list = append(list, engine.Attempt{ID: action.ID, Task: action.Task, State: engine.Running, Begun: now})
			case engine.Cancel:
				for i := range list {
					if list[i].ID == action.ID {
						list[i].State, list[i].Ended = engine.Cancelled, now
					}
				}
			case engine.Publish:
				p.Published(action.ID)
			}
		}
	}
	return p.Journal()
}

func tasksOf(touched []Touch) (tasks []int) {
	for _, at := range touched {
		tasks = append(tasks, at.Task)
	}
	return tasks
}

// A journal in which no policy has acted answers for every policy.
func TestJournalUnderNeverAnswersForEveryPolicy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "never.txt")
	data := record(t, restart.Never{})
	require.NoError(t, os.WriteFile(file, data, 0o600))
	for _, policy := range []restart.Policy{
		restart.Mantri{}, rules.Spark{}, rules.Spark{Quantile: 0.5, Multiplier: 2}, rules.Dryad{},
		rules.Flink{LowerBound: restart.Off},
	} {
		touched := Touched(t, journal.Options{Policy: policy}, file)
		assert.ElementsMatch(t, []int{3, 7}, tasksOf(touched), "%T", policy)
		for _, at := range touched {
			assert.NotEqual(t, restart.Keep, at.Decision.Action)
			assert.NotEqual(t, restart.NoReason, at.Decision.Reason)
			assert.Positive(t, at.Line)
		}
	}
	assert.Empty(t, Touched(t, journal.Options{}, file), "Never, the policy of the journal, touches no task")
	twice := append(data, data...)
	require.NoError(t, os.WriteFile(file, twice, 0o600))
	touched := Touched(t, journal.Options{Policy: rules.Spark{}}, file)
	require.Len(t, touched, 4)
	assert.Equal(t, []int{0, 0, 1, 1}, []int{touched[0].Phase, touched[1].Phase, touched[2].Phase, touched[3].Phase})
}

// A journal in which another policy has acted does not say "no stragglers". The error names the policy and the task.
func TestJournalOfAnotherPolicyIsRefused(t *testing.T) {
	for _, recorded := range []restart.Policy{restart.Mantri{}, rules.Spark{Quantile: 0.5, Multiplier: 1.5}} {
		data := record(t, recorded)
		touched, err := touches("x.txt", data, journal.Options{})
		require.NoError(t, err)
		assert.ElementsMatch(t, []int{3, 7}, tasksOf(touched))
		_, err = touches("x.txt", data, journal.Options{Policy: recorded})
		require.NoError(t, err)

		touched, err = touches("x.txt", data, journal.Options{Policy: rules.Spark{}}) // Spark acts later
		assert.Empty(t, touched)
		require.ErrorContains(t, err, ": the journal was recorded under "+rules.Text(recorded)+", and here task ")
		assert.Regexp(t, `^x.txt:\d+: .* was (restarted|given a copy); spark had not touched the task before, `, err.Error())
		assert.ErrorContains(t, err, "this holds for 1 more tasks")
		assert.Contains(t, check("x.txt", data, journal.Options{Policy: rules.Spark{}}, whole), "recorded under")
	}
}

// An attempt that ends by itself is no action, and neither is its replacement.
func TestHistoryCountsOnlyActions(t *testing.T) {
	text := `phase tasks=3 slots=9 machines=3 interval=1s policy=mantri clones=2
0s start task=0 machine=0
0s start task=0 machine=1
0s start task=1 machine=1
1s fail task=1
1s start task=1 machine=2
2s lose machine=2
2s submit task=1
3s begin task=1 attempt=2 machine=0
3s lose machine=0
3s start task=1 machine=1
4s finish task=0 attempt=1
4s kill task=0 attempt=0
5s start task=0
6s lose task=0
7s start task=0 machine=0
`
	_, err := touches("x.txt", []byte(text), journal.Options{Policy: restart.Never{}})
	require.NoError(t, err)
	for _, more := range []string{"8s start task=1", "8s kill task=1 attempt=3", "8s restart task=0 attempt=2"} {
		more = text + more + "\n9s decide task=1\n    keep disabled\n"
		_, err = touches("x.txt", []byte(more), journal.Options{Policy: restart.Never{}})
		require.ErrorContains(t, err, "x.txt:17: the journal was recorded under mantri", more)
		answered, e := journal.Replay([]byte(more), journal.Options{Policy: restart.Never{}})
		require.NoError(t, e)
		said := check("x.txt", answered, journal.Options{Policy: restart.Never{}}, whole)
		assert.Regexp(t, `^x.txt:\d+: the journal was recorded under mantri`, said, "a journal of another policy must fail although the answers agree")
	}
	text += "8s kill task=1 attempt=3\n8s start task=1\n8s finish task=0 attempt=2\n1h decide task=1\n"
	backups, err := touches("x.txt", []byte(text), journal.Options{Policy: rules.Dryad{MinFinished: 1}})
	require.Error(t, err)
	assert.Empty(t, backups, "decisions after the other policy's action must not be returned")
}

// With OnlyActions a parameter may change the numbers but not the actions.
func TestOnlyActionsIgnoresNumbers(t *testing.T) {
	want := record(t, restart.Mantri{})
	o := journal.Options{Policy: restart.Mantri{CopyThreshold: 0.3}}
	assert.Contains(t, check("x.txt", want, o, whole), "the answer differs")
	assert.Empty(t, check("x.txt", want, o, actions))
	assert.NotEmpty(t, check("x.txt", want, journal.Options{Policy: restart.Never{}}, actions))
	file := filepath.Join(t.TempDir(), "mantri.txt")
	require.NoError(t, os.WriteFile(file, want, 0o600))
	Run(t, file, Options(o), OnlyActions())
	assert.Equal(t, "ends attempt=1", actions("ends attempt=1"))
	assert.NotEqual(t, actions("task=1 kill slower-attempt attempt=1"), actions("task=1 kill slower-attempt attempt=2"))
	assert.NotEqual(t, actions("task=1 kill slower-attempt attempt=1"), actions("task=2 kill slower-attempt attempt=1"))
	assert.Equal(t, actions("keep not-slow run-seconds=2 threshold=3"), actions("keep too-young"))
}

// A journal in which another policy has acted is not rewritten.
func TestRewriteKeepsJournalsOfAnotherPolicy(t *testing.T) {
	text := string(record(t, restart.Mantri{}))
	file := write(t, "mantri.txt", text)
	out, ok := run(t, file, "never", "-restart.rewrite")
	assert.False(t, ok)
	assert.Contains(t, out, "the journal was recorded under mantri, and here task 3 was")
	assert.Equal(t, text, read(t, file))
}
