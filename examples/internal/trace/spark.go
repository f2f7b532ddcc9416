package trace

import "strconv"

// spark reads the events of a Spark application in the order of the log. A task ID identifies an attempt, and an ID
// with a number identifies an attempt of a stage, independent of the order. An attempt that lost may end after its
// stage and its job.
type spark struct {
	*builder
	app      string // its ID
	prefix   string // of the names of executors: empty for the first application of the log
	stages   map[stageID]int
	latest   map[int32]int   // the phase of a stage's latest attempt, by stage
	jobs     map[int32]int32 // the job that runs a stage, by stage
	ended    map[int32]bool  // by job
	attempts taskRefs
}

type stageID struct{ stage, attempt int32 }

func newSpark() *spark {
	s := &spark{builder: newBuilder(Spark)}
	s.forget()
	return s
}

// forget makes the numbers of stages, jobs and tasks start again.
func (s *spark) forget() {
	s.stages = map[stageID]int{}
	s.latest = map[int32]int{}
	s.jobs = map[int32]int32{}
	s.ended = map[int32]bool{}
	s.attempts = taskRefs{}
}

// read reads one file of the log.
func (s *spark) read(l *lineReader) { s.eachLine(l, s.line) }

// line reads one event. It returns false, without a change, if the event is not well-formed.
func (s *spark) line(line []byte) bool {
	kind := kindOf(line)
	c := &cursor{data: line}
	var e sparkEvent
	switch string(kind) {
	case "":
		return false
	case taskStart, taskEnd:
		e.readTask(c)
	case stageSubmitted, stageCompleted:
		e.readStage(c)
	case jobStart, jobEnd:
		e.readJob(c)
	case executorAdded:
		e.readExecutor(c)
	case appStart:
		e.readApp(c)
	default:
		c.skip()
	}
	if !c.done() {
		return false
	}
	switch string(kind) {
	case taskStart:
		s.taskStart(&e)
	case taskEnd:
		s.taskEnd(&e)
	case stageSubmitted, stageCompleted:
		s.stage(&e)
	case jobStart:
		s.jobStart(&e)
	case jobEnd:
		s.ended[e.job] = true
	case executorAdded:
		s.executor(s.executorName(&e), s.host(e.hostName, nil), max(e.cores, 0))
	case appStart:
		s.appStart(&e)
	default:
		s.pass(kind)
	}
	return true
}

// appStart begins an application. A second application in the same log shares no number with the first.
func (s *spark) appStart(e *sparkEvent) {
	id := nameOf(e.app)
	if s.app != "" && id != s.app {
		s.forget()
		s.prefix = id + "/"
	}
	s.app = id
}

// jobStart records the job of each stage. A later job that lists a stage again reuses it, unless the first job has
// ended.
func (s *spark) jobStart(e *sparkEvent) {
	if e.job < 0 {
		return
	}
	for _, stage := range e.stages {
		if job, ok := s.jobs[stage]; !ok || s.ended[job] {
			s.jobs[stage] = e.job
		}
	}
}

func (s *spark) stage(e *sparkEvent) {
	i, ok := s.phaseOf(e)
	if !ok {
		return
	}
	s.log.Faults.add(&e.faults)
	p := &s.log.Phases[i]
	if e.tasks > 0 && e.tasks <= maxTask {
		p.Tasks = int(e.tasks)
	}
	if e.submitted.Known() {
		p.Submitted = e.submitted
	}
	if e.completed.Known() {
		p.Completed = e.completed
	}
	if p.DependsOn != nil {
		return
	}
	for _, parent := range e.parents {
		if j, ok := s.latest[parent]; ok && j < i {
			p.DependsOn = append(p.DependsOn, j)
		}
	}
}

// phaseOf returns the phase of the event's stage attempt. It adds the phase if it is new.
func (s *spark) phaseOf(e *sparkEvent) (int, bool) {
	if e.stageID.stage < 0 || e.stageID.attempt < 0 {
		return 0, false
	}
	i, ok := s.stages[e.stageID]
	if !ok {
		job := s.app
		if id, ok := s.jobs[e.stageID.stage]; ok {
			job = joined(s.app, "job "+strconv.Itoa(int(id)))
		}
		i = s.newPhase(job, "stage "+strconv.Itoa(int(e.stageID.stage))+"."+strconv.Itoa(int(e.stageID.attempt)))
		s.stages[e.stageID] = i
		s.latest[e.stageID.stage] = i
	}
	return i, true
}

func joined(app, job string) string {
	if app == "" {
		return job
	}
	return app + " " + job
}

// taskStart adds a running attempt. It stays Unfinished if the log has no end of the attempt.
func (s *spark) taskStart(e *sparkEvent) {
	if _, ok := s.attempts.get(e.task); ok {
		s.log.Faults[Repeated]++
		return
	}
	// Spark may write the event after the end, when its task info says more than was true at the start.
	e.state, e.finish = Unfinished, Opt{}
	s.add(e)
}

// taskEnd completes the attempt of the event. If a successful attempt ends again as resubmitted, its output was lost.
func (s *spark) taskEnd(e *sparkEvent) {
	s.log.Faults.add(&e.faults)
	ref, ok := s.attempts.get(e.task)
	if !ok {
		s.add(e)
		return
	}
	old := s.builder.attempt(ref)
	switch {
	case old.State == Unfinished:
		a := s.attempt(e)
		a.Task, a.Number = old.Task, old.Number
		if !a.Start.Known() {
			a.Start = old.Start
		}
		if a.Host == 0 {
			a.Host = old.Host
		}
		if a.Executor == 0 {
			a.Executor = old.Executor
		}
		*old = a
	case old.State == Succeeded && e.state == Lost:
		old.State = Lost
	default:
		s.log.Faults[Repeated]++
	}
}

func (s *spark) add(e *sparkEvent) {
	i, ok := s.phaseOf(e)
	if !ok || e.index < 0 {
		s.log.Faults[NoTask]++
		return
	}
	ref := s.builder.add(i, s.attempt(e))
	if e.task >= 0 {
		s.attempts.set(e.task, ref)
	}
}

func (s *spark) attempt(e *sparkEvent) Attempt {
	host := s.host(e.hostName, nil)
	return Attempt{
		Task: e.index, Number: max(e.number, 0),
		Start: e.launch, Finish: e.finish,
		Input: e.input, Shuffle: e.shuffle, Output: e.output,
		Host: host, Executor: s.executor(s.executorName(e), host, 0),
		State: e.state, Locality: e.locality, Speculative: e.speculative,
	}
}

func (s *spark) executorName(e *sparkEvent) []byte {
	if s.prefix == "" || len(e.executor) == 0 {
		return e.executor
	}
	return append([]byte(s.prefix), e.executor...)
}
