package trace

import "bytes"

// hadoop collects the events of a history of Hadoop jobs. Several events describe one attempt. IDs identify attempts,
// jobs, maps and reduces, independent of the order of the events.
type hadoop struct {
	*builder
	jobs      []hadoopJob
	byID      map[string]int32 // indices into jobs
	attempts  map[hadoopAttempt]attemptRef
	preferred map[hadoopTask][]int32 // the hosts that hold the input of a task
}

type hadoopJob struct {
	name          string
	launched      Opt
	maps, reduces int32 // declared; 0 if not
}

// hadoopTask and hadoopAttempt are the content of IDs: task_<cluster>_<job>_<m or r>_<task>, attempt_..._<attempt>.
type hadoopTask struct {
	job, task int32
	reduce    bool
}

type hadoopAttempt struct {
	hadoopTask
	number int32
}

// hadoopEvent has the fields of an event that are read. Texts may share memory with the line.
type hadoopEvent struct {
	job, task, id []byte
	kind          []byte // kind of the task: MAP, REDUCE, or a kind of setup or cleanup
	launched      Opt
	maps, reduces int32
	splits        []byte // hosts with the input, separated by commas
	host, rack    []byte
	a             Attempt
	clock         []int64 // times of the parts of its progress
	faults        Faults
}

func newHadoop(format Format) *hadoop {
	return &hadoop{
		builder: newBuilder(format), byID: map[string]int32{},
		attempts: map[hadoopAttempt]attemptRef{}, preferred: map[hadoopTask][]int32{},
	}
}

// job returns the index of a job. id is the part of its ID that the IDs of its tasks also have.
func (h *hadoop) job(id []byte) int32 {
	i, ok := h.byID[string(id)]
	if !ok {
		i = int32(len(h.jobs))
		h.byID[string(id)] = i
		h.jobs = append(h.jobs, hadoopJob{name: "job_" + nameOf(id)})
	}
	return i
}

// taskOf reads the ID of a task, without its first word.
func (h *hadoop) taskOf(id []byte) (t hadoopTask, ok bool) {
	i := bytes.LastIndexByte(id, '_')
	if i < 3 || id[i-2] != '_' || id[i-1] != 'm' && id[i-1] != 'r' {
		return t, false
	}
	t.task = numberFromEnd(id, 0)
	t.reduce = id[i-1] == 'r'
	if t.task < 0 {
		return t, false
	}
	t.job = h.job(id[:i-2])
	return t, true
}

// attemptOf reads the ID of an attempt.
func (h *hadoop) attemptOf(id []byte) (a hadoopAttempt, ok bool) {
	i := bytes.LastIndexByte(id, '_')
	if i < 0 {
		return a, false
	}
	a.number = numberFromEnd(id, 0)
	a.hadoopTask, ok = h.taskOf(bytes.TrimPrefix(id[:i], []byte("attempt_")))
	return a, ok && a.number >= 0
}

// ofJob reads an event about a job.
func (h *hadoop) ofJob(e *hadoopEvent) {
	id := bytes.TrimPrefix(e.job, []byte("job_"))
	if len(id) == 0 {
		return
	}
	job := &h.jobs[h.job(id)]
	if e.launched.Known() {
		job.launched = e.launched
	}
	job.maps, job.reduces = max(job.maps, e.maps), max(job.reduces, e.reduces)
}

// ofTask records the hosts with a task's input.
func (h *hadoop) ofTask(e *hadoopEvent) {
	task, ok := h.taskOf(bytes.TrimPrefix(e.task, []byte("task_")))
	if !ok {
		return
	}
	var hosts []int32
	for split := range bytes.SplitSeq(e.splits, []byte(",")) {
		name, rack := splitHost(split)
		if host := h.host(name, rack); host > 0 && len(hosts) < maxPreferred {
			hosts = append(hosts, host)
		}
	}
	if hosts != nil {
		h.preferred[task] = hosts
	}
}

