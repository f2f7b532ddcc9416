package trace

import (
	"bytes"
	"strconv"
)

// shark reads the logs of Spark 0.8's JobLogger, as Shark wrote them: a time and fields KEY=value on each line. Tasks
// have only an ID of their own and no number, so a task that ran again is a further task.
type shark struct {
	*builder
	job     string
	stages  map[int32]int     // the phase of each stage
	parents map[int32][]int32 // the input stages of each stage
}

func readShark(l *lineReader) *builder {
	s := &shark{builder: newBuilder(Shark), stages: map[int32]int{}, parents: map[int32][]int32{}}
	s.eachLine(l, s.line)
	after := map[int][]int{}
	for stage, phase := range s.stages {
		for _, parent := range s.parents[stage] {
			if i, ok := s.stages[parent]; ok {
				after[phase] = append(after[phase], i)
			}
		}
	}
	s.after(after)
	return s.builder
}

// isSharkLine reports whether a line is about a task, or about a stage and its input stages.
func isSharkLine(line []byte) bool {
	has := func(key string) bool { return bytes.Contains(line, []byte(key)) }
	return has("STAGE_ID=") && (has("TASK_TYPE=") && has("TID=") || has("RDD_DEP=") && has("STAGE_DEP="))
}

// sharkLine has the fields of a line that are read.
type sharkLine struct {
	job, host, executor, state []byte
	task                       []byte
	stage, tasks               int32
	a                          Attempt
	deps                       []byte
	ofTask                     bool
	faults                     Faults
}

func (s *shark) line(line []byte) bool {
	e := sharkLine{stage: -1}
	for field := range bytes.FieldsSeq(line) {
		if key, value, ok := bytes.Cut(field, []byte("=")); ok {
			e.field(string(key), value)
		}
	}
	switch {
	case e.task != nil:
		return s.ofTask(&e)
	case e.job != nil && string(e.state) == "STARTED":
		s.job = "job " + nameOf(e.job)
	case e.stage >= 0 && e.deps != nil:
		s.dependencies(&e)
	case e.stage >= 0 && e.tasks > 0:
		s.log.Phases[s.stage(e.stage)].Tasks = int(min(e.tasks, maxTask))
	case e.ofTask:
		return false
	default:
		s.pass([]byte("of the query and its data sets"))
	}
	return true
}

func (e *sharkLine) field(key string, value []byte) {
	c := &cursor{data: value, plain: true}
	switch key {
	case "TASK_TYPE":
		e.ofTask = true
	case "JOB_ID":
		e.job = value
	case "STATUS":
		e.state = value
	case "TID":
		e.task = value
	case "STAGE_ID":
		e.stage = c.index()
	case "TASK_SIZE":
		e.tasks = c.index()
	case "STAGE_DEP":
		e.deps = value
	case "START_TIME":
		e.a.Start = c.clock(&e.faults)
	case "FINISH_TIME":
		e.a.Finish = c.clock(&e.faults)
	case "EXECUTOR_ID":
		e.executor = value
	case "HOST":
		e.host = value
	case "SHUFFLE_BYTES_WRITTEN":
		e.a.Output = c.bytes()
	case "REMOTE_BYTES_READ":
		e.a.Shuffle = c.bytes()
	}
}

// dependencies reads pairs of a stage and a shuffle: (5,1)(6,2). They are before the start of the job.
func (s *shark) dependencies(e *sharkLine) {
	for pair := range bytes.SplitSeq(bytes.Trim(e.deps, "()"), []byte(")(")) {
		stage, _, _ := bytes.Cut(pair, []byte(","))
		if n, err := strconv.ParseInt(string(stage), 10, 32); err == nil {
			s.parents[e.stage] = append(s.parents[e.stage], int32(n))
		}
	}
}

func (s *shark) stage(id int32) int {
	i, ok := s.stages[id]
	if !ok {
		i = s.newPhase(s.job, "stage "+strconv.Itoa(int(id)))
		s.stages[id] = i
	}
	return i
}

func (s *shark) ofTask(e *sharkLine) bool {
	if e.stage < 0 {
		return false
	}
	s.log.Faults.add(&e.faults)
	switch string(e.state) {
	case "SUCCESS":
		e.a.State = Succeeded
	case "":
	default: // FETCHFAILED, FAILURE and similar states
		e.a.State = Failed
	}
	i := s.stage(e.stage)
	e.a.Task = s.task(i, -1, e.task)
	e.a.Host = s.host(e.host, nil)
	e.a.Executor = s.executor(e.executor, e.a.Host, 0)
	s.add(i, e.a)
	return true
}
