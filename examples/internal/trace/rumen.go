package trace

import (
	"errors"
	"io"
)

// rumen reads the jobs of a Hadoop Rumen trace. A job becomes up to two phases: its maps, and its reduces, which
// depend on the maps. A map could start at the launch of its job. Reduces start while maps run, at a time that the
// trace does not have.
type rumen struct {
	*builder
	s *stream
}

// rumenJob is the content of a job. It is added to the log when the job has ended without a broken record.
type rumenJob struct {
	id            string
	launched      Opt
	ended         bool // the trace has its outcome
	maps, reduces rumenTasks
	faults        Faults
}

type rumenTasks struct {
	declared int // declared number of tasks
	attempts attemptList
}

// readRumen reads all jobs. It drops a broken job, and goes on with the next.
func readRumen(r io.Reader, limit int) *builder {
	t := &rumen{builder: newBuilder(Rumen), s: newStream(r, limit, ofRumenJob)}
	t.s.records(t.log, t.nextJob)
	t.join()
	t.localities()
	return t.builder
}

// ofRumenJob reports whether a key is a member of jobs, and not of tasks or attempts.
func ofRumenJob(key []byte) bool {
	switch string(key) {
	case "jobID", "user", "queue", "jobName", "jobtype", "priority", "outcome", "submitTime", "launchTime", "totalMaps",
		"totalReduces", "mapTasks", "reduceTasks", "otherTasks":
		return true
	}
	return false
}

func (t *rumen) nextJob() error {
	var job rumenJob
	if err := t.job(&job); err != nil {
		return err
	}
	if job.id == "" {
		return errForeign
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
		job.faults[Housework] += others.attempts.n
		return err
	case "jobID", "outcome", "launchTime", "totalMaps", "totalReduces":
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
		job.id = nameOf(c.name())
	case "outcome":
		job.ended = len(c.text()) > 0
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
		case t.s.value[0] != '{' || !t.task(job, to):
			return errSyntax
		}
	}
}

func (t *rumen) commit(job *rumenJob) {
	t.log.Faults.add(&job.faults)
	var maps []int
	if i, ok := t.jobPhase(job.id, "maps", &job.maps); ok {
		t.log.Phases[i].Submitted = job.launched
		maps = []int{i}
	}
	if i, ok := t.jobPhase(job.id, "reduces", &job.reduces); ok {
		t.log.Phases[i].DependsOn = maps
	}
	if job.ended {
		if t.log.Ended == nil {
			t.log.Ended = map[string]bool{}
		}
		t.log.Ended[job.id] = true
	}
}

func (t *rumen) jobPhase(job, kind string, tasks *rumenTasks) (int, bool) {
	if tasks.attempts.n == 0 {
		return 0, false
	}
	i := t.newPhase(job, job+" "+kind)
	t.log.Phases[i].Tasks = tasks.declared
	t.lists[i] = tasks.attempts
	return i, true
}