// ofAttempt reads the start or the end of an attempt. The log may have only one of them.
func (h *hadoop) ofAttempt(e *hadoopEvent) {
	h.log.Faults.add(&e.faults)
	id, ok := h.attemptOf(e.id)
	if !ok {
		h.log.Faults[NoTask]++
		return
	}
	ref, known := h.attempts[id]
	if !known {
		ref = h.begin(id, e.kind)
		h.attempts[id] = ref
	}
	if ref.index < 0 {
		return
	}
	a := h.attempt(ref)
	if name, rack := splitHost(e.host); len(name) > 0 {
		if len(e.rack) > 0 {
			rack = e.rack
		}
		if host := h.host(name, bytes.Trim(rack, "/")); a.Host == 0 || e.a.State != Unfinished {
			a.Host = host // the host at the end is more reliable than the host at the start
		}
	}
	if e.a.State == Unfinished {
		if known && a.Start.Known() {
			h.log.Faults[Repeated]++
			return
		}
		a.Start, a.Locality, a.Speculative = e.a.Start, e.a.Locality, e.a.Speculative
		return
	}
	if a.State != Unfinished {
		h.log.Faults[Repeated]++
		return
	}
	a.State, a.Finish = e.a.State, e.a.Finish
	a.Input, a.Shuffle, a.Output = e.a.Input, e.a.Shuffle, e.a.Output
	a.Splits = h.splits(e.clock)
}

// begin adds an attempt, unless it is an attempt of setup or cleanup.
func (h *hadoop) begin(id hadoopAttempt, kind []byte) attemptRef {
	if len(kind) > 0 && string(kind) != "MAP" && string(kind) != "REDUCE" {
		h.log.Faults[Housework]++
		return nowhere
	}
	job := h.jobs[id.job].name
	name := job + " maps"
	if id.reduce {
		name = job + " reduces"
	}
	return h.add(h.phase(job, name), Attempt{Task: id.task, Number: id.number})
}

// finish sets the values that the log has outside the attempts.
func (h *hadoop) finish() *builder {
	for id, ref := range h.attempts {
		if ref.index >= 0 {
			h.attempt(ref).Preferred = h.preferred[id.hadoopTask]
		}
	}
	h.attempts, h.preferred = nil, nil
	h.join()
	parents := map[int][]int{}
	for _, job := range h.jobs {
		maps, some := h.phases[phaseName{job.name, job.name + " maps"}]
		if some {
			p := &h.log.Phases[maps]
			p.Tasks, p.Submitted = declaredTasks(p, job.maps), job.launched
		}
		if reduces, ok := h.phases[phaseName{job.name, job.name + " reduces"}]; ok {
			p := &h.log.Phases[reduces]
			p.Tasks = declaredTasks(p, job.reduces)
			if some {
				parents[reduces] = []int{maps}
			}
		}
	}
	h.after(parents)
	h.localities()
	return h.builder
}

// declaredTasks returns the number of tasks of a phase: the declared number, but at least the number that it shows.
func declaredTasks(p *Phase, declared int32) int {
	n := int(declared)
	for i := range p.Attempts {
		n = max(n, int(p.Attempts[i].Task)+1)
	}
	return min(n, maxTask)
}

func (e *hadoopEvent) state(result []byte) {
	switch string(result) {
	case "SUCCESS", "SUCCEEDED":
		e.a.State = Succeeded
	case "FAILED":
		e.a.State = Failed
	case "KILLED":
		e.a.State = Killed
	default:
		e.faults[UnknownState]++
	}
}

// counter adds the value of a counter to the bytes that an attempt read or wrote.
func (e *hadoopEvent) counter(name string, value Opt) {
	switch name {
	case "HDFS_BYTES_READ":
		e.a.Input = value
	case "MAP_INPUT_BYTES":
		if !e.a.Input.Known() {
			e.a.Input = value
		}
	case "REDUCE_SHUFFLE_BYTES":
		e.a.Shuffle = value
	case "HDFS_BYTES_WRITTEN", "MAP_OUTPUT_BYTES":
		e.a.Output = e.a.Output.plus(value)
	}
}
