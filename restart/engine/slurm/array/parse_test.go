package array

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/rules"
)

// squeued makes squeue's output from lines with bars between the fields. ! stands for characters that make trouble in
// names.
func squeued(lines string) string {
	return strings.NewReplacer("|", fieldEnd, "\n", jobEnd+"\n", "!", "|\n").Replace(lines)
}

func TestParseJobs(t *testing.T) {
	jobs, err := parseJobs(squeued("71_9|PENDING||0|N/A|/w/o-%A_%4a|/w/e-%A%a|/w|71|a!b\n" +
		"71_1|RUNNING|n0|0|1795301372|/w/slurm-71_1.out|/w/slurm-71_1.out|/w|72|x.sh\n" +
		"71_2|FAILED|n[1-2]|1792|1795301372|/dev/null|/dev/null|/w|73|x.sh\n" +
		"71_[3-8:2,64%4]|PENDING||0|N/A|/w/slurm-71.out|/w/slurm-71.out|/w|71|x.sh\n"))
	require.NoError(t, err)
	require.Len(t, jobs, 7)
	for i, id := range []string{"71_3", "71_5", "71_7", "71_64"} {
		assert.Equal(t, Job{
			ID: id, State: "PENDING", Stdout: "/w/slurm-" + id + ".out", Stderr: "/w/slurm-" + id + ".out", WorkDir: "/w", RawID: "71",
			Name: "x.sh",
		}, jobs[3+i])
	}
	assert.Equal(t, Job{
		ID: "71_9", State: "PENDING", Stdout: "/w/o-71_0009", Stderr: "/w/e-719", WorkDir: "/w", RawID: "71", Name: "a|\nb",
	}, jobs[0])
	assert.Equal(t, time.Unix(1795301372, 0), jobs[1].Start)
	assert.Equal(t, 7, jobs[2].exitCode())
	assert.Equal(t, "n[1-2]", jobs[2].Node)

	none, err := parseJobs("")
	require.NoError(t, err)
	assert.Empty(t, none)
	_, err = parseJobs("slurm is down\n")
	require.ErrorContains(t, err, "want the fields")
	_, err = parseJobs(squeued("71_9|PENDING||x|N/A|o|e|w|1|n\n"))
	require.ErrorContains(t, err, `exit code "x"`)
}

func TestParseTasks(t *testing.T) {
	for text, want := range map[string][]int{
		"0-3": {0, 1, 2, 3}, "7": {7}, "1,3,9-11": {1, 3, 9, 10, 11}, "2-10:4": {2, 6, 10}, "0-3%2": {0, 1, 2, 3},
		"1-4:2,9%1": {1, 3, 9}, "5-5": {5}, "1-2:9": {1}, "1-5:9223372036854775807": {1},
	} {
		got, err := parseTasks(nil, text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "a", "3-1", "1-", "-1", "1-9:0", "1-9:x", "1,,2", "1,3,...", "0-99999999999", "0-4000001"} {
		_, err := parseTasks(nil, text)
		require.Error(t, err, text)
	}
	_, err := parseJobs(squeued("71_[1,...]|PENDING||0|N/A|o|e|w|1|n\n"))
	require.Error(t, err)
}

func TestParseFacts(t *testing.T) {
	f, err := parseFacts("JobId=71 ArrayJobId=71 ArrayTaskId=9,20%2 ArrayTaskThrottle=2 JobName=g.sh UserId=root(0) Partition=demo " +
		"AllocNode:Sid=localhost:10955 ReqNodeList=(null) ExcNodeList=n[1-2] NodeList= NumNodes=1 NumCPUs=4 NumTasks=1\n" +
		"JobId=73 ArrayJobId=71 ArrayTaskId=5 Partition=other NumCPUs=1\n")
	require.NoError(t, err)
	assert.Equal(t, Facts{Partition: "demo", CPUs: 4, Exclude: "n[1-2]", Throttle: 2}, f)
	f, err = parseFacts("JobId=71 Partition=demo ExcNodeList=(null) NumCPUs=1\n")
	require.NoError(t, err)
	assert.Equal(t, Facts{Partition: "demo", CPUs: 1}, f)
	_, err = parseFacts("")
	require.Error(t, err)
}

func TestParseNodes(t *testing.T) {
	nodes, err := parseNodes("n0|mixed|2/14/0/16\nn1|idle*|0/16/0/16\nn2|drained|0/0/16/16\nn3|idle$|0/4/0/4\nn4|mixed@|1/3/0/4\nn5|idle~|0/4/0/4\nn0|mixed|2/14/0/16\n")
	require.NoError(t, err)
	assert.Equal(t, []Node{{Name: "n0", Idle: 14}, {Name: "n1", Idle: 16, Down: true}, {Name: "n2", Down: true},
		{Name: "n3", Idle: 4, Down: true}, {Name: "n4", Idle: 3, Down: true}, {Name: "n5", Idle: 4}}, nodes)
	_, err = parseNodes("n0|mixed\n")
	require.ErrorContains(t, err, "want node|state|CPUs")
	_, err = parseNodes("n0|mixed|2/14\n")
	require.ErrorContains(t, err, "want four numbers")
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		state  string
		status int
		want   int
	}{
		{"COMPLETED", 0, 0}, {"FAILED", 7 << 8, 7}, {"FAILED", 9, 1}, {"TIMEOUT", 143 << 8, 1}, {"TIMEOUT", 0, 1},
		{"CANCELLED", 15, 1}, {"OUT_OF_MEMORY", 137 << 8, 1},
	} {
		assert.Equal(t, c.want, Job{State: c.state, Status: c.status}.exitCode(), "%v", c)
	}
}

