package trace

import "bytes"

// The events that say something about attempts. All others are passed over.
const (
	appStart       = "SparkListenerApplicationStart"
	executorAdded  = "SparkListenerExecutorAdded"
	jobStart       = "SparkListenerJobStart"
	jobEnd         = "SparkListenerJobEnd"
	stageSubmitted = "SparkListenerStageSubmitted"
	stageCompleted = "SparkListenerStageCompleted"
	taskStart      = "SparkListenerTaskStart"
	taskEnd        = "SparkListenerTaskEnd"
)

func neededKind(kind []byte) bool {
	switch string(kind) {
	case appStart, executorAdded, jobStart, jobEnd, stageSubmitted, stageCompleted, taskStart, taskEnd:
		return true
	}
	return false
}

// unwantedEvent reports, from the beginning of a line, whether the rest of the line can be skipped.
func unwantedEvent(beginning []byte) bool {
	kind, ok := kindAtStart(beginning)
	return ok && !neededKind(kind)
}

// kindAtStart returns the name of the event, if it is the first field, as Spark writes it, without its package.
func kindAtStart(line []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte(`{"Event":"`))
	if !ok {
		return nil, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return nil, false
	}
	return lastPart(rest[:end]), true
}

// kindOf returns the name of the event anywhere in the object of the line; nil if there is none.
func kindOf(line []byte) []byte {
	if kind, ok := kindAtStart(line); ok {
		return kind
	}
	c := cursor{data: line}
	if !c.enter('{') {
		return nil
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		if string(key) == "Event" {
			return lastPart(c.text())
		}
		c.skip()
	}
	return nil
}

func lastPart(name []byte) []byte { return name[bytes.LastIndexByte(name, '.')+1:] }

// sparkEvent has the fields of an event that are read. An absent number is -1. Texts may share memory with the line.
type sparkEvent struct {
	app, executor, hostName []byte
	job, cores, tasks       int32
	stages, parents         []int32
	stageID                 stageID
	task                    int64 // ID of the attempt, unique in the application
	index, number           int32 // number of the task in its stage, and number of the attempt
	submitted, completed    Opt
	launch, finish          Opt
	input, shuffle, output  Opt
	state                   State
	failed, killed          bool
	locality                Locality
	speculative             Answer
	faults                  Faults
}

func (e *sparkEvent) readApp(c *cursor) {
	c.fields(func(key []byte) {
		if string(key) == "App ID" {
			e.app = c.name()
		}
	})
}

func (e *sparkEvent) readExecutor(c *cursor) {
	c.fields(func(key []byte) {
		switch string(key) {
		case "Executor ID":
			e.executor = c.name()
		case "Executor Info":
			c.fields(func(key []byte) {
				switch string(key) {
				case "Host":
					e.hostName = c.name()
				case "Total Cores":
					e.cores = c.index()
				}
			})
		}
	})
}

func (e *sparkEvent) readJob(c *cursor) {
	e.job = -1
	c.fields(func(key []byte) {
		switch string(key) {
		case "Job ID":
			e.job = c.index()
		case "Stage IDs":
			c.elements(func() { e.stages = append(e.stages, c.index()) })
		}
	})
}

func (e *sparkEvent) readStage(c *cursor) {
	e.stageID.stage = -1
	c.fields(func(key []byte) {
		if string(key) != "Stage Info" {
			return
		}
		c.fields(func(key []byte) {
			switch string(key) {
			case "Stage ID":
				e.stageID.stage = c.index()
			case "Stage Attempt ID":
				e.stageID.attempt = c.index()
			case "Number of Tasks":
				e.tasks = c.index()
			case "Parent IDs":
				c.elements(func() { e.parents = append(e.parents, c.index()) })
			case "Submission Time":
				e.submitted = c.clock(&e.faults)
			case "Completion Time":
				e.completed = c.clock(&e.faults)
			}
		})
	})
}

func (e *sparkEvent) readTask(c *cursor) {
	e.stageID.stage, e.task, e.index, e.number = -1, -1, -1, -1
	reason := []byte(nil)
	c.fields(func(key []byte) {
		switch string(key) {
		case "Stage ID":
			e.stageID.stage = c.index()
		case "Stage Attempt ID":
			e.stageID.attempt = c.index()
		case "Task End Reason":
			c.fields(func(key []byte) {
				if string(key) == "Reason" {
					reason = c.text()
				}
			})
		case "Task Info":
			c.fields(func(key []byte) { e.taskInfo(c, key) })
		case "Task Metrics":
			c.fields(func(key []byte) { e.metrics(c, key) })
		}
	})
	e.end(reason)
}

func (e *sparkEvent) taskInfo(c *cursor, key []byte) {
	switch string(key) {
	case "Task ID":
		if id, ok := c.integer(); ok && id >= 0 {
			e.task = id
		}
	case "Index":
		e.index = c.index()
	case "Attempt":
		e.number = c.index()
	case "Launch Time":
		e.launch = c.clock(&e.faults)
	case "Finish Time":
		e.finish = c.clock(&e.faults)
	case "Executor ID":
		e.executor = c.name()
	case "Host":
		e.hostName = c.name()
	case "Locality":
		e.locality = Locality(find(localityNames[:], c.text()))
	case "Speculative":
		e.speculative = c.answer()
	case "Failed":
		e.failed = c.answer() == Yes
	case "Killed":
		e.killed = c.answer() == Yes
	}
}

// metrics reads the numbers of bytes. An absent group stays unknown. Spark 1.x leaves out a group that would be
// empty.
func (e *sparkEvent) metrics(c *cursor, key []byte) {
	var group *Opt
	switch string(key) {
	case "Input Metrics":
		group = &e.input
	case "Shuffle Read Metrics":
		group = &e.shuffle
	case "Output Metrics", "Shuffle Write Metrics":
		group = &e.output
	default:
		return
	}
	c.fields(func(key []byte) {
		switch string(key) {
		case "Bytes Read", "Remote Bytes Read", "Local Bytes Read", "Bytes Written", "Shuffle Bytes Written":
			*group = group.plus(c.bytes())
		}
	})
}

// end reads the reason for the end of an attempt. An attempt that was too late to commit has lost against another
// attempt, so its state is Killed.
func (e *sparkEvent) end(reason []byte) {
	switch string(reason) {
	case "Success":
		e.state = Succeeded
	case "Resubmitted":
		e.state = Lost
	case "TaskKilled", "TaskCommitDenied":
		e.state = Killed
	case "":
		e.endByFlags()
	default:
		e.state = Failed
	}
}

// endByFlags sets the state of an attempt that ended without a reason.
func (e *sparkEvent) endByFlags() {
	switch {
	case e.killed:
		e.state = Killed
	case e.failed:
		e.state = Failed
	case e.finish.Known():
		e.state = Succeeded
	}
}
