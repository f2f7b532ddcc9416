package trace

import "strconv"

// sparkREST reads the answers of Spark's REST API about a stage: the stage with its tasks, or the list of its tasks
// alone, which does not have the number of the stage.
var sparkREST = byObjects(SparkREST, []string{"taskId", "status"}, []string{"tasks"}, func(d *document) {
	var r struct {
		index, attempt, stage, stageAttempt, tasks int32
		state, host, executor, locality            []byte
		speculative                                Answer
		launched                                   Opt
		took                                       Opt
		input, shuffle, output                     Opt
	}
	r.stage = -1
	d.record = members{
		"stageId": d.index(&r.stage), "attemptId": d.index(&r.stageAttempt), "numTasks": d.index(&r.tasks),
		"index": d.index(&r.index), "attempt": d.index(&r.attempt), "status": d.text(&r.state), "host": d.text(&r.host),
		"executorId": d.text(&r.executor), "taskLocality": d.text(&r.locality), "launchTime": d.moment(&r.launched),
		"duration": d.bytes(&r.took), "speculative": func() { r.speculative = d.c.answer() },
		"taskMetrics": d.inside(members{
			"inputMetrics":        d.inside(members{"bytesRead": d.bytes(&r.input)}),
			"shuffleReadMetrics":  d.inside(members{"remoteBytesRead": d.add(&r.shuffle), "localBytesRead": d.add(&r.shuffle)}),
			"outputMetrics":       d.inside(members{"bytesWritten": d.add(&r.output)}),
			"shuffleWriteMetrics": d.inside(members{"bytesWritten": d.add(&r.output)}),
		}),
	}
	d.take = func() {
		if !r.launched.Known() && r.executor == nil {
			return // a stage without tasks
		}
		name := "stage"
		if r.stage >= 0 {
			name += " " + strconv.Itoa(int(r.stage)) + "." + strconv.Itoa(int(max(r.stageAttempt, 0)))
		}
		i := d.phase("", name)
		if r.tasks > 0 && r.tasks <= maxTask {
			d.log.Phases[i].Tasks = int(r.tasks)
		}
		host := d.host(r.host, nil)
		a := Attempt{
			Task: r.index, Number: max(r.attempt, 0), Start: r.launched, Host: host, Executor: d.executor(r.executor, host, 0),
			Locality: Locality(find(localityNames[:], r.locality)), Speculative: r.speculative,
			Input: r.input, Shuffle: r.shuffle, Output: r.output, State: d.stateOf(r.state),
		}
		if took, ok := r.took.Get(); ok && a.State != Unfinished && r.launched.Known() {
			a.Finish = Known(r.launched.Or(0) + took)
		}
		d.builder.add(i, a)
		d.begin()
	}
	d.begin = func() { // the stage is the stage of the page
		r.launched, r.took, r.input, r.shuffle, r.output = Opt{}, Opt{}, Opt{}, Opt{}, Opt{}
		r.state, r.host, r.executor, r.locality, r.speculative = nil, nil, nil, nil, AnswerUnknown
	}
})