func TestExpand(t *testing.T) {
	j := Job{ID: "71_9", RawID: "110", Node: "n0", Name: "x.sh"}
	for pattern, want := range map[string]string{
		"slurm-%A_%a.out": "slurm-71_9.out", "%4a/%j-%N-%x": "0009/110-n0-x.sh", "100%%": "100%", "%z%": "%z%", "%12": "%12",
		`/w/\%a-100%`: "/w/%a-100%", `/w/a\\%a`: `/w/a\%a`, "plain": "plain", "%1a": "9", "%t%n%s": "00batch",
	} {
		assert.Equal(t, want, expand(pattern, j), pattern)
	}
	for pattern, want := range map[string]bool{"/w/%A_%a": false, "/w/%j.out": false, "/w/all": true, "/w/%A": true, "/dev/null": false} {
		assert.Equal(t, want, shared(pattern), pattern)
	}
	for _, path := range []string{"/a%b", `/a\b%c`, `/a%%\\`} {
		assert.Equal(t, path, expand(literal(path), j))
	}
}

func TestParseProgress(t *testing.T) {
	for text, want := range map[string]float64{"40/100": 0.4, "0.4": 0.4, "0": 0, "1": 1, "3 / 4": 0.75, "1e-1": 0.1} {
		got, err := parseProgress(text)
		require.NoError(t, err, text)
		assert.InDelta(t, want, got, 1e-15, text)
	}
	for _, text := range []string{"half", "40%", "-1", "2", "1/0", "0/0", "NaN", "inf", "1/2/3", "/", "101/100", "1/-1"} {
		_, err := parseProgress(text)
		require.Error(t, err, text)
	}
}

func TestProgressFiles(t *testing.T) {
	d, err := newRunDir(t.TempDir(), nil)
	require.NoError(t, err)
	write := func(kind, text string) {
		require.NoError(t, os.WriteFile(d.file("1_1", kind), []byte(text), 0o644))
		require.NoError(t, d.list())
	}
	_, at, err := d.progress("1_1")
	require.NoError(t, err)
	assert.Zero(t, at, "there is no progress file")
	write("progress", "")
	_, at, err = d.progress("1_1")
	require.NoError(t, err)
	assert.Zero(t, at, "the progress file is being written")
	write("progress", "x")
	_, at, err = d.progress("1_1")
	assert.Zero(t, at)
	require.ErrorContains(t, err, "want a share")
	assert.Zero(t, d.fileState("1_1"))
	write("exit", "")
	assert.Zero(t, d.fileState("1_1"))
	write("exit", "3\n")
	assert.Equal(t, 3, d.fileState("1_1").code)
	d.ahead += time.Hour
	assert.WithinDuration(t, time.Now().Add(-time.Hour), d.fileState("1_1").end, time.Minute, "the file system's clock is ahead")
}

func TestMoveResultsKeepsTheTree(t *testing.T) {
	d, err := newRunDir(t.TempDir(), nil)
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "new")
	require.NoError(t, os.MkdirAll(filepath.Join(d.file("1_1", "out"), "a", "b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(d.file("1_1", "out"), "a", "b", "c"), []byte("new"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(to, "a", "b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(to, "a", "b", "c"), []byte("old"), 0o644))
	_, err = d.moveResults("1_1", to)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(to, "a", "b", "c"))
	require.NoError(t, err)
	assert.Equal(t, "new", string(text))
	_, err = d.moveResults("1_2", to)
	require.NoError(t, err, "an attempt without results")
}

