package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

func sparkEnd(stage, id int) string {
	return fmt.Sprintf(`{"Event":"SparkListenerTaskEnd","Stage ID":%d,"Task End Reason":{"Reason":"Success"},`+
		`"Task Info":{"Task ID":%d,"Index":0,"Launch Time":5,"Finish Time":9,"Executor ID":"1","Host":"h"}}`, stage, id)
}

// Two applications, one behind the other, share no stage, task or executor.
func TestSecondApplicationStartsAfresh(t *testing.T) {
	app := func(id string) string {
		return `{"Event":"SparkListenerApplicationStart","App ID":"` + id + `"}` + "\n" +
			`{"Event":"SparkListenerJobStart","Job ID":0,"Stage IDs":[0]}` + "\n" + sparkEnd(0, 0) + "\n"
	}
	log := read(t, app("a")+app("b")+app("b"))
	assert.Equal(t, 1, log.Faults[trace.Repeated], "the same application again adds nothing")
	assert.Equal(t, 1, log.Faults.Total())
	require.Len(t, log.Phases, 2)
	assert.Equal(t, "a job 0", log.Phases[0].Job)
	assert.Equal(t, "b job 0", log.Phases[1].Job)
	assert.Equal(t, []trace.Executor{{}, {Name: "1", Host: 1}, {Name: "b/1", Host: 1}}, log.Executors)
}

// A stage whose output a later job reuses stays with the job that ran it.
func TestJobOfStage(t *testing.T) {
	log := read(t, strings.Join([]string{
		`{"Event":"SparkListenerJobStart","Job ID":3,"Stage IDs":[0,1]}`,
		`{"Event":"SparkListenerJobStart","Job ID":4,"Stage IDs":[0,2]}`,
		sparkEnd(0, 0), sparkEnd(2, 1), sparkEnd(7, 2),
		`{"Event":"SparkListenerJobEnd","Job ID":3}`,
		`{"Event":"SparkListenerJobStart","Job ID":5,"Stage IDs":[1]}`,
		sparkEnd(1, 3),
	}, "\n"))
	var jobs []string
	for _, p := range log.Phases {
		jobs = append(jobs, p.Job+"/"+p.Name)
	}
	assert.Equal(t, []string{"job 3/stage 0.0", "job 4/stage 2.0", "/stage 7.0", "job 5/stage 1.0"}, jobs)
}

// What the end of an attempt leaves out is known from its start.
func TestEndWithoutPlaceAndTime(t *testing.T) {
	log := read(t, `{"Event":"SparkListenerTaskStart","Stage ID":0,"Task Info":{"Task ID":4,"Index":2,"Attempt":1,"Launch Time":5,"Executor ID":"1","Host":"h"}}`+"\n"+
		`{"Event":"SparkListenerTaskEnd","Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":4,"Finish Time":9}}`)
	require.Len(t, log.Phases, 1)
	assert.Equal(t, []trace.Attempt{{
		Task: 2, Number: 1, Start: trace.Known(5), Finish: trace.Known(9), Host: 1, Executor: 1, State: trace.Succeeded,
	}}, log.Phases[0].Attempts)
	assert.Zero(t, log.Faults.Total())
}

// In a log that begins in the middle a parent may turn up after its child. Phases depend on earlier ones only.
func TestParentAfterChild(t *testing.T) {
	completed := `{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":%d,"Parent IDs":[%d],"Number of Tasks":1,"Completion Time":9}}`
	log := read(t, sparkEnd(5, 0)+"\n"+sparkEnd(4, 1)+"\n"+fmt.Sprintf(completed, 5, 4)+"\n"+fmt.Sprintf(completed, 4, 5)+"\n"+fmt.Sprintf(completed, 6, 6))
	require.Len(t, log.Phases, 3)
	assert.Equal(t, [][]int{nil, {0}, nil}, [][]int{log.Phases[0].DependsOn, log.Phases[1].DependsOn, log.Phases[2].DependsOn})
}

// Whatever is of the wrong type, or absurd, is unknown.
func TestWrongTypes(t *testing.T) {
	log := read(t, `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task End Reason":"Success","Task Metrics":[1,{"a":2}],`+
		`"Task Info":{"Task ID":"7","Index":0,"Attempt":-3,"Launch Time":"5","Finish Time":1e300,"Executor ID":1,"Host":null,"Speculative":"yes","Locality":"MOON"}}`)
	require.Len(t, log.Phases, 1)
	assert.Equal(t, []trace.Attempt{{Start: trace.Known(5), Executor: 1}}, log.Phases[0].Attempts, "a number is a name, and a text of digits a number")
	assert.Equal(t, trace.Faults{trace.BadTime: 1}, log.Faults, "the finish")

	log = read(t, `{"phase":"p","task":0,"start":1,"finish":2,"input":-1,"shuffle":1e30,"output":4503599627370497}`)
	a := log.Phases[0].Attempts[0]
	assert.Equal(t, []trace.Opt{{}, {}, {}}, []trace.Opt{a.Input, a.Shuffle, a.Output})
	log = read(t, `{"phase":"p","task":16777216,"start":1}`)
	assert.Equal(t, []string{"16777216"}, log.Phases[0].Names, "beyond the indices a number is a name")
	log = read(t, "{\"host\":\"\xb2\"}\n{\"host\":\"\x8c\",\"rack\":\"r\"}\n")
	assert.Equal(t, []trace.Host{{}, {Name: "\uFFFD", Rack: "r"}}, log.Hosts, "what is not UTF-8 is replaced")
	log = read(t, `{"phase":"p","task":-3}`)
	assert.Equal(t, trace.Faults{trace.NoTask: 1}, log.Faults)
	log = read(t, `{"Event":"SparkListenerJobStart","Job ID":null,"Stage IDs":[0]}`+"\n"+sparkEnd(0, 0))
	assert.Empty(t, log.Phases[0].Job)
	log = read(t, `{"phase":"p","tasks":2,"submitted":5,"completed":4}`)
	assert.Equal(t, trace.Opt{}, log.Phases[0].Completed)
	assert.Equal(t, 1, log.Faults[trace.FinishFirst])
}
