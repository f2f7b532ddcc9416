package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/report"
)

// hundred is a log of 100 tasks of 10 s on two machines, which lasts 500 s. Rows may follow.
func hundred(rows ...string) string {
	var b strings.Builder
	b.WriteString("job,phase,task,start,finish,host,state\n")
	for i := range 100 {
		fmt.Fprintf(&b, "j,p,%d,%d,%d,m%d,\n", i, i/2*10000, i/2*10000+10000, i%2)
	}
	return b.String() + strings.Join(rows, "\n")
}

// diagnosed returns the diagnosis of a log, and the report.
func diagnosed(t *testing.T, log string, args ...string) (report.Diagnosis, report.Report) {
	t.Helper()
	code, out, errors := call(append(args, "-json", "-policy", "least-cost", file(t, log))...)
	require.Zero(t, code, errors)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	return r.Diagnosis, r
}

// A task without an end is part of the verdict: it is never one of no stragglers, and something is to be done about it.
func TestUnendedTasksAreInTheVerdict(t *testing.T) {
	const none, nothing = "there are no stragglers", "Nothing"
	for name, c := range map[string]struct{ log, slow, do string }{
		"two tasks hang": {hundred("j,p,100,0,,m9,", "j,p,101,0,,m9,"),
			"2 tasks had not ended when the log ended: they had run up to 50 times the median of their phase. No task that " +
				"ended took more than 1.5 times the median of its phase.",
			"Look first at task 100 of j p on machine m9: it had run 8.33 min, 50 times the median of its phase, and had not " +
				"ended. Give each attempt a timeout."},
		"one attempt was killed": {hundred("j,p,100,0,480000,m9,killed"),
			"1 task never succeeded: it failed or was killed after 48 times the median of its phase. No task that ended took " +
				"more than 1.5 times the median of its phase.",
			"Look first at task 100 of j p on machine m9: it ran 8 min, 48 times the median of its phase, and failed or was killed."},
		"one task left": {"job,phase,task,start,finish\nj,p,0,0,1000\n",
			"No phase has 3 tasks that ended and are alike: too few to call one of them slow.", "Give a log with more tasks in a phase"},
		"no task of a phase ended": {hundred("j,q,0,0,,m9,"), "1 task had not ended when the log ended: it had run 8.33 min.",
			"Give a log in which these tasks have ended"},
		"the log was cut off": {hundred("j,p,100,495000,,m9,", "j,p,101,495000,,m9,"),
			"2 tasks had not ended when the log ended: they had run up to 0.5 times the median of their phase.",
			"Give a log in which these tasks have ended"},
		"a straggler is shorter": {hundred("j,p,100,0,40000,m9,", "j,p,101,0,,m9,"),
			"1 task had not ended when the log ended: it had run 50 times the median of its phase.", "Look first at task 101"},
	} {
		d, r := diagnosed(t, c.log)
		assert.Contains(t, d.Slow, c.slow, name)
		assert.Contains(t, d.Do, c.do, name)
		assert.NotContains(t, d.Slow, none, name)
		assert.NotContains(t, d.Do, nothing, name)
		assert.LessOrEqual(t, len(regexp.MustCompile("Look first").FindAllString(d.Do, -1)), 1, name)
		if r.Unended != nil {
			assert.Contains(t, d.Saves, "The replay lacks "+map[int]string{1: "1 task", 2: "2 tasks"}[r.Unended.Tasks()], name)
		} else {
			assert.Equal(t, "one task left", name)
		}
	}
	d, r := diagnosed(t, hundred())
	assert.Contains(t, d.Slow, none)
	assert.Contains(t, d.Do, nothing)
	assert.Nil(t, r.Unended)
	d, _ = diagnosed(t, hundred("j,p,100,0,1000,m9,failed"))
	assert.Contains(t, d.Slow, "1 task never succeeded: it failed or was killed after 0.1 times the median of its phase.")
	assert.Contains(t, d.Do, nothing, "a short failure is no straggler")
	d, _ = diagnosed(t, hundred("j,p,100,0,,m9,failed"))
	assert.Contains(t, d.Slow, "1 task never succeeded: it failed or was killed.", "the log does not show when")
	d, _ = diagnosed(t, hundred("j,p,100,0,480000,,killed", "j,p,100,480000,481000,m9,killed"))
	assert.Contains(t, d.Do, "Look first at task 100 of j p: it ran 8 min, 48 times the median", "its machine is not known")
	d, _ = diagnosed(t, hundred("j,p,100,0,480000,m7,killed", "j,p,100,499000,,m8,"))
	assert.Equal(t, "Look first at task 100 of j p on machine m8: it had run 1 s, 0.1 times the median of its phase, and had not "+
		"ended. An earlier attempt on machine m7 ran 8 min, 48 times the median of its phase, and failed or was killed.", d.Do)
	d, _ = diagnosed(t, hundred("j,p,100,0,,m9,", "j,p,101,20000000,20010000,m9,"))
	assert.Contains(t, d.Slow, "it had run 2001 times the median of its phase.")
}