func TestStateOfAnAttemptFollowsFromSqueueAndItsFiles(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name      string
		state     string // empty: squeue does not show it
		exit      int    // negative: no file
		begun     bool
		cancelled bool
		want      engine.State
	}{
		{"waits", "PENDING", -1, false, false, engine.Queued},
		{"its node boots", "CONFIGURING", -1, false, false, engine.Queued},
		{"is being started", "RUNNING", -1, false, false, engine.Queued},
		{"runs", "RUNNING", -1, true, false, engine.Running},
		{"was put back", "PENDING", -1, true, false, engine.Running},
		{"failed, but Slurm has not said why", "COMPLETING", 3, true, false, engine.Running},
		{"failed", "FAILED", 3, true, false, engine.Failed},
		{"took too long", "TIMEOUT", -1, true, false, engine.Failed},
		{"lost", "NODE_FAIL", -1, true, false, engine.Lost},
		{"lost, and told to stop before", "PREEMPTED", 143, true, false, engine.Lost},
		{"cancelled here, its node is dead", "COMPLETING", -1, true, true, engine.Cancelled},
		{"cancelled here", "CANCELLED", 143, true, true, engine.Cancelled},
		{"cancelled here, just now", "RUNNING", -1, true, true, engine.Running},
		{"cancelled here, and forgotten", "", -1, true, true, engine.Cancelled},
		{"cancelled by somebody", "CANCELLED", -1, true, false, engine.Failed},
		{"forgotten after it had failed", "", 3, true, false, engine.Failed},
		{"forgotten after it had ended", "", 0, true, false, engine.Succeeded},
		{"ended well, and its file is not seen yet", "COMPLETED", -1, true, false, engine.Running},
		{"forgotten without a word", "", -1, true, false, engine.Running},
		{"forgotten without a word while it waited", "", -1, false, false, engine.Queued},
	} {
		a := &attempt{task: &task{}, cancelled: c.cancelled}
		a.task.attempts = []*attempt{a}
		if c.begun {
			a.begun = now
		}
		l := fileState{begun: a.begun, code: c.exit}
		if c.exit >= 0 {
			l.end = now
		}
		got := a.nextState(now, Job{State: c.state, Start: now}, c.state != "", l)
		assert.Equal(t, c.want, got, c.name)
		assert.Equal(t, c.state == "CANCELLED" && !c.cancelled, a.task.ending, c.name)
	}
	gone := &attempt{task: &task{}, begun: now}
	assert.Equal(t, engine.Running, gone.nextState(now, Job{}, false, fileState{}))
	assert.Equal(t, engine.Lost, gone.nextState(now.Add(2*explainWithin), Job{}, false, fileState{}))
	stuck := &attempt{task: &task{}}
	stuck.observe(now.Add(2*startup), Job{State: "RUNNING", Start: now}, true, fileState{})
	assert.Equal(t, engine.Running, stuck.state, "a start that takes longer than startup counts as running")
	assert.Equal(t, now, stuck.begun)
}

func TestParsePolicy(t *testing.T) {
	for text, want := range map[string]restart.Policy{
		"none": restart.Never{}, "never": restart.Never{}, "mantri": restart.Mantri{}, "spark": rules.Spark{},
		"late,min-age=5s,speculative-cap=0.2": rules.LATE{MinAge: 5 * time.Second, SpeculativeCap: 0.2},
		"late\n":                              rules.LATE{}, // as a file's line has it: rules.Parse forgives spaces at the ends
		"flink":                               rules.Flink{}, "dryad": rules.Dryad{}, "hadoop": rules.Hadoop{}, "mapreduce": rules.MapReduce{},
	} {
		got, err := ParsePolicy(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "best", "custom", "mantri tasks=9", "late,min-age=soon", "late,x=1", "late,slow-task=7", "la te"} {
		_, err := ParsePolicy(text)
		require.Error(t, err, text)
	}
}

func TestCopyEnv(t *testing.T) {
	for want, indices := range map[string][]int{
		"32 0 62 2": {}, "3 3 9 1": {3, 5, 9}, "1 7 7 1": {7}, "6 2 10 1": {2, 3, 4, 8, 9, 10}, "4 0 12 4": {0, 4, 8, 12},
	} { // as Slurm 22.05 has it
		if len(indices) == 0 {
			for i := range 32 {
				indices = append(indices, 2*i)
			}
		}
		r := &run{arrays: []string{"71"}}
		for _, i := range indices {
			r.tasks = append(r.tasks, &task{index: i})
		}
		env := r.copyEnv()
		var count, first, last, step string
		for i, into := range []*string{&count, &first, &last, &step} {
			*into = env[i+1][len([]string{"SLURM_ARRAY_TASK_COUNT=", "SLURM_ARRAY_TASK_MIN=", "SLURM_ARRAY_TASK_MAX=", "SLURM_ARRAY_TASK_STEP="}[i]):]
		}
		assert.Equal(t, want, count+" "+first+" "+last+" "+step)
		assert.Equal(t, "SLURM_ARRAY_JOB_ID=71", env[0])
	}
}
