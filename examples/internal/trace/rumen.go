package trace

import (
	"errors"
	"io"
	"slices"
)

// rumen reads the jobs of a Hadoop Rumen trace. A job becomes up to two phases: its maps, and its reduces, which depend
// on them. When a map could start is the launch of its job; reduces start in the course of the maps, at a moment that
// the trace does not tell.
type rumen struct {
	*builder
	s *stream
}

// rumenJob is what has been read of a job. It reaches the log when the job has ended in good order.
type rumenJob struct {
	id            string
	launched      Opt
	maps, reduces rumenTasks
	faults        Faults
}

type rumenTasks struct {
	declared int // tasks
	attempts []Attempt
}

// readRumen reads all jobs; one that is broken is dropped, and reading goes on with the next line that starts an object.
func readRumen(r io.Reader, limit int) *builder {
	t := &rumen{builder: newBuilder(Rumen), s: newStream(r, limit)}
	for {
		err := t.nextJob()
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		t.log.Faults[Broken]++
		if t.s.resync() != nil {
			break
		}
	}
	t.localities()
	return t.builder
}

// nextJob reads one job. At the end of the trace it returns io.EOF; half a job there is counted.
func (t *rumen) nextJob() error {
	b, err := t.s.peek()
	if err != nil {
		return err
	}
	switch b {
	case '[', ',', ']': // an array of jobs, as some tools write it
		_, err := t.s.get()
		return err
	case '{':
	default:
		return errSyntax
	}
	t.log.Records++
	var job rumenJob
	if err := t.job(&job); err != nil {
		if errors.Is(err, io.EOF) {
			t.log.Faults[HalfLast]++
		}
		return err
	}
	if job.id == "" {
		t.log.Faults[Broken]++
		return nil
	}
	t.commit(&job)
	return nil
}

func (t *rumen) job(job *rumenJob) error {
	if _, err := t.s.enter('{'); err != nil {
		return err
	}
	for {
		more, err := t.s.next('}')
		if err != nil || !more {
			return err
		}
		key, err := t.s.key()
		if err != nil {
			return err
		}
		if err := t.member(job, key); err != nil {
			return err
		}
	}
}

func (t *rumen) member(job *rumenJob, key string) error {
	switch key {
	case "mapTasks":
		return t.tasks(job, &job.maps)
	case "reduceTasks":
		return t.tasks(job, &job.reduces)
	case "otherTasks":
		var others rumenTasks
		err := t.tasks(job, &others)
		job.faults[Housework] += len(others.attempts)
		return err
	case "jobID", "launchTime", "totalMaps", "totalReduces":
	default:
		return t.s.skip()
	}
	err := t.s.take()
	if errors.Is(err, errLong) {
		job.faults[TooLong]++
		return nil
	}
	c := &cursor{data: t.s.value}
	switch key {
	case "jobID":
		job.id = valid(c.text())
	case "launchTime":
		job.launched = c.clock(&job.faults)
	case "totalMaps":
		job.maps.declare(c.index())
	case "totalReduces":
		job.reduces.declare(c.index())
	}
	return err
}

func (tasks *rumenTasks) declare(n int32) {
	if n < maxTask {
		tasks.declared = max(tasks.declared, int(n))
	}
}

func (t *rumen) tasks(job *rumenJob, to *rumenTasks) error {
	if in, err := t.s.enter('['); err != nil || !in {
		return err
	}
	for {
		more, err := t.s.next(']')
		if err != nil || !more {
			return err
		}
		switch err := t.s.take(); {
		case errors.Is(err, errLong):
			job.faults[TooLong]++
		case err != nil:
			return err
		case !t.task(job, to):
			return errSyntax
		}
	}
}

func (t *rumen) commit(job *rumenJob) {
	t.log.Faults.add(&job.faults)
	var maps []int
	if i, ok := t.add(job.id, "maps", &job.maps); ok {
		t.log.Phases[i].Submitted = job.launched
		maps = []int{i}
	}
	if i, ok := t.add(job.id, "reduces", &job.reduces); ok {
		t.log.Phases[i].DependsOn = maps
	}
}

func (t *rumen) add(job, kind string, tasks *rumenTasks) (int, bool) {
	if len(tasks.attempts) == 0 {
		return 0, false
	}
	i := t.newPhase(job, job+" "+kind)
	t.log.Phases[i].Tasks = tasks.declared
	t.log.Phases[i].Attempts = tasks.attempts
	return i, true
}

// localities compares where attempts ran with where their input was. It comes last, when the racks of all hosts that the
// trace tells are known.
func (t *rumen) localities() {
	for i := range t.log.Phases {
		attempts := t.log.Phases[i].Attempts
		for j := range attempts {
			attempts[j].Locality = t.locality(&attempts[j])
		}
	}
}

func (t *rumen) locality(a *Attempt) Locality {
	if a.Host == 0 || len(a.Preferred) == 0 {
		return LocalityUnknown
	}
	if slices.Contains(a.Preferred, a.Host) {
		return NodeLocal
	}
	level := Any
	rack := t.log.Hosts[a.Host].Rack
	for _, host := range a.Preferred {
		switch other := t.log.Hosts[host].Rack; {
		case rack == "" || other == "":
			level = LocalityUnknown
		case other == rack:
			return RackLocal
		}
	}
	return level
}