// Tasks with a median and tasks without one are said apart.
func TestUnendedTasksWithAndWithoutAMedian(t *testing.T) {
	for rows, want := range map[string]string{
		"j,p,100,495000,,m9,\nj,q,0,0,,m9,": "2 tasks had not ended when the log ended: 1 had run 0.5 times the median of its phase, " +
			"and 1 had run 8.33 min in a phase without a median.",
		"j,p,100,0,15000,m9,failed\nj,q,0,0,60000,m9,failed\nj,q,1,0,70000,m9,killed\nj,p,101,0,,m9,failed": "4 tasks never " +
			"succeeded: they failed or were killed, 1 after 1.5 times the median of its phase, 2 after up to 70 s in phases without " +
			"a median, and 1 after an unknown time.",
		"j,q,0,0,60000,m9,failed\nj,q,1,0,70000,m9,killed": "2 tasks never succeeded: they failed or were killed after up to 70 s.",
	} {
		d, _ := diagnosed(t, hundred(strings.Split(rows, "\n")...))
		assert.Contains(t, d.Slow, want)
	}
}

// If many tasks failed, there is something to do, also if none of them ran long.
func TestManyFailures(t *testing.T) {
	var b strings.Builder
	b.WriteString("job,phase,task,start,finish,host,state\n")
	for i := range 100 {
		took, state := 10000, ""
		if i >= 10 {
			took, state = 14000, "failed"
		}
		fmt.Fprintf(&b, "j,p,%d,%d,%d,m%d,%s\n", i, i/2*14000, i/2*14000+took, i%2, state)
	}
	d, r := diagnosed(t, b.String())
	assert.Equal(t, 90, r.Unended.Stopped)
	assert.Equal(t, "See why these tasks failed or were killed: until they succeed, little can be said.", d.Do)
}

// Tasks that succeeded at unknown times are no reason for another log, and no tasks without a success.
func TestSuccessesWithoutTimes(t *testing.T) {
	d, r := diagnosed(t, hundred("j,p,100,,,m9,succeeded", "j,p,101,,,m9,succeeded"))
	assert.Equal(t, 2, r.Unended.Untimed)
	assert.Contains(t, d.Slow, "2 tasks succeeded, but the log lacks their times.")
	assert.Contains(t, d.Do, "Nothing")
	assert.NotContains(t, d.Saves, "The replay lacks")
}

// In a phase that the engine declared complete, the log lacks tasks: they need not be late.
func TestTasksWithoutAnAttemptInACompletePhase(t *testing.T) {
	log := `{"job":"j","phase":"p","tasks":6,"completed":10000}` + "\n"
	for i := range 3 {
		log += fmt.Sprintf(`{"job":"j","phase":"p","task":%d,"start":0,"finish":10000}`+"\n", i)
	}
	for i := range 3 {
		log += fmt.Sprintf(`{"job":"j","phase":"q","task":%d,"start":800000,"finish":900000}`+"\n", i)
	}
	d, _ := diagnosed(t, log)
	assert.Contains(t, d.Slow, "The log has no attempt of 3 tasks.")
	assert.NotContains(t, d.Slow, "had not begun")
	assert.NotContains(t, d.Saves, "The replay lacks")
}

// A straggler does not hide a task without a success that ran for nearly as long.
func TestStragglerBesideAHang(t *testing.T) {
	d, _ := diagnosed(t, hundred("j,p,100,0,490000,m8,", "j,p,101,20000,,m9,"))
	assert.Contains(t, d.Do, "Look first at task 100 of j p on machine m8: it takes 8.17 min")
	assert.Contains(t, d.Do, "Look also at task 101 of j p on machine m9: it had run 8 min, 48 times the median of its phase, and "+
		"had not ended.")
}

