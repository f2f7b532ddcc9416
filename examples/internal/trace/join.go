package trace

import (
	"fmt"
	"slices"
	"strconv"
)

// Join joins logs that are parts of one log, such as one file for each worker. Two logs are joined if they have
// phases of the same job and name, with times that overlap or nearly meet, and no attempt in both. said has a line
// for each name: which logs were joined, or why they were not. Only formats in which people name jobs and phases are
// joined, because engines number them from 0 in each log.
func Join(logs []*Log) (joined []*Log, said []string) {
	j := joiner{known: map[phaseName]*shared{}}
	for _, log := range logs {
		if !log.joins() || !j.take(log) {
			j.joined = append(j.joined, log)
			j.note(log, log)
		}
	}
	return j.joined, j.said()
}

func (l *Log) joins() bool {
	return l.Format == Lines || l.Format == Table || l.Format == Kubernetes || l.Format == Alibaba
}

type joiner struct {
	joined []*Log
	known  map[phaseName]*shared
	order  []phaseName // of known
}

// shared has the phases of one name.
type shared struct {
	log             *Log // the first log with this name
	from, to        int64
	attempts        map[string]bool
	together, apart int // number of logs that were joined with the first, and that were not
}

func keyOf(p *Phase, a *Attempt) string {
	return p.TaskName(a.Task) + "\x00" + strconv.Itoa(int(a.Number))
}

// take joins a log with the log that has its first known phase, if all phases in both fit.
func (j *joiner) take(log *Log) bool {
	var whole *Log
	fit := true
	var of []*shared
	for i := range log.Phases {
		p := &log.Phases[i]
		s := j.known[phaseName{p.Job, p.Name}]
		if s == nil || s.log.Format != log.Format || whole != nil && s.log != whole {
			continue
		}
		whole = s.log
		of = append(of, s)
		fit = fit && s.meets(p)
	}
	if whole == nil {
		return false
	}
	for _, s := range of {
		if fit {
			s.together++
		} else {
			s.apart++
		}
	}
	if fit {
		j.note(log, whole)
		whole.take(log)
	}
	return fit
}

// note records the phases of a log that is, or will be, a part of another.
func (j *joiner) note(log, in *Log) {
	if !log.joins() {
		return
	}
	for i := range log.Phases {
		p := &log.Phases[i]
		name := phaseName{p.Job, p.Name}
		s := j.known[name]
		if s == nil {
			s = &shared{log: in, from: maxTime, attempts: map[string]bool{}}
			j.known[name] = s
			j.order = append(j.order, name)
		}
		if s.log != in {
			continue
		}
		from, to := p.span()
		s.from, s.to = min(s.from, from), max(s.to, to)
		for k := range p.Attempts {
			s.attempts[keyOf(p, &p.Attempts[k])] = true
		}
	}
}

// meets reports whether a phase can be another part of the same phase: its times overlap or nearly meet, within the
// length of the shorter part, and no attempt is in both.
func (s *shared) meets(p *Phase) bool {
	if len(p.Attempts) == 0 || len(s.attempts) == 0 {
		return true
	}
	from, to := p.span()
	if gap := max(from, s.from) - min(to, s.to); gap > min(to-from, s.to-s.from) {
		return false
	}
	return !slices.ContainsFunc(p.Attempts, func(a Attempt) bool { return s.attempts[keyOf(p, &a)] })
}

func (j *joiner) said() (lines []string) {
	for _, name := range j.order {
		s := j.known[name]
		what := fmt.Sprintf("job %q, phase %q", name.job, name.name)
		if s.together > 0 {
			lines = append(lines, fmt.Sprintf("%s: in %d logs; joined", what, s.together+1))
		}
		if s.apart > 0 {
			lines = append(lines, fmt.Sprintf("%s: in %d more logs; not joined, because the times do not overlap or the tasks "+
				"are the same", what, s.apart))
		}
	}
	return lines
}

// TaskName returns the name of a task, or its number if it has no name.
func (p *Phase) TaskName(task int32) string {
	if int(task) < len(p.Names) && p.Names[task] != "" {
		return p.Names[task]
	}
	return strconv.Itoa(int(task))
}

// span returns the first start and the last end of the phase's attempts.
func (p *Phase) span() (from, to int64) {
	from = maxTime
	for i := range p.Attempts {
		a := &p.Attempts[i]
		from = min(from, a.Start.Or(from))
		to = max(to, a.Start.Or(0), a.Finish.Or(0))
	}
	return from, to
}