// If tasks are not known to be alike, a task without a success has no median, and is named if it ran longest.
func TestUnendedTasksThatAreNotAlike(t *testing.T) {
	log := `{"job":"j","phase":"p","kin":"unlike"}` + "\n"
	for i := range 5 {
		log += fmt.Sprintf(`{"job":"j","phase":"p","task":%d,"start":0,"finish":%d}`+"\n", i, 10000*(i+1))
	}
	d, _ := diagnosed(t, log+`{"job":"j","phase":"p","task":5,"start":0,"finish":40000,"state":"failed"}`)
	assert.Contains(t, d.Slow, "The longest of 5 tasks is 4: it alone takes 50 s of the 50 s of phase j p. 1 task never "+
		"succeeded: it failed or was killed after 40 s.")
	assert.Contains(t, d.Do, "Look first at task 4")
	d, _ = diagnosed(t, log+`{"job":"j","phase":"p","task":5,"start":0,"finish":60000,"state":"killed","host":"n1"}`)
	assert.Contains(t, d.Slow, "1 task never succeeded: it failed or was killed after 60 s. The longest of 5 tasks is 4")
	assert.Equal(t, "Look first at task 5 of j p on machine n1: it ran 60 s, and failed or was killed.", d.Do)
}

// A test passes ten times, and its eleventh run has no end. No other test is alike, so no multiple of a median is printed. The
// advice names the test.
func TestATestThatHangsIsNamed(t *testing.T) {
	var log strings.Builder
	line := `{"Action":"%s","Package":"x/%s","Time":"2026-09-21T14:%02d:00.%d00Z","Test":"T","Elapsed":%v}` + "\n"
	for i := range 10 {
		fmt.Fprintf(&log, line, "run", "p", i, 0, 0)
		fmt.Fprintf(&log, line, "pass", "p", i, 5, .5)
	}
	fmt.Fprintf(&log, line, "run", "p", 10, 0, 0)
	fmt.Fprintf(&log, line, "run", "other", 11, 0, 0)
	fmt.Fprintf(&log, line, "pass", "other", 12, 0, 60)
	code, out, errors := call("-policy", "late", file(t, log.String()))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "What to do: Look first at task T of go test tests of x/p: it had run 2 min, and had not ended. "+
		"Give a log in which these tasks have ended: until then, little can be said.\n")
}

// In a phase of two independent times, the longer one is often more than 1.5 times the other, by chance. No such task is a
// straggler, anywhere in the report.
func TestPhasesOfTwoTasks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("job,phase,task,start,finish,host\n")
	for phase := range 200 {
		for task := range 2 {
			start := phase * 100000
			fmt.Fprintf(&b, "j,p%d,%d,%d,%d,m%d\n", phase, task, start, start+1+int(10000*r.ExpFloat64()), phase%5)
		}
	}
	d, out := diagnosed(t, b.String())
	assert.Equal(t, "No phase has 3 tasks that ended and are alike: too few to call one of them slow.", d.Slow)
	assert.Contains(t, d.Do, "Give a log with more tasks in a phase")
	assert.Contains(t, d.Saves, "Such a figure may be chance")
	assert.Zero(t, out.Stragglers.Tasks)
	assert.Zero(t, out.Stragglers.Cost)
	assert.Empty(t, out.Worst)
	assert.Zero(t, out.Causes.Excess)
	for _, p := range out.Phases {
		assert.Zero(t, p.Stragglers)
	}
	for _, w := range out.Workers {
		assert.Zero(t, w.Stragglers)
	}
}

// With itself, a task without a success is the third of its phase: two others have a median. One other has none.
func TestUnendedTaskIsOneOfThree(t *testing.T) {
	for n, want := range []string{"it had run 8.33 min.", "it had run 8.33 min.", "it had run 50 times the median of its phase."} {
		log := hundred("j,q,0,0,,m9,")
		for i := range n {
			log += fmt.Sprintf("\nj,q,%d,0,10000,m%d,", i+1, i)
		}
		d, _ := diagnosed(t, log)
		assert.Contains(t, d.Slow, want)
	}
}

// In a log of steps, the advice about the workers stands in place of the request for more tasks in a phase.
func TestStepsOfTwoWorkers(t *testing.T) {
	log := "job,phase,task,start,finish,host\n"
	for step := range 40 {
		for worker := range 2 {
			log += fmt.Sprintf("j,s%d,%d,%d,%d,h%d\n", step, worker, step*2000, step*2000+1000+300*worker, worker)
		}
	}
	d, _ := diagnosed(t, log)
	assert.Contains(t, d.Slow, "No phase has 3 tasks that ended and are alike")
	assert.Contains(t, d.Do, "Record more steps, with the stage and the machine of each worker")
	assert.NotContains(t, d.Do, "Give a log")
}
